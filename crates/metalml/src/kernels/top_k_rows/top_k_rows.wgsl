// Of each row the k least values, or the k greatest, in their order, with their columns; of equal ones the lowest column first, NaN after all.
// One workgroup a row; workgroups stride over the rows. The k-th key is found by its bits, eight at a time: Knuth, TAOCP 3, section 5.2.5; what
// comes before it joins the list, and of those that equal it the first; the list is sorted by counting what comes before each.

struct Params {
    n_rows: u32,
    n_cols: u32,
    ld: u32,
    first_row: u32,
    k: u32,
    greatest: u32,
}

const THREADS: u32 = 256u;
const MOST: u32 = 1024u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> values: array<f32>;
@group(0) @binding(3) var<storage, read_write> indices: array<u32>;

var<workgroup> keys: array<u32, MOST>;
var<workgroup> columns: array<u32, MOST>;
var<workgroup> bins: array<atomic<u32>, THREADS>;
var<workgroup> equals: array<u32, THREADS>;
var<workgroup> count: atomic<u32>;
// The bits found so far and how many places are left for them, then how many equal keys were taken.
var<workgroup> told: vec3<u32>;

// The order wanted, as bits.
fn key_of(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    if (bits & 0x7fffffffu) > 0x7f800000u {
        return 0xffffffffu;
    }
    let plain = select(bits, 0u, bits == 0x80000000u);
    let ordered = select(plain | 0x80000000u, ~plain, (plain & 0x80000000u) != 0u);
    return select(ordered, ~ordered, params.greatest != 0u);
}

// The k-th key, and how many of the k are equal to it.
fn kth(row_at: u32, thread: u32) -> vec2<u32> {
    if thread == 0u {
        told = vec3(0u, params.k, 0u);
    }
    for (var round = 0u; round < 4u; round += 1u) {
        let low = 24u - 8u * round;
        atomicStore(&bins[thread], 0u);
        let known = workgroupUniformLoad(&told);
        for (var col = thread; col < params.n_cols; col += THREADS) {
            let key = key_of(x[row_at + col]);
            // The bits above those of this round.
            if round == 0u || key >> ((low + 8u) % 32u) == known.x >> ((low + 8u) % 32u) {
                atomicAdd(&bins[(key >> low) & 0xffu], 1u);
            }
        }
        workgroupBarrier();
        if thread == 0u {
            var left = known.y;
            var bin = 0u;
            while bin < 255u && atomicLoad(&bins[bin]) < left {
                left -= atomicLoad(&bins[bin]);
                bin += 1u;
            }
            told = vec3(known.x | (bin << low), left, 0u);
        }
        workgroupBarrier();
    }
    return workgroupUniformLoad(&told).xy;
}

fn join(key: u32, col: u32) {
    let to = atomicAdd(&count, 1u);
    keys[to] = key;
    columns[to] = col;
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    for (var row = group.x; row < params.n_rows; row += groups.x) {
        let row_at = row * params.ld;
        if thread == 0u {
            atomicStore(&count, 0u);
        }
        let last = kth(row_at, thread);
        for (var first = 0u; first < params.n_cols; first += THREADS) {
            let col = first + thread;
            var key = 0xffffffffu;
            if col < params.n_cols {
                key = key_of(x[row_at + col]);
                if key < last.x {
                    join(key, col);
                }
            }
            let taken = workgroupUniformLoad(&told).z;
            if taken < last.y {
                equals[thread] = u32(col < params.n_cols && key == last.x);
                workgroupBarrier();
                var before = taken;
                for (var other = 0u; other < thread; other += 1u) {
                    before += equals[other];
                }
                if equals[thread] == 1u && before < last.y {
                    join(key, col);
                }
                workgroupBarrier();
                if thread + 1u == THREADS {
                    told.z = before + equals[thread];
                }
            }
        }
        workgroupBarrier();
        for (var entry = thread; entry < params.k; entry += THREADS) {
            let key = keys[entry];
            let col = columns[entry];
            var rank = 0u;
            for (var other = 0u; other < params.k; other += 1u) {
                if keys[other] < key || (keys[other] == key && columns[other] < col) {
                    rank += 1u;
                }
            }
            let to = (params.first_row + row) * params.k + rank;
            values[to] = x[row_at + col];
            indices[to] = col;
        }
        workgroupBarrier();
    }
}
