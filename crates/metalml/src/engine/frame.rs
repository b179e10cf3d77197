//! Where the values of columns lie: what sums are taken about, so that neither an offset nor a scale costs digits.

use crate::matrix::HostMatrix;

/// Where the values of each column lie, roughly: the closer, the less is lost. `unit` holds powers of two.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Taken from each value first.
    pub shift: Vec<f64>,
    /// Then each value is multiplied by this.
    pub unit: Vec<f64>,
}

/// Rows that the first guess at a column's place looks at.
const SAMPLE: usize = 64;
impl Frame {
    /// A guess from a few rows, spread evenly.
    pub fn sampled(host: &HostMatrix<'_>) -> Self {
        let (n_rows, n_cols) = (host.n_rows(), host.n_cols());
        let step = n_rows.div_ceil(SAMPLE).max(1);
        let column = |col| {
            (0..n_rows)
                .step_by(step)
                .map(move |row| host.get(row, col))
                .filter(|value| value.is_finite())
        };
        let shift: Vec<f64> = (0..n_cols)
            .map(|col| {
                // A running mean: a sum could overflow.
                let mean = column(col)
                    .zip(1_u32..)
                    .fold(0.0, |mean, (value, n)| mean + (value - mean) / f64::from(n));
                near(mean)
            })
            .collect();
        let reach = (0..n_cols).map(|col| column(col).map(|value| (value - shift[col]).abs()).fold(0.0, f64::max));
        let unit = reach.map(unit_of).collect();
        Self { shift, unit }
    }
}

/// The power of two that brings `reach` near 1.
pub(crate) fn unit_of(reach: f64) -> f64 {
    if reach > 0.0 && reach.is_finite() {
        (-reach.log2().floor()).clamp(-126.0, 126.0).exp2()
    } else {
        1.0
    }
}

/// A number near `value`: a float32 where that can be, since the GPU subtracts in float32.
fn near(value: f64) -> f64 {
    let narrow = f64::from(value as f32);
    if narrow.is_finite() {
        narrow
    } else if value.is_finite() {
        value
    } else {
        0.0
    }
}
