//! Sums of rows by label: the update of `KMeans`, and the statistics of classes.

mod cases;
mod native;
mod reference;

use super::{Family, segment_sums_count, segment_sums_merge, segment_sums_place, segment_sums_scan};
use crate::device::Array;
use crate::engine::{Gpu, Native, OnHost, Shape, Storage};
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/segment_sums.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "segment_sums",
    kernels: &[
        segment_sums_count::KERNEL,
        segment_sums_scan::KERNEL,
        segment_sums_place::KERNEL,
        KERNEL,
        segment_sums_merge::KERNEL,
    ],
    cases: cases::cases,
};

/// Which rows belong together, and what of them is wanted.
#[derive(Debug)]
pub struct Segments<'s, E: Storage> {
    /// A label for each row; rows whose label is not below `count` belong nowhere.
    pub labels: &'s E::Array<u32>,
    /// How many segments.
    pub count: usize,
    /// A column of the same rows.
    pub weights: Option<&'s E::Matrix>,
    /// What is taken from each column first.
    pub shift: &'s [f64],
    /// Whether squares are summed too.
    pub squares: bool,
}

/// Sums by label.
pub trait SegmentSums: Storage {
    /// For each of k segments `[sum of w, sums of w d, sums of w d^2]` with `d = x - shift`: 1 + d values of the d columns, or 1 + 2 d with squares,
    /// a segment after the other. Values must be finite.
    ///
    /// Rows are ordered by label first, stably, so that each sum has a fixed order and no two threads add to one place. Moves the rows once
    /// and their numbers some times.
    fn segment_sums(&self, x: &Self::Matrix, of: &Segments<'_, Self>) -> Result<Self::Array<Self::Wide>>;
}

fn checked(n_rows: usize, n_cols: usize, labels: usize, shift: usize) -> Result<()> {
    if labels != n_rows || shift != n_cols || n_cols == 0 {
        return Err(Error::Internal(format!(
            "{labels} labels of {n_rows} rows, {shift} shifts of {n_cols} columns"
        )));
    }
    Ok(())
}

/// Rows that a workgroup orders.
const ROWS_PER_SPLIT: usize = 4096;
/// Workgroups that sum, at least, and parts of a segment at least: segments are not equally long.
const GROUPS: usize = 1024;
const LEAST_PARTS: usize = 4;
/// Vectors of a row that a workgroup takes, at most.
const MOST_ACROSS: usize = 64;

impl SegmentSums for Gpu<'_> {
    fn segment_sums(&self, x: &Self::Matrix, of: &Segments<'_, Self>) -> Result<Self::Array<Self::Wide>> {
        let (n_rows, n_cols, count) = (x.n_rows(), x.n_cols(), of.count);
        checked(n_rows, n_cols, of.labels.len(), of.shift.len())?;
        let width = 1 + n_cols * (1 + usize::from(of.squares));
        let sums = self.alloc(count * width)?;
        if count == 0 {
            return Ok(sums);
        }
        let vectors = n_cols.div_ceil(4);
        let across = vectors.div_ceil(vectors.div_ceil(MOST_ACROSS));
        let mut shift = of.shift.to_vec();
        shift.resize(4 * vectors, 0.0);
        let shift = self.upload_elem(&shift)?;
        let fitting = self.limits().max_binding as usize / (8 * count * width * x.n_blocks().max(1));
        let n_parts = GROUPS.div_ceil(count).max(LEAST_PARTS).min(fitting).max(1);
        let parts = self.alloc(x.n_blocks() * n_parts * count * width)?;
        for block in 0..x.n_blocks() {
            let (array, rows) = (self.block(x, block)?, x.rows_of(block));
            let (order, starts) = self.ordered(of, &rows)?;
            let params = Params {
                n_cols: n_cols as u32,
                ld: x.ld as u32,
                n_segments: count as u32,
                n_parts: n_parts as u32,
                first_part: (block * n_parts) as u32,
                across: across as u32,
                weighted: of.weights.is_some().into(),
                squares: of.squares.into(),
                zero: 0,
            };
            let bindings = Bindings {
                params,
                x: array,
                x4: array,
                weights: of.weights.map_or(Ok(&shift), |weights| self.block(weights, block))?,
                shift: &shift,
                order: &order,
                starts: &starts,
                sums: &parts,
            };
            let groups = [
                vectors.div_ceil(across) as u32,
                n_parts as u32,
                params.n_segments.min(self.limits().max_groups),
            ];
            self.dispatch(&bindings, groups, 2 * array.bytes())?;
        }
        segment_sums_merge::record(self, x.n_blocks() * n_parts, &parts, &sums)?;
        Ok(sums)
    }
}

impl Gpu<'_> {
    /// The rows of a block in the order of their labels, and where each segment begins: one place more than there are segments.
    fn ordered(&self, of: &Segments<'_, Self>, rows: &std::ops::Range<usize>) -> Result<(Array<u32>, Array<u32>)> {
        let fitting = self.limits().max_binding as usize / (4 * of.count);
        let most = fitting.min(self.limits().max_groups as usize).max(1);
        let rows_per_split = ROWS_PER_SPLIT.max(rows.len().div_ceil(most));
        let n_splits = rows.len().div_ceil(rows_per_split);
        let within = self.alloc(of.count * n_splits)?;
        let (starts, all) = (self.alloc(of.count + 1)?, self.alloc(1)?);
        let count = segment_sums_count::Params {
            n_rows: rows.len() as u32,
            first_row: rows.start as u32,
            n_segments: of.count as u32,
            rows_per_split: rows_per_split as u32,
            n_splits: n_splits as u32,
        };
        segment_sums_count::record(self, count, of.labels, &within)?;
        segment_sums_scan::record(self, [of.count, n_splits], &within, &starts)?;
        // What stands in the last place is not looked at, but what stands before it is summed there.
        segment_sums_scan::record(self, [1, of.count + 1], &starts, &all)?;
        let order = self.alloc(rows.len())?;
        let place = segment_sums_place::Params {
            n_rows: count.n_rows,
            first_row: count.first_row,
            n_segments: count.n_segments,
            rows_per_split: count.rows_per_split,
            n_splits: count.n_splits,
        };
        segment_sums_place::record(self, place, of.labels, [&within, &starts], &order)?;
        Ok((order, starts))
    }
}

impl<T: OnHost> SegmentSums for Native<'_, T> {
    fn segment_sums(&self, x: &Self::Matrix, of: &Segments<'_, Self>) -> Result<Self::Array<Self::Wide>> {
        let view = x.view();
        checked(view.n_rows(), view.n_cols(), of.labels.len(), of.shift.len())?;
        let mut scratch = Vec::new();
        let weights = of.weights.map(|weights| weights.view());
        let weights = weights.as_ref().map(|weights| weights.packed(&mut scratch));
        Ok(native::segment_sums(view, of.labels, of.count, weights, of.shift, of.squares).into())
    }
}
