//! The second step of `gram`: the parts become one matrix of wide sums.

use crate::Result;
use crate::device::{Array, Pair};
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/gram_merge.rs"));

pub(super) use Params as Plan;

/// Vectors of four that a task of `gram` makes.
const VECTORS_PER_TASK: u32 = 16;
/// Tasks that a workgroup merges.
const TASKS: u32 = KERNEL.workgroup[0];

pub(super) fn record(gpu: &Gpu<'_>, params: Plan, partials: &Array<f32>, products: &Array<Pair>) -> Result<()> {
    let groups = [params.tasks.div_ceil(TASKS), VECTORS_PER_TASK, params.n_pairs];
    gpu.dispatch(
        &Bindings {
            params,
            partials,
            products,
        },
        groups,
        partials.bytes(),
    )
}
