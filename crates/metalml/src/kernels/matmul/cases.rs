//! The inputs on which this kernel is tested and timed.

use super::{Epilogue, Operand, RowTerm, Terms, reference};
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct MatmulCase {
    m: usize,
    k: usize,
    n: usize,
    a_transposed: bool,
    b_transposed: bool,
    terms: Joined,
}

/// What joins the product of a case.
#[derive(Clone, Copy)]
enum Joined {
    Nothing,
    Bias,
    /// Everything, rows scaled.
    All(Epilogue),
    /// Rows and columns added to -2 times the product, as in a squared distance.
    Distance(Epilogue),
}

impl MatmulCase {
    fn shapes(&self) -> [[usize; 2]; 2] {
        let turned = |rows, cols, transposed: bool| if transposed { [cols, rows] } else { [rows, cols] };
        [
            turned(self.m, self.k, self.a_transposed),
            turned(self.k, self.n, self.b_transposed),
        ]
    }

    fn row(&self) -> Vec<f64> {
        uniform(self.m, 21).iter().map(|value| value + 1.0).collect()
    }

    fn before(&self) -> Vec<f64> {
        uniform(self.m * self.n, 22)
    }

    fn data(&self) -> [Vec<f64>; 3] {
        [
            uniform(self.m * self.k, 11),
            uniform(self.k * self.n, 12),
            uniform(self.n, 14),
        ]
    }
}

impl Case for MatmulCase {
    fn label(&self) -> String {
        let side = |transposed: bool| if transposed { 'T' } else { 'N' };
        let Self { m, k, n, .. } = self;
        let terms = match self.terms {
            Joined::Nothing => String::new(),
            Joined::Bias => "+bias".into(),
            Joined::All(epilogue) => format!("+all {epilogue:?}"),
            Joined::Distance(epilogue) => format!("+distance {epilogue:?}"),
        };
        format!(
            "matmul/{m}x{k}x{n}{}{}{terms}",
            side(self.a_transposed),
            side(self.b_transposed)
        )
    }
    fn expected(&self) -> Expected {
        let [a, b, bias] = self.data();
        let plain = |values: Vec<f64>, rows: usize, cols: usize, transposed: bool| {
            if transposed {
                (0..rows * cols)
                    .map(|at| values[at % cols * rows + at / cols])
                    .collect()
            } else {
                values
            }
        };
        let (a, b) = (
            plain(a, self.m, self.k, self.a_transposed),
            plain(b, self.k, self.n, self.b_transposed),
        );
        let shape = [self.m, self.k, self.n];
        let mut values = reference::matmul(&a, &b, shape);
        let (row, before) = (self.row(), self.before());
        let of = |f: &dyn Fn(f64, usize, usize) -> f64, values: &mut [f64]| {
            values
                .iter_mut()
                .enumerate()
                .for_each(|(at, value)| *value = f(*value, at / self.n, at % self.n));
        };
        let epilogue = match self.terms {
            Joined::Nothing => Epilogue::Identity,
            Joined::Bias => {
                of(&|value, _, j| value + bias[j], &mut values);
                Epilogue::Identity
            }
            Joined::All(epilogue) => {
                of(
                    &|value, i, j| ALPHA * row[i] * value + bias[j] + BETA * before[i * self.n + j],
                    &mut values,
                );
                epilogue
            }
            Joined::Distance(epilogue) => {
                of(&|value, i, j| -2.0 * value + row[i] + bias[j], &mut values);
                epilogue
            }
        };
        let values = reference::epilogue(values, self.n, epilogue);
        // k terms below 1/2, in slabs; an epilogue has a slope below 1 + its value, and a few roundings of its own.
        let slope = |value: &f64| {
            if epilogue == Epilogue::Identity {
                1.0
            } else {
                1.0 + value.abs()
            }
        };
        let allowed = values
            .iter()
            .map(|value| (3.0 * (self.k as f64).sqrt() + 8.0) * slope(value))
            .collect();
        Expected {
            values,
            allowed,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [a, b, bias] = self.data();
        let [a_shape, b_shape] = self.shapes();
        let [a] = resident(engine, [&a], a_shape[0], [a_shape[1]])?;
        let [b] = resident(engine, [&b], b_shape[0], [b_shape[1]])?;
        let [bias, row] = [engine.upload_elem(&bias)?, engine.upload_elem(&self.row())?];
        let [mut out] = if matches!(self.terms, Joined::All(_)) {
            resident(engine, [&self.before()], self.m, [self.n])?
        } else {
            [engine.create(self.m, self.n)?]
        };
        let mut terms = Terms::default();
        match self.terms {
            Joined::Nothing => {}
            Joined::Bias => terms.bias = Some(&bias),
            Joined::All(epilogue) => {
                terms = Terms {
                    alpha: ALPHA,
                    beta: BETA,
                    bias: Some(&bias),
                    row: Some(RowTerm::Scale(&row)),
                    epilogue,
                }
            }
            Joined::Distance(epilogue) => {
                terms = Terms {
                    alpha: -2.0,
                    bias: Some(&bias),
                    row: Some(RowTerm::Add(&row)),
                    epilogue,
                    ..terms
                }
            }
        }
        let side = |matrix, transposed| {
            if transposed {
                Operand::Transposed(matrix)
            } else {
                Operand::Plain(matrix)
            }
        };
        engine.matmul(
            side(&a, self.a_transposed),
            side(&b, self.b_transposed),
            &terms,
            &mut E::write(&mut out),
        )?;
        engine.fetch_matrix(&out)
    }
    fn work(&self) -> Work {
        let [m, k, n] = [self.m, self.k, self.n].map(|len| len as u64);
        Work {
            elements: m * k + k * n + m * n,
            operations: 2 * m * k * n,
        }
    }
    fn in_self_test(&self) -> bool {
        self.m > 1 && self.m * self.n * self.k < 3_000_000
    }
}

const ALPHA: f64 = -0.75;
const BETA: f64 = 0.5;

const FORMS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let mut cases: Vec<Box<dyn AnyCase>> = Vec::new();
    let mut add = |[m, k, n]: [usize; 3], (a_transposed, b_transposed), terms| {
        cases.push(Box::new(MatmulCase {
            m,
            k,
            n,
            a_transposed,
            b_transposed,
            terms,
        }));
    };
    // One, at and beside the sides of each tile, thin on either side, long sums that are split, and more tiles than one.
    for (i, shape) in [
        [1, 1, 1],
        [63, 15, 65],
        [64, 16, 64],
        [129, 17, 33],
        [131, 97, 7],
        [7, 129, 131],
        [5, 700, 3],
        [1, 1030, 300],
        [300, 1030, 1],
        [4, 3, 260],
        [128, 40, 129],
        [40, 1100, 52],
        [17, 5, 18],
        [3, 40, 2],
        [2, 17, 3],
    ]
    .into_iter()
    .enumerate()
    {
        for form in FORMS {
            add(shape, form, if i % 2 == 0 { Joined::Bias } else { Joined::Nothing });
        }
    }
    let gamma = 0.3;
    for epilogue in [
        Epilogue::Identity,
        Epilogue::Relu,
        Epilogue::Tanh,
        Epilogue::Logistic,
        Epilogue::Softmax,
        Epilogue::Exponential { gamma },
        Epilogue::Polynomial {
            gamma,
            coef0: 0.5,
            degree: 3,
        },
        Epilogue::Sigmoid { gamma, coef0: -0.2 },
    ] {
        // By tiles, thin on the right and on the left, split.
        for (shape, form) in [
            ([70, 20, 68], (false, true)),
            ([133, 20, 5], (false, false)),
            ([5, 20, 133], (false, false)),
            ([66, 600, 30], (true, false)),
        ] {
            add(shape, form, Joined::All(epilogue));
            add(shape, form, Joined::Distance(epilogue));
        }
    }
    // A short `k` from row to row, on either side.
    add([4099, 9, 7], (true, false), Joined::Bias);
    add([4096, 64, 5], (true, true), Joined::Nothing);
    add([8, 31, 5200], (false, false), Joined::All(Epilogue::Tanh));
    // As many tiles as choose the largest.
    for form in FORMS {
        add([8100, 9, 30], form, Joined::Bias);
    }
    cases
}
