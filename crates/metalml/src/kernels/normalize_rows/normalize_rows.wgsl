//! use row_sums
// out = each row divided by its norm; rows of zeros stay. The norm is that of the row times a power of two, so that it neither overflows nor
// vanishes, and so is what is divided.

struct Params {
    n_rows: u32,
    n_cols: u32,
    ld: u32,
    out_ld: u32,
    lanes: u32,
    kind: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let at_once = THREADS / params.lanes;
    let lane = thread % params.lanes;
    for (var first = group.x * at_once; first < params.n_rows; first += groups.x * at_once) {
        let own = first + thread / params.lanes;
        let row = min(own, params.n_rows - 1u);
        let largest = largest_size(row, lane, thread);
        let scale = scale_of(largest);
        var norm = bitcast<f32>(largest) * scale;
        if params.kind != MAX {
            norm = scaled_norm(row, params.kind, scale, lane, thread);
        }
        norm = select(norm, 1.0, largest == 0u);
        if own < params.n_rows {
            for (var col = lane; col < params.n_cols; col += params.lanes) {
                out[row * params.out_ld + col] = x[row * params.ld + col] * scale / norm;
            }
        }
    }
}
