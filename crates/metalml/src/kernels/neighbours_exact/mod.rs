//! The step from estimates of the nearest references to sorted lists of them.

use super::neighbours::Piece;
use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/neighbours_exact.rs"));

/// Writes the sorted lists of a piece's rows.
pub(super) fn record(
    gpu: &Gpu<'_>,
    piece: &Piece<'_>,
    shift: &Array<f32>,
    least: &Array<f32>,
    parts: &Array<u32>,
) -> Result<()> {
    let params = Params {
        n_rows: piece.rows.len() as u32,
        n_refs: piece.refs.len() as u32,
        n_cols: piece.n_cols as u32,
        x_ld: piece.x_ld as u32,
        y_ld: piece.y_ld as u32,
        x_start: piece.rows.start as u32,
        first_query: (piece.first_query + piece.rows.start) as u32,
        n_queries: piece.n_queries as u32,
        first_index: piece.refs.start as u32,
        split: piece.split as u32,
        k: piece.k as u32,
        n_groups: piece.n_groups as u32,
        side: piece.side as u32,
        per_group: piece.per_group as u32,
    };
    let bindings = Bindings {
        params,
        x: piece.x,
        x4: piece.x,
        y: piece.y,
        y4: piece.y,
        shift,
        least,
        parts,
    };
    // The estimates are read six times; about twice k groups are looked at.
    let row_bytes = 24 * piece.n_groups + 8 * piece.k * piece.per_group * piece.y_ld;
    let groups = [piece.rows.len() as u32, 1, 1];
    gpu.dispatch(&bindings, groups, (piece.rows.len() * row_bytes) as u64)
}
