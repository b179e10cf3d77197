// Columns of z = [x | y], each of the two padded to whole vectors of four, as c = sqrt(w) (z unit - shift), the shift in units.
// frame: [shift, unit][column of z]

// The vectors of x, and of z.
fn x_vectors() -> u32 {
    return (params.x_cols + 3u) / 4u;
}

fn z_vectors() -> u32 {
    return x_vectors() + (params.y_cols + 3u) / 4u;
}

// A vector of z as it lies; past the end, anything. Nothing here waits for what comes.
fn fetch(row: u32, vector: u32) -> vec4<f32> {
    let there = min(row, params.n_rows - 1u);
    var value: vec4<f32>;
    if vector < x_vectors() && params.x_ld >= 4u {
        value = x4[there * (params.x_ld / 4u) + vector];
    } else if vector < x_vectors() {
        let at = there * params.x_ld;
        let last = params.x_cols - 1u;
        value = vec4(x[at], x[at + min(1u, last)], x[at + min(2u, last)], 0.0);
    } else if vector < z_vectors() {
        let col = 4u * (vector - x_vectors());
        let at = there * params.y_ld + col;
        let last = params.y_cols - 1u - col;
        value = vec4(y[at], y[at + min(1u, last)], y[at + min(2u, last)], y[at + min(3u, last)]);
    }
    return value;
}

fn centred(value: vec4<f32>, row: u32, vector: u32, end: u32) -> vec4<f32> {
    if row >= end || vector >= z_vectors() {
        return vec4<f32>();
    }
    let unit = frame[z_vectors() + vector];
    var c = value * unit - frame[vector];
    // Padding has no unit, and may hold anything.
    if unit.w == 0.0 {
        c = select(vec4<f32>(), c, unit != vec4<f32>());
    }
    if params.weighted != 0u {
        c *= sqrt(weights[row]);
    }
    return c;
}
