//! Blocks of rows through one tree after the other, several rows side by side, so that one waits for memory while another goes on.

use super::packed::{CATEGORICAL, COLUMN, MISSING_LEFT};
use super::{Brought, Combine};
use crate::engine::native_rows::part;
use crate::engine::{Native, OnHost, Real};
use crate::matrix::MatrixView;
use crate::threads::for_each_chunk;

/// Rows of a task, and rows side by side.
const TASK_ROWS: usize = 512;
const SIDE_BY_SIDE: usize = 8;

/// A forest as it lies.
pub(super) struct Nodes<'f> {
    packed: &'f [[u32; 4]],
    thresholds: &'f [f64],
    roots: &'f [u32],
    values: &'f [f64],
    sets: &'f [u32],
    width: usize,
}

impl<'f> Nodes<'f> {
    pub(super) fn of<T: OnHost>(forest: &'f Brought<Native<'_, T>>) -> Self {
        let (packed, _) = forest.nodes.as_chunks();
        Self {
            packed,
            thresholds: &forest.thresholds,
            roots: &forest.roots,
            values: &forest.values,
            sets: &forest.sets,
            width: forest.width,
        }
    }

    fn child<T: Real>(&self, at: u32, row: &[T]) -> u32 {
        let [_, flags, left, set] = self.packed[at as usize];
        let value = row[(flags & COLUMN) as usize];
        let wide: f64 = value.into();
        let goes_left = if wide.is_nan() {
            flags & MISSING_LEFT != 0
        } else if flags & CATEGORICAL == 0 {
            wide <= self.thresholds[at as usize]
        } else if (0.0..256.0).contains(&wide) {
            let category = wide as usize;
            self.sets[set as usize * 8 + category / 32] >> (category % 32) & 1 == 1
        } else {
            flags & MISSING_LEFT != 0
        };
        left + u32::from(!goes_left)
    }

    /// The leaf of each of a few rows. Without sets of categories and NaN a step is a comparison and no branch.
    fn walk<T: Real>(&self, root: u32, rows: &[&[T]], plain: bool, leaves: &mut [u32]) {
        let leaves = &mut leaves[..rows.len()];
        leaves.fill(root);
        if plain && let (Ok(rows), Ok(leaves)) = (rows.try_into(), leaves.try_into()) {
            return self.walk_plain::<T>(rows, leaves);
        }
        let mut inside = true;
        while inside {
            inside = false;
            for (at, row) in leaves.iter_mut().zip(rows) {
                if self.packed[*at as usize][2] != 0 {
                    *at = self.child(*at, row);
                    inside = true;
                }
            }
        }
    }

    fn walk_plain<T: Real>(&self, rows: &[&[T]; SIDE_BY_SIDE], leaves: &mut [u32; SIDE_BY_SIDE]) {
        let mut inside = true;
        while inside {
            inside = false;
            for lane in 0..SIDE_BY_SIDE {
                let at = leaves[lane];
                let [_, flags, left, _] = self.packed[at as usize];
                // A leaf's column is of no meaning.
                let value = rows[lane].get((flags & COLUMN) as usize).copied().unwrap_or_default();
                let right = u32::from(value.into() > self.thresholds[at as usize]);
                leaves[lane] = if left == 0 { at } else { left + right };
                inside |= left != 0;
            }
        }
    }

    /// Calls `found` with each row of a task, counted from its first, each tree and the leaf; a row's trees in order.
    fn each<T: Real>(&self, values: &[T], n_cols: usize, mut found: impl FnMut(usize, usize, [u32; 4])) {
        let plain = self.sets.is_empty() && !values.iter().any(|value| value.nan());
        let rows: Vec<&[T]> = values.chunks_exact(n_cols).collect();
        for (tree, &root) in self.roots.iter().enumerate() {
            let mut leaves = [0; SIDE_BY_SIDE];
            for (few, rows) in rows.chunks(SIDE_BY_SIDE).enumerate() {
                self.walk(root, rows, plain, &mut leaves);
                for (at, &leaf) in leaves[..rows.len()].iter().enumerate() {
                    found(few * SIDE_BY_SIDE + at, tree, self.packed[leaf as usize]);
                }
            }
        }
    }

    fn work(&self, n_rows: usize) -> usize {
        n_rows * self.roots.len() * 16
    }
}

/// `(base + sum of the leaves' values) / divisor` of each row.
pub(super) fn sums<T: Real>(x: MatrixView<'_, T>, forest: &Nodes<'_>, combine: &Combine) -> Vec<f64> {
    let (n_rows, width) = (x.n_rows(), forest.width);
    let mut sums = vec![0.0; n_rows * width];
    for_each_chunk(&mut sums, TASK_ROWS * width, forest.work(n_rows), |task, sums| {
        let mut scratch = Vec::new();
        let rows = x.rows(part(task, TASK_ROWS, n_rows));
        sums.chunks_exact_mut(width)
            .for_each(|sums| sums.copy_from_slice(&combine.base));
        forest.each(rows.packed(&mut scratch), x.n_cols(), |row, _, [leaf, ..]| {
            let values = &forest.values[leaf as usize * width..][..width];
            let sums = &mut sums[row * width..][..width];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        });
        for sum in sums {
            *sum /= combine.divisor;
        }
    });
    sums
}

/// The number that each tree has for the leaf of each row.
pub(super) fn leaves<T: Real>(x: MatrixView<'_, T>, forest: &Nodes<'_>) -> Vec<u32> {
    let (n_rows, n_trees) = (x.n_rows(), forest.roots.len());
    let mut leaves = vec![0; n_rows * n_trees];
    for_each_chunk(&mut leaves, TASK_ROWS * n_trees, forest.work(n_rows), |task, leaves| {
        let mut scratch = Vec::new();
        let rows = x.rows(part(task, TASK_ROWS, n_rows));
        forest.each(rows.packed(&mut scratch), x.n_cols(), |row, tree, [_, _, _, own]| {
            leaves[row * n_trees + tree] = own;
        });
    });
    leaves
}
