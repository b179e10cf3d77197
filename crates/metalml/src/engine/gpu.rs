//! The GPU engine: one recording of work for a device.

use std::cell::RefCell;

use bytemuck::Pod;

use super::gpu_matrix::{GpuMatrix, leading_dimension};
use super::{Border, Input, Rows, Storage, all};
use crate::device::{Array, Bindings, Device, Kernel, Pair, Pending, Recording, Verdict};
use crate::matrix::{HostMatrix, MatrixView};
use crate::memory::{Found, WRITE_BYTES, fill_host_rows, staged_bytes};
use crate::{Error, Result};

/// One call on a GPU. It records on one thread; the `Device` behind it is shared.
pub struct Gpu<'a> {
    pub(super) device: &'a Device,
    pub(super) recording: RefCell<Recording<'a>>,
    /// In a self-test kernels run before they are trusted.
    testing: bool,
}

/// Uploads below this go with the commands; larger ones through the staging ring.
const INLINE_BYTES: usize = 1 << 20;

impl<'a> Gpu<'a> {
    /// An engine for one call.
    pub fn new(device: &'a Device) -> Self {
        Self {
            device,
            recording: RefCell::new(Recording::new(device)),
            testing: false,
        }
    }

    /// An engine that runs kernels which have not been tested yet.
    pub fn for_testing(device: &'a Device) -> Self {
        Self {
            testing: true,
            ..Self::new(device)
        }
    }

    /// The bounds that kernels tile by.
    pub(crate) fn limits(&self) -> crate::device::Limits {
        self.device.limits()
    }

    /// The kind of the device.
    pub(crate) fn kind(&self) -> crate::device::Kind {
        self.device.facts().kind
    }

    /// The bytes of one kernel that a submission may hold.
    pub(crate) fn time_share(&self, kernel: &Kernel) -> u64 {
        self.device.pace.share(kernel)
    }

    /// Rows cut at whole tiles so that a dispatch takes neither more workgroups nor more time than it may, nor more than `most` tiles;
    /// `row_cost` is the bytes a row moves, or those that take as long as what it computes.
    pub(crate) fn row_pieces(
        &self,
        kernel: &Kernel,
        n_rows: usize,
        tile: usize,
        row_cost: u64,
        most: usize,
    ) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let in_time = (self.time_share(kernel) / row_cost.max(1)) as usize / tile;
        let step = in_time.min(most).clamp(1, self.limits().max_groups as usize) * tile;
        (0..n_rows)
            .step_by(step)
            .map(move |first| first..(first + step).min(n_rows))
    }

    /// An array whose values nobody has written yet.
    pub(crate) fn alloc<T: Pod>(&self, len: usize) -> Result<Array<T>> {
        let memory = self.recording.borrow_mut().alloc((len * size_of::<T>()) as u64)?;
        Ok(Array::new(memory, len))
    }

    /// Record a kernel; `bytes` is what it moves, for tiling by time.
    pub(crate) fn dispatch<B: Bindings>(&self, bindings: &B, groups: [u32; 3], bytes: u64) -> Result<()> {
        self.dispatch_variant(&B::KERNEL, bindings, groups, bytes)
    }

    /// The same for one of several kernels that share their bindings.
    pub(crate) fn dispatch_variant<B: Bindings>(
        &self,
        kernel: &Kernel,
        bindings: &B,
        groups: [u32; 3],
        bytes: u64,
    ) -> Result<()> {
        if !self.testing && self.device.trust().of(kernel.fingerprint) != Some(Verdict::Passed) {
            return Err(Error::Internal(format!(
                "kernel `{}` was not tested before its use",
                kernel.name
            )));
        }
        self.recording.borrow_mut().dispatch(kernel, bindings, groups, bytes)
    }

    /// The array that holds a block of `matrix`, uploaded now if it has not been.
    pub(crate) fn block<'m>(&self, matrix: &'m GpuMatrix<'a>, block: usize) -> Result<&'m Array<f32>> {
        let cell = &matrix.blocks[block];
        if let Some(array) = cell.get() {
            return Ok(array);
        }
        let rows = matrix.rows_of(block);
        let array = match matrix.source {
            Some(input) => self.upload_rows(
                &Input {
                    host: input.host.rows(rows),
                    ..input
                },
                matrix.ld,
            )?,
            None => self.alloc(rows.len() * matrix.ld)?,
        };
        Ok(cell.get_or_init(|| array))
    }

    /// Rows of the caller's matrix as one array, looked at on the way.
    pub(super) fn upload_rows(&self, input: &Input<'_>, ld: usize) -> Result<Array<f32>> {
        let (n_rows, row_bytes) = (input.host.n_rows(), 4 * ld);
        let array = self.alloc::<f32>(n_rows * ld)?;
        if n_rows * row_bytes <= INLINE_BYTES {
            let mut bytes = vec![0; n_rows * row_bytes];
            accept(fill_host_rows(input.host, ld, staged_bytes(&mut bytes)), input)?;
            self.recording.borrow_mut().upload(&bytes, &array.memory);
            return Ok(array);
        }
        let rows_per_chunk = WRITE_BYTES as usize / row_bytes;
        if rows_per_chunk == 0 {
            return Err(Error::TooLarge {
                what: "row",
                len: ld as u64,
                max: WRITE_BYTES / 4,
            });
        }
        for start in (0..n_rows).step_by(rows_per_chunk) {
            let rows = input.host.rows(start..(start + rows_per_chunk).min(n_rows));
            let bytes = rows.n_rows() * row_bytes;
            let mut lease = self.device.staging.lease(self.device)?;
            let found = lease.fill(bytes as u64, |to| fill_host_rows(rows, ld, to))?;
            accept(found, input)?;
            let mut recording = self.recording.borrow_mut();
            recording.upload_staged(lease, bytes as u64, &array.memory, (start * row_bytes) as u64)?;
        }
        Ok(array)
    }

    /// How many rows of matrices with these columns one block of each may hold.
    fn rows_per_block(n_cols: impl IntoIterator<Item = usize>, bytes: u64) -> usize {
        let ld = n_cols.into_iter().map(leading_dimension).max().unwrap_or(1).max(1);
        let rows = (bytes as usize / (4 * ld)).max(1);
        // Whole vectors of four, where a block's rows are another operand's columns.
        if rows >= 4 { rows / 4 * 4 } else { rows }
    }
}

/// Whether what a copy met may go to the device.
fn accept(found: Found, input: &Input<'_>) -> Result<()> {
    let unsuited = |what: &str| {
        Err(Error::Unsuited {
            reason: format!("{} holds {what}", input.what),
        })
    };
    if found.infinity || (found.nan && !input.nan) {
        return Err(Error::NonFinite { what: input.what });
    }
    if found.overflow {
        return unsuited("values above 3.4e38, which float32 cannot hold");
    }
    if found.vanished {
        return unsuited("values below 1.2e-38 that are not zero, which float32 cannot hold");
    }
    Ok(())
}

impl<'a> Storage for Gpu<'a> {
    type Elem = f32;
    type Wide = Pair;
    type Array<T: Pod> = Array<T>;
    type Matrix = GpuMatrix<'a>;
    type MatrixMut<'m>
        = &'m mut GpuMatrix<'a>
    where
        Self: 'm;
    type Pending = (Pending, usize);

    fn upload<T: Pod>(&self, values: &[T]) -> Result<Array<T>> {
        let array = self.alloc(values.len())?;
        self.recording
            .borrow_mut()
            .upload(bytemuck::cast_slice(values), &array.memory);
        Ok(array)
    }

    fn wide(value: f64) -> Pair {
        Pair::new(value)
    }

    fn create(&self, n_rows: usize, n_cols: usize) -> Result<GpuMatrix<'a>> {
        Ok(GpuMatrix::new(
            None,
            n_rows,
            n_cols,
            Self::rows_per_block([n_cols], self.limits().resident_block),
        ))
    }

    fn create_beside(&self, other: &GpuMatrix<'a>, n_cols: usize) -> Result<GpuMatrix<'a>> {
        Ok(GpuMatrix::new(None, other.n_rows, n_cols, other.rows_per_block))
    }

    fn resident<const N: usize>(
        &self,
        values: [&[f32]; N],
        n_rows: usize,
        n_cols: [usize; N],
    ) -> Result<[GpuMatrix<'a>; N]> {
        let rows_per_block = Self::rows_per_block(n_cols, self.limits().resident_block);
        let mut columns = n_cols.into_iter();
        let matrices = values.map(|values| {
            let n_cols = columns.next().unwrap_or_default();
            let matrix = GpuMatrix::new(None, n_rows, n_cols, rows_per_block);
            let host = HostMatrix::F32(MatrixView::new(values, n_rows, n_cols)?);
            for (block, cell) in matrix.blocks.iter().enumerate() {
                let rows = Input::finite(host.rows(matrix.rows_of(block)), "a matrix").with_nan();
                let array = self.upload_rows(&rows, matrix.ld)?;
                cell.get_or_init(|| array);
            }
            Ok(matrix)
        });
        all(matrices)
    }

    fn write<'m>(matrix: &'m mut GpuMatrix<'a>) -> &'m mut GpuMatrix<'a>
    where
        Self: 'm,
    {
        matrix
    }

    fn read<T: Pod>(&self, array: &Array<T>) -> Result<(Pending, usize)> {
        let pending = self.recording.borrow_mut().download(&array.memory, array.bytes());
        Ok((pending, array.len()))
    }

    fn wait<T: Pod>(&self, (pending, len): (Pending, usize)) -> Result<Vec<T>> {
        let mut values = Vec::new();
        if len > 0 {
            self.recording
                .borrow_mut()
                .wait(&pending, |bytes| values = bytemuck::pod_collect_to_vec(bytes))?;
        }
        Ok(values)
    }

    fn fetch_matrix(&self, matrix: &GpuMatrix<'a>) -> Result<Vec<f64>> {
        let blocks: Vec<_> = (0..matrix.n_blocks())
            .map(|block| self.read(self.block(matrix, block)?))
            .collect();
        let mut values = Vec::with_capacity(matrix.n_rows * matrix.n_cols);
        for pending in blocks {
            let padded: Vec<f32> = self.wait(pending?)?;
            let rows = padded.chunks_exact(matrix.ld.max(1));
            values.extend(rows.flat_map(|row| row[..matrix.n_cols].iter().map(|&value| f64::from(value))));
        }
        Ok(values)
    }
}

impl<'a> Border<'a> for Gpu<'a> {
    fn bring<const N: usize>(&self, inputs: [Input<'a>; N]) -> Result<[GpuMatrix<'a>; N]> {
        let rows_per_block = Self::rows_per_block(inputs.iter().map(|input| input.host.n_cols()), self.limits().block);
        Ok(inputs.map(|input| GpuMatrix::new(Some(input), input.host.n_rows(), input.host.n_cols(), rows_per_block)))
    }

    fn stream(
        &self,
        rows: Rows<'a>,
        step: impl FnMut(&GpuMatrix<'a>, &mut &mut GpuMatrix<'a>) -> Result<()>,
    ) -> Result<()> {
        self.stream_rows(rows, step)
    }
}
