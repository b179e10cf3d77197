//! What the sums mean: each of them by a walk over the node's rows.

use super::{BINS, NUMBERS};

/// `[node][column][bin][gradient, hessian, count]`, from the bins as bytes.
pub(super) fn node_histograms(bins: &[Vec<u8>], gradients: &[i32], nodes: &[Vec<u32>], n_cols: usize) -> Vec<f64> {
    let mut sums = vec![0.0; nodes.len() * n_cols * BINS * NUMBERS];
    for (node, rows) in nodes.iter().enumerate() {
        for &row in rows {
            for (col, &bin) in bins[row as usize].iter().enumerate() {
                let at = ((node * n_cols + col) * BINS + usize::from(bin)) * NUMBERS;
                sums[at] += f64::from(gradients[2 * row as usize]);
                sums[at + 1] += f64::from(gradients[2 * row as usize + 1]);
                sums[at + 2] += 1.0;
            }
        }
    }
    sums
}
