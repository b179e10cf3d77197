// A list of the nearest for each row of a tile: distances below the row's limit, the k-th least so far, join it; once it has no room for a
// tile more, its k least stay, sorted, and the limit falls. What a list holds does not depend on the order in which threads come, and
// what stays is sorted: so runs are equal. An entry is the sum's bits, which have the order of sums as none is negative, and the index.
// A kernel declares lists and parts, and in params k and capacity, n_rows and n_queries, first_query, first_index and first_split.

const LANES: u32 = 16u;
const NONE: u32 = 0xffffffffu;

var<workgroup> counts: array<atomic<u32>, TILE>;
var<workgroup> limits: array<u32, TILE>;
var<workgroup> halves: array<u32, TILE>;
var<workgroup> full: u32;

// Where the list of a row begins.
fn list_at(base: u32, row: u32, half: u32) -> u32 {
    return 2u * params.capacity * (2u * (base + row) + half);
}

fn empty_lists(thread: u32) {
    if thread < TILE {
        atomicStore(&counts[thread], 0u);
        limits[thread] = NONE;
        halves[thread] = 0u;
    }
    if thread == 0u {
        full = 0u;
    }
    workgroupBarrier();
}

fn join(base: u32, row: u32, key: u32, index: u32) {
    if key < limits[row] {
        let at = list_at(base, row, halves[row]) + 2u * atomicAdd(&counts[row], 1u);
        lists[at] = key;
        lists[at + 1u] = index;
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

// After a tile: makes room where there is too little, and says whether that was so.
fn settle_full(base: u32, thread: u32) -> bool {
    if thread < TILE && atomicLoad(&counts[thread]) + TILE > params.capacity {
        full = 1u;
    }
    let any_full = workgroupUniformLoad(&full) == 1u;
    if any_full {
        settle(base, params.capacity - TILE, thread);
        if thread == 0u {
            full = 0u;
        }
    }
    return any_full;
}

fn give_lists(base: u32, first_x: u32, part: u32, thread: u32) {
    settle(base, 0u, thread);
    for (var at = thread; at < TILE * params.k; at += THREADS) {
        let row = at / params.k;
        let rank = at % params.k;
        if first_x + row < params.n_rows {
            let split = params.first_split + part;
            let to = 2u * ((split * params.n_queries + params.first_query + first_x + row) * params.k + rank);
            let entry = list_at(base, row, halves[row]) + 2u * rank;
            let there = rank < atomicLoad(&counts[row]);
            parts[to] = select(NONE, lists[entry], there);
            parts[to + 1u] = select(NONE, params.first_index + lists[entry + 1u], there);
        }
    }
}
