//! use two_float
// Merges the parts of column_stats: totals, then mean of d = Σ w d / Σ w + offset and M2 = Σ w d² - (Σ w d)² / Σ w, all as (hi, lo) pairs.
// One workgroup makes COLS columns: LANES threads a column take parts in turn, then a tree adds them in fixed order.
// parts: [part][weight, first, second, count][n_cols]; part_range: [part][least, greatest][n_cols];
// sums: [weight, mean of d, M2, count][n_cols]; range: [least, greatest][n_cols].

struct Params {
    n_parts: u32,
    n_cols: u32,
    zero: u32,
}

const COLS: u32 = 4u;
const LANES: u32 = 64u;
const LARGEST: f32 = 3.4028234e38;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> part_range: array<f32>;
@group(0) @binding(3) var<storage, read> offset: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> sums: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> range: array<f32>;

var<workgroup> totals: array<array<vec2<f32>, 4>, COLS * LANES>;
var<workgroup> extremes: array<vec2<f32>, COLS * LANES>;

@compute @workgroup_size(COLS, LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let n_cols = params.n_cols;
    let col = group.x * COLS + local.x;
    let at = local.y * COLS + local.x;
    for (var i = 0u; i < 4u; i += 1u) {
        totals[at][i] = vec2(0.0);
    }
    extremes[at] = vec2(LARGEST, -LARGEST);
    if col < n_cols {
        for (var part = local.y; part < params.n_parts; part += LANES) {
            for (var i = 0u; i < 4u; i += 1u) {
                totals[at][i] = add_pair(totals[at][i], parts[(part * 4u + i) * n_cols + col]);
            }
            let least = part_range[part * 2u * n_cols + col];
            let greatest = part_range[(part * 2u + 1u) * n_cols + col];
            extremes[at] = vec2(min(extremes[at].x, least), max(extremes[at].y, greatest));
        }
    }
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local.y < half {
            let other = at + half * COLS;
            for (var i = 0u; i < 4u; i += 1u) {
                totals[at][i] = add_pair(totals[at][i], totals[other][i]);
            }
            extremes[at] = vec2(min(extremes[at].x, extremes[other].x), max(extremes[at].y, extremes[other].y));
        }
    }
    if local.y == 0u && col < n_cols {
        let weight = totals[at][0];
        let first = totals[at][1];
        var mean = vec2(0.0);
        if weight.x != 0.0 {
            mean = divide_pairs(first, weight);
        }
        sums[col] = weight;
        sums[n_cols + col] = select(mean, add_pair(mean, offset[col]), weight.x != 0.0);
        sums[2u * n_cols + col] = add_pair(totals[at][2], -multiply_pairs(first, mean));
        sums[3u * n_cols + col] = totals[at][3];
        range[col] = extremes[at].x;
        range[n_cols + col] = extremes[at].y;
    }
}
