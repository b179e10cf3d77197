//! Mean, variance and range of each column in one pass, NaN skipped, weights welcome.

mod cases;
mod native;
mod reference;

use super::{Family, column_stats_merge};
use crate::Result;
use crate::device::Pair;
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

/// The fewest rows that one workgroup sums, in wide rows.
const LEAST_ROWS: usize = 256;
/// Splits beyond which they grow instead.
const MOST_SPLITS: usize = 1056;
/// Vectors of a row that a workgroup takes, at most.
const MOST_ACROSS: usize = 64;

/// The frame in units, each shift a multiple of 1/16 where a float32 holds that: then what a difference to it loses is a float32 too.
fn coarse(frame: &Frame) -> (Vec<f64>, Vec<Pair>) {
    /// The smallest of the numbers whose sixteenths a float32 does not hold.
    const TOO_LARGE: f64 = (1 << 19) as f64;
    let in_units = frame.shift.iter().zip(&frame.unit).map(|(shift, unit)| shift * unit);
    in_units
        .map(|shift| {
            let coarse = if shift.abs() < TOO_LARGE {
                (16.0 * shift).round() / 16.0
            } else {
                f64::from(shift as f32)
            };
            (coarse, Pair::new(coarse - shift))
        })
        .unzip()
}

impl ColumnStats for Gpu<'_> {
    fn column_stats(&self, x: &Self::Matrix, weights: Option<&Self::Matrix>, frame: &Frame) -> Result<Sums<Self>> {
        let (n_cols, ld) = (x.n_cols(), x.ld);
        // Several narrow rows make one of whole vectors.
        let copies = (1..=4).find(|copies| copies * ld % 4 == 0).unwrap_or(1);
        let vectors = copies * ld / 4;
        let across = vectors.div_ceil(vectors.div_ceil(MOST_ACROSS).max(1)).max(1);
        let wide_rows = |block| x.rows_of(block).len().div_ceil(copies);
        let fitting = self.limits().max_binding as usize / (32 * copies * n_cols.max(1));
        let most_splits = fitting.saturating_sub(x.n_blocks()).clamp(1, MOST_SPLITS);
        let rows_per_split = LEAST_ROWS.max(x.n_rows().div_ceil(copies).div_ceil(most_splits));
        let n_parts = copies
            * (0..x.n_blocks())
                .map(|block| wide_rows(block).div_ceil(rows_per_split))
                .sum::<usize>();
        let (shift, offset) = coarse(frame);
        let wide_row = |values: &[f64]| [values, &vec![0.0; ld - n_cols]].concat().repeat(copies);
        let (shift, unit) = (
            self.upload_elem(&wide_row(&shift))?,
            self.upload_elem(&wide_row(&frame.unit))?,
        );
        let offset = self.upload(&offset)?;
        let parts = self.alloc(n_parts * 4 * n_cols)?;
        let part_range = self.alloc(n_parts * 2 * n_cols)?;
        let mut first_part = 0;
        for block in 0..x.n_blocks() {
            let splits = wide_rows(block).div_ceil(rows_per_split);
            let array = self.block(x, block)?;
            let params = Params {
                n_values: (x.rows_of(block).len() * ld) as u32,
                n_cols: n_cols as u32,
                ld: ld as u32,
                vectors: vectors as u32,
                rows_per_split: rows_per_split as u32,
                first_part: first_part as u32,
                weighted: weights.is_some().into(),
                across: across as u32,
                zero: 0,
            };
            let weights = weights.map_or(Ok(&shift), |weights| self.block(weights, block))?;
            let bindings = Bindings {
                params,
                x4: array,
                x: array,
                weights,
                shift: &shift,
                unit: &unit,
                sums: &parts,
                range: &part_range,
            };
            let groups = [vectors.div_ceil(across) as u32, splits as u32, 1];
            self.dispatch(&bindings, groups, array.bytes())?;
            first_part += splits * copies;
        }
        let (sums, range) = (self.alloc(4 * n_cols)?, self.alloc(2 * n_cols)?);
        column_stats_merge::record(self, n_parts, n_cols, &parts, &part_range, &offset, &sums, &range)?;
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
