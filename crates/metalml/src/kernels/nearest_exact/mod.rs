//! The last step to the nearest centres: estimates become labels and distances.

use super::nearest::{Found, Piece};
use crate::Result;
use crate::device::Array;
use crate::engine::Gpu;

include!(concat!(env!("OUT_DIR"), "/nearest_exact.rs"));

/// Rows that a workgroup makes at once, as in the WGSL.
const ROWS: usize = 32;
/// Workgroups that keep a large device busy.
const GROUPS: usize = 1 << 14;

/// Writes the labels and squared distances of a piece's rows.
pub(super) fn record<'a>(
    gpu: &Gpu<'a>,
    piece: &Piece<'_>,
    shift: &Array<f32>,
    least: &Array<f32>,
    to: &Found<Gpu<'a>>,
) -> Result<()> {
    let params = Params {
        n_rows: piece.rows.len() as u32,
        n_cols: piece.n_cols as u32,
        x_ld: piece.x_ld as u32,
        y_ld: piece.y_ld as u32,
        x_start: piece.rows.start as u32,
        first_row: (piece.first_row + piece.rows.start) as u32,
        n_centres: piece.centres.len() as u32,
        first_centre: piece.centres.start as u32,
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
        labels: &to.labels,
        distances: &to.distances,
    };
    let groups = piece
        .rows
        .len()
        .div_ceil(ROWS)
        .min(GROUPS)
        .min(gpu.limits().max_groups as usize);
    let bytes = 4 * (piece.rows.len() * (piece.x_ld + piece.n_groups + piece.per_group * piece.y_ld)) as u64;
    gpu.dispatch(&bindings, [groups as u32, 1, 1], bytes)
}
