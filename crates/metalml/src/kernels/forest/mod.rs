//! Ways of rows through the trees of a forest, and what the leaves add up to.

mod cases;
mod native;
mod packed;
mod reference;

use super::{Family, forest_sum};
use crate::device::{Array, Pair};
use crate::engine::{Gpu, GpuMatrix, Native, OnHost, Shape, Storage};
use crate::{Error, Result};

pub use packed::{PackedForest, Tree};

include!(concat!(env!("OUT_DIR"), "/forest.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "forest",
    kernels: &[KERNEL, forest_sum::KERNEL],
    cases: cases::cases,
};

/// A forest that an engine has; it may serve many calls.
#[derive(Debug)]
pub struct Brought<E: Storage> {
    pub(super) nodes: E::Array<u32>,
    /// Of all nodes; only natively.
    thresholds: E::Array<f64>,
    roots: E::Array<u32>,
    pub(super) values: E::Array<E::Wide>,
    sets: E::Array<u32>,
    n_cols: usize,
    pub(super) n_trees: usize,
    pub(super) width: usize,
}

/// What becomes of the values of a row's leaves: `(base + sum) / divisor`, added in the order of the trees. Means have the number of trees as divisor; votes
/// are sums where each leaf holds 1 for its class.
#[derive(Clone, Debug)]
pub struct Combine {
    /// One for each value of a leaf.
    pub base: Vec<f64>,
    /// Not 0.
    pub divisor: f64,
}

/// Traversal of forests.
pub trait Forest: Storage {
    /// Brings a forest to the engine.
    fn bring_forest(&self, forest: &PackedForest) -> Result<Brought<Self>>;
    /// What the leaves of each row add up to, `width` sums a row. A row goes left where its value is at most the threshold, as numbers of
    /// f64: float32 rows come to the same leaves on every engine. NaN goes the way of the node's flag, as does a category that no set knows.
    ///
    /// Costs a node read for each row, tree and level.
    fn forest_sums(
        &self,
        x: &Self::Matrix,
        forest: &Brought<Self>,
        combine: &Combine,
    ) -> Result<Self::Array<Self::Wide>>;
    /// The number that its tree has for each row's leaf: trees by row, row-major.
    fn forest_leaves(&self, x: &Self::Matrix, forest: &Brought<Self>) -> Result<Self::Array<u32>>;
}

/// Values of a leaf that a thread sums on its way.
const FEW_VALUES: usize = 4;
/// Bytes that numbers of leaves may take where leaves hold more.
const LEAF_BYTES: usize = 256 << 20;
/// Bytes of nodes that the rows of a dispatch walk, and trees of one at least, as many as a thread walks side by side.
const CACHED_BYTES: usize = 16 << 20;
const LEAST_TREES: usize = 4;
/// Levels of a tree, about, and bytes that a step costs.
const LEVELS: u64 = 12;
const STEP_BYTES: u64 = 8;
/// What the kernel writes, as in the WGSL.
const SUMS: u32 = 0;
const NUMBERS: u32 = 1;
const OWN_NUMBERS: u32 = 2;

/// Where sums go.
pub(super) struct Summed<'s> {
    pub(super) base: &'s Array<Pair>,
    pub(super) divisor: f64,
    pub(super) sums: &'s Array<Pair>,
}

fn checked<E: Storage>(n_cols: usize, forest: &Brought<E>, combine: Option<&Combine>) -> Result<()> {
    let base = combine.map_or(forest.width, |combine| combine.base.len());
    if n_cols != forest.n_cols || base != forest.width {
        return Err(Error::Internal(format!(
            "a forest for {} columns and {} values, {n_cols} columns and {base} values",
            forest.n_cols, forest.width
        )));
    }
    Ok(())
}

impl Forest for Gpu<'_> {
    fn bring_forest(&self, forest: &PackedForest) -> Result<Brought<Self>> {
        let values: Vec<Pair> = forest.values.iter().map(|&value| Pair::new(value)).collect();
        // No array is empty: kernels bind them all.
        let sets = if forest.sets.is_empty() {
            vec![0; 8]
        } else {
            forest.sets.clone()
        };
        Ok(Brought {
            nodes: self.upload(forest.nodes.as_flattened())?,
            thresholds: self.upload(&[])?,
            roots: self.upload(&forest.roots)?,
            values: self.upload(&values)?,
            sets: self.upload(&sets)?,
            n_cols: forest.n_cols,
            n_trees: forest.roots.len(),
            width: forest.width,
        })
    }

    fn forest_sums(&self, x: &Self::Matrix, forest: &Brought<Self>, combine: &Combine) -> Result<Array<Pair>> {
        checked(x.n_cols(), forest, Some(combine))?;
        let base: Vec<Pair> = combine.base.iter().map(|&base| Pair::new(base)).collect();
        let base = self.upload(&base)?;
        let sums = self.alloc(x.n_rows() * forest.width)?;
        let to = Summed {
            base: &base,
            divisor: combine.divisor,
            sums: &sums,
        };
        let few = forest.width <= FEW_VALUES;
        let most = if few {
            usize::MAX
        } else {
            LEAF_BYTES.min(self.limits().max_binding as usize) / (4 * forest.n_trees * TILE)
        };
        let none = self.alloc(1)?;
        for block in 0..x.n_blocks() {
            let rows = x.rows_of(block);
            let cost = row_cost(x, forest.n_trees);
            for piece in self.row_pieces(&KERNEL, rows.len(), TILE, cost, most) {
                if few {
                    self.walk(x, block, &piece, rows.start + piece.start, forest, (SUMS, &to, &none))?;
                } else {
                    let leaves = self.alloc(piece.len() * forest.n_trees)?;
                    self.walk(x, block, &piece, 0, forest, (NUMBERS, &to, &leaves))?;
                    let places = rows.start + piece.start..rows.start + piece.end;
                    forest_sum::record(self, &places, forest, &leaves, &to)?;
                }
            }
        }
        Ok(sums)
    }

    fn forest_leaves(&self, x: &Self::Matrix, forest: &Brought<Self>) -> Result<Array<u32>> {
        checked(x.n_cols(), forest, None)?;
        let leaves = self.alloc(x.n_rows() * forest.n_trees)?;
        let (base, sums) = (self.alloc(1)?, self.alloc(1)?);
        let to = Summed {
            base: &base,
            divisor: 1.0,
            sums: &sums,
        };
        for block in 0..x.n_blocks() {
            let rows = x.rows_of(block);
            for piece in self.row_pieces(&KERNEL, rows.len(), TILE, row_cost(x, forest.n_trees), usize::MAX) {
                self.walk(
                    x,
                    block,
                    &piece,
                    rows.start + piece.start,
                    forest,
                    (OWN_NUMBERS, &to, &leaves),
                )?;
            }
        }
        Ok(leaves)
    }
}

/// Rows of a workgroup.
const TILE: usize = KERNEL.workgroup[0] as usize;

fn row_cost(x: &GpuMatrix<'_>, n_trees: usize) -> u64 {
    4 * x.ld as u64 + LEVELS * STEP_BYTES * n_trees as u64
}

impl<'a> Gpu<'a> {
    /// Rows of a block on their way; what is found of the first goes to row `first` of what is written.
    fn walk(
        &self,
        x: &GpuMatrix<'a>,
        block: usize,
        piece: &std::ops::Range<usize>,
        first: usize,
        forest: &Brought<Self>,
        (wanted, to, leaves): (u32, &Summed<'_>, &Array<u32>),
    ) -> Result<()> {
        let array = self.block(x, block)?;
        let groups = piece.len().div_ceil(TILE).min(self.limits().max_groups as usize);
        let bytes_per_tree = (4 * forest.nodes.len() / forest.n_trees.max(1)).max(1);
        let cached = CACHED_BYTES.min(self.limits().max_binding as usize / 8);
        let at_once = (cached / bytes_per_tree).clamp(LEAST_TREES, forest.n_trees.max(LEAST_TREES));
        for first_tree in (0..forest.n_trees.max(1)).step_by(at_once) {
            let n_trees = at_once.min(forest.n_trees - first_tree);
            let params = Params {
                n_rows: piece.len() as u32,
                n_cols: x.n_cols() as u32,
                ld: x.ld as u32,
                first_row: first as u32,
                start: piece.start as u32,
                first_tree: first_tree as u32,
                n_trees: n_trees as u32,
                all_trees: forest.n_trees as u32,
                width: forest.width as u32,
                wanted,
                divisor: to.divisor as f32,
                zero: 0,
            };
            let bindings = Bindings {
                params,
                x: array,
                nodes: &forest.nodes,
                values: &forest.values,
                sets: &forest.sets,
                roots: &forest.roots,
                base: to.base,
                sums: to.sums,
                leaves,
            };
            self.dispatch(
                &bindings,
                [groups as u32, 1, 1],
                row_cost(x, n_trees) * piece.len() as u64,
            )?;
        }
        Ok(())
    }
}

impl<T: OnHost> Forest for Native<'_, T> {
    fn bring_forest(&self, forest: &PackedForest) -> Result<Brought<Self>> {
        Ok(Brought {
            nodes: self.upload(forest.nodes.as_flattened())?,
            thresholds: self.upload(&forest.thresholds)?,
            roots: self.upload(&forest.roots)?,
            values: self.upload(&forest.values)?,
            sets: self.upload(&forest.sets)?,
            n_cols: forest.n_cols,
            n_trees: forest.roots.len(),
            width: forest.width,
        })
    }

    fn forest_sums(&self, x: &Self::Matrix, forest: &Brought<Self>, combine: &Combine) -> Result<Self::Array<f64>> {
        checked(x.view().n_cols(), forest, Some(combine))?;
        Ok(native::sums(x.view(), &native::Nodes::of(forest), combine).into())
    }

    fn forest_leaves(&self, x: &Self::Matrix, forest: &Brought<Self>) -> Result<Self::Array<u32>> {
        checked(x.view().n_cols(), forest, None)?;
        Ok(native::leaves(x.view(), &native::Nodes::of(forest)).into())
    }
}
