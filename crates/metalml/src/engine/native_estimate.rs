//! Squared distances of the native kernels by way of a matrix product: estimates that are off by no more than a known bound, and the
//! direct sums for those that matter.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use std::ops::Range;

use faer::{MatMut, MatRef};

use super::Real;
use super::native_product::multiply;
use crate::matrix::MatrixView;
use crate::threads::vectorized;

/// Columns up to which direct sums of all pairs are faster.
pub(crate) const FEW_COLS: usize = 16;
/// Squares that are summed side by side.
const LANES: usize = 16;

/// Rows as they are, and less a shift near them, with their squared lengths.
pub(crate) struct Shifted<T> {
    /// Columns, at least 1.
    d: usize,
    plain: Vec<T>,
    moved: Vec<T>,
    squares: Vec<T>,
}

impl<T: Real> Shifted<T> {
    /// All rows of `x`.
    pub(crate) fn of(x: &MatrixView<'_, T>, shift: &[f64]) -> Self {
        let mut scratch = Vec::new();
        let plain = x.packed(&mut scratch).to_vec();
        let mut moved = plain.clone();
        let mut squares = vec![T::default(); x.n_rows()];
        vectorized(
            #[inline(always)]
            || {
                for (row, square) in moved.chunks_exact_mut(shift.len()).zip(&mut squares) {
                    for (value, shift) in row.iter_mut().zip(shift) {
                        *value = T::from_f64((*value).into() - shift);
                    }
                    *square = T::from_f64(sum_of_squares(row));
                }
            },
        );
        Self {
            d: shift.len(),
            plain,
            moved,
            squares,
        }
    }

    /// How many rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.squares.len()
    }

    /// The squared length of a row less the shift.
    #[inline(always)]
    pub(crate) fn square(&self, row: usize) -> f64 {
        self.squares[row].into()
    }

    /// `|y|² - 2 x·y`, both less the shift, for all rows of `self` and some of `y`, row-major.
    pub(crate) fn estimates(&self, y: &Self, some: Range<usize>, out: &mut [T]) {
        let (n, m, d) = (self.n_rows(), some.len(), self.d);
        multiply(
            MatMut::from_row_major_slice_mut(out, n, m),
            MatRef::from_row_major_slice(&self.moved, n, d),
            MatRef::from_row_major_slice(&y.moved[some.start * d..some.end * d], m, d).transpose(),
            false,
        );
        vectorized(
            #[inline(always)]
            || {
                let minus_two = T::from_f64(-2.0);
                for row in out.chunks_exact_mut(m) {
                    for (value, &square) in row.iter_mut().zip(&y.squares[some.clone()]) {
                        *value = value.fused(minus_two, square);
                    }
                }
            },
        );
    }

    /// By how much an estimate plus the squared length `square` of its row may miss the direct sum, for all that lie within about
    /// `reach`, a squared distance.
    ///
    /// With |x| and |y| of the rows less the shift and D the distance: an estimate is off by at most eps / 2 (d + 4) (2 |x| |y| + |y|²), a
    /// direct sum by eps / 2 (d + 4) D², the square of |x| by no more than either, and |y| is at most |x| + D. Higham (2002), "Accuracy and
    /// stability of numerical algorithms", section 3.1.
    #[inline(always)]
    pub(crate) fn bound(&self, square: f64, reach: f64) -> f64 {
        let (length, far) = (square.sqrt(), square.sqrt() + 1.1 * reach.sqrt());
        T::EPSILON * (self.d as f64 + 4.0) * (2.0 * length * far + far * far + square + 2.0 * reach)
    }

    /// The estimates of a row's neighbours within `reach` are not above this.
    #[inline(always)]
    pub(crate) fn threshold(&self, square: f64, reach: f64) -> T {
        let exact = reach - square + self.bound(square, reach);
        T::from_f64(exact + 2.0 * T::EPSILON * exact.abs())
    }

    /// As `estimates`, but what lies within `reach` of a row is its direct sum, and what does not is infinite.
    pub(crate) fn sums_within(&self, y: &Self, some: Range<usize>, reach: T, out: &mut [T]) {
        self.estimates(y, some.clone(), out);
        let far = T::from_f64(f64::INFINITY);
        vectorized(
            #[inline(always)]
            || {
                for (row, out) in out.chunks_exact_mut(some.len()).enumerate() {
                    let threshold = self.threshold(self.square(row), reach.into());
                    for (at, chunk) in out.chunks_mut(LANES).enumerate() {
                        let near = chunk
                            .iter()
                            .fold(0_u32, |near, &value| near + u32::from(value <= threshold));
                        if near == 0 {
                            chunk.fill(far);
                            continue;
                        }
                        for (lane, value) in chunk.iter_mut().enumerate() {
                            *value = if *value <= threshold {
                                self.distance(row, y, some.start + at * LANES + lane)
                            } else {
                                far
                            };
                        }
                    }
                }
            },
        );
    }

    /// The direct sum for a row of `self` and one of `y`.
    #[inline(always)]
    pub(crate) fn distance(&self, row: usize, y: &Self, other: usize) -> T {
        let (row, other) = (
            &self.plain[row * self.d..][..self.d],
            &y.plain[other * self.d..][..self.d],
        );
        let mut lanes = [T::default(); LANES];
        let (a, b) = (row.chunks_exact(LANES), other.chunks_exact(LANES));
        let rest = a.remainder().iter().zip(b.remainder());
        let rest = rest.fold(T::default(), |sum, (&a, &b)| (a - b).fused(a - b, sum));
        for (a, b) in a.zip(b) {
            for lane in 0..LANES {
                lanes[lane] = (a[lane] - b[lane]).fused(a[lane] - b[lane], lanes[lane]);
            }
        }
        lanes.into_iter().fold(rest, |sum, lane| sum + lane)
    }
}

/// The mean of the columns of some rows, spread evenly: a shift near all.
pub(crate) fn near_rows<T: Real>(x: &MatrixView<'_, T>) -> Vec<f64> {
    const SAMPLE: usize = 256;
    let (step, mut scratch) = (x.n_rows().div_ceil(SAMPLE).max(1), Vec::new());
    let mut mean = vec![0.0; x.n_cols()];
    for (count, row) in (0..x.n_rows()).step_by(step).enumerate() {
        for (mean, &value) in mean.iter_mut().zip(x.rows(row..row + 1).packed(&mut scratch)) {
            let value: f64 = value.into();
            *mean += (value - *mean) / (count + 1) as f64;
        }
    }
    mean
}

#[inline(always)]
fn sum_of_squares<T: Real>(row: &[T]) -> f64 {
    let mut lanes = [0.0; 4];
    let chunks = row.chunks_exact(4);
    let rest: f64 = chunks
        .remainder()
        .iter()
        .map(|&value| value.into() * value.into())
        .sum();
    for chunk in chunks {
        for lane in 0..4 {
            let value: f64 = chunk[lane].into();
            lanes[lane] += value * value;
        }
    }
    rest + lanes.into_iter().sum::<f64>()
}
