//! use two_float
//! use distance_tile
//! use distance_metric
// Σ_j weights[j] K(distance(x_i, y_j) / h) over a split of y, as (exponent, hi, lo): e to the exponent, times hi + lo. The exponent follows
// the greatest term if `start` is far below all, and is 0 if `start` is 0.
// A workgroup makes TILE rows of a split (group y); a thread sums eight terms in float32, all else in two floats and in fixed order.
// parts: [split][query][exponent, hi, lo].

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
    refs_per_split: u32,
    first_split: u32,
    weighted: u32,
    kernel: u32,
    inverse: f32,
    limit: f32,
    start: f32,
    zero: u32,
}

const GAUSSIAN: u32 = 0u;
const TOPHAT: u32 = 1u;
const EPANECHNIKOV: u32 = 2u;
const EXPONENTIAL: u32 = 3u;
const LINEAR: u32 = 4u;
const HALF_PI: f32 = 1.5707964;
const LEAST: f32 = -3.4028234e38;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read_write> parts: array<f32>;

// The exponent of a term, and its factor: one of them says all, the other is 0 or 1.
fn term_of(sum: f32) -> vec2<f32> {
    let u = distance_of(sum) * params.inverse;
    switch params.kernel {
        case GAUSSIAN: {
            if params.metric == EUCLIDEAN {
                return vec2(-0.5 * (sum * params.inverse) * params.inverse, 1.0);
            }
            return vec2(-0.5 * u * u, 1.0);
        }
        case EXPONENTIAL: { return vec2(-u, 1.0); }
        default: {}
    }
    if sum >= params.limit {
        return vec2(0.0);
    }
    switch params.kernel {
        case TOPHAT: { return vec2(0.0, 1.0); }
        case EPANECHNIKOV: { return vec2(0.0, (1.0 - u) * (1.0 + u)); }
        case LINEAR: { return vec2(0.0, 1.0 - u); }
        default: { return vec2(0.0, max(sin(HALF_PI * (1.0 - u)), 0.0)); }
    }
}

fn weights_from(first: u32, end: u32) -> vec4<f32> {
    var found = vec4<f32>();
    for (var lane = 0u; lane < 4u; lane += 1u) {
        if first + lane < end {
            found[lane] = 1.0;
            if params.weighted != 0u {
                found[lane] = weights[first + lane];
            }
        }
    }
    return found;
}

fn merge(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    let most = max(a.x, b.x);
    return vec3(most, add_pair(a.yz * exp(a.x - most), b.yz * exp(b.x - most)));
}

fn take_four(mass: vec3<f32>, sums: vec4<f32>, by: vec4<f32>) -> vec3<f32> {
    var exponents = vec4<f32>();
    var factors = vec4<f32>();
    for (var lane = 0u; lane < 4u; lane += 1u) {
        let term = term_of(sums[lane]);
        exponents[lane] = select(LEAST, term.x, by[lane] != 0.0);
        factors[lane] = term.y * by[lane];
    }
    var most = mass.x;
    if params.start < 0.0 {
        most = max(most, max(max(exponents.x, exponents.y), max(exponents.z, exponents.w)));
    }
    let terms = factors * exp(exponents - most);
    let sum = (terms.x + terms.y) + (terms.z + terms.w);
    return vec3(most, add_float(mass.yz * exp(mass.x - most), sum));
}

fn take(mass: vec3<f32>, pairs: Row, weights_a: vec4<f32>, weights_b: vec4<f32>) -> vec3<f32> {
    return take_four(take_four(mass, pairs.a, weights_a), pairs.b, weights_b);
}

// The i-th rows of all threads, from those that share each.
fn give(mine: vec3<f32>, i: u32, group: vec3<u32>, place: vec2<u32>) {
    workgroupBarrier();
    let at = place.x * SIDE + place.y;
    slabs[at] = vec4(mine, 0.0);
    workgroupBarrier();
    let row = group.x * TILE + nth(place.x, i);
    if place.y != 0u || row >= params.n_rows {
        return;
    }
    var all = mine;
    for (var other = 1u; other < SIDE; other += 1u) {
        all = merge(all, slabs[at + other].xyz);
    }
    let to = 3u * ((params.first_split + group.y) * params.n_queries + params.first_query + row);
    parts[to] = all.x;
    parts[to + 1u] = all.y;
    parts[to + 2u] = all.z;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let place = place_of(thread);
    let start = group.y * params.refs_per_split;
    let end = min(start + params.refs_per_split, params.n_refs);
    var mass0 = vec3(params.start, 0.0, 0.0);
    var mass1 = vec3(params.start, 0.0, 0.0);
    var mass2 = vec3(params.start, 0.0, 0.0);
    var mass3 = vec3(params.start, 0.0, 0.0);
    var mass4 = vec3(params.start, 0.0, 0.0);
    var mass5 = vec3(params.start, 0.0, 0.0);
    var mass6 = vec3(params.start, 0.0, 0.0);
    var mass7 = vec3(params.start, 0.0, 0.0);
    for (var first = start; first < end; first += TILE) {
        var sums = distance_sums(group.x * TILE, first, thread);
        let weights_a = weights_from(first + 4u * place.y, end);
        let weights_b = weights_from(first + HALF + 4u * place.y, end);
        mass0 = take(mass0, Row(sums.a0, sums.b0), weights_a, weights_b);
        mass1 = take(mass1, Row(sums.a1, sums.b1), weights_a, weights_b);
        mass2 = take(mass2, Row(sums.a2, sums.b2), weights_a, weights_b);
        mass3 = take(mass3, Row(sums.a3, sums.b3), weights_a, weights_b);
        mass4 = take(mass4, Row(sums.a4, sums.b4), weights_a, weights_b);
        mass5 = take(mass5, Row(sums.a5, sums.b5), weights_a, weights_b);
        mass6 = take(mass6, Row(sums.a6, sums.b6), weights_a, weights_b);
        mass7 = take(mass7, Row(sums.a7, sums.b7), weights_a, weights_b);
    }
    give(mass0, 0u, group, place);
    give(mass1, 1u, group, place);
    give(mass2, 2u, group, place);
    give(mass3, 3u, group, place);
    give(mass4, 4u, group, place);
    give(mass5, 5u, group, place);
    give(mass6, 6u, group, place);
    give(mass7, 7u, group, place);
}
