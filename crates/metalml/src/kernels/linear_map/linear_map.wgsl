//! use two_float
// out[r, t] = Σ_k x[r, k] weights[t, k] + offset[t], row-major, each sum kept in two floats and rounded once: so a row gives the same
// whatever rows come with it, and an offset of the data costs nothing.
// `lanes` threads share a row; a tree adds their parts in fixed order. Workgroups stride over the rows.

struct Params {
    n_rows: u32,
    n_cols: u32,
    ld: u32,
    n_targets: u32,
    weights_ld: u32,
    first_target: u32,
    out_ld: u32,
    lanes: u32,
    zero: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read> offset: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

var<workgroup> sums: array<vec2<f32>, THREADS>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let lane = thread % params.lanes;
    let rows_per_group = THREADS / params.lanes;
    for (var first = group.x * rows_per_group; first < params.n_rows; first += groups.x * rows_per_group) {
        let row = first + thread / params.lanes;
        for (var target_ = 0u; target_ < params.n_targets; target_ += 1u) {
            var sum = vec2(0.0);
            if row < params.n_rows {
                for (var k = lane; k < params.n_cols; k += params.lanes) {
                    let term = two_product(x[row * params.ld + k], weights[target_ * params.weights_ld + k]);
                    sum = add_float(sum, term.x);
                    sum.y = keep(sum.y + term.y);
                }
            }
            sums[thread] = sum;
            for (var half = params.lanes / 2u; half > 0u; half /= 2u) {
                workgroupBarrier();
                if lane < half {
                    sums[thread] = add_pair(sums[thread], sums[thread + half]);
                }
            }
            if lane == 0u && row < params.n_rows {
                let at = params.first_target + target_;
                let total = add_pair(sums[thread], offset[at]);
                out[row * params.out_ld + at] = total.x + total.y;
            }
            workgroupBarrier();
        }
    }
}
