//! The second step of a product whose rows become probabilities.

use super::matmul::Place;
use crate::Result;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/matmul_softmax.rs"));

pub(super) fn record(gpu: &Gpu<'_>, n_rows: usize, n_cols: usize, at: &Place<'_>) -> Result<()> {
    let threads = KERNEL.workgroup[0] as usize;
    let lanes = n_cols.div_ceil(4).next_power_of_two().min(threads);
    let params = Params {
        n_rows: n_rows as u32,
        n_cols: n_cols as u32,
        start: at.start as u32,
        ld: at.ld as u32,
        lanes: lanes as u32,
    };
    let groups = (n_rows * lanes).div_ceil(threads).min(gpu.limits().max_groups as usize) as u32;
    let bindings = Bindings {
        params,
        values: at.array,
    };
    gpu.dispatch(&bindings, [groups, 1, 1], 5 * 4 * (n_rows * n_cols) as u64)
}
