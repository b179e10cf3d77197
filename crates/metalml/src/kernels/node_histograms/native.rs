//! A task for each node and four columns, whose sums stay near.

use super::{BINS, NUMBERS};
use crate::threads::map_tasks;

/// `[node][column][bin][gradient, hessian, count]`.
pub(super) fn node_histograms(
    bins: &[u32],
    n_cols: usize,
    gradients: &[i32],
    order: &[u32],
    starts: &[u32],
) -> Vec<i32> {
    let words = n_cols.div_ceil(4);
    let n_nodes = starts.len().saturating_sub(1);
    let column = BINS * NUMBERS;
    let tasks = map_tasks(n_nodes * words, 4 * order.len() * words, |task| {
        let (node, word) = (task / words, task % words);
        let rows = &order[starts[node] as usize..starts[node + 1] as usize];
        let mut sums = vec![0_i32; 4 * column];
        for &row in rows {
            let row = row as usize;
            let four = bins[row * words + word];
            let (gradient, hessian) = (gradients[2 * row], gradients[2 * row + 1]);
            for (sums, shift) in sums.chunks_exact_mut(column).zip([0, 8, 16, 24]) {
                let bin = (four >> shift & 0xff) as usize;
                let numbers = &mut sums[bin * NUMBERS..][..NUMBERS];
                numbers[0] += gradient;
                numbers[1] += hessian;
                numbers[2] += 1;
            }
        }
        sums.truncate((n_cols - 4 * word).min(4) * column);
        sums
    });
    tasks.concat()
}
