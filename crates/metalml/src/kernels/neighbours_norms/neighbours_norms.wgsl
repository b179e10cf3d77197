//! use row_norms
// The squared lengths of rows less the shift, see `row_norms`.

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    write_norms(id.x, groups.x * THREADS);
}
