// Sums of two floats, hi + lo, that stand for one number of about 46 bits (Dekker 1971; Knuth, TAOCP 2, 4.2.2).
// `keep` stops a compiler that reorders floats: `params.zero` is 0, but only at run time.

fn keep(value: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(value) ^ params.zero);
}

fn two_sum(a: f32, b: f32) -> vec2<f32> {
    let sum = keep(a + b);
    let part = keep(sum - a);
    return vec2(sum, keep(keep(a - keep(sum - part)) + keep(b - part)));
}

// The first 12 bits of a float, and the other 12: their products are exact. A mask, so that nothing overflows on the way.
fn halves(value: f32) -> vec2<f32> {
    let head = bitcast<f32>(bitcast<u32>(value) & 0xfffff000u);
    return vec2(head, value - head);
}

// Not by fma: not every device rounds that once.
fn two_product(a: f32, b: f32) -> vec2<f32> {
    let product = keep(a * b);
    let x = halves(a);
    let y = halves(b);
    let cross = keep(keep(keep(x.x * y.x - product) + keep(x.x * y.y)) + keep(x.y * y.x));
    return vec2(product, keep(cross + x.y * y.y));
}

fn add_float(sum: vec2<f32>, value: f32) -> vec2<f32> {
    let head = two_sum(sum.x, value);
    return vec2(head.x, keep(sum.y + head.y));
}

fn add_pair(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let head = two_sum(a.x, b.x);
    return two_sum(head.x, keep(head.y + keep(a.y + b.y)));
}

fn multiply_pairs(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let head = two_product(a.x, b.x);
    return two_sum(head.x, keep(head.y + keep(keep(a.x * b.y) + keep(a.y * b.x))));
}

fn divide_pairs(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let quotient = keep(a.x / b.x);
    let rest = add_pair(a, -multiply_pairs(vec2(quotient, 0.0), b));
    return two_sum(quotient, keep(keep(rest.x + rest.y) / b.x));
}
