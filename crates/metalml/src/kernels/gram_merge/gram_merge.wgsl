//! use two_float4
// Adds the parts of gram up to products[i * n_cols + j], pairs (hi, lo), for i < x_cols, j < n_cols = x_cols + y_cols, and their mirror images.
// A workgroup makes one vector of four of TASKS tasks: LANES threads each take parts in turn, then a tree adds them in fixed order.
// partials: [part][pair][vector of the 8 x 8][hi, lo][task], see gram; parts lie `part_stride` pairs apart.

struct Params {
    x_cols: u32,
    y_cols: u32,
    vectors: u32,
    n_panels: u32,
    first_pair: u32,
    n_pairs: u32,
    tasks: u32,
    n_parts: u32,
    part_stride: u32,
    zero: u32,
}

const TASKS: u32 = 8u;
const LANES: u32 = 32u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> partials: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> products: array<vec2<f32>>;

var<workgroup> totals: array<Pair4, TASKS * LANES>;

// The column of [x | y] that is this one of the padded columns; past the last, if it is none.
fn column(padded: u32) -> u32 {
    let y_start = (params.x_cols + 3u) / 4u * 4u;
    if padded >= y_start {
        return padded - y_start + params.x_cols;
    }
    return select(params.x_cols + params.y_cols, padded, padded < params.x_cols);
}

@compute @workgroup_size(TASKS, LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let task = group.x * TASKS + local.x;
    let at = local.y * TASKS + local.x;
    var total = Pair4(vec4<f32>(), vec4<f32>());
    if task < params.tasks {
        for (var part = local.y; part < params.n_parts; part += LANES) {
            let in_part = ((part * params.part_stride + group.z) * 32u + 2u * group.y) * params.tasks + task;
            total = add_pair4(total, Pair4(partials[in_part], partials[in_part + params.tasks]));
        }
    }
    totals[at] = total;
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local.y < half {
            totals[at] = add_pair4(totals[at], totals[at + half * TASKS]);
        }
    }
    var left_panel = 0u;
    var rest = params.first_pair + group.z;
    while rest >= params.n_panels - left_panel {
        rest -= params.n_panels - left_panel;
        left_panel += 1u;
    }
    let h = params.vectors / 2u;
    var r = task / h;
    var c = task % h;
    if rest == 0u {
        r = 0u;
        c = task;
        while r < h && c >= h {
            r += 1u;
            c = c - h + r;
        }
    }
    if local.y > 0u || task >= params.tasks || r >= h {
        return;
    }
    let n_cols = params.x_cols + params.y_cols;
    let row_vector = left_panel * params.vectors + r + select(0u, h, group.y >= 8u);
    let row = column(4u * row_vector + group.y % 8u / 2u);
    let col_vector = (left_panel + rest) * params.vectors + c + select(0u, h, group.y % 2u == 1u);
    for (var i = 0u; i < 4u; i += 1u) {
        let col = column(4u * col_vector + i);
        let product = vec2(totals[at].hi[i], totals[at].lo[i]);
        if row < params.x_cols && col < n_cols {
            products[row * n_cols + col] = product;
        }
        if col < params.x_cols && row < n_cols {
            products[col * n_cols + row] = product;
        }
    }
}
