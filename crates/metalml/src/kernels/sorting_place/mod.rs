//! A step of `sorting`: keys move to the places of their digit.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/sorting_place.rs"));

/// Moves `[keys, numbers]` by the places of each digit and split.
pub(super) fn record(
    gpu: &Gpu<'_>,
    params: Params,
    starts: &Array<u32>,
    [keys, order]: &[Array<u32>; 2],
    [keys_to, order_to]: &[Array<u32>; 2],
) -> Result<()> {
    let bindings = Bindings {
        params,
        keys,
        order,
        starts,
        keys_to,
        order_to,
    };
    // Each key is compared with those about it.
    gpu.dispatch(&bindings, [params.n_splits, 1, 1], 16 * keys.bytes())
}
