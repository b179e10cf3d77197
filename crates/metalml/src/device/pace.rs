//! How fast kernels have been seen to run on a device, for cutting work by time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Kernel, Kind};

/// Bytes a second, by kernel. What a kernel says it moves stands for its time, products included, so a rate holds for that kernel alone.
#[derive(Debug)]
pub(crate) struct Pace {
    sure: u64,
    seen: Mutex<HashMap<&'static str, u64>>,
}

/// How long a submission should take at most: watchdogs count command buffers, and displays share the device.
const SHARE: Duration = Duration::from_millis(100);
/// A kernel is counted on for this part of the rate at which it was seen: other shapes may be slower.
const CAUTION: u64 = 4;
/// Less says nothing of the kernel.
const LEAST_SEEN: Duration = Duration::from_millis(1);

impl Pace {
    pub(crate) fn new(kind: Kind) -> Self {
        let sure = match kind {
            Kind::Discrete => 100 << 30,
            Kind::Integrated | Kind::Virtual => 20 << 30,
            Kind::Software => 1 << 30,
        };
        Self {
            sure,
            seen: Mutex::default(),
        }
    }

    fn rate(&self, kernel: &Kernel) -> u64 {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(kernel.name)
            .map_or(self.sure, |&seen| self.sure.max(seen / CAUTION))
    }

    /// The bytes of one kernel that a submission may hold.
    pub(crate) fn share(&self, kernel: &Kernel) -> u64 {
        (u128::from(self.rate(kernel)) * SHARE.as_millis() / 1000) as u64
    }

    /// How long a kernel is counted on to take.
    pub(crate) fn predict(&self, kernel: &Kernel, bytes: u64) -> Duration {
        Duration::from_secs_f64(bytes as f64 / self.rate(kernel) as f64)
    }

    /// Whether one more dispatch of this length would make a submission too long.
    pub(crate) fn is_full(predicted: Duration, more: Duration) -> bool {
        !predicted.is_zero() && predicted + more > SHARE
    }

    /// Remembers what a stretch of work took. The host saw its end late, if at all, so the rate is never too high.
    pub(crate) fn learn(&self, stretch: &Stretch) {
        let (Some(kernel), Some(started)) = (stretch.kernel, stretch.started) else {
            return;
        };
        let took = started.elapsed();
        if stretch.mixed || took < LEAST_SEEN {
            return;
        }
        let rate = (stretch.bytes as f64 / took.as_secs_f64()) as u64;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen.entry(kernel).or_default();
        *known = rate.max(*known);
    }
}

/// Work between two waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stretch {
    started: Option<Instant>,
    kernel: Option<&'static str>,
    mixed: bool,
    bytes: u64,
}

impl Stretch {
    pub(crate) fn add(&mut self, kernel: &Kernel, bytes: u64) {
        self.mixed |= self.kernel.is_some_and(|known| known != kernel.name);
        self.kernel = Some(kernel.name);
        self.bytes += bytes;
    }

    pub(crate) fn start(&mut self) {
        self.started.get_or_insert_with(Instant::now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::nonce;

    const ONE: Kernel = nonce::KERNEL;
    const OTHER: Kernel = Kernel { name: "other", ..ONE };

    #[test]
    fn a_kernel_is_given_more_once_it_was_seen_to_be_fast() {
        let pace = Pace::new(Kind::Discrete);
        let [one, other] = [&ONE, &OTHER];
        let sure = pace.share(one);
        let started = Instant::now().checked_sub(Duration::from_millis(10));
        let mut stretch = Stretch {
            started,
            ..Stretch::default()
        };
        stretch.add(one, 100 << 30);
        pace.learn(&stretch);
        assert!(pace.share(one) > 10 * sure && pace.predict(one, 1 << 30) < Duration::from_millis(2));
        assert_eq!(pace.share(other), sure, "that says nothing of another");

        stretch.add(other, 100 << 30);
        pace.learn(&stretch);
        assert_eq!(pace.share(other), sure, "nor does a mixture");
    }

    #[test]
    fn a_slow_stretch_takes_nothing_away() {
        let pace = Pace::new(Kind::Integrated);
        let sure = pace.share(&ONE);
        let mut stretch = Stretch {
            started: Instant::now().checked_sub(Duration::from_secs(1)),
            ..Stretch::default()
        };
        stretch.add(&ONE, 1);
        pace.learn(&stretch);
        assert_eq!(pace.share(&ONE), sure);
    }
}
