//! A forest to time, which both benches walk.

use metalml::kernels::forest::{PackedForest, Tree};
use metalml::testing::uniform;

/// Whole trees, whose thresholds halve what comes to them, about.
pub(crate) fn whole_forest(n_trees: usize, depth: u32, n_cols: usize) -> PackedForest {
    let n_nodes = (1_usize << (depth + 1)) - 1;
    let inner = n_nodes / 2;
    let child = |right: usize| -> Vec<i64> {
        let of = |node: usize| {
            if node < inner {
                (2 * node + 1 + right) as i64
            } else {
                -1
            }
        };
        (0..n_nodes).map(of).collect()
    };
    let (left, right) = (child(0), child(1));
    let (missing_left, set) = (vec![false; n_nodes], vec![None; n_nodes]);
    let random: Vec<Vec<f64>> = (0..n_trees as u64).map(|tree| uniform(n_nodes, 5 + tree)).collect();
    let features: Vec<Vec<i64>> = random
        .iter()
        .map(|random| {
            let column = |value: f64| (((value + 0.5) * 7919.0) as i64).rem_euclid(n_cols as i64);
            (0..n_nodes)
                .map(|node| if node < inner { column(random[node]) } else { -2 })
                .collect()
        })
        .collect();
    let thresholds: Vec<Vec<f64>> = random
        .iter()
        .map(|random| random.iter().map(|value| value * 0.3).collect())
        .collect();
    let trees: Vec<Tree<'_>> = (0..n_trees)
        .map(|tree| Tree {
            feature: &features[tree],
            threshold: &thresholds[tree],
            left: &left,
            right: &right,
            missing_left: &missing_left,
            set: &set,
            values: &random[tree],
        })
        .collect();
    PackedForest::new(&trees, n_cols, 1, &[]).expect("whole trees")
}
