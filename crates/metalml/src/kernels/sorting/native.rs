//! The same by one thread: digits of eleven bits, and no pass over a digit that all keys share.

use crate::engine::Real;

const DIGIT_BITS: u32 = 11;

/// The sum of what stands before each value.
pub(super) fn scan(values: &[u32]) -> Vec<u32> {
    let running = values.iter().scan(0_u32, |before, value| {
        let here = *before;
        *before = before.wrapping_add(*value);
        Some(here)
    });
    running.collect()
}

/// How often each number below `n_bins` occurs.
pub(super) fn histogram(values: &[u32], n_bins: usize) -> Vec<u32> {
    let mut counts = vec![0; n_bins];
    for &value in values {
        if let Some(count) = counts.get_mut(value as usize) {
            *count += 1;
        }
    }
    counts
}

/// The numbers of the values in ascending order.
pub(super) fn argsort<T: Real>(values: &[T]) -> Vec<u32> {
    let bits = 8 * size_of::<T>() as u32;
    let mut entries: Vec<(u64, u32)> = values.iter().zip(0..).map(|(&value, at)| (key(value), at)).collect();
    let mut other = vec![(0, 0); entries.len()];
    for low in (0..bits).step_by(DIGIT_BITS as usize) {
        let digit = |key: u64| (key >> low) as usize & ((1 << DIGIT_BITS) - 1);
        let mut starts = vec![0_usize; 1 << DIGIT_BITS];
        for &(key, _) in &entries {
            starts[digit(key)] += 1;
        }
        if starts.contains(&entries.len()) {
            continue;
        }
        let mut before = 0;
        for start in &mut starts {
            before += std::mem::replace(start, before);
        }
        for &(key, at) in &entries {
            let place = &mut starts[digit(key)];
            other[*place] = (key, at);
            *place += 1;
        }
        std::mem::swap(&mut entries, &mut other);
    }
    entries.into_iter().map(|(_, at)| at).collect()
}

/// The bits of a number in the order of numbers: f32 in 32 bits, f64 in 64.
fn key<T: Real>(value: T) -> u64 {
    if value.nan() {
        return if size_of::<T>() == size_of::<f32>() {
            u32::MAX.into()
        } else {
            u64::MAX
        };
    }
    let wide: f64 = value.into();
    // -0 is 0.
    let wide = wide + 0.0;
    if size_of::<T>() == size_of::<f32>() {
        let bits = (wide as f32).to_bits();
        let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
        return ordered.into();
    }
    let bits = wide.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
