//! Typed arrays in GPU memory, and what a kernel's generated contract says of itself.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::memory::Memory;

/// A sum of two floats, `hi + lo`, standing for one number of about 46 bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Pair {
    /// The number rounded to a float.
    pub hi: f32,
    /// What the rounding took away.
    pub lo: f32,
}

impl Pair {
    /// The pair nearest to `value`.
    pub fn new(value: f64) -> Self {
        let hi = value as f32;
        Self {
            hi,
            lo: (value - f64::from(hi)) as f32,
        }
    }
}

impl From<Pair> for f64 {
    fn from(pair: Pair) -> f64 {
        f64::from(pair.hi) + f64::from(pair.lo)
    }
}

/// A kernel as its WGSL declares it.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The stem of its file.
    pub name: &'static str,
    /// The WGSL, shared parts included.
    pub source: &'static str,
    /// Threads of a workgroup in x, y, z.
    pub workgroup: [u32; 3],
    /// The name and a hash of the source: what a self-test's verdict is kept under.
    pub fingerprint: &'static str,
}

/// What one dispatch binds; made by the build for each kernel.
pub trait Bindings {
    /// The kernel these belong to.
    const KERNEL: Kernel;
    /// The bytes of the uniform at binding 0.
    fn params(&self) -> &[u8];
    /// The storage buffers from binding 1 on.
    fn slots(&self) -> Vec<Slot>;
}

/// One bound array.
#[derive(Debug)]
pub struct Slot {
    pub(crate) memory: Arc<Memory>,
}

/// A typed array in GPU memory; clones share it.
#[derive(Debug)]
pub struct Array<T> {
    pub(crate) memory: Arc<Memory>,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Self {
        Self {
            memory: self.memory.clone(),
            len: self.len,
            element: PhantomData,
        }
    }
}

impl<T: Pod> Array<T> {
    pub(crate) fn new(memory: Arc<Memory>, len: usize) -> Self {
        Self {
            memory,
            len,
            element: PhantomData,
        }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes.
    pub fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// The same memory seen as elements of another type of the same size.
    pub(crate) fn cast<U: Pod>(self) -> Array<U> {
        debug_assert_eq!(size_of::<T>(), size_of::<U>());
        Array::new(self.memory, self.len)
    }

    /// This array as a kernel binds it.
    pub fn slot(&self) -> Slot {
        Slot {
            memory: self.memory.clone(),
        }
    }
}
