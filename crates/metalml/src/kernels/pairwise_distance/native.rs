//! Blocks of rows against panels of the other side.

use crate::engine::native_distance::{LANES, Panels, Side, Which, finish, panels_at_once, sums};
use crate::engine::native_rows::part;
use crate::engine::{Metric, Real};
use crate::matrix::MatrixView;
use crate::threads::for_each_chunk_apart;

/// Rows of a block.
const BLOCK_ROWS: usize = 48;

/// Writes the distances of all rows of `x` and of `y`, row-major, to `out`.
pub(super) fn pairwise_distance<T: Real>(x: MatrixView<'_, T>, y: MatrixView<'_, T>, metric: Metric, out: &mut [T]) {
    let (n, m) = (x.n_rows(), y.n_rows());
    if n == 0 || m == 0 {
        return;
    }
    let panels = Panels::of(metric, &y);
    for_each_chunk_apart(out, BLOCK_ROWS * m, n * m * x.n_cols(), |task, out| {
        let side = Side::of(metric, &x, part(task, BLOCK_ROWS, n), Which::Left);
        let at_once = panels_at_once::<T>(side.depth);
        let mut scratch = vec![T::default(); side.n_rows() * at_once * LANES];
        for first in (0..panels.len()).step_by(at_once) {
            let some = first..(first + at_once).min(panels.len());
            let width = some.len() * LANES;
            let cols = first * LANES..m.min(some.end * LANES);
            let scratch = &mut scratch[..side.n_rows() * width];
            sums(metric, &side, &panels, some, scratch);
            for (sums, out) in scratch.chunks_exact(width).zip(out.chunks_exact_mut(m)) {
                finish(metric, &sums[..cols.len()], &mut out[cols.clone()]);
            }
        }
    });
}
