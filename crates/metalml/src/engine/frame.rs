//! Where the values of columns lie: what sums are taken about, so that neither an offset nor a scale costs digits.

use super::Real;
use crate::matrix::{HostMatrix, MatrixView};

/// Where the values of each column lie, roughly: the closer, the less is lost. `unit` holds powers of two.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Taken from each value first.
    pub shift: Vec<f64>,
    /// Then each value is multiplied by this.
    pub unit: Vec<f64>,
}

/// Rows that the first guess at a column's place looks at.
const SAMPLE: usize = 32;
impl Frame {
    /// A guess from a few rows, spread evenly.
    pub fn sampled(host: &HostMatrix<'_>) -> Self {
        match *host {
            HostMatrix::F32(view) => Self::of(view),
            HostMatrix::F64(view) => Self::of(view),
        }
    }

    fn of<T: Real>(view: MatrixView<'_, T>) -> Self {
        let n_cols = view.n_cols();
        let step = view.n_rows().div_ceil(SAMPLE).max(1);
        let (mut means, mut counts) = (vec![0.0; n_cols], vec![0.0; n_cols]);
        let mut scratch = Vec::new();
        // Row by row, as the data lie.
        let mut each = |visit: &mut dyn FnMut(usize, f64)| {
            for row in (0..view.n_rows()).step_by(step) {
                for (col, &value) in view.rows(row..row + 1).packed(&mut scratch).iter().enumerate() {
                    if value.finite() {
                        visit(col, value.into());
                    }
                }
            }
        };
        each(&mut |col, value| {
            // A running mean: a sum could overflow.
            counts[col] += 1.0;
            means[col] += (value - means[col]) / counts[col];
        });
        let shift: Vec<f64> = means.into_iter().map(near).collect();
        let mut reach = vec![0.0_f64; n_cols];
        each(&mut |col, value| reach[col] = reach[col].max((value - shift[col]).abs()));
        Self {
            shift,
            unit: reach.into_iter().map(unit_of).collect(),
        }
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
pub(crate) fn near(value: f64) -> f64 {
    let narrow = f64::from(value as f32);
    if narrow.is_finite() {
        narrow
    } else if value.is_finite() {
        value
    } else {
        0.0
    }
}
