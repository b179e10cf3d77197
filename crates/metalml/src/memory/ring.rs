//! Rings of large mapped buffers: data pass through them in chunks, filled and emptied by all threads.
//!
//! Several reused buffers beat one: the threads fill the next while the device copies the last.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::device::Device;
use crate::{Error, Result};

/// Mapped memory to write to: reading it could be very slow.
pub(crate) type StagedBytes<'a> = wgpu::WriteOnly<'a, [u8]>;

/// Plain memory in the same guise.
pub(crate) fn staged_bytes(bytes: &mut [u8]) -> StagedBytes<'_> {
    wgpu::WriteOnly::from_mut(bytes)
}

/// Bytes of one buffer to the device, and how many there may be: host memory is bounded by their product.
pub(crate) const WRITE_BYTES: u64 = 64 << 20;
const WRITE_SLOTS: usize = 4;
/// The same to the host.
pub(crate) const READ_BYTES: u64 = 32 << 20;
const READ_SLOTS: usize = 3;

/// Which way the data go.
#[derive(Clone, Copy, Debug)]
enum Way {
    ToDevice,
    ToHost,
}

impl Way {
    fn size(self) -> (u64, usize) {
        match self {
            Self::ToDevice => (WRITE_BYTES, WRITE_SLOTS),
            Self::ToHost => (READ_BYTES, READ_SLOTS),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Ring {
    way: Way,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct State {
    idle: VecDeque<Staging>,
    made: usize,
}

#[derive(Debug)]
pub(crate) struct Staging {
    pub(crate) buffer: wgpu::Buffer,
    mapping: Option<Mapping>,
}

/// A mapping that was asked for behind a submission.
#[derive(Debug)]
struct Mapping {
    submission: wgpu::SubmissionIndex,
    outcome: Receiver<Outcome>,
    told: Option<Outcome>,
}

type Outcome = Result<(), wgpu::BufferAsyncError>;

impl Staging {
    /// Whether nothing is left to wait for.
    fn is_free(&mut self) -> bool {
        self.mapping.as_mut().is_none_or(|mapping| {
            mapping.told = mapping.told.take().or_else(|| mapping.outcome.try_recv().ok());
            mapping.told.is_some()
        })
    }
}

/// A buffer of a ring, held by one call; it goes back when the lease ends.
#[derive(Debug)]
pub(crate) struct Lease<'d> {
    ring: &'d Ring,
    staging: Option<Staging>,
    /// Whether the buffer is in a state that the ring cannot lend again: a call that fails leaves it so.
    spent: bool,
}

impl Ring {
    pub(crate) fn to_device() -> Self {
        Self {
            way: Way::ToDevice,
            state: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    pub(crate) fn to_host() -> Self {
        Self {
            way: Way::ToHost,
            state: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// A buffer, once one is free. A caller that holds none may wait for it: whoever holds one gives it back without waiting for others.
    pub(crate) fn lease(&self, device: &Device) -> Result<Lease<'_>> {
        loop {
            if let Some(lease) = self.try_lease(device)? {
                return Ok(lease);
            }
            let state = self.lock();
            if state.idle.is_empty() && state.made >= self.way.size().1 {
                drop(self.returned.wait(state).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    /// A buffer, if one is free now.
    pub(crate) fn try_lease(&self, device: &Device) -> Result<Option<Lease<'_>>> {
        let _ = device.wgpu.poll(wgpu::PollType::Poll);
        let mut state = self.lock();
        // A new buffer is worth more than one whose copy has not run yet: the threads would wait for the device.
        let all_made = state.made >= self.way.size().1;
        let lend = all_made || state.idle.front_mut().is_some_and(Staging::is_free);
        if lend && let Some(staging) = state.idle.pop_front() {
            drop(state);
            let mut lease = self.lent(staging);
            if lease.await_mapping(device)? && matches!(self.way, Way::ToHost) {
                // A call that failed on its way did not collect these.
                lease.unmap();
            }
            return Ok(Some(lease));
        }
        if all_made {
            return Ok(None);
        }
        state.made += 1;
        drop(state);
        Ok(Some(self.lent(self.make(device))))
    }

    fn lent(&self, staging: Staging) -> Lease<'_> {
        Lease {
            ring: self,
            staging: Some(staging),
            spent: false,
        }
    }

    fn make(&self, device: &Device) -> Staging {
        let usage = match self.way {
            Way::ToDevice => wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            Way::ToHost => wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        };
        let mapped_at_creation = matches!(self.way, Way::ToDevice);
        let descriptor = wgpu::BufferDescriptor {
            label: Some("staging"),
            size: self.way.size().0,
            usage,
            mapped_at_creation,
        };
        Staging {
            buffer: device.wgpu.create_buffer(&descriptor),
            mapping: None,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease<'_> {
    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self
            .staging
            .as_ref()
            .expect("a lease holds its staging buffer until it ends")
            .buffer
    }

    /// Fill the mapped buffer and unmap it.
    pub(crate) fn fill<R>(&mut self, bytes: u64, fill: impl FnOnce(StagedBytes<'_>) -> R) -> Result<R> {
        let lost = |_| Error::DeviceLost { during: "upload" };
        let mut mapped = self.buffer().get_mapped_range_mut(..bytes).map_err(lost)?;
        let result = fill(mapped.slice(..));
        drop(mapped);
        self.unmap();
        self.spent = true;
        Ok(result)
    }

    /// Read the mapped buffer and unmap it.
    pub(crate) fn collect(&mut self, bytes: u64, collect: impl FnOnce(&[u8])) -> Result<()> {
        let lost = |_| Error::DeviceLost { during: "download" };
        let mapped = self.buffer().get_mapped_range(..bytes).map_err(lost)?;
        collect(&mapped);
        drop(mapped);
        self.unmap();
        Ok(())
    }

    fn unmap(&mut self) {
        self.buffer().unmap();
        self.spent = false;
    }

    /// Ask for the buffer to be mapped once `submission` has run.
    pub(crate) fn map_after(&mut self, submission: wgpu::SubmissionIndex) {
        let mode = match self.ring.way {
            Way::ToDevice => wgpu::MapMode::Write,
            Way::ToHost => wgpu::MapMode::Read,
        };
        let (sender, outcome) = channel();
        self.buffer().map_async(mode, .., move |result| {
            let _ = sender.send(result);
        });
        if let Some(staging) = &mut self.staging {
            staging.mapping = Some(Mapping {
                submission,
                outcome,
                told: None,
            });
            self.spent = false;
        }
    }

    /// Wait until a mapping that was asked for is there; whether one was.
    pub(crate) fn await_mapping(&mut self, device: &Device) -> Result<bool> {
        let Some(mapping) = self.staging.as_mut().and_then(|staging| staging.mapping.take()) else {
            return Ok(false);
        };
        let wait = || {
            let waited = device.wgpu.poll(wgpu::PollType::Wait {
                submission_index: Some(mapping.submission),
                timeout: None,
            });
            waited.ok().and_then(|_| mapping.outcome.recv().ok())
        };
        if matches!(mapping.told.or_else(wait), Some(Ok(()))) {
            self.spent = matches!(self.ring.way, Way::ToHost);
            return Ok(true);
        }
        // A buffer in an unknown state is not used again.
        self.staging = None;
        Err(Error::DeviceLost { during: "staging" })
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut state = self.ring.lock();
        match self.staging.take().filter(|_| !self.spent) {
            Some(staging) => state.idle.push_back(staging),
            None => state.made -= 1,
        }
        drop(state);
        self.ring.returned.notify_one();
    }
}
