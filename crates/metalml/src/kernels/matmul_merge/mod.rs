//! The second step of a product whose inner dimension was split: the splits become the result.

use super::matmul::{Finish, Place};
use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/matmul_merge.rs"));

/// The splits of a product: `n_splits` times `n_rows` rows of `ld` values.
pub(super) struct Parts<'p> {
    pub(super) array: &'p Array<f32>,
    pub(super) n_splits: usize,
    pub(super) ld: usize,
}

pub(super) fn record(
    gpu: &Gpu<'_>,
    [n_rows, n_cols]: [usize; 2],
    parts: &Parts<'_>,
    to: &Place<'_>,
    finish: &Finish<'_>,
) -> Result<()> {
    let params = Params {
        n_rows: n_rows as u32,
        n_cols: n_cols as u32,
        n_splits: parts.n_splits as u32,
        part_ld: parts.ld as u32,
        split_stride: (n_rows * parts.ld) as u32,
        out_start: to.start as u32,
        out_ld: to.ld as u32,
        bias_start: finish.bias_start as u32,
        has_bias: finish.bias.is_some().into(),
        row_start: finish.row_start as u32,
        row_use: finish.row_use(),
        alpha: finish.alpha,
        beta: finish.beta,
        epilogue: finish.epilogue.number(),
        gamma: finish.epilogue.gamma(),
        coef0: finish.epilogue.coef0(),
        degree: finish.epilogue.degree(),
        zero: 0,
    };
    let elements = n_rows * n_cols;
    let groups = elements.div_ceil(16).min(gpu.limits().max_groups as usize) as u32;
    let bindings = Bindings {
        params,
        parts: parts.array,
        bias: finish.bias.unwrap_or(parts.array),
        row_terms: finish.row.map_or(parts.array, |row| row.array()),
        out: to.array,
    };
    gpu.dispatch(&bindings, [groups, 1, 1], (4 * elements * (parts.n_splits + 1)) as u64)
}
