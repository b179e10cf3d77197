//! Rows that pass through the GPU: up, through a step, and down, with several blocks on their way at once.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::ops::Range;

use super::gpu_matrix::{GpuMatrix, leading_dimension};
use super::native::look_over;
use super::{Gpu, Input, Rows};
use crate::device::Pending;
use crate::matrix::HostMatrixMut;
use crate::memory::{Lease, READ_BYTES, collect_rows};
use crate::{Error, Result};

/// A block of results on its way to the host.
struct Flight<'a> {
    lease: Lease<'a>,
    proof: Pending,
    rows: Range<usize>,
    ld: usize,
}

impl<'a> Gpu<'a> {
    pub(super) fn stream_rows(
        &self,
        rows: Rows<'a>,
        mut step: impl FnMut(&GpuMatrix<'a>, &mut &mut GpuMatrix<'a>) -> Result<()>,
    ) -> Result<()> {
        let (input, mut out) = match rows {
            Rows::Apart(input, out) => (Some(input), out),
            Rows::Same(out) => {
                look_over(&out.as_view())?;
                (None, out)
            }
        };
        let in_cols = input.map_or(out.n_cols(), |input| input.host.n_cols());
        let n_rows = out.n_rows();
        let rows_per_block = self.rows_per_stream_block(in_cols.max(out.n_cols()))?;
        let mut flights = VecDeque::new();
        for start in (0..n_rows).step_by(rows_per_block) {
            let rows = start..(start + rows_per_block).min(n_rows);
            let block = match input {
                Some(input) => self.upload_block(&Input {
                    host: input.host.rows(rows.clone()),
                    ..input
                })?,
                // In place: what may not be there was looked for before the first row was changed.
                None => self.upload_block(&Input::finite(out.rows(rows.clone()).as_view(), "X").with_nan())?,
            };
            let mut result = GpuMatrix::new(None, rows.len(), out.n_cols(), rows.len());
            step(&block, &mut &mut result)?;
            let flight = self.depart(&result, rows, &mut flights, &mut out)?;
            flights.push_back(flight);
        }
        while let Some(flight) = flights.pop_front() {
            self.land(flight, &mut out)?;
        }
        Ok(())
    }

    fn rows_per_stream_block(&self, n_cols: usize) -> Result<usize> {
        let row_bytes = 4 * leading_dimension(n_cols).max(1) as u64;
        let rows = READ_BYTES.min(self.limits().block) / row_bytes;
        if rows == 0 {
            return Err(Error::TooLarge {
                what: "row",
                len: n_cols as u64,
                max: READ_BYTES.min(self.limits().block) / 4,
            });
        }
        Ok(rows as usize)
    }

    fn upload_block(&self, input: &Input<'_>) -> Result<GpuMatrix<'a>> {
        let n_rows = input.host.n_rows();
        let mut block = GpuMatrix::new(None, n_rows, input.host.n_cols(), n_rows);
        let array = self.upload_rows(input, block.ld)?;
        block.blocks = vec![OnceCell::from(array)];
        Ok(block)
    }

    /// Send a block of results on its way, landing the oldest one if the ring is full.
    fn depart(
        &self,
        result: &GpuMatrix<'a>,
        rows: Range<usize>,
        flights: &mut VecDeque<Flight<'a>>,
        out: &mut HostMatrixMut<'a>,
    ) -> Result<Flight<'a>> {
        let mut free = self.device.readback.try_lease(self.device)?;
        while free.is_none() {
            match flights.pop_front() {
                Some(oldest) => {
                    self.land(oldest, out)?;
                    free = self.device.readback.try_lease(self.device)?;
                }
                // Other calls hold them all; they give back without waiting for this one, which holds none.
                None => free = Some(self.device.readback.lease(self.device)?),
            }
        }
        let lease = free.ok_or_else(|| Error::Internal("no staging buffer".into()))?;
        let array = self.block(result, 0)?;
        let (lease, proof) = self
            .recording
            .borrow_mut()
            .deliver(&array.memory, array.bytes(), lease)?;
        Ok(Flight {
            lease,
            proof,
            rows,
            ld: result.ld,
        })
    }

    fn land(&self, mut flight: Flight<'a>, out: &mut HostMatrixMut<'a>) -> Result<()> {
        flight.lease.await_mapping(self.device)?;
        self.recording.borrow_mut().confirm(&flight.proof)?;
        let len = flight.rows.len() * flight.ld;
        let ld = flight.ld;
        let mut out = out.rows(flight.rows);
        flight.lease.collect(4 * len as u64, |bytes| {
            let floats = bytemuck::cast_slice(bytes);
            match &mut out {
                HostMatrixMut::F32(out) => collect_rows(floats, ld, out),
                HostMatrixMut::F64(out) => collect_rows(floats, ld, out),
            }
        })
    }
}
