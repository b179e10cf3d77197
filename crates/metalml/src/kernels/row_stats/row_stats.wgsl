//! use row_sums
// One number of each row, and for the least and the greatest value also where it is: the first of equal ones, NaN before all.

struct Params {
    n_rows: u32,
    n_cols: u32,
    ld: u32,
    first_row: u32,
    lanes: u32,
    kind: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> values: array<f32>;
@group(0) @binding(3) var<storage, read_write> indices: array<u32>;

fn extreme(row: u32, lane: u32, thread: u32) -> Found {
    let greatest = params.kind == GREATEST;
    var found = Found(0.0, NO_INDEX);
    for (var col = lane; col < params.n_cols; col += params.lanes) {
        found = first_of(found, Found(x[row * params.ld + col], col), greatest);
    }
    workgroupBarrier();
    row_values[thread] = found.value;
    row_indices[thread] = found.index;
    for (var half = params.lanes / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            let other = Found(row_values[thread + half], row_indices[thread + half]);
            found = first_of(found, other, greatest);
            row_values[thread] = found.value;
            row_indices[thread] = found.index;
        }
    }
    return found;
}

fn number(row: u32, lane: u32, thread: u32) -> f32 {
    if params.kind == SUM || params.kind == SQUARES {
        var sum = 0.0;
        for (var col = lane; col < params.n_cols; col += params.lanes) {
            let value = x[row * params.ld + col];
            sum += select(value, value * value, params.kind == SQUARES);
        }
        return over_lanes(sum, lane, thread);
    }
    let largest = largest_size(row, lane, thread);
    if params.kind == MAX {
        return bitcast<f32>(largest);
    }
    let scale = scale_of(largest);
    return scaled_norm(row, params.kind, scale, lane, thread) / scale;
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let at_once = THREADS / params.lanes;
    let lane = thread % params.lanes;
    for (var first = group.x * at_once; first < params.n_rows; first += groups.x * at_once) {
        let own = first + thread / params.lanes;
        let row = min(own, params.n_rows - 1u);
        var found = Found(0.0, 0u);
        if params.kind == LEAST || params.kind == GREATEST {
            found = extreme(row, lane, thread);
        } else {
            found.value = number(row, lane, thread);
        }
        if lane == 0u && own < params.n_rows {
            values[params.first_row + row] = found.value;
            indices[params.first_row + row] = found.index;
        }
    }
}
