//! Steps over kernels that several algorithms share.

pub mod cholesky;
pub mod descent;
pub mod moments;
pub mod products;
pub mod rounding;
