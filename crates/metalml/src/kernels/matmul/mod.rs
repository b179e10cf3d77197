//! The general matrix product, row-major, in all four forms of transposition, with what usually follows it.

mod cases;
mod choice;
mod gpu;
mod native;
mod reference;
mod terms;

pub use terms::{Epilogue, RowTerm, Terms};

pub(super) use gpu::Place;
pub(super) use terms::Finish;

use super::{Family, matmul_merge, matmul_softmax, matmul_transpose};
use crate::Result;
use crate::device::Kernel;
use crate::engine::{Native, OnHost, Shape, Storage};
use crate::matrix::MatrixViewMut;

include!(concat!(env!("OUT_DIR"), "/matmul.rs"));

/// The tiled products that the build makes from one template.
pub(crate) mod tiled {
    include!(concat!(env!("OUT_DIR"), "/matmul_tiled.rs"));
}

/// The products with a thin side.
pub(crate) mod thin {
    include!(concat!(env!("OUT_DIR"), "/matmul_thin.rs"));
}

const COUNT: usize = tiled::ALL.len() + thin::ALL.len() + 4;
const ALL: [Kernel; COUNT] = {
    let mut all = [KERNEL; COUNT];
    all[1] = matmul_merge::KERNEL;
    all[2] = matmul_softmax::KERNEL;
    all[3] = matmul_transpose::KERNEL;
    let (mut at, tiles) = (0, tiled::ALL.len());
    while at < tiles + thin::ALL.len() {
        all[at + 4] = if at < tiles {
            tiled::ALL[at]
        } else {
            thin::ALL[at - tiles]
        };
        at += 1;
    }
    all
};

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "matmul",
    kernels: &ALL,
    cases: cases::cases,
};

/// One side of a product.
#[derive(Debug)]
pub enum Operand<'m, M> {
    /// The matrix as it is.
    Plain(&'m M),
    /// Rows for columns.
    Transposed(&'m M),
}

impl<M> Clone for Operand<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M> Copy for Operand<'_, M> {}

impl<M: Shape> Operand<'_, M> {
    fn shape(&self) -> [usize; 2] {
        match self {
            Self::Plain(matrix) => [matrix.n_rows(), matrix.n_cols()],
            Self::Transposed(matrix) => [matrix.n_cols(), matrix.n_rows()],
        }
    }
}

/// The general matrix product.
pub trait Matmul: Storage {
    /// `out = epilogue(alpha row a b + beta out + 1 biasᵀ)`: `a` is m by k, `b` k by n, k at least 1; see [`Terms`].
    ///
    /// Costs 2 m n k operations. GEMM of the BLAS: Dongarra, Du Croz, Hammarling, Duff (1990), "A set of level 3 basic linear algebra
    /// subprograms", section 4; tiles as in Volkov, Demmel (2008), "Benchmarking GPUs to tune dense linear algebra", section 4.
    fn matmul(
        &self,
        a: Operand<'_, Self::Matrix>,
        b: Operand<'_, Self::Matrix>,
        terms: &Terms<'_, Self::Array<Self::Elem>>,
        out: &mut Self::MatrixMut<'_>,
    ) -> Result<()>;
}

impl<T: OnHost> Matmul for Native<'_, T> {
    fn matmul(
        &self,
        a: Operand<'_, Self::Matrix>,
        b: Operand<'_, Self::Matrix>,
        terms: &Terms<'_, Self::Array<T>>,
        out: &mut MatrixViewMut<'_, T>,
    ) -> Result<()> {
        let side = |operand| match operand {
            Operand::Plain(matrix) => Self::Matrix::view(matrix),
            Operand::Transposed(matrix) => Self::Matrix::view(matrix).transposed(),
        };
        native::matmul(side(a), side(b), &terms.on_host(), out.values());
        Ok(())
    }
}
