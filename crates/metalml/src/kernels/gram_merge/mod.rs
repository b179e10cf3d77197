//! The second step of `gram`: partial tiles become one matrix of wide sums.

use crate::Result;
use crate::device::{Array, Pair};
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/gram_merge.rs"));

pub(super) fn record(
    gpu: &Gpu<'_>,
    x_cols: usize,
    n_cols: usize,
    n_parts: usize,
    accumulate: bool,
    partials: &Array<f32>,
    products: &Array<Pair>,
) -> Result<()> {
    let params = Params {
        x_cols: x_cols as u32,
        n_cols: n_cols as u32,
        n_parts: n_parts as u32,
        accumulate: accumulate.into(),
        zero: 0,
    };
    let [x, y, _] = KERNEL.workgroup;
    let groups = [params.n_cols.div_ceil(x), params.x_cols.div_ceil(y), 1];
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
