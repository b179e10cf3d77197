// counts[digit, split] = how many keys of a split have the digit. One workgroup a split.

struct Params {
    len: u32,
    per_split: u32,
    n_splits: u32,
    low_bit: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

var<workgroup> bins: array<atomic<u32>, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    atomicStore(&bins[thread], 0u);
    workgroupBarrier();
    let end = min((group.x + 1u) * params.per_split, params.len);
    for (var at = group.x * params.per_split + thread; at < end; at += THREADS) {
        atomicAdd(&bins[(keys[at] >> params.low_bit) & 0xffu], 1u);
    }
    workgroupBarrier();
    counts[thread * params.n_splits + group.x] = atomicLoad(&bins[thread]);
}
