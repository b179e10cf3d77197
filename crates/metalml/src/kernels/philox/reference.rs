//! The numbers by the plain meaning: products of 64 bits, functions of f64.

use super::{Stream, native};

/// Word `at` of a stream.
pub(super) fn word(stream: Stream, at: usize) -> u32 {
    let key = [stream.seed as u32, (stream.seed >> 32) as u32];
    native::block([(at / 4) as u32, 0, stream.number, 0], key)[at % 4]
}

/// A normal number.
pub(super) fn normal(stream: Stream, at: usize) -> f64 {
    let first = at / 2 * 2;
    let [u, v] = [first, first + 1].map(|at| f64::from(word(stream, at) >> 8) / f64::from(1 << 24));
    let radius = (-2.0 * (u + 1.0 / f64::from(1 << 24)).ln()).sqrt();
    let angle = std::f64::consts::TAU * v;
    radius * if at.is_multiple_of(2) { angle.cos() } else { angle.sin() }
}

/// A whole number below `bound`: the first word that is not among those that some numbers have once more than others.
pub(super) fn below(stream: Stream, bound: u32, at: usize) -> u32 {
    let key = [stream.seed as u32, (stream.seed >> 32) as u32];
    let refused = (1_u64 << 32) % u64::from(bound);
    (0..u32::MAX)
        .flat_map(|attempt| native::block([at as u32, attempt, stream.number, 0], key))
        .map(|word| u64::from(word) * u64::from(bound))
        .find(|product| product % (1 << 32) >= refused)
        .map_or(0, |product| (product >> 32) as u32)
}
