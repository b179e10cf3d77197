//! The inputs on which this kernel is tested and timed.

use super::{Stream, reference};
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work};

struct PhiloxCase {
    len: usize,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Bits,
    Uniform,
    Normal,
    Below(u32),
}

const STREAM: Stream = Stream {
    seed: 0x0123_4567_89ab_cdef,
    number: 5,
};

impl Case for PhiloxCase {
    fn label(&self) -> String {
        format!("philox/{:?}{}", self.what, self.len)
    }
    fn expected(&self) -> Expected {
        let of = |at: usize| match self.what {
            What::Bits => f64::from(reference::word(STREAM, at)),
            What::Uniform => f64::from(reference::word(STREAM, at) >> 8) / f64::from(1 << 24),
            What::Normal => reference::normal(STREAM, at),
            What::Below(bound) => f64::from(reference::below(STREAM, bound, at)),
        };
        // Some roundings of the radius, and some of the angle, times it.
        let allowed = if matches!(self.what, What::Normal) { 48.0 } else { 0.0 };
        Expected {
            values: (0..self.len).map(of).collect(),
            allowed: vec![allowed; self.len],
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        Ok(match self.what {
            What::Bits => engine.fetch([&engine.random_bits(STREAM, self.len)?])?,
            What::Below(bound) => engine.fetch([&engine.random_below(STREAM, bound, self.len)?])?,
            What::Uniform => engine.fetch([&engine.random_uniform(STREAM, self.len)?])?,
            What::Normal => engine.fetch([&engine.random_normal(STREAM, self.len)?])?,
        }
        .concat())
    }
    fn work(&self) -> Work {
        Work {
            elements: self.len as u64,
            operations: 20 * self.len as u64,
        }
    }
    fn in_self_test(&self) -> bool {
        self.len > 1 && self.len < 1000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |len, what| Box::new(PhiloxCase { len, what }) as Box<dyn AnyCase>;
    vec![
        case(0, What::Normal),
        case(1, What::Bits),
        case(257, What::Bits),
        case(20_001, What::Bits),
        case(255, What::Uniform),
        case(301, What::Normal),
        case(20_003, What::Normal),
        case(500, What::Below(7)),
        // Of words for this bound, nearly half are refused.
        case(5000, What::Below((1 << 31) + 1)),
    ]
}
