// turned[c, r] = values[r, c]. Tiles of TILE by TILE pass through workgroup memory, so that rows are read and written in one piece.

struct Params {
    n_rows: u32,
    n_cols: u32,
    start: u32,
    ld: u32,
    turned_ld: u32,
}

const TILE: u32 = 32u;
const STEP: u32 = 8u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> turned: array<f32>;

// One more column keeps the columns of the tile on different banks.
var<workgroup> tile: array<array<f32, TILE + 1u>, TILE>;

@compute @workgroup_size(TILE, STEP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let first_row = group.y * TILE;
    let first_col = group.x * TILE;
    for (var i = local.y; i < TILE; i += STEP) {
        let row = first_row + i;
        let col = first_col + local.x;
        if row < params.n_rows && col < params.n_cols {
            tile[i][local.x] = values[params.start + row * params.ld + col];
        }
    }
    workgroupBarrier();
    for (var i = local.y; i < TILE; i += STEP) {
        let row = first_row + local.x;
        let col = first_col + i;
        if row < params.n_rows && col < params.n_cols {
            turned[col * params.turned_ld + row] = tile[local.x][i];
        }
    }
}
