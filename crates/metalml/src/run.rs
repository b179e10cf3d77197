//! From a decision to an engine: the only place that makes one.

use std::sync::Arc;

use crate::device::Device;
use crate::engine::{Border, Gpu, Native};
use crate::kernels::{Engine, Family};
use crate::matrix::HostMatrix;
use crate::{Error, Result, self_test};

/// One call of one algorithm, for whichever engine is chosen. (A closure cannot be generic over the engine; this is one.)
pub trait Job<'a>: Send {
    /// What it gives.
    type Output: Send;
    /// The families of kernels it uses.
    const FAMILIES: &'static [&'static Family];
    /// A matrix whose element type the native engine computes in.
    fn element_of(&self) -> HostMatrix<'a>;
    /// Do it.
    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<Self::Output>;
}

/// Where a call runs. Decided before this, by rules; carried out here and nowhere else.
#[derive(Clone, Debug)]
pub enum Target {
    /// The CPU, in the data's own precision.
    Native,
    /// A GPU, in float32.
    Gpu(Arc<Device>),
}

impl Target {
    /// Run a job there.
    pub fn run<'a, J: Job<'a>>(&'a self, job: J) -> Result<J::Output> {
        match self {
            Self::Native if job.element_of().is_single() => job.run(&Native::<f32>::new()),
            Self::Native => job.run(&Native::<f64>::new()),
            Self::Gpu(device) => {
                if let Some(reason) = self_test::refusal(device, J::FAMILIES)? {
                    return Err(Error::NoDevice { reason });
                }
                job.run(&Gpu::new(device))
            }
        }
    }
}
