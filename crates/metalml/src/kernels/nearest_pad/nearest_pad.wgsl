// out[row] = the values of a row narrower than a vector of four, and zeros. One thread a row; threads stride over the rows.

struct Params {
    first_row: u32,
    n_rows: u32,
    n_cols: u32,
    ld: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var row = id.x; row < params.n_rows; row += groups.x * THREADS) {
        var values = vec4<f32>();
        for (var k = 0u; k < params.n_cols; k += 1u) {
            values[k] = x[(params.first_row + row) * params.ld + k];
        }
        out[row] = values;
    }
}
