//! One affine map a column, in plain f64.

/// `(x - offset) / scale`, or `x * scale + offset` if `inverse`, for row-major `x`.
pub(super) fn scale_shift(x: &[f64], offset: &[f64], scale: &[f64], inverse: bool) -> Vec<f64> {
    let columns = offset.iter().zip(scale).cycle();
    let map = |(x, (offset, scale)): (&f64, (&f64, &f64))| {
        if inverse {
            x * scale + offset
        } else {
            (x - offset) / scale
        }
    };
    x.iter().zip(columns).map(map).collect()
}
