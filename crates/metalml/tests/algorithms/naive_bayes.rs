//! Laws of the statistics of classes.

use metalml::algorithms::naive_bayes::{ClassMoments, OfClasses};
use metalml::testing::total;

use super::{Law, Matrix, Place, assert_near, grid};

/// What holds of the moments of classes.
pub(crate) const LAWS: [Law; 3] = [
    classes_have_the_moments_of_their_rows,
    classes_far_apart_keep_their_variance,
    a_weight_of_two_is_a_row_twice,
];

const N_COLS: usize = 5;
/// More rows than the small bindings hold.
const N_ROWS: usize = 6000;
const N_CLASSES: usize = 3;

fn labels() -> Vec<u32> {
    grid(N_ROWS, 9)
        .iter()
        .map(|value| u32::from(*value > 0.5) + u32::from(*value > 1.0))
        .collect()
}

fn found(on: &Place, x: &Matrix, labels: &[u32], weights: Option<&Matrix>) -> OfClasses {
    let job = ClassMoments {
        x: x.host(),
        labels,
        n_classes: N_CLASSES,
        weights: weights.map(Matrix::host),
    };
    on.run(job).expect("data that any precision can hold")
}

fn assert_moments(on: &Place, x: &Matrix, labels: &[u32], found: &OfClasses, law: &str) {
    for class in 0..N_CLASSES {
        let rows: Vec<usize> = (0..N_ROWS).filter(|&row| labels[row] as usize == class).collect();
        let mean_of = |term: &dyn Fn(usize) -> f64| total(rows.iter().map(|&row| term(row))) / rows.len() as f64;
        assert_near(&[found.weight[class]], &[rows.len() as f64], 0.0, law);
        for col in 0..N_COLS {
            let mean = mean_of(&|row| x.at(row, col));
            let variance = mean_of(&|row| (x.at(row, col) - mean).powi(2));
            let at = class * N_COLS + col;
            assert_near(&[found.mean[at]], &[mean], 1e-12 * mean.abs().max(1.0), law);
            // The means of f64 rows far away have lost that much; those of f32 are summed in wider numbers.
            let allowed = if on.double { 1e-11 } else { 1e-6 } * variance;
            assert_near(&[found.variance[at]], &[variance], allowed, law);
        }
    }
}

fn classes_have_the_moments_of_their_rows(on: &Place) {
    let (x, labels) = (on.matrix(&grid(N_ROWS * N_COLS, 6), N_COLS), labels());
    assert_moments(on, &x, &labels, &found(on, &x, &labels, None), "the definition");
}

fn classes_far_apart_keep_their_variance(on: &Place) {
    let labels = labels();
    for apart in [1024.0, 16384.0] {
        let mut values = grid(N_ROWS * N_COLS, 7);
        for (row, values) in values.chunks_exact_mut(N_COLS).enumerate() {
            for value in values {
                *value += apart * f64::from(labels[row]);
            }
        }
        let x = on.matrix(&values, N_COLS);
        assert_moments(on, &x, &labels, &found(on, &x, &labels, None), "far apart");
    }
}

fn a_weight_of_two_is_a_row_twice(on: &Place) {
    let (values, labels) = (grid(N_ROWS * N_COLS, 8), labels());
    let weights: Vec<f64> = (0..N_ROWS).map(|row| if row < 100 { 2.0 } else { 1.0 }).collect();
    let heavy = found(on, &on.matrix(&values, N_COLS), &labels, Some(&on.matrix(&weights, 1)));
    let twice = [&values[..], &values[..100 * N_COLS]].concat();
    let more = [&labels[..], &labels[..100]].concat();
    let twice = found(on, &on.matrix(&twice, N_COLS), &more, None);
    assert_near(&heavy.weight, &twice.weight, 0.0, "weights");
    assert_near(&heavy.mean, &twice.mean, 1e-9, "means");
    assert_near(&heavy.variance, &twice.variance, 1e-6, "variances");
}
