//! use two_float
//! use two_float4
// Each row's way through every tree of a packed forest. A thread has one row, and walks AT_ONCE trees side by side, so that one waits while
// another goes on. Up to FEW_COLS columns of a workgroup's rows stay in workgroup memory, a column of all rows after the other: no two threads
// meet on a bank, whichever columns they want.
// Numbers are compared by their bits, -0 as 0, so that no device flushes small ones. What is summed is summed in the order of the trees.
// nodes: [threshold's key or leaf's number, column and flags, left child, set of categories or the leaf's own number]; the right child
// follows the left one; a leaf has no left child. values: [leaf][width]; sets: 256 bits each; roots: [tree].
// sums: [row][width] as (hi, lo) pairs; leaves: [row][tree]. A dispatch walks n_trees from first_tree on, few enough for their nodes to
// stay in a cache, and adds to the sums of those before; after the last tree of all it divides.

struct Params {
    n_rows: u32,
    n_cols: u32,
    ld: u32,
    first_row: u32,
    start: u32,
    first_tree: u32,
    n_trees: u32,
    all_trees: u32,
    width: u32,
    // 0: sums; 1: numbers of leaves; 2: the leaves' own numbers.
    wanted: u32,
    divisor: f32,
    zero: u32,
}

const THREADS: u32 = 64u;
const FEW_COLS: u32 = 64u;
const AT_ONCE: u32 = 4u;
const CATEGORICAL: u32 = 0x40000000u;
const MISSING_LEFT: u32 = 0x80000000u;
const COLUMN: u32 = 0x3fffffffu;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> nodes: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> values: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> sets: array<u32>;
@group(0) @binding(5) var<storage, read> roots: array<u32>;
@group(0) @binding(6) var<storage, read> base: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> sums: array<vec2<f32>>;
@group(0) @binding(8) var<storage, read_write> leaves: array<u32>;

var<workgroup> columns: array<f32, THREADS * FEW_COLS>;

fn value_of(row: u32, thread: u32, col: u32) -> f32 {
    if params.n_cols <= FEW_COLS {
        return columns[col * THREADS + thread];
    }
    return x[row * params.ld + col];
}

fn key_of(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    let plain = select(bits, 0u, bits == 0x80000000u);
    return select(plain | 0x80000000u, ~plain, (plain & 0x80000000u) != 0u);
}

fn goes_left(node: vec4<u32>, value: f32) -> bool {
    let missing_left = (node.y & MISSING_LEFT) != 0u;
    if (bitcast<u32>(value) & 0x7fffffffu) > 0x7f800000u {
        return missing_left;
    }
    if (node.y & CATEGORICAL) == 0u {
        return key_of(value) <= node.x;
    }
    if value < 0.0 || value >= 256.0 {
        return missing_left;
    }
    let category = u32(value);
    return ((sets[node.w * 8u + category / 32u] >> (category % 32u)) & 1u) != 0u;
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    for (var first = group.x * THREADS; first < params.n_rows; first += groups.x * THREADS) {
        let own = first + thread;
        let row = params.start + min(own, params.n_rows - 1u);
        workgroupBarrier();
        if params.n_cols <= FEW_COLS {
            for (var at = thread; at < THREADS * params.n_cols; at += THREADS) {
                let of_row = at / params.n_cols;
                let col = at % params.n_cols;
                let there = params.start + min(first + of_row, params.n_rows - 1u);
                columns[col * THREADS + of_row] = x[there * params.ld + col];
            }
        }
        workgroupBarrier();
        var sum = Pair4(vec4<f32>(), vec4<f32>());
        for (var i = 0u; i < params.width && params.wanted == 0u; i += 1u) {
            var before = base[i];
            if params.first_tree > 0u {
                before = sums[(params.first_row + min(own, params.n_rows - 1u)) * params.width + i];
            }
            sum.hi[i] = before.x;
            sum.lo[i] = before.y;
        }
        for (var tree = 0u; tree < params.n_trees; tree += AT_ONCE) {
            var at: array<vec4<u32>, AT_ONCE>;
            for (var i = 0u; i < AT_ONCE; i += 1u) {
                at[i] = nodes[roots[params.first_tree + min(tree + i, params.n_trees - 1u)]];
            }
            var inside = true;
            while inside {
                inside = false;
                for (var i = 0u; i < AT_ONCE; i += 1u) {
                    let node = at[i];
                    if node.z != 0u {
                        let left = goes_left(node, value_of(row, thread, node.y & COLUMN));
                        at[i] = nodes[node.z + select(1u, 0u, left)];
                        inside = true;
                    }
                }
            }
            for (var i = 0u; i < AT_ONCE; i += 1u) {
                if tree + i >= params.n_trees || own >= params.n_rows {
                    continue;
                }
                if params.wanted != 0u {
                    leaves[(params.first_row + own) * params.all_trees + params.first_tree + tree + i] = select(at[i].x, at[i].w, params.wanted == 2u);
                    continue;
                }
                var value = Pair4(vec4<f32>(), vec4<f32>());
                for (var j = 0u; j < params.width; j += 1u) {
                    let part = values[at[i].x * params.width + j];
                    value.hi[j] = part.x;
                    value.lo[j] = part.y;
                }
                sum = add_pair4(sum, value);
            }
        }
        if params.wanted == 0u && own < params.n_rows {
            for (var j = 0u; j < params.width; j += 1u) {
                var total = two_sum(sum.hi[j], sum.lo[j]);
                if params.first_tree + params.n_trees == params.all_trees {
                    total = divide_pairs(total, vec2(params.divisor, 0.0));
                }
                sums[(params.first_row + own) * params.width + j] = total;
            }
        }
    }
}
