//! A step of `gram` where there are many columns: rows as the products take them.

use std::ops::Range;

use crate::Result;
use crate::device::Array;
use crate::engine::{Gpu, GpuMatrix, Shape};

include!(concat!(env!("OUT_DIR"), "/gram_centre.rs"));

/// The matrices and what their columns are seen in.
pub(super) struct Rows<'m, 'a> {
    pub(super) x: &'m GpuMatrix<'a>,
    pub(super) y: &'m GpuMatrix<'a>,
    pub(super) frame: &'m Array<f32>,
    pub(super) weights: Option<&'m GpuMatrix<'a>>,
}

/// Writes some rows of a block to `out`, packed.
pub(super) fn record<'a>(
    gpu: &Gpu<'a>,
    of: &Rows<'_, 'a>,
    block: usize,
    rows: Range<usize>,
    out: &Array<f32>,
) -> Result<()> {
    let (x, y) = (gpu.block(of.x, block)?, gpu.block(of.y, block)?);
    let vectors = of.x.n_cols().div_ceil(4) + of.y.n_cols().div_ceil(4);
    let groups = (rows.len() * vectors).div_ceil(KERNEL.workgroup[0] as usize);
    let across = groups.min(gpu.limits().max_groups as usize);
    let params = Params {
        n_rows: rows.end as u32,
        x_cols: of.x.n_cols() as u32,
        x_ld: of.x.ld as u32,
        y_cols: of.y.n_cols() as u32,
        y_ld: of.y.ld as u32,
        first_row: rows.start as u32,
        weighted: of.weights.is_some().into(),
        groups_x: across as u32,
    };
    let bindings = Bindings {
        params,
        x4: x,
        x,
        y,
        frame: of.frame,
        weights: of.weights.map_or(Ok(of.frame), |weights| gpu.block(weights, block))?,
        out,
    };
    let grid = [across as u32, groups.div_ceil(across) as u32, 1];
    gpu.dispatch(&bindings, grid, (32 * rows.len() * vectors) as u64)
}
