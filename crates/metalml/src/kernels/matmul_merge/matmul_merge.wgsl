//! use two_float
//! use epilogue
// out[r, c] = epilogue(alpha row Σ_splits parts[split, r, c] + beta out + bias): the splits of one product become its result.
// Sums are kept in two floats: LANES threads share an element, each with every so-many-th split, and a tree adds them in fixed order.

struct Params {
    n_rows: u32,
    n_cols: u32,
    n_splits: u32,
    part_ld: u32,
    split_stride: u32,
    out_start: u32,
    out_ld: u32,
    bias_start: u32,
    has_bias: u32,
    row_start: u32,
    row_use: u32,
    alpha: f32,
    beta: f32,
    epilogue: u32,
    gamma: f32,
    coef0: f32,
    degree: u32,
    zero: u32,
}

const THREADS: u32 = 256u;
const LANES: u32 = 16u;
const ELEMENTS: u32 = THREADS / LANES;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> row_terms: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

var<workgroup> sums: array<vec2<f32>, THREADS>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let lane = thread / ELEMENTS;
    let n_elements = params.n_rows * params.n_cols;
    for (var first = group.x * ELEMENTS; first < n_elements; first += groups.x * ELEMENTS) {
        let element = first + thread % ELEMENTS;
        let row = element / params.n_cols;
        let col = element % params.n_cols;
        var sum = vec2(0.0);
        if element < n_elements {
            for (var split = lane; split < params.n_splits; split += LANES) {
                sum = add_float(sum, parts[split * params.split_stride + row * params.part_ld + col]);
            }
        }
        sums[thread] = sum;
        for (var half = LANES / 2u; half > 0u; half /= 2u) {
            workgroupBarrier();
            if lane < half {
                sums[thread] = add_pair(sums[thread], sums[thread + half * ELEMENTS]);
            }
        }
        if lane == 0u && element < n_elements {
            let at = params.out_start + row * params.out_ld + col;
            var scale = params.alpha;
            var more = 0.0;
            if params.row_use == 1u {
                scale *= row_terms[params.row_start + row];
            }
            if params.row_use == 2u {
                more = row_terms[params.row_start + row];
            }
            if params.has_bias != 0u {
                more += bias[params.bias_start + col];
            }
            var value = scale * (sums[thread].x + sums[thread].y) + more;
            if params.beta != 0.0 {
                value += params.beta * out[at];
            }
            out[at] = epilogue(value, params.epilogue, params.gamma, params.coef0, params.degree);
        }
        workgroupBarrier();
    }
}
