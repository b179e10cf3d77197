//! use two_float
//! use two_float4
// Per column of a row-major x, over one split of its rows, with d = (x - shift) unit and NaN skipped: Σ w, Σ w d, Σ w d², count
// as (hi, lo) pairs, and the least and greatest x. unit is a power of two.
// x is read as vectors of four: where a row is not whole vectors (ld < 4), several rows make one wide row, and its columns end in
// parts of their own. `across` threads take the vectors of a row, `lanes` threads a column take rows in turn, then a tree adds them in fixed order.
// A run of RUN rows without weights, NaN or outliers goes a short way: its sums start at a bias so large that what an addition
// rounds away is known by one subtraction. Any other run goes value by value.
// shift, unit: of the wide row, shift in units: a coarse number, so that d or what is lost of it is exact; sums: [part][weight, first, second, count][n_cols]; range: [part][least, greatest][n_cols].

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
// A run of values up to FAR in size keeps each sum between half its bias and twice it.
const FAR: f32 = 16.0;
const FIRST_BIAS: f32 = 512.0;
const SECOND_BIAS: f32 = 1024.0;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x4: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read> shift: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> unit: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> sums: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> range: array<f32>;

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

// Two pairs a thread.
var<workgroup> shared_pairs: array<array<vec4<f32>, 4>, THREADS>;

fn is_nan(value: f32) -> bool {
    return (bitcast<u32>(value) & 0x7fffffffu) > 0x7f800000u;
}

// The values of one wide row, with their weights, where they are there and not NaN.
fn take(lane: Lane, row: u32, vector: u32) -> Lane {
    var next = lane;
    var value = vec4<f32>();
    var scaled = shift[vector];
    var weight = vec4<f32>();
    var there = vec4<bool>();
    for (var i = 0u; i < 4u; i += 1u) {
        let at = (row * params.vectors + vector) * 4u + i;
        if at < params.n_values && !is_nan(x[at]) {
            value[i] = x[at];
            scaled[i] = x[at] * unit[vector][i];
            there[i] = true;
            weight[i] = 1.0;
            if params.weighted != 0u {
                weight[i] = weights[at / params.ld];
            }
        }
    }
    let near = two_sum4(scaled, -shift[vector]);
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

// RUN rows, each `step` vectors after the one before; not taken if there is an outlier or a NaN among those that are `real`.
fn take_run(lane: Lane, first_at: u32, step: u32, near_shift: vec4<f32>, to_unit: vec4<f32>, real: vec4<bool>) -> Run {
    var values: array<vec4<f32>, RUN>;
    for (var i = 0u; i < RUN; i += 1u) {
        values[i] = x4[first_at + i * step];
    }
    var least = values[0];
    var greatest = values[0];
    var first = vec4(FIRST_BIAS);
    var second = vec4(SECOND_BIAS);
    var first_rest = vec4<f32>();
    var second_rest = vec4<f32>();
    var cross_rest = vec4<f32>();
    for (var i = 0u; i < RUN; i += 1u) {
        least = min(least, values[i]);
        greatest = max(greatest, values[i]);
        // Either d is exact, or what it lost is.
        let d = keep4(values[i] * to_unit - near_shift);
        let lost = values[i] * to_unit - keep4(d + near_shift);
        let next_first = keep4(first + d);
        first_rest += (d - keep4(next_first - first)) + lost;
        first = next_first;
        let head = head4(d);
        let tail = d - head;
        let square = head * head;
        let next_second = keep4(second + square);
        second_rest += (square - keep4(next_second - second)) + (d + head) * tail;
        second = next_second;
        cross_rest += d * lost;
    }
    // Bits, since NaN is not to be compared; the sum of squares is not negative.
    if any(real & (bitcast<vec4<u32>>(second) > vec4(bitcast<u32>(SECOND_BIAS + FAR * FAR)))) {
        return Run(lane, false);
    }
    var next = lane;
    next.count = lane.count + vec4(f32(RUN));
    next.least = min(lane.least, least);
    next.greatest = max(lane.greatest, greatest);
    next.first = add_float4(lane.first, keep4(first - FIRST_BIAS));
    next.first.lo = keep4(next.first.lo + first_rest);
    next.second = add_float4(lane.second, keep4(second - SECOND_BIAS));
    next.second.lo = keep4(next.second.lo + keep4(second_rest + 2.0 * cross_rest));
    return Run(next, true);
}

// Adds the pairs of all lanes of a column, in fixed order; right in lane 0.
fn add_lanes(a: Pair4, b: Pair4, lane: u32, lanes: u32, thread: u32) {
    workgroupBarrier();
    shared_pairs[thread] = array(a.hi, a.lo, b.hi, b.lo);
    var left = lanes;
    while left > 1u {
        let half = (left + 1u) / 2u;
        workgroupBarrier();
        if lane + half < left {
            let mine = shared_pairs[thread];
            let other = shared_pairs[thread + half * params.across];
            let p = add_pair4(Pair4(mine[0], mine[1]), Pair4(other[0], other[1]));
            let q = add_pair4(Pair4(mine[2], mine[3]), Pair4(other[2], other[3]));
            shared_pairs[thread] = array(p.hi, p.lo, q.hi, q.lo);
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
        let to_unit = unit[vector];
        let near_shift = shift[vector];
        let real = (4u * vector + vec4(0u, 1u, 2u, 3u)) % params.ld < vec4(params.n_cols);
        var row = group.y * params.rows_per_split + lane;
        while row < end {
            var taken = false;
            if params.weighted == 0u && row + (RUN - 1u) * lanes < whole_end {
                let run = take_run(sum, row * params.vectors + vector, lanes * params.vectors, near_shift, to_unit, real);
                sum = run.lane;
                taken = run.taken;
            }
            for (var i = 0u; i < RUN && !taken; i += 1u) {
                if row + i * lanes < end {
                    sum = take(sum, row + i * lanes, vector);
                }
            }
            row += RUN * lanes;
        }
    }
    if params.weighted == 0u {
        sum.weight = Pair4(sum.count, vec4<f32>());
    }
    add_lanes(sum.first, sum.second, lane, lanes, thread);
    let moments = shared_pairs[thread];
    add_lanes(sum.weight, Pair4(sum.count, vec4<f32>()), lane, lanes, thread);
    let counts = shared_pairs[thread];
    workgroupBarrier();
    shared_pairs[thread] = array(sum.least, sum.greatest, vec4<f32>(), vec4<f32>());
    workgroupBarrier();
    if lane != 0u || !busy {
        return;
    }
    for (var other = 1u; other < lanes; other += 1u) {
        let theirs = shared_pairs[thread + other * params.across];
        sum.least = min(sum.least, theirs[0]);
        sum.greatest = max(sum.greatest, theirs[1]);
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
