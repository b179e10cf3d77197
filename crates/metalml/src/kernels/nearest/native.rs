//! Blocks of rows against all centres: by a matrix product of what is left of them less the shift, and direct sums for every centre
//! that rounding leaves a chance; short rows by direct sums alone.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use faer::{MatMut, MatRef};

use crate::engine::native_distance::{LANES, Panels, Side, Which, sums};
use crate::engine::native_product::multiply;
use crate::engine::native_rows::part;
use crate::engine::{Metric, Real};
use crate::matrix::MatrixView;
use crate::threads::{map_tasks, vectorized};

/// Columns up to which direct sums are faster than a product.
const FEW_COLS: usize = 16;
/// Elements of the products of a block: they stay in the second cache.
const BLOCK: usize = 32 << 10;
const BLOCK_ROWS: std::ops::RangeInclusive<usize> = 8..=256;

/// The labels and squared distances of all rows of `x`.
pub(super) fn nearest<T: Real>(x: MatrixView<'_, T>, centres: MatrixView<'_, T>, shift: &[f64]) -> (Vec<u32>, Vec<T>) {
    let (n, k, d) = (x.n_rows(), centres.n_rows(), x.n_cols());
    let block_rows = (BLOCK / k).clamp(*BLOCK_ROWS.start(), *BLOCK_ROWS.end());
    let n_tasks = n.div_ceil(block_rows);
    let parts = if d <= FEW_COLS {
        let panels = Panels::of(Metric::SquaredEuclidean, &centres);
        map_tasks(n_tasks, n * k * d, |task| {
            directly(&x, &panels, part(task, block_rows, n))
        })
    } else {
        let all = Centres::new(&centres, shift);
        map_tasks(n_tasks, n * k * d, |task| {
            all.nearest(&x.rows(part(task, block_rows, n)))
        })
    };
    parts.into_iter().flatten().unzip()
}

/// The least of each row of direct sums.
fn directly<T: Real>(x: &MatrixView<'_, T>, panels: &Panels<T>, rows: std::ops::Range<usize>) -> Vec<(u32, T)> {
    let side = Side::of(Metric::SquaredEuclidean, x, rows, Which::Left);
    let width = panels.len() * LANES;
    let mut all = vec![T::default(); side.n_rows() * width];
    sums(Metric::SquaredEuclidean, &side, panels, 0..panels.len(), &mut all);
    vectorized(
        #[inline(always)]
        || {
            all.chunks_exact(width)
                .map(|row| {
                    let row = &row[..panels.n_rows()];
                    let value = least(row);
                    let label = row.iter().position(|&other| other == value).unwrap_or(0);
                    (label as u32, value)
                })
                .collect()
        },
    )
}

/// The least of some values: side by side, as vectors are compared.
#[inline(always)]
fn least<T: Real>(values: &[T]) -> T {
    let lesser = |a: T, b: T| if b < a { b } else { a };
    let mut lanes = [T::from_f64(f64::INFINITY); LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = lesser(lanes[lane], chunk[lane]);
        }
    }
    lanes.into_iter().chain(rest.iter().copied()).fold(lanes[0], lesser)
}

/// The centres as they are, and less the shift with their squared lengths.
struct Centres<'s, T> {
    d: usize,
    shift: &'s [f64],
    plain: Vec<T>,
    shifted: Vec<T>,
    squares: Vec<T>,
}

impl<'s, T: Real> Centres<'s, T> {
    fn new(centres: &MatrixView<'_, T>, shift: &'s [f64]) -> Self {
        let d = centres.n_cols();
        let mut scratch = Vec::new();
        let plain = centres.packed(&mut scratch).to_vec();
        let shifted = less(&plain, shift);
        let squares = shifted.chunks_exact(d).map(|row| T::from_f64(square(row))).collect();
        Self {
            d,
            shift,
            plain,
            shifted,
            squares,
        }
    }

    /// The nearest of each row of a block.
    fn nearest(&self, x: &MatrixView<'_, T>) -> Vec<(u32, T)> {
        let (d, k, n) = (self.d, self.squares.len(), x.n_rows());
        let mut scratch = Vec::new();
        let plain = x.packed(&mut scratch);
        let shifted = less(plain, self.shift);
        let mut products = vec![T::default(); n * k];
        multiply(
            MatMut::from_row_major_slice_mut(&mut products, n, k),
            MatRef::from_row_major_slice(&shifted, n, d),
            MatRef::from_row_major_slice(&self.shifted, k, d).transpose(),
            false,
        );
        vectorized(
            #[inline(always)]
            || {
                products
                    .chunks_exact_mut(k)
                    .zip(plain.chunks_exact(d))
                    .zip(shifted.chunks_exact(d))
                    .map(|((products, plain), shifted)| self.settle(products, plain, square(shifted)))
                    .collect()
            },
        )
    }

    /// Products become estimates; those that rounding leaves a chance are looked at directly. For the bound see `nearest_exact.wgsl`.
    #[inline(always)]
    fn settle(&self, products: &mut [T], plain: &[T], square: f64) -> (u32, T) {
        let two = T::from_f64(-2.0);
        for (value, &square) in products.iter_mut().zip(&self.squares) {
            *value = value.fused(two, square);
        }
        let best = least(products).into();
        let d = self.d as f64 + 4.0;
        let reach = square + best.max(-square) + 4.0 * d * T::EPSILON * square;
        let far = square.sqrt() + 1.1 * reach.sqrt();
        let bound = T::EPSILON * d * (2.0 * square.sqrt() * far + far * far + 2.0 * reach);
        let limit = T::from_f64((best + bound) * (1.0 + T::EPSILON * (best + bound).signum()));
        let mut found = (0, T::from_f64(f64::INFINITY));
        for (first, chunk) in products.chunks(LANES).enumerate() {
            // What overflows is looked at, too.
            if chunk.iter().all(|&value| value > limit) {
                continue;
            }
            for (lane, _) in chunk.iter().enumerate().filter(|&(_, &value)| !(value > limit)) {
                let label = first * LANES + lane;
                let distance = self.distance(plain, label);
                if distance < found.1 {
                    found = (label as u32, distance);
                }
            }
        }
        found
    }

    #[inline(always)]
    fn distance(&self, row: &[T], label: usize) -> T {
        let centre = &self.plain[label * self.d..][..self.d];
        let mut lanes = [T::default(); LANES];
        let (rows, centres) = (row.chunks_exact(LANES), centre.chunks_exact(LANES));
        let rest = rows.remainder().iter().zip(centres.remainder());
        for (x, c) in rows.zip(centres) {
            for lane in 0..LANES {
                lanes[lane] = (x[lane] - c[lane]).fused(x[lane] - c[lane], lanes[lane]);
            }
        }
        let rest = rest.fold(T::default(), |sum, (&x, &c)| (x - c).fused(x - c, sum));
        lanes.into_iter().fold(rest, |sum, lane| sum + lane)
    }
}

/// Rows less the shift, rounded once.
fn less<T: Real>(rows: &[T], shift: &[f64]) -> Vec<T> {
    let mut out = rows.to_vec();
    vectorized(
        #[inline(always)]
        || {
            for row in out.chunks_exact_mut(shift.len()) {
                for (value, shift) in row.iter_mut().zip(shift) {
                    *value = T::from_f64((*value).into() - shift);
                }
            }
        },
    );
    out
}

#[inline(always)]
fn square<T: Real>(row: &[T]) -> f64 {
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
