//! Steps over kernels that several algorithms share.

pub mod cholesky;
pub mod moments;
pub mod products;
