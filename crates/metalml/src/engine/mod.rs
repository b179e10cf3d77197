//! Where data live and how they come back. Kernels add what can be computed (`kernels/mod.rs`).

pub(crate) mod native_product;
pub(crate) mod native_rows;
pub(crate) mod native_threads;
mod real;

pub use real::Real;
