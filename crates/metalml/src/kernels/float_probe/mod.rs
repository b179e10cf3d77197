//! How the device treats floats: asked once, told in `backend_info()`, and what compensated sums stand on.

use crate::Result;
use crate::device::Device;
use crate::engine::{Gpu, Storage};

include!(concat!(env!("OUT_DIR"), "/float_probe.rs"));

/// What the probe found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatFacts {
    /// The rounding error of a protected sum comes out whole: compensated sums work.
    pub exact_two_sum: bool,
    /// Numbers below 1.2e-38 are kept.
    pub denormals: bool,
    /// `x != x` sees NaN.
    pub nan_compares: bool,
    /// A NaN's bits arrive and are seen.
    pub nan_bits: bool,
    /// A multiply-add is rounded once.
    pub fused_multiply_add: bool,
    /// An infinity arrives.
    pub infinity: bool,
}

/// Run the probe.
pub fn probe(device: &Device) -> Result<FloatFacts> {
    let gpu = Gpu::for_testing(device);
    let (large, small, tiny, factor) = (
        16_777_216.0_f32,
        1.25_f32,
        f32::from_bits(1 << 9),
        1.0 + f32::EPSILON * 2048.0,
    );
    let inputs = gpu.upload(&[large, small, tiny, f32::NAN, factor, f32::INFINITY])?;
    let findings = gpu.alloc::<u32>(7)?;
    let bindings = Bindings {
        params: Params { zero: 0 },
        inputs: &inputs,
        findings: &findings,
    };
    gpu.dispatch(&bindings, [1, 1, 1], 0)?;
    let pending = gpu.read(&findings)?;
    let found: Vec<u32> = gpu.wait(pending)?;
    let sum = large + small;
    let residual = (f64::from(factor) * f64::from(factor) - f64::from(factor * factor)) as f32;
    Ok(FloatFacts {
        exact_two_sum: found[0] == sum.to_bits() && found[1] == (small - (sum - large)).to_bits(),
        denormals: found[2] == tiny.to_bits(),
        nan_compares: found[3] == 1,
        nan_bits: found[5] == 1,
        fused_multiply_add: found[4] == residual.to_bits(),
        infinity: found[6] == f32::INFINITY.to_bits(),
    })
}
