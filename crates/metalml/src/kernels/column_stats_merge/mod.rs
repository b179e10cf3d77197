//! The second step of `column_stats`: the parts of the rows become one.

use crate::Result;
use crate::device::{Array, Pair};
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/column_stats_merge.rs"));

pub(super) fn record(
    gpu: &Gpu<'_>,
    n_parts: usize,
    n_cols: usize,
    parts: &Array<Pair>,
    part_range: &Array<f32>,
    frame: &Array<f32>,
    offset_start: usize,
    sums: &Array<Pair>,
    range: &Array<f32>,
) -> Result<()> {
    let params = Params {
        n_parts: n_parts as u32,
        n_cols: n_cols as u32,
        offset_start: offset_start as u32,
        zero: 0,
    };
    let groups = [params.n_cols.div_ceil(KERNEL.workgroup[0]), 1, 1];
    gpu.dispatch(
        &Bindings {
            params,
            parts,
            part_range,
            frame,
            sums,
            range,
        },
        groups,
        parts.bytes(),
    )
}
