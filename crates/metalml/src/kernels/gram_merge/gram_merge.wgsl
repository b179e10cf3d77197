//! use two_float4
// Adds the parts of gram up to products[i * n_cols + j], pairs (hi, lo), for i < x_cols, j < n_cols = x_cols + y_cols, and their mirror
// images; to what is there if `accumulate`. A workgroup makes VECTORS vectors of a row: LANES threads each take parts in turn, then a tree
// adds them in fixed order.
// partials: [part][hi, lo][column of z][vector of z], or without lo, a part every `part_stride` vectors; on and above the diagonal.

struct Params {
    x_cols: u32,
    y_cols: u32,
    vectors: u32,
    n_parts: u32,
    part_stride: u32,
    // From hi to lo; 0 if there is none.
    to_lo: u32,
    accumulate: u32,
    zero: u32,
}

const VECTORS: u32 = 8u;
const LANES: u32 = 32u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> partials: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> products: array<vec2<f32>>;

var<workgroup> totals: array<Pair4, VECTORS * LANES>;

// The column of [x | y] that is this one of z; past the last, if it is none.
fn column(padded: u32) -> u32 {
    let y_start = (params.x_cols + 3u) / 4u * 4u;
    if padded >= y_start {
        return padded - y_start + params.x_cols;
    }
    return select(params.x_cols + params.y_cols, padded, padded < params.x_cols);
}

fn part_of(at: u32) -> Pair4 {
    let hi = partials[at];
    if params.to_lo == 0u {
        return Pair4(hi, vec4<f32>());
    }
    return Pair4(hi, partials[at + params.to_lo]);
}

@compute @workgroup_size(VECTORS, LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let vector = group.x * VECTORS + local.x;
    let at = local.y * VECTORS + local.x;
    let made = vector < params.vectors && vector >= group.y / 4u;
    var total = Pair4(vec4<f32>(), vec4<f32>());
    if made {
        for (var part = local.y; part < params.n_parts; part += LANES) {
            total = add_pair4(total, part_of(part * params.part_stride + group.y * params.vectors + vector));
        }
    }
    totals[at] = total;
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local.y < half {
            totals[at] = add_pair4(totals[at], totals[at + half * VECTORS]);
        }
    }
    if local.y > 0u || !made {
        return;
    }
    let n_cols = params.x_cols + params.y_cols;
    let row = column(group.y);
    total = totals[at];
    for (var i = 0u; i < 4u; i += 1u) {
        let col = column(4u * vector + i);
        if 4u * vector + i < group.y || row >= params.x_cols || col >= n_cols {
            continue;
        }
        let to = row * n_cols + col;
        var product = vec2(total.hi[i], total.lo[i]);
        if params.accumulate != 0u {
            let before = products[to];
            let both = add_pair4(Pair4(vec4(before.x), vec4(before.y)), Pair4(vec4(product.x), vec4(product.y)));
            product = vec2(both.hi.x, both.lo.x);
        }
        products[to] = product;
        if col < params.x_cols {
            products[col * n_cols + row] = product;
        }
    }
}
