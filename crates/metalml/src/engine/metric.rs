//! What a distance is.

/// A distance between two rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// `Σ (a - b)²`.
    SquaredEuclidean,
    /// Its root.
    Euclidean,
    /// `Σ |a - b|`.
    Manhattan,
    /// `max |a - b|`.
    Chebyshev,
    /// `(Σ |a - b|ᵖ)^(1/p)`, p positive.
    Minkowski(f64),
    /// `1 - a·b / (|a| |b|)`; 1 if a row is zero. Squares of the values must be in the range of the element type.
    Cosine,
}

impl Metric {
    /// The number that the kernels know it by.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::SquaredEuclidean => 0,
            Self::Euclidean => 1,
            Self::Manhattan => 2,
            Self::Chebyshev => 3,
            Self::Minkowski(_) => 4,
            Self::Cosine => 5,
        }
    }

    /// `p` of Minkowski.
    pub(crate) fn power(self) -> f64 {
        if let Self::Minkowski(power) = self { power } else { 2.0 }
    }

    /// The distance for a sum as `native_distance` and the kernels make it.
    pub(crate) fn distance_of(self, sum: f64) -> f64 {
        match self {
            Self::SquaredEuclidean | Self::Manhattan | Self::Chebyshev => sum,
            Self::Euclidean => sum.sqrt(),
            Self::Minkowski(power) => sum.powf(1.0 / power),
            Self::Cosine => 0.5 * sum,
        }
    }

    /// The sum for a distance.
    pub(crate) fn sum_of(self, distance: f64) -> f64 {
        match self {
            Self::SquaredEuclidean | Self::Manhattan | Self::Chebyshev => distance,
            Self::Euclidean => distance * distance,
            Self::Minkowski(power) => distance.powf(power),
            Self::Cosine => 2.0 * distance,
        }
    }

    /// How many operations an element of a sum costs, roughly: for cutting work by time.
    pub(crate) fn operations(self) -> u64 {
        if matches!(self, Self::Minkowski(_)) { 16 } else { 2 }
    }
}
