// Partial products over one split of the rows: with z = [x | y] and c = sqrt(w) (z - shift) unit, tiles of Σ c_i c_j for i in x, j >= i.
// One workgroup takes one pair of panels (PANEL columns each, left <= right) of one split, SLAB rows at a time through workgroup
// memory; a thread makes one TILE by TILE tile of it. Where a pair has few tiles, `lanes` threads share a tile, each with its own rows.
// Rows in order, no atomics: equal bits each time.
// partials: [split * lanes + lane][tile row * tiles + tile col][TILE * TILE]; tiles that no thread makes are left as they were.

struct Params {
    n_rows: u32,
    x_cols: u32,
    x_ld: u32,
    y_cols: u32,
    y_ld: u32,
    rows_per_split: u32,
    first_split: u32,
    lanes: u32,
    weighted: u32,
}

const PANEL: u32 = 128u;
const SLAB: u32 = 16u;
const TILE: u32 = 8u;
const PANEL_TILES: u32 = PANEL / TILE;
const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read> x_shift: array<f32>;
@group(0) @binding(4) var<storage, read> y_shift: array<f32>;
@group(0) @binding(5) var<storage, read> weights: array<f32>;
@group(0) @binding(6) var<storage, read> x_unit: array<f32>;
@group(0) @binding(7) var<storage, read> y_unit: array<f32>;
@group(0) @binding(8) var<storage, read_write> partials: array<f32>;

var<workgroup> left: array<vec4<f32>, SLAB * PANEL / 4u>;
var<workgroup> right: array<vec4<f32>, SLAB * PANEL / 4u>;

fn centred(row: u32, col: u32, end: u32) -> f32 {
    if row >= end || col >= params.x_cols + params.y_cols {
        return 0.0;
    }
    var value: f32;
    if col < params.x_cols {
        value = (x[row * params.x_ld + col] - x_shift[col]) * x_unit[col];
    } else {
        let target_ = col - params.x_cols;
        value = (y[row * params.y_ld + target_] - y_shift[target_]) * y_unit[target_];
    }
    if params.weighted != 0u {
        value *= sqrt(weights[row]);
    }
    return value;
}

fn centred4(row: u32, col: u32, end: u32) -> vec4<f32> {
    return vec4(centred(row, col, end), centred(row, col + 1u, end), centred(row, col + 2u, end), centred(row, col + 3u, end));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let n_cols = params.x_cols + params.y_cols;
    let n_panels = (n_cols + PANEL - 1u) / PANEL;
    // The pair of panels: rows of the upper triangle, one after the other.
    var left_panel = 0u;
    var pair = group.x;
    while pair >= n_panels - left_panel {
        pair -= n_panels - left_panel;
        left_panel += 1u;
    }
    let right_panel = left_panel + pair;
    let left_tiles = min((params.x_cols - left_panel * PANEL + TILE - 1u) / TILE, PANEL_TILES);
    let right_tiles = min((n_cols - right_panel * PANEL + TILE - 1u) / TILE, PANEL_TILES);
    let diagonal = left_panel == right_panel;
    // The tile of this thread, likewise, or none.
    let lane = thread % params.lanes;
    var task = thread / params.lanes;
    var tile_row = 0u;
    var tile_col = task;
    while tile_row < left_tiles {
        let first = select(0u, tile_row, diagonal);
        if task < right_tiles - first {
            tile_col = first + task;
            break;
        }
        task -= right_tiles - first;
        tile_row += 1u;
    }
    let busy = tile_row < left_tiles;

    let start = group.y * params.rows_per_split;
    let end = min(start + params.rows_per_split, params.n_rows);
    var sums: array<vec4<f32>, 16>;
    for (var slab = start; slab < end; slab += SLAB) {
        for (var i = thread; i < SLAB * PANEL / 4u; i += THREADS) {
            let row = slab + i / (PANEL / 4u);
            let col = (i % (PANEL / 4u)) * 4u;
            left[i] = centred4(row, left_panel * PANEL + col, end);
            if !diagonal {
                right[i] = centred4(row, right_panel * PANEL + col, end);
            }
        }
        workgroupBarrier();
        if busy {
            for (var k = lane; k < SLAB; k += params.lanes) {
                let at = k * (PANEL / 4u);
                let a0 = left[at + 2u * tile_row];
                let a1 = left[at + 2u * tile_row + 1u];
                var b0: vec4<f32>;
                var b1: vec4<f32>;
                if diagonal {
                    b0 = left[at + 2u * tile_col];
                    b1 = left[at + 2u * tile_col + 1u];
                } else {
                    b0 = right[at + 2u * tile_col];
                    b1 = right[at + 2u * tile_col + 1u];
                }
                for (var i = 0u; i < 4u; i += 1u) {
                    sums[2u * i] += a0[i] * b0;
                    sums[2u * i + 1u] += a0[i] * b1;
                    sums[2u * i + 8u] += a1[i] * b0;
                    sums[2u * i + 9u] += a1[i] * b1;
                }
            }
        }
        workgroupBarrier();
    }
    if busy {
        let tiles = (n_cols + TILE - 1u) / TILE;
        let row = left_panel * PANEL_TILES + tile_row;
        let col = right_panel * PANEL_TILES + tile_col;
        let part = (params.first_split + group.y) * params.lanes + lane;
        let base = ((part * tiles + row) * tiles + col) * TILE * TILE;
        for (var i = 0u; i < 16u; i += 1u) {
            for (var j = 0u; j < 4u; j += 1u) {
                partials[base + 4u * i + j] = sums[i][j];
            }
        }
    }
}
