// The squared distance of two rows, summed in order of the columns. A kernel declares x and y, and x4 and y4 where their strides are whole
// vectors.

fn direct_sum(x_row: u32, y_row: u32) -> f32 {
    var sum = 0.0;
    if params.x_ld % 4u != 0u {
        for (var k = 0u; k < params.n_cols; k += 1u) {
            let apart = x[x_row * params.x_ld + k] - y[y_row * params.y_ld + k];
            sum += apart * apart;
        }
        return sum;
    }
    let x_at = x_row * (params.x_ld / 4u);
    let y_at = y_row * (params.y_ld / 4u);
    let whole = params.n_cols / 4u;
    for (var k = 0u; k < whole; k += 1u) {
        let apart = x4[x_at + k] - y4[y_at + k];
        sum += apart.x * apart.x;
        sum += apart.y * apart.y;
        sum += apart.z * apart.z;
        sum += apart.w * apart.w;
    }
    for (var k = 4u * whole; k < params.n_cols; k += 1u) {
        let apart = x[x_row * params.x_ld + k] - y[y_row * params.y_ld + k];
        sum += apart * apart;
    }
    return sum;
}
