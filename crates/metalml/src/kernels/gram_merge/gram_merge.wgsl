//! use two_float
// Merges the partial tiles of gram into products[i * n_cols + j] = Σ_parts, as (hi, lo) pairs, for i < x_cols, j < n_cols = x_cols + y_cols,
// added to what is there if `accumulate`. One thread makes one element on or above the diagonal, parts in order, and writes its mirror image too.

struct Params {
    x_cols: u32,
    n_cols: u32,
    n_parts: u32,
    accumulate: u32,
    zero: u32,
}

const TILE: u32 = 8u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> partials: array<f32>;
@group(0) @binding(2) var<storage, read_write> products: array<vec2<f32>>;

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.y;
    let col = id.x;
    if row >= params.x_cols || col >= params.n_cols || col < row {
        return;
    }
    let tiles = (params.n_cols + TILE - 1u) / TILE;
    let stride = tiles * tiles * TILE * TILE;
    var at = ((row / TILE) * tiles + col / TILE) * TILE * TILE + (row % TILE) * TILE + col % TILE;
    var sum = vec2(0.0);
    if params.accumulate != 0u {
        sum = products[row * params.n_cols + col];
    }
    for (var part = 0u; part < params.n_parts; part += 1u) {
        sum = add_float(sum, partials[at]);
        at += stride;
    }
    sum = two_sum(sum.x, sum.y);
    products[row * params.n_cols + col] = sum;
    if col < params.x_cols {
        products[col * params.n_cols + row] = sum;
    }
}
