//! use distance_tile
//! use distance_product
// For each row of x, the row of y for which |y|² - 2 x·y is least, both less the shift: an estimate of the nearest centre, with its value
// and that of the second best. One workgroup makes TILE rows, and walks over all centres of a block; what earlier blocks gave is taken
// up if `first_centre` is not 0. Every order is fixed.

struct Params {
    n_rows: u32,
    n_cols: u32,
    x_ld: u32,
    y_ld: u32,
    x_start: u32,
    y_start: u32,
    first_row: u32,
    n_refs: u32,
    first_centre: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read> shift: array<f32>;
@group(0) @binding(4) var<storage, read> norms: array<f32>;
@group(0) @binding(5) var<storage, read_write> candidates: array<u32>;
@group(0) @binding(6) var<storage, read_write> least: array<vec2<f32>>;

const LARGEST: f32 = 3.4028234e38;

struct Least {
    value: f32,
    second: f32,
    index: u32,
}

var<workgroup> indices: array<u32, THREADS>;

fn norms_from(first: u32) -> vec4<f32> {
    var found = vec4(LARGEST);
    for (var lane = 0u; lane < 4u; lane += 1u) {
        if first + lane < params.n_refs {
            found[lane] = norms[params.first_centre + first + lane];
        }
    }
    return found;
}

fn take_one(least: Least, value: f32, index: u32) -> Least {
    if value < least.value {
        return Least(value, least.value, index);
    }
    return Least(least.value, min(least.second, value), least.index);
}

fn take(least: Least, a: vec4<f32>, b: vec4<f32>, norms_a: vec4<f32>, norms_b: vec4<f32>, at: u32) -> Least {
    var next = least;
    let near = norms_a - 2.0 * a;
    let far = norms_b - 2.0 * b;
    next = take_one(next, near.x, at);
    next = take_one(next, near.y, at + 1u);
    next = take_one(next, near.z, at + 2u);
    next = take_one(next, near.w, at + 3u);
    next = take_one(next, far.x, at + HALF);
    next = take_one(next, far.y, at + HALF + 1u);
    next = take_one(next, far.z, at + HALF + 2u);
    return take_one(next, far.w, at + HALF + 3u);
}

fn merge(a: Least, b: Least) -> Least {
    if b.value < a.value || (b.value == a.value && b.index < a.index) {
        return Least(b.value, min(b.second, a.value), b.index);
    }
    return Least(a.value, min(a.second, b.value), a.index);
}

// The i-th rows of all threads, from those that share each.
fn give(mine: Least, i: u32, first: u32, place: vec2<u32>) {
    workgroupBarrier();
    let at = place.x * SIDE + place.y;
    slabs[at] = vec4(mine.value, mine.second, 0.0, 0.0);
    indices[at] = mine.index;
    workgroupBarrier();
    let row = first + nth(place.x, i);
    if place.y != 0u || row >= params.n_rows {
        return;
    }
    var all = mine;
    for (var other = 1u; other < SIDE; other += 1u) {
        let pair = slabs[at + other];
        all = merge(all, Least(pair.x, pair.y, indices[at + other]));
    }
    all.index += params.first_centre;
    let to = params.first_row + row;
    if params.first_centre > 0u {
        all = merge(Least(least[to].x, least[to].y, candidates[to]), all);
    }
    least[to] = vec2(all.value, all.second);
    candidates[to] = all.index;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let place = place_of(thread);
    var least0 = Least(LARGEST, LARGEST, 0u);
    var least1 = Least(LARGEST, LARGEST, 0u);
    var least2 = Least(LARGEST, LARGEST, 0u);
    var least3 = Least(LARGEST, LARGEST, 0u);
    var least4 = Least(LARGEST, LARGEST, 0u);
    var least5 = Least(LARGEST, LARGEST, 0u);
    var least6 = Least(LARGEST, LARGEST, 0u);
    var least7 = Least(LARGEST, LARGEST, 0u);
    for (var first = 0u; first < params.n_refs; first += TILE) {
        var sums = tile_sums(group.x * TILE, first, params.n_cols, thread);
        let norms_a = norms_from(first + 4u * place.y);
        let norms_b = norms_from(first + HALF + 4u * place.y);
        least0 = take(least0, sums.a0, sums.b0, norms_a, norms_b, first + 4u * place.y);
        least1 = take(least1, sums.a1, sums.b1, norms_a, norms_b, first + 4u * place.y);
        least2 = take(least2, sums.a2, sums.b2, norms_a, norms_b, first + 4u * place.y);
        least3 = take(least3, sums.a3, sums.b3, norms_a, norms_b, first + 4u * place.y);
        least4 = take(least4, sums.a4, sums.b4, norms_a, norms_b, first + 4u * place.y);
        least5 = take(least5, sums.a5, sums.b5, norms_a, norms_b, first + 4u * place.y);
        least6 = take(least6, sums.a6, sums.b6, norms_a, norms_b, first + 4u * place.y);
        least7 = take(least7, sums.a7, sums.b7, norms_a, norms_b, first + 4u * place.y);
    }
    give(least0, 0u, group.x * TILE, place);
    give(least1, 1u, group.x * TILE, place);
    give(least2, 2u, group.x * TILE, place);
    give(least3, 3u, group.x * TILE, place);
    give(least4, 4u, group.x * TILE, place);
    give(least5, 5u, group.x * TILE, place);
    give(least6, 6u, group.x * TILE, place);
    give(least7, 7u, group.x * TILE, place);
}
