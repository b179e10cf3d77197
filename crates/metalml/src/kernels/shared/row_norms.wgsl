// norms[first + j] = sum over k of (y[j, k] - shift[k])², summed in order, one thread a row.

struct Params {
    n_rows: u32,
    n_cols: u32,
    ld: u32,
    first: u32,
}

const THREADS: u32 = 64u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> y: array<f32>;
@group(0) @binding(2) var<storage, read> shift: array<f32>;
@group(0) @binding(3) var<storage, read_write> norms: array<f32>;

fn write_norms(first_row: u32, rows_at_once: u32) {
    for (var row = first_row; row < params.n_rows; row += rows_at_once) {
        var sum = 0.0;
        for (var k = 0u; k < params.n_cols; k += 1u) {
            let value = y[row * params.ld + k] - shift[k];
            sum += value * value;
        }
        norms[params.first + row] = sum;
    }
}
