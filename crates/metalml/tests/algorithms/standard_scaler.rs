//! Laws of the standard scaler.

use metalml::algorithms::standard_scaler::{Scale, Statistics};
use metalml::engine::{Input, Rows};
use metalml::kernels::scale_shift::Affine;
use metalml::matrix::{CastMatrix, HostMatrix, MatrixView};
use metalml::solvers::moments::Moments;
use metalml::testing::{total, uniform};
use metalml::{Error, Result};

use super::{Law, Matrix, Place, assert_near};

/// Columns for the scaler: near and far, constant, with NaN, and all NaN.
fn columns(on: &Place) -> Matrix {
    const N_COLS: usize = 6;
    let mut values: Vec<f64> = uniform(2501 * N_COLS, 11).iter().map(|value| 4.0 * value).collect();
    for row in values.chunks_exact_mut(N_COLS) {
        row[1] = row[1] * 0.25 + 8192.0;
        row[2] = 0.1;
        row[3] = if row[3] > 1.0 { f64::NAN } else { row[3] };
        row[4] = f64::NAN;
        row[5] *= 1e-20;
    }
    on.matrix(&values, N_COLS)
}
const CONSTANT: usize = 2;
const EMPTY: usize = 4;

fn statistics(on: &Place, x: &Matrix, weights: Option<&Matrix>) -> Moments {
    on.run(Statistics {
        x: x.host(),
        weights: weights.map(Matrix::host),
    })
    .expect("finite or NaN")
}

/// How near a sum of squares is, as a part of itself: some thousand values are summed in float64, or in two floats, where each
/// step rounds.
fn of_sums(on: &Place, n_rows: f64) -> f64 {
    2.0 * on.epsilon() + 2.0 * n_rows.sqrt() * f64::EPSILON
}

fn assert_same_moments(on: &Place, found: &Moments, expected: &Moments, law: &str) {
    assert_eq!(found.count, expected.count, "{law}");
    let n = found.count.iter().copied().fold(0.0, f64::max);
    let allowed = of_sums(on, n);
    for col in 0..found.mean.len() {
        let (weight, scatter) = (expected.weight[col], expected.scatter[col]);
        let spread = (scatter / weight.max(1.0)).sqrt();
        let near = |found: &[f64], expected: &[f64], allowed: f64| {
            assert_near(
                &found[col..=col],
                &expected[col..=col],
                allowed,
                &format!("{law}, column {col}"),
            );
        };
        near(&found.weight, &expected.weight, on.epsilon() * weight);
        near(
            &found.mean,
            &expected.mean,
            allowed * spread + f64::EPSILON * expected.mean[col].abs(),
        );
        near(&found.scatter, &expected.scatter, allowed * scatter);
        near(&found.least, &expected.least, 0.0);
        near(&found.greatest, &expected.greatest, 0.0);
    }
}

/// The rows of a matrix for which `wanted` holds.
fn some_rows(on: &Place, x: &Matrix, wanted: impl Fn(usize) -> bool) -> Matrix {
    let rows = x
        .seen
        .chunks_exact(x.n_cols)
        .enumerate()
        .filter(|(row, _)| wanted(*row));
    on.matrix(&rows.flat_map(|(_, row)| row.to_vec()).collect::<Vec<_>>(), x.n_cols)
}

fn scaler_finds_what_the_formula_says(on: &Place) {
    let x = columns(on);
    let found = statistics(on, &x, None);
    let mut expected = found.clone();
    for col in 0..x.n_cols {
        let values: Vec<f64> = (0..x.n_rows())
            .map(|row| x.at(row, col))
            .filter(|value| !value.is_nan())
            .collect();
        let n = values.len() as f64;
        let mean = total(values.iter().copied()) / n;
        expected.count[col] = n;
        expected.weight[col] = n;
        if col != EMPTY {
            expected.mean[col] = mean;
            expected.scatter[col] = total(values.iter().map(|value| (value - mean).powi(2)));
            expected.least[col] = values.iter().copied().fold(f64::INFINITY, f64::min);
            expected.greatest[col] = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        }
    }
    expected.scatter[CONSTANT] = 0.0;
    assert_same_moments(on, &found, &expected, "the formula");
    // What becomes of these in Python: a scale of 1.
    assert_eq!(
        (found.scatter[CONSTANT], found.mean[CONSTANT]),
        (0.0, x.at(0, CONSTANT)),
        "a constant column"
    );
    assert_eq!(
        (found.count[EMPTY], found.scatter[EMPTY]),
        (0.0, 0.0),
        "a column of NaN"
    );
}

/// Chan and others (1983), section 3: what `partial_fit` does with the moments of each piece.
fn merged(one: &Moments, other: &Moments) -> Moments {
    let mut all = one.clone();
    for col in 0..all.mean.len() {
        let (a, b) = (one.weight[col], other.weight[col]);
        let (share, step) = (b / (a + b).max(1.0), other.mean[col] - one.mean[col]);
        all.count[col] += other.count[col];
        all.weight[col] += b;
        all.mean[col] += step * share;
        all.scatter[col] += other.scatter[col] + step * step * a * share;
        all.least[col] = one.least[col].min(other.least[col]);
        all.greatest[col] = one.greatest[col].max(other.greatest[col]);
    }
    all
}

fn scaler_learns_the_same_in_pieces(on: &Place) {
    let x = columns(on);
    let whole = statistics(on, &x, None);
    for cut in [1, 1000, 2500] {
        let pieces = [some_rows(on, &x, |row| row < cut), some_rows(on, &x, |row| row >= cut)];
        let [first, second] = pieces.map(|piece| statistics(on, &piece, None));
        assert_same_moments(on, &merged(&first, &second), &whole, &format!("cut at {cut}"));
    }
}

fn scaler_weighs_rows(on: &Place) {
    let x = columns(on);
    let times = |row: usize| row % 3;
    let weights: Vec<f64> = (0..x.n_rows()).map(|row| times(row) as f64).collect();
    let found = statistics(on, &x, Some(&on.matrix(&weights, 1)));
    let repeated: Vec<f64> = (0..x.n_rows())
        .flat_map(|row| x.seen[row * x.n_cols..][..x.n_cols].repeat(times(row)))
        .collect();
    let mut expected = statistics(on, &on.matrix(&repeated, x.n_cols), None);
    // Counts and ranges are of the rows as they are.
    let plain = statistics(on, &x, None);
    (expected.count, expected.least, expected.greatest) = (plain.count, plain.least, plain.greatest);
    assert_same_moments(on, &found, &expected, "weights");
}

fn affine(found: &Moments, inverse: bool) -> Affine {
    let deviation = |(scatter, weight): (&f64, &f64)| {
        if *scatter == 0.0 {
            1.0
        } else {
            (scatter / weight).sqrt()
        }
    };
    Affine {
        offset: found.mean.clone(),
        scale: found.scatter.iter().zip(&found.weight).map(deviation).collect(),
        inverse,
    }
}

fn scaled(on: &Place, x: &Matrix, affine: &Affine) -> Result<Matrix> {
    let mut out = x.clone();
    let rows = Rows::Apart(Input::finite(x.host(), "X").with_nan().told(), out.host_mut());
    on.run(Scale {
        rows,
        affine: affine.clone(),
        element: x.host(),
    })?;
    Ok(on.matrix(&out.values(), x.n_cols))
}

fn scaler_goes_there_and_back(on: &Place) {
    let x = columns(on);
    let found = statistics(on, &x, None);
    let there = scaled(on, &x, &affine(&found, false)).expect("nothing is infinite");
    let of_there = statistics(on, &there, None);
    let scale = affine(&found, false).scale;
    for col in (0..x.n_cols).filter(|col| *col != EMPTY) {
        let spread = if col == CONSTANT { 0.0 } else { of_there.weight[col] };
        let allowed = 4.0 * on.epsilon() + f64::EPSILON * (found.mean[col] / scale[col]).abs();
        assert_near(&[of_there.mean[col]], &[0.0], allowed, "mean");
        assert_near(
            &[of_there.scatter[col]],
            &[spread],
            of_sums(on, spread) * spread,
            "scatter",
        );
    }
    let back = scaled(on, &there, &affine(&found, true)).expect("nothing is infinite");
    for (row, col) in (0..x.n_rows()).flat_map(|row| (0..x.n_cols).map(move |col| (row, col))) {
        // One rounding of the scaled value, one of the result.
        let reach = found.greatest[col] - found.least[col];
        let allowed = on.epsilon() * (reach + x.at(row, col).abs());
        assert_near(
            &[back.at(row, col)],
            &[x.at(row, col)],
            allowed,
            &format!("({row}, {col}) there and back"),
        );
    }
}

fn scaler_in_place_is_the_same(on: &Place) {
    let x = columns(on);
    let affine = affine(&statistics(on, &x, None), false);
    let apart = scaled(on, &x, &affine).expect("nothing is infinite");
    let mut same = x.clone();
    on.run(Scale {
        rows: Rows::Same(same.host_mut()),
        affine: affine.clone(),
        element: x.host().rows(0..0),
    })
    .expect("nothing is infinite");
    assert_near(&same.values(), &apart.seen, 0.0, "in place");
}

fn scaler_refuses_infinity(on: &Place) {
    let whole = columns(on);
    let affine = affine(&statistics(on, &whole, None), false);
    for at in [0, whole.seen.len() / 2, whole.seen.len() - 1] {
        for value in [f64::INFINITY, f64::NEG_INFINITY] {
            let mut values = whole.seen.clone();
            values[at] = value;
            let x = on.matrix(&values, whole.n_cols);
            let learned = on
                .run(Statistics {
                    x: x.host(),
                    weights: None,
                })
                .map(drop);
            let mut same = x.clone();
            let in_place = on.run(Scale {
                rows: Rows::Same(same.host_mut()),
                affine: affine.clone(),
                element: x.host().rows(0..0),
            });
            for found in [learned, scaled(on, &x, &affine).map(drop), in_place] {
                assert!(
                    matches!(found, Err(Error::NonFinite { what: "X" })),
                    "{value} [{at}]: {found:?}"
                );
            }
            assert_near(&same.values(), &x.seen, 0.0, "nothing was changed");
        }
    }
}

fn scaler_gives_equal_bits(on: &Place) {
    let x = columns(on);
    let bits = || {
        let found = statistics(on, &x, None);
        let there = scaled(on, &x, &affine(&found, false)).expect("nothing is infinite");
        [found.weight, found.mean, found.scatter, there.seen]
            .concat()
            .into_iter()
            .map(f64::to_bits)
            .collect::<Vec<_>>()
    };
    assert_eq!(bits(), bits());
}

/// Whole numbers are those of float64, cast on their way or before.
fn scaler_takes_whole_numbers(on: &Place) {
    const N_COLS: usize = 5;
    let whole: Vec<i32> = (0..2503 * N_COLS as i32).map(|at| at * at % 1009 - 300).collect();
    let wide: Vec<f64> = whole.iter().copied().map(f64::from).collect();
    let n_rows = whole.len() / N_COLS;
    let of = |x: HostMatrix<'_>| on.run(Statistics { x, weights: None }).expect("finite");
    let cast = CastMatrix::I32(MatrixView::new(&whole, n_rows, N_COLS).expect("whole rows"));
    let found = of(HostMatrix::Cast(cast));
    let expected = of(HostMatrix::F64(
        MatrixView::new(&wide, n_rows, N_COLS).expect("whole rows"),
    ));
    assert_eq!(found.mean, expected.mean);
    assert_eq!(found.scatter, expected.scatter);
    assert_eq!(found.least, expected.least);
    assert!(found.scatter.iter().all(|scatter| *scatter > 0.0));
}

pub(super) const LAWS: [Law; 8] = [
    scaler_takes_whole_numbers,
    scaler_finds_what_the_formula_says,
    scaler_learns_the_same_in_pieces,
    scaler_weighs_rows,
    scaler_goes_there_and_back,
    scaler_in_place_is_the_same,
    scaler_refuses_infinity,
    scaler_gives_equal_bits,
];
