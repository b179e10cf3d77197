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
const MOST_SPLITS: usize = 264;
/// Vectors of a row that a workgroup takes, at most.
const MOST_ACROSS: usize = 64;

/// A shift in units as the kernel wants it: a float32 near `shift` whose distance from the place where values are cut is one too.
fn coarse(shift: f64) -> f64 {
    /// Sixteenths; of larger numbers fewer bits than a float32 has.
    const BITS: f64 = 20.0;
    let spacing = (shift.abs().log2().floor() - BITS + 1.0).exp2().max(1.0 / 16.0);
    (shift / spacing).round() * spacing
}

impl ColumnStats for Gpu<'_> {
    fn column_stats(&self, x: &Self::Matrix, weights: Option<&Self::Matrix>, frame: &Frame) -> Result<Sums<Self>> {
        let (n_cols, ld) = (x.n_cols(), x.ld);
        // Several narrow rows make one of whole vectors.
        let copies = (1..=4).find(|copies| copies * ld % 4 == 0).unwrap_or(1);
        let vectors = copies * ld / 4;
        let across = vectors.div_ceil(vectors.div_ceil(MOST_ACROSS).max(1)).max(1);
        let wide_rows = |block| x.rows_of(block).len().div_ceil(copies);
        // Each block fills the device; all their parts fit in one array.
        let fitting = self.limits().max_binding as usize / (32 * copies * n_cols.max(1));
        let most_splits = (fitting / x.n_blocks().max(1))
            .min(self.limits().max_groups as usize)
            .clamp(1, MOST_SPLITS);
        let block_rows = x.rows_per_block.min(x.n_rows()).div_ceil(copies);
        let rows_per_split = LEAST_ROWS.max(block_rows.div_ceil(most_splits));
        let n_parts = copies
            * (0..x.n_blocks())
                .map(|block| wide_rows(block).div_ceil(rows_per_split))
                .sum::<usize>();
        let shifts: Vec<f64> = frame
            .shift
            .iter()
            .zip(&frame.unit)
            .map(|(shift, unit)| shift * unit)
            .collect();
        let coarse: Vec<f64> = shifts.iter().copied().map(coarse).collect();
        let offset = coarse
            .iter()
            .zip(&shifts)
            .map(|(coarse, shift)| Pair::new(coarse - shift));
        let (offset_hi, offset_lo): (Vec<f32>, Vec<f32>) = offset.map(|offset| (offset.hi, offset.lo)).unzip();
        let wide_row = |values: &[f64]| {
            let row = values
                .iter()
                .map(|&value| value as f32)
                .chain(std::iter::repeat_n(0.0, ld - n_cols));
            row.collect::<Vec<f32>>().repeat(copies)
        };
        let frame = [wide_row(&coarse), wide_row(&frame.unit), offset_hi, offset_lo].concat();
        let frame = self.upload(&frame)?;
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
            let weights = weights.map_or(Ok(&frame), |weights| self.block(weights, block))?;
            let bindings = Bindings {
                params,
                x: array,
                weights,
                frame: &frame,
                sums: &parts,
                range: &part_range,
            };
            let groups = [vectors.div_ceil(across) as u32, splits as u32, 1];
            self.dispatch(&bindings, groups, array.bytes())?;
            first_part += splits * copies;
        }
        let (sums, range) = (self.alloc(4 * n_cols)?, self.alloc(2 * n_cols)?);
        let parts = column_stats_merge::Parts {
            count: n_parts,
            sums: &parts,
            range: &part_range,
            frame: &frame,
            offset_start: 8 * vectors,
        };
        column_stats_merge::record(self, n_cols, &parts, &sums, &range)?;
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
