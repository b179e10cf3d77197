// Adds to each run of RUN sums what stands before the run. One thread a sum; threads stride over them.

struct Params {
    len: u32,
    run: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> before: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var at = id.x; at < params.len; at += groups.x * THREADS) {
        sums[at] += before[at / params.run];
    }
}
