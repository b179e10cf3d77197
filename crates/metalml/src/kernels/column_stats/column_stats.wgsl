//! use two_float
// Per column of a row-major x, over one split of its rows, with d = (x - shift) * unit and NaN skipped:
// Σ w, Σ w d, Σ w d², count as (hi, lo) pairs, and the least and greatest x. unit is a power of two, so d is exact up to x - shift,
// whose rounding error is carried along.
// One workgroup makes COLS columns of one split: LANES threads a column take rows in turn, then a tree adds them in fixed order.
// sums: [split][weight, first, second, count][n_cols]; range: [split][least, greatest][n_cols].

struct Params {
    n_rows: u32,
    n_cols: u32,
    ld: u32,
    rows_per_split: u32,
    first_split: u32,
    weighted: u32,
    zero: u32,
}

const COLS: u32 = 32u;
const LANES: u32 = 8u;
const LARGEST: f32 = 3.4028234e38;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read> shift: array<f32>;
@group(0) @binding(4) var<storage, read> unit: array<f32>;
@group(0) @binding(5) var<storage, read_write> sums: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> range: array<f32>;

struct Lane {
    weight: vec2<f32>,
    first: vec2<f32>,
    second: vec2<f32>,
    count: f32,
    least: f32,
    greatest: f32,
}

var<workgroup> lanes: array<Lane, COLS * LANES>;

fn is_nan(value: f32) -> bool {
    return (bitcast<u32>(value) & 0x7fffffffu) > 0x7f800000u;
}

fn take(lane: Lane, value: f32, weight: f32, col: u32) -> Lane {
    var next = lane;
    let far = two_sum(value, -shift[col]);
    let near = far * unit[col];
    next.weight = add_float(lane.weight, weight);
    next.count = lane.count + 1.0;
    next.least = min(lane.least, value);
    next.greatest = max(lane.greatest, value);
    let first = two_product(weight, near.x);
    next.first = add_float(lane.first, first.x);
    next.first.y = keep(next.first.y + keep(first.y + keep(weight * near.y)));
    let second = two_product(first.x, near.x);
    let rest = keep(keep(first.y * near.x) + keep(2.0 * keep(first.x * near.y)));
    next.second = add_float(lane.second, second.x);
    next.second.y = keep(next.second.y + keep(second.y + rest));
    return next;
}

fn merge(a: Lane, b: Lane) -> Lane {
    return Lane(
        add_pair(a.weight, b.weight),
        add_pair(a.first, b.first),
        add_pair(a.second, b.second),
        a.count + b.count,
        min(a.least, b.least),
        max(a.greatest, b.greatest),
    );
}

@compute @workgroup_size(COLS, LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let col = group.x * COLS + local.x;
    let start = group.y * params.rows_per_split;
    let end = min(start + params.rows_per_split, params.n_rows);
    var lane = Lane(vec2(0.0), vec2(0.0), vec2(0.0), 0.0, LARGEST, -LARGEST);
    if col < params.n_cols {
        for (var row = start + local.y; row < end; row += LANES) {
            let value = x[row * params.ld + col];
            if !is_nan(value) {
                var weight = 1.0;
                if params.weighted != 0u {
                    weight = weights[row];
                }
                lane = take(lane, value, weight, col);
            }
        }
    }
    let at = local.y * COLS + local.x;
    lanes[at] = lane;
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local.y < half {
            lanes[at] = merge(lanes[at], lanes[at + half * COLS]);
        }
    }
    if local.y == 0u && col < params.n_cols {
        let total = lanes[at];
        let split = params.first_split + group.y;
        let base = split * 4u * params.n_cols + col;
        sums[base] = total.weight;
        sums[base + params.n_cols] = total.first;
        sums[base + 2u * params.n_cols] = total.second;
        sums[base + 3u * params.n_cols] = vec2(total.count, 0.0);
        range[split * 2u * params.n_cols + col] = total.least;
        range[(split * 2u + 1u) * params.n_cols + col] = total.greatest;
    }
}
