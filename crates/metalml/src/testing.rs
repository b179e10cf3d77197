//! One list of cases, run on every engine by the self-test, the tests and the benches.

use crate::Result;
use crate::device::Device;
use crate::engine::{Gpu, Native, Real};
use crate::kernels::Engine;

/// A kernel on one input, written once for all engines.
pub trait Case {
    /// `kernel/size`.
    fn label(&self) -> String;
    /// What the plain f64 meaning gives.
    fn expected(&self) -> Expected;
    /// The result of an engine.
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>>;
    /// Bytes that must move and operations that must be done.
    fn work(&self) -> Work;
    /// Whether the self-test on a user's device runs it: small ones that see most mistakes.
    fn in_self_test(&self) -> bool;
}

/// The two numbers that bound a kernel's time.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Each input read once and each output written once, in elements.
    pub elements: u64,
    /// Additions and multiplications.
    pub operations: u64,
}

/// What must come out, and how near.
#[derive(Debug)]
pub struct Expected {
    /// The values in f64.
    pub values: Vec<f64>,
    /// The allowed error of each value, in units of an epsilon: that of the element type, or of what `wide` values have.
    pub allowed: Vec<f64>,
    /// Whether the values are kept wider than the element type: in f64, on a GPU in two floats.
    pub wide: bool,
    /// How many times larger the error of native f64 may be: nothing cuts its sums in short ones.
    pub leeway: f64,
}

/// The engines and element types that a case runs on.
#[derive(Clone, Copy, Debug)]
pub enum On<'d> {
    /// A GPU.
    Gpu(&'d Device),
    /// The native engine in float32.
    Native32,
    /// The native engine in float64.
    Native64,
}

impl On<'_> {
    fn epsilon(self, wide: bool) -> f64 {
        /// Two floats hold 48 bits, less what each step with them loses.
        const PAIR_EPSILON: f64 = 1.0 / (1_u64 << 44) as f64;
        match self {
            On::Gpu(_) if wide => PAIR_EPSILON,
            On::Native32 if !wide => f64::from(f32::EPSILON),
            On::Gpu(_) => f64::from(f32::EPSILON),
            On::Native32 | On::Native64 => f64::EPSILON,
        }
    }
}

/// `Case` for a list: a generic method cannot be in a trait object, three instances of it can.
pub trait AnyCase {
    /// `kernel/size`.
    fn label(&self) -> String;
    /// Bytes and operations.
    fn work(&self) -> Work;
    /// Whether the self-test runs it.
    fn in_self_test(&self) -> bool;
    /// The result on an engine.
    fn run_on(&self, on: On<'_>) -> Result<Vec<f64>>;
    /// The result on an engine beside the expected one: the first value that is off, in words.
    fn fault(&self, on: On<'_>) -> Result<Option<String>>;
}

impl<C: Case> AnyCase for C {
    fn label(&self) -> String {
        Case::label(self)
    }
    fn work(&self) -> Work {
        Case::work(self)
    }
    fn in_self_test(&self) -> bool {
        Case::in_self_test(self)
    }
    fn run_on(&self, on: On<'_>) -> Result<Vec<f64>> {
        match on {
            On::Gpu(device) => self.run(&Gpu::for_testing(device)),
            On::Native32 => self.run(&Native::<f32>::new()),
            On::Native64 => self.run(&Native::<f64>::new()),
        }
    }
    fn fault(&self, on: On<'_>) -> Result<Option<String>> {
        let (actual, expected) = (self.run_on(on)?, Case::expected(self));
        if actual.len() != expected.values.len() {
            return Ok(Some(format!(
                "{} values instead of {}",
                actual.len(),
                expected.values.len()
            )));
        }
        let leeway = if matches!(on, On::Native64) {
            expected.leeway
        } else {
            1.0
        };
        let epsilon = leeway * on.epsilon(expected.wide);
        let wrong = |(i, ((&a, &e), &allowed)): (usize, ((&f64, &f64), &f64))| {
            let near = a == e || (a.is_nan() && e.is_nan()) || (a - e).abs() <= allowed * epsilon;
            (!near).then(|| {
                format!(
                    "{} [{i}]: {a:e} is not {e:e} within {:e}",
                    Case::label(self),
                    allowed * epsilon
                )
            })
        };
        Ok(actual
            .iter()
            .zip(&expected.values)
            .zip(&expected.allowed)
            .enumerate()
            .find_map(wrong))
    }
}

/// A sum whose error does not grow with its length: Neumaier (1974), ZAMM 54.
pub fn total(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, rest) = values.into_iter().fold((0.0_f64, 0.0), |(sum, rest), value| {
        let next = sum + value;
        let lost = if sum.abs() >= value.abs() {
            (sum - next) + value
        } else {
            (value - next) + sum
        };
        (next, rest + lost)
    });
    sum + rest
}

/// Repeatable values in [-0.5, 0.5), exact in f32, without short periods.
pub fn uniform(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        // Marsaglia (2003), "Xorshift RNGs".
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f64 / f64::from(1_u32 << 24) - 0.5
    };
    (0..len).map(|_| next()).collect()
}

/// Values rounded to the element type.
pub fn elements<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::from_f64(value)).collect()
}

/// Matrices of the same rows, resident on an engine.
pub fn resident<E: Engine, const N: usize>(
    engine: &E,
    values: [&[f64]; N],
    n_rows: usize,
    n_cols: [usize; N],
) -> Result<[E::Matrix; N]> {
    let values = values.map(elements::<E::Elem>);
    engine.resident(values.each_ref().map(Vec::as_slice), n_rows, n_cols)
}
