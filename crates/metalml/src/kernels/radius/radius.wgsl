//! use distance_tile
//! use distance_metric
// Which rows of y are not farther from a row of x than the radius, whose sum is `limit`. `ends` counts on from what it holds; if `fill` is
// not 0, what is counted is also written there: its index, ascending, and its distance.
// One workgroup makes TILE rows, and walks over all rows of y. A bit for each pair of a tile, in workgroup memory, tells a thread how
// many come before its own.

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
    first_index: u32,
    fill: u32,
    limit: f32,
}

const WORDS: u32 = TILE / 32u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> ends: array<u32>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;
@group(0) @binding(5) var<storage, read_write> distances: array<f32>;

var<workgroup> bits: array<atomic<u32>, TILE * WORDS>;
var<workgroup> at: array<u32, TILE>;

fn mark(row: u32, sums: vec4<f32>, col: u32, first: u32) {
    var found = 0u;
    for (var lane = 0u; lane < 4u; lane += 1u) {
        if first + col + lane < params.n_refs && sums[lane] <= params.limit {
            found |= 1u << ((col + lane) % 32u);
        }
    }
    if found != 0u {
        atomicOr(&bits[row * WORDS + col / 32u], found);
    }
}

fn write(row: u32, sums: vec4<f32>, col: u32, first: u32) {
    let word = atomicLoad(&bits[row * WORDS + col / 32u]);
    if (word >> (col % 32u) & 15u) == 0u {
        return;
    }
    var before = at[row];
    for (var other = 0u; other < col / 32u; other += 1u) {
        before += countOneBits(atomicLoad(&bits[row * WORDS + other]));
    }
    for (var lane = 0u; lane < 4u; lane += 1u) {
        let bit = 1u << ((col + lane) % 32u);
        if (word & bit) != 0u {
            let to = before + countOneBits(word & (bit - 1u));
            indices[to] = params.first_index + first + col + lane;
            distances[to] = distance_of(sums[lane]);
        }
    }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first_x = group.x * TILE;
    let place = place_of(thread);
    let query = params.first_query + first_x + thread;
    let mine = thread < TILE && first_x + thread < params.n_rows;
    if thread < TILE {
        at[thread] = 0u;
        if mine {
            at[thread] = ends[query];
        }
    }
    for (var word = thread; word < TILE * WORDS; word += THREADS) {
        atomicStore(&bits[word], 0u);
    }
    for (var first = 0u; first < params.n_refs; first += TILE) {
        var sums = distance_sums(first_x, first, thread);
        for (var i = 0u; i < TILE / SIDE; i += 1u) {
            let row = nth(place.x, i);
            let pairs = row_of(&sums, i);
            mark(row, pairs.a, 4u * place.y, first);
            mark(row, pairs.b, HALF + 4u * place.y, first);
        }
        workgroupBarrier();
        if params.fill != 0u {
            for (var i = 0u; i < TILE / SIDE; i += 1u) {
                let row = nth(place.x, i);
                if first_x + row < params.n_rows {
                    let pairs = row_of(&sums, i);
                    write(row, pairs.a, 4u * place.y, first);
                    write(row, pairs.b, HALF + 4u * place.y, first);
                }
            }
        }
        workgroupBarrier();
        if thread < TILE {
            for (var word = 0u; word < WORDS; word += 1u) {
                at[thread] += countOneBits(atomicExchange(&bits[thread * WORDS + word], 0u));
            }
        }
    }
    if mine {
        ends[query] = at[thread];
    }
}
