//! A step of `segment_sums`: the rows of each segment one after the other.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/segment_sums_place.rs"));

/// Segments that a workgroup places, as in the WGSL.
const RANGE: u32 = 2048;

/// Writes the rows in the order of their segments.
pub(super) fn record(
    gpu: &Gpu<'_>,
    params: Params,
    labels: &Array<u32>,
    [within, starts]: [&Array<u32>; 2],
    order: &Array<u32>,
) -> Result<()> {
    let groups = [params.n_splits, params.n_segments.div_ceil(RANGE), 1];
    let bindings = Bindings {
        params,
        labels,
        within,
        starts,
        order,
    };
    // Each row is compared with those about it.
    let bytes = 64 * u64::from(params.n_rows) * u64::from(groups[1]);
    gpu.dispatch(&bindings, groups, bytes)
}
