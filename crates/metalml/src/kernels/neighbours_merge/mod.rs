//! The second step to the nearest neighbours: the lists of all splits become one.

use super::neighbours::Neighbourhoods;
use crate::Result;
use crate::device::Array;
use crate::engine::{Gpu, Metric};

include!(concat!(env!("OUT_DIR"), "/neighbours_merge.rs"));

/// Merges `[splits][queries][k]` sorted entries.
pub(super) fn record<'a>(
    gpu: &Gpu<'a>,
    parts: &Array<u32>,
    [n_queries, n_splits, k]: [usize; 3],
    metric: Metric,
) -> Result<Neighbourhoods<Gpu<'a>>> {
    let (indices, distances) = (gpu.alloc(n_queries * k)?, gpu.alloc(n_queries * k)?);
    if n_queries > 0 {
        let params = Params {
            n_queries: n_queries as u32,
            n_splits: n_splits as u32,
            k: k as u32,
            metric: metric.number(),
            power: metric.power() as f32,
        };
        let bindings = Bindings {
            params,
            parts,
            indices: &indices,
            distances: &distances,
        };
        let threads = n_splits * n_queries * k;
        let groups = threads
            .div_ceil(KERNEL.workgroup[0] as usize)
            .min(gpu.limits().max_groups as usize);
        gpu.dispatch(&bindings, [groups as u32, 1, 1], parts.bytes() * n_splits as u64)?;
    }
    Ok(Neighbourhoods { indices, distances })
}
