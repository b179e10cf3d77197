// order[place] = row: the rows of each segment one after the other, in the order in which they came. One workgroup takes a split, and RANGE
// segments; a row's place among THREADS rows is the number of those before it with its label.
// within: [segment][split], rows of the segment before the split; starts: [segment].

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
@group(0) @binding(2) var<storage, read> within: array<u32>;
@group(0) @binding(3) var<storage, read> starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> order: array<u32>;

var<workgroup> next: array<u32, RANGE>;
var<workgroup> chunk: array<u32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first = group.y * RANGE;
    let last = min(first + RANGE, params.n_segments);
    for (var segment = first + thread; segment < last; segment += THREADS) {
        next[segment - first] = starts[segment] + within[segment * params.n_splits + group.x];
    }
    let end = min((group.x + 1u) * params.rows_per_split, params.n_rows);
    for (var start = group.x * params.rows_per_split; start < end; start += THREADS) {
        let row = start + thread;
        var label = 0xffffffffu;
        if row < end {
            label = labels[params.first_row + row];
        }
        workgroupBarrier();
        chunk[thread] = label;
        workgroupBarrier();
        let here = label >= first && label < last;
        var rank = 0u;
        var same = 0u;
        for (var other = 0u; other < THREADS && here; other += 1u) {
            let equal = u32(chunk[other] == label);
            same += equal;
            rank += select(0u, equal, other < thread);
        }
        var place = 0u;
        if here {
            place = next[label - first] + rank;
            order[place] = row;
        }
        workgroupBarrier();
        if here && rank + 1u == same {
            next[label - first] = place + 1u;
        }
    }
}
