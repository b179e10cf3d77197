//! The element of the data.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use bytemuck::Pod;

/// `f32` or `f64`.
pub trait Real:
    Pod
    + faer::traits::ComplexField
    + Send
    + Sync
    + Default
    + PartialOrd
    + Into<f64>
    + std::fmt::Debug
    + std::iter::Sum
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::AddAssign
{
    /// `NumPy`'s name of the type.
    const NAME: &'static str;
    /// The distance from 1 to the next number.
    const EPSILON: f64;
    /// Rounded to nearest.
    fn from_f64(value: f64) -> Self;
    /// Neither NaN nor infinite.
    fn finite(self) -> bool;
    /// Not a number.
    fn nan(self) -> bool;
    /// The smaller of two; the other one if one is NaN.
    #[must_use]
    fn lesser(self, other: Self) -> Self;
    /// The greater of two; the other one if one is NaN.
    #[must_use]
    fn greater(self, other: Self) -> Self;
    /// `self * factor + term`, rounded once: quick only where `vectorized` compiles it for a machine that has this.
    #[must_use]
    fn fused(self, factor: Self, term: Self) -> Self;
}

impl Real for f32 {
    const NAME: &'static str = "float32";
    const EPSILON: f64 = f32::EPSILON as f64;
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }
    #[inline(always)]
    fn nan(self) -> bool {
        self.is_nan()
    }
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        self.min(other)
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        self.max(other)
    }
    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
}

impl Real for f64 {
    const NAME: &'static str = "float64";
    const EPSILON: f64 = f64::EPSILON;
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }
    #[inline(always)]
    fn nan(self) -> bool {
        self.is_nan()
    }
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        self.min(other)
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        self.max(other)
    }
    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
}
