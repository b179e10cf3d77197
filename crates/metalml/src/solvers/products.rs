//! Products of columns, moved from the point near the rows where they were taken.

use super::moments::Moments;
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
