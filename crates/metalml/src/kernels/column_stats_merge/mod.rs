//! The second step of `column_stats`: the parts of the rows become one.

use crate::Result;
use crate::device::{Array, Pair};
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/column_stats_merge.rs"));

/// What the first step left.
pub(super) struct Parts<'p> {
    pub(super) count: usize,
    pub(super) sums: &'p Array<Pair>,
    pub(super) range: &'p Array<f32>,
    /// What the means are off by: hi, then lo, from `offset_start` on.
    pub(super) frame: &'p Array<f32>,
    pub(super) offset_start: usize,
}

pub(super) fn record(
    gpu: &Gpu<'_>,
    n_cols: usize,
    parts: &Parts<'_>,
    sums: &Array<Pair>,
    range: &Array<f32>,
) -> Result<()> {
    let params = Params {
        n_parts: parts.count as u32,
        n_cols: n_cols as u32,
        offset_start: parts.offset_start as u32,
        zero: 0,
    };
    let groups = [params.n_cols.div_ceil(KERNEL.workgroup[0]), 1, 1];
    gpu.dispatch(
        &Bindings {
            params,
            parts: parts.sums,
            part_range: parts.range,
            frame: parts.frame,
            sums,
            range,
        },
        groups,
        parts.sums.bytes(),
    )
}
