//! A step of `sorting`: what stands before each run is added to its sums.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/sorting_scan_add.rs"));

/// Adds `before` to the sums, one number for each run of `run`.
pub(super) fn record(gpu: &Gpu<'_>, before: &Array<u32>, sums: &Array<u32>, run: usize) -> Result<()> {
    let params = Params {
        len: sums.len() as u32,
        run: run as u32,
    };
    let groups = params.len.div_ceil(KERNEL.workgroup[0]).min(gpu.limits().max_groups);
    gpu.dispatch(&Bindings { params, before, sums }, [groups, 1, 1], 2 * sums.bytes())
}
