// Products of rows less a shift, for `distance_tile`: |x|² + |y|² less twice such a product is the square of their distance, but for rounding.
// A kernel declares x, y and shift, and in params n_rows and n_refs, n_cols, x_ld and y_ld, x_start and y_start.

fn x_at(row: u32, k: u32) -> f32 {
    if k >= params.n_cols {
        return 0.0;
    }
    return x[(params.x_start + min(row, params.n_rows - 1u)) * params.x_ld + k] - shift[k];
}

fn y_at(row: u32, k: u32) -> f32 {
    if k >= params.n_cols {
        return 0.0;
    }
    return y[(params.y_start + min(row, params.n_refs - 1u)) * params.y_ld + k] - shift[k];
}

fn add_slab(sums: ptr<function, Sums>, place: vec2<u32>) {
        for (var k = 0u; k < DEPTH; k += 1u) {
            let x0 = slabs[k * SLAB_ROW + place.x];
            let x1 = slabs[k * SLAB_ROW + SIDE + place.x];
            let y0 = slabs[(DEPTH + k) * SLAB_ROW + place.y];
            let y1 = slabs[(DEPTH + k) * SLAB_ROW + SIDE + place.y];
            (*sums).a0 = (*sums).a0 + x0.x * y0;
            (*sums).b0 = (*sums).b0 + x0.x * y1;
            (*sums).a1 = (*sums).a1 + x0.y * y0;
            (*sums).b1 = (*sums).b1 + x0.y * y1;
            (*sums).a2 = (*sums).a2 + x0.z * y0;
            (*sums).b2 = (*sums).b2 + x0.z * y1;
            (*sums).a3 = (*sums).a3 + x0.w * y0;
            (*sums).b3 = (*sums).b3 + x0.w * y1;
            (*sums).a4 = (*sums).a4 + x1.x * y0;
            (*sums).b4 = (*sums).b4 + x1.x * y1;
            (*sums).a5 = (*sums).a5 + x1.y * y0;
            (*sums).b5 = (*sums).b5 + x1.y * y1;
            (*sums).a6 = (*sums).a6 + x1.z * y0;
            (*sums).b6 = (*sums).b6 + x1.z * y1;
            (*sums).a7 = (*sums).a7 + x1.w * y0;
            (*sums).b7 = (*sums).b7 + x1.w * y1;
        }
}
