//! scikit-learn's estimators on the GPU, and natively on the CPU.

pub mod engine;
pub mod error;
pub mod matrix;

pub use error::{Error, Result};
