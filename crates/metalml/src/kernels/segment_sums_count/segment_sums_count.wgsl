// counts[segment, split] = how many rows of a split have the label. One workgroup takes a split, and RANGE segments.

struct Params {
    n_rows: u32,
    first_row: u32,
    n_segments: u32,
    rows_per_split: u32,
    n_splits: u32,
}

const THREADS: u32 = 256u;
const RANGE: u32 = 2048u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> labels: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

var<workgroup> bins: array<atomic<u32>, RANGE>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first = group.y * RANGE;
    for (var bin = thread; bin < RANGE; bin += THREADS) {
        atomicStore(&bins[bin], 0u);
    }
    workgroupBarrier();
    let end = min((group.x + 1u) * params.rows_per_split, params.n_rows);
    for (var row = group.x * params.rows_per_split + thread; row < end; row += THREADS) {
        let label = labels[params.first_row + row];
        if label >= first && label < min(first + RANGE, params.n_segments) {
            atomicAdd(&bins[label - first], 1u);
        }
    }
    workgroupBarrier();
    for (var bin = thread; bin < min(RANGE, params.n_segments - first); bin += THREADS) {
        counts[(first + bin) * params.n_splits + group.x] = atomicLoad(&bins[bin]);
    }
}
