// The nearest of a few centres, as Σ_k (x - c)², summed in order; ties to the lowest index.
// The centres stay in workgroup memory, four side by side; rows pass through it, so that they are read in one piece.
// A workgroup takes rows_at_once rows at a time, which is a power of two, and strides over all; THREADS / rows_at_once threads
// share a row, each with every so-many-th four of the centres.

struct Params {
    n_rows: u32,
    n_cols: u32,
    x_ld: u32,
    y_ld: u32,
    first_row: u32,
    n_centres: u32,
    rows_at_once: u32,
}

const THREADS: u32 = 256u;
const CENTRES: u32 = 512u;
const VALUES: u32 = 1536u;
const LARGEST: f32 = 3.4028234e38;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> labels: array<u32>;
@group(0) @binding(4) var<storage, read_write> distances: array<f32>;

// [four of the centres][n_cols]
var<workgroup> centres: array<vec4<f32>, CENTRES>;
var<workgroup> rows: array<f32, VALUES>;
var<workgroup> values: array<f32, THREADS>;
var<workgroup> indices: array<u32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let fours = (params.n_centres + 3u) / 4u;
    for (var i = thread; i < fours * params.n_cols; i += THREADS) {
        for (var lane = 0u; lane < 4u; lane += 1u) {
            let j = min(i / params.n_cols * 4u + lane, params.n_centres - 1u);
            centres[i][lane] = y[j * params.y_ld + i % params.n_cols];
        }
    }
    // An odd stride keeps rows on different banks.
    let stride = params.n_cols | 1u;
    let at_once = params.rows_at_once;
    let lanes = THREADS / at_once;
    let row = thread % at_once;
    let lane = thread / at_once;
    for (var first = group.x * at_once; first < params.n_rows; first += groups.x * at_once) {
        let n_rows = min(at_once, params.n_rows - first);
        workgroupBarrier();
        for (var i = thread; i < n_rows * params.n_cols; i += THREADS) {
            let from_row = i / params.n_cols;
            let k = i % params.n_cols;
            rows[from_row * stride + k] = x[(first + from_row) * params.x_ld + k];
        }
        workgroupBarrier();
        var value = LARGEST;
        var index = 0xffffffffu;
        for (var four = lane; four < fours && row < n_rows; four += lanes) {
            var sums = vec4<f32>();
            for (var k = 0u; k < params.n_cols; k += 1u) {
                let apart = rows[row * stride + k] - centres[four * params.n_cols + k];
                sums += apart * apart;
            }
            // The last centre stands for those that there are not: it never wins over itself.
            for (var i = 0u; i < 4u; i += 1u) {
                if sums[i] < value || index == 0xffffffffu {
                    value = sums[i];
                    index = 4u * four + i;
                }
            }
        }
        values[thread] = value;
        indices[thread] = index;
        for (var half = lanes / 2u; half > 0u; half /= 2u) {
            workgroupBarrier();
            if lane < half {
                let other = thread + half * at_once;
                let lower = indices[other] < indices[thread];
                if values[other] < values[thread] || (values[other] == values[thread] && lower) {
                    values[thread] = values[other];
                    indices[thread] = indices[other];
                }
            }
        }
        if lane == 0u && row < n_rows {
            labels[params.first_row + first + row] = indices[thread];
            distances[params.first_row + first + row] = values[thread];
        }
    }
}
