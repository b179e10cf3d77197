//! One call's work for the device: recorded as a list, handed over in submissions, each with its receipt.
//!
//! wgpu on Metal takes a command buffer that failed for one that finished. So the last dispatch of every submission writes a nonce,
//! and results are only believed when the nonces of all submissions before them have come back.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use wgpu::BufferUsages as Usage;

use super::array::{Array, Bindings, Kernel, Slot};
use super::nonce;
use super::open::Device;
use super::pace::{Pace, Stretch};
use crate::memory::{Lease, Memory};
use crate::{Error, Result};

/// Alignment of a uniform within its buffer.
const UNIFORM_ALIGN: usize = 256;
/// Mapped ranges start at multiples of 8.
const LEAST_READBACK: u64 = 8;
/// Submissions that one list of nonces can vouch for.
const NONCES: usize = 1024;

enum Command<'d> {
    Inline {
        at: usize,
        bytes: usize,
        to: Arc<Memory>,
    },
    Staged {
        from: Lease<'d>,
        bytes: u64,
        to: Arc<Memory>,
        to_start: u64,
    },
    Dispatch {
        pipeline: wgpu::ComputePipeline,
        uniform: usize,
        slots: Vec<Slot>,
        groups: [u32; 3],
    },
    Download {
        from: Arc<Memory>,
        bytes: u64,
        at: u64,
    },
    Deliver {
        from: Arc<Memory>,
        bytes: u64,
        to: usize,
    },
}

pub(crate) struct Recording<'d> {
    device: &'d Device,
    commands: Vec<Command<'d>>,
    uniforms: Vec<u8>,
    inline: Vec<u8>,
    deliveries: Vec<Lease<'d>>,
    downloads: u64,
    arrival: Rc<OnceCell<Arrival>>,
    predicted: Duration,
    stretch: Stretch,
    nonces: Option<Array<u32>>,
    expected: Vec<u32>,
}

/// A host copy that was asked for.
#[derive(Debug)]
pub struct Pending {
    arrival: Rc<OnceCell<Arrival>>,
    at: u64,
    bytes: u64,
}

/// A submission's downloads, on their way.
#[derive(Debug)]
struct Arrival {
    buffer: wgpu::Buffer,
    submission: wgpu::SubmissionIndex,
    outcome: Receiver<Result<(), wgpu::BufferAsyncError>>,
    settled: OnceCell<Result<(), &'static str>>,
    receipt: u64,
    expected: Vec<u32>,
    stretch: Stretch,
}

impl<'d> Recording<'d> {
    pub(crate) fn new(device: &'d Device) -> Self {
        Self {
            device,
            commands: Vec::new(),
            uniforms: Vec::new(),
            inline: Vec::new(),
            deliveries: Vec::new(),
            downloads: 0,
            arrival: Rc::default(),
            predicted: Duration::ZERO,
            stretch: Stretch::default(),
            nonces: None,
            expected: Vec::new(),
        }
    }

    /// Fresh memory; poisoned where the device was opened so.
    pub(crate) fn alloc(&mut self, bytes: u64) -> Result<Arc<Memory>> {
        let max = self.device.limits().max_binding;
        if bytes > max {
            return Err(Error::TooLarge {
                what: "array",
                len: bytes,
                max,
            });
        }
        let memory = self.device.pool.take(&self.device.wgpu, bytes)?;
        if self.device.options.poison {
            self.upload(&vec![0xff; memory.bytes as usize], &memory);
        }
        Ok(memory)
    }

    /// Copy small data to the device, in the order of the recording.
    pub(crate) fn upload(&mut self, values: &[u8], to: &Arc<Memory>) {
        let at = self.inline.len();
        self.inline.extend_from_slice(values);
        self.inline.resize(self.inline.len().next_multiple_of(4), 0);
        self.commands.push(Command::Inline {
            at,
            bytes: values.len().next_multiple_of(4),
            to: to.clone(),
        });
    }

    /// Copy a filled, unmapped staging buffer to the device, and start that.
    pub(crate) fn upload_staged(&mut self, from: Lease<'d>, bytes: u64, to: &Arc<Memory>, to_start: u64) -> Result<()> {
        self.device.counts().uploaded.fetch_add(bytes, Ordering::Relaxed);
        self.commands.push(Command::Staged {
            from,
            bytes,
            to: to.clone(),
            to_start,
        });
        self.submit()
    }

    /// Start a kernel; `bytes` is what it moves, for tiling by time.
    pub(crate) fn dispatch<B: Bindings>(
        &mut self,
        kernel: &Kernel,
        bindings: &B,
        groups: [u32; 3],
        bytes: u64,
    ) -> Result<()> {
        self.record(kernel, bindings.params(), bindings.slots(), groups, bytes)
    }

    fn record(&mut self, kernel: &Kernel, params: &[u8], slots: Vec<Slot>, groups: [u32; 3], bytes: u64) -> Result<()> {
        if groups.contains(&0) {
            return Ok(());
        }
        let max = self.device.limits().max_groups;
        if let Some(&len) = groups.iter().find(|&&len| len > max) {
            return Err(Error::TooLarge {
                what: kernel.name,
                len: len.into(),
                max: max.into(),
            });
        }
        if bytes > 0 {
            let more = self.device.pace.predict(kernel, bytes);
            if Pace::is_full(self.predicted, more) {
                self.submit()?;
            }
            self.predicted += more;
            self.stretch.add(kernel, bytes);
        }
        let pipeline = self.device.pipelines.get(&self.device.wgpu, kernel)?;
        let uniform = self.uniforms.len();
        self.uniforms.extend_from_slice(params);
        self.uniforms
            .resize(self.uniforms.len().next_multiple_of(UNIFORM_ALIGN), 0);
        self.commands.push(Command::Dispatch {
            pipeline,
            uniform,
            slots,
            groups,
        });
        self.device.counts().dispatches.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Ask for a host copy of small results.
    pub(crate) fn download(&mut self, from: &Arc<Memory>, bytes: u64) -> Pending {
        let at = self.downloads;
        self.downloads += bytes.next_multiple_of(8);
        self.commands.push(Command::Download {
            from: from.clone(),
            bytes: bytes.next_multiple_of(4),
            at,
        });
        Pending {
            arrival: self.arrival.clone(),
            at,
            bytes,
        }
    }

    /// Copy an array into a staging buffer of the ring to the host, and start that; the lease is mapped when it has run.
    pub(crate) fn deliver(&mut self, from: &Arc<Memory>, bytes: u64, to: Lease<'d>) -> Result<(Lease<'d>, Pending)> {
        self.device.counts().downloaded.fetch_add(bytes, Ordering::Relaxed);
        self.deliveries.push(to);
        self.commands.push(Command::Deliver {
            from: from.clone(),
            bytes,
            to: self.deliveries.len() - 1,
        });
        // The receipt of this submission.
        let pending = Pending {
            arrival: self.arrival.clone(),
            at: 0,
            bytes: 0,
        };
        self.downloads = self.downloads.max(LEAST_READBACK);
        let deliveries = self.submit_all()?;
        let lease = deliveries
            .into_iter()
            .next_back()
            .ok_or_else(|| Error::Internal("a delivery was lost".into()))?;
        Ok((lease, pending))
    }

    /// Start what is recorded, without waiting.
    pub(crate) fn submit(&mut self) -> Result<()> {
        self.submit_all().map(drop)
    }

    fn submit_all(&mut self) -> Result<Vec<Lease<'d>>> {
        if self.commands.is_empty() {
            return Ok(Vec::new());
        }
        self.sign()?;
        let commands = std::mem::take(&mut self.commands);
        let (uniforms, inline) = (std::mem::take(&mut self.uniforms), std::mem::take(&mut self.inline));
        let (uniforms, inline) = (
            self.filled(&uniforms, Usage::UNIFORM),
            self.filled(&inline, Usage::COPY_SRC),
        );
        let deliveries = std::mem::take(&mut self.deliveries);
        let readback = self.readback();
        let mut encoder = self
            .device
            .wgpu
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let dispatches =
            |a: &Command<'_>, b: &Command<'_>| matches!((a, b), (Command::Dispatch { .. }, Command::Dispatch { .. }));
        for run in commands.chunk_by(dispatches) {
            match run {
                [Command::Inline { at, bytes, to }] => {
                    if let Some(inline) = &inline {
                        encoder.copy_buffer_to_buffer(inline, *at as u64, &to.buffer, 0, *bytes as u64);
                    }
                }
                [
                    Command::Staged {
                        from,
                        bytes,
                        to,
                        to_start,
                    },
                ] => {
                    encoder.copy_buffer_to_buffer(from.buffer(), 0, &to.buffer, *to_start, *bytes);
                }
                [Command::Download { from, bytes, at }] => {
                    if let Some(readback) = &readback {
                        encoder.copy_buffer_to_buffer(&from.buffer, 0, readback, *at, *bytes);
                    }
                }
                [Command::Deliver { from, bytes, to }] => {
                    encoder.copy_buffer_to_buffer(&from.buffer, 0, deliveries[*to].buffer(), 0, *bytes);
                }
                dispatches => {
                    if let Some(uniforms) = &uniforms {
                        self.encode(&mut encoder, dispatches, uniforms);
                    }
                }
            }
        }
        if let (Some(readback), Some(nonces)) = (&readback, &self.nonces) {
            encoder.copy_buffer_to_buffer(&nonces.memory.buffer, 0, readback, self.downloads, nonces.bytes());
        }
        let done = self.device.counts().submissions.load(Ordering::Relaxed);
        let runs = self.device.options.runs.is_none_or(|runs| done < runs);
        self.stretch.start();
        let submission = self.device.queue.submit(runs.then(|| encoder.finish()));
        self.device.counts().submissions.fetch_add(1, Ordering::Relaxed);
        self.device.check("submission")?;
        for command in commands {
            if let Command::Staged { mut from, .. } = command {
                from.map_after(submission.clone());
            }
        }
        let deliveries = deliveries.into_iter().map(|mut lease| {
            lease.map_after(submission.clone());
            lease
        });
        let deliveries = deliveries.collect();
        let arrival = self.depart(readback, submission);
        self.predicted = Duration::ZERO;
        if self.expected.len() == NONCES {
            self.confirm(&Pending {
                arrival,
                at: 0,
                bytes: 0,
            })?;
            self.expected.clear();
        }
        Ok(deliveries)
    }

    /// The last dispatch: this submission's nonce.
    fn sign(&mut self) -> Result<()> {
        static NEXT: AtomicU32 = AtomicU32::new(0x9e37_79b9);
        let nonces = match &self.nonces {
            Some(nonces) => nonces.clone(),
            None => Array::new(self.device.pool.take(&self.device.wgpu, 4 * NONCES as u64)?, NONCES),
        };
        // Odd, so never what fresh memory holds.
        let value = NEXT.fetch_add(2, Ordering::Relaxed) | 1;
        let params = nonce::Params {
            slot: self.expected.len() as u32,
            value,
        };
        self.predicted = Duration::ZERO;
        self.dispatch(
            &nonce::KERNEL,
            &nonce::Bindings {
                params,
                nonces: &nonces,
            },
            [1, 1, 1],
            0,
        )?;
        self.expected.push(value);
        self.nonces = Some(nonces);
        if self.expected.len() == NONCES {
            // The last slot: this submission brings the receipt of all, and is waited for.
            self.downloads = self.downloads.max(LEAST_READBACK);
        }
        Ok(())
    }

    fn filled(&self, bytes: &[u8], usage: Usage) -> Option<wgpu::Buffer> {
        if bytes.is_empty() {
            return None;
        }
        let size = bytes.len() as u64;
        let descriptor = wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: true,
        };
        let buffer = self.device.wgpu.create_buffer(&descriptor);
        self.device.counts().uploaded.fetch_add(size, Ordering::Relaxed);
        // A buffer that could not be mapped shows itself as an error of the device at the next check.
        if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
            mapped.copy_from_slice(bytes);
        }
        buffer.unmap();
        Some(buffer)
    }

    /// Room for this submission's downloads and its receipt.
    fn readback(&self) -> Option<wgpu::Buffer> {
        (self.downloads > 0).then(|| {
            let size = self.downloads + 4 * NONCES as u64;
            let usage = Usage::MAP_READ | Usage::COPY_DST;
            self.device.wgpu.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        })
    }

    fn encode(&self, encoder: &mut wgpu::CommandEncoder, dispatches: &[Command<'_>], uniforms: &wgpu::Buffer) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for command in dispatches {
            let Command::Dispatch {
                pipeline,
                uniform,
                slots,
                groups,
            } = command
            else {
                continue;
            };
            let binding = |buffer, offset: u64, size| {
                wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset,
                    size: std::num::NonZeroU64::new(size),
                })
            };
            let params = binding(uniforms, *uniform as u64, UNIFORM_ALIGN as u64);
            let arrays = slots
                .iter()
                .map(|slot| binding(&slot.memory.buffer, 0, slot.memory.bytes));
            let entries: Vec<_> = (0..)
                .zip(std::iter::once(params).chain(arrays))
                .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
                .collect();
            let group = self.device.wgpu.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            });
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
        }
    }

    fn depart(&mut self, readback: Option<wgpu::Buffer>, submission: wgpu::SubmissionIndex) -> Rc<OnceCell<Arrival>> {
        let departed = self.arrival.clone();
        let Some(buffer) = readback else { return departed };
        let (sender, outcome) = channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            let _ = sender.send(result);
        });
        let arrival = Arrival {
            buffer,
            submission,
            outcome,
            settled: OnceCell::new(),
            receipt: self.downloads,
            expected: self.expected.clone(),
            stretch: self.stretch.clone(),
        };
        self.device
            .counts()
            .downloaded
            .fetch_add(self.downloads, Ordering::Relaxed);
        let _ = std::mem::take(&mut self.arrival).set(arrival);
        self.downloads = 0;
        departed
    }

    /// Wait for a host copy, and for the proof that all that led to it has run.
    pub(crate) fn wait(&mut self, pending: &Pending, take: impl FnOnce(&[u8])) -> Result<()> {
        if pending.arrival.get().is_none() {
            self.submit()?;
        }
        let arrival = pending
            .arrival
            .get()
            .ok_or_else(|| Error::Internal("a download was never submitted".into()))?;
        if let Err(during) = *arrival.settled.get_or_init(|| arrival.settle(self.device)) {
            self.device.lose();
            return Err(Error::DeviceLost { during });
        }
        if self.commands.is_empty() {
            self.stretch = Stretch::default();
        }
        self.device.check("download")?;
        let mapped = arrival.buffer.get_mapped_range(pending.at..pending.at + pending.bytes);
        take(&mapped.map_err(|_| Error::DeviceLost { during: "download" })?);
        Ok(())
    }

    /// Wait for the proof that a delivery's submission has run.
    pub(crate) fn confirm(&mut self, pending: &Pending) -> Result<()> {
        let arrival = pending
            .arrival
            .get()
            .ok_or_else(|| Error::Internal("a delivery was never submitted".into()))?;
        if let Err(during) = *arrival.settled.get_or_init(|| arrival.settle(self.device)) {
            self.device.lose();
            return Err(Error::DeviceLost { during });
        }
        self.device.check("delivery")
    }
}

impl Arrival {
    fn settle(&self, device: &Device) -> Result<(), &'static str> {
        let wait = wgpu::PollType::Wait {
            submission_index: Some(self.submission.clone()),
            timeout: None,
        };
        if device.wgpu.poll(wait).is_err() || !matches!(self.outcome.recv(), Ok(Ok(()))) {
            return Err("download");
        }
        let mapped = self.buffer.get_mapped_range(self.receipt..).map_err(|_| "download")?;
        let nonces: Vec<u32> = bytemuck::pod_collect_to_vec(&mapped[..4 * self.expected.len()]);
        if nonces == self.expected {
            device.pace.learn(&self.stretch);
            Ok(())
        } else {
            Err("a submission that did not run to its end")
        }
    }
}
