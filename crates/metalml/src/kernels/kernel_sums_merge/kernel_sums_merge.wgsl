//! use two_float
// The splits of each query become one sum, or its logarithm: of nothing, `none`.
// One thread a query; threads stride over the grid. parts: [split][query][exponent, hi, lo].

struct Params {
    n_queries: u32,
    n_splits: u32,
    log: u32,
    none: f32,
    zero: u32,
}

const THREADS: u32 = 64u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var query = id.x; query < params.n_queries; query += groups.x * THREADS) {
        var most = parts[3u * query];
        for (var split = 1u; split < params.n_splits; split += 1u) {
            most = max(most, parts[3u * (split * params.n_queries + query)]);
        }
        var sum = vec2<f32>();
        for (var split = 0u; split < params.n_splits; split += 1u) {
            let at = 3u * (split * params.n_queries + query);
            sum = add_pair(sum, vec2(parts[at + 1u], parts[at + 2u]) * exp(parts[at] - most));
        }
        let total = sum.x + sum.y;
        if params.log == 0u {
            out[query] = total;
        } else if total > 0.0 {
            out[query] = most + log(total);
        } else {
            out[query] = params.none;
        }
    }
}
