//! The second step of kernel sums: the splits of each query become one.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/kernel_sums_merge.rs"));

/// Merges `[splits][queries]` sums.
pub(super) fn record(
    gpu: &Gpu<'_>,
    parts: &Array<f32>,
    [n_queries, n_splits]: [usize; 2],
    log: bool,
) -> Result<Array<f32>> {
    let out = gpu.alloc(n_queries)?;
    if n_queries > 0 {
        let params = Params {
            n_queries: n_queries as u32,
            n_splits: n_splits as u32,
            log: log.into(),
            none: f32::NEG_INFINITY,
            zero: 0,
        };
        let bindings = Bindings {
            params,
            parts,
            out: &out,
        };
        let groups = params
            .n_queries
            .div_ceil(KERNEL.workgroup[0])
            .min(gpu.limits().max_groups);
        gpu.dispatch(&bindings, [groups, 1, 1], parts.bytes())?;
    }
    Ok(out)
}
