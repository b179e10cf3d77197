//! The last step to the nearest centres: estimates become labels and distances.

use super::nearest::Estimates;
use crate::Result;
use crate::device::Array;
use crate::engine::{Gpu, GpuMatrix, Shape};

include!(concat!(env!("OUT_DIR"), "/nearest_exact.rs"));

/// Writes the labels and squared distances of all rows of `x`.
pub(super) fn record<'a>(
    gpu: &Gpu<'a>,
    [x, y]: [&GpuMatrix<'a>; 2],
    estimates: &Estimates<'_>,
    labels: &Array<u32>,
    distances: &Array<f32>,
) -> Result<()> {
    for (x_block, y_block) in (0..x.n_blocks()).flat_map(|at| (0..y.n_blocks()).map(move |of| (at, of))) {
        let (array, centres) = (gpu.block(x, x_block)?, gpu.block(y, y_block)?);
        let (rows, y_rows) = (x.rows_of(x_block), y.rows_of(y_block));
        let params = Params {
            n_rows: rows.len() as u32,
            n_cols: x.n_cols() as u32,
            x_ld: x.ld as u32,
            y_ld: y.ld as u32,
            first_row: rows.start as u32,
            n_centres: y_rows.len() as u32,
            first_centre: y_rows.start as u32,
        };
        let bindings = Bindings {
            params,
            x: array,
            y: centres,
            shift: estimates.shift,
            candidates: &estimates.candidates,
            least: &estimates.least,
            labels,
            distances,
        };
        let groups = params.n_rows.div_ceil(KERNEL.workgroup[0]).min(gpu.limits().max_groups);
        gpu.dispatch(&bindings, [groups, 1, 1], array.bytes())?;
    }
    Ok(())
}
