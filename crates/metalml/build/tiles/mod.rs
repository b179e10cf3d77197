//! The tiled matrix product as WGSL text: one template, a kernel for each tile and each way that the operands lie.
//!
//! A workgroup makes `rows` by `cols` of the result. Slabs of `depth` of both operands pass through two halves of workgroup
//! memory: while one is multiplied, the next is on its way, and a slab costs one barrier. A thread keeps `per_row` by `per_col`
//! sums in registers, as groups of four by four, so that the lanes of a subgroup read neighbouring vectors.

mod finish;
mod slab;

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
    /// Whether the products of a slab are written out, what the next step multiplies being read before this step's products: on an
    /// NVIDIA H200 worth a quarter of the speed, and on a software driver seconds of compiling.
    pub(crate) unrolled: bool,
    pub(crate) task: Task,
}

/// What a tile is for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Task {
    /// Products and their linear terms.
    Plain,
    /// The same, split along `k` and with epilogues: together worth a twentieth of the speed of the largest tile.
    Full,
    /// The upper half of `a' a`, split along `k`.
    Gram,
    /// Of each row of `a` and each few rows of `b`, the least estimate of their squared distance.
    Least,
}

const LARGE: Tile = Tile {
    rows: 128,
    cols: 128,
    depth: 8,
    per_row: 16,
    per_col: 8,
    unrolled: true,
    task: Task::Full,
};
const SMALL: Tile = Tile {
    rows: 64,
    cols: 64,
    depth: 16,
    per_row: 8,
    per_col: 4,
    unrolled: true,
    task: Task::Full,
};
/// The tiles, the largest first; the last one for drivers that compile slowly.
pub(crate) const TILES: [Tile; 4] = [
    Tile {
        task: Task::Plain,
        ..LARGE
    },
    LARGE,
    SMALL,
    Tile {
        unrolled: false,
        ..SMALL
    },
];

/// The tiles of `gram`: the largest, and the one for drivers that compile slowly.
pub(crate) const GRAM_TILES: [Tile; 2] = [
    Tile {
        task: Task::Gram,
        ..LARGE
    },
    Tile {
        task: Task::Gram,
        unrolled: false,
        ..SMALL
    },
];

/// The tiles of `nearest` and `neighbours`, likewise.
pub(crate) const LEAST_TILES: [Tile; 2] = [
    Tile {
        task: Task::Least,
        ..LARGE
    },
    Tile {
        task: Task::Least,
        unrolled: false,
        ..SMALL
    },
];

/// How the two operands lie: whether each has its `k` along its rows in memory (`true`), or from row to row.
pub(crate) const FORMS: [(&str, bool, bool); 4] = [
    ("nn", true, false),
    ("nt", true, true),
    ("tn", false, false),
    ("tt", false, true),
];

impl Tile {
    pub(crate) fn threads(&self) -> usize {
        self.rows / self.per_row * (self.cols / self.per_col)
    }

    /// The name of its kernel: by the form of the operands, or the operation that it is a part of.
    pub(crate) fn name(&self, form: &str) -> String {
        let Self { rows, cols, .. } = self;
        match (self.task, self.unrolled) {
            (Task::Gram | Task::Least, _) => format!("{form}_{rows}x{cols}"),
            (Task::Plain, _) => format!("matmul_{rows}x{cols}_plain_{form}"),
            (Task::Full, true) => format!("matmul_{rows}x{cols}_{form}"),
            (Task::Full, false) => format!("matmul_{rows}x{cols}_rolled_{form}"),
        }
    }

    /// Blocks of four by four in a slab of a side.
    fn blocks(&self, side: &Side) -> usize {
        side.len * self.depth / 16
    }

    /// How many threads lie side by side along the rows, of 32 neighbours: what was fastest on an NVIDIA H200.
    fn lane_rows(a_along_k: bool) -> usize {
        if a_along_k { 4 } else { 8 }
    }
}

/// One side of the product: its name, where it ends, how much of it a tile has, and whether `k` lies along its rows in memory.
struct Side {
    name: &'static str,
    end: &'static str,
    len: usize,
    /// Groups of four that a thread has.
    groups: usize,
    along_k: bool,
}

/// The kernel of a tile for one form.
pub(crate) fn source(tile: &Tile, a_along_k: bool, b_along_k: bool) -> String {
    let a = Side {
        name: "a",
        end: "params.n_rows",
        len: tile.rows,
        groups: tile.per_row / 4,
        along_k: a_along_k,
    };
    let b = Side {
        name: "b",
        end: "params.n_cols",
        len: tile.cols,
        groups: tile.per_col / 4,
        along_k: b_along_k,
    };
    let (a_blocks, b_blocks) = (tile.blocks(&a), tile.blocks(&b));
    assert_eq!(a_blocks, b_blocks, "half of the threads bring a, half bring b");
    assert_eq!(a_blocks + b_blocks, tile.threads(), "a block for each thread");
    let mut text = match tile.task {
        Task::Gram => gram_head(tile),
        Task::Least => least_head(tile),
        Task::Plain | Task::Full => head(tile, &a, &b),
    };
    text += &start(tile, &a, &b);
    text += &slab::pass(tile, &a, &b);
    text += &finish::finish(tile);
    text
}

fn slabs(tile: &Tile) -> String {
    let Tile { rows, cols, depth, .. } = tile;
    format!(
        "var<workgroup> a_slab: array<vec4<f32>, {}>;\nvar<workgroup> b_slab: array<vec4<f32>, {}>;\n",
        2 * depth * rows / 4,
        2 * depth * cols / 4,
    )
}

fn gram_head(tile: &Tile) -> String {
    let Tile { rows, cols, .. } = tile;
    format!(
        "// out = a' a, one tile of {rows} x {cols} on or above the diagonal a workgroup (group x: rows of tiles, one after the other); see build/tiles.\n\
         // a and b are the same rows of vectors of four; n_rows and n_cols, whole vectors, are its columns. Starts and strides count vectors.\n\
         // A split (group z) sums k_per_split of the rows, and writes split_stride further on.\n\
         struct Params {{\n    n_rows: u32,\n    n_cols: u32,\n    k_len: u32,\n    k_per_split: u32,\n    a_start: u32,\n    a_ld: u32,\n    \
         b_start: u32,\n    b_ld: u32,\n    out_start: u32,\n    out_ld: u32,\n    split_stride: u32,\n    n_tiles: u32,\n}}\n\
         @group(0) @binding(0) var<uniform> params: Params;\n\
         @group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;\n\
         @group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;\n\
         @group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;\n{}",
        slabs(tile)
    )
}

fn least_head(tile: &Tile) -> String {
    let Tile {
        rows, cols, per_col, ..
    } = tile;
    format!(
        "// least[row, group] = min over some columns of |b|² - 2 a·b, both less the shift: {per_col} rows of b a group, {} groups for each {cols}\n\
         // rows; a tile of {rows} x {cols} a workgroup; see build/tiles, and `shared/least_groups` for which rows a group has.\n\
         // Rows are vectors of four: their starts and strides count vectors. Rows of b past the last give the largest float.\n\
         struct Params {{\n    n_rows: u32,\n    n_cols: u32,\n    k_len: u32,\n    a_start: u32,\n    a_ld: u32,\n    \
         b_start: u32,\n    b_ld: u32,\n    first_norm: u32,\n    out_ld: u32,\n    rows_first: u32,\n}}\n\
         const LARGEST: f32 = 3.4028234e38;\n\
         @group(0) @binding(0) var<uniform> params: Params;\n\
         @group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;\n\
         @group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;\n\
         @group(0) @binding(3) var<storage, read> shift: array<vec4<f32>>;\n\
         @group(0) @binding(4) var<storage, read> norms: array<f32>;\n\
         @group(0) @binding(5) var<storage, read_write> least: array<f32>;\n{}",
        cols / per_col,
        slabs(tile)
    )
}

fn head(tile: &Tile, a: &Side, b: &Side) -> String {
    let Tile { rows, cols, .. } = tile;
    let lies = |side: &Side| {
        if side.along_k {
            "k along a row"
        } else {
            "k from row to row"
        }
    };
    format!(
        "//! use epilogue\n\
         // out = epilogue(alpha row a b + beta out + bias), a tile of {rows} x {cols} a workgroup; see build/tiles.\n\
         // a lies with {}, b with {}; both are rows of vectors of four: their starts and strides count vectors, as those of out do.\n\
         // A split (group z) sums k_per_split of k, and writes split_stride further on.\n\
         struct Params {{\n    n_rows: u32,\n    n_cols: u32,\n    k_len: u32,\n    k_per_split: u32,\n    a_start: u32,\n    a_ld: u32,\n    \
         b_start: u32,\n    b_ld: u32,\n    out_start: u32,\n    out_ld: u32,\n    split_stride: u32,\n    bias_start: u32,\n    has_bias: u32,\n    \
         row_start: u32,\n    row_use: u32,\n    alpha: f32,\n    beta: f32,\n    epilogue: u32,\n    gamma: f32,\n    coef0: f32,\n    degree: u32,\n}}\n\
         @group(0) @binding(0) var<uniform> params: Params;\n\
         @group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;\n\
         @group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;\n\
         @group(0) @binding(3) var<storage, read> bias: array<f32>;\n\
         @group(0) @binding(4) var<storage, read> row_terms: array<f32>;\n\
         @group(0) @binding(5) var<storage, read_write> out: array<vec4<f32>>;\n{}",
        lies(a),
        lies(b),
        slabs(tile),
    )
}

/// Where the tile, the thread's sums and the split's part of `k` lie.
fn start(tile: &Tile, a: &Side, b: &Side) -> String {
    let lane_rows = Tile::lane_rows(a.along_k);
    let lane_cols = 32 / lane_rows;
    let (wave_rows, wave_cols) = (lane_rows * tile.per_row, lane_cols * tile.per_col);
    let waves_across = tile.cols / wave_cols;
    assert_eq!(
        tile.rows / wave_rows * waves_across * 32,
        tile.threads(),
        "waves cover the tile"
    );
    let (first_k, end_k) = if matches!(tile.task, Task::Plain | Task::Least) {
        ("0u", "params.k_len")
    } else {
        (
            "group.z * params.k_per_split",
            "min(first_k + params.k_per_split, params.k_len)",
        )
    };
    let place = if tile.task == Task::Gram {
        "    var tile_row = 0u;\n    var tile_col = group.x;\n    while tile_col >= params.n_tiles - tile_row {\n        \
         tile_col -= params.n_tiles - tile_row;\n        tile_row += 1u;\n    }\n    tile_col += tile_row;\n"
    } else if tile.task == Task::Least {
        // The side with fewer tiles goes first, so that what one of the other's tiles needs is read once.
        "    let tile_row = select(group.y, group.x, params.rows_first != 0u);\n    \
         let tile_col = select(group.x, group.y, params.rows_first != 0u);\n"
    } else {
        "    let tile_row = group.y;\n    let tile_col = group.x;\n"
    };
    let mut text = format!(
        "@compute @workgroup_size({})\n\
         fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {{\n{place}    \
         let first_a = tile_row * {}u;\n    let first_b = tile_col * {}u;\n    \
         let first_k = {first_k};\n    \
         let end_k = {end_k};\n    \
         let last_k = end_k - 1u;\n    \
         let wave = thread / 32u;\n    let lane = thread % 32u;\n",
        tile.threads(),
        tile.rows,
        tile.cols,
    );
    for (side, wave, wave_len, lane, lanes) in [
        (
            a,
            format!("wave / {waves_across}u"),
            wave_rows,
            format!("lane / {lane_cols}u"),
            lane_rows,
        ),
        (
            b,
            format!("wave % {waves_across}u"),
            wave_cols,
            format!("lane % {lane_cols}u"),
            lane_cols,
        ),
    ] {
        for group in 0..side.groups {
            _ = writeln!(
                text,
                "    let {}_at{group} = {wave} * {}u + {}u + {lane};",
                side.name,
                wave_len / 4,
                group * lanes
            );
        }
    }
    for i in 0..tile.per_row {
        for j in 0..b.groups {
            _ = writeln!(text, "    var sum{i}_{j} = vec4<f32>();");
        }
    }
    text
}
