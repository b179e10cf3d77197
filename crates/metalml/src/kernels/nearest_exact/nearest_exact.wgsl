//! use least_groups
//! use direct_sum
// From the least estimates of groups of centres to the nearest centre: every centre of a group whose estimate is not beyond the least
// one by more than rounding can explain is looked at directly, and the nearest of these stays; of equal ones the lowest.
// For the bound, with |x| and |c| of the row and the centre less the shift, d the length of a row, D the distance, and eps of float32:
// an estimate is off by at most eps / 2 (d + 4) (2 |x| |c| + |c|²), a distance by eps / 2 (d + 4) D², and no centre beyond
// |c| = |x| + 1.1 D can be the nearest. Higham (2002), "Accuracy and stability of numerical algorithms", section 3.1.
// LANES threads make a row; a workgroup strides over the rows.

struct Params {
    n_rows: u32,
    n_cols: u32,
    x_ld: u32,
    y_ld: u32,
    x_start: u32,
    first_row: u32,
    n_centres: u32,
    first_centre: u32,
    n_groups: u32,
    side: u32,
    per_group: u32,
}

const LANES: u32 = 8u;
const ROWS: u32 = 32u;
const THREADS: u32 = LANES * ROWS;
// Groups of a row that are remembered; if there are more, all are looked at.
const ROOM: u32 = 32u;
const EPSILON: f32 = 1.1920929e-7;
const LARGEST: f32 = 3.4028234e38;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> x4: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> y: array<f32>;
@group(0) @binding(4) var<storage, read> y4: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> shift: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> least: array<f32>;
@group(0) @binding(7) var<storage, read_write> labels: array<u32>;
@group(0) @binding(8) var<storage, read_write> distances: array<f32>;

var<workgroup> values: array<f32, THREADS>;
var<workgroup> squares: array<f32, THREADS>;
var<workgroup> indices: array<u32, THREADS>;
var<workgroup> found: array<u32, ROWS * ROOM>;
var<workgroup> counts: array<atomic<u32>, ROWS>;

// The largest estimate that the nearest centre may have.
fn reach_of(estimate: f32, square: f32) -> f32 {
    let d = f32(params.n_cols) + 4.0;
    let reach = square + max(estimate, -square) + 4.0 * d * EPSILON * square;
    let far = sqrt(square) + 1.1 * sqrt(reach);
    return estimate + EPSILON * d * (2.0 * sqrt(square) * far + far * far + 2.0 * reach);
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let own = thread / LANES;
    let lane = thread % LANES;
    for (var first = group.x * ROWS; first < params.n_rows; first += groups.x * ROWS) {
        let row = min(first + own, params.n_rows - 1u);
        let x_row = params.x_start + row;
        var estimate = LARGEST;
        for (var at = lane; at < params.n_groups; at += LANES) {
            estimate = min(estimate, least[row * params.n_groups + at]);
        }
        var square = 0.0;
        if params.x_ld % 4u == 0u && params.n_cols % 4u == 0u {
            for (var k = lane; k < params.n_cols / 4u; k += LANES) {
                let value = x4[x_row * (params.x_ld / 4u) + k] - shift[k];
                square += dot(value, value);
            }
        } else {
            for (var k = lane; k < params.n_cols; k += LANES) {
                let value = x[x_row * params.x_ld + k] - shift[k / 4u][k % 4u];
                square += value * value;
            }
        }
        workgroupBarrier();
        values[thread] = estimate;
        squares[thread] = square;
        if lane == 0u {
            atomicStore(&counts[own], 0u);
        }
        for (var half = LANES / 2u; half > 0u; half /= 2u) {
            workgroupBarrier();
            if lane < half {
                values[thread] = min(values[thread], values[thread + half]);
                squares[thread] += squares[thread + half];
            }
        }
        workgroupBarrier();
        let limit = reach_of(values[own * LANES], squares[own * LANES]);
        for (var at = lane; at < params.n_groups; at += LANES) {
            // Not the other way round: what overflows is looked at.
            if !(least[row * params.n_groups + at] > limit) {
                let to = atomicAdd(&counts[own], 1u);
                if to < ROOM {
                    found[own * ROOM + to] = at;
                }
            }
        }
        workgroupBarrier();
        let count = atomicLoad(&counts[own]);
        let all = count > ROOM;
        var value = LARGEST;
        var index = 0xffffffffu;
        for (var at = lane; at < select(count, params.n_groups, all) * params.per_group; at += LANES) {
            var number = at / params.per_group;
            if !all {
                number = found[own * ROOM + number];
            }
            let centre = row_of_group(number, at % params.per_group);
            if centre < params.n_centres {
                let sum = direct_sum(x_row, centre);
                if sum < value || (sum == value && centre < index) || index == 0xffffffffu {
                    value = sum;
                    index = centre;
                }
            }
        }
        workgroupBarrier();
        values[thread] = value;
        indices[thread] = index;
        for (var half = LANES / 2u; half > 0u; half /= 2u) {
            workgroupBarrier();
            if lane < half {
                let other = thread + half;
                let lower = indices[other] < indices[thread];
                if values[other] < values[thread] || (values[other] == values[thread] && lower) {
                    values[thread] = values[other];
                    indices[thread] = indices[other];
                }
            }
        }
        if lane == 0u && first + own < params.n_rows {
            let to = params.first_row + row;
            if params.first_centre == 0u || values[thread] < distances[to] {
                labels[to] = params.first_centre + indices[thread];
                distances[to] = values[thread];
            }
        }
    }
}
