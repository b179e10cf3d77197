//! Between the caller's memory and staging buffers: all threads, and what the copy sees of the values on its way.

use std::sync::{Mutex, PoisonError};

use wgpu::WriteOnly;

use crate::engine::Real;
use crate::matrix::{MatrixView, MatrixViewMut};
use crate::threads::for_each_chunk;

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
pub(crate) fn collect_rows<T: Source>(from: &[f32], ld: usize, out: &mut MatrixViewMut<'_, T>) {
    let n_cols = out.n_cols();
    let rows_per_share = (SHARE / ld.max(1)).max(1);
    for_each_chunk(out.values(), rows_per_share * n_cols, from.len(), |share, to| {
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

/// A host element that can pass to the device and back as float32.
pub(crate) trait Source: Real {
    /// The values as float32, and what was among them.
    fn floats<'s>(values: &'s [Self], scratch: &'s mut Vec<f32>) -> (Found, &'s [f32]);
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

    fn store(from: &[f32], to: &mut [Self]) {
        to.copy_from_slice(from);
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

    fn store(from: &[f32], to: &mut [Self]) {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = f64::from(from));
    }
}
