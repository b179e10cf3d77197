//! Between the caller's memory and staging buffers: all threads, and what the copy sees of the values on its way.

use std::sync::{Mutex, PoisonError};

use wgpu::WriteOnly;

use crate::engine::Real;
use crate::matrix::{Cast, CastMatrix, HostMatrix, MatrixView, MatrixViewMut, Visitor};
use crate::threads::{for_each_chunk, for_each_chunk_apart};

/// What a copy met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// A NaN.
    pub(crate) nan: bool,
    /// An infinity.
    pub(crate) infinity: bool,
    /// A finite value that is infinite in float32.
    pub(crate) overflow: bool,
    /// A value that is not zero and is not a normal number in float32.
    pub(crate) vanished: bool,
}

impl Found {
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            nan: self.nan || other.nan,
            infinity: self.infinity || other.infinity,
            overflow: self.overflow || other.overflow,
            vanished: self.vanished || other.vanished,
        }
    }
}

/// Staging memory that one thread fills.
struct Part<'a>(WriteOnly<'a, [u8]>);

// SAFETY: like `&mut [u8]`, it is the only way to its bytes, and bytes may be written from any thread. (wgpu says the same of sized elements.)
#[expect(unsafe_code, reason = "wgpu implements `Send` for sized elements only")]
unsafe impl Send for Part<'_> {}

/// Values that one thread handles at a time: they stay in its first cache between the look and the copy.
const RUN: usize = 4096;
/// Values below which a second thread costs more than it gives.
const SHARE: usize = 16 * RUN;

/// Copy the rows of `view` into staging as float32, each row padded with zeros to `ld` values.
pub(crate) fn fill_rows<T: Source>(view: MatrixView<'_, T>, ld: usize, mut to: WriteOnly<'_, [u8]>) -> Found {
    if view.n_rows() == 0 || ld == 0 {
        return Found::default();
    }
    let rows_per_share = (SHARE / ld).max(1);
    let mut shares = Vec::with_capacity(view.n_rows().div_ceil(rows_per_share));
    for start in (0..view.n_rows()).step_by(rows_per_share) {
        let rows = view.rows(start..(start + rows_per_share).min(view.n_rows()));
        if let Some(part) = to.split_off(..rows.n_rows() * ld * 4) {
            shares.push((rows, Part(part)));
        }
    }
    let found = Mutex::new(Found::default());
    let work = view.n_rows() * ld;
    for_each_chunk(&mut shares, 1, work, |_, shares| {
        for (rows, part) in shares {
            let seen = fill_share(rows, ld, part);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            *found = found.or(seen);
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn fill_share<T: Source>(rows: &MatrixView<'_, T>, ld: usize, Part(to): &mut Part<'_>) -> Found {
    let mut found = Found::default();
    let mut scratch = Vec::new();
    if ld == rows.n_cols()
        && let Some(values) = rows.as_slice()
    {
        for (at, run) in (0..).step_by(RUN).zip(values.chunks(RUN)) {
            let (seen, floats) = T::floats(run, &mut scratch);
            found = found.or(seen);
            stream(floats, to.slice(4 * at..4 * (at + run.len())));
        }
        return found;
    }
    let (mut row, mut padded) = (Vec::with_capacity(rows.n_cols()), vec![0.0; ld]);
    for i in 0..rows.n_rows() {
        let (seen, floats) = T::floats(rows.rows(i..i + 1).packed(&mut row), &mut scratch);
        found = found.or(seen);
        padded[..floats.len()].copy_from_slice(floats);
        stream(&padded, to.slice(4 * i * ld..4 * (i + 1) * ld));
    }
    found
}

/// Copy past the caches: nobody reads staging memory but the device, and a plain store would read each line first.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "streaming stores take a pointer")]
fn stream(from: &[f32], mut to: WriteOnly<'_, [u8]>) {
    use std::arch::x86_64::{_mm_loadu_ps, _mm_sfence, _mm_stream_ps};
    const LANES: usize = 4;
    let whole = from.len() / LANES * LANES;
    let start: *mut f32 = to.as_raw_element_ptr().as_ptr().cast();
    if to.len() != 4 * from.len() || !start.addr().is_multiple_of(4 * LANES) {
        to.copy_from_slice(bytemuck::cast_slice(from));
        return;
    }
    for at in (0..whole).step_by(LANES) {
        // SAFETY: `at + LANES <= from.len()`, `to` is as long and, as looked at above, aligned; SSE is part of x86-64.
        unsafe { _mm_stream_ps(start.add(at), _mm_loadu_ps(from.as_ptr().add(at))) };
    }
    to.slice(4 * whole..)
        .copy_from_slice(bytemuck::cast_slice(&from[whole..]));
    // SAFETY: SSE is part of x86-64.
    unsafe { _mm_sfence() };
}

#[cfg(not(target_arch = "x86_64"))]
fn stream(from: &[f32], mut to: WriteOnly<'_, [u8]>) {
    to.copy_from_slice(bytemuck::cast_slice(from));
}

/// Copy rows of `ld` float32 values out of staging into `out`, dropping the padding.
pub(crate) fn collect_rows<T: Sink>(from: &[f32], ld: usize, out: &mut MatrixViewMut<'_, T>) {
    let n_cols = out.n_cols();
    let rows_per_share = (SHARE / ld.max(1)).max(1);
    for_each_chunk_apart(out.values(), rows_per_share * n_cols, from.len(), |share, to| {
        let start = share * rows_per_share * ld;
        let from = &from[start..start + to.len() / n_cols * ld];
        if ld == n_cols {
            T::store(from, to);
        } else {
            from.chunks_exact(ld)
                .zip(to.chunks_exact_mut(n_cols))
                .for_each(|(from, to)| T::store(&from[..n_cols], to));
        }
    });
}

/// Copy rows of any element type.
pub(crate) fn fill_host_rows(host: HostMatrix<'_>, ld: usize, to: WriteOnly<'_, [u8]>) -> Found {
    match host {
        HostMatrix::F32(view) => fill_rows(view, ld, to),
        HostMatrix::F64(view) => fill_rows(view, ld, to),
        HostMatrix::Cast(view) => fill_cast_rows(&view, ld, to),
    }
}

fn fill_cast_rows(view: &CastMatrix<'_>, ld: usize, to: WriteOnly<'_, [u8]>) -> Found {
    struct Fill<'t>(usize, WriteOnly<'t, [u8]>);
    impl Visitor for Fill<'_> {
        type Output = Found;
        fn visit<T: Cast>(self, view: MatrixView<'_, T>) -> Found {
            fill_rows(view, self.0, self.1)
        }
    }
    view.visit(Fill(ld, to))
}

/// A host element that can pass to the device as float32.
pub(crate) trait Source: Copy + Send + Sync {
    /// The values as float32, and what was among them.
    fn floats<'s>(values: &'s [Self], scratch: &'s mut Vec<f32>) -> (Found, &'s [f32]);
}

/// A host element that float32 values can come back as.
pub(crate) trait Sink: Real {
    /// Float32 values as these.
    fn store(from: &[f32], to: &mut [Self]);
}

const EXPONENT: u32 = 0x7f80_0000;
const LEAST_NORMAL: u32 = 0x0080_0000;

impl Source for f32 {
    fn floats<'s>(values: &'s [Self], _: &'s mut Vec<f32>) -> (Found, &'s [f32]) {
        // Without branches, so that it runs at the speed of the copy.
        let (mut nan, mut infinity, mut vanished) = (0_u32, 0_u32, 0_u32);
        for value in values {
            let bits = value.to_bits() & 0x7fff_ffff;
            nan |= u32::from(bits > EXPONENT);
            infinity |= u32::from(bits == EXPONENT);
            vanished |= u32::from(bits.wrapping_sub(1) < LEAST_NORMAL - 1);
        }
        (
            Found {
                nan: nan != 0,
                infinity: infinity != 0,
                overflow: false,
                vanished: vanished != 0,
            },
            values,
        )
    }
}

impl Sink for f32 {
    fn store(from: &[f32], to: &mut [Self]) {
        to.copy_from_slice(from);
    }
}

impl<T: Cast> Source for T {
    fn floats<'s>(values: &'s [Self], scratch: &'s mut Vec<f32>) -> (Found, &'s [f32]) {
        let mut found = Found::default();
        scratch.clear();
        scratch.extend(values.iter().map(|value| value.widened() as f32));
        for value in &*scratch {
            // No number of these types is too large or too small for float32.
            found.nan |= value.is_nan();
            found.infinity |= value.is_infinite();
        }
        (found, scratch)
    }
}

impl Source for f64 {
    fn floats<'s>(values: &'s [Self], scratch: &'s mut Vec<f32>) -> (Found, &'s [f32]) {
        let mut found = Found::default();
        scratch.clear();
        scratch.extend(values.iter().map(|&value| value as f32));
        for (&value, &float) in values.iter().zip(&*scratch) {
            found.nan |= value.is_nan();
            found.infinity |= value.is_infinite();
            found.overflow |= float.is_infinite() && value.is_finite();
            found.vanished |= value != 0.0 && float.abs() < f32::MIN_POSITIVE;
        }
        (found, scratch)
    }
}

impl Sink for f64 {
    fn store(from: &[f32], to: &mut [Self]) {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = f64::from(from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::staged_bytes;

    const NOTHING: Found = Found {
        nan: false,
        infinity: false,
        overflow: false,
        vanished: false,
    };
    const NAN: Found = Found { nan: true, ..NOTHING };
    const INFINITY: Found = Found {
        infinity: true,
        ..NOTHING
    };
    const OVERFLOW: Found = Found {
        overflow: true,
        ..NOTHING
    };
    const VANISHED: Found = Found {
        vanished: true,
        ..NOTHING
    };

    /// What a copy of `view` in rows of `ld` gives, the first byte being `skipped` floats from an aligned one.
    fn copied<T: Source>(view: MatrixView<'_, T>, ld: usize, skipped: usize) -> (Found, Vec<f32>) {
        let len = view.n_rows() * ld;
        let mut memory = vec![f32::NAN; len + 8];
        // The start of a vector's own memory is aligned as its allocator likes: the first multiple of 16 bytes is looked for.
        let start = memory.as_ptr().align_offset(16) + skipped;
        let found = fill_rows(
            view,
            ld,
            staged_bytes(bytemuck::cast_slice_mut(&mut memory[start..start + len])),
        );
        let beside = memory[..start].iter().chain(&memory[start + len..]);
        assert!(beside.copied().all(f32::is_nan), "it wrote beside its memory");
        (found, memory[start..start + len].to_vec())
    }

    /// Each value is found, alone, at every place of rows of every length.
    fn is_found<T: Source + Real>(cases: &[(T, Found)]) {
        for len in 1..=37 {
            for (case, &(value, expected)) in cases.iter().enumerate() {
                for place in 0..len {
                    let mut values = vec![T::from_f64(1.5); len];
                    values[place] = value;
                    let view = MatrixView::new(&values, 1, len).expect("a row");
                    let (found, floats) = copied(view, len, (place + case) % 4);
                    let value: f64 = value.into();
                    assert_eq!(found, expected, "{value:e} at {place} of {len}");
                    assert_eq!(
                        floats[place].to_bits(),
                        (value as f32).to_bits(),
                        "{value:e} at {place} of {len}"
                    );
                    let others = floats.iter().enumerate().filter(|(at, _)| *at != place);
                    assert!(
                        others.into_iter().all(|(_, float)| *float == 1.5),
                        "{value:e} at {place} of {len}"
                    );
                }
            }
        }
    }

    #[test]
    fn float32_values_are_found_in_every_lane_and_tail() {
        is_found(&[
            (f32::NAN, NAN),
            (-f32::NAN, NAN),
            (f32::INFINITY, INFINITY),
            (f32::NEG_INFINITY, INFINITY),
            (f32::from_bits(1), VANISHED),
            (-f32::from_bits(0x007f_ffff), VANISHED),
            (f32::MIN_POSITIVE, NOTHING),
            (-f32::MIN_POSITIVE, NOTHING),
            (0.0, NOTHING),
            (-0.0, NOTHING),
            (f32::MAX, NOTHING),
            (f32::MIN, NOTHING),
        ]);
    }

    #[test]
    fn float64_values_are_found_in_every_lane_and_tail() {
        let (least, greatest) = (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
        is_found(&[
            (f64::NAN, NAN),
            (f64::INFINITY, INFINITY),
            (f64::NEG_INFINITY, INFINITY),
            (f64::MAX, OVERFLOW),
            (-1e39, OVERFLOW),
            // Halfway to the next number: rounded up.
            (greatest + 103.0_f64.exp2(), OVERFLOW),
            (greatest + 102.0_f64.exp2(), NOTHING),
            (1e-39, VANISHED),
            (-1e-300, VANISHED),
            (f64::from_bits(1), VANISHED),
            (least * (1.0 - 1e-3), VANISHED),
            (least * (1.0 - 1e-12), NOTHING),
            (-least, NOTHING),
            (-0.0, NOTHING),
        ]);
    }

    /// Each value comes as `NumPy` casts it to float64 and that to float32, rows of any length.
    fn is_cast<T: Cast>(matrix: fn(MatrixView<'static, T>) -> CastMatrix<'static>, cases: &[(T, f64, Found)]) {
        for len in [1, 3, 8, 17] {
            for &(value, expected, seen) in cases {
                let values = Vec::leak(vec![value; len]);
                let view = matrix(MatrixView::new(values, 1, len).expect("a row"));
                let mut memory = vec![f32::NAN; len];
                let found = fill_host_rows(
                    HostMatrix::Cast(view),
                    len,
                    staged_bytes(bytemuck::cast_slice_mut(&mut memory)),
                );
                assert_eq!(found, seen, "{expected}");
                let bits = (expected as f32).to_bits();
                assert!(
                    memory.iter().all(|float| float.to_bits() == bits),
                    "{expected}: {memory:?}"
                );
                assert_eq!(view.get(0, len - 1).to_bits(), expected.to_bits());
                assert_eq!(view.converted::<f64>(), vec![expected; len], "{expected}");
            }
        }
    }

    #[test]
    fn other_types_are_cast_on_the_way() {
        use half::f16;
        is_cast(CastMatrix::I8, &[(-128, -128.0, NOTHING), (127, 127.0, NOTHING)]);
        is_cast(CastMatrix::U8, &[(255, 255.0, NOTHING), (0, 0.0, NOTHING)]);
        is_cast(CastMatrix::I16, &[(-32768, -32768.0, NOTHING)]);
        is_cast(CastMatrix::U16, &[(65535, 65535.0, NOTHING)]);
        is_cast(
            CastMatrix::I32,
            &[
                (i32::MIN, -2_147_483_648.0, NOTHING),
                (16_777_217, 16_777_217.0, NOTHING),
            ],
        );
        is_cast(CastMatrix::U32, &[(u32::MAX, 4_294_967_295.0, NOTHING)]);
        // The first whole number that float64 has not is rounded to even.
        is_cast(
            CastMatrix::I64,
            &[(9_007_199_254_740_993, 9_007_199_254_740_992.0, NOTHING)],
        );
        is_cast(CastMatrix::U64, &[(u64::MAX, 18_446_744_073_709_551_616.0, NOTHING)]);
        is_cast(CastMatrix::Bool, &[(true, 1.0, NOTHING), (false, 0.0, NOTHING)]);
        is_cast(
            CastMatrix::F16,
            &[
                (f16::from_f64(0.1), 0.099_975_585_937_5, NOTHING),
                (f16::from_bits(1), 5.960_464_477_539_063e-8, NOTHING),
                (f16::NEG_INFINITY, f64::NEG_INFINITY, INFINITY),
                (f16::MAX, 65504.0, NOTHING),
            ],
        );
        let nan = [f16::NAN; 5];
        let view = CastMatrix::F16(MatrixView::new(&nan, 1, 5).expect("a row"));
        let mut memory = [0.0_f32; 8];
        let found = fill_host_rows(
            HostMatrix::Cast(view),
            8,
            staged_bytes(bytemuck::cast_slice_mut(&mut memory)),
        );
        assert_eq!(found, NAN);
        assert!(memory[..5].iter().all(|value| value.is_nan()) && memory[5..] == [0.0; 3]);
    }

    #[test]
    fn findings_add_up() {
        let all = NAN.or(INFINITY).or(OVERFLOW).or(VANISHED);
        assert_eq!(
            all,
            Found {
                nan: true,
                infinity: true,
                overflow: true,
                vanished: true
            }
        );
        let values = [f64::NAN, f64::INFINITY, 1e39, 1e-39];
        assert_eq!(copied(MatrixView::new(&values, 2, 2).expect("two rows"), 2, 0).0, all);
        assert_eq!(copied(MatrixView::new(&values, 4, 1).expect("four rows"), 4, 0).0, all);
        assert_eq!(
            copied(MatrixView::new(&values[..0], 0, 4).expect("no rows"), 4, 0).0,
            NOTHING
        );
    }

    #[test]
    fn rows_are_padded_with_zeros_however_they_lie() {
        let values: Vec<f64> = (0..210).map(f64::from).collect();
        for (n_cols, ld) in [(5, 8), (6, 8), (7, 8), (7, 7), (4, 4), (1, 1)] {
            for (offset, strides) in [(0, [n_cols as isize, 1]), (0, [1, 13]), (200, [-9, -1]), (3, [9, 1])] {
                let view = MatrixView::strided(&values, offset, [13, n_cols], strides).expect("it is within reach");
                let (found, floats) = copied(view, ld, 0);
                assert_eq!(found, NOTHING);
                for (row, floats) in floats.chunks(ld).enumerate() {
                    let expected = (0..ld).map(|col| if col < n_cols { view.get(row, col) as f32 } else { 0.0 });
                    assert!(
                        floats.iter().copied().eq(expected),
                        "row {row} of {n_cols} in {ld}, {strides:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn threads_copy_there_and_back_and_find_what_is_in_their_share() {
        for (n_cols, ld) in [(3, 3), (5, 8), (9000, 9000)] {
            let n_rows = 600_000 / ld;
            let mut values: Vec<f64> = (0..n_rows * n_cols).map(|at| (at % 9973) as f64).collect();
            let len = values.len();
            let (found, floats) = copied(MatrixView::new(&values, n_rows, n_cols).expect("whole rows"), ld, 0);
            assert_eq!(found, NOTHING);
            let mut back = vec![0.0; len];
            collect_rows(
                &floats,
                ld,
                &mut MatrixViewMut::new(&mut back, n_cols).expect("whole rows"),
            );
            assert_eq!(back, values, "{n_cols} in {ld}");
            for place in [0, len / 2, len - 1] {
                let kept = std::mem::replace(&mut values[place], f64::NAN);
                let view = MatrixView::new(&values, n_rows, n_cols).expect("whole rows");
                assert_eq!(copied(view, ld, 1).0, NAN, "{place} of {n_cols} in {ld}");
                values[place] = kept;
            }
        }
    }
}
