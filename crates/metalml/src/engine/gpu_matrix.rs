//! A matrix on the GPU: blocks of rows, each uploaded when a kernel first asks for it, so that kernels start while later rows still travel.

use std::cell::OnceCell;

use super::Input;
use super::Shape;
use crate::device::Array;

/// A row-major float32 matrix in blocks of rows, `ld` values from one row to the next.
#[derive(Debug)]
pub struct GpuMatrix<'a> {
    pub(super) source: Option<Input<'a>>,
    pub(super) blocks: Vec<OnceCell<Array<f32>>>,
    pub(crate) rows_per_block: usize,
    pub(super) n_rows: usize,
    pub(super) n_cols: usize,
    pub(crate) ld: usize,
}

impl Shape for GpuMatrix<'_> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }
    fn n_cols(&self) -> usize {
        self.n_cols
    }
}

/// Rows are padded to whole vectors of four, so that kernels may read by four; narrow ones are left as they are.
pub(super) fn leading_dimension(n_cols: usize) -> usize {
    if n_cols < 4 { n_cols } else { n_cols.next_multiple_of(4) }
}

impl<'a> GpuMatrix<'a> {
    pub(super) fn new(source: Option<Input<'a>>, n_rows: usize, n_cols: usize, rows_per_block: usize) -> Self {
        let rows_per_block = rows_per_block.clamp(1, n_rows.max(1));
        let blocks = (0..n_rows.div_ceil(rows_per_block)).map(|_| OnceCell::new()).collect();
        Self {
            source,
            blocks,
            rows_per_block,
            n_rows,
            n_cols,
            ld: leading_dimension(n_cols),
        }
    }

    /// How many blocks.
    pub(crate) fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The rows of one block.
    pub(crate) fn rows_of(&self, block: usize) -> std::ops::Range<usize> {
        let start = block * self.rows_per_block;
        start..(start + self.rows_per_block).min(self.n_rows)
    }
}
