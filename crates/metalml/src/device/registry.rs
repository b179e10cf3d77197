//! What one process holds: its devices. A forked child starts with none of its own and never touches its parent's.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::adapters::{Kind, Request};
use super::open::{Device, Options};
use crate::{Error, Result};

struct Process {
    id: u32,
    /// Whether a process this one was forked from had opened a GPU.
    after_gpu: bool,
    opened: AtomicBool,
    devices: Mutex<HashMap<Request, Arc<Device>>>,
}

static CURRENT: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

/// The state of this process. Locks of a parent may be held by threads that do not exist here, so a child takes a new state.
#[expect(unsafe_code, reason = "the pointer is the only thing that a fork leaves whole")]
fn process() -> &'static Process {
    let id = std::process::id();
    let seen = CURRENT.load(Ordering::Acquire);
    // SAFETY: `CURRENT` is null or points to a `Process` that was leaked and is never freed.
    let parent = unsafe { seen.as_ref() };
    if let Some(process) = parent.filter(|process| process.id == id) {
        return process;
    }
    let after_gpu = parent.is_some_and(|parent| parent.after_gpu || parent.opened.load(Ordering::Acquire));
    let fresh = Box::into_raw(Box::new(Process {
        id,
        after_gpu,
        opened: AtomicBool::new(false),
        devices: Mutex::default(),
    }));
    match CURRENT.compare_exchange(seen, fresh, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: as above; `fresh` is leaked from here on.
        Ok(_) => unsafe { &*fresh },
        Err(other) => {
            // SAFETY: `fresh` was never shared, and `other` was made by another thread of this process.
            unsafe {
                drop(Box::from_raw(fresh));
                &*other
            }
        }
    }
}

/// The device that `request` means, opened at its first use in this process and again after it was lost.
pub fn open(request: &Request) -> Result<Arc<Device>> {
    let process = process();
    let mut devices = process.devices.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = devices.get(request).filter(|device| !device.is_lost()) {
        return Ok(device.clone());
    }
    if process.after_gpu {
        let instance = super::adapters::instance();
        if super::adapters::choose(&instance, request)?.0.kind != Kind::Software {
            let reason = "this process was forked from one that had opened the GPU, whose driver does not survive that\n\
                          hint: start workers by spawn or loky";
            return Err(Error::NoDevice { reason: reason.into() });
        }
    }
    let device = Arc::new(Device::open(request, Options::default())?);
    if device.facts().kind != Kind::Software {
        process.opened.store(true, Ordering::Release);
    }
    devices.insert(request.clone(), device.clone());
    Ok(device)
}
