//! A step before the nearest centres are sought: rows too narrow to be read as vectors become vectors.

use std::ops::Range;

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/nearest_pad.rs"));

/// Some rows, `ld` values apart, as one vector each.
pub(super) fn record(
    gpu: &Gpu<'_>,
    x: &Array<f32>,
    rows: Range<usize>,
    n_cols: usize,
    ld: usize,
) -> Result<Array<f32>> {
    let out = gpu.alloc(4 * rows.len())?;
    let params = Params {
        first_row: rows.start as u32,
        n_rows: rows.len() as u32,
        n_cols: n_cols as u32,
        ld: ld as u32,
    };
    let groups = params.n_rows.div_ceil(KERNEL.workgroup[0]).min(gpu.limits().max_groups);
    gpu.dispatch(&Bindings { params, x, out: &out }, [groups, 1, 1], out.bytes())?;
    Ok(out)
}
