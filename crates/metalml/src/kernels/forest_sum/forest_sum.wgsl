//! use two_float
// sums[row, j] = (base[j] + Σ_tree values[leaf of the row, j]) / divisor as (hi, lo) pairs, trees in order. One thread a sum; threads stride over them.
// leaves: [row][tree]

struct Params {
    n_rows: u32,
    first_row: u32,
    n_trees: u32,
    width: u32,
    divisor: f32,
    zero: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> leaves: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> base: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> sums: array<vec2<f32>>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var at = id.x; at < params.n_rows * params.width; at += groups.x * THREADS) {
        let row = at / params.width;
        let j = at % params.width;
        var sum = base[j];
        for (var tree = 0u; tree < params.n_trees; tree += 1u) {
            sum = add_pair(sum, values[leaves[row * params.n_trees + tree] * params.width + j]);
        }
        sums[params.first_row * params.width + at] = divide_pairs(sum, vec2(params.divisor, 0.0));
    }
}
