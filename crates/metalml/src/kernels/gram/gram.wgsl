//! use two_float4
// Products over one split of the rows: with z = [x | y], each padded to whole vectors of four, and c = sqrt(w) (z unit - shift), the shift in units,
// sums of c_i c_j for one pair of panels of z (`vectors` vectors each, left <= right), panels that hold none of x excepted.
// Slabs of rows pass through two halves of workgroup memory: while one is multiplied, the next is on its way. A thread makes eight by
// eight sums: vectors r and r + h of the left panel with c and c + h of the right, h = vectors / 2, r <= c where the panels are the same
// one: so each pair of vectors meets, and neighbours read neighbouring vectors. Where there is one panel only, `lanes` threads share a
// task, each with its own DEPTH rows of a slab. Every `rows_per_flush` rows the sums are added to pairs of floats that belong to the thread;
// at the end a tree adds up those of the lanes. All in fixed order: equal bits each time.
// frame: [shift, unit][column of z]; partials: [split][lane][pair][vector of the 8 x 8][hi, lo][task]; lane 0 has the sum.

struct Params {
    n_rows: u32,
    x_cols: u32,
    x_ld: u32,
    y_cols: u32,
    y_ld: u32,
    rows_per_split: u32,
    rows_per_flush: u32,
    vectors: u32,
    stride: u32,
    n_panels: u32,
    first_pair: u32,
    n_pairs: u32,
    tasks: u32,
    lanes: u32,
    add: u32,
    weighted: u32,
    zero: u32,
}

const THREADS: u32 = 256u;
const DEPTH: u32 = 8u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x4: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> y: array<f32>;
@group(0) @binding(4) var<storage, read> frame: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> weights: array<f32>;
@group(0) @binding(6) var<storage, read_write> partials: array<vec4<f32>>;

// Two halves, each a left and a right slab, or one of a single panel.
var<workgroup> slabs: array<vec4<f32>, 4u * THREADS>;

// The vectors of x, and of z.
fn x_vectors() -> u32 {
    return (params.x_cols + 3u) / 4u;
}

fn z_vectors() -> u32 {
    return x_vectors() + (params.y_cols + 3u) / 4u;
}

// A vector of z as it lies; past the end, anything. Nothing here waits for what comes.
fn fetch(row: u32, vector: u32) -> vec4<f32> {
    let there = min(row, params.n_rows - 1u);
    var value: vec4<f32>;
    if vector < x_vectors() && params.x_ld >= 4u {
        value = x4[there * (params.x_ld / 4u) + vector];
    } else if vector < x_vectors() {
        let at = there * params.x_ld;
        let last = params.x_cols - 1u;
        value = vec4(x[at], x[at + min(1u, last)], x[at + min(2u, last)], 0.0);
    } else if vector < z_vectors() {
        let col = 4u * (vector - x_vectors());
        let at = there * params.y_ld + col;
        let last = params.y_cols - 1u - col;
        value = vec4(y[at], y[at + min(1u, last)], y[at + min(2u, last)], y[at + min(3u, last)]);
    }
    return value;
}

fn centred(value: vec4<f32>, row: u32, vector: u32, end: u32) -> vec4<f32> {
    if row >= end || vector >= z_vectors() {
        return vec4<f32>();
    }
    let unit = frame[z_vectors() + vector];
    var c = value * unit - frame[vector];
    // Padding has no unit, and may hold anything.
    if unit.w == 0.0 {
        c = select(vec4<f32>(), c, unit != vec4<f32>());
    }
    if params.weighted != 0u {
        c *= sqrt(weights[row]);
    }
    return c;
}

// Adds four vectors of sums to the pairs of this thread: all four are on their way at once.
fn flush(at: u32, s: vec4<f32>, t: vec4<f32>, u: vec4<f32>, v: vec4<f32>, add: bool) {
    let step = params.tasks;
    var p = Pair4(s, vec4<f32>());
    var q = Pair4(t, vec4<f32>());
    var m = Pair4(u, vec4<f32>());
    var n = Pair4(v, vec4<f32>());
    if add {
        let to_p = Pair4(partials[at], partials[at + step]);
        let to_q = Pair4(partials[at + 2u * step], partials[at + 3u * step]);
        let to_m = Pair4(partials[at + 4u * step], partials[at + 5u * step]);
        let to_n = Pair4(partials[at + 6u * step], partials[at + 7u * step]);
        p = add_float4(to_p, s);
        q = add_float4(to_q, t);
        m = add_float4(to_m, u);
        n = add_float4(to_n, v);
    }
    partials[at] = p.hi;
    partials[at + step] = p.lo;
    partials[at + 2u * step] = q.hi;
    partials[at + 3u * step] = q.lo;
    partials[at + 4u * step] = m.hi;
    partials[at + 5u * step] = m.lo;
    partials[at + 6u * step] = n.hi;
    partials[at + 7u * step] = n.lo;
}

// Adds the pair of another thread, its hi in `theirs`, to that of this one.
fn add_lane(mine: u32, theirs: u32) {
    let sum = add_pair4(Pair4(slabs[mine], slabs[mine + THREADS]), Pair4(slabs[theirs], slabs[theirs + THREADS]));
    slabs[mine] = sum.hi;
    slabs[mine + THREADS] = sum.lo;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    // The pair of panels: rows of the upper triangle, one after the other.
    var left_panel = 0u;
    var rest = params.first_pair + group.x;
    while rest >= params.n_panels - left_panel {
        rest -= params.n_panels - left_panel;
        left_panel += 1u;
    }
    let right_panel = left_panel + rest;
    let diagonal = rest == 0u;
    // The task of this thread, likewise.
    let vectors = params.vectors;
    let h = vectors / 2u;
    let lane = thread / params.tasks;
    let task = thread % params.tasks;
    var r = task / h;
    var c = task % h;
    if diagonal {
        r = 0u;
        c = task;
        while r < h && c >= h {
            r += 1u;
            // What is left of the task counts from the diagonal.
            c = c - h + r;
        }
    }
    let busy = lane < params.lanes && r < h;
    let right = select(THREADS, 0u, diagonal);

    let start = group.y * params.rows_per_split;
    let end = min(start + params.rows_per_split, params.n_rows);
    // What this thread brings of a slab: two vectors of a single panel, or one of each.
    let single = params.n_panels == 1u;
    let depth = DEPTH * params.lanes;
    let stride = params.stride;
    let near_row = thread / stride;
    let near_vector = left_panel * vectors + thread % stride;
    let other = select(thread, thread + THREADS, single);
    let far_row = other / stride;
    let far_vector = right_panel * vectors + other % stride;
    let brings_near = near_row < depth && thread % stride < vectors;
    let brings_far = far_row < depth && other % stride < vectors && (single || !diagonal);
    if brings_near {
        slabs[thread] = centred(fetch(start + near_row, near_vector), start + near_row, near_vector, end);
    }
    if brings_far {
        slabs[THREADS + thread] = centred(fetch(start + far_row, far_vector), start + far_row, far_vector, end);
    }
    workgroupBarrier();
    var s0 = vec4<f32>();
    var s1 = vec4<f32>();
    var s2 = vec4<f32>();
    var s3 = vec4<f32>();
    var s4 = vec4<f32>();
    var s5 = vec4<f32>();
    var s6 = vec4<f32>();
    var s7 = vec4<f32>();
    var s8 = vec4<f32>();
    var s9 = vec4<f32>();
    var s10 = vec4<f32>();
    var s11 = vec4<f32>();
    var s12 = vec4<f32>();
    var s13 = vec4<f32>();
    var s14 = vec4<f32>();
    var s15 = vec4<f32>();
    let lane_stride = params.n_pairs * 32u * params.tasks;
    let to = (group.y * params.lanes + lane) * lane_stride + group.x * 32u * params.tasks + task;
    var half = 0u;
    var unflushed = 0u;
    // Lane 0 has the sum of all lanes of the rows before these.
    var add = params.add != 0u && lane == 0u;
    for (var slab = start; slab < end; slab += depth) {
        let more = slab + depth < end;
        var next_near = vec4<f32>();
        var next_far = vec4<f32>();
        if more && brings_near {
            next_near = fetch(slab + depth + near_row, near_vector);
        }
        if more && brings_far {
            next_far = fetch(slab + depth + far_row, far_vector);
        }
        if busy && stride == 32u {
            let at = 2u * THREADS * half + lane * DEPTH * 32u;
            let at_a = at + r;
            let at_b = at + right + c;
            var a = slabs[at_a];
            var a_far = slabs[at_a + h];
            var b = slabs[at_b];
            var b_far = slabs[at_b + h];
            // What the next row needs is read before this row's products.
            //! unroll K 8
            {
                let next_a = slabs[at_a + min($Ku + 1u, DEPTH - 1u) * 32u];
                let next_a_far = slabs[at_a + h + min($Ku + 1u, DEPTH - 1u) * 32u];
                let next_b = slabs[at_b + min($Ku + 1u, DEPTH - 1u) * 32u];
                let next_b_far = slabs[at_b + h + min($Ku + 1u, DEPTH - 1u) * 32u];
                s0 += a.x * b;
                s1 += a.x * b_far;
                s2 += a.y * b;
                s3 += a.y * b_far;
                s4 += a.z * b;
                s5 += a.z * b_far;
                s6 += a.w * b;
                s7 += a.w * b_far;
                s8 += a_far.x * b;
                s9 += a_far.x * b_far;
                s10 += a_far.y * b;
                s11 += a_far.y * b_far;
                s12 += a_far.z * b;
                s13 += a_far.z * b_far;
                s14 += a_far.w * b;
                s15 += a_far.w * b_far;
                a = next_a;
                a_far = next_a_far;
                b = next_b;
                b_far = next_b_far;
            }
            //! end
        } else if busy {
            for (var k = 0u; k < DEPTH; k += 1u) {
                let at = 2u * THREADS * half + (lane * DEPTH + k) * stride;
                let a = slabs[at + r];
                let a_far = slabs[at + r + h];
                let b = slabs[at + right + c];
                let b_far = slabs[at + right + c + h];
                s0 += a.x * b;
                s1 += a.x * b_far;
                s2 += a.y * b;
                s3 += a.y * b_far;
                s4 += a.z * b;
                s5 += a.z * b_far;
                s6 += a.w * b;
                s7 += a.w * b_far;
                s8 += a_far.x * b;
                s9 += a_far.x * b_far;
                s10 += a_far.y * b;
                s11 += a_far.y * b_far;
                s12 += a_far.z * b;
                s13 += a_far.z * b_far;
                s14 += a_far.w * b;
                s15 += a_far.w * b_far;
            }
        }
        half = 1u - half;
        if more && brings_near {
            slabs[2u * THREADS * half + thread] = centred(next_near, slab + depth + near_row, near_vector, end);
        }
        if more && brings_far {
            slabs[2u * THREADS * half + THREADS + thread] = centred(next_far, slab + depth + far_row, far_vector, end);
        }
        workgroupBarrier();
        unflushed += depth;
        if unflushed >= params.rows_per_flush || !more {
            unflushed = 0u;
            if busy {
                let step = 8u * params.tasks;
                flush(to, s0, s1, s2, s3, add);
                flush(to + step, s4, s5, s6, s7, add);
                flush(to + 2u * step, s8, s9, s10, s11, add);
                flush(to + 3u * step, s12, s13, s14, s15, add);
            }
            add = true;
            s0 = vec4<f32>();
            s1 = vec4<f32>();
            s2 = vec4<f32>();
            s3 = vec4<f32>();
            s4 = vec4<f32>();
            s5 = vec4<f32>();
            s6 = vec4<f32>();
            s7 = vec4<f32>();
            s8 = vec4<f32>();
            s9 = vec4<f32>();
            s10 = vec4<f32>();
            s11 = vec4<f32>();
            s12 = vec4<f32>();
            s13 = vec4<f32>();
            s14 = vec4<f32>();
            s15 = vec4<f32>();
        }
    }
    if params.lanes == 1u {
        return;
    }
    // Two pairs at a time.
    for (var i = 0u; i < 8u; i += 1u) {
        let at = to + 4u * i * params.tasks;
        if busy {
            let p = partials[at];
            let q = partials[at + params.tasks];
            let m = partials[at + 2u * params.tasks];
            let n = partials[at + 3u * params.tasks];
            slabs[thread] = p;
            slabs[THREADS + thread] = q;
            slabs[2u * THREADS + thread] = m;
            slabs[3u * THREADS + thread] = n;
        }
        var left = params.lanes;
        while left > 1u {
            let middle = (left + 1u) / 2u;
            workgroupBarrier();
            if busy && lane + middle < left {
                add_lane(thread, thread + middle * params.tasks);
                add_lane(2u * THREADS + thread, 2u * THREADS + thread + middle * params.tasks);
            }
            left = middle;
        }
        if busy && lane == 0u {
            partials[at] = slabs[thread];
            partials[at + params.tasks] = slabs[THREADS + thread];
            partials[at + 2u * params.tasks] = slabs[2u * THREADS + thread];
            partials[at + 3u * params.tasks] = slabs[3u * THREADS + thread];
        }
        workgroupBarrier();
    }
}
