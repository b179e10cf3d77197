//! The k nearest rows of a reference set, exact, without the matrix of distances.

mod cases;
mod native;
mod reference;
mod tiles;

use std::ops::Range;

pub(in crate::kernels) use tiles::Piece;

use super::{Family, neighbours_exact, neighbours_merge, neighbours_norms};
use crate::device::Array;
use crate::engine::{Gpu, GpuMatrix, Metric, Native, OnHost, Shape, Storage};
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/neighbours.rs"));

pub(in crate::kernels) mod tiled {
    //! What the build made of `build/tiles` for this kernel.
    include!(concat!(env!("OUT_DIR"), "/neighbours_tiled.rs"));
}

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "neighbours",
    kernels: &[
        KERNEL,
        tiled::ALL[0],
        tiled::ALL[1],
        neighbours_norms::KERNEL,
        neighbours_exact::KERNEL,
        neighbours_merge::KERNEL,
    ],
    cases: cases::cases,
};

/// The nearest rows of each query: k of them, row-major, nearest first; of equal ones the lowest index first.
#[derive(Debug)]
pub struct Neighbourhoods<E: Storage> {
    /// Which rows.
    pub indices: E::Array<u32>,
    /// How far they are.
    pub distances: E::Array<E::Elem>,
}

/// Neighbours that may be asked for.
pub const MOST_NEIGHBOURS: usize = 1024;

/// Nearest neighbours.
pub trait Neighbours: Storage {
    /// The `k` rows of `refs` that are nearest to each row of `x`: `x` is n by d, `refs` m by d, both finite; d at least 1, and k at
    /// most m and [`MOST_NEIGHBOURS`].
    ///
    /// `shift`, of d values, is a point near the references, such as their mean: the nearer, the fewer rows are looked at twice; answers
    /// do not depend on it.
    ///
    /// Costs 2 n m d operations, and memory for n k results, and as many again for each split of the references that is made where the
    /// queries are few. Euclidean distances of rows of at least four values are estimated as for `Nearest`, and those that rounding
    /// leaves a chance summed directly; all others are summed directly, which takes operations of two kinds. Lists are sorted by comparison counting: Knuth, TAOCP 3,
    /// section 5.2, algorithm C.
    fn neighbours(
        &self,
        x: &Self::Matrix,
        refs: &Self::Matrix,
        k: usize,
        metric: Metric,
        shift: &[f64],
    ) -> Result<Neighbourhoods<Self>>;
}

/// Rows that a workgroup makes, and references that it takes at a time.
const TILE: usize = 128;
/// Elements of sums for which a submission counts on the time of a byte.
const ELEMENTS_PER_BYTE: u64 = 8;
/// Workgroups that keep a large device busy: with fewer, the references are split.
const ENOUGH_GROUPS: usize = 512;
/// References of a split, at least.
const LEAST_SPLIT: usize = 2048;
/// Bytes that the lists of a dispatch may take.
const LIST_BYTES: usize = 256 << 20;

/// Some rows and the references of a block, and where what is found goes.
struct Place<'p> {
    /// The array, its rows' distance, and which rows.
    x: (&'p Array<f32>, usize, Range<usize>),
    y: (&'p Array<f32>, usize, Range<usize>),
    n_cols: usize,
    /// That of the first row of x's block.
    first_query: usize,
    n_queries: usize,
    tiles: usize,
    splits: usize,
    refs_per_split: usize,
    first_split: usize,
    k: usize,
    capacity: usize,
    lists: &'p Array<u32>,
    parts: &'p Array<u32>,
    /// Of a row.
    cost: u64,
}

impl Place<'_> {
    fn groups(&self) -> [u32; 3] {
        [self.tiles as u32, self.splits as u32, 1]
    }

    fn cost(&self) -> u64 {
        self.cost * self.x.2.len() as u64
    }

    fn record(&self, gpu: &Gpu<'_>, metric: Metric) -> Result<()> {
        let params = Params {
            n_rows: self.x.2.len() as u32,
            n_refs: self.y.2.len() as u32,
            n_cols: self.n_cols as u32,
            x_ld: self.x.1 as u32,
            y_ld: self.y.1 as u32,
            x_start: self.x.2.start as u32,
            y_start: 0,
            metric: metric.number(),
            power: metric.power() as f32,
            first_query: (self.first_query + self.x.2.start) as u32,
            n_queries: self.n_queries as u32,
            first_index: self.y.2.start as u32,
            refs_per_split: self.refs_per_split as u32,
            first_split: self.first_split as u32,
            k: self.k as u32,
            capacity: self.capacity as u32,
        };
        let bindings = Bindings {
            params,
            x: self.x.0,
            y: self.y.0,
            lists: self.lists,
            parts: self.parts,
        };
        gpu.dispatch(&bindings, self.groups(), self.cost())
    }
}

fn checked(x: &impl Shape, refs: &impl Shape, k: usize, shift: &[f64]) -> Result<()> {
    let (width, n_refs) = (x.n_cols(), refs.n_rows());
    if width == 0 || width != refs.n_cols() || width != shift.len() || k == 0 || k > n_refs.min(MOST_NEIGHBOURS) {
        let refs_width = refs.n_cols();
        return Err(Error::Internal(format!(
            "{k} neighbours of {n_refs}: rows of {width} and {refs_width} columns"
        )));
    }
    Ok(())
}

/// How the references of a block are split, into no more than `most`: how many splits, and how long each.
fn split(n_rows: usize, n_refs: usize, most: usize) -> (usize, usize) {
    let groups = n_rows.div_ceil(TILE).max(1);
    let wanted = (ENOUGH_GROUPS / groups).min(n_refs / LEAST_SPLIT).min(most).max(1);
    let len = n_refs.div_ceil(wanted).next_multiple_of(TILE);
    (n_refs.div_ceil(len), len)
}

impl<'a> Neighbours for Gpu<'a> {
    fn neighbours(
        &self,
        x: &GpuMatrix<'a>,
        refs: &GpuMatrix<'a>,
        k: usize,
        metric: Metric,
        shift: &[f64],
    ) -> Result<Neighbourhoods<Self>> {
        checked(x, refs, k, shift)?;
        let euclidean = matches!(metric, Metric::Euclidean | Metric::SquaredEuclidean);
        if euclidean && x.ld.is_multiple_of(4) {
            return tiles::neighbours(self, [x, refs], k, metric, shift);
        }
        // Room for a tile more, and for some, so that lists are not sorted after every tile.
        let capacity = k + k / 2 + 64 + TILE;
        let tile_bytes = 2 * TILE * capacity * 8;
        let most_tiles = LIST_BYTES.min(self.limits().max_binding as usize) / tile_bytes;
        let n_splits = |block: usize| split(x.n_rows(), refs.rows_of(block).len(), most_tiles).0;
        let all_splits = (0..refs.n_blocks()).map(n_splits).sum::<usize>();
        let parts = self.alloc::<u32>(2 * all_splits * x.n_rows() * k)?;
        let mut lists: Option<Array<u32>> = None;
        let mut first_split = 0;
        for y_block in 0..refs.n_blocks() {
            let (y, y_rows) = (self.block(refs, y_block)?, refs.rows_of(y_block));
            let (splits, refs_per_split) = split(x.n_rows(), y_rows.len(), most_tiles);
            for x_block in 0..x.n_blocks() {
                let (array, rows) = (self.block(x, x_block)?, x.rows_of(x_block));
                let elements = metric.operations() / 2 * (x.n_cols() * y_rows.len()) as u64;
                let row_cost = (4 * x.ld) as u64 + elements / ELEMENTS_PER_BYTE;
                let most = (most_tiles / splits).max(1);
                for piece in self.row_pieces(&KERNEL, rows.len(), TILE, row_cost, most) {
                    let tiles = piece.len().div_ceil(TILE);
                    let len = tiles * splits * tile_bytes / 4;
                    let enough = lists.take().filter(|lists| lists.len() >= len);
                    let lists = lists.insert(enough.map_or_else(|| self.alloc(len), Ok)?);
                    let at = Place {
                        x: (array, x.ld, piece),
                        y: (y, refs.ld, y_rows.clone()),
                        n_cols: x.n_cols(),
                        first_query: rows.start,
                        n_queries: x.n_rows(),
                        tiles,
                        splits,
                        refs_per_split,
                        first_split,
                        k,
                        capacity,
                        lists,
                        parts: &parts,
                        cost: row_cost,
                    };
                    at.record(self, metric)?;
                }
            }
            first_split += splits;
        }
        neighbours_merge::record(self, &parts, [x.n_rows(), all_splits, k], metric)
    }
}

impl<T: OnHost> Neighbours for Native<'_, T> {
    fn neighbours(
        &self,
        x: &Self::Matrix,
        refs: &Self::Matrix,
        k: usize,
        metric: Metric,
        shift: &[f64],
    ) -> Result<Neighbourhoods<Self>> {
        checked(x, refs, k, shift)?;
        let (indices, distances) = native::neighbours(x.view(), refs.view(), k, metric, shift);
        Ok(Neighbourhoods {
            indices: indices.into(),
            distances: distances.into(),
        })
    }
}
