//! The matrix product of the native kernels: the one place that names the library which does it.
//!
//! Always on one thread: the kernels cut their work in tasks of fixed size, so that sums keep their order.

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, MatMut, MatRef, Par};

use crate::engine::Real;

/// `into = lhs rhs`, or `into += lhs rhs` if `add`.
pub(crate) fn multiply<T: Real>(into: MatMut<'_, T>, lhs: MatRef<'_, T>, rhs: MatRef<'_, T>, add: bool) {
    matmul(into, accumulate(add), lhs, rhs, T::from_f64(1.0), Par::Seq);
}

/// The same where only the lower triangle of the square result is wanted; above it nothing is promised.
pub(crate) fn multiply_lower<T: Real>(into: MatMut<'_, T>, lhs: MatRef<'_, T>, rhs: MatRef<'_, T>, add: bool) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let one = T::from_f64(1.0);
    triangular::matmul(
        into,
        TriangularLower,
        accumulate(add),
        lhs,
        Rectangular,
        rhs,
        Rectangular,
        one,
        Par::Seq,
    );
}

fn accumulate(add: bool) -> Accum {
    if add { Accum::Add } else { Accum::Replace }
}
