//! The least and the greatest value of each column: what `MinMaxScaler` and `MaxAbsScaler` learn.

use crate::engine::{Border, Frame, Input};
use crate::kernels::{Engine, Family, column_stats};
use crate::matrix::HostMatrix;
use crate::run::Job;
use crate::{Error, Result};

/// The ranges of columns, NaN left out. Cost: one pass over `x`.
#[derive(Debug)]
pub struct ColumnRange<'a> {
    /// n by d; NaN welcome.
    pub x: HostMatrix<'a>,
}

/// What is known of each column; a column without a value has an empty range.
#[derive(Debug)]
pub struct Range {
    /// Least value.
    pub least: Vec<f64>,
    /// Greatest value.
    pub greatest: Vec<f64>,
    /// How many values are not NaN.
    pub count: Vec<f64>,
}

impl<'a> Job<'a> for ColumnRange<'a> {
    type Output = Range;
    const FAMILIES: &'static [&'static Family] = &[&column_stats::FAMILY];

    fn element_of(&self) -> HostMatrix<'a> {
        self.x
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<Range> {
        let n_cols = self.x.n_cols();
        let [x] = engine.bring([Input::finite(self.x, "X").with_nan().told()])?;
        let found = engine.column_stats(&x, None, &Frame::sampled(&self.x))?;
        let (sums, range) = (engine.read(&found.sums)?, engine.read(&found.range)?);
        let count: Vec<f64> = engine
            .wait::<E::Wide>(sums)?
            .into_iter()
            .map(Into::into)
            .skip(3 * n_cols)
            .collect();
        let range: Vec<f64> = engine.wait::<E::Elem>(range)?.into_iter().map(Into::into).collect();
        let (least, greatest) = range.split_at(n_cols);
        let infinite =
            (0..n_cols).any(|col| count[col] > 0.0 && (least[col].is_infinite() || greatest[col].is_infinite()));
        if infinite {
            return Err(Error::NonFinite { what: "X" });
        }
        Ok(Range {
            least: least.to_vec(),
            greatest: greatest.to_vec(),
            count,
        })
    }
}
