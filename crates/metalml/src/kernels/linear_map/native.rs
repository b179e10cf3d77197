//! Blocks of rows in f64: few targets as a stream of dot products, many as a matrix product of the widened block.

use faer::{MatMut, MatRef};

use crate::engine::Real;
use crate::engine::native_product::multiply;
use crate::engine::native_rows::part;
use crate::engine::native_stream::{self as stream, Product};
use crate::matrix::MatrixView;
use crate::threads::for_each_chunk;

/// Rows that a task makes, of few targets and of many.
const STREAM_ROWS: usize = 512;
const BLOCK_ROWS: usize = 64;

/// Writes `x weights^T + 1 offset^T`, row-major, to `out`.
pub(super) fn linear_map<T: Real>(x: MatrixView<'_, T>, weights: MatrixView<'_, T>, offset: &[f64], out: &mut [T]) {
    let (n, d, t) = (x.n_rows(), x.n_cols(), weights.n_rows());
    if n == 0 || t == 0 {
        return;
    }
    let work = n * d * t.div_ceil(stream::MAX_COLS);
    let finish = |sums: &[f64], out: &mut [T]| {
        for (sums, out) in sums.chunks_exact(t).zip(out.chunks_exact_mut(t)) {
            sums.iter()
                .zip(offset)
                .zip(out)
                .for_each(|((sum, offset), out)| *out = T::from_f64(sum + offset));
        }
    };
    if t <= stream::MAX_COLS {
        let product = Product {
            a: x,
            b: weights.transposed(),
        };
        for_each_chunk(out, STREAM_ROWS * t, work, |task, out| {
            let mut sums = vec![0.0; out.len()];
            stream::add_to(&product, part(task, STREAM_ROWS, n), 0..d, &mut sums);
            finish(&sums, out);
        });
        return;
    }
    let wide = |view: MatrixView<'_, T>| -> Vec<f64> {
        let mut scratch = Vec::new();
        view.packed(&mut scratch).iter().map(|&value| value.into()).collect()
    };
    let weights = wide(weights);
    let weights = MatRef::from_row_major_slice(&weights, t, d).transpose();
    for_each_chunk(out, BLOCK_ROWS * t, work, |task, out| {
        let rows = part(task, BLOCK_ROWS, n);
        let (block, mut sums) = (wide(x.rows(rows.clone())), vec![0.0; out.len()]);
        let block = MatRef::from_row_major_slice(&block, rows.len(), d);
        multiply(
            MatMut::from_row_major_slice_mut(&mut sums, rows.len(), t),
            block,
            weights,
            false,
        );
        finish(&sums, out);
    });
}
