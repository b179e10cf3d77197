//! The inputs on which this kernel is tested and timed.

use super::{Operand, reference};
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct MatmulCase {
    m: usize,
    k: usize,
    n: usize,
    a_transposed: bool,
    b_transposed: bool,
    bias: bool,
}

impl MatmulCase {
    fn shapes(&self) -> [[usize; 2]; 2] {
        let turned = |rows, cols, transposed: bool| if transposed { [cols, rows] } else { [rows, cols] };
        [
            turned(self.m, self.k, self.a_transposed),
            turned(self.k, self.n, self.b_transposed),
        ]
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
        let bias = if self.bias { "b" } else { "" };
        format!(
            "matmul/{m}x{k}x{n}{}{}{bias}",
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
        let values = reference::matmul(&a, &b, self.bias.then_some(&bias[..]), [self.m, self.k, self.n]);
        // k terms below 1/2, in slabs of 16.
        let allowed = vec![2.0 * (self.k as f64).sqrt() + 4.0; values.len()];
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
        let bias = engine.upload_elem(&bias)?;
        let mut out = engine.create(self.m, self.n)?;
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
            self.bias.then_some(&bias),
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
        self.m > 1 && self.m * self.n * self.k < 600_000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let mut cases: Vec<Box<dyn AnyCase>> = Vec::new();
    // The last ones fill more than one tile of each kind, or end within one, in every direction.
    let shapes = [
        (1, 1, 1),
        (63, 15, 65),
        (64, 16, 64),
        (65, 17, 1),
        (131, 97, 7),
        (25, 4, 26),
        (128, 40, 129),
        (1030, 23, 1001),
    ];
    for (i, (m, k, n)) in shapes.into_iter().enumerate() {
        for (a_transposed, b_transposed) in [(false, false), (false, true), (true, false), (true, true)] {
            cases.push(Box::new(MatmulCase {
                m,
                k,
                n,
                a_transposed,
                b_transposed,
                bias: i > 1,
            }));
        }
    }
    cases
}
