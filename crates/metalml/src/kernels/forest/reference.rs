//! What a tree means: one row, one node after the other.

use super::Tree;

/// The leaf of a row.
pub(super) fn leaf(tree: &Tree<'_>, row: &[f64], sets: &[[u32; 8]]) -> usize {
    let mut node = 0;
    while tree.feature[node] >= 0 {
        let value = row[tree.feature[node] as usize];
        let left = match tree.set[node] {
            _ if value.is_nan() => tree.missing_left[node],
            None => value <= tree.threshold[node],
            Some(_) if !(0.0..256.0).contains(&value) => tree.missing_left[node],
            Some(set) => sets[set as usize][value as usize / 32] >> (value as usize % 32) & 1 == 1,
        };
        node = if left { tree.left[node] } else { tree.right[node] } as usize;
    }
    node
}
