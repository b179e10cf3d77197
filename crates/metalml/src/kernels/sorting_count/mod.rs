//! A step of `sorting`: how many keys of each split have a digit.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/sorting_count.rs"));

/// Writes `[digit][split]` counts.
pub(super) fn record(gpu: &Gpu<'_>, params: Params, keys: &Array<u32>, counts: &Array<u32>) -> Result<()> {
    gpu.dispatch(
        &Bindings { params, keys, counts },
        [params.n_splits, 1, 1],
        keys.bytes(),
    )
}
