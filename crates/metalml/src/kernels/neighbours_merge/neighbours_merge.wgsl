// The sorted lists of all splits become one: an entry's place is the number of those before it in all lists.
// One thread an entry; threads stride over the grid. parts: [split][query][k], each the sum's bits and the index; the results: [query][k].

struct Params {
    n_queries: u32,
    n_splits: u32,
    k: u32,
    metric: u32,
    power: f32,
}

const THREADS: u32 = 256u;
const NONE: u32 = 0xffffffffu;
const EUCLIDEAN: u32 = 1u;
const MINKOWSKI: u32 = 4u;
const COSINE: u32 = 5u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> parts: array<u32>;
@group(0) @binding(2) var<storage, read_write> indices: array<u32>;
@group(0) @binding(3) var<storage, read_write> distances: array<f32>;

// How many entries of the list that begins at `start` come before this one.
fn before(start: u32, key: u32, index: u32) -> u32 {
    var low = 0u;
    var high = params.k;
    while low < high {
        let middle = (low + high) / 2u;
        let other = parts[2u * (start + middle)];
        if other < key || (other == key && parts[2u * (start + middle) + 1u] < index) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

fn distance_of(sum: f32) -> f32 {
    switch params.metric {
        case EUCLIDEAN: { return sqrt(sum); }
        case MINKOWSKI: { return select(pow(sum, 1.0 / params.power), 0.0, sum == 0.0); }
        case COSINE: { return 0.5 * sum; }
        default: { return sum; }
    }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let list = params.n_queries * params.k;
    for (var at = id.x; at < params.n_splits * list; at += groups.x * THREADS) {
        let split = at / list;
        let query = at % list / params.k;
        let key = parts[2u * at];
        let index = parts[2u * at + 1u];
        var rank = at % params.k;
        for (var other = 0u; other < params.n_splits && rank < params.k; other += 1u) {
            if other != split {
                rank += before(other * list + query * params.k, key, index);
            }
        }
        if rank < params.k && index != NONE {
            indices[query * params.k + rank] = index;
            distances[query * params.k + rank] = distance_of(bitcast<f32>(key));
        }
    }
}
