//! use two_float
// out[r, c] = offset[c] - Σ_k ((x[r, k] - place[c, k]) weight[c, k])², row-major. A place is a pair, taken away in two steps: far from
// the origin nothing is lost. Differences are weighted before they are squared, so that squares stay in range where their sum does.
// `lanes` threads share a row; a tree adds their parts in fixed order. Workgroups stride over the rows.

struct Params {
    n_rows: u32,
    n_cols: u32,
    ld: u32,
    n_classes: u32,
    out_ld: u32,
    lanes: u32,
    zero: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> place: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> weight: array<f32>;
@group(0) @binding(4) var<storage, read> offset: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;

var<workgroup> sums: array<f32, THREADS>;

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
        for (var gaussian = 0u; gaussian < params.n_classes; gaussian += 1u) {
            var sum = 0.0;
            if row < params.n_rows {
                for (var k = lane; k < params.n_cols; k += params.lanes) {
                    let at = gaussian * params.n_cols + k;
                    let off = keep(x[row * params.ld + k] - place[at].x) - place[at].y;
                    let scaled = off * weight[at];
                    sum += scaled * scaled;
                }
            }
            sums[thread] = sum;
            for (var half = params.lanes / 2u; half > 0u; half /= 2u) {
                workgroupBarrier();
                if lane < half {
                    sums[thread] += sums[thread + half];
                }
            }
            if lane == 0u && row < params.n_rows {
                let total = add_float(offset[gaussian], -sums[thread]);
                out[row * params.out_ld + gaussian] = total.x + total.y;
            }
            workgroupBarrier();
        }
    }
}
