//! use least_groups
//! use direct_sum
// From the least estimates of groups of references to the k nearest: the k-th least of these bounds the k-th least distance, and every
// reference of a group whose estimate is not beyond that by more than rounding can explain is looked at directly. For the bound see
// `nearest_exact`. One workgroup makes one row. The k-th least is found by its bits, eight at a time: Knuth, TAOCP 3, section 5.2.5.
// What is found joins a list; where that has no room for more, its k least stay and the limit falls. What a list holds in the end does not
// depend on the order in which threads come. parts: [split][query][k], each the sum's bits and the index, sorted.

struct Params {
    n_rows: u32,
    n_refs: u32,
    n_cols: u32,
    x_ld: u32,
    y_ld: u32,
    x_start: u32,
    first_query: u32,
    n_queries: u32,
    first_index: u32,
    split: u32,
    k: u32,
    n_groups: u32,
    side: u32,
    per_group: u32,
}

const THREADS: u32 = 256u;
const ROOM: u32 = 1408u;
// Groups that wait to be looked at: as many as make all threads busy, and those of one more round.
const ENOUGH: u32 = 32u;
const WAITING: u32 = ENOUGH + THREADS;
const EPSILON: f32 = 1.1920929e-7;
const LARGEST: f32 = 3.4028234e38;
const NONE: u32 = 0xffffffffu;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> x4: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> y: array<f32>;
@group(0) @binding(4) var<storage, read> y4: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> shift: array<f32>;
@group(0) @binding(6) var<storage, read> least: array<f32>;
@group(0) @binding(7) var<storage, read_write> parts: array<u32>;

var<workgroup> keys: array<u32, ROOM>;
var<workgroup> indices: array<u32, ROOM>;
var<workgroup> count: atomic<u32>;
var<workgroup> waiting: array<u32, WAITING>;
var<workgroup> n_waiting: atomic<u32>;
var<workgroup> bins: array<atomic<u32>, THREADS>;
var<workgroup> sums: array<f32, THREADS>;
// What one thread tells all: the bits found so far and how many are still before, then a limit or a count.
var<workgroup> told: vec2<u32>;

// Bits in the order of the floats.
fn ordered(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}

fn unordered(key: u32) -> f32 {
    return bitcast<f32>(select(~key, key & 0x7fffffffu, (key & 0x80000000u) != 0u));
}

// The k-th least estimate of the row, or the largest float if there are fewer.
fn kth_least(row_at: u32, thread: u32) -> f32 {
    if params.n_groups < params.k {
        return LARGEST;
    }
    if thread == 0u {
        told = vec2(0u, params.k);
    }
    for (var shift_by = 24i; shift_by >= 0i; shift_by -= 8i) {
        let low = u32(shift_by);
        atomicStore(&bins[thread], 0u);
        let known = workgroupUniformLoad(&told);
        for (var at = thread; at < params.n_groups; at += THREADS) {
            let key = ordered(least[row_at + at]);
            // The bits above those of this round.
            if low == 24u || key >> ((low + 8u) % 32u) == known.x >> ((low + 8u) % 32u) {
                atomicAdd(&bins[(key >> low) & 0xffu], 1u);
            }
        }
        workgroupBarrier();
        if thread == 0u {
            var before = known.y;
            var bin = 0u;
            while bin < 255u && atomicLoad(&bins[bin]) < before {
                before -= atomicLoad(&bins[bin]);
                bin += 1u;
            }
            told = vec2(known.x | (bin << low), before);
        }
        workgroupBarrier();
    }
    return unordered(workgroupUniformLoad(&told).x);
}

// The entries that come before this one.
fn rank_of(entry: u32, total: u32) -> u32 {
    let key = keys[entry];
    let index = indices[entry];
    var rank = 0u;
    for (var other = 0u; other < total; other += 1u) {
        if keys[other] < key || (keys[other] == key && indices[other] < index) {
            rank += 1u;
        }
    }
    return rank;
}

// Sorts the list, and keeps its k first. Every thread must come here.
fn settle(total: u32, thread: u32) {
    var kept: array<vec3<u32>, 6>;
    for (var i = 0u; i < 6u; i += 1u) {
        let entry = thread + i * THREADS;
        kept[i] = vec3(NONE);
        if entry < total {
            kept[i] = vec3(rank_of(entry, total), keys[entry], indices[entry]);
        }
    }
    workgroupBarrier();
    for (var i = 0u; i < 6u; i += 1u) {
        if kept[i].x < params.k {
            keys[kept[i].x] = kept[i].y;
            indices[kept[i].x] = kept[i].z;
        }
    }
    if thread == 0u {
        atomicStore(&count, min(total, params.k));
    }
    workgroupBarrier();
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let row = group.x;
    let x_row = params.x_start + row;
    let row_at = row * params.n_groups;
    var square = 0.0;
    for (var k = thread; k < params.n_cols; k += THREADS) {
        let value = x[x_row * params.x_ld + k] - shift[k];
        square += value * value;
    }
    sums[thread] = square;
    if thread == 0u {
        atomicStore(&count, 0u);
        atomicStore(&n_waiting, 0u);
    }
    for (var half = THREADS / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if thread < half {
            sums[thread] += sums[thread + half];
        }
    }
    workgroupBarrier();
    square = sums[0];
    let estimate = kth_least(row_at, thread);
    let d = f32(params.n_cols) + 4.0;
    let reach = square + max(estimate, -square) + 4.0 * d * EPSILON * square;
    let far = sqrt(square) + 1.1 * sqrt(reach);
    let bound = EPSILON * d * (2.0 * sqrt(square) * far + far * far + 2.0 * reach);
    let estimate_limit = estimate + bound;
    // Bits of a sum have its order; what overflows is no limit.
    var limit = select(NONE, bitcast<u32>(reach + bound), reach + bound < LARGEST);
    for (var first = 0u; first < params.n_groups; first += THREADS) {
        let at = first + thread;
        // Not the other way round: what overflows is looked at.
        if at < params.n_groups && !(least[row_at + min(at, params.n_groups - 1u)] > estimate_limit) {
            waiting[atomicAdd(&n_waiting, 1u)] = at;
        }
        workgroupBarrier();
        if thread == 0u {
            told.x = atomicLoad(&n_waiting);
        }
        let n_now = workgroupUniformLoad(&told).x;
        if n_now < ENOUGH && first + THREADS < params.n_groups {
            continue;
        }
        for (var start = 0u; start < n_now * params.per_group; start += THREADS) {
            let pair = start + thread;
            if pair < n_now * params.per_group {
                let other = row_of_group(waiting[pair / params.per_group], pair % params.per_group);
                if other < params.n_refs {
                    let key = bitcast<u32>(direct_sum(x_row, other));
                    if key <= limit {
                        let to = atomicAdd(&count, 1u);
                        keys[to] = key;
                        indices[to] = other;
                    }
                }
            }
            workgroupBarrier();
            if thread == 0u {
                told.y = atomicLoad(&count);
            }
            let total = workgroupUniformLoad(&told).y;
            if total + THREADS > ROOM {
                settle(total, thread);
                limit = min(limit, keys[params.k - 1u]);
            }
        }
        workgroupBarrier();
        if thread == 0u {
            atomicStore(&n_waiting, 0u);
        }
        workgroupBarrier();
    }
    if thread == 0u {
        told.y = atomicLoad(&count);
    }
    let total = workgroupUniformLoad(&told).y;
    settle(total, thread);
    for (var rank = thread; rank < params.k; rank += THREADS) {
        let to = 2u * ((params.split * params.n_queries + params.first_query + row) * params.k + rank);
        let there = rank < total;
        let entry = min(rank, ROOM - 1u);
        parts[to] = select(NONE, keys[entry], there);
        parts[to + 1u] = select(NONE, params.first_index + indices[entry], there);
    }
}
