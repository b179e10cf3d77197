// bins[row, word] = of four columns the number of each one's thresholds that are below the value, a byte each; NaN has a bin of its own. The
// search is that of Knuth, TAOCP 3, section 6.2.1. Numbers are compared by their bits, -0 as 0. One word a thread; threads stride over the matrix.
// thresholds: keys of all columns one after the other, ascending in each; starts: [column], and the end of the last.

struct Params {
    n_rows: u32,
    first_row: u32,
    n_cols: u32,
    ld: u32,
    missing: u32,
}

const THREADS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> thresholds: array<u32>;
@group(0) @binding(3) var<storage, read> starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> bins: array<u32>;

fn bin_of(value: f32, col: u32) -> u32 {
    let bits = bitcast<u32>(value);
    if (bits & 0x7fffffffu) > 0x7f800000u {
        return params.missing;
    }
    let plain = select(bits, 0u, bits == 0x80000000u);
    let key = select(plain | 0x80000000u, ~plain, (plain & 0x80000000u) != 0u);
    var low = starts[col];
    var high = starts[col + 1u];
    while low < high {
        let middle = (low + high) / 2u;
        if key <= thresholds[middle] {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return low - starts[col];
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let words = (params.n_cols + 3u) / 4u;
    for (var at = id.x; at < params.n_rows * words; at += groups.x * THREADS) {
        let row = at / words;
        let first = at % words * 4u;
        var word = 0u;
        for (var i = 0u; i < min(4u, params.n_cols - first); i += 1u) {
            word |= bin_of(x[row * params.ld + first + i], first + i) << (8u * i);
        }
        bins[params.first_row * words + at] = word;
    }
}
