//! The nearest of a few centres, in one step.

use crate::Result;
use crate::device::Array;
use crate::engine::{Gpu, GpuMatrix, Shape};

include!(concat!(env!("OUT_DIR"), "/nearest_few.rs"));

/// What the workgroup memory holds: of the centres, in fours, and of the rows; as in the WGSL.
const CENTRES: usize = 512;
const VALUES: usize = 1536;
/// Columns beyond which so few rows fit at once that tiles are faster.
const MOST_COLS: usize = 64;

/// Whether the centres are few enough.
pub(super) fn suits(centres: &GpuMatrix<'_>) -> bool {
    let cols = centres.n_cols();
    centres.n_blocks() == 1 && cols <= MOST_COLS && centres.n_rows().div_ceil(4) * cols <= CENTRES
}

/// Writes the labels and squared distances of all rows of `x`.
pub(super) fn record<'a>(
    gpu: &Gpu<'a>,
    [x, y]: [&GpuMatrix<'a>; 2],
    labels: &Array<u32>,
    distances: &Array<f32>,
) -> Result<()> {
    let threads = KERNEL.workgroup[0] as usize;
    let fitting = VALUES / (x.n_cols() | 1);
    let rows_at_once = (1 << fitting.ilog2()).min(threads);
    for block in 0..x.n_blocks() {
        let (array, rows) = (gpu.block(x, block)?, x.rows_of(block));
        let params = Params {
            n_rows: rows.len() as u32,
            n_cols: x.n_cols() as u32,
            x_ld: x.ld as u32,
            y_ld: y.ld as u32,
            first_row: rows.start as u32,
            n_centres: y.n_rows() as u32,
            rows_at_once: rows_at_once as u32,
        };
        let bindings = Bindings {
            params,
            x: array,
            y: gpu.block(y, 0)?,
            labels,
            distances,
        };
        let groups = rows
            .len()
            .div_ceil(rows_at_once)
            .min(GROUPS)
            .min(gpu.limits().max_groups as usize);
        gpu.dispatch(&bindings, [groups as u32, 1, 1], array.bytes())?;
    }
    Ok(())
}

/// Workgroups that keep a large device busy: each brings the centres once.
const GROUPS: usize = 2048;
