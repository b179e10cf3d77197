//! A step of `segment_sums`: counts become places.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/segment_sums_scan.rs"));

/// Makes each of `n_rows` rows of `counts` the sums before each place, with the totals of the rows.
pub(super) fn record(gpu: &Gpu<'_>, [n_rows, len]: [usize; 2], counts: &Array<u32>, totals: &Array<u32>) -> Result<()> {
    let params = Params {
        n_rows: n_rows as u32,
        len: len as u32,
    };
    let groups = params.n_rows.min(gpu.limits().max_groups);
    gpu.dispatch(&Bindings { params, counts, totals }, [groups, 1, 1], 2 * counts.bytes())
}
