//! The tiled matrix product as WGSL text: one template, a kernel for each tile and each way that the operands lie.
//!
//! A workgroup makes `rows` by `cols` of the result. Slabs of `depth` of both operands pass through two halves of workgroup
//! memory: while one is multiplied, the next is on its way, and a slab costs one barrier. A thread keeps `per_row` by `per_col`
//! sums in registers, as groups of four by four, so that the lanes of a subgroup read neighbouring vectors. The products of a slab
//! are written out, and what the next step multiplies is read before this step's products: on an NVIDIA H200 that is worth a
//! quarter of the speed.

use std::fmt::Write as _;

/// A tile and how its threads share it.
#[derive(Clone, Copy)]
pub(crate) struct Tile {
    /// Of the result, a workgroup.
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Of a slab.
    pub(crate) depth: usize,
    /// Of the result, a thread.
    pub(crate) per_row: usize,
    pub(crate) per_col: usize,
    /// How 32 neighbouring threads lie.
    pub(crate) lane_rows: usize,
    pub(crate) lane_cols: usize,
}

/// The tiles, the largest first.
pub(crate) const TILES: [Tile; 2] = [
    Tile {
        rows: 128,
        cols: 128,
        depth: 8,
        per_row: 16,
        per_col: 8,
        lane_rows: 8,
        lane_cols: 4,
    },
    Tile {
        rows: 64,
        cols: 64,
        depth: 16,
        per_row: 8,
        per_col: 4,
        lane_rows: 8,
        lane_cols: 4,
    },
];

/// How the two operands lie: whether each has its `k` in rows of memory (`true`), or from row to row.
pub(crate) const FORMS: [(&str, bool, bool); 4] = [
    ("nn", true, false),
    ("nt", true, true),
    ("tn", false, false),
    ("tt", false, true),
];

const LANES: [char; 4] = ['x', 'y', 'z', 'w'];

impl Tile {
    pub(crate) fn threads(&self) -> usize {
        self.rows / self.per_row * (self.cols / self.per_col)
    }

    pub(crate) fn name(&self, form: &str) -> String {
        format!("matmul_{}x{}_{form}", self.rows, self.cols)
    }
}

/// One side of the product: its name, how many vectors of it a slab has, and whether `k` lies along its rows in memory.
struct Side {
    name: &'static str,
    len: usize,
    along_k: bool,
}

/// The kernel of a tile for one form.
pub(crate) fn source(tile: &Tile, a_along_k: bool, b_along_k: bool) -> String {
    let a = Side {
        name: "a",
        len: tile.rows,
        along_k: a_along_k,
    };
    let b = Side {
        name: "b",
        len: tile.cols,
        along_k: b_along_k,
    };
    let mut text = head(tile);
    for side in [&a, &b] {
        text += &fetch(tile, side);
    }
    text += &main(tile, &a, &b);
    text
}

fn head(tile: &Tile) -> String {
    let Tile { rows, cols, depth, .. } = tile;
    format!(
        "// out = alpha a b + beta out + 1 biasᵀ, made by a tile of {rows} x {cols}; see build/tiles.rs.\n\
         // a and b are rows of vectors of four: strides and starts are in vectors. What lies past the end of k counts as 0.\n\
         struct Params {{\n    n_rows: u32,\n    n_cols: u32,\n    k_len: u32,\n    a_start: u32,\n    a_ld: u32,\n    b_start: u32,\n    \
         b_ld: u32,\n    out_start: u32,\n    out_ld: u32,\n    bias_start: u32,\n    has_bias: u32,\n    alpha: f32,\n    beta: f32,\n}}\n\
         @group(0) @binding(0) var<uniform> params: Params;\n\
         @group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;\n\
         @group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;\n\
         @group(0) @binding(3) var<storage, read> bias: array<f32>;\n\
         @group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;\n\
         var<workgroup> a_slab: array<vec4<f32>, {}>;\n\
         var<workgroup> b_slab: array<vec4<f32>, {}>;\n",
        2 * depth * rows / 4,
        2 * depth * cols / 4,
    )
}

/// A function that brings four by four values as they lie: `block` says which, `first` where the tile begins, `slab` where the
/// slab does. Past the edges it brings what is there, and nothing here waits for it: the products of the last slab come first.
fn fetch(tile: &Tile, side: &Side) -> String {
    let name = side.name;
    let end = if name == "a" { "params.n_rows" } else { "params.n_cols" };
    let mut text = format!("fn fetch_{name}(block: u32, first: u32, slab: u32) -> mat4x4<f32> {{\n");
    let mut vectors = Vec::new();
    if side.along_k {
        let quads = tile.depth / 4;
        _ = write!(
            text,
            "    let at = params.{name}_start + min(slab + block % {quads}u * 4u, params.k_len - 1u) / 4u;\n    \
             let row = first + block / {quads}u * 4u;\n"
        );
        vectors.extend((0..4).map(|i| format!("{name}[at + min(row + {i}u, {end} - 1u) * params.{name}_ld]")));
    } else {
        let quads = side.len / 4;
        _ = write!(
            text,
            "    let k = slab + block / {quads}u * 4u;\n    \
             let at = params.{name}_start + min(first / 4u + block % {quads}u, ({end} - 1u) / 4u);\n"
        );
        vectors.extend((0..4).map(|i| format!("{name}[at + min(k + {i}u, params.k_len - 1u) * params.{name}_ld]")));
    }
    _ = writeln!(text, "    return mat4x4<f32>({});\n}}", vectors.join(", "));
    text
}

/// The number of a block of four by four within the slab, to where its vectors lie there: `k` and the vector of that `k`.
fn place(tile: &Tile, side: &Side, block: &str) -> [String; 2] {
    if side.along_k {
        let quads = tile.depth / 4;
        [format!("{block} % {quads}u * 4u"), format!("{block} / {quads}u")]
    } else {
        let quads = side.len / 4;
        [format!("{block} / {quads}u * 4u"), format!("{block} % {quads}u")]
    }
}

fn main(tile: &Tile, a: &Side, b: &Side) -> String {
    let threads = tile.threads();
    let (a_blocks, b_blocks) = (tile.rows * tile.depth / 16, tile.cols * tile.depth / 16);
    assert_eq!(a_blocks, b_blocks, "half of the threads bring a, half bring b");
    assert_eq!(a_blocks + b_blocks, threads, "a block for each thread");
    let (wave_rows, wave_cols) = (tile.lane_rows * tile.per_row, tile.lane_cols * tile.per_col);
    let waves_across = tile.cols / wave_cols;
    assert_eq!(
        tile.rows / wave_rows * waves_across * 32,
        threads,
        "waves cover the tile"
    );
    let (row_groups, col_groups) = (tile.per_row / 4, tile.per_col / 4);

    let mut text = format!(
        "@compute @workgroup_size({threads})\n\
         fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {{\n    \
         let first_row = group.y * {rows}u;\n    let first_col = group.x * {cols}u;\n    \
         let wave = thread / 32u;\n    let lane = thread % 32u;\n    \
         let lane_row = lane / {lane_cols}u;\n    let lane_col = lane % {lane_cols}u;\n",
        rows = tile.rows,
        cols = tile.cols,
        lane_cols = tile.lane_cols,
    );
    for group in 0..row_groups {
        _ = writeln!(
            text,
            "    let a_at{group} = wave / {waves_across}u * {}u + {}u + lane_row;",
            wave_rows / 4,
            group * tile.lane_rows
        );
    }
    for group in 0..col_groups {
        _ = writeln!(
            text,
            "    let b_at{group} = wave % {waves_across}u * {}u + {}u + lane_col;",
            wave_cols / 4,
            group * tile.lane_cols
        );
    }
    for i in 0..tile.per_row {
        for j in 0..col_groups {
            _ = writeln!(text, "    var sum{i}_{j} = vec4<f32>();");
        }
    }
    let bring = |k: &str| {
        format!(
            "if thread < {a_blocks}u {{ part = fetch_a(thread, first_row, {k}); }} else {{ part = fetch_b(thread - {a_blocks}u, first_col, {k}); }}\n"
        )
    };
    let stow = |half: &str, slab: &str| {
        let store = |side: &Side, block: &str| {
            let ([k, vector], vectors) = (place(tile, side, block), side.len / 4);
            let mut text = String::new();
            if side.along_k {
                text += "        part = transpose(part);\n";
            }
            _ = writeln!(
                text,
                "        let k = {k};\n        if {slab} + {}u > params.k_len {{",
                tile.depth
            );
            for i in 0..4 {
                _ = writeln!(
                    text,
                    "        if {slab} + k + {i}u >= params.k_len {{ part[{i}] = vec4<f32>(); }}"
                );
            }
            _ = writeln!(
                text,
                "        }}\n        let to = {half} * {}u + k * {vectors}u + {vector};",
                tile.depth * vectors
            );
            for i in 0..4 {
                _ = writeln!(text, "        {}_slab[to + {}u] = part[{i}];", side.name, i * vectors);
            }
            text
        };
        format!(
            "    if thread < {a_blocks}u {{\n{}    }} else {{\n        let block = thread - {a_blocks}u;\n{}    }}\n",
            store(a, "thread"),
            store(b, "block")
        )
    };
    text += "    var part: mat4x4<f32>;\n    ";
    text += &bring("0u");
    text += &stow("0u", "0u");
    _ = write!(
        text,
        "    workgroupBarrier();\n    var half = 0u;\n    for (var slab = {depth}u; slab < params.k_len + {depth}u; slab += {depth}u) {{\n    \
         let more = slab < params.k_len;\n    if more {{\n    {}    }}\n    {{\n",
        bring("slab"),
        depth = tile.depth,
    );
    text += &products(tile, row_groups, col_groups);
    _ = write!(
        text,
        "    }}\n    half = 1u - half;\n    if more {{\n{}    }}\n    workgroupBarrier();\n    }}\n",
        stow("half", "slab")
    );
    text += &finish(tile, col_groups);
    text + "}\n"
}

/// The products of one slab.
fn products(tile: &Tile, row_groups: usize, col_groups: usize) -> String {
    let mut text = String::new();
    let read = |text: &mut String, k: usize| {
        for (side, len, groups) in [("a", tile.rows, row_groups), ("b", tile.cols, col_groups)] {
            for group in 0..groups {
                _ = writeln!(
                    text,
                    "    let {side}{k}_{group} = {side}_slab[half * {}u + {}u + {side}_at{group}];",
                    tile.depth * len / 4,
                    k * len / 4
                );
            }
        }
    };
    read(&mut text, 0);
    for k in 0..tile.depth {
        if k + 1 < tile.depth {
            read(&mut text, k + 1);
        }
        for i in 0..tile.per_row {
            for j in 0..col_groups {
                _ = writeln!(text, "    sum{i}_{j} += a{k}_{}.{} * b{k}_{j};", i / 4, LANES[i % 4]);
            }
        }
    }
    text
}

/// What is written of the sums of a thread.
fn finish(tile: &Tile, col_groups: usize) -> String {
    let mut text = String::new();
    for j in 0..col_groups {
        _ = write!(
            text,
            "    let col{j} = first_col + 4u * b_at{j};\n    var bias{j} = vec4<f32>();\n    \
             if params.has_bias != 0u {{\n        for (var lane = 0u; lane < 4u; lane += 1u) {{\n            \
             if col{j} + lane < params.n_cols {{ bias{j}[lane] = bias[params.bias_start + col{j} + lane]; }}\n        }}\n    }}\n"
        );
    }
    for i in 0..tile.per_row {
        _ = writeln!(
            text,
            "    {{\n    let row = first_row + 4u * a_at{} + {}u;\n    if row < params.n_rows {{",
            i / 4,
            i % 4
        );
        for j in 0..col_groups {
            _ = write!(
                text,
                "    if col{j} < params.n_cols {{\n        let at = params.out_start + row * params.out_ld + col{j} / 4u;\n        \
                 var value = params.alpha * sum{i}_{j} + bias{j};\n        if params.beta != 0.0 {{ value += params.beta * out[at]; }}\n        \
                 if col{j} + 3u < params.n_cols {{\n            out[at] = value;\n        }} else {{\n            out[at].x = value.x;\n            \
                 if col{j} + 1u < params.n_cols {{ out[at].y = value.y; }}\n            if col{j} + 2u < params.n_cols {{ out[at].z = value.z; }}\n        \
                 }}\n    }}\n"
            );
        }
        text += "    }\n    }\n";
    }
    text
}
