// keys = the bits of floats in their order, -0 as 0 and NaN last; order = the number of each. One thread a value; threads stride over them.

struct Params {
    len: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> keys: array<u32>;
@group(0) @binding(3) var<storage, read_write> order: array<u32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var at = id.x; at < params.len; at += groups.x * THREADS) {
        let bits = bitcast<u32>(values[at]);
        let plain = select(bits, 0u, bits == 0x80000000u);
        let ordered = select(plain | 0x80000000u, ~plain, (plain & 0x80000000u) != 0u);
        keys[at] = select(ordered, 0xffffffffu, (bits & 0x7fffffffu) > 0x7f800000u);
        order[at] = at;
    }
}
