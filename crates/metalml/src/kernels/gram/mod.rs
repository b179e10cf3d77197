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

/// Vectors of four columns that a panel has, at most: its tasks are the threads of a workgroup.
const PANEL: usize = 32;
const THREADS: usize = KERNEL.workgroup[0] as usize;
/// Rows of a slab that a thread sums, and vectors of all rows of a slab that there is room for.
const DEPTH: usize = 8;
const SLAB: usize = 2 * THREADS;
/// Workgroups that fill a large device; more would only leave more parts.
const GROUPS: usize = 528;
/// Rows that a split has, at least.
const LEAST_ROWS: usize = 64;
/// Rows that a thread sums before it adds the sum to two floats.
const ROWS_PER_FLUSH: usize = 512;
/// Bytes that the parts may take; what is more is made in turns.
const MOST_PARTIAL_BYTES: usize = 128 << 20;
/// Two vectors of four floats for each of a task's sixteen vectors.
const TASK_BYTES: usize = 2 * 16 * 16;

/// How columns are cut in panels, and rows in splits.
#[derive(Debug)]
struct Plan {
    vectors: usize,
    stride: usize,
    n_panels: usize,
    n_pairs: usize,
    pairs_at_once: usize,
    tasks: usize,
    lanes: usize,
    splits: usize,
}

impl Plan {
    fn new(n_rows: usize, x_cols: usize, y_cols: usize, max_binding: usize) -> Self {
        let x_vectors = x_cols.div_ceil(4);
        let all = (x_vectors + y_cols.div_ceil(4)).max(1);
        let n_panels = all.div_ceil(PANEL);
        let vectors = all.div_ceil(n_panels).next_multiple_of(2);
        // The kernel has a faster way for the stride of the widest panels.
        let stride = if vectors > PANEL / 2 { PANEL } else { vectors };
        let half = vectors / 2;
        let n_pairs: usize = (0..x_vectors.div_ceil(vectors)).map(|left| n_panels - left).sum();
        let tasks = if n_panels == 1 {
            half * (half + 1) / 2
        } else {
            half * half
        };
        let lanes = if n_panels == 1 {
            (THREADS / tasks).min(SLAB / (DEPTH * stride))
        } else {
            1
        };
        let fitting = (MOST_PARTIAL_BYTES.min(max_binding) / (TASK_BYTES * tasks * lanes)).max(1);
        let pairs_at_once = fitting.clamp(1, n_pairs.max(1));
        let splits = GROUPS.div_ceil(pairs_at_once).min(fitting / pairs_at_once).max(1);
        Self {
            vectors,
            stride,
            n_panels,
            n_pairs,
            pairs_at_once,
            tasks,
            lanes,
            splits: splits.min(n_rows.div_ceil(LEAST_ROWS)).max(1),
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
        let (x_cols, y_cols) = (x.n_cols(), y.n_cols());
        let block_rows = x.rows_per_block.min(x.n_rows());
        let plan = Plan::new(block_rows, x_cols, y_cols, self.limits().max_binding as usize);
        let rows_per_split = block_rows.div_ceil(plan.splits).max(1);
        // All that the first block, the longest, leaves.
        let n_parts = block_rows.div_ceil(rows_per_split);
        let partials =
            self.alloc(n_parts * plan.lanes * plan.pairs_at_once * plan.tasks * TASK_BYTES / size_of::<f32>())?;
        let products = self.alloc(x_cols * (x_cols + y_cols))?;
        // Of padding the unit is 0, which the kernel looks at.
        let padded = |value: &dyn Fn(&Frame, usize) -> f64| {
            let pad = |frame: &Frame| {
                let mut values: Vec<f64> = (0..frame.unit.len()).map(|col| value(frame, col)).collect();
                values.resize(values.len().next_multiple_of(4), 0.0);
                values
            };
            [pad(x_frame), pad(y_frame)].concat()
        };
        let frame = self.upload_elem(
            &[
                padded(&|frame, col| frame.shift[col] * frame.unit[col]),
                padded(&|frame, col| frame.unit[col]),
            ]
            .concat(),
        )?;
        for first_pair in (0..plan.n_pairs).step_by(plan.pairs_at_once) {
            let n_pairs = plan.pairs_at_once.min(plan.n_pairs - first_pair);
            for block in 0..x.n_blocks() {
                let (x_block, y_block) = (self.block(x, block)?, self.block(y, block)?);
                let n_rows = x.rows_of(block).len();
                let params = Params {
                    n_rows: n_rows as u32,
                    x_cols: x_cols as u32,
                    x_ld: x.ld as u32,
                    y_cols: y_cols as u32,
                    y_ld: y.ld as u32,
                    rows_per_split: rows_per_split as u32,
                    rows_per_flush: (ROWS_PER_FLUSH * plan.lanes) as u32,
                    vectors: plan.vectors as u32,
                    stride: plan.stride as u32,
                    n_panels: plan.n_panels as u32,
                    first_pair: first_pair as u32,
                    n_pairs: n_pairs as u32,
                    tasks: plan.tasks as u32,
                    lanes: plan.lanes as u32,
                    add: (block > 0).into(),
                    weighted: weights.is_some().into(),
                    zero: 0,
                };
                let bindings = Bindings {
                    params,
                    x4: x_block,
                    x: x_block,
                    y: y_block,
                    frame: &frame,
                    weights: weights.map_or(Ok(&frame), |weights| self.block(weights, block))?,
                    partials: &partials,
                };
                // A row of a panel's pair takes as long as moving about a tenth as many bytes as it has products.
                let bytes = x_block.bytes() + (n_rows * n_pairs * plan.tasks) as u64 * 25;
                let groups = [n_pairs as u32, n_rows.div_ceil(rows_per_split) as u32, 1];
                self.dispatch(&bindings, groups, bytes)?;
            }
            let merge = gram_merge::Plan {
                x_cols: x_cols as u32,
                y_cols: y_cols as u32,
                vectors: plan.vectors as u32,
                n_panels: plan.n_panels as u32,
                first_pair: first_pair as u32,
                n_pairs: n_pairs as u32,
                tasks: plan.tasks as u32,
                n_parts: n_parts as u32,
                part_stride: (plan.lanes * n_pairs) as u32,
                zero: 0,
            };
            gram_merge::record(self, merge, &partials, &products)?;
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
