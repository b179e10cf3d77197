// Of each run of RUN values the sums of what stands before each, and the total of each run. One workgroup a run: each thread sums PER_THREAD
// neighbours, the sums are scanned as by Hillis and Steele (1986), "Data parallel algorithms".

struct Params {
    len: u32,
    groups_x: u32,
}

const THREADS: u32 = 256u;
const PER_THREAD: u32 = 8u;
const RUN: u32 = THREADS * PER_THREAD;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;
@group(0) @binding(3) var<storage, read_write> totals: array<u32>;

var<workgroup> of_threads: array<u32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let run = group.y * params.groups_x + group.x;
    let first = run * RUN + thread * PER_THREAD;
    var own = 0u;
    for (var i = 0u; i < PER_THREAD; i += 1u) {
        if first + i < params.len {
            own += values[first + i];
        }
    }
    of_threads[thread] = own;
    for (var step = 1u; step < THREADS; step *= 2u) {
        workgroupBarrier();
        var other = 0u;
        if thread >= step {
            other = of_threads[thread - step];
        }
        workgroupBarrier();
        of_threads[thread] += other;
    }
    var before = of_threads[thread] - own;
    for (var i = 0u; i < PER_THREAD; i += 1u) {
        if first + i < params.len {
            sums[first + i] = before;
            before += values[first + i];
        }
    }
    if thread + 1u == THREADS && run * RUN < params.len {
        totals[run] = of_threads[thread];
    }
}
