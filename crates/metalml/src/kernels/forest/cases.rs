//! The inputs on which this kernel is tested and timed.

use super::{Combine, PackedForest, Tree, reference};
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct ForestCase {
    n_rows: usize,
    n_cols: usize,
    n_trees: usize,
    depth: usize,
    width: usize,
    /// Whether the numbers of the leaves are wanted.
    leaves: bool,
}

/// The nearest of the values that thresholds and rows share.
fn on_grid(value: f64) -> f64 {
    (value * 32.0).round() / 32.0
}

/// A tree that owns its arrays.
struct Grown {
    feature: Vec<i64>,
    threshold: Vec<f64>,
    left: Vec<i64>,
    right: Vec<i64>,
    missing_left: Vec<bool>,
    set: Vec<Option<u32>>,
    values: Vec<f64>,
}

impl Grown {
    fn as_tree(&self) -> Tree<'_> {
        Tree {
            feature: &self.feature,
            threshold: &self.threshold,
            left: &self.left,
            right: &self.right,
            missing_left: &self.missing_left,
            set: &self.set,
            values: &self.values,
        }
    }
}

/// Sets that categories are looked up in.
const SETS: [[u32; 8]; 2] = [[0x5555_5555; 8], [0b1101, 0, 0x8000_0000, 0, 0, 0, 0, 1 << 31]];

impl ForestCase {
    /// Trees of uneven depth, numbered as a depth-first walk does; the last column holds categories.
    fn trees(&self) -> Vec<Grown> {
        (0..self.n_trees)
            .map(|number| {
                let mut tree = Grown {
                    feature: Vec::new(),
                    threshold: Vec::new(),
                    left: Vec::new(),
                    right: Vec::new(),
                    missing_left: Vec::new(),
                    set: Vec::new(),
                    values: Vec::new(),
                };
                let mut random = uniform(1 << 14, 81 + number as u64).into_iter().cycle();
                self.grow(&mut tree, 0, &mut random);
                tree
            })
            .collect()
    }

    fn grow(&self, tree: &mut Grown, level: usize, random: &mut impl Iterator<Item = f64>) -> i64 {
        let mut next = || random.next().unwrap_or_default();
        let node = tree.feature.len();
        let leaf = level == self.depth || (level > 0 && next() > 0.35);
        let column = ((next() + 0.5) * self.n_cols as f64) as usize % self.n_cols;
        let categorical = self.n_cols > 1 && column + 1 == self.n_cols;
        tree.feature.push(if leaf { -2 } else { column as i64 });
        // On every other level one that rows have, else one that no float32 is.
        let threshold = next() * 0.7;
        tree.threshold.push(if level.is_multiple_of(2) {
            on_grid(threshold)
        } else {
            threshold
        });
        tree.left.push(-1);
        tree.right.push(-1);
        tree.missing_left.push(next() > 0.0);
        tree.set.push((categorical && !leaf).then_some(u32::from(next() > 0.0)));
        // No float32 either.
        let values: Vec<f64> = (0..self.width).map(|_| next() * 0.7).collect();
        tree.values.extend(values);
        if !leaf {
            tree.left[node] = self.grow(tree, level + 1, random);
            tree.right[node] = self.grow(tree, level + 1, random);
        }
        node as i64
    }

    fn values(&self) -> Vec<f64> {
        let mut values = uniform(self.n_rows * self.n_cols, 82);
        for row in values.chunks_exact_mut(self.n_cols).filter(|row| row.len() > 1) {
            // Categories, some of which no set has, and some that are none.
            let last = row.len() - 1;
            row[last] = (row[last] * 540.0).round();
        }
        values
            .iter_mut()
            .skip(4)
            .step_by(13)
            .for_each(|value| *value = f64::NAN);
        values
            .iter_mut()
            .skip(1)
            .step_by(3)
            .for_each(|value| *value = on_grid(*value));
        values.iter_mut().skip(6).step_by(29).for_each(|value| *value = -0.0);
        values
    }

    fn combine(&self) -> Combine {
        Combine {
            base: (0..self.width).map(|at| at as f64 * 0.25).collect(),
            divisor: self.n_trees as f64,
        }
    }
}

impl Case for ForestCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_cols,
            n_trees,
            depth,
            width,
            leaves,
        } = self;
        let what = if *leaves { "leaves" } else { "sums" };
        format!("forest/{what}{n_rows}x{n_cols}by{n_trees}of{depth}to{width}")
    }
    fn expected(&self) -> Expected {
        let (trees, values, combine) = (self.trees(), self.values(), self.combine());
        let rows = values.chunks_exact(self.n_cols);
        let of_row = |row: &[f64]| -> Vec<f64> {
            let leaves = trees.iter().map(|tree| reference::leaf(&tree.as_tree(), row, &SETS));
            if self.leaves {
                return leaves.map(|leaf| leaf as f64).collect();
            }
            let mut sums = combine.base.clone();
            for (tree, leaf) in trees.iter().zip(leaves) {
                let of_leaf = &tree.values[leaf * self.width..][..self.width];
                sums.iter_mut().zip(of_leaf).for_each(|(sum, value)| *sum += value);
            }
            sums.iter().map(|sum| sum / combine.divisor).collect()
        };
        let values: Vec<f64> = rows.flat_map(of_row).collect();
        let allowed = if self.leaves { 0.0 } else { self.n_trees as f64 + 8.0 };
        Expected {
            allowed: vec![allowed; values.len()],
            values,
            wide: true,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let trees = self.trees();
        let trees: Vec<Tree<'_>> = trees.iter().map(Grown::as_tree).collect();
        let forest = engine.bring_forest(&PackedForest::new(&trees, self.n_cols, self.width, &SETS)?)?;
        let [x] = resident(engine, [&self.values()], self.n_rows, [self.n_cols])?;
        if self.leaves {
            return Ok(engine.fetch([&engine.forest_leaves(&x, &forest)?])?.concat());
        }
        let sums = engine.forest_sums(&x, &forest, &self.combine())?;
        Ok(engine.fetch([&sums])?.concat())
    }
    fn work(&self) -> Work {
        let [n, d, t, depth] = [self.n_rows, self.n_cols, self.n_trees, self.depth].map(|len| len as u64);
        Work {
            elements: n * d + n * self.width as u64,
            operations: n * t * depth,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 1000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |[n_rows, n_cols, n_trees]: [usize; 3], depth, width, leaves| {
        Box::new(ForestCase {
            n_rows,
            n_cols,
            n_trees,
            depth,
            width,
            leaves,
        }) as Box<dyn AnyCase>
    };
    vec![
        case([0, 3, 2], 2, 1, false),
        case([1, 1, 1], 0, 1, false),
        case([63, 2, 3], 4, 1, false),
        case([64, 64, 4], 9, 4, false),
        case([65, 65, 5], 9, 3, false),
        case([130, 7, 6], 12, 5, false),
        case([129, 9, 7], 7, 2, true),
        case([2001, 20, 9], 10, 1, false),
        case([500, 70, 3], 11, 17, false),
    ]
}
