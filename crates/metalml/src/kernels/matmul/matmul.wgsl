//! use epilogue
// out = epilogue(alpha row a b + beta out + bias). a is n_rows by k, b is k by n_cols, each with two strides, so that every layout can
// be multiplied: what does not lie in whole vectors of four comes here.
// One workgroup makes TILE by TILE of out, SLAB of k at a time through workgroup memory; a thread makes PER by PER.
// A slab is summed by itself before it joins the total, which keeps rounding near the square root of what one long sum has.

struct Params {
    n_rows: u32,
    n_cols: u32,
    k_len: u32,
    a_start: u32,
    a_row_stride: u32,
    a_k_stride: u32,
    b_start: u32,
    b_k_stride: u32,
    b_col_stride: u32,
    out_start: u32,
    out_ld: u32,
    bias_start: u32,
    has_bias: u32,
    row_start: u32,
    row_use: u32,
    alpha: f32,
    beta: f32,
    epilogue: u32,
    gamma: f32,
    coef0: f32,
    degree: u32,
}

const TILE: u32 = 64u;
const SLAB: u32 = 16u;
const PER: u32 = 4u;
const SIDE: u32 = TILE / PER;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read> row_terms: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;

// One column of padding keeps the transposed stores of the left tile off one bank.
var<workgroup> left: array<array<f32, TILE + 1u>, SLAB>;
var<workgroup> right: array<array<f32, TILE + 1u>, SLAB>;

fn load_left(row: u32, k: u32) -> f32 {
    if row >= params.n_rows || k >= params.k_len {
        return 0.0;
    }
    return a[params.a_start + row * params.a_row_stride + k * params.a_k_stride];
}

fn load_right(k: u32, col: u32) -> f32 {
    if col >= params.n_cols || k >= params.k_len {
        return 0.0;
    }
    return b[params.b_start + k * params.b_k_stride + col * params.b_col_stride];
}

@compute @workgroup_size(SIDE, SIDE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let first_row = group.y * TILE;
    let first_col = group.x * TILE;
    var total: array<vec4<f32>, PER>;
    for (var slab = 0u; slab < params.k_len; slab += SLAB) {
        for (var i = thread; i < TILE * SLAB; i += SIDE * SIDE) {
            // Neighbouring threads read neighbouring memory, whichever stride is 1.
            if params.a_k_stride == 1u {
                left[i % SLAB][i / SLAB] = load_left(first_row + i / SLAB, slab + i % SLAB);
            } else {
                left[i / TILE][i % TILE] = load_left(first_row + i % TILE, slab + i / TILE);
            }
            if params.b_col_stride == 1u {
                right[i / TILE][i % TILE] = load_right(slab + i / TILE, first_col + i % TILE);
            } else {
                right[i % SLAB][i / SLAB] = load_right(slab + i % SLAB, first_col + i / SLAB);
            }
        }
        workgroupBarrier();
        var part: array<vec4<f32>, PER>;
        for (var k = 0u; k < SLAB; k += 1u) {
            let col = local.x * PER;
            let values = vec4(right[k][col], right[k][col + 1u], right[k][col + 2u], right[k][col + 3u]);
            for (var i = 0u; i < PER; i += 1u) {
                part[i] += left[k][local.y * PER + i] * values;
            }
        }
        for (var i = 0u; i < PER; i += 1u) {
            total[i] += part[i];
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < PER; i += 1u) {
        let row = first_row + local.y * PER + i;
        for (var j = 0u; j < PER; j += 1u) {
            let col = first_col + local.x * PER + j;
            if row < params.n_rows && col < params.n_cols {
                let at = params.out_start + row * params.out_ld + col;
                var value = params.alpha * total[i][j];
                if params.row_use == 1u {
                    value *= row_terms[params.row_start + row];
                }
                if params.row_use == 2u {
                    value += row_terms[params.row_start + row];
                }
                if params.has_bias != 0u {
                    value += bias[params.bias_start + col];
                }
                if params.beta != 0.0 {
                    value += params.beta * out[at];
                }
                out[at] = epilogue(value, params.epilogue, params.gamma, params.coef0, params.degree);
            }
        }
    }
}
