//! The inputs on which this kernel is tested and timed.

use super::reference;
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, elements, uniform};

struct SortingCase {
    len: usize,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Scan,
    Histogram(usize),
    /// Of values so coarse that many are equal, at this scale; NaN, infinities and zeros of both signs among them.
    Argsort(f64),
}

impl SortingCase {
    fn numbers(&self) -> Vec<u32> {
        uniform(self.len, 61)
            .iter()
            .map(|value| ((value + 0.5) * 3000.0) as u32)
            .collect()
    }

    fn values(&self, scale: f64) -> Vec<f64> {
        let mut values: Vec<f64> = uniform(self.len, 62)
            .iter()
            .map(|value| f64::from(((value * 1000.0).round() * scale) as f32))
            .collect();
        let odd = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, -f64::NAN];
        for (value, odd) in values.iter_mut().step_by(37).zip(odd.iter().cycle()) {
            *value = *odd;
        }
        values
    }
}

impl Case for SortingCase {
    fn label(&self) -> String {
        format!("sorting/{:?}{}", self.what, self.len)
    }
    fn expected(&self) -> Expected {
        let values = match self.what {
            What::Scan => reference::scan(&self.numbers()),
            What::Histogram(n_bins) => reference::histogram(&self.numbers(), n_bins),
            What::Argsort(scale) => reference::argsort(&self.values(scale)),
        };
        Expected {
            allowed: vec![0.0; values.len()],
            values,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let found = match self.what {
            What::Scan => engine.scan(&engine.upload(&self.numbers())?)?,
            What::Histogram(n_bins) => engine.histogram(&engine.upload(&self.numbers())?, n_bins)?,
            What::Argsort(scale) => engine.argsort(&engine.upload(&elements::<E::Elem>(&self.values(scale)))?)?,
        };
        Ok(engine.fetch([&found])?.concat())
    }
    fn work(&self) -> Work {
        Work {
            elements: 2 * self.len as u64,
            operations: self.len as u64,
        }
    }
    fn in_self_test(&self) -> bool {
        self.len > 1 && self.len < 5000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |len, what| Box::new(SortingCase { len, what }) as Box<dyn AnyCase>;
    vec![
        case(0, What::Scan),
        case(0, What::Histogram(3)),
        case(0, What::Argsort(1.0)),
        case(1, What::Scan),
        case(2047, What::Scan),
        case(2048, What::Scan),
        case(2049, What::Scan),
        case(300_000, What::Scan),
        case(1, What::Histogram(1)),
        case(255, What::Histogram(7)),
        case(5000, What::Histogram(2048)),
        case(4001, What::Histogram(2500)),
        case(1, What::Argsort(1.0)),
        case(255, What::Argsort(1e-3)),
        case(257, What::Argsort(1e30)),
        case(4097, What::Argsort(1e-40)),
        case(20_001, What::Argsort(0.125)),
    ]
}
