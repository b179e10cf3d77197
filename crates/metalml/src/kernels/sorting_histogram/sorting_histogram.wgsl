// counts[value] += how often each value below n_bins occurs. Integers add up the same in any order. A workgroup counts RANGE bins of its own first,
// and adds what it found; workgroups stride over the values.

struct Params {
    len: u32,
    n_bins: u32,
}

const THREADS: u32 = 256u;
const RANGE: u32 = 2048u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;

var<workgroup> bins: array<atomic<u32>, RANGE>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let first = group.y * RANGE;
    for (var bin = thread; bin < RANGE; bin += THREADS) {
        atomicStore(&bins[bin], 0u);
    }
    workgroupBarrier();
    for (var at = group.x * THREADS + thread; at < params.len; at += groups.x * THREADS) {
        let value = values[at];
        if value >= first && value < min(first + RANGE, params.n_bins) {
            atomicAdd(&bins[value - first], 1u);
        }
    }
    workgroupBarrier();
    for (var bin = thread; bin < min(RANGE, params.n_bins - first); bin += THREADS) {
        let count = atomicLoad(&bins[bin]);
        if count > 0u {
            atomicAdd(&counts[first + bin], count);
        }
    }
}
