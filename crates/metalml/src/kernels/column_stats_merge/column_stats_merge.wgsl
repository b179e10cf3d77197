//! use two_float
// Merges the parts of column_stats: totals, then mean of d = Σ w d / Σ w + offset and M2 = Σ w d² - (Σ w d)² / Σ w, all as (hi, lo) pairs.
// One workgroup makes COLS columns. A thread adds up one of the four sums of a column over every LANES-th part; a tree adds these in fixed order.
// A column of equal values has no scatter at all, whatever rounding says.
// parts: [part][weight, first, second, count][n_cols]; part_range: [part][least, greatest][n_cols];
// frame: [shift, unit][offset_start / 2], [offset hi, lo][n_cols];
// sums: [weight, mean of d, M2, count][n_cols]; range: [least, greatest][n_cols].

struct Params {
    n_parts: u32,
    n_cols: u32,
    offset_start: u32,
    zero: u32,
}

const COLS: u32 = 4u;
const SUMS: u32 = 4u;
const LANES: u32 = 16u;
const LARGEST: f32 = 3.4028234e38;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> part_range: array<f32>;
@group(0) @binding(3) var<storage, read> frame: array<f32>;
@group(0) @binding(4) var<storage, read_write> sums: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> range: array<f32>;

var<workgroup> totals: array<vec2<f32>, COLS * SUMS * LANES>;
var<workgroup> extremes: array<f32, COLS * SUMS * LANES>;

@compute @workgroup_size(COLS, SUMS, LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let n_cols = params.n_cols;
    let col = group.x * COLS + local.x;
    let at = (local.z * SUMS + local.y) * COLS + local.x;
    var total = vec2<f32>();
    // The first sum's threads look for the least, the second's for the negative of the greatest.
    var extreme = LARGEST;
    if col < n_cols {
        // Eight at a time are on their way; those past the last are read again, and not used.
        let last = params.n_parts - 1u;
        for (var first = local.z; first < params.n_parts; first += 8u * LANES) {
            var eight: array<vec2<f32>, 8>;
            var ends: array<f32, 8>;
            for (var i = 0u; i < 8u; i += 1u) {
                let part = min(first + i * LANES, last);
                eight[i] = parts[(part * SUMS + local.y) * n_cols + col];
                ends[i] = part_range[(part * 2u + local.y % 2u) * n_cols + col];
            }
            for (var i = 0u; i < 8u; i += 1u) {
                if first + i * LANES < params.n_parts {
                    total = add_pair(total, eight[i]);
                    extreme = min(extreme, select(ends[i], -ends[i], local.y == 1u));
                }
            }
        }
    }
    totals[at] = total;
    extremes[at] = extreme;
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local.z < half {
            let other = at + half * COLS * SUMS;
            totals[at] = add_pair(totals[at], totals[other]);
            extremes[at] = min(extremes[at], extremes[other]);
        }
    }
    workgroupBarrier();
    if local.z == 0u && local.y == 0u && col < n_cols {
        let weight = totals[at];
        let first = totals[at + COLS];
        var mean = vec2(0.0);
        var place = vec2(0.0);
        var scatter = vec2(0.0);
        if weight.x != 0.0 {
            mean = divide_pairs(first, weight);
            scatter = add_pair(totals[at + 2u * COLS], -multiply_pairs(first, mean));
            if extremes[at] == -extremes[at + COLS] {
                mean = two_sum(extremes[at] * frame[params.offset_start / 2u + col], -frame[col]);
                scatter = vec2(0.0);
            }
            place = add_pair(mean, vec2(frame[params.offset_start + col], frame[params.offset_start + n_cols + col]));
        }
        sums[col] = weight;
        sums[n_cols + col] = place;
        sums[2u * n_cols + col] = scatter;
        sums[3u * n_cols + col] = totals[at + 3u * COLS];
        range[col] = extremes[at];
        range[n_cols + col] = -extremes[at + COLS];
    }
}
