// Writes `value` at `slot`: the last dispatch of a submission, whose absence shows that the submission did not run to its end.

struct Params {
    slot: u32,
    value: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> nonces: array<u32>;

@compute @workgroup_size(1)
fn main() {
    if params.slot < arrayLength(&nonces) {
        nonces[params.slot] = params.value;
    }
}
