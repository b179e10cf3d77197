//! The inputs on which this kernel is tested and timed.

use super::{Binned, reference};
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, uniform};

struct NodeHistogramsCase {
    n_rows: usize,
    n_cols: usize,
    n_nodes: usize,
    /// The histograms of the other child of each node, whose parent has twice the sums.
    sibling: bool,
}

impl NodeHistogramsCase {
    fn bins(&self) -> Vec<Vec<u8>> {
        let bytes: Vec<u8> = uniform(self.n_rows * self.n_cols, 95)
            .iter()
            .map(|value| ((value + 0.5) * 256.0) as u8)
            .collect();
        bytes.chunks_exact(self.n_cols).map(<[u8]>::to_vec).collect()
    }

    fn gradients(&self) -> Vec<i32> {
        uniform(2 * self.n_rows, 96)
            .iter()
            .map(|value| (value * 2000.0) as i32)
            .collect()
    }

    /// Some rows belong to no node, and a node may have none.
    fn nodes(&self) -> Vec<Vec<u32>> {
        let place = uniform(self.n_rows, 97);
        let of = |node: usize| {
            let rows = (0..self.n_rows as u32).filter(|&row| {
                let at = (place[row as usize] + 0.5) * (self.n_nodes as f64 + 0.5);
                at as usize == node && node != 1
            });
            rows.collect()
        };
        (0..self.n_nodes).map(of).collect()
    }
}

impl Case for NodeHistogramsCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_cols,
            n_nodes,
            sibling,
        } = self;
        let what = if *sibling { "sibling" } else { "" };
        format!("node_histograms/{what}{n_rows}x{n_cols}in{n_nodes}")
    }
    fn expected(&self) -> Expected {
        let values = reference::node_histograms(&self.bins(), &self.gradients(), &self.nodes(), self.n_cols);
        Expected {
            allowed: vec![0.0; values.len()],
            values,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let word = |four: &[u8]| four.iter().rev().fold(0_u32, |word, &bin| word << 8 | u32::from(bin));
        let words: Vec<u32> = self
            .bins()
            .iter()
            .flat_map(|row| row.chunks(4).map(word).collect::<Vec<_>>())
            .collect();
        let nodes = self.nodes();
        let mut starts = vec![0];
        for rows in &nodes {
            starts.push(starts[starts.len() - 1] + rows.len() as u32);
        }
        let mut order = nodes.concat();
        order.push(0);
        let (bins, gradients) = (engine.upload(&words)?, engine.upload(&self.gradients())?);
        let order = engine.upload(&order)?;
        let sums = engine.node_histograms(&Binned {
            bins: &bins,
            n_cols: self.n_cols,
            gradients: &gradients,
            largest: 1000,
            order: &order,
            starts: &starts,
        })?;
        if !self.sibling {
            return Ok(engine.fetch([&sums])?.concat());
        }
        let found: Vec<i32> = engine.wait(engine.read(&sums)?)?;
        let twice: Vec<i32> = found.iter().map(|sum| 2 * sum).collect();
        let sibling = engine.sibling_histograms(&engine.upload(&twice)?, &sums)?;
        Ok(engine.fetch([&sibling])?.concat())
    }
    fn work(&self) -> Work {
        let elements = (self.n_rows * self.n_cols) as u64;
        Work {
            elements,
            operations: 3 * elements,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 1000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |n_rows, n_cols, n_nodes, sibling| {
        Box::new(NodeHistogramsCase {
            n_rows,
            n_cols,
            n_nodes,
            sibling,
        }) as Box<dyn AnyCase>
    };
    vec![
        case(0, 2, 1, false),
        case(1, 1, 1, false),
        case(255, 4, 3, false),
        case(257, 5, 2, true),
        case(9001, 6, 1, false),
        case(500, 9, 7, false),
    ]
}
