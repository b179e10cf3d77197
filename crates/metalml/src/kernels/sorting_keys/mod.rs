//! The first step of `sorting`: floats become integers of the same order.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/sorting_keys.rs"));

/// The keys and the numbers of all values.
pub(super) fn record(gpu: &Gpu<'_>, values: &Array<f32>) -> Result<[Array<u32>; 2]> {
    let (keys, order) = (gpu.alloc(values.len())?, gpu.alloc(values.len())?);
    let params = Params {
        len: values.len() as u32,
    };
    let bindings = Bindings {
        params,
        values,
        keys: &keys,
        order: &order,
    };
    let groups = params.len.div_ceil(KERNEL.workgroup[0]).min(gpu.limits().max_groups);
    gpu.dispatch(&bindings, [groups, 1, 1], 3 * values.bytes())?;
    Ok([keys, order])
}
