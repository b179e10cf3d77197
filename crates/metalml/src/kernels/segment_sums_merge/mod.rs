//! The last step of `segment_sums`: the parts of the rows become one.

use crate::Result;
use crate::device::{Array, Pair};
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/segment_sums_merge.rs"));

/// Adds the parts of `sums.len()` pairs each.
pub(super) fn record(gpu: &Gpu<'_>, n_parts: usize, parts: &Array<Pair>, sums: &Array<Pair>) -> Result<()> {
    let params = Params {
        len: sums.len() as u32,
        n_parts: n_parts as u32,
        zero: 0,
    };
    let groups = params.len.div_ceil(KERNEL.workgroup[0]).min(gpu.limits().max_groups);
    gpu.dispatch(&Bindings { params, parts, sums }, [groups, 1, 1], parts.bytes())
}
