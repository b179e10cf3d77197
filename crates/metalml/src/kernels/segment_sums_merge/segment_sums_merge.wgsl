//! use two_float
// sums[i] = Σ_part parts[part, i] as (hi, lo) pairs, parts in order. One thread an element; threads stride over them.

struct Params {
    len: u32,
    n_parts: u32,
    zero: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec2<f32>>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var at = id.x; at < params.len; at += groups.x * THREADS) {
        var total = vec2<f32>();
        for (var part = 0u; part < params.n_parts; part += 1u) {
            total = add_pair(total, parts[part * params.len + at]);
        }
        sums[at] = total;
    }
}
