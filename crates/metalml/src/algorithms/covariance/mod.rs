//! The covariance of columns, and what its shrinkage is found from.

use crate::engine::{Border, Frame, Input, Shape};
use crate::kernels::gram::Framed;
use crate::kernels::{Engine, Family, column_stats, gram, nearest};
use crate::matrix::HostMatrix;
use crate::run::Job;
use crate::solvers::moments::moments;
use crate::solvers::products::moved;
use crate::{Error, Result};

/// The maximum likelihood estimate. Cost: two passes over `x` (one upload) and n d² / 2 multiplications; a third pass for `fourth_powers`.
#[derive(Debug)]
pub struct Covariance<'a> {
    /// n by d, finite.
    pub x: HostMatrix<'a>,
    /// About the mean of the rows, or about 0.
    pub about_mean: bool,
    /// Whether the fourth powers are wanted.
    pub fourth_powers: bool,
}

/// What was found.
#[derive(Debug)]
pub struct Estimate {
    /// d.
    pub mean: Vec<f64>,
    /// d by d, symmetric.
    pub covariance: Vec<f64>,
    /// The mean over the rows of `|x - place|⁴`: what `LedoitWolf` needs beside the covariance (Ledoit, Wolf 2004, "A well-conditioned
    /// estimator for large-dimensional covariance matrices", section 3.3). 0 if it is not wanted.
    pub fourth_powers: f64,
}

/// Squares of distances of this size, and their sums, are normal float32 numbers.
const DISTANCES: std::ops::Range<f64> = 1e-17..1e17;

impl<'a> Job<'a> for Covariance<'a> {
    type Output = Estimate;
    const FAMILIES: &'static [&'static Family] = &[&column_stats::FAMILY, &gram::FAMILY, &nearest::FAMILY];

    fn element_of(&self) -> HostMatrix<'a> {
        self.x
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<Estimate> {
        let n_rows = self.x.n_rows() as f64;
        let input = Input::finite(self.x, "X").told();
        let [x] = engine.bring([input])?;
        let of_x = moments(engine, &x, &input, None)?;
        let none = Frame {
            shift: Vec::new(),
            unit: Vec::new(),
        };
        let products = engine.gram(
            Framed(&x, &of_x.frame),
            Framed(&engine.create_beside(&x, 0)?, &none),
            None,
        )?;
        let [mut covariance] = engine.fetch([&products])?;
        moved(&mut covariance, &[&of_x], self.about_mean)?;
        for product in &mut covariance {
            *product /= n_rows;
        }
        let fourth_powers = if self.fourth_powers {
            let place = if self.about_mean {
                of_x.mean.clone()
            } else {
                vec![0.0; of_x.mean.len()]
            };
            let trace: f64 = covariance.iter().step_by(of_x.mean.len() + 1).sum();
            fourth_powers(engine, &x, &place, trace.sqrt())?
        } else {
            0.0
        };
        Ok(Estimate {
            mean: of_x.mean,
            covariance,
            fourth_powers,
        })
    }
}

/// The mean of the squared squared distances from `place`, which are about `size`: those of rows from the one centre there is.
fn fourth_powers<E: Engine>(engine: &E, x: &E::Matrix, place: &[f64], size: f64) -> Result<f64> {
    if size == 0.0 {
        return Ok(0.0);
    }
    let elements: Vec<E::Elem> = place
        .iter()
        .map(|&value| crate::engine::Real::from_f64(value))
        .collect();
    let [centre] = engine.resident([&elements], 1, [place.len()])?;
    let found = engine.nearest(x, &centre, place)?;
    let squares = engine.read(&found.distances)?;
    let squares: Vec<f64> = engine.wait::<E::Elem>(squares)?.into_iter().map(Into::into).collect();
    let largest = squares.iter().fold(0.0, |most: f64, &square| most.max(square));
    if !DISTANCES.contains(&size) || !largest.is_finite() {
        return Err(Error::Unsuited {
            reason: "X holds values whose squares this precision cannot hold".into(),
        });
    }
    // Relative to the size: fourth powers leave the range of float64 where squares do not.
    let powers: f64 = squares.iter().map(|square| (square / size / size).powi(2)).sum();
    Ok(powers / x.n_rows() as f64 * size.powi(4))
}
