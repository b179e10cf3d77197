//! What must hold of each model whatever the data: that it is the optimum, and what a change of the data does to it.
//!
//! One list of laws a model, run on the native engine in both precisions and on a GPU, whole and in blocks of rows.

mod covariance;
mod elastic_net;
mod naive_bayes;
mod ridge;
mod standard_scaler;

use std::sync::Arc;

use metalml::Result;
use metalml::device::{Device, Options, Request};
use metalml::engine::Gpu;
use metalml::matrix::{HostMatrix, HostMatrixMut, MatrixView, MatrixViewMut};
use metalml::run::{Job, Target};
use metalml::testing::uniform;

/// Where the laws are tried, and in which precision.
struct Place {
    target: Target,
    double: bool,
    /// Whether kernels run before they are trusted: their cases do not fit a device with small bindings.
    untested: bool,
}

impl Place {
    fn native(double: bool) -> Self {
        Self {
            target: Target::Native,
            double,
            untested: false,
        }
    }

    /// On whatever `METALML_DEVICE` names, else the first adapter, every fresh array full of NaN.
    fn gpu(max_binding: Option<u64>) -> Self {
        let request = Request {
            selector: std::env::var("METALML_DEVICE").ok(),
            software: true,
            ..Request::default()
        };
        let options = Options {
            max_binding,
            poison: true,
            forget: true,
            ..Options::default()
        };
        let device = Device::open(&request, options).expect("a GPU, if only a software one");
        Self {
            target: Target::Gpu(Arc::new(device)),
            double: false,
            untested: max_binding.is_some(),
        }
    }

    fn run<'a, J: Job<'a>>(&'a self, job: J) -> Result<J::Output> {
        match &self.target {
            Target::Gpu(device) if self.untested => job.run(&Gpu::for_testing(device)),
            target => target.run(job),
        }
    }

    fn epsilon(&self) -> f64 {
        if self.double { f64::EPSILON } else { f32::EPSILON.into() }
    }

    /// A matrix as the engine will see it.
    fn matrix(&self, values: &[f64], n_cols: usize) -> Matrix {
        let narrow: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        let seen = if self.double {
            values.to_vec()
        } else {
            narrow.iter().copied().map(f64::from).collect()
        };
        Matrix {
            narrow,
            seen,
            n_cols,
            double: self.double,
        }
    }
}

/// Row-major values in both precisions.
#[derive(Clone)]
struct Matrix {
    narrow: Vec<f32>,
    /// What the engine sees.
    seen: Vec<f64>,
    n_cols: usize,
    double: bool,
}

impl Matrix {
    fn n_rows(&self) -> usize {
        self.seen.len() / self.n_cols
    }

    fn host(&self) -> HostMatrix<'_> {
        let (n_rows, n_cols) = (self.n_rows(), self.n_cols);
        if self.double {
            HostMatrix::F64(MatrixView::new(&self.seen, n_rows, n_cols).expect("whole rows"))
        } else {
            HostMatrix::F32(MatrixView::new(&self.narrow, n_rows, n_cols).expect("whole rows"))
        }
    }

    fn host_mut(&mut self) -> HostMatrixMut<'_> {
        if self.double {
            HostMatrixMut::F64(MatrixViewMut::new(&mut self.seen, self.n_cols).expect("whole rows"))
        } else {
            HostMatrixMut::F32(MatrixViewMut::new(&mut self.narrow, self.n_cols).expect("whole rows"))
        }
    }

    fn values(&self) -> Vec<f64> {
        if self.double {
            self.seen.clone()
        } else {
            self.narrow.iter().copied().map(f64::from).collect()
        }
    }

    fn at(&self, row: usize, col: usize) -> f64 {
        self.seen[row * self.n_cols + col]
    }
}

/// Values on a grid: sums with whole numbers below 2^14 are exact in float32.
fn grid(len: usize, seed: u64) -> Vec<f64> {
    uniform(len, seed)
        .into_iter()
        .map(|value| (value * 512.0).round() / 128.0)
        .collect()
}

fn assert_near(found: &[f64], expected: &[f64], allowed: f64, law: &str) {
    assert_eq!(found.len(), expected.len(), "{law}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let same = found == expected || (found.is_nan() && expected.is_nan());
        assert!(
            same || (found - expected).abs() <= allowed,
            "{law} [{at}]: {found:e} is not {expected:e} within {allowed:e}"
        );
    }
}

/// What must hold at every place.
type Law = fn(&Place);

fn hold(laws: &[Law], on: &Place) {
    for law in laws {
        law(on);
    }
}

/// Bindings that hold a part of the rows of tall data.
const SMALL: Option<u64> = Some(64 << 10);

#[test]
fn native_float32_ridge() {
    hold(&ridge::LAWS, &Place::native(false));
}

#[test]
fn native_float64_ridge() {
    hold(&ridge::LAWS, &Place::native(true));
}

#[test]
fn gpu_ridge() {
    hold(&ridge::LAWS, &Place::gpu(None));
}

#[test]
fn gpu_ridge_in_blocks_of_rows() {
    hold(&ridge::LAWS, &Place::gpu(SMALL));
}

#[test]
fn native_float32_standard_scaler() {
    hold(&standard_scaler::LAWS, &Place::native(false));
}

#[test]
fn native_float64_standard_scaler() {
    hold(&standard_scaler::LAWS, &Place::native(true));
}

#[test]
fn gpu_standard_scaler() {
    hold(&standard_scaler::LAWS, &Place::gpu(None));
}

#[test]
fn gpu_standard_scaler_in_blocks_of_rows() {
    hold(&standard_scaler::LAWS, &Place::gpu(SMALL));
}

#[test]
fn native_float32_covariance() {
    hold(&covariance::LAWS, &Place::native(false));
}

#[test]
fn native_float64_covariance() {
    hold(&covariance::LAWS, &Place::native(true));
}

#[test]
fn gpu_covariance() {
    hold(&covariance::LAWS, &Place::gpu(None));
}

#[test]
fn gpu_covariance_in_blocks_of_rows() {
    hold(&covariance::LAWS, &Place::gpu(SMALL));
}

#[test]
fn native_float32_naive_bayes() {
    hold(&naive_bayes::LAWS, &Place::native(false));
}

#[test]
fn native_float64_naive_bayes() {
    hold(&naive_bayes::LAWS, &Place::native(true));
}

#[test]
fn gpu_naive_bayes() {
    hold(&naive_bayes::LAWS, &Place::gpu(None));
}

#[test]
fn gpu_naive_bayes_in_blocks_of_rows() {
    hold(&naive_bayes::LAWS, &Place::gpu(SMALL));
}

#[test]
fn native_float32_elastic_net() {
    hold(&elastic_net::LAWS, &Place::native(false));
}

#[test]
fn native_float64_elastic_net() {
    hold(&elastic_net::LAWS, &Place::native(true));
}

#[test]
fn gpu_elastic_net() {
    hold(&elastic_net::LAWS, &Place::gpu(None));
}

#[test]
fn gpu_elastic_net_in_blocks_of_rows() {
    hold(&elastic_net::LAWS, &Place::gpu(SMALL));
}
