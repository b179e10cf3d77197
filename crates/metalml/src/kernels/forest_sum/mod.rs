//! The second step of `forest` where leaves hold many values: what the leaves of each row add up to.

use std::ops::Range;

use super::forest::{Brought, Summed};
use crate::Result;
use crate::device::{Array, Pair};
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/forest_sum.rs"));

/// Adds the values of the leaves of some rows, which `leaves` has one after the other.
pub(super) fn record<'a>(
    gpu: &Gpu<'a>,
    rows: &Range<usize>,
    forest: &Brought<Gpu<'a>>,
    leaves: &Array<u32>,
    to: &Summed<'_>,
) -> Result<()> {
    let params = Params {
        n_rows: rows.len() as u32,
        first_row: rows.start as u32,
        n_trees: forest.n_trees as u32,
        width: forest.width as u32,
        divisor: to.divisor as f32,
        zero: 0,
    };
    let bindings = Bindings {
        params,
        leaves,
        values: &forest.values,
        base: to.base,
        sums: to.sums,
    };
    let threads = rows.len() * forest.width;
    let groups = threads
        .div_ceil(KERNEL.workgroup[0] as usize)
        .min(gpu.limits().max_groups as usize);
    let bytes = (threads * forest.n_trees * size_of::<Pair>()) as u64;
    gpu.dispatch(&bindings, [groups as u32, 1, 1], bytes)
}
