//! Buffers that are used again: making one costs more than most kernels.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Error, Result};

/// A buffer of the pool, back in it when its last holder is gone; every recording that uses it holds it until submitted.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) buffer: wgpu::Buffer,
    /// The bytes that kernels may see; the buffer itself may be longer.
    pub(crate) bytes: u64,
    pool: Arc<Pool>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.pool.give(self.buffer.clone());
    }
}

#[derive(Debug)]
pub(crate) struct Pool {
    free: Mutex<Free>,
    in_use: AtomicU64,
    limit: u64,
}

#[derive(Debug, Default)]
struct Free {
    by_size: BTreeMap<u64, Vec<wgpu::Buffer>>,
    bytes: u64,
}

/// Free buffers may hold this share of the limit, at most.
const KEPT_SHARE: u64 = 4;
const LEAST: u64 = 256;

impl Pool {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self {
            free: Mutex::default(),
            in_use: AtomicU64::new(0),
            limit,
        })
    }

    /// Bytes in use, and bytes kept for reuse.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.in_use.load(Ordering::Relaxed), self.lock().bytes)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory for `bytes`, rounded up to whole vectors of four floats; its contents are whatever was there.
    pub(crate) fn take(self: &Arc<Self>, device: &wgpu::Device, bytes: u64) -> Result<Arc<Memory>> {
        let bytes = bytes.next_multiple_of(16).max(16);
        let size = size_class(bytes);
        let kept = self.lock().take(size);
        let buffer = match kept {
            Some(buffer) => buffer,
            None => self.make(device, size)?,
        };
        self.in_use.fetch_add(buffer.size(), Ordering::Relaxed);
        Ok(Arc::new(Memory {
            buffer,
            bytes,
            pool: self.clone(),
        }))
    }

    fn make(&self, device: &wgpu::Device, size: u64) -> Result<wgpu::Buffer> {
        let in_use = self.in_use.load(Ordering::Relaxed);
        let out_of_memory = Error::OutOfMemory {
            wanted: in_use + size,
            limit: self.limit,
        };
        if in_use + size > self.limit {
            return Err(out_of_memory);
        }
        if in_use + size + self.lock().bytes > self.limit {
            self.lock().clear();
        }
        let made = create(device, size).or_else(|| {
            // What is kept for reuse may be what is missing.
            self.lock().clear();
            let _ = device.poll(wgpu::PollType::Poll);
            create(device, size)
        });
        made.ok_or(out_of_memory)
    }

    fn give(&self, buffer: wgpu::Buffer) {
        let size = buffer.size();
        self.in_use.fetch_sub(size, Ordering::Relaxed);
        let mut free = self.lock();
        if free.bytes + size <= self.limit / KEPT_SHARE {
            free.bytes += size;
            free.by_size.entry(size).or_default().push(buffer);
        }
    }
}

impl Free {
    fn take(&mut self, size: u64) -> Option<wgpu::Buffer> {
        let buffer = self.by_size.get_mut(&size)?.pop()?;
        self.bytes -= size;
        Some(buffer)
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Eighths of powers of two: at most an eighth is wasted, and sizes meet again.
fn size_class(bytes: u64) -> u64 {
    let step = (bytes.next_power_of_two() / 16).max(LEAST);
    bytes.next_multiple_of(step)
}

/// A buffer, or none if there is no room.
fn create(device: &wgpu::Device, size: u64) -> Option<wgpu::Buffer> {
    let scope = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage,
        mapped_at_creation: false,
    });
    pollster::block_on(scope.pop()).is_none().then_some(buffer)
}

#[cfg(test)]
mod tests {
    use super::size_class;

    #[test]
    fn size_classes_hold_what_they_are_asked_for_and_waste_an_eighth_at_most() {
        for bytes in (1..100_000).chain([1 << 30, (1 << 30) + 1, 400_000_000]) {
            let size = size_class(bytes);
            assert!(size >= bytes && size.is_multiple_of(4));
            assert!(size - bytes <= (bytes / 8).max(256), "{bytes} -> {size}");
            assert_eq!(size_class(size), size);
        }
    }
}
