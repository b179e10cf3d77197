//! What an engine can compute: one folder a kernel, one trait, one line each here.

pub mod bin_values;
pub mod column_stats;
mod column_stats_merge;
pub mod elementwise;
pub mod float_probe;
pub mod forest;
mod forest_sum;
pub mod gaussian_scores;
pub mod gram;
mod gram_centre;
mod gram_merge;
pub mod kernel_sums;
mod kernel_sums_merge;
pub mod linear_map;
pub mod matmul;
mod matmul_merge;
mod matmul_softmax;
mod matmul_transpose;
pub mod nearest;
mod nearest_exact;
mod nearest_few;
mod nearest_norms;
mod nearest_pad;
pub mod neighbours;
mod neighbours_exact;
mod neighbours_merge;
mod neighbours_norms;
pub mod node_histograms;
mod node_histograms_sibling;
pub mod normalize_rows;
pub mod pairwise_distance;
pub mod philox;
pub mod radius;
pub mod row_stats;
pub mod scale_shift;
pub mod segment_sums;
mod segment_sums_count;
mod segment_sums_merge;
mod segment_sums_place;
mod segment_sums_scan;
pub mod sorting;
mod sorting_count;
mod sorting_histogram;
mod sorting_keys;
mod sorting_place;
mod sorting_scan;
mod sorting_scan_add;
pub mod top_k_rows;

use crate::engine::{Gpu, Native, OnHost, Storage};
use crate::testing::AnyCase;

include!(concat!(env!("OUT_DIR"), "/all_kernels.rs"));

/// An engine that runs every kernel. The only bound an algorithm writes.
#[rustfmt::skip] // one line each
pub trait Engine:
    Storage
    + bin_values::BinValues
    + column_stats::ColumnStats
    + elementwise::Elementwise
    + forest::Forest
    + gaussian_scores::GaussianScores
    + gram::Gram
    + kernel_sums::KernelSums
    + linear_map::LinearMap
    + matmul::Matmul
    + nearest::Nearest
    + neighbours::Neighbours
    + pairwise_distance::PairwiseDistance
    + radius::Radius
    + node_histograms::NodeHistograms
    + normalize_rows::NormalizeRows
    + philox::Philox
    + row_stats::RowStatistics
    + scale_shift::ScaleShift
    + segment_sums::SegmentSums
    + sorting::Sorting
    + top_k_rows::TopKRows
{}
impl Engine for Gpu<'_> {}
impl<T: OnHost> Engine for Native<'_, T> {}

/// A set of kernels that are tested and trusted together.
#[derive(Debug)]
pub struct Family {
    /// The name of the operation they make.
    pub name: &'static str,
    /// The kernels.
    pub kernels: &'static [crate::device::Kernel],
    /// The inputs on which they are tested and timed.
    pub cases: fn() -> Vec<Box<dyn AnyCase>>,
}

/// Every family.
pub const FAMILIES: [&Family; 21] = [
    &bin_values::FAMILY,
    &column_stats::FAMILY,
    &elementwise::FAMILY,
    &forest::FAMILY,
    &gaussian_scores::FAMILY,
    &gram::FAMILY,
    &kernel_sums::FAMILY,
    &linear_map::FAMILY,
    &matmul::FAMILY,
    &nearest::FAMILY,
    &neighbours::FAMILY,
    &pairwise_distance::FAMILY,
    &radius::FAMILY,
    &node_histograms::FAMILY,
    &normalize_rows::FAMILY,
    &philox::FAMILY,
    &row_stats::FAMILY,
    &scale_shift::FAMILY,
    &segment_sums::FAMILY,
    &sorting::FAMILY,
    &top_k_rows::FAMILY,
];
