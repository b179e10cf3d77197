//! use distance_tile
//! use distance_metric
//! use nearest_lists
// For each row of x the k rows of a split of y that are nearest, nearest first, of equal ones the lowest index first.
// A workgroup makes TILE rows of one split (group y).
// lists: [group][row of the tile][two halves][capacity], parts: [split][query][k]; each entry the sum's bits, and the index.
// An entry that a split has not is all ones.

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

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> lists: array<u32>;
@group(0) @binding(4) var<storage, read_write> parts: array<u32>;

fn offer(base: u32, row: u32, sums: vec4<f32>, first: u32, end: u32) {
    for (var lane = 0u; lane < 4u; lane += 1u) {
        let key = bitcast<u32>(sums[lane]);
        if first + lane < end {
            join(base, row, key, first + lane);
        }
    }
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
    empty_lists(thread);
    for (var first = start; first < end; first += TILE) {
        var sums = distance_sums(first_x, first, thread);
        for (var i = 0u; i < TILE / SIDE; i += 1u) {
            let row = nth(place.x, i);
            let mine = row_of(&sums, i);
            offer(base, row, mine.a, first + 4u * place.y, end);
            offer(base, row, mine.b, first + HALF + 4u * place.y, end);
        }
        workgroupBarrier();
        _ = settle_full(base, thread);
    }
    give_lists(base, first_x, group.y, thread);
}
