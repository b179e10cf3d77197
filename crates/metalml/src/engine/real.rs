//! The element of the data.

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
    /// NumPy's name of the type.
    const NAME: &'static str;
    /// The distance from 1 to the next number.
    const EPSILON: f64;
    /// Rounded to nearest.
    fn from_f64(value: f64) -> Self;
    /// Neither NaN nor infinite.
    fn finite(self) -> bool;
}

impl Real for f32 {
    const NAME: &'static str = "float32";
    const EPSILON: f64 = f32::EPSILON as f64;
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
}

impl Real for f64 {
    const NAME: &'static str = "float64";
    const EPSILON: f64 = f64::EPSILON;
    fn from_f64(value: f64) -> Self {
        value
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
}
