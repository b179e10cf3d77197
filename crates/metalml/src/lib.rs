//! scikit-learn's estimators on the GPU, and natively on the CPU.
//!
//! Choose a [`run::Target`], give it a job of [`algorithms`]: the same algorithm runs on either engine.

pub mod algorithms;
pub mod device;
pub mod engine;
pub mod error;
pub mod kernels;
pub mod matrix;
mod memory;
pub mod run;
pub mod self_test;
pub mod solvers;
pub mod testing;
mod threads;

pub use error::{Error, Result};
