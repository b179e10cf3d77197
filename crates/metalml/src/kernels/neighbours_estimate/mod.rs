//! The nearest neighbours by the Euclidean distance of long rows, most of them only estimated.

use super::neighbours::Place;
use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/neighbours_estimate.rs"));

/// Writes the sorted lists of all rows and splits.
pub(super) fn record(gpu: &Gpu<'_>, at: &Place<'_>, shift: &Array<f32>) -> Result<()> {
    let params = Params {
        n_rows: at.x.2.len() as u32,
        n_refs: at.y.2.len() as u32,
        n_cols: at.n_cols as u32,
        x_ld: at.x.1 as u32,
        y_ld: at.y.1 as u32,
        x_start: at.x.2.start as u32,
        y_start: 0,
        first_query: (at.first_query + at.x.2.start) as u32,
        n_queries: at.n_queries as u32,
        first_index: at.y.2.start as u32,
        refs_per_split: at.refs_per_split as u32,
        first_split: at.first_split as u32,
        k: at.k as u32,
        capacity: at.capacity as u32,
    };
    let bindings = Bindings {
        params,
        x: at.x.0,
        y: at.y.0,
        shift,
        lists: at.lists,
        parts: at.parts,
    };
    gpu.dispatch_variant(&KERNEL, &bindings, at.groups(), at.cost())
}
