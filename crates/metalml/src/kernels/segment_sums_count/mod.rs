//! The first step of `segment_sums`: how many rows of each split a segment has.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/segment_sums_count.rs"));

/// Segments that a workgroup counts, as in the WGSL.
const RANGE: u32 = 2048;

/// Writes `[segment][split]` counts.
pub(super) fn record(gpu: &Gpu<'_>, params: Params, labels: &Array<u32>, counts: &Array<u32>) -> Result<()> {
    let groups = [params.n_splits, params.n_segments.div_ceil(RANGE), 1];
    let bytes = 4 * u64::from(params.n_rows) * u64::from(groups[1]);
    gpu.dispatch(&Bindings { params, labels, counts }, groups, bytes)
}
