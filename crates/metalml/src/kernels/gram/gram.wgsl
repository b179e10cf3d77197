//! use two_float4
// Products over one split of the rows: with z = [x | y], each padded to whole vectors of four, and c = sqrt(w) (z unit - shift),
// sums of c_i c_j for one pair of panels of z (`vectors` vectors each, left <= right), panels that hold none of x excepted.
// Slabs of rows pass through two halves of workgroup memory: while one is multiplied, the next is on its way. A thread makes eight by
// eight sums: vectors r and r + h of the left panel with c and c + h of the right, h = vectors / 2, r <= c where the panels are the same
// one: so each pair of vectors meets, and neighbours read neighbouring vectors. `lanes` threads share these, each with its own rows.
// Every `rows_per_flush` rows the sums are added to pairs of floats that belong to the thread. Rows in order: equal bits each time.
// partials: [split * lanes + lane][pair][vector of the 8 x 8][hi, lo][task]

struct Params {
    n_rows: u32,
    x_cols: u32,
    x_ld: u32,
    y_cols: u32,
    y_ld: u32,
    rows_per_split: u32,
    rows_per_flush: u32,
    vectors: u32,
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

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x4: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> y: array<f32>;
@group(0) @binding(4) var<storage, read> shift: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> unit: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> weights: array<f32>;
@group(0) @binding(7) var<storage, read_write> partials: array<vec4<f32>>;

// Two halves, each a left and a right slab.
var<workgroup> slabs: array<vec4<f32>, 4u * THREADS>;

fn centred(row: u32, vector: u32, end: u32) -> vec4<f32> {
    let x_vectors = (params.x_cols + 3u) / 4u;
    if row >= end || vector >= x_vectors + (params.y_cols + 3u) / 4u {
        return vec4<f32>();
    }
    var value = vec4<f32>();
    if vector < x_vectors && params.x_ld >= 4u {
        value = x4[row * (params.x_ld / 4u) + vector];
    } else if vector < x_vectors {
        for (var i = 0u; i < params.x_cols; i += 1u) {
            value[i] = x[row * params.x_ld + i];
        }
    } else {
        let col = 4u * (vector - x_vectors);
        for (var i = 0u; i < 4u; i += 1u) {
            if col + i < params.y_cols {
                value[i] = y[row * params.y_ld + col + i];
            }
        }
    }
    // Padding has no unit, and may hold anything.
    value = select(vec4<f32>(), (value - shift[vector]) * unit[vector], unit[vector] != vec4<f32>());
    if params.weighted != 0u {
        value *= sqrt(weights[row]);
    }
    return value;
}

// Adds a vector of sums to the pairs of this thread.
fn flush(at: u32, sum: vec4<f32>, add: bool) {
    var pair = Pair4(sum, vec4<f32>());
    if add {
        pair = add_float4(Pair4(partials[at], partials[at + params.tasks]), sum);
    }
    partials[at] = pair.hi;
    partials[at + params.tasks] = pair.lo;
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
    let depth = THREADS / vectors;
    let brings = thread < depth * vectors;
    let own_row = thread / vectors;
    let left_vector = left_panel * vectors + thread % vectors;
    let right_vector = right_panel * vectors + thread % vectors;
    if brings {
        slabs[thread] = centred(start + own_row, left_vector, end);
        if !diagonal {
            slabs[THREADS + thread] = centred(start + own_row, right_vector, end);
        }
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
    let part = group.y * params.lanes + lane;
    let to = (part * params.n_pairs + group.x) * 32u * params.tasks + task;
    var half = 0u;
    var unflushed = 0u;
    var add = params.add != 0u;
    for (var slab = start; slab < end; slab += depth) {
        let more = slab + depth < end;
        var next_left = vec4<f32>();
        var next_right = vec4<f32>();
        if more && brings {
            next_left = centred(slab + depth + own_row, left_vector, end);
            if !diagonal {
                next_right = centred(slab + depth + own_row, right_vector, end);
            }
        }
        if busy {
            for (var k = lane; k < depth; k += params.lanes) {
                let at = 2u * THREADS * half + k * vectors;
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
        if more && brings {
            slabs[2u * THREADS * half + thread] = next_left;
            if !diagonal {
                slabs[2u * THREADS * half + THREADS + thread] = next_right;
            }
        }
        workgroupBarrier();
        unflushed += depth;
        if unflushed >= params.rows_per_flush || !more {
            unflushed = 0u;
            if busy {
                let step = 2u * params.tasks;
                flush(to, s0, add);
                flush(to + step, s1, add);
                flush(to + 2u * step, s2, add);
                flush(to + 3u * step, s3, add);
                flush(to + 4u * step, s4, add);
                flush(to + 5u * step, s5, add);
                flush(to + 6u * step, s6, add);
                flush(to + 7u * step, s7, add);
                flush(to + 8u * step, s8, add);
                flush(to + 9u * step, s9, add);
                flush(to + 10u * step, s10, add);
                flush(to + 11u * step, s11, add);
                flush(to + 12u * step, s12, add);
                flush(to + 13u * step, s13, add);
                flush(to + 14u * step, s14, add);
                flush(to + 15u * step, s15, add);
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
}
