//! Products with a thin side as WGSL text: a stream of one operand past a few rows or columns of the other.

use std::fmt::Write as _;

/// Columns of the result that `rows` makes at once, and rows that `cols` does: the kernels there are.
pub(crate) const ROWS_WIDTHS: [usize; 4] = [1, 4, 8, 16];
pub(crate) const COLS_WIDTHS: [usize; 3] = [1, 4, 8];
/// Columns of the result, `k`, and rows a workgroup makes, of the kernel for a short `k` that lies from row to row.
pub(crate) const SHORT: [usize; 3] = [8, 64, 1024];

const PARAMS: &str = "struct Params {\n    n_rows: u32,\n    n_cols: u32,\n    k_len: u32,\n    k_per_split: u32,\n    a_start: u32,\n    a_ld: u32,\n    \
     b_start: u32,\n    b_k_stride: u32,\n    b_col_stride: u32,\n    out_start: u32,\n    out_row_stride: u32,\n    out_col_stride: u32,\n    \
     split_stride: u32,\n    bias_start: u32,\n    has_bias: u32,\n    row_start: u32,\n    row_use: u32,\n    swapped: u32,\n    alpha: f32,\n    \
     beta: f32,\n    epilogue: u32,\n    gamma: f32,\n    coef0: f32,\n    degree: u32,\n}\n\
     @group(0) @binding(0) var<uniform> params: Params;\n\
     @group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;\n\
     @group(0) @binding(2) var<storage, read> b: array<f32>;\n\
     @group(0) @binding(3) var<storage, read> bias: array<f32>;\n\
     @group(0) @binding(4) var<storage, read> row_terms: array<f32>;\n\
     @group(0) @binding(5) var<storage, read_write> out: array<f32>;\n";

/// Writes one value with its linear terms and the epilogue. `swapped` says that rows and columns have changed their names, as
/// they do where the thin operand is the left one.
const GIVE: &str = "fn give(row: u32, col: u32, split: u32, sum: f32) {\n    \
     let of_row = select(row, col, params.swapped != 0u);\n    let of_col = select(col, row, params.swapped != 0u);\n    \
     let at = params.out_start + split * params.split_stride + row * params.out_row_stride + col * params.out_col_stride;\n    \
     var value = params.alpha * sum;\n    \
     if params.row_use == 1u { value *= row_terms[params.row_start + of_row]; }\n    \
     if params.row_use == 2u { value += row_terms[params.row_start + of_row]; }\n    \
     if params.has_bias != 0u { value += bias[params.bias_start + of_col]; }\n    \
     if params.beta != 0.0 { value += params.beta * out[at]; }\n    \
     out[at] = epilogue(value, params.epilogue, params.gamma, params.coef0, params.degree);\n}\n";

/// `out[row, col] = Σ_k a[row, k] b[k, col]` for up to `width` columns: eight threads share a row, each with every eighth vector.
pub(crate) fn rows(width: usize) -> String {
    // What fits 16 KiB of workgroup memory.
    let (slab, at_once) = if width > 8 { (64, 8) } else { (128, width) };
    let mut text = format!(
        "//! use epilogue\n\
         // out = epilogue(alpha row a b + beta out + bias) for at most {width} columns; see build/thin.rs.\n\
         // a lies in rows of vectors, k along a row; b has two strides, and passes through workgroup memory, SLAB of k at a time.\n\
         // A split (group y) sums k_per_split of k.\n\
         // Eight threads share a row and a workgroup makes PER rows with each eight; it strides over the rows.\n\
         {PARAMS}\
         const THREADS: u32 = 256u;\nconst LANES: u32 = 8u;\nconst PER: u32 = 4u;\nconst ROWS: u32 = THREADS / LANES * PER;\n\
         const WIDTH: u32 = {width}u;\nconst SLAB: u32 = {slab}u;\nconst AT_ONCE: u32 = {at_once}u;\n\
         var<workgroup> few: array<vec4<f32>, WIDTH * SLAB / 4u>;\n\
         // One more than THREADS keeps the threads that add them up on different banks.\n\
         var<workgroup> parts: array<f32, AT_ONCE * (THREADS + 1u)>;\n\
         {GIVE}\
         fn b_at(k: u32, col: u32) -> f32 {{\n    if k >= params.k_len || col >= params.n_cols {{ return 0.0; }}\n    \
         return b[params.b_start + k * params.b_k_stride + col * params.b_col_stride];\n}}\n\
         @compute @workgroup_size(THREADS)\n\
         fn main(\n    @builtin(workgroup_id) group: vec3<u32>,\n    @builtin(num_workgroups) groups: vec3<u32>,\n    \
         @builtin(local_invocation_index) thread: u32,\n) {{\n    \
         let lane = thread % LANES;\n    let team = thread / LANES;\n    \
         let first_k = group.y * params.k_per_split;\n    let end_k = min(first_k + params.k_per_split, params.k_len);\n    \
         for (var first = group.x * ROWS; first < params.n_rows; first += groups.x * ROWS) {{\n"
    );
    for r in 0..4 {
        _ = writeln!(
            text,
            "        let at{r} = params.a_start + min(first + {}u + team, params.n_rows - 1u) * params.a_ld;",
            r * 32
        );
        for n in 0..width {
            _ = writeln!(text, "        var sum{r}_{n} = 0.0;");
        }
    }
    text += "        for (var slab = first_k; slab < end_k; slab += SLAB) {\n            \
             workgroupBarrier();\n            \
             for (var i = thread; i < WIDTH * SLAB / 4u; i += THREADS) {\n                \
             let k = slab + i % (SLAB / 4u) * 4u;\n                let col = i / (SLAB / 4u);\n                \
             few[i] = vec4(b_at(k, col), b_at(k + 1u, col), b_at(k + 2u, col), b_at(k + 3u, col));\n            }\n            \
             workgroupBarrier();\n            \
             for (var quad = lane; quad < SLAB / 4u && slab + quad * 4u < end_k; quad += LANES) {\n                \
             let k = slab / 4u + quad;\n";
    for r in 0..4 {
        _ = writeln!(text, "                var x{r} = a[at{r} + k];");
    }
    text += "                let rest = end_k - 4u * k;\n                if rest < 4u {\n";
    for r in 0..4 {
        _ = writeln!(
            text,
            "                    x{r} = select(vec4(0.0), x{r}, vec4(0u, 1u, 2u, 3u) < vec4(rest));"
        );
    }
    text += "                }\n";
    for n in 0..width {
        _ = writeln!(text, "                let b{n} = few[{n}u * SLAB / 4u + quad];");
        for r in 0..4 {
            _ = writeln!(text, "                sum{r}_{n} += dot(x{r}, b{n});");
        }
    }
    text += "            }\n        }\n";
    for r in 0..4 {
        for first in (0..width).step_by(at_once) {
            text += "        workgroupBarrier();\n";
            for n in 0..at_once {
                _ = writeln!(
                    text,
                    "        parts[{n}u * (THREADS + 1u) + thread] = sum{r}_{};",
                    first + n
                );
            }
            _ = write!(
                text,
                "        workgroupBarrier();\n        \
                 for (var i = thread; i < THREADS / LANES * AT_ONCE; i += THREADS) {{\n            \
                 let row = first + {}u + i / AT_ONCE;\n            let col = {first}u + i % AT_ONCE;\n            \
                 let begin = i % AT_ONCE * (THREADS + 1u) + i / AT_ONCE * LANES;\n            \
                 let sum = ((parts[begin] + parts[begin + 1u]) + (parts[begin + 2u] + parts[begin + 3u]))\n                \
                 + ((parts[begin + 4u] + parts[begin + 5u]) + (parts[begin + 6u] + parts[begin + 7u]));\n            \
                 if row < params.n_rows && col < params.n_cols {{ give(row, col, group.y, sum); }}\n        }}\n",
                r * 32
            );
        }
    }
    text + "    }\n}\n"
}

/// `out[col, row] = Σ_k b[k, row] a[k, col]`, `a` read from row to row, for up to `width` of the thin side: a thread keeps four
/// neighbouring columns of `a`, eight threads share them, each with every eighth `k`.
pub(crate) fn cols(width: usize) -> String {
    let mut text = format!(
        "//! use epilogue\n\
         // out[row, col] = epilogue(alpha row Σ_k a[k, row] b[k, col] + beta out + bias) for at most {width} columns; see build/thin.rs.\n\
         // a lies in rows of vectors, k from row to row; b has two strides. A split (group y) sums k_per_split of k.\n\
         // A workgroup makes ROWS rows at a time: a thread four of them, from every eighth k; eight threads add up.\n\
         {PARAMS}\
         const THREADS: u32 = 256u;\nconst LANES: u32 = 8u;\nconst QUADS: u32 = THREADS / LANES;\nconst ROWS: u32 = 4u * QUADS;\n\
         const WIDTH: u32 = {width}u;\nconst SLAB: u32 = 64u;\n\
         var<workgroup> few: array<f32, WIDTH * SLAB>;\n\
         var<workgroup> parts: array<vec4<f32>, THREADS>;\n\
         {GIVE}\
         @compute @workgroup_size(THREADS)\n\
         fn main(\n    @builtin(workgroup_id) group: vec3<u32>,\n    @builtin(num_workgroups) groups: vec3<u32>,\n    \
         @builtin(local_invocation_index) thread: u32,\n) {{\n    \
         let quad = thread % QUADS;\n    let lane = thread / QUADS;\n    \
         let first_k = group.y * params.k_per_split;\n    \
         let end_k = min(first_k + params.k_per_split, params.k_len);\n    \
         for (var first = group.x * ROWS; first < params.n_rows; first += groups.x * ROWS) {{\n    \
         let row = first + 4u * quad;\n    \
         let begin = params.a_start + min(row, params.n_rows - 1u) / 4u;\n"
    );
    for n in 0..width {
        _ = writeln!(text, "    var sum{n} = vec4(0.0);");
    }
    text += "    for (var slab = first_k; slab < end_k; slab += SLAB) {\n        workgroupBarrier();\n        \
             for (var i = thread; i < WIDTH * SLAB; i += THREADS) {\n            let k = slab + i / WIDTH;\n            let col = i % WIDTH;\n            \
             few[i] = 0.0;\n            \
             if k < end_k && col < params.n_cols { few[i] = b[params.b_start + k * params.b_k_stride + col * params.b_col_stride]; }\n        }\n        \
             workgroupBarrier();\n        \
             for (var step = lane; step < SLAB && slab + step < end_k; step += 4u * LANES) {\n";
    // Four loads on their way at a time.
    for i in 0..4 {
        _ = writeln!(
            text,
            "            let x{i} = a[begin + min(slab + step + {}u, end_k - 1u) * params.a_ld];",
            8 * i
        );
    }
    for i in 0..4 {
        _ = writeln!(
            text,
            "            if slab + step + {0}u < end_k && step + {0}u < SLAB {{",
            8 * i
        );
        for n in 0..width {
            _ = writeln!(
                text,
                "                sum{n} += few[(step + {}u) * WIDTH + {n}u] * x{i};",
                8 * i
            );
        }
        text += "            }\n";
    }
    text += "        }\n    }\n";
    for n in 0..width {
        _ = write!(
            text,
            "    workgroupBarrier();\n    parts[thread] = sum{n};\n    \
             for (var half = LANES / 2u; half > 0u; half /= 2u) {{\n        workgroupBarrier();\n        \
             if lane < half {{ parts[thread] += parts[thread + half * QUADS]; }}\n    }}\n    \
             if lane == 0u && {n}u < params.n_cols {{\n        \
             for (var i = 0u; i < 4u; i += 1u) {{\n            if row + i < params.n_rows {{ give(row + i, {n}u, group.y, parts[thread][i]); }}\n        }}\n    }}\n"
        );
    }
    text + "    }\n}\n"
}

/// The same for a `k` so short that adding up between threads would be most of the time: a thread sums all of its four columns of `a`.
pub(crate) fn short() -> String {
    let [width, most_k, rows] = SHORT;
    let mut text = format!(
        "//! use epilogue\n\
         // out[row, col] = epilogue(alpha row Σ_k a[k, row] b[k, col] + beta out + bias) for at most {width} columns and {most_k} of k; see build/thin.rs.\n\
         // a lies in rows of vectors, k from row to row; b has two strides.\n\
         // A thread makes four rows of the result. They pass through workgroup memory, so that neighbours write side by side.\n\
         {PARAMS}\
         const THREADS: u32 = {threads}u;\nconst ROWS: u32 = 4u * THREADS;\nconst WIDTH: u32 = {width}u;\nconst MOST_K: u32 = {most_k}u;\n\
         var<workgroup> few: array<f32, WIDTH * MOST_K>;\n\
         var<workgroup> sums: array<f32, WIDTH * (THREADS + 1u)>;\n\
         {GIVE}\
         @compute @workgroup_size(THREADS)\n\
         fn main(\n    @builtin(workgroup_id) group: vec3<u32>,\n    @builtin(num_workgroups) groups: vec3<u32>,\n    \
         @builtin(local_invocation_index) thread: u32,\n) {{\n    \
         for (var i = thread; i < WIDTH * MOST_K; i += THREADS) {{\n        let k = i / WIDTH;\n        let col = i % WIDTH;\n        \
         few[i] = 0.0;\n        \
         if k < params.k_len && col < params.n_cols {{ few[i] = b[params.b_start + k * params.b_k_stride + col * params.b_col_stride]; }}\n    }}\n    \
         workgroupBarrier();\n    \
         for (var first = group.x * ROWS; first < params.n_rows; first += groups.x * ROWS) {{\n    \
         let begin = params.a_start + min(first + 4u * thread, params.n_rows - 1u) / 4u;\n",
        threads = rows / 4,
    );
    for n in 0..width {
        _ = writeln!(text, "    var sum{n} = vec4(0.0);");
    }
    text += "    for (var k = 0u; k < params.k_len; k += 4u) {\n";
    // Four loads on their way at a time.
    for i in 0..4 {
        _ = writeln!(
            text,
            "        let x{i} = a[begin + min(k + {i}u, params.k_len - 1u) * params.a_ld];"
        );
    }
    for i in 0..4 {
        _ = writeln!(text, "        if k + {i}u < params.k_len {{");
        for n in 0..width {
            _ = writeln!(text, "            sum{n} += few[(k + {i}u) * WIDTH + {n}u] * x{i};");
        }
        text += "        }\n";
    }
    text += "    }\n";
    for i in 0..4 {
        text += "    workgroupBarrier();\n";
        for n in 0..width {
            _ = writeln!(text, "    sums[{n}u * (THREADS + 1u) + thread] = sum{n}[{i}];");
        }
        _ = write!(
            text,
            "    workgroupBarrier();\n    \
             for (var i = thread; i < THREADS * WIDTH; i += THREADS) {{\n        \
             let row = first + 4u * (i / WIDTH) + {i}u;\n        let col = i % WIDTH;\n        \
             if row < params.n_rows && col < params.n_cols {{ give(row, col, group.y, sums[col * (THREADS + 1u) + i / WIDTH]); }}\n    }}\n"
        );
    }
    text + "    }\n}\n"
}
