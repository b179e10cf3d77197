// What a pair of values adds to a distance, by the number that `Metric` has, for `distance_tile`; and what a sum becomes.
// A kernel declares x, y and, in params, n_rows and n_refs, x_ld and y_ld, y_start, n_cols, metric and power.
// The cosine distance is half the squared distance of rows of length 1. A row of zeros has a large value in a column of its own: all
// sums with it, which are far above 4, become 2.

const EUCLIDEAN: u32 = 1u;
const MANHATTAN: u32 = 2u;
const CHEBYSHEV: u32 = 3u;
const MINKOWSKI: u32 = 4u;
const COSINE: u32 = 5u;
const MARK: f32 = 64.0;

var<private> x_scale: f32;
var<private> y_scale: f32;

// The columns of a sum.
fn distance_depth() -> u32 {
    return select(params.n_cols, params.n_cols + 2u, params.metric == COSINE);
}

fn x_at(row: u32, k: u32) -> f32 {
    if k < params.n_cols {
        return x[(params.x_start + min(row, params.n_rows - 1u)) * params.x_ld + k] * x_scale;
    }
    return select(0.0, MARK, k == params.n_cols && params.metric == COSINE && x_scale == 0.0);
}

fn y_at(row: u32, k: u32) -> f32 {
    if k < params.n_cols {
        return y[(params.y_start + min(row, params.n_refs - 1u)) * params.y_ld + k] * y_scale;
    }
    return select(0.0, MARK, k == params.n_cols + 1u && params.metric == COSINE && y_scale == 0.0);
}

fn scale_of(square: f32) -> f32 {
    return select(1.0 / sqrt(square), 0.0, square == 0.0);
}

// The sums of a tile under the metric.
fn distance_sums(first_x: u32, first_y: u32, thread: u32) -> Sums {
    x_scale = 1.0;
    y_scale = 1.0;
    if params.metric == COSINE {
        let row = thread / 2u;
        var of_x = 0.0;
        var of_y = 0.0;
        for (var k = 0u; k < params.n_cols; k += 1u) {
            let in_x = x_at(first_x + row, k);
            let in_y = y_at(first_y + row, k);
            of_x += in_x * in_x;
            of_y += in_y * in_y;
        }
        x_scale = scale_of(of_x);
        y_scale = scale_of(of_y);
    }
    var sums = tile_sums(first_x, first_y, distance_depth(), thread);
    if params.metric == COSINE {
        sums.a0 = without_marks(sums.a0);
        sums.b0 = without_marks(sums.b0);
        sums.a1 = without_marks(sums.a1);
        sums.b1 = without_marks(sums.b1);
        sums.a2 = without_marks(sums.a2);
        sums.b2 = without_marks(sums.b2);
        sums.a3 = without_marks(sums.a3);
        sums.b3 = without_marks(sums.b3);
        sums.a4 = without_marks(sums.a4);
        sums.b4 = without_marks(sums.b4);
        sums.a5 = without_marks(sums.a5);
        sums.b5 = without_marks(sums.b5);
        sums.a6 = without_marks(sums.a6);
        sums.b6 = without_marks(sums.b6);
        sums.a7 = without_marks(sums.a7);
        sums.b7 = without_marks(sums.b7);
    }
    return sums;
}

fn without_marks(sums: vec4<f32>) -> vec4<f32> {
    return select(sums, vec4(2.0), sums > vec4(MARK));
}

fn powers(value: vec4<f32>) -> vec4<f32> {
    return select(pow(value, vec4(params.power)), vec4<f32>(), value == vec4<f32>());
}

fn add_slab(sums: ptr<function, Sums>, place: vec2<u32>) {
    switch params.metric {
        case MANHATTAN: {
            for (var k = 0u; k < DEPTH; k += 1u) {
                let x0 = slabs[k * SLAB_ROW + place.x];
                let x1 = slabs[k * SLAB_ROW + SIDE + place.x];
                let y0 = slabs[(DEPTH + k) * SLAB_ROW + place.y];
                let y1 = slabs[(DEPTH + k) * SLAB_ROW + SIDE + place.y];
                (*sums).a0 = (*sums).a0 + abs(x0.x - y0);
                (*sums).b0 = (*sums).b0 + abs(x0.x - y1);
                (*sums).a1 = (*sums).a1 + abs(x0.y - y0);
                (*sums).b1 = (*sums).b1 + abs(x0.y - y1);
                (*sums).a2 = (*sums).a2 + abs(x0.z - y0);
                (*sums).b2 = (*sums).b2 + abs(x0.z - y1);
                (*sums).a3 = (*sums).a3 + abs(x0.w - y0);
                (*sums).b3 = (*sums).b3 + abs(x0.w - y1);
                (*sums).a4 = (*sums).a4 + abs(x1.x - y0);
                (*sums).b4 = (*sums).b4 + abs(x1.x - y1);
                (*sums).a5 = (*sums).a5 + abs(x1.y - y0);
                (*sums).b5 = (*sums).b5 + abs(x1.y - y1);
                (*sums).a6 = (*sums).a6 + abs(x1.z - y0);
                (*sums).b6 = (*sums).b6 + abs(x1.z - y1);
                (*sums).a7 = (*sums).a7 + abs(x1.w - y0);
                (*sums).b7 = (*sums).b7 + abs(x1.w - y1);
            }
        }
        case CHEBYSHEV: {
            for (var k = 0u; k < DEPTH; k += 1u) {
                let x0 = slabs[k * SLAB_ROW + place.x];
                let x1 = slabs[k * SLAB_ROW + SIDE + place.x];
                let y0 = slabs[(DEPTH + k) * SLAB_ROW + place.y];
                let y1 = slabs[(DEPTH + k) * SLAB_ROW + SIDE + place.y];
                (*sums).a0 = max((*sums).a0, abs(x0.x - y0));
                (*sums).b0 = max((*sums).b0, abs(x0.x - y1));
                (*sums).a1 = max((*sums).a1, abs(x0.y - y0));
                (*sums).b1 = max((*sums).b1, abs(x0.y - y1));
                (*sums).a2 = max((*sums).a2, abs(x0.z - y0));
                (*sums).b2 = max((*sums).b2, abs(x0.z - y1));
                (*sums).a3 = max((*sums).a3, abs(x0.w - y0));
                (*sums).b3 = max((*sums).b3, abs(x0.w - y1));
                (*sums).a4 = max((*sums).a4, abs(x1.x - y0));
                (*sums).b4 = max((*sums).b4, abs(x1.x - y1));
                (*sums).a5 = max((*sums).a5, abs(x1.y - y0));
                (*sums).b5 = max((*sums).b5, abs(x1.y - y1));
                (*sums).a6 = max((*sums).a6, abs(x1.z - y0));
                (*sums).b6 = max((*sums).b6, abs(x1.z - y1));
                (*sums).a7 = max((*sums).a7, abs(x1.w - y0));
                (*sums).b7 = max((*sums).b7, abs(x1.w - y1));
            }
        }
        case MINKOWSKI: {
            for (var k = 0u; k < DEPTH; k += 1u) {
                let x0 = slabs[k * SLAB_ROW + place.x];
                let x1 = slabs[k * SLAB_ROW + SIDE + place.x];
                let y0 = slabs[(DEPTH + k) * SLAB_ROW + place.y];
                let y1 = slabs[(DEPTH + k) * SLAB_ROW + SIDE + place.y];
                (*sums).a0 = (*sums).a0 + powers(abs(x0.x - y0));
                (*sums).b0 = (*sums).b0 + powers(abs(x0.x - y1));
                (*sums).a1 = (*sums).a1 + powers(abs(x0.y - y0));
                (*sums).b1 = (*sums).b1 + powers(abs(x0.y - y1));
                (*sums).a2 = (*sums).a2 + powers(abs(x0.z - y0));
                (*sums).b2 = (*sums).b2 + powers(abs(x0.z - y1));
                (*sums).a3 = (*sums).a3 + powers(abs(x0.w - y0));
                (*sums).b3 = (*sums).b3 + powers(abs(x0.w - y1));
                (*sums).a4 = (*sums).a4 + powers(abs(x1.x - y0));
                (*sums).b4 = (*sums).b4 + powers(abs(x1.x - y1));
                (*sums).a5 = (*sums).a5 + powers(abs(x1.y - y0));
                (*sums).b5 = (*sums).b5 + powers(abs(x1.y - y1));
                (*sums).a6 = (*sums).a6 + powers(abs(x1.z - y0));
                (*sums).b6 = (*sums).b6 + powers(abs(x1.z - y1));
                (*sums).a7 = (*sums).a7 + powers(abs(x1.w - y0));
                (*sums).b7 = (*sums).b7 + powers(abs(x1.w - y1));
            }
        }
        default: {
            for (var k = 0u; k < DEPTH; k += 1u) {
                let x0 = slabs[k * SLAB_ROW + place.x];
                let x1 = slabs[k * SLAB_ROW + SIDE + place.x];
                let y0 = slabs[(DEPTH + k) * SLAB_ROW + place.y];
                let y1 = slabs[(DEPTH + k) * SLAB_ROW + SIDE + place.y];
                (*sums).a0 = add_square((*sums).a0, x0.x - y0);
                (*sums).b0 = add_square((*sums).b0, x0.x - y1);
                (*sums).a1 = add_square((*sums).a1, x0.y - y0);
                (*sums).b1 = add_square((*sums).b1, x0.y - y1);
                (*sums).a2 = add_square((*sums).a2, x0.z - y0);
                (*sums).b2 = add_square((*sums).b2, x0.z - y1);
                (*sums).a3 = add_square((*sums).a3, x0.w - y0);
                (*sums).b3 = add_square((*sums).b3, x0.w - y1);
                (*sums).a4 = add_square((*sums).a4, x1.x - y0);
                (*sums).b4 = add_square((*sums).b4, x1.x - y1);
                (*sums).a5 = add_square((*sums).a5, x1.y - y0);
                (*sums).b5 = add_square((*sums).b5, x1.y - y1);
                (*sums).a6 = add_square((*sums).a6, x1.z - y0);
                (*sums).b6 = add_square((*sums).b6, x1.z - y1);
                (*sums).a7 = add_square((*sums).a7, x1.w - y0);
                (*sums).b7 = add_square((*sums).b7, x1.w - y1);
            }
        }
    }
}

fn add_square(sum: vec4<f32>, apart: vec4<f32>) -> vec4<f32> {
    return sum + apart * apart;
}

// The distance that a sum stands for.
fn distance_of(sum: f32) -> f32 {
    switch params.metric {
        case EUCLIDEAN: { return sqrt(sum); }
        case MINKOWSKI: { return select(pow(sum, 1.0 / params.power), 0.0, sum == 0.0); }
        case COSINE: { return 0.5 * sum; }
        default: { return sum; }
    }
}
