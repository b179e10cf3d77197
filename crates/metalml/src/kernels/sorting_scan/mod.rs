//! A step of `sorting`: sums of what stands before, within runs.

use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/sorting_scan.rs"));

/// Values of a run, as in the WGSL.
pub(super) const RUN: usize = 2048;

/// The sums within the runs of `values`, and the total of each run.
pub(super) fn record(gpu: &Gpu<'_>, values: &Array<u32>) -> Result<(Array<u32>, Array<u32>)> {
    let runs = values.len().div_ceil(RUN);
    let (sums, totals) = (gpu.alloc(values.len())?, gpu.alloc(runs)?);
    let across = runs.clamp(1, gpu.limits().max_groups as usize);
    let params = Params {
        len: values.len() as u32,
        groups_x: across as u32,
    };
    let bindings = Bindings {
        params,
        values,
        sums: &sums,
        totals: &totals,
    };
    gpu.dispatch(
        &bindings,
        [across as u32, runs.div_ceil(across) as u32, 1],
        2 * values.bytes(),
    )?;
    Ok((sums, totals))
}
