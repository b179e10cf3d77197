//! For each row of one matrix the nearest row of another: the assignment of `KMeans`, without the matrix of distances.

mod cases;
mod native;
mod reference;

use super::{Family, nearest_exact, nearest_few, nearest_norms, nearest_pad};
use std::ops::Range;

use crate::device::{Array, Kind};
use crate::engine::{Gpu, GpuMatrix, Native, OnHost, Shape, Storage};
use crate::{Error, Result};

pub(in crate::kernels) mod tiled {
    //! What the build made of `build/tiles` for this kernel.
    include!(concat!(env!("OUT_DIR"), "/nearest_tiled.rs"));
}

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "nearest",
    kernels: &[
        tiled::ALL[0],
        tiled::ALL[1],
        nearest_norms::KERNEL,
        nearest_pad::KERNEL,
        nearest_exact::KERNEL,
        nearest_few::KERNEL,
    ],
    cases: cases::cases,
};

/// What is nearest to each row.
#[derive(Debug)]
pub struct Found<E: Storage> {
    /// The index of the nearest centre; of equal ones, the lowest.
    pub labels: E::Array<u32>,
    /// The squared Euclidean distance to it.
    pub distances: E::Array<E::Elem>,
}

/// Nearest rows.
pub trait Nearest: Storage {
    /// The nearest of the k rows of `centres` to each of the n rows of `x`, both d wide; k and d are at
    /// least 1. Values must be finite, and squares of their distances in the range of the element type.
    ///
    /// `shift`, of d values, is a point near the centres, such as their mean: the nearer, the fewer rows are looked at twice; answers do not
    /// depend on it. Costs 2 n k d operations. Estimates by `|c|² - 2 x·c` as in Lloyd's algorithm (1982, "Least squares quantization in
    /// PCM"); wherever rounding leaves a doubt, and for all distances, sums of squared differences.
    fn nearest(&self, x: &Self::Matrix, centres: &Self::Matrix, shift: &[f64]) -> Result<Found<Self>>;
}

/// Some rows of a block, the centres of a block, and how the estimates of these are grouped.
pub(super) struct Piece<'p> {
    pub(super) x: &'p Array<f32>,
    pub(super) x_ld: usize,
    /// Of the block, the first of which is row `first_row` of the matrix.
    pub(super) rows: Range<usize>,
    pub(super) first_row: usize,
    pub(super) y: &'p Array<f32>,
    pub(super) y_ld: usize,
    /// As they are numbered in the matrix.
    pub(super) centres: Range<usize>,
    pub(super) n_cols: usize,
    pub(super) n_groups: usize,
    pub(super) side: usize,
    pub(super) per_group: usize,
}

/// Groups of the columns of a tile.
const GROUPS_PER_TILE: usize = 16;
/// Bytes that estimates may take.
const LEAST_BYTES: usize = 256 << 20;
/// Products for which a submission counts on the time of a byte.
const PRODUCTS_PER_BYTE: u64 = 10;

fn checked(n_cols: [usize; 3], n_centres: usize) -> Result<()> {
    if n_centres == 0 || n_cols[0] == 0 || n_cols[1] != n_cols[0] || n_cols[2] != n_cols[0] {
        return Err(Error::Internal(format!(
            "nearest of {n_centres} centres, with {n_cols:?} columns"
        )));
    }
    Ok(())
}

impl Nearest for Gpu<'_> {
    fn nearest(&self, x: &Self::Matrix, centres: &Self::Matrix, shift: &[f64]) -> Result<Found<Self>> {
        checked([x.n_cols(), centres.n_cols(), shift.len()], centres.n_rows())?;
        let (labels, distances) = (self.alloc(x.n_rows())?, self.alloc(x.n_rows())?);
        if nearest_few::suits(centres) {
            nearest_few::record(self, [x, centres], &labels, &distances)?;
        } else {
            let found = Found { labels, distances };
            by_tiles(self, [x, centres], shift, &found)?;
            return Ok(found);
        }
        Ok(Found { labels, distances })
    }
}

fn by_tiles<'a>(gpu: &Gpu<'a>, [x, y]: [&GpuMatrix<'a>; 2], shift: &[f64], to: &Found<Gpu<'a>>) -> Result<()> {
    let mut origin = shift.to_vec();
    origin.resize(shift.len().next_multiple_of(4), 0.0);
    let shift = gpu.upload_elem(&origin)?;
    let norms = nearest_norms::record(gpu, y, &shift)?;
    let variant = usize::from(gpu.kind() == Kind::Software);
    let (side, per_group) = (tiled::SIDES[variant], tiled::GROUPS[variant]);
    let n_cols = x.n_cols();
    for y_block in 0..y.n_blocks() {
        let (centres, of_y) = (y.rows_of(y_block), gpu.block(y, y_block)?);
        let y4 = by_four(gpu, y, of_y, 0..centres.len())?;
        let tiles = centres.len().div_ceil(side);
        let n_groups = GROUPS_PER_TILE * tiles;
        let most = LEAST_BYTES.min(gpu.limits().max_binding as usize) / (4 * n_groups * side);
        let row_cost = (4 * (x.ld + n_groups)) as u64 + (n_cols * tiles * side) as u64 / PRODUCTS_PER_BYTE;
        for x_block in 0..x.n_blocks() {
            let (rows, of_x) = (x.rows_of(x_block), gpu.block(x, x_block)?);
            for part in gpu.row_pieces(&tiled::ALL[variant], rows.len(), side, row_cost, most) {
                let x4 = by_four(gpu, x, of_x, part.clone())?;
                let least = gpu.alloc(part.len() * n_groups)?;
                let row_tiles = part.len().div_ceil(side);
                let params = tiled::Params {
                    n_rows: part.len() as u32,
                    n_cols: centres.len() as u32,
                    k_len: n_cols as u32,
                    a_start: (x4.first * x4.ld / 4) as u32,
                    a_ld: (x4.ld / 4) as u32,
                    b_start: 0,
                    b_ld: (y4.ld / 4) as u32,
                    first_norm: centres.start as u32,
                    out_ld: n_groups as u32,
                    rows_first: (row_tiles < tiles).into(),
                };
                let bindings = tiled::Bindings {
                    params,
                    a: &x4.array,
                    b: &y4.array,
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
                gpu.dispatch_variant(&tiled::ALL[variant], &bindings, groups, row_cost * part.len() as u64)?;
                let piece = Piece {
                    x: of_x,
                    x_ld: x.ld,
                    rows: part,
                    first_row: rows.start,
                    y: of_y,
                    y_ld: y.ld,
                    centres: centres.clone(),
                    n_cols,
                    n_groups,
                    side,
                    per_group,
                };
                nearest_exact::record(gpu, &piece, &shift, &least, to)?;
            }
        }
    }
    Ok(())
}

/// Rows as whole vectors: the block itself, from row `first` on, or a copy.
struct ByFour {
    array: Array<f32>,
    first: usize,
    ld: usize,
}

fn by_four<'a>(gpu: &Gpu<'a>, of: &GpuMatrix<'a>, block: &Array<f32>, rows: Range<usize>) -> Result<ByFour> {
    if of.ld.is_multiple_of(4) {
        return Ok(ByFour {
            array: block.clone(),
            first: rows.start,
            ld: of.ld,
        });
    }
    Ok(ByFour {
        array: nearest_pad::record(gpu, block, rows, of.n_cols(), of.ld)?,
        first: 0,
        ld: 4,
    })
}

impl<T: OnHost> Nearest for Native<'_, T> {
    fn nearest(&self, x: &Self::Matrix, centres: &Self::Matrix, shift: &[f64]) -> Result<Found<Self>> {
        checked([x.n_cols(), centres.n_cols(), shift.len()], centres.view().n_rows())?;
        let (labels, distances) = native::nearest(x.view(), centres.view(), shift);
        Ok(Found {
            labels: labels.into(),
            distances: distances.into(),
        })
    }
}
