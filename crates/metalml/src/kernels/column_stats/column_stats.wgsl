//! use two_float
//! use two_float4
// Per column of a row-major x, over one split of its rows, with d = (x - shift) unit and NaN skipped: Σ w, Σ w d, Σ w d², count
// as (hi, lo) pairs, and the least and greatest x. unit is a power of two.
// x is read as vectors of four: where a row is not whole vectors (ld < 4), several rows make one wide row, and its columns end in
// parts of their own. `across` threads take the vectors of a row, `lanes` threads a column take rows in turn, then a tree adds them in fixed order.
// A run of RUN rows without weights, NaN or outliers goes a short way: d is cut in a head of few bits after the point, whose sums and sums
// of squares are exact, and a small tail. Any other run goes value by value.
// frame: [shift, unit][column of the wide row], shift in units, a coarse number;
// sums: [part][weight, first, second, count][n_cols]; range: [part][least, greatest][n_cols].

struct Params {
    n_values: u32,
    n_cols: u32,
    ld: u32,
    vectors: u32,
    rows_per_split: u32,
    first_part: u32,
    weighted: u32,
    across: u32,
    zero: u32,
}

const THREADS: u32 = 256u;
const RUN: u32 = 8u;
const LARGEST: f32 = 3.4028234e38;
// Floats about CUT are multiples of 1/512: a sum of squares of such numbers is exact up to MOST.
const CUT: f32 = 24576.0;
const MOST: f32 = 64.0;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read> frame: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> sums: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> range: array<f32>;

struct Lane {
    weight: Pair4,
    first: Pair4,
    second: Pair4,
    count: vec4<f32>,
    least: vec4<f32>,
    greatest: vec4<f32>,
}

struct Run {
    lane: Lane,
    taken: bool,
}

// Two pairs a thread: all of the first's hi, and so on.
var<workgroup> pairs: array<array<vec4<f32>, THREADS>, 4>;

fn is_nan(value: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(value) & vec4(0x7fffffffu)) > vec4(0x7f800000u);
}

// The values of one wide row, with their weights, where they are there and not NaN.
fn take(lane: Lane, row: u32, vector: u32) -> Lane {
    var next = lane;
    let at = row * params.vectors + vector;
    let found = x[at];
    let numbers = 4u * at + vec4(0u, 1u, 2u, 3u);
    let there = (numbers < vec4(params.n_values)) & !is_nan(found);
    var weight = vec4(1.0);
    if params.weighted != 0u {
        let rows = min(numbers, vec4(params.n_values - 1u)) / params.ld;
        weight = vec4(weights[rows.x], weights[rows.y], weights[rows.z], weights[rows.w]);
    }
    weight = select(vec4<f32>(), weight, there);
    let value = select(vec4<f32>(), found, there);
    let scaled = select(frame[vector], found * frame[params.vectors + vector], there);
    let near = two_sum4(scaled, -frame[vector]);
    next.weight = add_float4(lane.weight, weight);
    next.count = lane.count + select(vec4<f32>(), vec4(1.0), there);
    next.least = select(lane.least, min(lane.least, value), there);
    next.greatest = select(lane.greatest, max(lane.greatest, value), there);
    let first = two_product4(weight, near.hi);
    next.first = add_float4(lane.first, first.hi);
    next.first.lo = keep4(next.first.lo + keep4(first.lo + keep4(weight * near.lo)));
    let second = two_product4(first.hi, near.hi);
    let rest = keep4(keep4(first.lo * near.hi) + keep4(2.0 * keep4(first.hi * near.lo)));
    next.second = add_float4(lane.second, second.hi);
    next.second.lo = keep4(next.second.lo + keep4(second.lo + rest));
    return next;
}

// Up to RUN rows, each `step` vectors after the one before; not taken if there is an outlier or a NaN among those that are `real`.
fn take_run(lane: Lane, n_rows: u32, first_at: u32, step: u32, shift: vec4<f32>, unit: vec4<f32>, real: vec4<bool>) -> Run {
    var values: array<vec4<f32>, RUN>;
    for (var i = 0u; i < RUN; i += 1u) {
        // Past the last row the first comes again, and does not count.
        values[i] = x[first_at + select(0u, i * step, i < n_rows)];
    }
    var least = values[0];
    var greatest = values[0];
    let cut = CUT - shift;
    var heads = vec4<f32>();
    var tails = vec4<f32>();
    var squares = vec4<f32>();
    var rest = vec4<f32>();
    for (var i = 0u; i < RUN; i += 1u) {
        least = min(least, values[i]);
        greatest = max(greatest, values[i]);
        let above = keep4(values[i] * unit + cut);
        let counts = select(0.0, 1.0, i < n_rows);
        let head = (above - CUT) * counts;
        let tail = (values[i] * unit - keep4(above - cut)) * counts;
        heads += head;
        tails += tail;
        squares += head * head;
        rest += (2.0 * head + tail) * tail;
    }
    // Bits, since NaN is not to be compared; a sum of squares is not negative.
    if any(real & (bitcast<vec4<u32>>(keep4(squares)) > vec4(bitcast<u32>(MOST)))) {
        return Run(lane, false);
    }
    var next = lane;
    next.count = lane.count + vec4(f32(n_rows));
    next.least = min(lane.least, least);
    next.greatest = max(lane.greatest, greatest);
    next.first = add_float4(lane.first, heads);
    next.first.lo = keep4(next.first.lo + tails);
    next.second = add_float4(lane.second, squares);
    next.second.lo = keep4(next.second.lo + rest);
    return Run(next, true);
}

fn put(thread: u32, a: Pair4, b: Pair4) {
    pairs[0][thread] = a.hi;
    pairs[1][thread] = a.lo;
    pairs[2][thread] = b.hi;
    pairs[3][thread] = b.lo;
}

// Adds the pairs of all lanes of a column, in fixed order; right in lane 0.
fn add_lanes(a: Pair4, b: Pair4, lane: u32, lanes: u32, thread: u32) {
    workgroupBarrier();
    put(thread, a, b);
    var left = lanes;
    while left > 1u {
        let half = (left + 1u) / 2u;
        workgroupBarrier();
        if lane + half < left {
            let other = thread + half * params.across;
            let p = add_pair4(Pair4(pairs[0][thread], pairs[1][thread]), Pair4(pairs[0][other], pairs[1][other]));
            let q = add_pair4(Pair4(pairs[2][thread], pairs[3][thread]), Pair4(pairs[2][other], pairs[3][other]));
            put(thread, p, q);
        }
        left = half;
    }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let lanes = THREADS / params.across;
    let lane = thread / params.across;
    let vector = group.x * params.across + thread % params.across;
    let busy = lane < lanes && vector < params.vectors;
    let n_rows = (params.n_values + 4u * params.vectors - 1u) / (4u * params.vectors);
    let end = min((group.y + 1u) * params.rows_per_split, n_rows);
    let whole_end = min(end, params.n_values / (4u * params.vectors));
    let none = Pair4(vec4<f32>(), vec4<f32>());
    var sum = Lane(none, none, none, vec4<f32>(), vec4(LARGEST), vec4(-LARGEST));
    if busy {
        let shift = frame[vector];
        let unit = frame[params.vectors + vector];
        let real = (4u * vector + vec4(0u, 1u, 2u, 3u)) % params.ld < vec4(params.n_cols);
        for (var row = group.y * params.rows_per_split + lane; row < end; row += RUN * lanes) {
            let n_run = min((end - row + lanes - 1u) / lanes, RUN);
            var taken = false;
            if params.weighted == 0u && row + (n_run - 1u) * lanes < whole_end {
                let run = take_run(sum, n_run, row * params.vectors + vector, lanes * params.vectors, shift, unit, real);
                sum = run.lane;
                taken = run.taken;
            }
            for (var i = 0u; i < n_run && !taken; i += 1u) {
                sum = take(sum, row + i * lanes, vector);
            }
        }
    }
    if params.weighted == 0u {
        sum.weight = Pair4(sum.count, vec4<f32>());
    }
    add_lanes(sum.first, sum.second, lane, lanes, thread);
    let moments = array(pairs[0][thread], pairs[1][thread], pairs[2][thread], pairs[3][thread]);
    add_lanes(sum.weight, Pair4(sum.count, vec4<f32>()), lane, lanes, thread);
    let counts = array(pairs[0][thread], pairs[1][thread], pairs[2][thread], pairs[3][thread]);
    workgroupBarrier();
    pairs[0][thread] = sum.least;
    pairs[1][thread] = sum.greatest;
    workgroupBarrier();
    if lane != 0u || !busy {
        return;
    }
    for (var other = 1u; other < lanes; other += 1u) {
        sum.least = min(sum.least, pairs[0][thread + other * params.across]);
        sum.greatest = max(sum.greatest, pairs[1][thread + other * params.across]);
    }
    let n_cols = params.n_cols;
    for (var i = 0u; i < 4u; i += 1u) {
        let col = 4u * vector + i;
        if col % params.ld < n_cols {
            // A wide row holds each column several times over.
            let copies = (4u * params.vectors) / params.ld;
            let part = params.first_part + group.y * copies + col / params.ld;
            let base = part * 4u * n_cols + col % params.ld;
            sums[base] = vec2(counts[0][i], counts[1][i]);
            sums[base + n_cols] = vec2(moments[0][i], moments[1][i]);
            sums[base + 2u * n_cols] = vec2(moments[2][i], moments[3][i]);
            sums[base + 3u * n_cols] = vec2(counts[2][i], counts[3][i]);
            range[part * 2u * n_cols + col % params.ld] = sum.least[i];
            range[(part * 2u + 1u) * n_cols + col % params.ld] = sum.greatest[i];
        }
    }
}
