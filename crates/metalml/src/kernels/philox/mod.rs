//! Random numbers that depend on their place in a stream alone, the same on every engine.

mod cases;
mod native;
mod reference;

use bytemuck::Pod;

use super::Family;
use crate::device::Array;
use crate::engine::{Gpu, Native, OnHost, Storage};
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/philox.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "philox",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// Which numbers: streams of one seed are independent of each other.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// The key of the generator.
    pub seed: u64,
    /// Which stream.
    pub number: u32,
}

/// Counter-based random numbers: `Philox4x32-10` of Salmon, Moraes, Dror, Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".
pub trait Philox: Storage {
    /// The first `len` words of a stream.
    fn random_bits(&self, stream: Stream, len: usize) -> Result<Self::Array<u32>>;
    /// The same as numbers in [0, 1), multiples of 2^-24.
    fn random_uniform(&self, stream: Stream, len: usize) -> Result<Self::Array<Self::Elem>>;
    /// Normal numbers of mean 0 and variance 1, one for each word, two by two as of Box and Muller (1958); engines differ by rounding alone.
    fn random_normal(&self, stream: Stream, len: usize) -> Result<Self::Array<Self::Elem>>;
    /// Whole numbers below `bound`, which is at least 1, all equally likely: Lemire (2019), "Fast random integer generation in an
    /// interval".
    fn random_below(&self, stream: Stream, bound: u32, len: usize) -> Result<Self::Array<u32>>;
}

const BITS: u32 = 0;
const UNIFORM: u32 = 1;
const NORMAL: u32 = 2;
const BELOW: u32 = 3;

fn checked(bound: u32) -> Result<()> {
    if bound == 0 {
        return Err(Error::Internal("random numbers below 0".into()));
    }
    Ok(())
}

impl Gpu<'_> {
    fn random<T: Pod>(&self, stream: Stream, len: usize, kind: u32, bound: u32) -> Result<Array<T>> {
        let words = self.alloc::<u32>(len)?;
        let params = Params {
            len: len as u32,
            kind,
            bound,
            seed_lo: stream.seed as u32,
            seed_hi: (stream.seed >> 32) as u32,
            stream: stream.number,
        };
        let groups = params.len.div_ceil(KERNEL.workgroup[0]).min(self.limits().max_groups);
        if len > 0 {
            self.dispatch(&Bindings { params, out: &words }, [groups, 1, 1], 4 * words.bytes())?;
        }
        // The bits are those of the type.
        Ok(words.cast())
    }
}

impl Philox for Gpu<'_> {
    fn random_bits(&self, stream: Stream, len: usize) -> Result<Array<u32>> {
        self.random(stream, len, BITS, 0)
    }
    fn random_uniform(&self, stream: Stream, len: usize) -> Result<Array<f32>> {
        self.random(stream, len, UNIFORM, 0)
    }
    fn random_normal(&self, stream: Stream, len: usize) -> Result<Array<f32>> {
        self.random(stream, len, NORMAL, 0)
    }
    fn random_below(&self, stream: Stream, bound: u32, len: usize) -> Result<Array<u32>> {
        checked(bound)?;
        self.random(stream, len, BELOW, bound)
    }
}

impl<T: OnHost> Philox for Native<'_, T> {
    fn random_bits(&self, stream: Stream, len: usize) -> Result<Self::Array<u32>> {
        Ok(native::bits(stream, len).into())
    }
    fn random_uniform(&self, stream: Stream, len: usize) -> Result<Self::Array<T>> {
        let words = native::bits(stream, len);
        let units: Vec<T> = words.into_iter().map(|word| T::from_f64(native::unit(word))).collect();
        Ok(units.into())
    }
    fn random_normal(&self, stream: Stream, len: usize) -> Result<Self::Array<T>> {
        let normal: Vec<T> = native::normal(stream, len).into_iter().map(T::from_f64).collect();
        Ok(normal.into())
    }
    fn random_below(&self, stream: Stream, bound: u32, len: usize) -> Result<Self::Array<u32>> {
        checked(bound)?;
        Ok(native::below(stream, bound, len).into())
    }
}
