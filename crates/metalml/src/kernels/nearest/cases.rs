//! The inputs on which this kernel is tested and timed.

use super::reference;
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct NearestCase {
    n_rows: usize,
    n_centres: usize,
    n_cols: usize,
    offset: f64,
    lie: Lie,
}

/// How values lie.
#[derive(Clone, Copy, PartialEq)]
enum Lie {
    /// Apart.
    Fine,
    /// So coarsely that distances are exact and often equal.
    Coarse,
    /// In two clusters far from their mean, all as far from the rows but for the last of each, which is nearer by less than estimates can
    /// tell: every centre of a cluster must be looked at.
    Clusters,
}

impl NearestCase {
    fn data(&self) -> [Vec<f64>; 2] {
        let mut x = uniform(self.n_rows * self.n_cols, 11);
        let mut centres = uniform(self.n_centres * self.n_cols, 12);
        for value in x.iter_mut().chain(&mut centres) {
            // Multiples of 1/64 are exact in float32 up to an offset of 1e5.
            let steps = if self.lie == Lie::Fine { 2048.0 } else { 4.0 };
            *value = (*value * steps).round() / 64.0 + self.offset;
        }
        // Every third row lies on a centre, and each centre is there twice: but coarse ones are equally far anyway, and then by different
        // estimates.
        if self.lie == Lie::Fine {
            let half = self.n_centres / 2 * self.n_cols;
            centres.copy_within(..half, self.n_centres.div_ceil(2) * self.n_cols);
        }
        if self.lie == Lie::Clusters {
            self.cluster(&mut x, 0);
            self.cluster(&mut centres, 1);
            return [x, centres];
        }
        for (row, x) in x.chunks_exact_mut(self.n_cols).enumerate().step_by(3) {
            let centre = row * 7 % self.n_centres * self.n_cols;
            x.copy_from_slice(&centres[centre..centre + self.n_cols]);
        }
        [x, centres]
    }

    /// Rows at 100 and at -100 in the first column, by halves, `away` in the second, and the last of each half a little less.
    fn cluster(&self, values: &mut [f64], away: usize) {
        let n_rows = values.len() / self.n_cols;
        for (row, values) in values.chunks_exact_mut(self.n_cols).enumerate() {
            let first_half = row < n_rows / 2;
            values.fill(0.0);
            values[0] = if first_half { 100.0 } else { -100.0 };
            let is_last = row + 1 == n_rows || row + 1 == n_rows / 2;
            values[1] = away as f64 * if is_last { 1.0 - 1.0 / 1024.0 } else { 1.0 };
        }
    }
}

impl Case for NearestCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_centres,
            n_cols,
            offset,
            lie,
        } = self;
        let kind = match lie {
            Lie::Fine => "",
            Lie::Coarse => "coarse",
            Lie::Clusters => "clusters",
        };
        format!("nearest/{n_rows}x{n_cols}of{n_centres}{kind}+{offset:e}")
    }
    fn expected(&self) -> Expected {
        let [x, centres] = self.data();
        let (labels, distances) = reference::nearest(&x, &centres, self.n_cols);
        // Labels are right or wrong. A distance is a sum of n_cols squares.
        let within = |value: &f64| (self.n_cols as f64 + 3.0) * value;
        let allowed = labels.iter().map(|_| 0.0).chain(distances.iter().map(within));
        let allowed = allowed.collect();
        Expected {
            values: labels
                .into_iter()
                .map(|label| label as f64)
                .chain(distances.iter().copied())
                .collect(),
            allowed,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x, centres] = self.data();
        let [x] = resident(engine, [&x], self.n_rows, [self.n_cols])?;
        let [y] = resident(engine, [&centres], self.n_centres, [self.n_cols])?;
        let shift: Vec<f64> = (0..self.n_cols)
            .map(|col| {
                let column = centres.iter().skip(col).step_by(self.n_cols);
                column.sum::<f64>() / self.n_centres as f64
            })
            .collect();
        let found = engine.nearest(&x, &y, &shift)?;
        let ([labels], [distances]) = (engine.fetch([&found.labels])?, engine.fetch([&found.distances])?);
        Ok([labels, distances].concat())
    }
    fn work(&self) -> Work {
        let [n, k, d] = [self.n_rows, self.n_centres, self.n_cols].map(|len| len as u64);
        Work {
            elements: n * d + k * d + 2 * n,
            operations: 2 * n * k * d,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 300
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    use Lie::{Clusters, Coarse, Fine};
    let case = |n_rows, n_centres, n_cols, offset, lie| {
        Box::new(NearestCase {
            n_rows,
            n_centres,
            n_cols,
            offset,
            lie,
        }) as Box<dyn AnyCase>
    };
    vec![
        case(0, 3, 2, 0.0, Fine),
        case(0, 300, 40, 0.0, Fine),
        case(1, 1, 1, 0.0, Fine),
        case(127, 3, 2, 0.0, Fine),
        case(255, 8, 16, 1e5, Fine),
        case(257, 9, 17, 0.0, Coarse),
        case(1030, 5, 3, 1e4, Coarse),
        case(67, 31, 64, 1e5, Fine),
        case(129, 33, 63, 0.0, Fine),
        case(127, 127, 31, 1e5, Fine),
        case(128, 128, 32, 0.0, Coarse),
        case(129, 129, 33, 1e4, Coarse),
        case(300, 257, 65, 1e5, Fine),
        case(2000, 150, 17, 0.0, Coarse),
        case(150, 1030, 7, 1e5, Coarse),
        case(60, 2000, 4, 0.0, Coarse),
        case(1, 3, 513, 1e5, Fine),
        case(700, 130, 2, 0.0, Coarse),
        // Rows that are no whole vectors, more than a tile of them, and too many centres for the short way.
        case(130, 800, 3, 0.0, Coarse),
        case(40, 700, 8, 0.0, Clusters),
    ]
}
