//! What comes first, by sorting whole rows.

/// The values and columns of the first `k` of each row of row-major `x`.
pub(super) fn top_k_rows(x: &[f64], n_cols: usize, k: usize, greatest: bool) -> (Vec<f64>, Vec<f64>) {
    let of_row = |row: &[f64]| -> Vec<(f64, f64)> {
        let mut entries: Vec<(f64, f64)> = row
            .iter()
            .enumerate()
            .map(|(col, &value)| (value, col as f64))
            .collect();
        // A stable sort keeps the lowest column first.
        entries.sort_by(|a, b| {
            let (a, b) = (a.0, b.0);
            let by_value = if greatest { b.partial_cmp(&a) } else { a.partial_cmp(&b) };
            a.is_nan()
                .cmp(&b.is_nan())
                .then(by_value.unwrap_or(std::cmp::Ordering::Equal))
        });
        entries.truncate(k);
        entries
    };
    x.chunks_exact(n_cols).flat_map(of_row).unzip()
}
