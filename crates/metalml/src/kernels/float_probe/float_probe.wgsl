//! use two_float
// How the device treats floats. Reads inputs = [2^24, 1.25, 2^-140, NaN, 1 + 2^-12, infinity] and writes bit patterns and truths:
// [two_sum hi, two_sum lo, 2^-140 * 1 bits, NaN != NaN, fma residual bits, NaN seen by its bits, infinity bits]

struct Params {
    zero: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> inputs: array<f32>;
@group(0) @binding(2) var<storage, read_write> findings: array<u32>;

@compute @workgroup_size(1)
fn main() {
    let sum = two_sum(inputs[0], inputs[1]);
    findings[0] = bitcast<u32>(sum.x);
    findings[1] = bitcast<u32>(sum.y);
    findings[2] = bitcast<u32>(inputs[2] * keep(1.0));
    let nan = inputs[3];
    findings[3] = select(0u, 1u, nan != nan);
    let product = keep(inputs[4] * inputs[4]);
    findings[4] = bitcast<u32>(fma(inputs[4], inputs[4], -product));
    findings[5] = select(0u, 1u, (bitcast<u32>(nan) & 0x7fffffffu) > 0x7f800000u);
    findings[6] = bitcast<u32>(inputs[5]);
}
