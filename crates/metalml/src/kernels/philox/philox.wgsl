// Random numbers by counter: Salmon, Moraes, Dror, Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3", section 3.3, Philox4x32-10. Number i
// of a stream is word i % 4 of the block with the counter (i / 4, stream); normal numbers are made of two words by Box and Muller (1958); whole
// numbers below a bound by Lemire (2019), "Fast random integer generation in an interval", from blocks (i, stream) and, if all words were refused,
// the next ones. Logarithm, sine and cosine by series, since what a device grants is coarse.

struct Params {
    len: u32,
    kind: u32,
    bound: u32,
    seed_lo: u32,
    seed_hi: u32,
    stream: u32,
}

const THREADS: u32 = 256u;
const UNIFORM: u32 = 1u;
const NORMAL: u32 = 2u;
const BELOW: u32 = 3u;

@group(0) @binding(0) var<uniform> params: Params;
// Floats are written as bits.
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

// The 64 bits of a product: high, then low.
fn wide_product(a: u32, b: u32) -> vec2<u32> {
    let a_lo = a & 0xffffu;
    let a_hi = a >> 16u;
    let b_lo = b & 0xffffu;
    let b_hi = b >> 16u;
    let low = a_lo * b_lo;
    let first = a_hi * b_lo + (low >> 16u);
    let second = a_lo * b_hi + (first & 0xffffu);
    return vec2(a_hi * b_hi + (first >> 16u) + (second >> 16u), a * b);
}

fn block(counter: vec4<u32>) -> vec4<u32> {
    var words = counter;
    var key = vec2(params.seed_lo, params.seed_hi);
    for (var round = 0u; round < 10u; round += 1u) {
        let p = wide_product(0xd2511f53u, words.x);
        let q = wide_product(0xcd9e8d57u, words.z);
        words = vec4(q.x ^ words.y ^ key.x, q.y, p.x ^ words.w ^ key.y, p.y);
        key += vec2(0x9e3779b9u, 0xbb67ae85u);
    }
    return words;
}

fn unit(word: u32) -> f32 {
    return f32(word >> 8u) * 5.9604645e-8;
}

// Of a number in (0, 1].
fn logarithm(value: f32) -> f32 {
    let bits = bitcast<u32>(value);
    var exponent = f32(i32(bits >> 23u) - 127i);
    var mantissa = bitcast<f32>((bits & 0x7fffffu) | 0x3f800000u);
    if mantissa > 1.4142135 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let z = s * s;
    let series = 2.0 * s * (1.0 + z * (0.33333333 + z * (0.2 + z * (0.14285714 + z * 0.11111111))));
    return exponent * 0.69314718 + series;
}

// Cosine and sine of so many turns.
fn circle(turns: f32) -> vec2<f32> {
    let quarter = round(4.0 * turns);
    let a = (4.0 * turns - quarter) * 1.5707964;
    let z = a * a;
    let sine = a * (1.0 + z * (-0.16666667 + z * (0.0083333333 + z * (-0.00019841270 + z * 2.7557319e-6))));
    let cosine = 1.0 + z * (-0.5 + z * (0.041666667 + z * (-0.0013888889 + z * 2.4801587e-5)));
    switch u32(quarter) & 3u {
        case 1u: { return vec2(-sine, cosine); }
        case 2u: { return vec2(-cosine, -sine); }
        case 3u: { return vec2(sine, -cosine); }
        default: { return vec2(cosine, sine); }
    }
}

fn normal(word: vec2<u32>, which: u32) -> f32 {
    let radius = sqrt(-2.0 * logarithm(f32((word.x >> 8u) + 1u) * 5.9604645e-8));
    let at = circle(unit(word.y));
    return radius * select(at.x, at.y, which == 1u);
}

fn below(number: u32) -> u32 {
    let refused = (0u - params.bound) % params.bound;
    for (var attempt = 0u; attempt < 64u; attempt += 1u) {
        let words = block(vec4(number, attempt, params.stream, 0u));
        for (var i = 0u; i < 4u; i += 1u) {
            let product = wide_product(words[i], params.bound);
            if product.y >= refused {
                return product.x;
            }
        }
    }
    return 0u;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var at = id.x; at < params.len; at += groups.x * THREADS) {
        if params.kind == BELOW {
            out[at] = below(at);
            continue;
        }
        let words = block(vec4(at / 4u, 0u, params.stream, 0u));
        var found = words[at % 4u];
        if params.kind == UNIFORM {
            found = bitcast<u32>(unit(found));
        } else if params.kind == NORMAL {
            let first = at % 4u / 2u * 2u;
            found = bitcast<u32>(normal(vec2(words[first], words[first + 1u]), at % 2u));
        }
        out[at] = found;
    }
}
