//! Mean, variance and range of each column in one pass, NaN skipped, weights welcome.

mod cases;
mod native;
mod reference;

use super::{Family, column_stats_merge};
use crate::Result;
use crate::engine::{Frame, Gpu, Native, OnHost, Shape, Storage};

include!(concat!(env!("OUT_DIR"), "/column_stats.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "column_stats",
    kernels: &[KERNEL, column_stats_merge::KERNEL],
    cases: cases::cases,
};

/// What one pass over the columns knows, with `d = (x - shift) * unit`.
#[derive(Debug)]
pub struct Sums<E: Storage> {
    /// `[Σ w, mean of d, Σ w (d - mean)², count of values that are not NaN]`, each for all columns.
    pub sums: E::Array<E::Wide>,
    /// `[least x, greatest x]`, each for all columns.
    pub range: E::Array<E::Elem>,
}

/// Column statistics.
pub trait ColumnStats: Storage {
    /// One pass over `x`; `weights` is a column of the same rows.
    ///
    /// Chan, Golub, `LeVeque` (1983), "Algorithms for computing the sample variance", section 2: sums of shifted data, merged pairwise.
    fn column_stats(&self, x: &Self::Matrix, weights: Option<&Self::Matrix>, frame: &Frame) -> Result<Sums<Self>>;
}

/// Rows that one workgroup sums.
const ROWS_PER_SPLIT: usize = 1024;
/// Splits beyond which they grow instead.
const MOST_SPLITS: usize = 2048;

impl ColumnStats for Gpu<'_> {
    fn column_stats(&self, x: &Self::Matrix, weights: Option<&Self::Matrix>, frame: &Frame) -> Result<Sums<Self>> {
        let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
        let fitting = self.limits().max_binding as usize / (32 * n_cols.max(1));
        let most_splits = fitting.saturating_sub(x.n_blocks()).clamp(1, MOST_SPLITS);
        let rows_per_split = ROWS_PER_SPLIT.max(n_rows.div_ceil(most_splits));
        let n_splits: usize = (0..x.n_blocks())
            .map(|block| x.rows_of(block).len().div_ceil(rows_per_split))
            .sum();
        let (shift, unit) = (self.upload_elem(&frame.shift)?, self.upload_elem(&frame.unit)?);
        let parts = self.alloc(n_splits * 4 * n_cols)?;
        let part_range = self.alloc(n_splits * 2 * n_cols)?;
        let mut first_split = 0;
        for block in 0..x.n_blocks() {
            let rows = x.rows_of(block).len();
            let splits = rows.div_ceil(rows_per_split) as u32;
            let array = self.block(x, block)?;
            let params = Params {
                n_rows: rows as u32,
                n_cols: n_cols as u32,
                ld: x.ld as u32,
                rows_per_split: rows_per_split as u32,
                first_split,
                weighted: weights.is_some().into(),
                zero: 0,
            };
            let weights = weights.map_or(Ok(&shift), |weights| self.block(weights, block))?;
            let bindings = Bindings {
                params,
                x: array,
                weights,
                shift: &shift,
                unit: &unit,
                sums: &parts,
                range: &part_range,
            };
            self.dispatch(
                &bindings,
                [params.n_cols.div_ceil(KERNEL.workgroup[0]), splits, 1],
                array.bytes(),
            )?;
            first_split += splits;
        }
        let (sums, range) = (self.alloc(4 * n_cols)?, self.alloc(2 * n_cols)?);
        column_stats_merge::record(self, n_splits, n_cols, &parts, &part_range, &sums, &range)?;
        Ok(Sums { sums, range })
    }
}

impl<T: OnHost> ColumnStats for Native<'_, T> {
    fn column_stats(&self, x: &Self::Matrix, weights: Option<&Self::Matrix>, frame: &Frame) -> Result<Sums<Self>> {
        let shift: Vec<T> = frame.shift.iter().map(|&shift| T::from_f64(shift)).collect();
        let mut scratch = Vec::new();
        let weights = weights.map(|weights| weights.view());
        let weights = weights.as_ref().map(|weights| weights.packed(&mut scratch));
        let (mut sums, range) = native::column_stats(x.view(), weights, &shift);
        let n_cols = shift.len();
        for (col, unit) in frame.unit.iter().enumerate() {
            sums[n_cols + col] *= unit;
            sums[2 * n_cols + col] *= unit * unit;
        }
        Ok(Sums {
            sums: sums.into(),
            range: range.into(),
        })
    }
}
