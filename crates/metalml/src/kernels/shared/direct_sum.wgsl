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
    var done = 0u;
    // Four vectors of each are on their way at once.
    for (; done + 4u <= whole; done += 4u) {
        //! unroll K 4
        let apart$K = x4[x_at + done + $Ku] - y4[y_at + done + $Ku];
        //! end
        //! unroll K 4
        sum += apart$K.x * apart$K.x;
        sum += apart$K.y * apart$K.y;
        sum += apart$K.z * apart$K.z;
        sum += apart$K.w * apart$K.w;
        //! end
    }
    for (; done < whole; done += 1u) {
        let apart = x4[x_at + done] - y4[y_at + done];
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
