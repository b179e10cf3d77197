//! A step before the nearest neighbours are sought: how long each reference is, seen from the shift.

use crate::Result;
use crate::device::Array;
use crate::engine::{Gpu, GpuMatrix, Shape};

include!(concat!(env!("OUT_DIR"), "/neighbours_norms.rs"));

/// The squared lengths of all rows of `y - shift`.
pub(super) fn record<'a>(gpu: &Gpu<'a>, y: &GpuMatrix<'a>, shift: &Array<f32>) -> Result<Array<f32>> {
    let norms = gpu.alloc(y.n_rows())?;
    for block in 0..y.n_blocks() {
        let (array, rows) = (gpu.block(y, block)?, y.rows_of(block));
        let params = Params {
            n_rows: rows.len() as u32,
            n_cols: y.n_cols() as u32,
            ld: y.ld as u32,
            first: rows.start as u32,
        };
        let bindings = Bindings {
            params,
            y: array,
            shift,
            norms: &norms,
        };
        let groups = params.n_rows.div_ceil(KERNEL.workgroup[0]).min(gpu.limits().max_groups);
        gpu.dispatch(&bindings, [groups, 1, 1], array.bytes())?;
    }
    Ok(norms)
}
