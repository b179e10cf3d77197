//! Euclidean neighbours on a GPU: a product estimates, direct sums decide.

use std::ops::Range;

use super::{Neighbourhoods, neighbours_exact, neighbours_merge, neighbours_norms, tiled};
use crate::Result;
use crate::device::{Array, Kind};
use crate::engine::{Gpu, GpuMatrix, Metric, Shape, Storage};

/// Some rows of a block, the references of a block, and how the estimates of these are grouped.
pub(in crate::kernels) struct Piece<'p> {
    pub(in crate::kernels) x: &'p Array<f32>,
    pub(in crate::kernels) x_ld: usize,
    /// Of the block, the first of which is row `first_query` of the matrix.
    pub(in crate::kernels) rows: Range<usize>,
    pub(in crate::kernels) first_query: usize,
    pub(in crate::kernels) n_queries: usize,
    pub(in crate::kernels) y: &'p Array<f32>,
    pub(in crate::kernels) y_ld: usize,
    /// As they are numbered in the matrix.
    pub(in crate::kernels) refs: Range<usize>,
    pub(in crate::kernels) split: usize,
    pub(in crate::kernels) n_cols: usize,
    pub(in crate::kernels) k: usize,
    pub(in crate::kernels) n_groups: usize,
    pub(in crate::kernels) side: usize,
    pub(in crate::kernels) per_group: usize,
}

/// Groups of the columns of a tile.
const GROUPS_PER_TILE: usize = 16;
/// Bytes that estimates may take.
const LEAST_BYTES: usize = 256 << 20;
/// Products for which a submission counts on the time of a byte.
const PRODUCTS_PER_BYTE: u64 = 10;

/// For rows of whole vectors.
pub(super) fn neighbours<'a>(
    gpu: &Gpu<'a>,
    [x, refs]: [&GpuMatrix<'a>; 2],
    k: usize,
    metric: Metric,
    shift: &[f64],
) -> Result<Neighbourhoods<Gpu<'a>>> {
    let mut origin = shift.to_vec();
    origin.resize(shift.len().next_multiple_of(4), 0.0);
    let shift = gpu.upload_elem(&origin)?;
    let norms = neighbours_norms::record(gpu, refs, &shift)?;
    let variant = usize::from(gpu.kind() == Kind::Software);
    let (kernel, side, per_group) = (&tiled::ALL[variant], tiled::SIDES[variant], tiled::GROUPS[variant]);
    let (n_cols, n_queries) = (x.n_cols(), x.n_rows());
    let parts = gpu.alloc::<u32>(2 * refs.n_blocks() * n_queries * k)?;
    for split in 0..refs.n_blocks() {
        let (y, y_rows) = (gpu.block(refs, split)?, refs.rows_of(split));
        let tiles = y_rows.len().div_ceil(side);
        let n_groups = GROUPS_PER_TILE * tiles;
        let most = LEAST_BYTES.min(gpu.limits().max_binding as usize) / (4 * n_groups * side);
        let row_cost = (4 * (x.ld + 7 * n_groups)) as u64 + (n_cols * tiles * side) as u64 / PRODUCTS_PER_BYTE;
        for block in 0..x.n_blocks() {
            let (array, rows) = (gpu.block(x, block)?, x.rows_of(block));
            for part in gpu.row_pieces(kernel, rows.len(), side, row_cost, most) {
                let least = gpu.alloc(part.len() * n_groups)?;
                let row_tiles = part.len().div_ceil(side);
                let params = tiled::Params {
                    n_rows: part.len() as u32,
                    n_cols: y_rows.len() as u32,
                    k_len: n_cols as u32,
                    a_start: (part.start * x.ld / 4) as u32,
                    a_ld: (x.ld / 4) as u32,
                    b_start: 0,
                    b_ld: (refs.ld / 4) as u32,
                    first_norm: y_rows.start as u32,
                    out_ld: n_groups as u32,
                    rows_first: (row_tiles < tiles).into(),
                };
                let bindings = tiled::Bindings {
                    params,
                    a: array,
                    b: y,
                    shift: &shift,
                    norms: &norms,
                    least: &least,
                };
                let groups = if row_tiles < tiles {
                    [row_tiles, tiles]
                } else {
                    [tiles, row_tiles]
                };
                let groups = [groups[0] as u32, groups[1] as u32, 1];
                gpu.dispatch_variant(kernel, &bindings, groups, row_cost * part.len() as u64)?;
                let piece = Piece {
                    x: array,
                    x_ld: x.ld,
                    rows: part,
                    first_query: rows.start,
                    n_queries,
                    y,
                    y_ld: refs.ld,
                    refs: y_rows.clone(),
                    split,
                    n_cols,
                    k,
                    n_groups,
                    side,
                    per_group,
                };
                neighbours_exact::record(gpu, &piece, &shift, &least, &parts)?;
            }
        }
    }
    neighbours_merge::record(gpu, &parts, [n_queries, refs.n_blocks(), k], metric)
}
