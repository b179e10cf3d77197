//! Coordinate descent for penalised least squares, on the products of the columns.
//!
//! Friedman, Hastie, Tibshirani (2010), "Regularization paths for generalized linear models via coordinate descent", Journal of Statistical
//! Software 33, section 2.2 (covariance updates); the duality gap of the elastic net follows from the lasso's on rows with `√l2 I` below
//! them (Massias, Gramfort, Salmon 2018, section 2), or from the conjugate of its penalty (Zou, Hastie 2005, section 3.1), whichever is less.

/// `minimise |y - X w|² / 2 + l1 |w|₁ + l2 |w|² / 2`, of which only products are known.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'p> {
    /// d by d, `Xᵀ X`.
    pub gram: &'p [f64],
    /// d, `Xᵀ y`.
    pub slope: &'p [f64],
    /// `yᵀ y`.
    pub target: f64,
    /// Weight of the sum of sizes.
    pub l1: f64,
    /// Weight of the half sum of squares.
    pub l2: f64,
    /// Whether no coefficient may be below 0.
    pub positive: bool,
}

/// When to stop, and the order of the coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// The gap that is small enough, as a part of `yᵀ y`; and the greatest step, as a part of the greatest coefficient, from which the gap
    /// is looked at.
    pub tolerance: f64,
    /// Passes over the coordinates at most.
    pub max_passes: usize,
    /// Draw the coordinates, beginning from here, in place of their own order.
    pub seed: Option<u32>,
}

/// How a descent ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ended {
    /// How far the answer can be from the least, at most.
    pub gap: f64,
    /// What the gap had to come below.
    pub wanted: f64,
    /// Passes made.
    pub passes: usize,
}

/// Bring `weights` to the minimum. Cost: d² a pass at most; a coordinate that stays costs nothing.
pub fn descend(problem: &Problem<'_>, control: Control, weights: &mut [f64]) -> Ended {
    let d = weights.len();
    let mut ended = Ended {
        gap: control.tolerance + 1.0,
        wanted: control.tolerance * problem.target,
        passes: 0,
    };
    // What the products say of the rows: `Xᵀ X w`.
    let mut fitted: Vec<f64> = problem
        .gram
        .chunks_exact(d.max(1))
        .map(|row| dot(row, weights))
        .collect();
    let mut draw = control.seed.map(Draw);
    for pass in 1..=control.max_passes {
        let (mut largest, mut furthest) = (0.0_f64, 0.0_f64);
        for turn in 0..d {
            let at = draw.as_mut().map_or(turn, |draw| draw.below(d));
            let row = &problem.gram[at * d..(at + 1) * d];
            let own = row[at];
            // A column of zeros has nothing to say.
            if own == 0.0 {
                continue;
            }
            let before = weights[at];
            let pull = problem.slope[at] - (fitted[at] - before * own);
            let after = problem.shrunk(pull) / (own + problem.l2);
            if after != before {
                let step = after - before;
                for (fitted, product) in fitted.iter_mut().zip(row) {
                    *fitted += step * product;
                }
                weights[at] = after;
            }
            largest = largest.max(after.abs());
            furthest = furthest.max((after - before).abs());
        }
        ended.passes = pass;
        if largest == 0.0 || furthest <= control.tolerance * largest || pass == control.max_passes {
            ended.gap = problem.gap(weights, &fitted);
            if ended.gap <= ended.wanted {
                break;
            }
        }
    }
    ended
}

impl Problem<'_> {
    /// The pull of a coordinate, less what the penalty holds against it.
    fn shrunk(&self, pull: f64) -> f64 {
        if self.positive {
            (pull - self.l1).max(0.0)
        } else {
            pull.signum() * (pull.abs() - self.l1).max(0.0)
        }
    }

    /// The objective less that of a point of the dual: at least 0, and 0 at the minimum.
    fn gap(&self, weights: &[f64], fitted: &[f64]) -> f64 {
        let along = dot(weights, self.slope);
        let left = self.target + dot(weights, fitted) - 2.0 * along;
        let pulls = weights.iter().zip(fitted).zip(self.slope);
        let pulls = pulls.map(|((weight, fitted), slope)| slope - fitted - self.l2 * weight);
        let most = pulls.fold(0.0_f64, |most, pull| {
            most.max(if self.positive { pull } else { pull.abs() })
        });
        // The residual, shortened until it is a point of the dual.
        let share = if most > self.l1 { self.l1 / most } else { 1.0 };
        let sizes: f64 = weights.iter().map(|weight| weight.abs()).sum();
        let squares = dot(weights, weights);
        let gap =
            0.5 * (1.0 + share * share) * (left + self.l2 * squares) + self.l1 * sizes - share * (self.target - along);
        if self.l2 == 0.0 {
            return gap;
        }
        // With squares in the penalty the residual itself is a point of its dual, and what exceeds `l1` counts by its square.
        let excess: f64 = fitted
            .iter()
            .zip(self.slope)
            .map(|(fitted, slope)| self.shrunk(slope - fitted).powi(2))
            .sum();
        let primal = 0.5 * (left + self.l2 * squares) + self.l1 * sizes;
        let dual = (self.target - dot(weights, fitted) - excess / self.l2) / 2.0;
        gap.min(primal - dual)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// scikit-learn's draws of coordinates: Marsaglia (2003), "Xorshift RNGs", the triple 13, 17, 5.
struct Draw(u32);

impl Draw {
    /// Its greatest number, and one more.
    const RANGE: u32 = 1 << 31;
    /// What it takes for a seed of 0.
    const START: u32 = 1;

    fn below(&mut self, end: usize) -> usize {
        if self.0 == 0 {
            self.0 = Self::START;
        }
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 % Self::RANGE) as usize % end
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, Problem, descend};

    const CONTROL: Control = Control {
        tolerance: 1e-14,
        max_passes: 10_000,
        seed: None,
    };
    /// Products of dependent columns, the third one with less to say.
    const GRAM: [f64; 9] = [4.0, 1.0, 0.5, 1.0, 3.0, -0.25, 0.5, -0.25, 2.0];
    const SLOPE: [f64; 3] = [3.0, -2.0, 0.3];

    fn problem(l1: f64, l2: f64, positive: bool) -> Problem<'static> {
        Problem {
            gram: &GRAM,
            slope: &SLOPE,
            target: 7.0,
            l1,
            l2,
            positive,
        }
    }

    /// The conditions of a minimum (Karush, Kuhn, Tucker), and that the gap saw it.
    fn assert_is_minimum(problem: &Problem<'_>, control: Control) {
        let mut weights = [0.3, 0.0, -0.7];
        let ended = descend(problem, control, &mut weights);
        assert!(ended.gap <= ended.wanted && ended.gap > -1e-14, "{ended:?}");
        for (at, weight) in weights.into_iter().enumerate() {
            let fitted: f64 = (0..3).map(|col| GRAM[at * 3 + col] * weights[col]).sum();
            let pull = SLOPE[at] - fitted - problem.l2 * weight;
            if weight != 0.0 {
                assert!(
                    (pull - problem.l1 * weight.signum()).abs() < 1e-6,
                    "{weights:?}: {pull}"
                );
            } else if problem.positive {
                assert!(pull < problem.l1 + 1e-6, "{weights:?}: {pull}");
            } else {
                assert!(pull.abs() < problem.l1 + 1e-6, "{weights:?}: {pull}");
            }
            assert!(!problem.positive || weight >= 0.0, "{weights:?}");
        }
    }

    #[test]
    fn the_answer_is_the_minimum() {
        for (l1, l2) in [(0.5, 0.0), (0.1, 1.5), (0.0, 2.0), (2.9, 0.0), (1e-6, 0.0)] {
            for positive in [false, true] {
                for seed in [None, Some(17), Some(0)] {
                    assert_is_minimum(&problem(l1, l2, positive), Control { seed, ..CONTROL });
                }
            }
        }
    }

    #[test]
    fn a_large_penalty_leaves_nothing() {
        let mut weights = [1.0, 1.0, 1.0];
        let ended = descend(&problem(3.1, 0.0, false), CONTROL, &mut weights);
        assert_eq!(weights, [0.0; 3]);
        assert_eq!(ended.gap, 0.0);
    }

    #[test]
    fn passes_run_out() {
        let mut weights = [0.0; 3];
        let control = Control {
            max_passes: 1,
            ..CONTROL
        };
        let ended = descend(&problem(0.5, 0.0, false), control, &mut weights);
        assert!(ended.passes == 1 && ended.gap > ended.wanted, "{ended:?}");
    }

    #[test]
    fn columns_of_zeros_keep_their_weight() {
        let problem = Problem {
            gram: &[2.0, 0.0, 0.0, 0.0],
            slope: &[1.0, 0.0],
            target: 3.0,
            l1: 0.1,
            l2: 0.0,
            positive: false,
        };
        let mut weights = [0.0; 2];
        descend(&problem, CONTROL, &mut weights);
        assert!((weights[0] - 0.45).abs() < 1e-12 && weights[1] == 0.0, "{weights:?}");
    }
}
