//! The second step of `node_histograms`: of two children only one is summed.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/node_histograms_sibling.rs"));

/// What the parent has and the child has not.
pub(super) fn record(gpu: &Gpu<'_>, parent: &Array<i32>, child: &Array<i32>) -> Result<Array<i32>> {
    let sibling = gpu.alloc(parent.len())?;
    let params = Params {
        len: parent.len() as u32,
    };
    let bindings = Bindings {
        params,
        parent,
        child,
        sibling: &sibling,
    };
    let groups = params.len.div_ceil(KERNEL.workgroup[0]).min(gpu.limits().max_groups);
    gpu.dispatch(&bindings, [groups, 1, 1], 3 * parent.bytes())?;
    Ok(sibling)
}
