//! use distance_tile
//! use distance_metric
// For each row of x the k rows of a split of y that are nearest, nearest first, of equal ones the lowest index first.
// A workgroup makes TILE rows of one split (group y): distances below a row's limit, the k-th least so far, join a list; once a list has
// no room for a tile more, its k least stay, sorted, and the limit falls. What a list holds does not depend on the order in which
// threads come, and what stays is sorted: so runs are equal.
// lists: [group][row of the tile][two halves][capacity], parts: [split][query][k]; each entry the sum's bits, and the index.
// Sums are not negative, so their bits have their order. An entry that a split has not is all ones.

struct Params {
    n_rows: u32,
    n_refs: u32,
    n_cols: u32,
    x_ld: u32,
    y_ld: u32,
    x_start: u32,
    y_start: u32,
    metric: u32,
    power: f32,
    first_query: u32,
    n_queries: u32,
    first_index: u32,
    refs_per_split: u32,
    first_split: u32,
    k: u32,
    capacity: u32,
}

const LANES: u32 = 16u;
const NONE: u32 = 0xffffffffu;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> lists: array<u32>;
@group(0) @binding(4) var<storage, read_write> parts: array<u32>;

var<workgroup> counts: array<atomic<u32>, TILE>;
var<workgroup> limits: array<u32, TILE>;
var<workgroup> halves: array<u32, TILE>;
var<workgroup> full: u32;

// Where the list of a row begins.
fn list_at(base: u32, row: u32, half: u32) -> u32 {
    return 2u * params.capacity * (2u * (base + row) + half);
}

fn offer(base: u32, row: u32, sums: vec4<f32>, first: u32, end: u32) {
    for (var lane = 0u; lane < 4u; lane += 1u) {
        let key = bitcast<u32>(sums[lane]);
        if first + lane < end && key < limits[row] {
            let at = list_at(base, row, halves[row]) + 2u * atomicAdd(&counts[row], 1u);
            lists[at] = key;
            lists[at + 1u] = first + lane;
        }
    }
}

// Sorts the lists of more than `least` entries, each by LANES threads, and keeps their k first: an entry's place is the number of
// those before it.
fn settle(base: u32, least: u32, thread: u32) {
    storageBarrier();
    workgroupBarrier();
    for (var row = thread / LANES; row < TILE; row += THREADS / LANES) {
        let count = atomicLoad(&counts[row]);
        if count > least {
            let begin = list_at(base, row, halves[row]);
            let to = list_at(base, row, 1u - halves[row]);
            for (var entry = thread % LANES; entry < count; entry += LANES) {
                let key = lists[begin + 2u * entry];
                let index = lists[begin + 2u * entry + 1u];
                var rank = 0u;
                for (var other = 0u; other < count; other += 1u) {
                    let other_key = lists[begin + 2u * other];
                    if other_key < key || (other_key == key && lists[begin + 2u * other + 1u] < index) {
                        rank += 1u;
                    }
                }
                if rank < params.k {
                    lists[to + 2u * rank] = key;
                    lists[to + 2u * rank + 1u] = index;
                }
                if rank + 1u == params.k {
                    limits[row] = key;
                }
            }
        }
    }
    storageBarrier();
    workgroupBarrier();
    if thread < TILE {
        let count = atomicLoad(&counts[thread]);
        if count > least {
            atomicStore(&counts[thread], min(count, params.k));
            halves[thread] = 1u - halves[thread];
        }
    }
    workgroupBarrier();
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let base = (group.y * groups.x + group.x) * TILE;
    let first_x = group.x * TILE;
    let start = group.y * params.refs_per_split;
    let end = min(start + params.refs_per_split, params.n_refs);
    let place = place_of(thread);
    if thread < TILE {
        atomicStore(&counts[thread], 0u);
        limits[thread] = NONE;
        halves[thread] = 0u;
    }
    if thread == 0u {
        full = 0u;
    }
    workgroupBarrier();
    for (var first = start; first < end; first += TILE) {
        var sums = distance_sums(first_x, first, thread);
        for (var i = 0u; i < TILE / SIDE; i += 1u) {
            let row = nth(place.x, i);
            let mine = row_of(&sums, i);
            offer(base, row, mine.a, first + 4u * place.y, end);
            offer(base, row, mine.b, first + HALF + 4u * place.y, end);
        }
        workgroupBarrier();
        if thread < TILE && atomicLoad(&counts[thread]) + TILE > params.capacity {
            full = 1u;
        }
        if workgroupUniformLoad(&full) == 1u {
            settle(base, params.capacity - TILE, thread);
            if thread == 0u {
                full = 0u;
            }
        }
    }
    settle(base, 0u, thread);
    for (var at = thread; at < TILE * params.k; at += THREADS) {
        let row = at / params.k;
        let rank = at % params.k;
        if first_x + row < params.n_rows {
            let split = params.first_split + group.y;
            let to = 2u * ((split * params.n_queries + params.first_query + first_x + row) * params.k + rank);
            let entry = list_at(base, row, halves[row]) + 2u * rank;
            let there = rank < atomicLoad(&counts[row]);
            parts[to] = select(NONE, lists[entry], there);
            parts[to + 1u] = select(NONE, params.first_index + lists[entry + 1u], there);
        }
    }
}
