// Each row of values becomes exp(value - greatest) / Σ exp(value - greatest), in place. A row with a NaN, or with +inf, becomes NaN.
// `lanes` threads share a row; trees take their greatest and their sums in fixed order. Workgroups stride over the rows.

struct Params {
    n_rows: u32,
    n_cols: u32,
    start: u32,
    ld: u32,
    lanes: u32,
}

const THREADS: u32 = 256u;
const LEAST: f32 = -3.4028234e38;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> values: array<f32>;

var<workgroup> shared_: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let lane = thread % params.lanes;
    let leader = thread - lane;
    let rows_per_group = THREADS / params.lanes;
    for (var first = group.x * rows_per_group; first < params.n_rows; first += groups.x * rows_per_group) {
        let row = first + thread / params.lanes;
        let begin = params.start + row * params.ld;
        // Lanes past the end of the rows stay with the others at the barriers, and have no columns.
        let n_cols = select(0u, params.n_cols, row < params.n_rows);
        var greatest = LEAST;
        for (var col = lane; col < n_cols; col += params.lanes) {
            greatest = max(greatest, values[begin + col]);
        }
        shared_[thread] = greatest;
        for (var half = params.lanes / 2u; half > 0u; half /= 2u) {
            workgroupBarrier();
            if lane < half {
                shared_[thread] = max(shared_[thread], shared_[thread + half]);
            }
        }
        workgroupBarrier();
        greatest = shared_[leader];
        workgroupBarrier();
        var sum = 0.0;
        for (var col = lane; col < n_cols; col += params.lanes) {
            let value = exp(values[begin + col] - greatest);
            values[begin + col] = value;
            sum += value;
        }
        shared_[thread] = sum;
        for (var half = params.lanes / 2u; half > 0u; half /= 2u) {
            workgroupBarrier();
            if lane < half {
                shared_[thread] += shared_[thread + half];
            }
        }
        workgroupBarrier();
        sum = shared_[leader];
        for (var col = lane; col < n_cols; col += params.lanes) {
            values[begin + col] = values[begin + col] / sum;
        }
        workgroupBarrier();
    }
}
