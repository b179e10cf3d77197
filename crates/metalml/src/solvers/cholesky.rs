//! Small symmetric positive definite systems in f64, with an estimate of how far their solution can be trusted.

use faer::linalg::solvers::{Llt, Solve};
use faer::{MatMut, MatRef, Side};

use crate::{Error, Result};

/// A factored matrix `A = D S D`, `D` diagonal and `S` with a unit diagonal: van der Sluis (1969) shows that this scaling is near
/// the best, and the condition of `S` is what the solution suffers from.
#[derive(Debug)]
pub struct Factor {
    llt: Llt<f64>,
    scale: Vec<f64>,
    /// An estimate of the condition of `S` in the 1-norm.
    pub condition: f64,
}

/// Rounds of the estimator: the second rarely adds a tenth, and each costs two solves.
const ROUNDS: usize = 2;

impl Factor {
    /// Factor a row-major `n` by `n` matrix. Cost: n³/3 multiplications, and a few solves for the condition.
    pub fn new(matrix: &[f64], n: usize) -> Result<Self> {
        let scale: Vec<f64> = (0..n).map(|i| matrix[i * n + i].sqrt()).collect();
        if let Some(pivot) = scale.iter().position(|scale| !(*scale > 0.0 && scale.is_finite())) {
            return Err(Error::NotPositiveDefinite { pivot });
        }
        let scaled: Vec<f64> = (0..n * n)
            .map(|at| matrix[at] / scale[at / n] / scale[at % n])
            .collect();
        // On this thread: faer's own choice would start threads that a forked child has not.
        faer::set_global_parallelism(faer::Par::Seq);
        let view = MatRef::from_row_major_slice(&scaled, n, n);
        let llt = Llt::new(view, Side::Lower).map_err(|error| match error {
            faer::linalg::cholesky::llt::factor::LltError::NonPositivePivot { index } => {
                Error::NotPositiveDefinite { pivot: index }
            }
        })?;
        let norm = (0..n)
            .map(|i| scaled[i * n..(i + 1) * n].iter().map(|value| value.abs()).sum())
            .fold(0.0, f64::max);
        let condition = norm * inverse_norm(n, |rhs| solve(&llt, rhs, 1));
        Ok(Self { llt, scale, condition })
    }

    /// Solve for `n_rhs` right-hand sides, row-major `n` by `n_rhs`, in place.
    pub fn solve(&self, rhs: &mut [f64], n_rhs: usize) {
        let rescale = |rhs: &mut [f64]| {
            for (row, scale) in rhs.chunks_exact_mut(n_rhs.max(1)).zip(&self.scale) {
                for value in row {
                    *value /= scale;
                }
            }
        };
        rescale(rhs);
        solve(&self.llt, rhs, n_rhs);
        rescale(rhs);
    }

    /// The greatest size of solutions in the units of `S`: each row times the root of its diagonal element.
    pub fn size(&self, solution: &[f64], n_rhs: usize) -> f64 {
        let rows = solution.chunks_exact(n_rhs.max(1)).zip(&self.scale);
        let sizes = rows.flat_map(|(row, scale)| row.iter().map(move |value| (value * scale).abs()));
        // Not `max`, which would take a NaN for 0.
        sizes.fold(0.0, |most, size| if size <= most { most } else { size })
    }
}

fn solve(llt: &Llt<f64>, rhs: &mut [f64], n_rhs: usize) {
    let n = rhs.len() / n_rhs.max(1);
    llt.solve_in_place(MatMut::from_row_major_slice_mut(rhs, n, n_rhs));
}

/// A lower bound, mostly equal, of the 1-norm of the inverse: Higham (1988), ACM TOMS 14, algorithm 2.1, for a symmetric matrix.
fn inverse_norm(n: usize, mut solve: impl FnMut(&mut [f64])) -> f64 {
    let norm = |x: &[f64]| x.iter().map(|value| value.abs()).sum::<f64>();
    let mut x = vec![1.0 / n.max(1) as f64; n];
    let mut estimate = 0.0_f64;
    let mut last = usize::MAX;
    for _ in 0..ROUNDS {
        solve(&mut x);
        estimate = estimate.max(norm(&x));
        let mut slope: Vec<f64> = x.iter().map(|value| 1.0_f64.copysign(*value)).collect();
        solve(&mut slope);
        let steepest = slope.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let Some((steepest, _)) = steepest.filter(|(at, _)| *at != last) else {
            break;
        };
        last = steepest;
        x = vec![0.0; n];
        x[steepest] = 1.0;
    }
    // A vector that the iteration is known to miss.
    let mut x: Vec<f64> = (0..n)
        .map(|i| {
            let size = 1.0 + i as f64 / (n.max(2) - 1) as f64;
            if i.is_multiple_of(2) { size } else { -size }
        })
        .collect();
    solve(&mut x);
    estimate.max(2.0 * norm(&x) / (3.0 * n.max(1) as f64))
}

#[cfg(test)]
mod tests {
    use super::Factor;

    /// `[[4, 2, 0], [2, 5, 3], [0, 3, 6]]` and a right-hand side with a known answer.
    #[test]
    fn a_small_system_is_solved() {
        let factor = Factor::new(&[4.0, 2.0, 0.0, 2.0, 5.0, 3.0, 0.0, 3.0, 6.0], 3).expect("it is positive definite");
        let mut rhs = [8.0, 21.0, 24.0, 4.0, 2.0, 0.0].map(f64::from);
        // Two right-hand sides, side by side: A [1, 2, 3] and A [1, 0, 0].
        rhs = [rhs[0], 4.0, rhs[1], 2.0, rhs[2], 0.0];
        factor.solve(&mut rhs, 2);
        for (found, expected) in rhs.iter().zip([1.0, 1.0, 2.0, 0.0, 3.0, 0.0]) {
            assert!((found - expected).abs() < 1e-14, "{rhs:?}");
        }
    }

    #[test]
    fn the_condition_sees_a_near_dependence_but_not_a_scale() {
        let well = Factor::new(&[1e12, 0.0, 0.0, 1e-12], 2).expect("it is positive definite");
        assert!((well.condition - 1.0).abs() < 1e-9);
        let gap = 1e-8;
        let near = Factor::new(&[1.0, 1.0 - gap, 1.0 - gap, 1.0], 2).expect("it is positive definite");
        assert!((near.condition * gap / 2.0 - 1.0).abs() < 0.1, "{}", near.condition);
    }

    #[test]
    fn what_is_not_positive_definite_is_said() {
        assert!(Factor::new(&[1.0, 2.0, 2.0, 1.0], 2).is_err());
        assert!(Factor::new(&[0.0], 1).is_err());
        assert!(Factor::new(&[f64::NAN], 1).is_err());
    }
}
