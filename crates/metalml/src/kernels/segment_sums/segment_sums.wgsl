//! use two_float
//! use two_float4
// For each segment, over one part of its rows as `order` has them: Σ w, Σ w d and, if asked for, Σ w d² for each column, d = x - shift,
// as (hi, lo) pairs. `across` threads take the vectors of a row, `lanes` threads a column take rows in turn, then a tree adds them
// in fixed order. sums: [part][segment][Σ w, Σ w d of all columns, Σ w d² of all columns]

struct Params {
    n_cols: u32,
    ld: u32,
    n_segments: u32,
    n_parts: u32,
    first_part: u32,
    across: u32,
    weighted: u32,
    squares: u32,
    zero: u32,
}

const THREADS: u32 = 256u;
const AT_ONCE: u32 = 4u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> x4: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read> shift: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> order: array<u32>;
@group(0) @binding(6) var<storage, read> starts: array<u32>;
@group(0) @binding(7) var<storage, read_write> sums: array<vec2<f32>>;

// Two pairs a thread: all of the first's hi, and so on.
var<workgroup> pairs: array<array<vec4<f32>, THREADS>, 4>;

fn load(row: u32, vector: u32) -> vec4<f32> {
    if params.ld % 4u == 0u {
        return x4[row * (params.ld / 4u) + vector];
    }
    let at = row * params.ld;
    let last = params.n_cols - 1u;
    return vec4(x[at], x[at + min(1u, last)], x[at + min(2u, last)], 0.0);
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
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let vectors = (params.n_cols + 3u) / 4u;
    let lanes = THREADS / params.across;
    let lane = thread / params.across;
    let vector = group.x * params.across + thread % params.across;
    let busy = lane < lanes && vector < vectors;
    let width = 1u + params.n_cols * (1u + params.squares);
    let none = Pair4(vec4<f32>(), vec4<f32>());
    for (var segment = group.z; segment < params.n_segments; segment += groups.z) {
        let len = (starts[segment + 1u] - starts[segment] + params.n_parts - 1u) / params.n_parts;
        let start = starts[segment] + group.y * len;
        let end = min(start + len, starts[segment + 1u]);
        var weight_sum = vec2<f32>();
        var first = none;
        var second = none;
        if busy {
            for (var row = start + lane; row < end; row += AT_ONCE * lanes) {
                var values: array<vec4<f32>, AT_ONCE>;
                var of_row: array<f32, AT_ONCE>;
                for (var i = 0u; i < AT_ONCE; i += 1u) {
                    // Past the last row the first comes again, without weight.
                    let there = row + i * lanes < end;
                    let place = order[select(row, row + i * lanes, there)];
                    values[i] = load(place, vector);
                    of_row[i] = select(0.0, 1.0, there);
                    if params.weighted != 0u {
                        of_row[i] *= weights[place];
                    }
                }
                for (var i = 0u; i < AT_ONCE; i += 1u) {
                    weight_sum = add_float(weight_sum, of_row[i]);
                    let d = two_sum4(values[i], -shift[vector]);
                    let p = two_product4(vec4(of_row[i]), d.hi);
                    let p_rest = keep4(p.lo + keep4(of_row[i] * d.lo));
                    first = add_float4(first, p.hi);
                    first.lo = keep4(first.lo + p_rest);
                    if params.squares != 0u {
                        let q = two_product4(p.hi, d.hi);
                        second = add_float4(second, q.hi);
                        second.lo = keep4(second.lo + keep4(q.lo + keep4(keep4(p_rest * d.hi) + keep4(p.hi * d.lo))));
                    }
                }
            }
        }
        add_lanes(first, second, lane, lanes, thread);
        let moments = array(pairs[0][thread], pairs[1][thread], pairs[2][thread], pairs[3][thread]);
        add_lanes(Pair4(vec4(weight_sum.x), vec4(weight_sum.y)), none, lane, lanes, thread);
        let row_at = ((params.first_part + group.y) * params.n_segments + segment) * width;
        if lane == 0u && busy {
            if vector == 0u {
                sums[row_at] = vec2(pairs[0][thread].x, pairs[1][thread].x);
            }
            for (var i = 0u; i < 4u; i += 1u) {
                let col = 4u * vector + i;
                if col < params.n_cols {
                    sums[row_at + 1u + col] = vec2(moments[0][i], moments[1][i]);
                    if params.squares != 0u {
                        sums[row_at + 1u + params.n_cols + col] = vec2(moments[2][i], moments[3][i]);
                    }
                }
            }
        }
    }
}
