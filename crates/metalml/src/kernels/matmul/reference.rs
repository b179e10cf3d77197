//! What the product means, in plain f64.

use super::Epilogue;
use crate::testing::total;

pub(super) fn matmul(a: &[f64], b: &[f64], [m, k, n]: [usize; 3]) -> Vec<f64> {
    let element = |row: usize, col: usize| total((0..k).map(|i| a[row * k + i] * b[i * n + col]));
    (0..m * n).map(|at| element(at / n, at % n)).collect()
}

pub(super) fn epilogue(values: Vec<f64>, n_cols: usize, epilogue: Epilogue) -> Vec<f64> {
    let of = |f: &dyn Fn(f64) -> f64| values.iter().map(|&value| f(value)).collect();
    match epilogue {
        Epilogue::Identity => values,
        Epilogue::Relu => of(&|x| x.max(0.0)),
        Epilogue::Tanh => of(&f64::tanh),
        Epilogue::Logistic => of(&|x| 1.0 / (1.0 + (-x).exp())),
        Epilogue::Softmax => values
            .chunks_exact(n_cols)
            .flat_map(|row| {
                let sum = total(row.iter().map(|x| x.exp()));
                row.iter().map(move |x| x.exp() / sum)
            })
            .collect(),
        Epilogue::Exponential { gamma } => of(&|x| (-gamma * x.max(0.0)).exp()),
        Epilogue::Polynomial { gamma, coef0, degree } => of(&|x| (gamma * x + coef0).powi(degree as i32)),
        Epilogue::Sigmoid { gamma, coef0 } => of(&|x| (gamma * x + coef0).tanh()),
    }
}
