//! Mean, variance and range of columns in f64, wherever the values lie.

use crate::engine::{Frame, Input, Shape, near, unit_of};
use crate::kernels::Engine;
use crate::{Error, Result};

/// What is known of each column.
#[derive(Clone, Debug)]
pub struct Moments {
    /// Sum of the weights of its values, NaN left out; their number where there are no weights.
    pub weight: Vec<f64>,
    /// Weighted mean.
    pub mean: Vec<f64>,
    /// Weighted mean less the frame's shift, with digits that the mean itself has no room for.
    pub offset: Vec<f64>,
    /// Weighted sum of squared distances from the mean.
    pub scatter: Vec<f64>,
    /// How many values are not NaN.
    pub count: Vec<f64>,
    /// Least value.
    pub least: Vec<f64>,
    /// Greatest value.
    pub greatest: Vec<f64>,
    /// What the statistics were taken with: near the values.
    pub frame: Frame,
}

/// Squares and their sums stay normal float32 numbers while the farthest value is between these powers of two from the shift.
const REACH: [f64; 2] = [9.094_947_017_729_282e-13, 1_099_511_627_776.0]; // 2^-40, 2^40

/// How many times the variance the square of the distance from shift to mean may be.
const FAR: f64 = 1e3;

/// The moments of the columns of `x`, which must be finite, or NaN where `input` welcomes that.
///
/// Two rounds at most: where the sampled rows misjudged the place or the size of a column by far, the range found in the first gives the frame of the second.
pub fn moments<E: Engine>(
    engine: &E,
    x: &E::Matrix,
    input: &Input<'_>,
    weights: Option<&E::Matrix>,
) -> Result<Moments> {
    let mut frame = Frame::sampled(&input.host);
    let first = measured(engine, x, weights, &frame)?;
    check_values(&first, x.n_rows(), input)?;
    let mut again = false;
    for col in 0..x.n_cols() {
        let place = near(first.mean[col]);
        let far = first.weight[col] * first.offset[col].powi(2) > FAR * first.scatter[col];
        let shift = if far { place } else { frame.shift[col] };
        let reach = (first.least[col] - shift)
            .abs()
            .max((first.greatest[col] - shift).abs());
        let scaled = reach * frame.unit[col];
        let misjudged = scaled.is_finite() && scaled > 0.0 && !(REACH[0]..REACH[1]).contains(&scaled);
        if misjudged || shift != frame.shift[col] {
            (frame.shift[col], frame.unit[col]) = (shift, unit_of(reach));
            again = true;
        }
    }
    let found = if again {
        measured(engine, x, weights, &frame)?
    } else {
        first
    };
    check_sums(&found, input)?;
    Ok(found)
}

/// The same about a given frame, in one round, of values that are known to be finite.
pub fn measured<E: Engine>(engine: &E, x: &E::Matrix, weights: Option<&E::Matrix>, frame: &Frame) -> Result<Moments> {
    let n_cols = x.n_cols();
    let found = engine.column_stats(x, weights, frame)?;
    let (sums, range) = (engine.read(&found.sums)?, engine.read(&found.range)?);
    let sums: Vec<f64> = engine.wait::<E::Wide>(sums)?.into_iter().map(Into::into).collect();
    let range: Vec<f64> = engine.wait::<E::Elem>(range)?.into_iter().map(Into::into).collect();
    let part = |i: usize| sums[i * n_cols..(i + 1) * n_cols].to_vec();
    let [weight, offset, scatter, count] = [0, 1, 2, 3].map(part);
    let offset: Vec<f64> = offset
        .iter()
        .zip(&frame.unit)
        .map(|(offset, unit)| offset / unit)
        .collect();
    let mean = frame
        .shift
        .iter()
        .zip(&offset)
        .map(|(shift, offset)| shift + offset)
        .collect();
    let scatter = scatter
        .iter()
        .zip(&frame.unit)
        .map(|(scatter, unit)| scatter / unit / unit)
        // Not `max`, which would take a NaN for 0.
        .map(|scatter| if scatter < 0.0 { 0.0 } else { scatter })
        .collect();
    let (least, greatest) = range.split_at(n_cols);
    Ok(Moments {
        weight,
        mean,
        offset,
        scatter,
        count,
        least: least.to_vec(),
        greatest: greatest.to_vec(),
        frame: frame.clone(),
    })
}

fn check_values(found: &Moments, n_rows: usize, input: &Input<'_>) -> Result<()> {
    let infinite = found
        .count
        .iter()
        .zip(found.least.iter().zip(&found.greatest))
        .any(|(&count, (&least, &greatest))| count > 0.0 && (least.is_infinite() || greatest.is_infinite()));
    let missing = !input.nan && found.count.iter().any(|&count| count < n_rows as f64);
    if infinite || missing {
        Err(Error::NonFinite { what: input.what })
    } else {
        Ok(())
    }
}

fn check_sums(found: &Moments, input: &Input<'_>) -> Result<()> {
    let lost = |value: &f64| !value.is_finite();
    if found.mean.iter().any(lost) || found.scatter.iter().any(lost) {
        let reason = format!("{} holds values whose squares are too large to sum", input.what);
        return Err(Error::Unsuited { reason });
    }
    Ok(())
}
