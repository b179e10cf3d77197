// Sums and extremes of one row, by `params.lanes` neighbouring threads; a workgroup has THREADS / lanes rows at a time.
// A kernel declares x, and in params n_cols and ld.

const THREADS: u32 = 256u;
const SUM: u32 = 0u;
const LEAST: u32 = 1u;
const GREATEST: u32 = 2u;
const L1: u32 = 3u;
const L2: u32 = 4u;
const MAX: u32 = 5u;
const SQUARES: u32 = 6u;
const NO_INDEX: u32 = 0xffffffffu;

var<workgroup> row_values: array<f32, THREADS>;
var<workgroup> row_indices: array<u32, THREADS>;

struct Found {
    value: f32,
    index: u32,
}

// The order of values, NaN before all, and the greatest first if `greatest`: as bits.
fn rank_bits(value: f32, greatest: bool) -> u32 {
    let bits = bitcast<u32>(value);
    if (bits & 0x7fffffffu) > 0x7f800000u {
        return 0u;
    }
    // -0 is 0.
    let plain = select(bits, 0u, bits == 0x80000000u);
    let ordered = select(plain | 0x80000000u, ~plain, (plain & 0x80000000u) != 0u);
    return select(ordered, ~ordered, greatest);
}

fn first_of(a: Found, b: Found, greatest: bool) -> Found {
    let of_a = rank_bits(a.value, greatest);
    let of_b = rank_bits(b.value, greatest);
    if b.index != NO_INDEX && (a.index == NO_INDEX || of_b < of_a || (of_b == of_a && b.index < a.index)) {
        return b;
    }
    return a;
}

// The power of two that brings the largest size of a row near 1, so that neither squares nor sums of it overflow or vanish.
fn scale_of(largest: u32) -> f32 {
    let exponent = largest >> 23u;
    if exponent >= 255u {
        return 1.0;
    }
    return bitcast<f32>(clamp(254u - exponent, 1u, 253u) << 23u);
}

// The values of all lanes become one, the same for all. Every thread must come here.
fn over_lanes(mine: f32, lane: u32, thread: u32) -> f32 {
    workgroupBarrier();
    row_values[thread] = mine;
    for (var half = params.lanes / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            row_values[thread] += row_values[thread + half];
        }
    }
    workgroupBarrier();
    return row_values[thread - lane];
}

fn largest_over_lanes(mine: u32, lane: u32, thread: u32) -> u32 {
    workgroupBarrier();
    row_indices[thread] = mine;
    for (var half = params.lanes / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            row_indices[thread] = max(row_indices[thread], row_indices[thread + half]);
        }
    }
    workgroupBarrier();
    return row_indices[thread - lane];
}

// The bits of the largest size in a row: those of a NaN if there is one.
fn largest_size(row: u32, lane: u32, thread: u32) -> u32 {
    var largest = 0u;
    for (var col = lane; col < params.n_cols; col += params.lanes) {
        largest = max(largest, bitcast<u32>(x[row * params.ld + col]) & 0x7fffffffu);
    }
    return largest_over_lanes(largest, lane, thread);
}

// A norm of a row that is multiplied with `scale`.
fn scaled_norm(row: u32, kind: u32, scale: f32, lane: u32, thread: u32) -> f32 {
    var sum = 0.0;
    for (var col = lane; col < params.n_cols; col += params.lanes) {
        let value = x[row * params.ld + col] * scale;
        sum += select(abs(value), value * value, kind == L2);
    }
    let all = over_lanes(sum, lane, thread);
    return select(all, sqrt(all), kind == L2);
}
