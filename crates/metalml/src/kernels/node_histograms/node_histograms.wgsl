// For each node, column and bin the sums of gradients and of hessians, and the count, of the node's rows. These are whole numbers, which add up the
// same in any order. A workgroup takes a run of a node's rows and four columns, whose bins lie in one word; it sums in its own memory first.
// bins: [row][word]; gradients: [row][gradient, hessian]; order: the rows of all nodes one after the other; starts: [node], and the end of
// the last. sums: [node][column][bin][gradient, hessian, count]

struct Params {
    n_cols: u32,
    n_nodes: u32,
    rows_per_group: u32,
}

const THREADS: u32 = 256u;
const BINS: u32 = 256u;
const NUMBERS: u32 = 3u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> bins: array<u32>;
@group(0) @binding(2) var<storage, read> gradients: array<i32>;
@group(0) @binding(3) var<storage, read> order: array<u32>;
@group(0) @binding(4) var<storage, read> starts: array<u32>;
@group(0) @binding(5) var<storage, read_write> sums: array<atomic<i32>>;

var<workgroup> own: array<atomic<i32>, 4u * BINS * NUMBERS>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let words = (params.n_cols + 3u) / 4u;
    for (var node = group.z; node < params.n_nodes; node += groups.z) {
        let first = starts[node] + group.x * params.rows_per_group;
        let end = min(first + params.rows_per_group, starts[node + 1u]);
        workgroupBarrier();
        for (var at = thread; at < 4u * BINS * NUMBERS; at += THREADS) {
            atomicStore(&own[at], 0i);
        }
        workgroupBarrier();
        for (var at = first + thread; at < end; at += THREADS) {
            let row = order[at];
            let word = bins[row * words + group.y];
            let gradient = gradients[2u * row];
            let hessian = gradients[2u * row + 1u];
            for (var i = 0u; i < 4u; i += 1u) {
                let to = (i * BINS + ((word >> (8u * i)) & 0xffu)) * NUMBERS;
                atomicAdd(&own[to], gradient);
                atomicAdd(&own[to + 1u], hessian);
                atomicAdd(&own[to + 2u], 1i);
            }
        }
        workgroupBarrier();
        let columns = min(4u, params.n_cols - 4u * group.y);
        let to = (node * params.n_cols + 4u * group.y) * BINS * NUMBERS;
        for (var at = thread; at < columns * BINS * NUMBERS; at += THREADS) {
            let sum = atomicLoad(&own[at]);
            if sum != 0i {
                atomicAdd(&sums[to + at], sum);
            }
        }
    }
}
