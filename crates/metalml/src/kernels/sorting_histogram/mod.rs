//! A step of `sorting`: how often each number occurs.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/sorting_histogram.rs"));

/// Bins that a workgroup counts at once, as in the WGSL, and workgroups that keep a large device busy.
const RANGE: usize = 2048;
const GROUPS: usize = 1024;

/// Adds the counts of `values` to `counts`.
pub(super) fn record(gpu: &Gpu<'_>, values: &Array<u32>, counts: &Array<u32>) -> Result<()> {
    let params = Params {
        len: values.len() as u32,
        n_bins: counts.len() as u32,
    };
    let groups = values.len().div_ceil(KERNEL.workgroup[0] as usize);
    let groups = groups.min(GROUPS).min(gpu.limits().max_groups as usize);
    let ranges = counts.len().div_ceil(RANGE);
    let bytes = values.bytes() * ranges as u64;
    gpu.dispatch(
        &Bindings { params, values, counts },
        [groups as u32, ranges as u32, 1],
        bytes,
    )
}
