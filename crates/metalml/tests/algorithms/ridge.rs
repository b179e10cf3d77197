//! Laws of ridge regression.

use metalml::algorithms::ridge::{Fit, Fitted, Params};
use metalml::testing::total;
use metalml::{Error, Result};

use super::{Law, Matrix, Place, assert_near, grid};

/// Rows of tall data: more than a block where blocks are small.
const TALL: usize = 2203;

/// A regression problem.
#[derive(Clone)]
struct Problem {
    n_cols: usize,
    x: Vec<f64>,
    n_targets: usize,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
    alpha: Vec<f64>,
    fit_intercept: bool,
}

impl Problem {
    /// Columns of different places, two targets that depend on them, an alpha for each.
    fn new(n_rows: usize, n_cols: usize) -> Self {
        let mut x = grid(n_rows * n_cols, 1);
        x.iter_mut()
            .enumerate()
            .for_each(|(at, value)| *value += (at % n_cols % 3) as f64);
        let y = grid(n_rows * 2, 2)
            .iter()
            .enumerate()
            .map(|(at, noise)| noise / 4.0 + x[at / 2 * n_cols + at % 2])
            .collect();
        Self {
            n_cols,
            x,
            n_targets: 2,
            y,
            weights: None,
            alpha: vec![8.0, 32.0],
            fit_intercept: true,
        }
    }

    fn n_rows(&self) -> usize {
        self.x.len() / self.n_cols
    }

    fn weighted(mut self) -> Self {
        self.weights = Some(
            grid(self.n_rows(), 3)
                .iter()
                .map(|weight| weight.abs() + 0.25)
                .collect(),
        );
        self
    }

    /// Least squares, with a column that nearly depends on another, so that the first answer must be refined.
    fn without_penalty(mut self) -> Self {
        self.alpha = vec![0.0; 2];
        for row in self.x.chunks_exact_mut(self.n_cols) {
            row[6] = row[0] + row[6] / 16.0;
        }
        self
    }

    fn through_origin(mut self) -> Self {
        self.fit_intercept = false;
        self
    }

    /// Rows at the end, each with a weight.
    fn with_rows(mut self, x: &[f64], y: &[f64], weight: f64) -> Self {
        let n_rows = self.n_rows();
        self.x.extend(x);
        self.y.extend(y);
        let added = self.n_rows();
        self.weights
            .get_or_insert_with(|| vec![1.0; n_rows])
            .resize(added, weight);
        self
    }

    fn fit(&self, on: &Place) -> Result<Fitted> {
        let (x, y) = (on.matrix(&self.x, self.n_cols), on.matrix(&self.y, self.n_targets));
        let weights = self.weights.as_ref().map(|weights| on.matrix(weights, 1));
        on.run(Fit {
            x: x.host(),
            y: y.host(),
            weights: weights.as_ref().map(Matrix::host),
            params: if self.alpha.iter().all(|&alpha| alpha == 0.0) {
                Params::least_squares(self.n_targets, self.fit_intercept)
            } else {
                Params::new(self.alpha.clone(), self.fit_intercept)?
            },
        })
    }

    fn fitted(&self, on: &Place) -> Fitted {
        self.fit(on).expect("data that any precision can hold")
    }
}

/// Coefficients are off by some epsilons of the largest: the condition of these problems is below 100.
const COEFFICIENTS: f64 = 64.0;

fn assert_same_model(on: &Place, found: &Fitted, expected: &Fitted, law: &str) {
    let allowed = COEFFICIENTS * on.epsilon();
    assert_near(&found.coefficients, &expected.coefficients, allowed, law);
    // The intercept takes the errors of all coefficients, times the place of their columns.
    assert_near(&found.intercept, &expected.intercept, allowed * 64.0, law);
}

/// Tall and wide, with and without weights and intercept.
fn problems() -> Vec<Problem> {
    let each = |problem: Problem| {
        [
            problem.clone(),
            problem.clone().weighted(),
            problem.clone().through_origin(),
            problem.weighted().through_origin(),
        ]
    };
    [Problem::new(TALL, 7), Problem::new(31, 67)]
        .into_iter()
        .flat_map(each)
        .collect()
}

/// Values less the weighted mean of their columns, if there is an intercept.
fn centred(matrix: &Matrix, problem: &Problem) -> Vec<f64> {
    let weight = |row: usize| problem.weights.as_ref().map_or(1.0, |weights| weights[row]);
    let rows = || 0..matrix.n_rows();
    let mean = |col| total(rows().map(|row| weight(row) * matrix.at(row, col))) / total(rows().map(weight));
    let place = |col| if problem.fit_intercept { mean(col) } else { 0.0 };
    let places: Vec<f64> = (0..matrix.n_cols).map(place).collect();
    rows()
        .flat_map(|row| (0..places.len()).map(move |col| (row, col)))
        .map(|(row, col)| matrix.at(row, col) - places[col])
        .collect()
}

/// The gradient of the penalised loss is zero, but for the rounding of its terms.
fn ridge_is_the_optimum(on: &Place) {
    let least_squares = Problem::new(TALL, 7).without_penalty();
    let least_squares = [
        least_squares.clone(),
        least_squares.clone().weighted(),
        least_squares.through_origin(),
    ];
    for problem in problems().into_iter().chain(least_squares) {
        let model = problem.fitted(on);
        let (x, y) = (on.matrix(&problem.x, problem.n_cols), on.matrix(&problem.y, 2));
        let (n, d) = (problem.n_rows(), problem.n_cols);
        let (x_centred, y_centred) = (centred(&x, &problem), centred(&y, &problem));
        let weight = |row: usize| problem.weights.as_ref().map_or(1.0, |weights| weights[row]);
        for (target, coefficients) in model.coefficients.chunks_exact(d).enumerate() {
            let terms = |row: usize| {
                coefficients
                    .iter()
                    .zip(&x_centred[row * d..])
                    .map(|(coefficient, x)| coefficient * x)
            };
            let residuals: Vec<f64> = (0..n)
                .map(|row| y_centred[row * 2 + target] - total(terms(row)))
                .collect();
            let sizes: Vec<f64> = (0..n)
                .map(|row| y_centred[row * 2 + target].abs() + terms(row).map(f64::abs).sum::<f64>())
                .collect();
            for col in 0..d {
                let slope = |of: &[f64], x: fn(f64) -> f64| {
                    total((0..n).map(|row| weight(row) * x(x_centred[row * d + col]) * of[row]))
                };
                let found = slope(&residuals, |x| x) - problem.alpha[target] * coefficients[col];
                let allowed = GRADIENT * on.epsilon() * slope(&sizes, f64::abs);
                let place = format!("n {n}, d {d}, target {target}, column {col}");
                assert!(found.abs() <= allowed, "{place}: slope {found:e}, allowed {allowed:e}");
            }
            let predicted =
                |row: usize| total((0..d).map(|col| coefficients[col] * x.at(row, col))) + model.intercept[target];
            let off = total((0..n).map(|row| weight(row) * (y.at(row, target) - predicted(row)))) / n as f64;
            assert!(
                !problem.fit_intercept || off.abs() < 1e-12,
                "the intercept could move by {off:e}"
            );
        }
    }
}
/// Epsilons of its terms that a slope may be: sums in f64 round at each of thousands of steps.
const GRADIENT: f64 = 4.0;

/// Rows that say nothing make wide data tall: the normal equations find what the dual found.
fn ridge_primal_equals_dual(on: &Place) {
    let wide = Problem::new(31, 67);
    let (zeros, anything) = (vec![0.0; 40 * 67], grid(40 * 67, 5));
    let none = vec![0.0; 40 * 2];
    for wide in [wide.clone(), wide.clone().weighted()] {
        let tall = wide.clone().with_rows(&anything, &grid(80, 6), 0.0);
        assert_same_model(on, &tall.fitted(on), &wide.fitted(on), "with an intercept");
    }
    let wide = wide.through_origin();
    let tall = Problem {
        weights: None,
        ..wide.clone().with_rows(&zeros, &none, 1.0)
    };
    assert_same_model(on, &tall.fitted(on), &wide.fitted(on), "without an intercept");
}

fn ridge_takes_a_row_twice_for_weight_two(on: &Place) {
    for once in [Problem::new(TALL, 7), Problem::new(31, 67)] {
        let (x, y) = (
            once.x[3 * once.n_cols..23 * once.n_cols].to_vec(),
            once.y[6..46].to_vec(),
        );
        let twice = Problem {
            weights: None,
            ..once.clone().with_rows(&x, &y, 1.0)
        };
        let mut heavy = once.clone();
        heavy.weights = Some(
            (0..once.n_rows())
                .map(|row| if (3..23).contains(&row) { 2.0 } else { 1.0 })
                .collect(),
        );
        let [once, twice, heavy] = [once, twice, heavy].map(|problem| problem.fitted(on));
        assert_same_model(on, &twice, &heavy, "twice");
        let moved = once.coefficients[0] - heavy.coefficients[0];
        assert!(
            moved.abs() > 2.0 * COEFFICIENTS * on.epsilon(),
            "the weights did nothing: {moved:e}"
        );
    }
}

fn ridge_leaves_out_rows_of_weight_zero(on: &Place) {
    for problem in [
        Problem::new(TALL, 7),
        Problem::new(TALL, 7).weighted(),
        Problem::new(31, 67),
    ] {
        let far: Vec<f64> = grid(9 * problem.n_cols, 7).iter().map(|value| 16.0 * value).collect();
        let more = problem.clone().with_rows(&far, &grid(18, 8), 0.0);
        assert_same_model(on, &more.fitted(on), &problem.fitted(on), "weight zero");
    }
}

fn ridge_moves_only_its_intercept_with_y(on: &Place) {
    for problem in problems().into_iter().filter(|problem| problem.fit_intercept) {
        let moved = Problem {
            y: problem.y.iter().map(|value| value + 1024.0).collect(),
            ..problem.clone()
        };
        let (mut found, expected) = (moved.fitted(on), problem.fitted(on));
        found.intercept.iter_mut().for_each(|value| *value -= 1024.0);
        assert_same_model(on, &found, &expected, "y + 1024");
    }
}

fn ridge_moves_only_its_intercept_with_x(on: &Place) {
    for problem in problems().into_iter().filter(|problem| problem.fit_intercept) {
        let moved = Problem {
            x: problem.x.iter().map(|value| value + 4096.0).collect(),
            ..problem.clone()
        };
        let (found, expected) = (moved.fitted(on), problem.fitted(on));
        assert_near(
            &found.coefficients,
            &expected.coefficients,
            COEFFICIENTS * on.epsilon(),
            "x + 4096",
        );
    }
}

fn ridge_fits_targets_as_if_alone(on: &Place) {
    for problem in problems() {
        let both = problem.fitted(on);
        for target in 0..2 {
            let y = problem.y.iter().skip(target).step_by(2).copied().collect();
            let alone = Problem {
                n_targets: 1,
                y,
                alpha: vec![problem.alpha[target]],
                ..problem.clone()
            }
            .fitted(on);
            let d = problem.n_cols;
            let of_both = Fitted {
                coefficients: both.coefficients[target * d..][..d].to_vec(),
                intercept: vec![both.intercept[target]],
                singular_values: Vec::new(),
            };
            assert_same_model(on, &of_both, &alone, "one target");
        }
    }
}

fn ridge_gives_equal_bits(on: &Place) {
    for problem in problems() {
        let bits = || {
            let model = problem.fitted(on);
            [model.coefficients, model.intercept]
                .concat()
                .into_iter()
                .map(f64::to_bits)
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(), bits());
    }
}

fn ridge_refuses_what_is_not_finite(on: &Place) {
    for problem in problems().into_iter().filter(|problem| problem.weights.is_some()) {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (what, at) in [
                ("X", 0),
                ("X", problem.x.len() - 1),
                ("y", 1),
                ("y", problem.y.len() - 1),
                ("sample_weight", 5),
            ] {
                let mut problem = problem.clone();
                match what {
                    "X" => problem.x[at] = value,
                    "y" => problem.y[at] = value,
                    _ => problem.weights.as_mut().expect("it is weighted")[at] = value,
                }
                let found = problem.fit(on);
                assert!(
                    matches!(found, Err(Error::NonFinite { what: said }) if said == what),
                    "{value} in {what} [{at}]: {found:?}"
                );
            }
        }
    }
}

fn ridge_says_when_a_system_is_too_ill(on: &Place) {
    let mut problem = Problem::new(TALL, 7);
    let d = problem.n_cols;
    problem.x.chunks_exact_mut(d).for_each(|row| row[6] = row[0] + row[1]);
    problem.alpha = vec![1e-13; 2];
    let found = problem.fit(on);
    assert!(
        matches!(&found, Err(Error::Unsuited { reason }) if reason.contains("ill-conditioned")),
        "{found:?}"
    );
}

pub(super) const LAWS: [Law; 10] = [
    ridge_is_the_optimum,
    ridge_primal_equals_dual,
    ridge_takes_a_row_twice_for_weight_two,
    ridge_leaves_out_rows_of_weight_zero,
    ridge_moves_only_its_intercept_with_y,
    ridge_moves_only_its_intercept_with_x,
    ridge_fits_targets_as_if_alone,
    ridge_gives_equal_bits,
    ridge_refuses_what_is_not_finite,
    ridge_says_when_a_system_is_too_ill,
];
