//! use centred
// out = c for some rows of z, as in `centred`: what the tiles of gram multiply. One vector a thread.

struct Params {
    n_rows: u32,
    x_cols: u32,
    x_ld: u32,
    y_cols: u32,
    y_ld: u32,
    first_row: u32,
    weighted: u32,
    // Of the grid, where one side of it does not hold all.
    groups_x: u32,
}

const WORKGROUP: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x4: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> y: array<f32>;
@group(0) @binding(4) var<storage, read> frame: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> weights: array<f32>;
@group(0) @binding(6) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let at = (group.y * params.groups_x + group.x) * WORKGROUP + thread;
    let row = params.first_row + at / z_vectors();
    let vector = at % z_vectors();
    if row < params.n_rows {
        out[at] = centred(fetch(row, vector), row, vector, params.n_rows);
    }
}
