//! Products of columns, moved from the point near the rows where they were taken.

use super::moments::{Moments, moments};
use crate::engine::{Border, Input};
use crate::kernels::Engine;
use crate::kernels::gram::Framed;
use crate::matrix::HostMatrix;
use crate::{Error, Result};

/// How far the products may be from what the statistics of the columns say of them.
const AGREEMENT: f64 = 1e-3;

/// Move products about the frames' shifts to the means (`about_mean`) or to the origin: with `c = mean - shift`, the means' are
/// `P - W c cᵀ`, and the origin's `W mean meanᵀ` more. The rows of `products` are columns of the first of `of`, and their elements the
/// columns of all. Gives the greatest share that the rounded sums have in a diagonal element.
pub fn moved(products: &mut [f64], of: &[&Moments], about_mean: bool) -> Result<f64> {
    let joined = |values: fn(&Moments) -> &[f64]| of.iter().flat_map(|part| values(part)).copied().collect::<Vec<_>>();
    let (mean, offset) = (joined(|part| &part.mean), joined(|part| &part.offset));
    let (unit, weight) = (joined(|part| &part.frame.unit), joined(|part| &part.weight));
    let scatter = joined(|part| &part.scatter);
    let mut share = 0.0_f64;
    for (i, row) in products.chunks_exact_mut(mean.len()).enumerate() {
        let rounded = (row[i] / unit[i] / unit[i]).abs();
        for (j, product) in row.iter_mut().enumerate() {
            *product = *product / unit[i] / unit[j] - weight[i] * offset[i] * offset[j];
        }
        // What overflowed or vanished in the products did not in the statistics.
        let off = (row[i] - scatter[i]).abs();
        if off.is_nan() || off > AGREEMENT * (scatter[i] + AGREEMENT * rounded) {
            return Err(Error::Unsuited {
                reason: "X holds values whose squares this precision cannot hold".into(),
            });
        }
        if !about_mean {
            row.iter_mut()
                .enumerate()
                .for_each(|(j, product)| *product += weight[i] * mean[i] * mean[j]);
        }
        if row[i] > 0.0 {
            share = share.max((rounded / row[i]).min(1.0));
        }
    }
    Ok(share.max(f64::MIN_POSITIVE))
}

/// Rows with their targets.
#[derive(Clone, Copy, Debug)]
pub struct Labelled<'a> {
    /// n by d, finite.
    pub x: HostMatrix<'a>,
    /// n by t, finite, of the same element type.
    pub y: HostMatrix<'a>,
    /// n by 1, not negative, of the same element type.
    pub weights: Option<HostMatrix<'a>>,
}

impl<'a> Labelled<'a> {
    /// Rows and targets as an engine takes them.
    pub fn inputs(&self) -> [Input<'a>; 2] {
        [Input::finite(self.x, "X").told(), Input::finite(self.y, "y").told()]
    }
}

/// The rows on the engine, and what is summed over them.
#[derive(Debug)]
pub struct Sums<E: Engine> {
    /// n by d.
    pub x: E::Matrix,
    /// n by t.
    pub y: E::Matrix,
    /// n by 1.
    pub weights: Option<E::Matrix>,
    /// Of the columns of `x`.
    pub of_x: Moments,
    /// Of the targets.
    pub of_y: Moments,
    /// d by d + t, about the mean or the origin.
    pub products: Vec<f64>,
    /// The greatest share that the rounded sums have in a diagonal element.
    pub share: f64,
}

/// All products of the columns of `x` and `y`, about their means or the origin. Cost: two passes over them (one upload).
pub fn sums<'a, E: Engine + Border<'a>>(engine: &E, rows: &Labelled<'a>, about_mean: bool) -> Result<Sums<E>> {
    let [x_input, y_input] = rows.inputs();
    let (x, y, weights) = if let Some(weights) = rows.weights {
        let [x, y, weights] = engine.bring([x_input, y_input, Input::finite(weights, "sample_weight")])?;
        (x, y, Some(weights))
    } else {
        let [x, y] = engine.bring([x_input, y_input])?;
        (x, y, None)
    };
    let of_x = moments(engine, &x, &x_input, weights.as_ref())?;
    let of_y = moments(engine, &y, &y_input, weights.as_ref())?;
    let products = engine.gram(Framed(&x, &of_x.frame), Framed(&y, &of_y.frame), weights.as_ref())?;
    let [mut products] = engine.fetch([&products])?;
    let share = moved(&mut products, &[&of_x, &of_y], about_mean)?;
    Ok(Sums {
        x,
        y,
        weights,
        of_x,
        of_y,
        products,
        share,
    })
}
