//! Naive Bayes: what is known of the columns of each class, and how likely rows are under it.

use crate::engine::{Border, Input, Real, Rows, near};
use crate::kernels::gaussian_scores::Gaussians;
use crate::kernels::segment_sums::Segments;
use crate::kernels::{Engine, Family, column_stats, gaussian_scores, segment_sums};
use crate::matrix::{HostMatrix, HostMatrixMut};
use crate::run::Job;
use crate::solvers::moments::{Moments, moments};
use crate::{Error, Result};

/// Mean and variance of the columns of each class. Cost: two passes over `x` (one upload), and one more for each class whose columns lie
/// far from those of all rows, in their own deviations.
#[derive(Debug)]
pub struct ClassMoments<'a> {
    /// n by d, finite.
    pub x: HostMatrix<'a>,
    /// n, each below `n_classes`.
    pub labels: &'a [u32],
    /// How many classes.
    pub n_classes: usize,
    /// n by 1, of the element type of `x`; may be negative.
    pub weights: Option<HostMatrix<'a>>,
}

/// What was found of k classes and d columns.
#[derive(Debug)]
pub struct OfClasses {
    /// k: sum of the weights, or how many rows.
    pub weight: Vec<f64>,
    /// k by d; 0 for a class without weight.
    pub mean: Vec<f64>,
    /// k by d, likewise.
    pub variance: Vec<f64>,
    /// The greatest variance of a column of all rows, each counted once.
    pub greatest_variance: f64,
}

/// Squares about a common point may be this many times the scatter of a class, and rounding counts as many times more: for float32 rows,
/// whose squares are summed in wider numbers, and for float64.
const MOST_SHARE: [f64; 2] = [1e5, 256.0];
/// Classes that may have a pass of their own.
const MOST_PASSES: usize = 64;
/// How much of a standard deviation the cast of a value to float32 may take away.
const MOST_CAST: f64 = 1e-3;
/// Distances whose squares, and sums of them, are normal float32 numbers.
const SQUARES: std::ops::Range<f64> = 1e-15..1e15;

impl<'a> Job<'a> for ClassMoments<'a> {
    type Output = OfClasses;
    const FAMILIES: &'static [&'static Family] = &[&column_stats::FAMILY, &segment_sums::FAMILY];

    fn element_of(&self) -> HostMatrix<'a> {
        self.x
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<OfClasses> {
        check_labels(self.labels, self.x.n_rows(), self.n_classes)?;
        let d = self.x.n_cols();
        let input = Input::finite(self.x, "X").told();
        let (x, weights) = bring(engine, input, self.weights)?;
        let of_x = moments(engine, &x, &input, None)?;
        if E::Elem::EPSILON > 1e-10 {
            check_squares(&of_x)?;
        }
        let of_columns = of_x.mean.iter().zip(&of_x.scatter).zip(&of_x.weight);
        check_cast::<E>(
            &self.x,
            of_columns.map(|((&mean, scatter), weight)| (mean, scatter / weight)),
        )?;
        let shift = &of_x.frame.shift;
        let sums = class_sums::<E>(engine, &x, weights.as_ref(), self.labels, self.n_classes, shift, true)?;
        let mut found = OfClasses {
            weight: Vec::with_capacity(self.n_classes),
            mean: Vec::with_capacity(self.n_classes * d),
            variance: Vec::with_capacity(self.n_classes * d),
            greatest_variance: greatest_variance(&of_x),
        };
        let most_share = MOST_SHARE[usize::from(E::Elem::EPSILON < 1e-10)];
        let mut n_passes = 0;
        for (class, sums) in sums.chunks_exact(1 + 2 * d).enumerate() {
            let mut of_class = about(sums, shift);
            if of_class.share > most_share && of_class.weight != 0.0 {
                n_passes += 1;
                if n_passes > MOST_PASSES {
                    return Err(Error::Unsuited {
                        reason: format!("more than {MOST_PASSES} classes lie far from the mean of all rows"),
                    });
                }
                let place: Vec<f64> = of_class.mean.iter().copied().map(near).collect();
                let only: Vec<u32> = self
                    .labels
                    .iter()
                    .map(|&label| u32::from(label as usize != class))
                    .collect();
                let sums = class_sums::<E>(engine, &x, weights.as_ref(), &only, 1, &place, true)?;
                of_class = about(&sums, &place);
            }
            found.weight.push(of_class.weight);
            found.mean.extend(of_class.mean);
            found.variance.extend(of_class.variance);
        }
        Ok(found)
    }
}

/// The sums of the columns of each class. Cost: one pass over `x`.
#[derive(Debug)]
pub struct ClassSums<'a> {
    /// n by d, finite.
    pub x: HostMatrix<'a>,
    /// n, each below `n_classes`.
    pub labels: &'a [u32],
    /// How many classes.
    pub n_classes: usize,
    /// n by 1, of the element type of `x`.
    pub weights: Option<HostMatrix<'a>>,
}

impl<'a> Job<'a> for ClassSums<'a> {
    /// k by 1 + d: the sum of the weights, or how many rows, then those of the columns.
    type Output = Vec<f64>;
    const FAMILIES: &'static [&'static Family] = &[&segment_sums::FAMILY];

    fn element_of(&self) -> HostMatrix<'a> {
        self.x
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<Vec<f64>> {
        check_labels(self.labels, self.x.n_rows(), self.n_classes)?;
        let (x, weights) = bring(engine, Input::finite(self.x, "X"), self.weights)?;
        let origin = vec![0.0; self.x.n_cols()];
        class_sums::<E>(
            engine,
            &x,
            weights.as_ref(),
            self.labels,
            self.n_classes,
            &origin,
            false,
        )
    }
}

/// The joint log-likelihood of rows and classes that are Gaussians with independent columns. Cost: one pass over `x`, 4 n k d operations.
#[derive(Debug)]
pub struct GaussianScores<'a> {
    /// n by d, finite.
    pub x: HostMatrix<'a>,
    /// k by d: the means.
    pub mean: &'a [f64],
    /// k by d: the variances, above 0.
    pub variance: &'a [f64],
    /// k: the logarithms of the priors, finite.
    pub log_prior: &'a [f64],
    /// n by k.
    pub out: HostMatrixMut<'a>,
}

impl<'a> Job<'a> for GaussianScores<'a> {
    type Output = ();
    const FAMILIES: &'static [&'static Family] = &[&gaussian_scores::FAMILY];

    fn element_of(&self) -> HostMatrix<'a> {
        self.x
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<()> {
        check_cast::<E>(&self.x, self.mean.iter().copied().zip(self.variance.iter().copied()))?;
        let weight: Vec<f64> = self.variance.iter().map(|variance| (0.5 / variance).sqrt()).collect();
        let normal =
            |value: f64| E::Elem::from_f64(value).finite() && Into::<f64>::into(E::Elem::from_f64(value)) != 0.0;
        if !weight.iter().all(|&weight| normal(weight)) {
            return Err(Error::Unsuited {
                reason: "a class has variances whose inverses this precision cannot hold".into(),
            });
        }
        let of_class = |variance: &[f64]| {
            variance
                .iter()
                .map(|value| (std::f64::consts::TAU * value).ln())
                .sum::<f64>()
        };
        let offset: Vec<f64> = self
            .variance
            .chunks_exact(self.x.n_cols())
            .zip(self.log_prior)
            .map(|(variance, log_prior)| log_prior - 0.5 * of_class(variance))
            .collect();
        let gaussians = Gaussians {
            place: self.mean,
            weight: &weight,
            offset: &offset,
        };
        let rows = Rows::Apart(Input::finite(self.x, "X").told(), self.out);
        engine.stream(rows, |x, out| engine.gaussian_scores(x, &gaussians, out))
    }
}

fn check_labels(labels: &[u32], n_rows: usize, n_classes: usize) -> Result<()> {
    if labels.len() != n_rows {
        return Err(Error::Shape {
            what: "labels",
            expected: n_rows,
            found: labels.len(),
        });
    }
    if labels.iter().any(|&label| label as usize >= n_classes) {
        return Err(Error::Internal(format!("a label that is not below {n_classes}")));
    }
    Ok(())
}

fn bring<'a, E: Engine + Border<'a>>(
    engine: &E,
    x: Input<'a>,
    weights: Option<HostMatrix<'a>>,
) -> Result<(E::Matrix, Option<E::Matrix>)> {
    if let Some(weights) = weights {
        let [x, weights] = engine.bring([x, Input::finite(weights, "sample_weight")])?;
        Ok((x, Some(weights)))
    } else {
        let [x] = engine.bring([x])?;
        Ok((x, None))
    }
}

fn class_sums<E: Engine>(
    engine: &E,
    x: &E::Matrix,
    weights: Option<&E::Matrix>,
    labels: &[u32],
    count: usize,
    shift: &[f64],
    squares: bool,
) -> Result<Vec<f64>> {
    let labels = engine.upload(labels)?;
    let segments = Segments {
        labels: &labels,
        count,
        weights,
        shift,
        squares,
    };
    let [sums] = engine.fetch([&engine.segment_sums(x, &segments)?])?;
    Ok(sums)
}

/// Values far from 0 lose on their way to float32 what makes them differ. `columns` holds the mean and the variance of each.
fn check_cast<E: Engine>(x: &HostMatrix<'_>, mut columns: impl Iterator<Item = (f64, f64)>) -> Result<()> {
    let is_cast = E::Elem::EPSILON > 1e-10 && !x.is_single();
    let is_blurred = |(mean, variance): (f64, f64)| {
        variance > 0.0 && f64::from(f32::EPSILON) * mean.abs() > MOST_CAST * variance.sqrt()
    };
    if is_cast && columns.any(is_blurred) {
        let reason = "X lies so far from 0 that float32 has too few digits for its spread".into();
        return Err(Error::Unsuited { reason });
    }
    Ok(())
}

/// Whether the squares of all columns are numbers that float32 holds; a column of one value has none.
fn check_squares(of_x: &Moments) -> Result<()> {
    let lost = (0..of_x.mean.len()).any(|col| {
        let reach = (of_x.least[col] - of_x.frame.shift[col])
            .abs()
            .max((of_x.greatest[col] - of_x.frame.shift[col]).abs());
        of_x.least[col] != of_x.greatest[col] && !SQUARES.contains(&reach)
    });
    if lost {
        return Err(Error::Unsuited {
            reason: "X holds values whose squares this precision cannot hold".into(),
        });
    }
    Ok(())
}

fn greatest_variance(of_x: &Moments) -> f64 {
    let variances = of_x.scatter.iter().zip(&of_x.weight);
    variances.map(|(scatter, weight)| scatter / weight).fold(0.0, f64::max)
}

struct OfClass {
    weight: f64,
    mean: Vec<f64>,
    variance: Vec<f64>,
    /// The greatest of squares about the shift over squares about the mean.
    share: f64,
}

/// Weight, sums and squares about `shift`, as what they say of a class.
fn about(sums: &[f64], shift: &[f64]) -> OfClass {
    let (weight, sums) = (sums[0], &sums[1..]);
    let (first, second) = sums.split_at(shift.len());
    let mut found = OfClass {
        weight,
        mean: vec![0.0; shift.len()],
        variance: vec![0.0; shift.len()],
        share: 1.0,
    };
    if weight == 0.0 {
        return found;
    }
    for (col, shift) in shift.iter().enumerate() {
        let off = first[col] / weight;
        let squares = second[col] / weight;
        let variance = squares - off * off;
        found.mean[col] = shift + off;
        found.variance[col] = variance.max(0.0);
        if squares > 0.0 {
            found.share = found.share.max(squares / variance.max(squares * f64::EPSILON));
        }
    }
    found
}
