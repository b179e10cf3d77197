//! Covariances beside plain sums in f64, and what moving the rows does to them.

use metalml::algorithms::covariance::{Covariance, Estimate};
use metalml::testing::total;

use super::{Law, Matrix, Place, assert_near, grid};

/// What holds of every covariance.
pub(crate) const LAWS: [Law; 3] = [
    covariance_is_its_definition,
    covariance_about_the_mean_does_not_move,
    covariance_about_zero_has_the_mean_in_it,
];

const N_COLS: usize = 7;
/// More rows than the small bindings hold.
const N_ROWS: usize = 5000;
/// Epsilons of the largest element that sums of rounded rows may be off by.
const ALLOWED: f64 = 16.0;

fn found(on: &Place, x: &Matrix, about_mean: bool) -> Estimate {
    let job = Covariance {
        x: x.host(),
        about_mean,
        fourth_powers: true,
    };
    on.run(job).expect("data that any precision can hold")
}

fn assert_same(on: &Place, found: &Estimate, covariance: &[f64], fourth_powers: f64, law: &str) {
    let largest = covariance.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    assert_near(&found.covariance, covariance, ALLOWED * on.epsilon() * largest, law);
    let allowed = ALLOWED * on.epsilon() * fourth_powers;
    assert_near(&[found.fourth_powers], &[fourth_powers], allowed, law);
}

fn covariance_is_its_definition(on: &Place) {
    let x = on.matrix(&grid(N_ROWS * N_COLS, 3), N_COLS);
    for about_mean in [true, false] {
        let mean = |col: usize| total((0..N_ROWS).map(|row| x.at(row, col))) / N_ROWS as f64;
        let place: Vec<f64> = (0..N_COLS)
            .map(|col| if about_mean { mean(col) } else { 0.0 })
            .collect();
        let off = |row: usize, col: usize| x.at(row, col) - place[col];
        let over_rows = |term: &dyn Fn(usize) -> f64| total((0..N_ROWS).map(term)) / N_ROWS as f64;
        let covariance: Vec<f64> = (0..N_COLS * N_COLS)
            .map(|at| over_rows(&|row| off(row, at / N_COLS) * off(row, at % N_COLS)))
            .collect();
        let square = |row: usize| (0..N_COLS).map(|col| off(row, col).powi(2)).sum::<f64>();
        let fourth_powers = over_rows(&|row| square(row).powi(2));
        assert_same(
            on,
            &found(on, &x, about_mean),
            &covariance,
            fourth_powers,
            "the definition",
        );
    }
}

fn covariance_about_the_mean_does_not_move(on: &Place) {
    let values = grid(N_ROWS * N_COLS, 4);
    let moved: Vec<f64> = values.iter().map(|value| value + 4096.0).collect();
    let [here, there] = [values, moved].map(|values| found(on, &on.matrix(&values, N_COLS), true));
    assert_same(on, &there, &here.covariance, here.fourth_powers, "x + 4096");
    let mean: Vec<f64> = here.mean.iter().map(|mean| mean + 4096.0).collect();
    assert_near(&there.mean, &mean, 1e-9, "the mean of x + 4096");
}

fn covariance_about_zero_has_the_mean_in_it(on: &Place) {
    let x = on.matrix(&grid(N_ROWS * N_COLS, 5), N_COLS);
    let [about_mean, about_zero] = [true, false].map(|about_mean| found(on, &x, about_mean));
    let expected: Vec<f64> = (0..N_COLS * N_COLS)
        .map(|at| about_mean.covariance[at] + about_mean.mean[at / N_COLS] * about_mean.mean[at % N_COLS])
        .collect();
    assert_near(&about_zero.covariance, &expected, 1e-9, "mean meanᵀ more");
}
