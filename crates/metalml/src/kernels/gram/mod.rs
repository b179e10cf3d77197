//! `Xᵀ X` and `Xᵀ Y` of shifted, weighted rows in one pass, the symmetric half only.

mod cases;
mod native;
mod reference;

use super::{Family, gram_merge};
use crate::Result;
use crate::engine::Frame;
use crate::engine::{Gpu, Native, OnHost, Shape, Storage};

include!(concat!(env!("OUT_DIR"), "/gram.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "gram",
    kernels: &[KERNEL, gram_merge::KERNEL],
    cases: cases::cases,
};

/// A matrix and the frame that its columns are seen in.
#[derive(Debug)]
pub struct Framed<'s, M>(pub &'s M, pub &'s Frame);

/// Gram matrix and cross-product.
pub trait Gram: Storage {
    /// `products[i * (p + t) + j] = Σ w c_i c_j` with `c = (z - shift) * unit` and `z = [x | y]`, for the `p` columns of `x` and the `t` of `y`;
    /// both halves of the symmetric part are filled. `weights` is a column of the same rows, not negative.
    fn gram(
        &self,
        x: Framed<'_, Self::Matrix>,
        y: Framed<'_, Self::Matrix>,
        weights: Option<&Self::Matrix>,
    ) -> Result<Self::Array<Self::Wide>>;
}

/// Columns of a panel and of a tile, as in the WGSL.
const PANEL: usize = 128;
const TILE: usize = 8;
const SLAB: usize = 16;
/// Rows that one thread sums before its tile is merged in two floats: few are exact, many are less to merge. The fewest
/// while the partial tiles stay small; the errors of many parts cancel.
const ROWS_PER_PART: std::ops::RangeInclusive<usize> = SLAB..=128;
const SMALL_PARTIAL_BYTES: usize = 16 << 20;
/// Bytes that the partial tiles may take.
const MOST_PARTIAL_BYTES: usize = 96 << 20;

/// How the rows are split among workgroups and threads.
struct Plan {
    pairs: usize,
    lanes: usize,
    rows_per_split: usize,
    part_len: usize,
    most_parts: usize,
}

impl Plan {
    fn new(n_rows: usize, x_cols: usize, n_cols: usize, max_binding: usize) -> Self {
        let n_panels = n_cols.div_ceil(PANEL);
        let pairs = (0..x_cols.div_ceil(PANEL)).map(|left| n_panels - left).sum();
        let tiles = n_cols.div_ceil(TILE);
        let part_len = tiles * tiles * TILE * TILE;
        let fitting = MOST_PARTIAL_BYTES.min(max_binding) / (4 * part_len);
        let lanes = if n_panels == 1 && fitting > 1 {
            let rows = x_cols.div_ceil(TILE);
            let tasks = rows * tiles - rows * (rows - 1) / 2;
            // A power of two, so that the lanes share a slab evenly.
            let share = (KERNEL.workgroup[0] as usize / tasks).clamp(1, SLAB).min(fitting);
            1 << share.ilog2()
        } else {
            1
        };
        let most_parts = fitting.max(lanes);
        let part_rows =
            (n_rows * 4 * part_len / SMALL_PARTIAL_BYTES).clamp(*ROWS_PER_PART.start(), *ROWS_PER_PART.end());
        let rows_per_split = (part_rows * lanes).max(n_rows.div_ceil(most_parts / lanes));
        Self {
            pairs,
            lanes,
            rows_per_split: rows_per_split.next_multiple_of(SLAB),
            part_len,
            most_parts,
        }
    }
}

impl Gram for Gpu<'_> {
    fn gram(
        &self,
        Framed(x, x_frame): Framed<'_, Self::Matrix>,
        Framed(y, y_frame): Framed<'_, Self::Matrix>,
        weights: Option<&Self::Matrix>,
    ) -> Result<Self::Array<Self::Wide>> {
        let n_cols = x.n_cols() + y.n_cols();
        let plan = Plan::new(x.n_rows(), x.n_cols(), n_cols, self.limits().max_binding as usize);
        let parts = |block| x.rows_of(block).len().div_ceil(plan.rows_per_split) * plan.lanes;
        let room = (0..x.n_blocks())
            .map(parts)
            .sum::<usize>()
            .min(plan.most_parts.max(parts(0)));
        let partials = self.alloc(room * plan.part_len)?;
        let products = self.alloc(x.n_cols() * n_cols)?;
        let (x_shift, y_shift) = (self.upload_elem(&x_frame.shift)?, self.upload_elem(&y_frame.shift)?);
        let (x_unit, y_unit) = (self.upload_elem(&x_frame.unit)?, self.upload_elem(&y_frame.unit)?);
        let (mut filled, mut merged) = (0, false);
        for block in 0..x.n_blocks() {
            let (x_block, y_block) = (self.block(x, block)?, self.block(y, block)?);
            let params = Params {
                n_rows: x.rows_of(block).len() as u32,
                x_cols: x.n_cols() as u32,
                x_ld: x.ld as u32,
                y_cols: y.n_cols() as u32,
                y_ld: y.ld as u32,
                rows_per_split: plan.rows_per_split as u32,
                first_split: (filled / plan.lanes) as u32,
                lanes: plan.lanes as u32,
                weighted: weights.is_some().into(),
            };
            let bindings = Bindings {
                params,
                x: x_block,
                y: y_block,
                x_shift: &x_shift,
                y_shift: &y_shift,
                x_unit: &x_unit,
                y_unit: &y_unit,
                weights: weights.map_or(Ok(&x_shift), |weights| self.block(weights, block))?,
                partials: &partials,
            };
            // A tile of products takes as long as moving about a tenth as many bytes.
            let bytes = x_block.bytes() * (1 + n_cols as u64 / 10);
            self.dispatch(
                &bindings,
                [plan.pairs as u32, (parts(block) / plan.lanes) as u32, 1],
                bytes,
            )?;
            filled += parts(block);
            if block + 1 == x.n_blocks() || filled + parts(block + 1) > room {
                gram_merge::record(self, x.n_cols(), n_cols, filled, merged, &partials, &products)?;
                (filled, merged) = (0, true);
            }
        }
        Ok(products)
    }
}

impl<T: OnHost> Gram for Native<'_, T> {
    fn gram(
        &self,
        Framed(x, x_frame): Framed<'_, Self::Matrix>,
        Framed(y, y_frame): Framed<'_, Self::Matrix>,
        weights: Option<&Self::Matrix>,
    ) -> Result<Self::Array<Self::Wide>> {
        let elements = |shift: &[f64]| shift.iter().map(|&shift| T::from_f64(shift)).collect::<Vec<_>>();
        let mut scratch = Vec::new();
        let weights = weights.map(|weights| weights.view());
        let weights = weights.as_ref().map(|weights| weights.packed(&mut scratch));
        let (x_shift, y_shift) = (elements(&x_frame.shift), elements(&y_frame.shift));
        let mut products = native::gram(x.view(), &x_shift, y.view(), &y_shift, weights);
        let units = [&x_frame.unit[..], &y_frame.unit].concat();
        for (row, unit) in products.chunks_exact_mut(units.len()).zip(&units) {
            row.iter_mut()
                .zip(&units)
                .for_each(|(product, other)| *product *= unit * other);
        }
        Ok(products.into())
    }
}
