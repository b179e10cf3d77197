//! Where data live and how they come back. Kernels add what can be computed (`kernels/mod.rs`).

mod real;

pub use real::Real;
