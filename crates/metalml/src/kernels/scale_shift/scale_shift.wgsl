//! use two_float
// Forward: out = (x - offset) * factor; inverse: out = x * factor + offset; row-major, offset and factor (hi, lo) pairs a column.
// Each result is rounded once, so it is as good as float64 arithmetic rounded to float32. NaN passes through.
// One thread makes one element; threads stride over the grid.

struct Params {
    n_rows: u32,
    n_cols: u32,
    ld: u32,
    out_ld: u32,
    inverse: u32,
    zero: u32,
}

const WORKGROUP: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> offset: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> factor: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let len = params.n_rows * params.n_cols;
    for (var i = id.x; i < len; i += groups.x * WORKGROUP) {
        let row = i / params.n_cols;
        let col = i % params.n_cols;
        let value = x[row * params.ld + col];
        var result: vec2<f32>;
        if params.inverse == 0u {
            let apart = two_sum(value, -offset[col].x);
            result = multiply_pairs(vec2(apart.x, keep(apart.y - offset[col].y)), factor[col]);
        } else {
            result = add_pair(multiply_pairs(vec2(value, 0.0), factor[col]), offset[col]);
        }
        out[row * params.out_ld + col] = result.x + result.y;
    }
}
