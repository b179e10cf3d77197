//! The last step of `gram`: the parts become one matrix of wide sums.

use crate::Result;
use crate::device::{Array, Pair};
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/gram_merge.rs"));

pub(super) use Params as Parts;

/// Adds up the parts, the products of the first `x_cols` columns with all.
pub(super) fn record(gpu: &Gpu<'_>, params: Parts, partials: &Array<f32>, products: &Array<Pair>) -> Result<()> {
    let groups = [params.vectors.div_ceil(KERNEL.workgroup[0]), params.x_cols, 1];
    let bytes = 16 * u64::from(params.n_parts) * u64::from(params.part_stride);
    gpu.dispatch(
        &Bindings {
            params,
            partials,
            products,
        },
        groups,
        bytes,
    )
}
