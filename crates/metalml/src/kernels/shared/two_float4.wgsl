// The sums of two floats of `two_float`, four side by side.

fn keep4(value: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(value) ^ vec4(params.zero));
}

struct Pair4 {
    hi: vec4<f32>,
    lo: vec4<f32>,
}

fn two_sum4(a: vec4<f32>, b: vec4<f32>) -> Pair4 {
    let sum = keep4(a + b);
    let part = keep4(sum - a);
    return Pair4(sum, keep4(keep4(a - keep4(sum - part)) + keep4(b - part)));
}

// The first 12 bits of each float, rounded: what is left has 12 bits too, and either sign.
fn head4(value: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>((bitcast<vec4<u32>>(value) + vec4(0x800u)) & vec4(0xfffff000u));
}

fn two_product4(a: vec4<f32>, b: vec4<f32>) -> Pair4 {
    let product = keep4(a * b);
    let x = head4(a);
    let y = head4(b);
    let p = a - x;
    let q = b - y;
    let cross = keep4(keep4(keep4(x * y - product) + keep4(x * q)) + keep4(p * y));
    return Pair4(product, keep4(cross + p * q));
}

fn add_float4(sum: Pair4, value: vec4<f32>) -> Pair4 {
    let head = two_sum4(sum.hi, value);
    return Pair4(head.hi, keep4(sum.lo + head.lo));
}

fn add_pair4(a: Pair4, b: Pair4) -> Pair4 {
    let head = two_sum4(a.hi, b.hi);
    return two_sum4(head.hi, keep4(head.lo + keep4(a.lo + b.lo)));
}
