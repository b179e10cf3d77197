//! Rows divided by their norms.

use crate::Result;
use crate::engine::{Border, Rows};
use crate::kernels::normalize_rows::RowNorm;
use crate::kernels::{Engine, Family, normalize_rows};
use crate::matrix::HostMatrix;
use crate::run::Job;

/// Rows of norm 1, but those of zeros. Cost: one pass over them.
#[derive(Debug)]
pub struct Normalize<'a> {
    /// What goes in, finite, and where it comes out.
    pub rows: Rows<'a>,
    /// What becomes 1.
    pub norm: RowNorm,
    /// A matrix of the element type to compute in.
    pub element: HostMatrix<'a>,
}

impl<'a> Job<'a> for Normalize<'a> {
    type Output = ();
    const FAMILIES: &'static [&'static Family] = &[&normalize_rows::FAMILY];

    fn element_of(&self) -> HostMatrix<'a> {
        self.element
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<()> {
        engine.stream(self.rows, |x, out| engine.normalize_rows(x, self.norm, out))
    }
}
