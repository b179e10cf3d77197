// Moves keys and their numbers to the places that their digit has: after all with lower digits, and those with the same one that come
// before. One workgroup a split; a key's place among THREADS keys is the number of those before it with its digit.
// starts: [digit][split]

struct Params {
    len: u32,
    per_split: u32,
    n_splits: u32,
    low_bit: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read> starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> keys_to: array<u32>;
@group(0) @binding(5) var<storage, read_write> order_to: array<u32>;

var<workgroup> next: array<u32, THREADS>;
var<workgroup> digits: array<u32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    next[thread] = starts[thread * params.n_splits + group.x];
    let end = min((group.x + 1u) * params.per_split, params.len);
    for (var first = group.x * params.per_split; first < end; first += THREADS) {
        let at = first + thread;
        var key = 0u;
        var digit = THREADS;
        if at < end {
            key = keys[at];
            digit = (key >> params.low_bit) & 0xffu;
        }
        workgroupBarrier();
        digits[thread] = digit;
        workgroupBarrier();
        var rank = 0u;
        var same = 0u;
        for (var other = 0u; other < THREADS; other += 1u) {
            let equal = u32(digits[other] == digit);
            same += equal;
            rank += select(0u, equal, other < thread);
        }
        var place = 0u;
        if at < end {
            place = next[digit] + rank;
            keys_to[place] = key;
            order_to[place] = order[at];
        }
        workgroupBarrier();
        if at < end && rank + 1u == same {
            next[digit] = place + 1u;
        }
    }
}
