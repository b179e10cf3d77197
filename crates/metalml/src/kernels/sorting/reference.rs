//! What order means, by comparison.

/// The numbers of the values in ascending order, NaN last.
pub(super) fn argsort(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let key = |at: usize| (values[at].is_nan(), values[at]);
    order.sort_by(|&a, &b| {
        let ((a_nan, a), (b_nan, b)) = (key(a), key(b));
        a_nan
            .cmp(&b_nan)
            .then(a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal))
    });
    order.into_iter().map(|at| at as f64).collect()
}

/// The sum of what stands before each value.
pub(super) fn scan(values: &[u32]) -> Vec<f64> {
    (0..values.len())
        .scan(0_u64, |before, at| {
            let here = *before;
            *before += u64::from(values[at]);
            Some(here as f64)
        })
        .collect()
}

/// How often each number below `n_bins` occurs.
pub(super) fn histogram(values: &[u32], n_bins: usize) -> Vec<f64> {
    let mut counts = vec![0.0; n_bins];
    let inside = values.iter().filter(|&&value| (value as usize) < n_bins);
    inside.for_each(|&value| counts[value as usize] += 1.0);
    counts
}
