//! Sums of a kernel over all rows of a reference set: densities, and the decision sums of kernel machines.

mod cases;
mod native;
mod reference;

use super::{Family, kernel_sums_merge};
use crate::engine::{Gpu, GpuMatrix, Metric, Native, OnHost, Shape, Storage};
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/kernel_sums.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "kernel_sums",
    kernels: &[KERNEL, kernel_sums_merge::KERNEL],
    cases: cases::cases,
};

/// A kernel of `u`, the distance in bandwidths; not normalized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelShape {
    /// `exp(-u² / 2)`: the radial basis function of a `gamma`, if the bandwidth is `1 / sqrt(2 gamma)`.
    Gaussian,
    /// 1 for u < 1.
    Tophat,
    /// `1 - u²` for u < 1.
    Epanechnikov,
    /// `exp(-u)`.
    Exponential,
    /// `1 - u` for u < 1.
    Linear,
    /// `cos(π u / 2)` for u < 1.
    Cosine,
}

impl KernelShape {
    fn number(self) -> u32 {
        self as u32
    }
}

/// What is summed.
#[derive(Clone, Copy, Debug)]
pub struct KernelSum {
    /// The kernel.
    pub shape: KernelShape,
    /// Positive.
    pub bandwidth: f64,
    /// The distance.
    pub metric: Metric,
    /// Whether the logarithm of the sum is wanted, right also where the sum itself would be too small for any number; -inf of
    /// nothing. Weights must not be negative then.
    pub log: bool,
}

/// Kernel sums.
pub trait KernelSums: Storage {
    /// `Σ_j weights[j] K(distance(x_i, refs_j) / bandwidth)` for each row of `x`, or its logarithm: `x` is n by d, `refs` m by d,
    /// `weights` a column of the same rows as `refs`, all finite; d and m at least 1.
    ///
    /// Costs 2 n m d operations of two kinds, and n m exponentials where the kernel has them. Distances are summed directly. Sums of
    /// more than eight terms are kept in two floats on the GPU, all in f64 natively; logarithms from the greatest term: Blanchard,
    /// Higham, Higham (2021), "Accurately computing the log-sum-exp and softmax functions", section 3.
    fn kernel_sums(
        &self,
        x: &Self::Matrix,
        refs: &Self::Matrix,
        weights: Option<&Self::Matrix>,
        sum: &KernelSum,
    ) -> Result<Self::Array<Self::Elem>>;
}

/// Rows that a workgroup makes, and references that it takes at a time.
const TILE: usize = 128;
/// Elements of sums for which a submission counts on the time of a byte.
const ELEMENTS_PER_BYTE: u64 = 8;
/// Workgroups that keep a large device busy: with fewer, the references are split.
const ENOUGH_GROUPS: usize = 512;
/// References of a split, at least.
const LEAST_SPLIT: usize = 1024;

fn checked(x: &impl Shape, refs: &impl Shape, weights: Option<&impl Shape>) -> Result<()> {
    let n_weights = weights.map_or(refs.n_rows(), Shape::n_rows);
    if x.n_cols() == 0 || x.n_cols() != refs.n_cols() || refs.n_rows() == 0 || n_weights != refs.n_rows() {
        return Err(Error::Internal(format!(
            "kernel sums of rows of {} columns over {} rows of {} with {n_weights} weights",
            x.n_cols(),
            refs.n_rows(),
            refs.n_cols()
        )));
    }
    Ok(())
}

/// How the references of a block are split: how many splits, and how long each.
fn split(n_rows: usize, n_refs: usize) -> (usize, usize) {
    let groups = n_rows.div_ceil(TILE).max(1);
    let wanted = (ENOUGH_GROUPS / groups).min(n_refs / LEAST_SPLIT).max(1);
    let len = n_refs.div_ceil(wanted).next_multiple_of(TILE);
    (n_refs.div_ceil(len), len)
}

/// The least float32 that is not below: what is below it is below the exact number.
fn not_below(exact: f64) -> f32 {
    let near = exact as f32;
    if near.is_finite() && f64::from(near) < exact {
        near.next_up()
    } else {
        near.min(f32::MAX)
    }
}

impl<'a> KernelSums for Gpu<'a> {
    fn kernel_sums(
        &self,
        x: &GpuMatrix<'a>,
        refs: &GpuMatrix<'a>,
        weights: Option<&GpuMatrix<'a>>,
        sum: &KernelSum,
    ) -> Result<Self::Array<f32>> {
        checked(x, refs, weights)?;
        let metric = sum.metric;
        let n_splits = |block: usize| split(x.n_rows(), refs.rows_of(block).len()).0;
        let all_splits = (0..refs.n_blocks()).map(n_splits).sum::<usize>();
        let parts = self.alloc::<f32>(3 * all_splits * x.n_rows())?;
        let mut first_split = 0;
        for y_block in 0..refs.n_blocks() {
            let (y, y_rows) = (self.block(refs, y_block)?, refs.rows_of(y_block));
            if weights.is_some_and(|weights| weights.rows_of(y_block) != y_rows) {
                return Err(Error::Internal("kernel_sums: blocks do not match".into()));
            }
            let weights = weights.map(|weights| self.block(weights, y_block)).transpose()?;
            let (splits, refs_per_split) = split(x.n_rows(), y_rows.len());
            for x_block in 0..x.n_blocks() {
                let (array, rows) = (self.block(x, x_block)?, x.rows_of(x_block));
                let elements = metric.operations() / 2 * ((x.n_cols() + 8) * y_rows.len()) as u64;
                let row_cost = (4 * x.ld) as u64 + elements / ELEMENTS_PER_BYTE;
                for piece in self.row_pieces(&KERNEL, rows.len(), TILE, row_cost, usize::MAX) {
                    let params = Params {
                        n_rows: piece.len() as u32,
                        n_refs: y_rows.len() as u32,
                        n_cols: x.n_cols() as u32,
                        x_ld: x.ld as u32,
                        y_ld: refs.ld as u32,
                        x_start: piece.start as u32,
                        y_start: 0,
                        metric: metric.number(),
                        power: metric.power() as f32,
                        first_query: (rows.start + piece.start) as u32,
                        n_queries: x.n_rows() as u32,
                        refs_per_split: refs_per_split as u32,
                        first_split: first_split as u32,
                        weighted: weights.is_some().into(),
                        kernel: sum.shape.number(),
                        inverse: (1.0 / sum.bandwidth) as f32,
                        limit: not_below(metric.sum_of(sum.bandwidth)),
                        start: if sum.log { f32::MIN } else { 0.0 },
                        zero: 0,
                    };
                    let bindings = Bindings {
                        params,
                        x: array,
                        y,
                        weights: weights.unwrap_or(array),
                        parts: &parts,
                    };
                    let groups = [piece.len().div_ceil(TILE) as u32, splits as u32, 1];
                    self.dispatch(&bindings, groups, row_cost * piece.len() as u64)?;
                }
            }
            first_split += splits;
        }
        kernel_sums_merge::record(self, &parts, [x.n_rows(), all_splits], sum.log)
    }
}

impl<T: OnHost> KernelSums for Native<'_, T> {
    fn kernel_sums(
        &self,
        x: &Self::Matrix,
        refs: &Self::Matrix,
        weights: Option<&Self::Matrix>,
        sum: &KernelSum,
    ) -> Result<Self::Array<T>> {
        checked(x, refs, weights)?;
        let mut scratch = Vec::new();
        let weights = weights.map(|weights| weights.view());
        let weights = weights.as_ref().map(|weights| weights.packed(&mut scratch));
        Ok(native::kernel_sums(x.view(), refs.view(), weights, sum).into())
    }
}
