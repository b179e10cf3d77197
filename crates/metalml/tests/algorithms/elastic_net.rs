//! The elastic net: that its answer is the minimum, and what must not change it.

use metalml::algorithms::elastic_net::{Fit, Fitted, Params};
use metalml::solvers::products::Labelled;
use metalml::testing::total;

use super::{Law, Matrix, Place, assert_near, grid};

/// What holds of every elastic net.
pub(crate) const LAWS: [Law; 4] = [
    elastic_net_is_the_minimum,
    elastic_net_does_not_move_with_the_rows,
    elastic_net_takes_weights_for_repeats,
    elastic_net_goes_on_from_its_answer,
];

const N_COLS: usize = 6;
/// More rows than the small bindings hold.
const N_ROWS: usize = 3000;
const N_TARGETS: usize = 2;
const PARAMS: Params = Params {
    l1: 0.5,
    l2: 0.0625,
    fit_intercept: true,
    positive: false,
    tolerance: 1e-12,
    max_passes: 1000,
};

/// Columns about 3, and targets that follow the first of them.
fn data(on: &Place) -> (Matrix, Matrix) {
    let mut x = grid(N_ROWS * N_COLS, 21);
    let noise = grid(N_ROWS * N_TARGETS, 22);
    for value in &mut x {
        *value += 3.0;
    }
    let y: Vec<f64> = noise
        .iter()
        .enumerate()
        .map(|(at, noise)| {
            let row = &x[at / N_TARGETS * N_COLS..][..N_COLS];
            let slope = if at % N_TARGETS == 0 { 2.0 } else { -0.5 };
            slope * row[0] + 0.25 * row[1] + noise
        })
        .collect();
    (on.matrix(&x, N_COLS), on.matrix(&y, N_TARGETS))
}

fn fit(on: &Place, x: &Matrix, y: &Matrix, weights: Option<&Matrix>, params: Params, start: Option<&[f64]>) -> Fitted {
    let rows = Labelled {
        x: x.host(),
        y: y.host(),
        weights: weights.map(Matrix::host),
    };
    let job = Fit {
        rows,
        params,
        start,
        seeds: None,
    };
    let fitted = on.run(job).expect("columns that do not depend on each other");
    for (gap, wanted) in fitted.gap.iter().zip(&fitted.wanted) {
        assert!(gap <= wanted, "{gap} is left, {wanted} was wanted");
    }
    fitted
}

/// Rounding of products and of coefficients, and the gap's.
fn allowed(on: &Place) -> f64 {
    64.0 * on.epsilon() + 1e-6
}

fn elastic_net_is_the_minimum(on: &Place) {
    let (x, y) = data(on);
    for (fit_intercept, positive) in [(true, false), (false, false), (true, true)] {
        let params = Params {
            fit_intercept,
            positive,
            ..PARAMS
        };
        let fitted = fit(on, &x, &y, None, params, None);
        for (target, weights) in fitted.coefficients.chunks(N_COLS).enumerate() {
            let residuals: Vec<f64> = (0..N_ROWS)
                .map(|row| {
                    let along: f64 = (0..N_COLS).map(|col| weights[col] * x.at(row, col)).sum();
                    y.at(row, target) - along - fitted.intercept[target]
                })
                .collect();
            for (col, &weight) in weights.iter().enumerate() {
                let terms = residuals.iter().enumerate().map(|(row, rest)| rest * x.at(row, col));
                let pull = total(terms) / N_ROWS as f64 - params.l2 * weight;
                let room = 40.0 * allowed(on);
                if weight == 0.0 {
                    let most = if positive { pull } else { pull.abs() };
                    assert!(most < params.l1 + room, "{weights:?}: {pull}");
                } else {
                    assert!((pull - params.l1 * weight.signum()).abs() < room, "{weights:?}: {pull}");
                }
                assert!(!positive || weight >= 0.0, "{weights:?}");
            }
            assert!(weights.contains(&0.0), "the penalty leaves some out");
            assert!(positive || weights.iter().any(|weight| *weight != 0.0), "and not all");
        }
    }
}

fn elastic_net_does_not_move_with_the_rows(on: &Place) {
    let (x, y) = data(on);
    let moved: Vec<f64> = x.values().iter().map(|value| value + 1024.0).collect();
    let [here, there] = [x, on.matrix(&moved, N_COLS)].map(|x| fit(on, &x, &y, None, PARAMS, None));
    assert_near(&there.coefficients, &here.coefficients, allowed(on), "x + 1024");
}

fn elastic_net_takes_weights_for_repeats(on: &Place) {
    let (x, y) = data(on);
    let counts: Vec<f64> = (0..N_ROWS).map(|row| (row % 3) as f64).collect();
    let repeated = |matrix: &Matrix, n_cols: usize| {
        let values = matrix.values();
        let rows = values.chunks(n_cols).zip(&counts);
        let values: Vec<f64> = rows.flat_map(|(row, &count)| row.repeat(count as usize)).collect();
        on.matrix(&values, n_cols)
    };
    let weighted = fit(on, &x, &y, Some(&on.matrix(&counts, 1)), PARAMS, None);
    let often = fit(on, &repeated(&x, N_COLS), &repeated(&y, N_TARGETS), None, PARAMS, None);
    assert_near(&weighted.coefficients, &often.coefficients, allowed(on), "weights");
    assert_near(
        &weighted.intercept,
        &often.intercept,
        16.0 * allowed(on),
        "weights, intercept",
    );
    assert_near(&weighted.gap, &often.gap, 1e-6, "weights, gap");
}

fn elastic_net_goes_on_from_its_answer(on: &Place) {
    let (x, y) = data(on);
    let first = fit(on, &x, &y, None, PARAMS, None);
    let again = fit(on, &x, &y, None, PARAMS, Some(&first.coefficients));
    // Rounding is all that is left to mend.
    assert!(again.passes.iter().all(|&passes| passes <= 2), "{:?}", again.passes);
    assert_near(
        &again.coefficients,
        &first.coefficients,
        allowed(on),
        "begun at the answer",
    );
    let far = vec![100.0; N_TARGETS * N_COLS];
    let back = fit(on, &x, &y, None, PARAMS, Some(&far));
    assert!(back.passes.iter().all(|&passes| passes > 2), "{:?}", back.passes);
    assert_near(&back.coefficients, &first.coefficients, allowed(on), "begun far off");
}
