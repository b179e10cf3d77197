//! Everything that can go wrong.

/// The result of everything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, with the facts a caller needs to act on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No device could be opened.
    #[error("{reason}")]
    NoDevice {
        /// What was looked for and what was found.
        reason: String,
    },
    /// The device stopped answering, or handed back stale memory.
    #[error("the GPU stopped answering during `{during}`\nhint: run the call again, it opens the device anew")]
    DeviceLost {
        /// The step that noticed it.
        during: &'static str,
    },
    /// The device has no room for an allocation.
    #[error("out of GPU memory: {wanted} bytes are wanted, {limit} are allowed")]
    OutOfMemory {
        /// Bytes asked for.
        wanted: u64,
        /// Bytes that may be in use.
        limit: u64,
    },
    /// Something is larger than the device can address.
    #[error("`{what}` has {len} elements, allowed are at most {max}")]
    TooLarge {
        /// Which thing.
        what: &'static str,
        /// Its length.
        len: u64,
        /// The greatest length allowed.
        max: u64,
    },
    /// Two shapes that must agree do not.
    #[error("`{what}` has {found} elements, expected {expected}")]
    Shape {
        /// Which thing.
        what: &'static str,
        /// The length wanted.
        expected: usize,
        /// The length given.
        found: usize,
    },
    /// A parameter outside its range.
    #[error("`{name}` is {value}, allowed is {allowed}")]
    InvalidParam {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range, in words.
        allowed: &'static str,
    },
    /// The input holds a NaN or an infinity where none may be.
    #[error("`{what}` holds NaN or infinity")]
    NonFinite {
        /// Which input: `x`, `y` or `sample_weight`.
        what: &'static str,
    },
    /// The data cannot be reduced in this precision; known only after the reduction.
    #[error("{reason}")]
    Unsuited {
        /// The numerical reason, with its number.
        reason: String,
    },
    /// A matrix that must be positive definite is not.
    #[error("the matrix is not positive definite (pivot {pivot})")]
    NotPositiveDefinite {
        /// The first pivot that is not positive.
        pivot: usize,
    },
    /// A defect of this library.
    #[error("internal error: {0}\nhint: this is a defect of metalml: report it with the call that led here")]
    Internal(String),
}

#[cfg(test)]
mod tests {
    use super::Error;

    /// The text of each; a variant more does not compile without its line here.
    fn text(error: &Error) -> &'static str {
        match error {
            Error::NoDevice { .. } => "no GPU; found: lavapipe (vulkan, software)",
            Error::DeviceLost { .. } => {
                "the GPU stopped answering during `download`\nhint: run the call again, it opens the device anew"
            }
            Error::OutOfMemory { .. } => "out of GPU memory: 300 bytes are wanted, 200 are allowed",
            Error::TooLarge { .. } => "`array` has 5000 elements, allowed are at most 4096",
            Error::Shape { .. } => "`y` has 3 elements, expected 4",
            Error::InvalidParam { .. } => "`alpha` is -1, allowed is positive and finite",
            Error::NonFinite { .. } => "`X` holds NaN or infinity",
            Error::Unsuited { .. } => "the coefficients overflow",
            Error::NotPositiveDefinite { .. } => "the matrix is not positive definite (pivot 2)",
            Error::Internal(_) => {
                "internal error: a delivery was lost\nhint: this is a defect of metalml: report it with the call that led here"
            }
        }
    }

    #[test]
    fn every_error_says_its_facts() {
        let reason = |text: &str| text.to_owned();
        let all = [
            Error::NoDevice {
                reason: reason("no GPU; found: lavapipe (vulkan, software)"),
            },
            Error::DeviceLost { during: "download" },
            Error::OutOfMemory {
                wanted: 300,
                limit: 200,
            },
            Error::TooLarge {
                what: "array",
                len: 5000,
                max: 4096,
            },
            Error::Shape {
                what: "y",
                expected: 4,
                found: 3,
            },
            Error::InvalidParam {
                name: "alpha",
                value: -1.0,
                allowed: "positive and finite",
            },
            Error::NonFinite { what: "X" },
            Error::Unsuited {
                reason: reason("the coefficients overflow"),
            },
            Error::NotPositiveDefinite { pivot: 2 },
            Error::Internal(reason("a delivery was lost")),
        ];
        let mut texts: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert!(texts.iter().eq(all.iter().map(text)), "{texts:#?}");
        texts.dedup();
        assert_eq!(texts.len(), 10, "each variant is here once");
    }
}
