//! Where the values of columns lie: what sums are taken about, so that neither an offset nor a scale costs digits.

use crate::matrix::{Cast, HostMatrix, MatrixView, Visitor};

/// Where the values of each column lie, roughly: the closer, the less is lost. `unit` holds powers of two.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Taken from each value first.
    pub shift: Vec<f64>,
    /// Then each value is multiplied by this.
    pub unit: Vec<f64>,
}

/// Rows that the first guess at a column's place looks at.
const SAMPLE: usize = 32;
impl Frame {
    /// A guess from a few rows, spread evenly.
    pub fn sampled(host: &HostMatrix<'_>) -> Self {
        match *host {
            HostMatrix::F32(view) => Self::of(view, Into::into),
            HostMatrix::F64(view) => Self::of(view, Into::into),
            HostMatrix::Cast(view) => view.visit(OfCast),
        }
    }

    fn of<T: Copy>(view: MatrixView<'_, T>, widened: fn(T) -> f64) -> Self {
        let n_cols = view.n_cols();
        let step = view.n_rows().div_ceil(SAMPLE).max(1);
        let (mut means, mut counts) = (vec![0.0; n_cols], vec![0.0; n_cols]);
        let mut scratch = Vec::new();
        // Row by row, as the data lie.
        let mut each = |visit: &mut dyn FnMut(usize, f64)| {
            for row in (0..view.n_rows()).step_by(step) {
                for (col, &value) in view.rows(row..row + 1).packed(&mut scratch).iter().enumerate() {
                    let value = widened(value);
                    if value.is_finite() {
                        visit(col, value);
                    }
                }
            }
        };
        each(&mut |col, value| {
            // A running mean: a sum could overflow.
            counts[col] += 1.0;
            means[col] += (value - means[col]) / counts[col];
        });
        let shift: Vec<f64> = means.into_iter().map(near).collect();
        let mut reach = vec![0.0_f64; n_cols];
        each(&mut |col, value| reach[col] = reach[col].max((value - shift[col]).abs()));
        Self {
            shift,
            unit: reach.into_iter().map(unit_of).collect(),
        }
    }
}

/// A guess for data that are cast on their way.
struct OfCast;

impl Visitor for OfCast {
    type Output = Frame;
    fn visit<T: Cast>(self, view: MatrixView<'_, T>) -> Frame {
        Frame::of(view, Cast::widened)
    }
}

/// The power of two that brings `reach` near 1.
pub(crate) fn unit_of(reach: f64) -> f64 {
    if reach > 0.0 && reach.is_finite() {
        (-reach.log2().floor()).clamp(-126.0, 126.0).exp2()
    } else {
        1.0
    }
}

/// A number near `value`: a float32 where that can be, since the GPU subtracts in float32.
pub(crate) fn near(value: f64) -> f64 {
    let narrow = f64::from(value as f32);
    if narrow.is_finite() {
        narrow
    } else if value.is_finite() {
        value
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(columns: &[&dyn Fn(usize) -> f64], n_rows: usize) -> Frame {
        let values: Vec<f64> = (0..n_rows)
            .flat_map(|row| columns.iter().map(move |column| column(row)))
            .collect();
        let view = MatrixView::new(&values, n_rows, columns.len()).expect("whole rows");
        Frame::sampled(&HostMatrix::F64(view))
    }

    #[test]
    fn frames_lie_near_their_columns_and_are_of_their_size() {
        let wave = |row: usize| ((row * 37) % 101) as f64 / 101.0;
        for n_rows in [1, 2, 31, 32, 33, 1000] {
            for (place, size) in [
                (0.0, 1.0),
                (1e5, 1.0),
                (-1e9, 1e3),
                (1e-30, 1e-31),
                (1e30, 1e28),
                (3.0, 0.0),
            ] {
                let frame = sampled(&[&|_| 0.5, &|row| place + size * wave(row)], n_rows);
                let (shift, unit) = (frame.shift[1], frame.unit[1]);
                // A float32 near the rows: as near as float32 numbers lie there.
                let spacing = f64::from(f32::EPSILON) * (place.abs() + size);
                assert!(
                    (shift - place).abs() <= size + spacing,
                    "{n_rows} rows about {place}: {shift}"
                );
                assert_eq!(shift, f64::from(shift as f32));
                assert_eq!(unit.log2().fract(), 0.0, "{unit} is a power of two");
                let reach = (0..n_rows)
                    .step_by(n_rows.div_ceil(SAMPLE))
                    .map(|row| (place + size * wave(row) - shift).abs());
                let reach = reach.fold(0.0, f64::max) * unit;
                let least = reach < 1.0 && unit == 126.0_f64.exp2();
                assert!(
                    reach == 0.0 || least || (1.0..2.0).contains(&reach),
                    "{n_rows} rows about {place}: {reach}"
                );
                assert_eq!((frame.shift[0], frame.unit[0]), (0.5, 1.0), "a constant column");
            }
        }
    }

    #[test]
    fn the_sample_spreads_over_all_rows() {
        let frame = sampled(&[&|row| if row < 500 { 0.0 } else { 1024.0 }], 1000);
        assert!((frame.shift[0] - 512.0).abs() < 50.0, "{frame:?}");
    }

    #[test]
    fn what_is_not_finite_has_no_place() {
        let holes = |row: usize| [f64::NAN, 7.0, f64::INFINITY, 9.0][row % 4];
        let frame = sampled(&[&holes, &|_| f64::NAN], 8);
        assert_eq!(frame.shift, [8.0, 0.0]);
        assert_eq!(frame.unit, [1.0, 1.0]);
    }

    #[test]
    fn sizes_beyond_float32_are_held_at_its_bounds() {
        let frame = sampled(
            &[&|row| if row == 0 { f64::MAX } else { f64::MIN }, &|_| 1e300, &|row| {
                1e-300 * row as f64
            }],
            2,
        );
        assert!(frame.shift.iter().all(|shift| shift.is_finite()), "{frame:?}");
        assert_eq!(frame.shift[1], 1e300, "float32 cannot come near");
        assert_eq!(frame.unit, [(-126.0_f64).exp2(), 1.0, 126.0_f64.exp2()]);
    }

    #[test]
    fn units_bring_sizes_to_one() {
        for exponent in -126..=126 {
            let size = f64::from(exponent).exp2();
            for reach in [size, size * 1.999] {
                assert_eq!(unit_of(reach) * size, 1.0, "{reach:e}");
            }
        }
        for none in [0.0, f64::INFINITY, f64::NAN] {
            assert_eq!(unit_of(none), 1.0);
        }
    }
}
