//! An opened device: what it allows, what it is doing, and what went wrong on it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::adapters::{self, AdapterFacts, Kind, Request};
use super::pace::Pace;
use super::pipelines::Pipelines;
use super::trust::Trust;
use crate::memory::{Pool, Ring};
use crate::{Error, Result};

/// Bounds of a device, in bytes unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest array a kernel can bind.
    pub max_binding: u64,
    /// Workgroups in one dimension of a dispatch.
    pub max_groups: u32,
    /// Threads of a workgroup.
    pub max_threads: u32,
    /// What all arrays together may take.
    pub memory: u64,
    /// How much of a matrix one block holds.
    pub block: u64,
    /// The same of a matrix that does not travel.
    pub resident_block: u64,
}

/// How a device is opened; tests lower the limits and poison fresh memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Behave as a device that binds no more bytes than this.
    pub max_binding: Option<u64>,
    /// Cut matrices in blocks of no more bytes than this.
    pub block: Option<u64>,
    /// Behave as a device that starts no more workgroups than this along a dimension.
    pub max_groups: Option<u32>,
    /// Behave as a device with this much memory.
    pub memory: Option<u64>,
    /// Fill every fresh array with NaN bits.
    pub poison: bool,
    /// Compile with index and loop checks.
    pub checked: bool,
    /// Keep nothing on disk.
    pub forget: bool,
    /// Choose kernels as on a device of this kind.
    pub as_kind: Option<Kind>,
    /// Behave as a device that runs this many submissions, and drops the others without a word.
    pub runs: Option<u64>,
    /// Compile `<name>.wgsl` of this folder, where it is, in place of a kernel's own source: so a wrong edit is tried without a build.
    pub kernels_from: Option<&'static Path>,
}

/// What a device has done since it was opened.
#[derive(Debug, Default)]
pub struct Counts {
    /// Command buffers handed over.
    pub submissions: AtomicU64,
    /// Kernels started.
    pub dispatches: AtomicU64,
    /// Bytes sent to the device.
    pub uploaded: AtomicU64,
    /// Bytes fetched from the device.
    pub downloaded: AtomicU64,
}

/// A GPU, open for work. Shared by all threads of a process.
#[derive(Debug)]
pub struct Device {
    pub(crate) wgpu: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) pipelines: Pipelines,
    pub(crate) pool: Arc<Pool>,
    pub(crate) staging: Ring,
    pub(crate) readback: Ring,
    pub(crate) options: Options,
    pub(crate) pace: Pace,
    facts: AdapterFacts,
    limits: Limits,
    counts: Counts,
    trust: Trust,
    lost: Arc<AtomicBool>,
    fault: Arc<Mutex<Option<String>>>,
}

/// No matrix block is larger, so that kernels start while later rows are still on their way.
const BLOCK_BYTES: u64 = 64 << 20;
/// No block of a matrix that stays on the device is larger: a share of what a binding may be on most of them.
const RESIDENT_BLOCK_BYTES: u64 = 1 << 30;
/// WGSL's `u32` byte arithmetic and Metal's buffers both end here.
const ADDRESSABLE: u64 = (4 << 30) - (2 << 20);
/// Where the driver does not tell how much memory there is.
const UNKNOWN_MEMORY: u64 = 4 << 30;

impl Device {
    /// Open the adapter that `request` means.
    pub fn open(request: &Request, options: Options) -> Result<Self> {
        let instance = adapters::instance();
        let (mut facts, adapter) = adapters::choose(&instance, request)?;
        let refused = |reason: String| Error::NoDevice {
            reason: format!("{} could not be opened: {reason}", facts.name),
        };
        let features = adapter.features() & wgpu::Features::PIPELINE_CACHE;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("metalml"),
            required_features: features,
            required_limits: wanted_limits(&adapter.limits()),
            ..Default::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&descriptor)).map_err(|error| refused(error.to_string()))?;
        let (lost, fault) = (
            Arc::new(AtomicBool::new(false)),
            Arc::<Mutex<Option<String>>>::default(),
        );
        watch(&device, &lost, &fault);
        facts.kind = options.as_kind.unwrap_or(facts.kind);
        let limits = limits(&device.limits(), device_memory(&adapter), options);
        let pool = Pool::new(limits.memory);
        let cached = features.contains(wgpu::Features::PIPELINE_CACHE) && !options.forget;
        let pipelines = Pipelines::new(&device, &facts, cached, &options);
        let trust = Trust::load(&facts, options.forget);
        let (staging, readback) = (Ring::to_device(), Ring::to_host());
        let counts = Counts::default();
        tracing::debug!(
            name = facts.name,
            api = facts.api,
            driver = facts.driver,
            "device opened"
        );
        Ok(Self {
            wgpu: device,
            queue,
            pipelines,
            pool,
            staging,
            readback,
            options,
            pace: Pace::new(facts.kind),
            facts,
            limits,
            counts,
            trust,
            lost,
            fault,
        })
    }

    /// What it is.
    pub fn facts(&self) -> &AdapterFacts {
        &self.facts
    }

    /// What it allows.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What it has done.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What its kernels have shown.
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Bytes in arrays that are in use, and in arrays kept for reuse.
    pub fn memory_in_use(&self) -> (u64, u64) {
        self.pool.bytes()
    }

    /// How many kernels have been compiled.
    pub fn compiled(&self) -> usize {
        self.pipelines.len()
    }

    /// Whether it has stopped answering; a lost device is of no more use.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// The error that wgpu reported since the last call, if any.
    pub(crate) fn check(&self, during: &'static str) -> Result<()> {
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        match fault {
            Some(fault) => Err(Error::Internal(format!("{during}: {fault}"))),
            None if self.is_lost() => Err(Error::DeviceLost { during }),
            None => Ok(()),
        }
    }
}

/// Errors that no error scope caught are kept for the next check; by default wgpu would panic.
fn watch(device: &wgpu::Device, lost: &Arc<AtomicBool>, fault: &Arc<Mutex<Option<String>>>) {
    let (keep, flag) = (fault.clone(), lost.clone());
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        tracing::error!(%error, "wgpu");
        keep.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error.to_string());
    }));
    device.set_device_lost_callback(move |reason, message| {
        if !matches!(reason, wgpu::DeviceLostReason::Destroyed) {
            tracing::error!(?reason, message, "device lost");
            flag.store(true, Ordering::Release);
        }
    });
}

/// The defaults of WebGPU, raised to what the adapter gives where size or count matters to us.
fn wanted_limits(offered: &wgpu::Limits) -> wgpu::Limits {
    wgpu::Limits {
        max_buffer_size: offered.max_buffer_size,
        max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
        ..wgpu::Limits::default()
    }
}

fn limits(device: &wgpu::Limits, memory: Option<u64>, options: Options) -> Limits {
    let binding = device
        .max_storage_buffer_binding_size
        .min(device.max_buffer_size)
        .min(ADDRESSABLE)
        & !255;
    let max_binding = options.max_binding.map_or(binding, |max| max.min(binding));
    let memory = options.memory.unwrap_or(memory.unwrap_or(UNKNOWN_MEMORY) / 5 * 4);
    Limits {
        max_binding,
        max_groups: device
            .max_compute_workgroups_per_dimension
            .min(options.max_groups.unwrap_or(u32::MAX)),
        max_threads: device.max_compute_invocations_per_workgroup,
        memory,
        block: options.block.unwrap_or(BLOCK_BYTES).min(max_binding),
        resident_block: options.block.unwrap_or(RESIDENT_BLOCK_BYTES).min(max_binding),
    }
}

/// The largest heap of device memory, where the API tells.
#[cfg(not(target_os = "macos"))]
#[expect(
    unsafe_code,
    reason = "Vulkan tells the size of its memory only through its raw handles"
)]
fn device_memory(adapter: &wgpu::Adapter) -> Option<u64> {
    const DEVICE_LOCAL: u32 = 1;
    // SAFETY: the handles are used at once, to read properties, and not kept.
    let properties = unsafe {
        let adapter = adapter.as_hal::<wgpu::hal::api::Vulkan>()?;
        let instance = adapter.shared_instance().raw_instance();
        instance.get_physical_device_memory_properties(adapter.raw_physical_device())
    };
    let heaps = &properties.memory_heaps[..properties.memory_heap_count as usize];
    heaps
        .iter()
        .filter(|heap| heap.flags.as_raw() & DEVICE_LOCAL != 0)
        .map(|heap| heap.size)
        .max()
}

/// Metal recommends a working set.
#[cfg(target_os = "macos")]
#[expect(
    unsafe_code,
    reason = "Metal tells the size of its memory only through its raw handles"
)]
fn device_memory(adapter: &wgpu::Adapter) -> Option<u64> {
    use objc2_metal::MTLDevice as _;
    // SAFETY: the handle is used at once, to read a property, and not kept.
    let adapter = unsafe { adapter.as_hal::<wgpu::hal::api::Metal>()? };
    Some(adapter.raw_device().recommendedMaxWorkingSetSize())
}
