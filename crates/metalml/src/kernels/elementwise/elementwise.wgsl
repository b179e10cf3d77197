// out = f(clip((x - shift) scale + offset)) of each value, NaN first replaced by `fill` if that is asked for. One vector of four a step; threads
// stride over the matrix, whose rows are vectors, or where they are not (ld < 4) several rows make one wide row.
// columns: [shift, scale, offset, fill][column of the wide row]

struct Params {
    n_values: u32,
    vectors: u32,
    fills: u32,
    clips: u32,
    activation: u32,
    low: f32,
    high: f32,
    threshold: f32,
}

const THREADS: u32 = 256u;
const RELU: u32 = 1u;
const TANH: u32 = 2u;
const LOGISTIC: u32 = 3u;
const ABSOLUTE: u32 = 4u;
const SQUARE: u32 = 5u;
const ROOT: u32 = 6u;
const LOGARITHM: u32 = 7u;
const EXPONENTIAL: u32 = 8u;
const ABOVE: u32 = 9u;
// Beyond these exp leaves float32, and tanh is 1.
const MOST_EXP: f32 = 88.72283;
const LEAST_EXP: f32 = -103.97208;
const MOST_TANH: f32 = 16.0;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> columns: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;

fn is_nan(value: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(value) & vec4(0x7fffffffu)) > vec4(0x7f800000u);
}

fn activated(value: vec4<f32>) -> vec4<f32> {
    switch params.activation {
        case RELU: { return select(value, vec4<f32>(), value <= vec4<f32>()); }
        case TANH: { return tanh(clamp(value, vec4(-MOST_TANH), vec4(MOST_TANH))); }
        case LOGISTIC: { return 1.0 / (1.0 + exp(clamp(-value, vec4(LEAST_EXP), vec4(MOST_EXP)))); }
        case ABSOLUTE: { return abs(value); }
        case SQUARE: { return value * value; }
        case ROOT: { return sqrt(value); }
        case LOGARITHM: { return log(value); }
        case EXPONENTIAL: { return exp(clamp(value, vec4(LEAST_EXP), vec4(MOST_EXP))); }
        case ABOVE: { return select(vec4<f32>(), vec4(1.0), value > vec4(params.threshold)); }
        default: { return value; }
    }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let vectors = params.vectors;
    for (var at = id.x; at < (params.n_values + 3u) / 4u; at += groups.x * THREADS) {
        let col = at % vectors;
        var value = x[at];
        if params.fills != 0u {
            value = select(value, columns[3u * vectors + col], is_nan(value));
        }
        let missing = is_nan(value);
        var mapped = (value - columns[col]) * columns[vectors + col] + columns[2u * vectors + col];
        if params.clips != 0u {
            mapped = clamp(mapped, vec4(params.low), vec4(params.high));
        }
        // Comparisons and limits need not know NaN.
        out[at] = select(activated(mapped), value, missing);
    }
}
