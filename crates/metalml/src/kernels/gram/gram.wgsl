//! variants THREADS 96 160
//! use two_float4
//! use centred
// Products of all columns of z with one another, in one panel of `vectors` vectors, over one split of the rows; c and z as in `centred`.
// Slabs of rows pass through two halves of workgroup memory: while one is multiplied, the next is on its way. A thread makes eight by
// eight sums: vectors r and r + h with c and c + h, h = vectors / 2, r <= c: so each pair of vectors meets, and neighbours read neighbouring
// vectors. `lanes` threads share a task, each with its own DEPTH rows of a slab. Every `rows_per_flush` rows the sums are added to pairs
// of floats that belong to the thread; at the end a tree adds up those of the lanes. All in fixed order: equal bits each time.
// partials: [split][lane][hi, lo][column of z][vector of z], on and above the diagonal; lane 0 has the sum.

struct Params {
    n_rows: u32,
    x_cols: u32,
    x_ld: u32,
    y_cols: u32,
    y_ld: u32,
    rows_per_split: u32,
    rows_per_flush: u32,
    vectors: u32,
    tasks: u32,
    lanes: u32,
    add: u32,
    weighted: u32,
    zero: u32,
}

const THREADS: u32 = $THREADSu;
const DEPTH: u32 = 8u;
// Vectors of a slab that a thread brings, at most.
const BRINGS: u32 = 3u;
const HALF: u32 = BRINGS * THREADS;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x4: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> y: array<f32>;
@group(0) @binding(4) var<storage, read> frame: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> weights: array<f32>;
@group(0) @binding(6) var<storage, read_write> partials: array<vec4<f32>>;

var<workgroup> slabs: array<vec4<f32>, 2u * HALF>;

// Adds four by four sums to the pairs of this thread: all are on their way at once.
fn flush(at: u32, sums: mat4x4<f32>, add: bool) {
    let row = params.vectors;
    let lo = at + 4u * params.vectors * params.vectors;
    let none = vec4<f32>();
    var p = Pair4(sums[0], none);
    var q = Pair4(sums[1], none);
    var m = Pair4(sums[2], none);
    var n = Pair4(sums[3], none);
    if add {
        let to_p = Pair4(partials[at], partials[lo]);
        let to_q = Pair4(partials[at + row], partials[lo + row]);
        let to_m = Pair4(partials[at + 2u * row], partials[lo + 2u * row]);
        let to_n = Pair4(partials[at + 3u * row], partials[lo + 3u * row]);
        p = add_float4(to_p, sums[0]);
        q = add_float4(to_q, sums[1]);
        m = add_float4(to_m, sums[2]);
        n = add_float4(to_n, sums[3]);
    }
    partials[at] = p.hi;
    partials[at + row] = q.hi;
    partials[at + 2u * row] = m.hi;
    partials[at + 3u * row] = n.hi;
    partials[lo] = p.lo;
    partials[lo + row] = q.lo;
    partials[lo + 2u * row] = m.lo;
    partials[lo + 3u * row] = n.lo;
}

// Adds the pair of another thread, its hi in `theirs`, to that of this one.
fn add_lane(mine: u32, theirs: u32) {
    let sum = add_pair4(Pair4(slabs[mine], slabs[mine + THREADS]), Pair4(slabs[theirs], slabs[theirs + THREADS]));
    slabs[mine] = sum.hi;
    slabs[mine + THREADS] = sum.lo;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let vectors = params.vectors;
    let h = vectors / 2u;
    let lane = thread / params.tasks;
    let busy = lane < params.lanes;
    // The task: rows of the upper triangle, one after the other.
    var r = 0u;
    var c = thread % params.tasks;
    while c >= h {
        r += 1u;
        // What is left of the task counts from the diagonal.
        c = c - h + r;
    }
    // Every other row backwards: where one ends and the next begins, neighbours still read the same vectors or the next.
    if r % 2u == 1u {
        c = h - 1u + r - c;
    }
    let start = group.x * params.rows_per_split;
    let end = min(start + params.rows_per_split, params.n_rows);
    let depth = DEPTH * params.lanes;
    //! unroll I 3
    let at$I = thread + $Iu * THREADS;
    let row$I = at$I / vectors;
    let vector$I = at$I % vectors;
    let brings$I = row$I < depth;
    var next$I = vec4<f32>();
    if brings$I {
        slabs[at$I] = centred(fetch(start + row$I, vector$I), start + row$I, vector$I, end);
    }
    //! end
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
    let lane_stride = 8u * vectors * vectors;
    let part = (group.x * params.lanes + lane) * lane_stride;
    // Lane 0 has the sum of all lanes of the rows before these.
    var add = params.add != 0u && lane == 0u;
    var half = 0u;
    var unflushed = 0u;
    for (var slab = start; slab < end; slab += depth) {
        let more = slab + depth < end;
        if more {
            //! unroll I 3
            if brings$I {
                next$I = fetch(slab + depth + row$I, vector$I);
            }
            //! end
        }
        if busy {
            var at = half + lane * DEPTH * vectors;
            var a = slabs[at + r];
            var a_far = slabs[at + r + h];
            var b = slabs[at + c];
            var b_far = slabs[at + c + h];
            // What the next row needs is read before this row's products; after the last, it again.
            //! unroll K 8
            at += select(vectors, 0u, $Ku + 1u == DEPTH);
            {
                let next_a = slabs[at + r];
                let next_a_far = slabs[at + r + h];
                let next_b = slabs[at + c];
                let next_b_far = slabs[at + c + h];
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
        }
        half = HALF - half;
        if more {
            //! unroll I 3
            if brings$I {
                slabs[half + at$I] = centred(next$I, slab + depth + row$I, vector$I, end);
            }
            //! end
        }
        workgroupBarrier();
        unflushed += depth;
        if unflushed >= params.rows_per_flush || !more {
            unflushed = 0u;
            if busy {
                flush(part + 4u * r * vectors + c, mat4x4(s0, s2, s4, s6), add);
                flush(part + 4u * r * vectors + c + h, mat4x4(s1, s3, s5, s7), add);
                flush(part + 4u * (r + h) * vectors + c + h, mat4x4(s9, s11, s13, s15), add);
                // What lies below the diagonal, seen from above; on it, it is there already.
                if r != c {
                    flush(part + 4u * c * vectors + r + h, transpose(mat4x4(s8, s10, s12, s14)), add);
                }
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
        let block = i / 2u;
        let row = select(select(r, r + h, block == 2u), c, block == 3u);
        let col = select(select(c, c + h, block == 1u || block == 2u), r + h, block == 3u);
        let first = part + (4u * row + i % 2u * 2u) * vectors + col;
        let second = first + vectors;
        let to_lo = 4u * vectors * vectors;
        let takes_part = busy && !(block == 3u && r == c);
        if takes_part {
            let p = partials[first];
            let q = partials[first + to_lo];
            let m = partials[second];
            let n = partials[second + to_lo];
            slabs[thread] = p;
            slabs[THREADS + thread] = q;
            slabs[2u * THREADS + thread] = m;
            slabs[3u * THREADS + thread] = n;
        }
        var left = params.lanes;
        while left > 1u {
            let middle = (left + 1u) / 2u;
            workgroupBarrier();
            if takes_part && lane + middle < left {
                add_lane(thread, thread + middle * params.tasks);
                add_lane(2u * THREADS + thread, 2u * THREADS + thread + middle * params.tasks);
            }
            left = middle;
        }
        if takes_part && lane == 0u {
            partials[first] = slabs[thread];
            partials[first + to_lo] = slabs[THREADS + thread];
            partials[second] = slabs[2u * THREADS + thread];
            partials[second + to_lo] = slabs[3u * THREADS + thread];
        }
        workgroupBarrier();
    }
}
