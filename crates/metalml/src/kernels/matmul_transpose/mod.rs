//! A step before a large product: its right operand is turned, where that form of the product is faster.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/matmul_transpose.rs"));

/// Writes the transpose of `n_rows` by `n_cols` values, which begin at `start`, `ld` apart.
pub(super) fn record(
    gpu: &Gpu<'_>,
    [n_rows, n_cols]: [usize; 2],
    [values, turned]: [&Array<f32>; 2],
    start: usize,
    [ld, turned_ld]: [usize; 2],
) -> Result<()> {
    let params = Params {
        n_rows: n_rows as u32,
        n_cols: n_cols as u32,
        start: start as u32,
        ld: ld as u32,
        turned_ld: turned_ld as u32,
    };
    let side = KERNEL.workgroup[0];
    let groups = [params.n_cols.div_ceil(side), params.n_rows.div_ceil(side), 1];
    let bindings = Bindings { params, values, turned };
    gpu.dispatch(&bindings, groups, 8 * (n_rows * n_cols) as u64)
}
