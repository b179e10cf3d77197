//! use distance_tile
//! use distance_product
//! use nearest_lists
// The k nearest rows of a split of y for each row of x by the Euclidean distance of long rows: as `neighbours.wgsl`, but a distance is
// estimated by a product first, and summed directly only if it may be below the row's limit. For the bound see `nearest_exact.wgsl`.

struct Params {
    n_rows: u32,
    n_refs: u32,
    n_cols: u32,
    x_ld: u32,
    y_ld: u32,
    x_start: u32,
    y_start: u32,
    first_query: u32,
    n_queries: u32,
    first_index: u32,
    refs_per_split: u32,
    first_split: u32,
    k: u32,
    capacity: u32,
}

const EPSILON: f32 = 1.1920929e-7;
const LARGEST: f32 = 3.4028234e38;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read> shift: array<f32>;
@group(0) @binding(4) var<storage, read_write> lists: array<u32>;
@group(0) @binding(5) var<storage, read_write> parts: array<u32>;

// Squared lengths less the shift: those of the rows of x, and of the tile of y by halves of their columns.
var<workgroup> squares: array<f32, TILE>;
var<workgroup> halves_of_y: array<f32, THREADS>;
// Estimates above these are of no use.
var<workgroup> thresholds: array<f32, TILE>;

fn threshold_of(row: u32) -> f32 {
    if limits[row] == NONE {
        return LARGEST;
    }
    let square = squares[row];
    let reach = bitcast<f32>(limits[row]);
    let near = sqrt(square);
    let far = near + 1.1 * sqrt(reach);
    let bound = EPSILON * (f32(params.n_cols) + 6.0) * (2.0 * near * far + far * far + square + 2.0 * reach);
    return reach - square + bound;
}

// The sum of every second four of the squares of a row of y.
fn half_square(row: u32, first: u32) -> f32 {
    var sum = 0.0;
    for (var k = first; k < params.n_cols; k += 8u) {
        let values = y_four(row, k);
        sum += dot(values, values);
    }
    return sum;
}

fn direct_sum(x_row: u32, y_row: u32) -> f32 {
    let x_from = (params.x_start + x_row) * params.x_ld;
    let y_from = (params.y_start + y_row) * params.y_ld;
    var sum = 0.0;
    for (var k = 0u; k < params.n_cols; k += 1u) {
        let apart = x[x_from + k] - y[y_from + k];
        sum += apart * apart;
    }
    return sum;
}

fn offer(base: u32, first_x: u32, row: u32, products: vec4<f32>, first: u32, col: u32, end: u32) {
    for (var lane = 0u; lane < 4u; lane += 1u) {
        let other = col + lane;
        let estimate = halves_of_y[2u * other] + halves_of_y[2u * other + 1u] - 2.0 * products[lane];
        // Not the other way round: what overflows is looked at.
        if first + other < end && first_x + row < params.n_rows && !(estimate > thresholds[row]) {
            join(base, row, bitcast<u32>(direct_sum(first_x + row, first + other)), first + other);
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
    if thread < TILE {
        var square = 0.0;
        for (var k = 0u; k < params.n_cols; k += 1u) {
            let value = x_at(first_x + thread, k);
            square += value * value;
        }
        squares[thread] = square;
        thresholds[thread] = LARGEST;
    }
    empty_lists(thread);
    for (var first = start; first < end; first += TILE) {
        halves_of_y[thread] = half_square(first + thread / 2u, thread % 2u * 4u);
        var sums = tile_sums(first_x, first, params.n_cols, thread);
        for (var i = 0u; i < TILE / SIDE; i += 1u) {
            let row = nth(place.x, i);
            let mine = row_of(&sums, i);
            offer(base, first_x, row, mine.a, first, 4u * place.y, end);
            offer(base, first_x, row, mine.b, first, HALF + 4u * place.y, end);
        }
        workgroupBarrier();
        if settle_full(base, thread) && thread < TILE {
            thresholds[thread] = threshold_of(thread);
        }
    }
    give_lists(base, first_x, group.y, thread);
}
