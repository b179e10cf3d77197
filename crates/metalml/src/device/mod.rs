//! The GPU as the engine sees it: adapters, an opened device, pipelines, recordings, and which kernels are trusted.
//!
//! With `memory/` the only code that names wgpu.
#![expect(clippy::disallowed_types, reason = "this module and `memory` are the border to wgpu")]

mod adapters;
mod array;
pub(crate) mod nonce;
mod open;
mod pace;
mod pipelines;
mod recording;
mod registry;
mod trust;

pub use adapters::{AdapterFacts, Kind, Request, adapters};
pub use array::{Array, Bindings, Kernel, Pair, Slot};
pub use open::{Counts, Device, Limits, Options};
pub use recording::Pending;
pub(crate) use recording::Recording;
pub use registry::open;
pub use trust::Verdict;
