// Each row of counts becomes the sums of what stands before each place, and its total goes to totals. One workgroup a row; workgroups
// stride over the rows. Hillis and Steele (1986), "Data parallel algorithms".

struct Params {
    n_rows: u32,
    len: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<u32>;

var<workgroup> sums: array<u32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    for (var row = group.x; row < params.n_rows; row += groups.x) {
        var before = 0u;
        for (var first = 0u; first < params.len; first += THREADS) {
            let at = row * params.len + first + thread;
            var value = 0u;
            if first + thread < params.len {
                value = counts[at];
            }
            workgroupBarrier();
            sums[thread] = value;
            for (var step = 1u; step < THREADS; step *= 2u) {
                workgroupBarrier();
                var other = 0u;
                if thread >= step {
                    other = sums[thread - step];
                }
                workgroupBarrier();
                sums[thread] += other;
            }
            workgroupBarrier();
            if first + thread < params.len {
                counts[at] = before + sums[thread] - value;
            }
            before += sums[THREADS - 1u];
        }
        if thread == 0u {
            totals[row] = before;
        }
    }
}
