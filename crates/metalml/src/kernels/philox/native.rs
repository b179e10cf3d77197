//! The generator, and what is made of its words.

use super::Stream;
use crate::threads::for_each_chunk;

/// Numbers of a task.
const TASK_LEN: usize = 1 << 14;

/// One block: Salmon et al. (2011), section 3.3.
pub(super) fn block(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let product = |a: u32, b: u32| {
        let wide = u64::from(a) * u64::from(b);
        ((wide >> 32) as u32, wide as u32)
    };
    let (mut words, mut key) = (counter, key);
    for _ in 0..10 {
        let (p_hi, p_lo) = product(0xd251_1f53, words[0]);
        let (q_hi, q_lo) = product(0xcd9e_8d57, words[2]);
        words = [q_hi ^ words[1] ^ key[0], q_lo, p_hi ^ words[3] ^ key[1], p_lo];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    words
}

fn key(stream: Stream) -> [u32; 2] {
    [stream.seed as u32, (stream.seed >> 32) as u32]
}

/// Words of a stream, in order.
pub(super) fn bits(stream: Stream, len: usize) -> Vec<u32> {
    let mut words = vec![0; len];
    for_each_chunk(&mut words, TASK_LEN, 4 * len, |task, words| {
        for (at, words) in words.chunks_mut(4).enumerate() {
            let number = (task * TASK_LEN / 4 + at) as u32;
            let found = block([number, 0, stream.number, 0], key(stream));
            words.copy_from_slice(&found[..words.len()]);
        }
    });
    words
}

/// A number in [0, 1).
pub(super) fn unit(word: u32) -> f64 {
    f64::from(word >> 8) / f64::from(1 << 24)
}

/// Normal numbers, two of each two words.
pub(super) fn normal(stream: Stream, len: usize) -> Vec<f64> {
    let mut words = bits(stream, len.next_multiple_of(2));
    let mut normal = vec![0.0; len];
    for (pair, out) in words.chunks_exact_mut(2).zip(normal.chunks_mut(2)) {
        let radius = (-2.0 * (f64::from((pair[0] >> 8) + 1) / f64::from(1 << 24)).ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * unit(pair[1])).sin_cos();
        out.iter_mut()
            .zip([radius * cosine, radius * sine])
            .for_each(|(out, value)| *out = value);
    }
    normal
}

/// Whole numbers below `bound`.
pub(super) fn below(stream: Stream, bound: u32, len: usize) -> Vec<u32> {
    let refused = bound.wrapping_neg() % bound;
    let draw = |number: u32| {
        let words = (0..64).flat_map(|attempt| block([number, attempt, stream.number, 0], key(stream)));
        let mut products = words.map(|word| u64::from(word) * u64::from(bound));
        products
            .find(|&product| product as u32 >= refused)
            .map_or(0, |product| (product >> 32) as u32)
    };
    let mut found = vec![0; len];
    for_each_chunk(&mut found, TASK_LEN, 16 * len, |task, found| {
        for (at, found) in found.iter_mut().enumerate() {
            *found = draw((task * TASK_LEN + at) as u32);
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors that the authors publish with the generator (`kat_vectors` of Random123).
    #[test]
    fn blocks_are_those_of_its_authors() {
        assert_eq!(
            block([0; 4], [0; 2]),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        let ones = u32::MAX;
        assert_eq!(
            block([ones; 4], [ones; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        let counter = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        let key = [0xa409_3822, 0x299f_31d0];
        assert_eq!(
            block(counter, key),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn numbers_are_spread_as_they_should_be() {
        const LEN: usize = 40_000;
        let stream = Stream { seed: 7, number: 3 };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let normal = normal(stream, LEN);
        let squares: Vec<f64> = normal.iter().map(|value| value * value).collect();
        // Five standard errors.
        assert!(mean(&normal).abs() < 5.0 / (LEN as f64).sqrt());
        assert!((mean(&squares) - 1.0).abs() < 5.0 * (2.0 / LEN as f64).sqrt());
        let mut counts = [0.0; 7];
        for value in below(stream, 7, LEN) {
            counts[value as usize] += 1.0;
        }
        let expected = LEN as f64 / 7.0;
        assert!(
            counts
                .iter()
                .all(|count| (count - expected).abs() < 5.0 * expected.sqrt())
        );
    }
}
