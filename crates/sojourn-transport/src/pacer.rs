//! Pacing as Linux does it (6.18): the rate at which a window's segments leave, and when the next may.

use sojourn_engine::units::Time;

/// Segments that leave before anything is paced.
const FIRST: u64 = 10;
/// Percent of the window per round trip: while it doubles, and later.
const SLOW_START_PERCENT: u64 = 200;
const AVOIDANCE_PERCENT: u64 = 120;

/// The rate in bytes per second for a window and what is outstanding, in segments. From half of the
/// threshold on the end of slow start is near. Without a round trip there is no bound.
pub(crate) fn rate(cwnd: f64, ssthresh: f64, outstanding: u64, mss: u64, srtt: Time) -> u64 {
    let is_doubling = cwnd < (ssthresh / 2.0).floor();
    let percent = if is_doubling { SLOW_START_PERCENT } else { AVOIDANCE_PERCENT };
    let bytes = u128::from((cwnd as u64).max(outstanding)) * u128::from(mss * percent);
    let per_second = bytes * u128::from(Time::from_s(1).ps()) / 100;
    per_second
        .checked_div(u128::from(srtt.ps()))
        .map_or(u64::MAX, |rate| u64::try_from(rate).unwrap_or(u64::MAX))
}

/// When the next burst may leave.
#[derive(Default)]
pub(crate) struct Pacer {
    next: Time,
    sent: u64,
}

impl Pacer {
    /// When that is.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// A burst leaves. A sender that is late makes up for it with half of the burst's time at most.
    pub(crate) fn sent(&mut self, now: Time, segments: u64, mss: u64, bytes_per_s: u64) {
        self.sent += segments;
        let credit = now.since(self.next);
        self.next = self.next.max(now);
        if self.sent >= FIRST {
            let time = time_for(segments * mss, bytes_per_s);
            self.next += time - time.scaled(0.5).min(credit);
        }
    }
}

fn time_for(bytes: u64, bytes_per_s: u64) -> Time {
    let ps = u128::from(bytes) * u128::from(Time::from_s(1).ps()) / u128::from(bytes_per_s.max(1));
    Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;

    #[test]
    fn twice_the_window_in_slow_start_and_a_fifth_more_later() {
        // 10 * 1000 B in 100 ms are 100 000 B/s.
        for (ssthresh, want) in [(1e9, 200_000), (22.0, 200_000), (21.0, 120_000), (2.0, 120_000)] {
            assert_eq!(rate(10.0, ssthresh, 5, 1000, MS(100)), want);
        }
        assert_eq!(rate(10.0, 2.0, 20, 1000, MS(100)), 240_000);
        assert_eq!(rate(10.0, 2.0, 20, 1000, Time::ZERO), u64::MAX);
    }

    /// 2 * 1000 B at 1 MB/s take 2 ms. The first ten segments are not paced, but for the last.
    #[test]
    fn what_is_late_is_made_up_for_by_half() {
        let mut pacer = Pacer::default();
        let mut send = |at: Time| {
            pacer.sent(at, 2, 1000, 1_000_000);
            pacer.next()
        };
        assert!((0..4).all(|_| send(MS(10)) == MS(10)));
        assert_eq!(send(MS(10)), MS(12));
        assert_eq!(send(Time::from_us(12_300)), Time::from_us(12_300 + 2000 - 300));
        assert_eq!(send(MS(50)), MS(51));
    }
}
