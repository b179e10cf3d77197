//! Distances of the native kernels, summed directly, so that an offset of the data costs nothing: rows of one side in registers, the
//! other side in panels of rows that lie side by side.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use std::ops::Range;

use super::{Metric, Real};
use crate::matrix::MatrixView;
use crate::threads::{map_tasks, vectorized};

/// Rows of a panel.
pub(crate) const LANES: usize = 16;

/// Rows of a matrix as a metric sees them.
pub(crate) struct Side<T> {
    /// Row-major without gaps.
    pub(crate) values: Vec<T>,
    /// Columns.
    pub(crate) depth: usize,
}

/// What a row of zeros has in a column of its own under the cosine: sums with it, far above 4, become 2.
const MARK: f64 = 64.0;

/// Which side of a pair: a row of zeros has its mark in another column on each.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    /// The rows in registers.
    Left,
    /// The rows in panels.
    Right,
}

impl<T: Real> Side<T> {
    /// Some rows of `x`. For the cosine they get length 1, and two more columns for marks.
    pub(crate) fn of(metric: Metric, x: &MatrixView<'_, T>, rows: Range<usize>, which: Which) -> Self {
        let (width, mut scratch) = (x.n_cols(), Vec::new());
        let rows = x.rows(rows);
        let packed = rows.packed(&mut scratch);
        if metric != Metric::Cosine {
            return Self {
                values: packed.to_vec(),
                depth: width,
            };
        }
        let mut values = Vec::with_capacity(rows.n_rows() * (width + 2));
        for row in packed.chunks_exact(width.max(1)) {
            let square: f64 = row.iter().map(|&value| value.into() * value.into()).sum();
            let length = square.sqrt();
            let scaled = |&value: &T| T::from_f64(if length == 0.0 { 0.0 } else { value.into() / length });
            values.extend(row.iter().map(scaled));
            let mark = T::from_f64(if length == 0.0 { MARK } else { 0.0 });
            values.extend(match which {
                Which::Left => [mark, T::default()],
                Which::Right => [T::default(), mark],
            });
        }
        Self {
            values,
            depth: width + 2,
        }
    }

    /// How many rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.values.len().checked_div(self.depth).unwrap_or(0)
    }
}

/// Rows side by side: `[panel][column][LANES]`, zeros where there are none.
pub(crate) struct Panels<T> {
    values: Vec<T>,
    depth: usize,
    n_rows: usize,
}

/// Rows that a task packs.
const PACK_ROWS: usize = 256;

impl<T: Real> Panels<T> {
    /// All rows of `y`.
    pub(crate) fn of(metric: Metric, y: &MatrixView<'_, T>) -> Self {
        let n_rows = y.n_rows();
        let mut parts = map_tasks(n_rows.div_ceil(PACK_ROWS), n_rows * y.n_cols(), |task| {
            let rows = task * PACK_ROWS..n_rows.min((task + 1) * PACK_ROWS);
            let side = Side::of(metric, y, rows, Which::Right);
            let depth = side.depth;
            let mut values = vec![T::default(); side.n_rows().next_multiple_of(LANES) * depth];
            let rows_together = side.values.chunks(LANES * depth.max(1));
            for (panel, rows) in values.chunks_exact_mut(LANES * depth.max(1)).zip(rows_together) {
                if let Some(rows) = rows.get(..LANES * depth) {
                    vectorized(
                        #[inline(always)]
                        || turn(rows, depth, panel),
                    );
                } else {
                    for (at, &value) in rows.iter().enumerate() {
                        panel[at % depth * LANES + at / depth] = value;
                    }
                }
            }
            (values, depth)
        });
        let depth = parts.first().map_or(0, |&(_, depth)| depth);
        let values = if parts.len() == 1 {
            parts.remove(0).0
        } else {
            parts.into_iter().map(|(values, _)| values).collect::<Vec<_>>().concat()
        };
        Self { values, depth, n_rows }
    }

    /// How many rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many panels.
    pub(crate) fn len(&self) -> usize {
        self.n_rows.div_ceil(LANES)
    }
}

/// Rows become columns.
#[inline(always)]
fn turn<T: Real>(rows: &[T], depth: usize, panel: &mut [T]) {
    let rows: [&[T]; LANES] = std::array::from_fn(|lane| &rows[lane * depth..][..depth]);
    for (k, column) in panel.chunks_exact_mut(LANES).enumerate().take(depth) {
        for lane in 0..LANES {
            column[lane] = rows[lane][k];
        }
    }
}

/// Sums of a metric for all rows of `x` and some panels of `y`: row-major, `LANES` columns a panel; what stands for rows that `y` has
/// not is of no meaning.
pub(crate) fn sums<T: Real>(metric: Metric, x: &Side<T>, y: &Panels<T>, panels: Range<usize>, out: &mut [T]) {
    let panel_len = y.depth * LANES;
    let values = &y.values[panels.start * panel_len..panels.end * panel_len];
    match metric {
        Metric::SquaredEuclidean | Metric::Euclidean | Metric::Cosine => {
            vectorized(
                #[inline(always)]
                || {
                    walk(
                        x,
                        values,
                        out,
                        #[inline(always)]
                        |sum: T, a: T, b: T| (a - b).fused(a - b, sum),
                    );
                },
            );
        }
        Metric::Manhattan => vectorized(
            #[inline(always)]
            || {
                walk(
                    x,
                    values,
                    out,
                    #[inline(always)]
                    |sum: T, a: T, b: T| sum + larger(a - b, b - a),
                );
            },
        ),
        Metric::Chebyshev => vectorized(
            #[inline(always)]
            || {
                walk(
                    x,
                    values,
                    out,
                    #[inline(always)]
                    |sum: T, a: T, b: T| larger(sum, larger(a - b, b - a)),
                );
            },
        ),
        Metric::Minkowski(power) => {
            let whole = (power.fract() == 0.0 && power <= 64.0).then_some(power as i32);
            let term = |sum: T, a: T, b: T| {
                let apart = (a.into() - b.into()).abs();
                let term = whole.map_or_else(|| apart.powf(power), |whole| apart.powi(whole));
                T::from_f64(sum.into() + term)
            };
            walk(x, values, out, term);
        }
    }
    if metric == Metric::Cosine {
        let (mark, two) = (T::from_f64(MARK), T::from_f64(2.0));
        out.iter_mut().filter(|sum| **sum > mark).for_each(|sum| *sum = two);
    }
}

/// One instruction where `greater` is three.
#[inline(always)]
fn larger<T: Real>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// As many rows at once as there are registers for.
#[inline(always)]
fn walk<T: Real>(x: &Side<T>, panels: &[T], out: &mut [T], add: impl Fn(T, T, T) -> T + Copy) {
    if size_of::<T>() == 4 {
        walk_by::<T, 6>(x, panels, out, add);
    } else {
        walk_by::<T, 4>(x, panels, out, add);
    }
}

#[inline(always)]
fn walk_by<T: Real, const ROWS: usize>(x: &Side<T>, panels: &[T], out: &mut [T], add: impl Fn(T, T, T) -> T + Copy) {
    let depth = x.depth;
    if depth == 0 || panels.is_empty() {
        out.fill(T::default());
        return;
    }
    let width = panels.len() / depth;
    for (p, panel) in panels.chunks_exact(depth * LANES).enumerate() {
        let mut rows = x.values.chunks_exact(ROWS * depth);
        let mut at = p * LANES;
        for rows in &mut rows {
            let sums = some_rows::<T, ROWS>(rows, depth, panel, add);
            for sums in sums {
                out[at..at + LANES].copy_from_slice(&sums);
                at += width;
            }
        }
        let mut rest = rows.remainder().chunks_exact(2 * depth);
        for rows in &mut rest {
            for sums in some_rows::<T, 2>(rows, depth, panel, add) {
                out[at..at + LANES].copy_from_slice(&sums);
                at += width;
            }
        }
        for row in rest.remainder().chunks_exact(depth) {
            let [sums] = some_rows::<T, 1>(row, depth, panel, add);
            out[at..at + LANES].copy_from_slice(&sums);
            at += width;
        }
    }
}

#[inline(always)]
fn some_rows<T: Real, const ROWS: usize>(
    rows: &[T],
    depth: usize,
    panel: &[T],
    add: impl Fn(T, T, T) -> T,
) -> [[T; LANES]; ROWS] {
    let rows: [&[T]; ROWS] = std::array::from_fn(|row| &rows[row * depth..][..depth]);
    let mut sums = [[T::default(); LANES]; ROWS];
    for (k, values) in panel.chunks_exact(LANES).enumerate().take(depth) {
        for row in 0..ROWS {
            let value = rows[row][k];
            for lane in 0..LANES {
                sums[row][lane] = add(sums[row][lane], value, values[lane]);
            }
        }
    }
    sums
}

/// Sums become distances.
pub(crate) fn finish<T: Real>(metric: Metric, sums: &[T], out: &mut [T]) {
    match metric {
        Metric::SquaredEuclidean | Metric::Manhattan | Metric::Chebyshev => out.copy_from_slice(sums),
        Metric::Minkowski(_) => {
            for (out, &sum) in out.iter_mut().zip(sums) {
                *out = T::from_f64(metric.distance_of(sum.into()));
            }
        }
        Metric::Euclidean => vectorized(
            #[inline(always)]
            || {
                for (out, &sum) in out.iter_mut().zip(sums) {
                    *out = T::from_f64(sum.into().sqrt());
                }
            },
        ),
        Metric::Cosine => vectorized(
            #[inline(always)]
            || {
                let half = T::from_f64(0.5);
                for (out, &sum) in out.iter_mut().zip(sums) {
                    *out = sum * half;
                }
            },
        ),
    }
}

/// Panels that are passed at once by a block of rows: they stay in the second cache.
pub(crate) fn panels_at_once<T>(depth: usize) -> usize {
    const BYTES: usize = 128 << 10;
    (BYTES / (depth.max(1) * LANES * size_of::<T>())).clamp(1, 64)
}
