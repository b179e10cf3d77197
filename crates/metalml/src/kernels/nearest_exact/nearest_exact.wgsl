// From estimates of the nearest centre to the nearest one. A row whose second best estimate is beyond the best by more than rounding can
// explain keeps its candidate; another looks at all centres of each block again. Distances are Σ_k (x - c)², summed in order.
// For the bound, with |x| and |c| of the row and the centre less the shift, d the length of a row, D the distance, and eps of float32:
// an estimate is off by at most eps / 2 (d + 4) (2 |x| |c| + |c|²), a distance by eps / 2 (d + 4) D², and no centre beyond
// |c| = |x| + 1.1 D can be the nearest. Higham (2002), "Accuracy and stability of numerical algorithms", section 3.1.
// One workgroup makes ROWS rows, and strides over them.

struct Params {
    n_rows: u32,
    n_cols: u32,
    x_ld: u32,
    y_ld: u32,
    first_row: u32,
    n_centres: u32,
    first_centre: u32,
}

const ROWS: u32 = 128u;
const SLAB: u32 = 16u;
const EPSILON: f32 = 1.1920929e-7;
const LARGEST: f32 = 3.4028234e38;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read> shift: array<f32>;
@group(0) @binding(4) var<storage, read> candidates: array<u32>;
@group(0) @binding(5) var<storage, read> least: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> labels: array<u32>;
@group(0) @binding(7) var<storage, read_write> distances: array<f32>;

// One value more than needed keeps rows on different banks.
var<workgroup> slab: array<f32, ROWS * (SLAB + 1u)>;
var<workgroup> unsure: array<u32, ROWS>;
var<workgroup> best_values: array<f32, ROWS>;
var<workgroup> best_indices: array<u32, ROWS>;

fn within_rounding(estimates: vec2<f32>, square: f32) -> bool {
    let d = f32(params.n_cols) + 4.0;
    let reach = square + max(estimates.x, -square) + 4.0 * d * EPSILON * square;
    let far = sqrt(square) + 1.1 * sqrt(reach);
    let bound = EPSILON * d * (2.0 * sqrt(square) * far + far * far + 2.0 * reach);
    // Not the other way round: what overflows is unsure.
    return !(estimates.y - estimates.x > bound);
}

// The nearest of the block for the row that begins at `start`, each thread with every so-many-th centre, then a tree.
fn look_again(start: u32, thread: u32) {
    var value = LARGEST;
    var index = 0xffffffffu;
    for (var j = thread; j < params.n_centres; j += ROWS) {
        var sum = 0.0;
        for (var k = 0u; k < params.n_cols; k += 1u) {
            let apart = x[start + k] - y[j * params.y_ld + k];
            sum += apart * apart;
        }
        if sum < value || index == 0xffffffffu {
            value = sum;
            index = params.first_centre + j;
        }
    }
    best_values[thread] = value;
    best_indices[thread] = index;
    for (var half = ROWS / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if thread < half {
            let other = best_values[thread + half];
            let lower = best_indices[thread + half] < best_indices[thread];
            if other < best_values[thread] || (other == best_values[thread] && lower) {
                best_values[thread] = other;
                best_indices[thread] = best_indices[thread + half];
            }
        }
    }
}

@compute @workgroup_size(ROWS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    for (var first = group.x * ROWS; first < params.n_rows; first += groups.x * ROWS) {
        let row = first + thread;
        let at = params.first_row + min(row, params.n_rows - 1u);
        let candidate = candidates[at];
        let here = candidate >= params.first_centre && candidate - params.first_centre < params.n_centres;
        let centre = select(0u, candidate - params.first_centre, here) * params.y_ld;
        var sum = 0.0;
        var square = 0.0;
        for (var start = 0u; start < params.n_cols; start += SLAB) {
            workgroupBarrier();
            for (var i = thread; i < ROWS * SLAB; i += ROWS) {
                let from_row = min(first + i / SLAB, params.n_rows - 1u);
                let k = min(start + i % SLAB, params.n_cols - 1u);
                slab[i / SLAB * (SLAB + 1u) + i % SLAB] = x[from_row * params.x_ld + k];
            }
            workgroupBarrier();
            for (var i = 0u; i < min(SLAB, params.n_cols - start); i += 1u) {
                let value = slab[thread * (SLAB + 1u) + i];
                let apart = value - y[centre + start + i];
                let shifted = value - shift[start + i];
                sum += apart * apart;
                square += shifted * shifted;
            }
        }
        let doubtful = row < params.n_rows && within_rounding(least[at], square);
        unsure[thread] = u32(doubtful);
        if row < params.n_rows && here && !doubtful {
            labels[at] = candidate;
            distances[at] = sum;
        }
        for (var i = 0u; i < ROWS; i += 1u) {
            if workgroupUniformLoad(&unsure[i]) == 0u {
                continue;
            }
            look_again((first + i) * params.x_ld, thread);
            if thread == 0u {
                let to = params.first_row + first + i;
                if params.first_centre == 0u || best_values[0] < distances[to] {
                    labels[to] = best_indices[0];
                    distances[to] = best_values[0];
                }
            }
            workgroupBarrier();
        }
    }
}
