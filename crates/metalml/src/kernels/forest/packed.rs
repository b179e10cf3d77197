//! A forest as the engines walk it.

use std::collections::VecDeque;

use crate::{Error, Result};

/// The nodes of one tree, as scikit-learn keeps them; the first is the root.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'t> {
    /// The column that a node looks at; below 0 for leaves.
    pub feature: &'t [i64],
    /// Rows whose value is at most this go left.
    pub threshold: &'t [f64],
    /// The left child of each node that is not a leaf.
    pub left: &'t [i64],
    /// The right child.
    pub right: &'t [i64],
    /// Whether NaN goes left.
    pub missing_left: &'t [bool],
    /// The set of categories that go left instead of a threshold, by its number.
    pub set: &'t [Option<u32>],
    /// `width` values a node; those of leaves count.
    pub values: &'t [f64],
}

/// Trees in one array: children side by side, each tree level by level, so that the nodes that most rows meet share cache lines.
#[derive(Clone, Debug)]
pub struct PackedForest {
    /// `[threshold's key or leaf's number, column and flags, left child, set or the leaf's own number]`.
    pub(super) nodes: Vec<[u32; 4]>,
    /// The thresholds of all nodes.
    pub(super) thresholds: Vec<f64>,
    pub(super) roots: Vec<u32>,
    /// `width` values a leaf.
    pub(super) values: Vec<f64>,
    /// Eight words a set.
    pub(super) sets: Vec<u32>,
    pub(super) n_cols: usize,
    pub(super) width: usize,
}

pub(super) const CATEGORICAL: u32 = 1 << 30;
pub(super) const MISSING_LEFT: u32 = 1 << 31;
pub(super) const COLUMN: u32 = CATEGORICAL - 1;

/// The bits of a float in the order of floats, -0 as 0.
fn key(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// The greatest float32 that is not above `value`: the same float32 numbers are at most either.
pub(super) fn rounded_down(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) > value {
        near.next_down()
    } else {
        near
    }
}

impl PackedForest {
    /// Packs trees whose leaves hold `width` values, for rows of `n_cols` columns; `sets` are of 256 bits each. Looks at every node once, and refuses
    /// nodes that lead nowhere or in circles.
    pub fn new(trees: &[Tree<'_>], n_cols: usize, width: usize, sets: &[[u32; 8]]) -> Result<Self> {
        let mut forest = Self {
            nodes: Vec::new(),
            thresholds: Vec::new(),
            roots: Vec::with_capacity(trees.len()),
            values: Vec::new(),
            sets: sets.concat(),
            n_cols,
            width,
        };
        if width == 0 || trees.is_empty() || n_cols > COLUMN as usize {
            return Err(Error::Internal(format!(
                "a forest of {} trees of {width} values for {n_cols} columns",
                trees.len()
            )));
        }
        for (number, tree) in trees.iter().enumerate() {
            forest
                .add(tree, sets.len())
                .map_err(|why| Error::Internal(format!("tree {number}: {why}")))?;
        }
        if u32::try_from(forest.nodes.len()).is_err() {
            return Err(Error::TooLarge {
                what: "forest",
                len: forest.nodes.len() as u64,
                max: u32::MAX.into(),
            });
        }
        Ok(forest)
    }

    fn add(&mut self, tree: &Tree<'_>, n_sets: usize) -> std::result::Result<(), String> {
        let n_nodes = tree.feature.len();
        let lens = [
            tree.threshold.len(),
            tree.left.len(),
            tree.right.len(),
            tree.missing_left.len(),
            tree.set.len(),
        ];
        if n_nodes == 0 || lens != [n_nodes; 5] || tree.values.len() != n_nodes * self.width {
            return Err(format!("{n_nodes} nodes whose arrays are {lens:?} long"));
        }
        self.roots.push(self.nodes.len() as u32);
        self.push();
        // What is to be packed, and where.
        let mut waiting = VecDeque::from([(0, self.nodes.len() - 1)]);
        let mut seen = 1;
        while let Some((node, at)) = waiting.pop_front() {
            if tree.feature[node] < 0 {
                let leaf = self.values.len() / self.width;
                self.nodes[at] = [leaf as u32, 0, 0, node as u32];
                let of_leaf = &tree.values[node * self.width..][..self.width];
                self.values.extend_from_slice(of_leaf);
                continue;
            }
            let column = usize::try_from(tree.feature[node]).unwrap_or(usize::MAX);
            let children =
                [tree.left[node], tree.right[node]].map(|child| usize::try_from(child).unwrap_or(usize::MAX));
            if column >= self.n_cols || children.iter().any(|&child| child >= n_nodes || child == 0) {
                return Err(format!(
                    "node {node} looks at column {column} and leads to {children:?}"
                ));
            }
            seen += 2;
            if seen > n_nodes {
                return Err("its nodes lead in circles".into());
            }
            let mut flags = column as u32;
            if tree.missing_left[node] {
                flags |= MISSING_LEFT;
            }
            let threshold = tree.threshold[node];
            if let Some(set) = tree.set[node] {
                if set as usize >= n_sets {
                    return Err(format!("node {node} wants set {set} of {n_sets}"));
                }
                flags |= CATEGORICAL;
            } else if threshold.is_nan() {
                return Err(format!("the threshold of node {node} is NaN"));
            }
            let left = self.nodes.len();
            self.nodes[at] = [
                key(rounded_down(threshold)),
                flags,
                left as u32,
                tree.set[node].unwrap_or(0),
            ];
            self.thresholds[at] = threshold;
            for (child, to) in children.into_iter().zip(left..) {
                self.push();
                waiting.push_back((child, to));
            }
        }
        Ok(())
    }

    fn push(&mut self) {
        self.nodes.push([0; 4]);
        self.thresholds.push(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One node that looks at column 0, and two leaves.
    const STUMP: Tree<'_> = Tree {
        feature: &[0, -2, -2],
        threshold: &[0.1, -2.0, -2.0],
        left: &[1, -1, -1],
        right: &[2, -1, -1],
        missing_left: &[false; 3],
        set: &[None; 3],
        values: &[0.0, 1.0, 2.0],
    };

    #[test]
    fn thresholds_never_rise() {
        for value in [0.1, -0.1, 1e-50, -1e-50, 3.0, 1e300, -1e300, f64::INFINITY] {
            let down = f64::from(rounded_down(value));
            assert!(down <= value, "{value}");
            assert!(down == value || f64::from((down as f32).next_up()) > value, "{value}");
        }
        assert_eq!(key(-0.0), key(0.0));
    }

    #[test]
    fn trees_that_lead_nowhere_are_refused() {
        assert!(PackedForest::new(&[STUMP], 1, 1, &[]).is_ok());
        let wrong = |tree: Tree<'_>| assert!(PackedForest::new(&[tree], 1, 1, &[]).is_err());
        wrong(Tree {
            left: &[3, -1, -1],
            ..STUMP
        });
        wrong(Tree {
            left: &[0, -1, -1],
            ..STUMP
        });
        wrong(Tree {
            right: &[-1, -1, -1],
            ..STUMP
        });
        wrong(Tree {
            feature: &[1, -2, -2],
            ..STUMP
        });
        wrong(Tree {
            feature: &[0, 0, -2],
            left: &[1, 1, -1],
            right: &[2, 2, -1],
            ..STUMP
        });
        wrong(Tree {
            set: &[Some(0), None, None],
            ..STUMP
        });
        wrong(Tree {
            threshold: &[f64::NAN, 0.0, 0.0],
            ..STUMP
        });
        wrong(Tree {
            values: &[0.0],
            ..STUMP
        });
        assert!(PackedForest::new(&[], 1, 1, &[]).is_err());
    }
}
