// What becomes of a sum of products, by the number that `Epilogue` has. NaN stays NaN.

fn tanh_within_bounds(x: f32) -> f32 {
    // Near 0 the quotient would lose digits: there the series.
    let square = x * x;
    let near = x * (1.0 + square * (-0.33333334 + square * (0.13333334 + square * (-0.053968254 + square * 0.02186949))));
    let e = exp(-2.0 * abs(x));
    let far = sign(x) * ((1.0 - e) / (1.0 + e));
    return select(far, near, abs(x) < 0.25);
}

fn logistic(x: f32) -> f32 {
    let e = exp(-abs(x));
    return select(e, 1.0, x >= 0.0) / (1.0 + e);
}

fn to_the_power(base: f32, degree: u32) -> f32 {
    var product = 1.0;
    var square = base;
    for (var rest = degree; rest > 0u; rest /= 2u) {
        if rest % 2u == 1u {
            product *= square;
        }
        square *= square;
    }
    return product;
}

fn epilogue(value: f32, kind: u32, gamma: f32, coef0: f32, degree: u32) -> f32 {
    switch kind {
        case 1u: { return select(value, 0.0, value < 0.0); }
        case 2u: { return tanh_within_bounds(value); }
        case 3u: { return logistic(value); }
        case 4u: { return exp(-gamma * select(value, 0.0, value < 0.0)); }
        case 5u: { return to_the_power(gamma * value + coef0, degree); }
        case 6u: { return tanh_within_bounds(gamma * value + coef0); }
        default: { return value; }
    }
}
