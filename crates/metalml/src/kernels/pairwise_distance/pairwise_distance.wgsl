//! use distance_tile
//! use distance_metric
// out[i, j] = the distance of row i of x and row j of y, summed directly and in order. One workgroup makes TILE by TILE of them; they
// pass through workgroup memory, so that rows are written in one piece.

struct Params {
    n_rows: u32,
    n_refs: u32,
    n_cols: u32,
    x_ld: u32,
    y_ld: u32,
    x_start: u32,
    y_start: u32,
    metric: u32,
    power: f32,
    out_start: u32,
    out_ld: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

fn distances_of(sums: vec4<f32>) -> vec4<f32> {
    return vec4(distance_of(sums.x), distance_of(sums.y), distance_of(sums.z), distance_of(sums.w));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first_x = group.y * TILE;
    let first_y = group.x * TILE;
    let place = place_of(thread);
    var sums = distance_sums(first_x, first_y, thread);
    for (var i = 0u; i < TILE / SIDE; i += 1u) {
        let mine = row_of(&sums, i);
        slabs[place.x * 2u * SIDE + place.y] = distances_of(mine.a);
        slabs[place.x * 2u * SIDE + SIDE + place.y] = distances_of(mine.b);
        workgroupBarrier();
        for (var at = thread; at < SIDE * TILE; at += THREADS) {
            let row = first_x + nth(at / TILE, i);
            let col = first_y + at % TILE;
            if row < params.n_rows && col < params.n_refs {
                out[params.out_start + row * params.out_ld + col] = slabs[at / 4u][at % 4u];
            }
        }
        workgroupBarrier();
    }
}
