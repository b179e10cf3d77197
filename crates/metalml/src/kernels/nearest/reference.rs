//! The nearest centre of each row, in plain f64.

/// Labels and squared distances for row-major `x` and `centres` of `n_cols` columns.
pub(super) fn nearest(x: &[f64], centres: &[f64], n_cols: usize) -> (Vec<usize>, Vec<f64>) {
    let distance = |row: &[f64], centre: &[f64]| row.iter().zip(centre).map(|(x, c)| (x - c) * (x - c)).sum::<f64>();
    x.chunks_exact(n_cols)
        .map(|row| {
            let mut best = (0, f64::INFINITY);
            for (index, centre) in centres.chunks_exact(n_cols).enumerate() {
                let distance = distance(row, centre);
                if distance < best.1 {
                    best = (index, distance);
                }
            }
            best
        })
        .unzip()
}
