//! One affine map a column, streamed: each value is read once, computed in f64 and rounded once.
//!
//! f64 divides, as scikit-learn does; f32 multiplies by the reciprocal in f64, whose error is lost in the rounding.
//! Short rows are laid side by side so that they fill whole vectors.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use super::Affine;
use crate::engine::Real;
use crate::engine::native_rows::{Block, gather, in_rows, part, rows_side_by_side};
use crate::matrix::MatrixView;
use crate::threads::{for_each_chunk_apart, vectorized};

/// Bytes of the output that a task writes: many tasks, yet so large that two threads seldom touch one huge page of fresh
/// memory at once (the kernel would clear it twice).
const TASK_BYTES: std::ops::RangeInclusive<usize> = 256 << 10..=4 << 20;
const TASKS: usize = 16;
/// Bytes of rows that are gathered at once, if they must be; but no fewer rows than make a column's run worth reading.
const GATHER_BYTES: usize = 32 << 10;
const GATHER_ROWS: usize = 16;

/// Writes the map of `x` to `out`, row-major; says whether `x` held an infinity.
pub(super) fn scale_shift<T: Real>(x: MatrixView<'_, T>, affine: &Affine, out: &mut [T]) -> bool {
    let d = x.n_cols();
    if out.is_empty() {
        return false;
    }
    let map = ColumnMap::new::<T>(affine);
    let together = map.together;
    let task_rows = task_rows::<T>(out.len(), d).next_multiple_of(together);
    let gather_rows = (GATHER_BYTES / (d * size_of::<T>()))
        .max(GATHER_ROWS)
        .next_multiple_of(together);
    let found = std::sync::atomic::AtomicBool::new(false);
    let work = out.len();
    for_each_chunk_apart(out, task_rows * d, work, |task, out| {
        let rows = part(task, task_rows, x.n_rows());
        let infinite = if let Some((values, stride)) = in_rows(&x, rows.clone(), 0..d) {
            let block = Block {
                values,
                stride,
                width: d,
            };
            vectorized(
                #[inline(always)]
                || map.apply(block, out),
            )
        } else {
            out.chunks_mut(gather_rows * d)
                .enumerate()
                .fold(false, |infinite, (at, out)| {
                    let first = rows.start + at * gather_rows;
                    gather(&x, first..first + out.len() / d, 0..d, out);
                    infinite
                        | vectorized(
                            #[inline(always)]
                            || any_infinite(out) | map.apply_in_place(out),
                        )
                })
        };
        if infinite {
            found.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    found.into_inner()
}

fn task_rows<T>(len: usize, d: usize) -> usize {
    let bytes = (len * size_of::<T>() / TASKS).clamp(*TASK_BYTES.start(), *TASK_BYTES.end());
    (bytes / (d * size_of::<T>())).max(GATHER_ROWS)
}

/// The map with its columns repeated for rows that lie side by side, in the form its element type wants.
struct ColumnMap {
    offset: Vec<f64>,
    /// To multiply with; to divide by if `divides`.
    scale: Vec<f64>,
    form: Form,
    together: usize,
}

#[derive(Clone, Copy)]
enum Form {
    ShiftDivide,
    ShiftMultiply,
    MultiplyShift,
}

impl ColumnMap {
    fn new<T: Real>(affine: &Affine) -> Self {
        let form = match (affine.inverse, size_of::<T>() == size_of::<f64>()) {
            (true, _) => Form::MultiplyShift,
            (false, true) => Form::ShiftDivide,
            (false, false) => Form::ShiftMultiply,
        };
        let together = rows_side_by_side(affine.offset.len());
        let scale = affine.scale.iter().map(|&scale| {
            if matches!(form, Form::ShiftMultiply) {
                1.0 / scale
            } else {
                scale
            }
        });
        Self {
            offset: affine.offset.repeat(together),
            scale: scale.collect::<Vec<_>>().repeat(together),
            form,
            together,
        }
    }

    /// Whether a value was infinite.
    #[inline(always)]
    fn apply<T: Real>(&self, block: Block<'_, T>, out: &mut [T]) -> bool {
        let mut infinite = false;
        let (stride, width) = if block.stride == block.width {
            (self.offset.len(), self.offset.len())
        } else {
            (block.stride, block.width)
        };
        for (x, out) in block.values.chunks(stride).zip(out.chunks_mut(width)) {
            let len = out.len();
            let (x, offset, scale) = (&x[..len], &self.offset[..len], &self.scale[..len]);
            infinite |= any_infinite(x);
            match self.form {
                Form::ShiftDivide => each(out, |j| (x[j].into() - offset[j]) / scale[j]),
                Form::ShiftMultiply => each(out, |j| (x[j].into() - offset[j]) * scale[j]),
                Form::MultiplyShift => each(out, |j| x[j].into() * scale[j] + offset[j]),
            }
        }
        infinite
    }

    #[inline(always)]
    fn apply_in_place<T: Real>(&self, values: &mut [T]) -> bool {
        for values in values.chunks_mut(self.offset.len()) {
            let len = values.len();
            let (offset, scale) = (&self.offset[..len], &self.scale[..len]);
            match self.form {
                Form::ShiftDivide => update(values, |j, x| (x - offset[j]) / scale[j]),
                Form::ShiftMultiply => update(values, |j, x| (x - offset[j]) * scale[j]),
                Form::MultiplyShift => update(values, |j, x| x * scale[j] + offset[j]),
            }
        }
        false
    }
}

#[inline(always)]
fn each<T: Real>(out: &mut [T], value: impl Fn(usize) -> f64) {
    for (j, out) in out.iter_mut().enumerate() {
        *out = T::from_f64(value(j));
    }
}

#[inline(always)]
fn update<T: Real>(values: &mut [T], map: impl Fn(usize, f64) -> f64) {
    for (j, x) in values.iter_mut().enumerate() {
        *x = T::from_f64(map(j, (*x).into()));
    }
}

/// NaN is not infinite.
#[inline(always)]
#[expect(
    clippy::needless_bitwise_bool,
    reason = "a branch for each value would keep this from whole vectors"
)]
fn any_infinite<T: Real>(values: &[T]) -> bool {
    let infinity = T::from_f64(f64::INFINITY);
    let minus = T::from_f64(f64::NEG_INFINITY);
    values
        .iter()
        .fold(false, |found, &value| found | (value == infinity) | (value == minus))
}
