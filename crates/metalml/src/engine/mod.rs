//! Where data live and how they come and go. Kernels add what can be computed (`kernels/mod.rs`).

mod frame;
mod gpu;
mod gpu_matrix;
mod gpu_stream;
mod metric;
mod native;
pub(crate) mod native_distance;
pub(crate) mod native_estimate;
pub(crate) mod native_product;
pub(crate) mod native_rows;
pub(crate) mod native_stream;
mod real;

use bytemuck::Pod;

pub use frame::Frame;
pub(crate) use frame::{near, unit_of};
pub use gpu::Gpu;
pub use gpu_matrix::GpuMatrix;
pub use metric::Metric;
pub use native::{Native, NativeMatrix, OnHost};
pub use real::Real;

use crate::matrix::{HostMatrix, HostMatrixMut};
use crate::{Error, Result};

/// `[Result; N]` to `Result<[_; N]>`, which std has not yet.
fn all<T, const N: usize>(results: [Result<T>; N]) -> Result<[T; N]> {
    let values: Vec<T> = results.into_iter().collect::<Result<_>>()?;
    values
        .try_into()
        .map_err(|_| Error::Internal("one value for each result".into()))
}

/// A place that holds arrays and matrices. One value serves one call: a recording on the GPU, a borrow of the input natively.
///
/// Nothing waits but `wait`, what is made of it, and `Border::stream`.
pub trait Storage: Sized {
    /// What data are made of: `f32` on the GPU, `f32` or `f64` natively.
    type Elem: Real;
    /// What long sums are kept in: a (hi, lo) pair of `f32` on the GPU, `f64` natively.
    type Wide: Pod + Into<f64>;
    /// A flat array.
    type Array<T: Pod>;
    /// A row-major matrix, whole or in blocks of rows.
    type Matrix: Shape;
    /// A matrix to write to.
    type MatrixMut<'m>
    where
        Self: 'm;
    /// A host copy that was asked for.
    type Pending;

    /// Small things: shifts, weights of a model, starting points. The caller's data come in by `Border`.
    fn upload<T: Pod>(&self, values: &[T]) -> Result<Self::Array<T>>;
    /// The nearest wide number.
    fn wide(value: f64) -> Self::Wide;
    /// A matrix whose values nobody has written yet.
    fn create(&self, n_rows: usize, n_cols: usize) -> Result<Self::Matrix>;
    /// The same, of the rows of another, split where that is.
    fn create_beside(&self, other: &Self::Matrix, n_cols: usize) -> Result<Self::Matrix>;
    /// Matrices of the same rows with these row-major values, all split at the same rows.
    fn resident<const N: usize>(
        &self,
        values: [&[Self::Elem]; N],
        n_rows: usize,
        n_cols: [usize; N],
    ) -> Result<[Self::Matrix; N]>;
    /// A matrix of this engine, to write to.
    fn write<'m>(matrix: &'m mut Self::Matrix) -> Self::MatrixMut<'m>
    where
        Self: 'm;
    /// Ask for a copy on the host; it is fetched with the work recorded so far.
    fn read<T: Pod>(&self, array: &Self::Array<T>) -> Result<Self::Pending>;
    /// Wait for such a copy.
    fn wait<T: Pod>(&self, pending: Self::Pending) -> Result<Vec<T>>;
    /// A whole matrix on the host, in f64.
    fn fetch_matrix(&self, matrix: &Self::Matrix) -> Result<Vec<f64>>;

    /// Bring results to the host in f64, with one wait for all of them.
    fn fetch<T: Pod + Into<f64>, const N: usize>(&self, arrays: [&Self::Array<T>; N]) -> Result<[Vec<f64>; N]> {
        let pending = arrays.map(|array| self.read(array));
        let mut values = [const { Vec::new() }; N];
        for (values, pending) in values.iter_mut().zip(pending) {
            *values = self.wait::<T>(pending?)?.into_iter().map(Into::into).collect();
        }
        Ok(values)
    }

    /// `upload` of f64 values rounded to the element type.
    fn upload_elem(&self, values: &[f64]) -> Result<Self::Array<Self::Elem>> {
        self.upload(
            &values
                .iter()
                .map(|&value| Self::Elem::from_f64(value))
                .collect::<Vec<_>>(),
        )
    }
}

/// The size of a matrix.
pub trait Shape {
    /// How many rows.
    fn n_rows(&self) -> usize;
    /// How many columns.
    fn n_cols(&self) -> usize;
}

/// One of the caller's matrices, and what it may hold.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The data.
    pub host: HostMatrix<'a>,
    /// Its name in messages: `X`, `y` or `sample_weight`.
    pub what: &'static str,
    /// Whether a NaN is welcome; an infinity never is.
    pub nan: bool,
    /// Whether the first kernel that reads it tells of NaN and infinities natively, so that no pass of their own is spent on them.
    pub told_by_kernel: bool,
}

impl<'a> Input<'a> {
    /// Data that must be finite.
    pub fn finite(host: HostMatrix<'a>, what: &'static str) -> Self {
        Self {
            host,
            what,
            nan: false,
            told_by_kernel: false,
        }
    }

    /// The same, where the first kernel will tell.
    #[must_use]
    pub fn told(self) -> Self {
        Self {
            told_by_kernel: true,
            ..self
        }
    }

    /// The same, NaN welcome.
    #[must_use]
    pub fn with_nan(self) -> Self {
        Self { nan: true, ..self }
    }
}

/// Rows that pass through an engine and come out changed.
#[derive(Debug)]
pub enum Rows<'a> {
    /// From one matrix to another.
    Apart(Input<'a>, HostMatrixMut<'a>),
    /// In place.
    Same(HostMatrixMut<'a>),
}

/// The border: the caller's data come to the engine, natively without a copy (hence the lifetime), and go back.
pub trait Border<'a>: Storage {
    /// Matrices of the same rows, all split at the same ones.
    fn bring<const N: usize>(&self, inputs: [Input<'a>; N]) -> Result<[Self::Matrix; N]>;

    /// Pass rows through `step`, which writes its second argument from its first; blocks of rows overlap with their copies.
    fn stream(
        &self,
        rows: Rows<'a>,
        step: impl FnMut(&Self::Matrix, &mut Self::MatrixMut<'_>) -> Result<()>,
    ) -> Result<()>;
}
