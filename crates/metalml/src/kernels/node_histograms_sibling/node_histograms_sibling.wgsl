// sibling = parent - child: what one child of a node does not have, the other has. One number a thread; threads stride over them.

struct Params {
    len: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parent: array<i32>;
@group(0) @binding(2) var<storage, read> child: array<i32>;
@group(0) @binding(3) var<storage, read_write> sibling: array<i32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var at = id.x; at < params.len; at += groups.x * THREADS) {
        sibling[at] = parent[at] - child[at];
    }
}
