//! Pacing (RFC 9002 §7.7): packets leave at somewhat more than the window per round trip, after a burst of
//! an initial window at most.

use sojourn_engine::units::Time;

/// RFC 9002 §7.7: N, times 4: 1.25 windows per round trip.
const GAIN_QUARTERS: u64 = 5;

/// The rate in bytes per second for a window in bytes.
pub(super) fn rate(window_bytes: u64, srtt: Time) -> u64 {
    let bytes = u128::from(window_bytes) * u128::from(GAIN_QUARTERS);
    let per_second = bytes * u128::from(Time::from_s(1).ps()) / 4;
    let rate = per_second.checked_div(u128::from(srtt.ps())).unwrap_or(u128::from(u64::MAX));
    u64::try_from(rate).unwrap_or(u64::MAX).max(1)
}

fn time_for(bytes: u64, bytes_per_s: u64) -> Time {
    let ps = u128::from(bytes) * u128::from(Time::from_s(1).ps()) / u128::from(bytes_per_s);
    Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX / 4))
}

/// When the next packet may leave.
#[derive(Default)]
pub(super) struct Pacer {
    due: Time,
}

impl Pacer {
    /// When that is.
    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// A packet leaves. A sender that was idle may make up for it with `burst` bytes at most.
    pub(super) fn sent(&mut self, now: Time, bytes: u64, burst: u64, bytes_per_s: u64) {
        let saved = time_for(burst.saturating_sub(bytes), bytes_per_s);
        self.due = self.due.max(now.since(saved)) + time_for(bytes, bytes_per_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;

    #[test]
    fn a_burst_leaves_and_then_a_packet_a_time() {
        // 20 000 B in 100 ms, a quarter more: 250 000 B/s, so 1000 B take 4 ms.
        assert_eq!(rate(20_000, MS(100)), 250_000);
        assert_eq!(rate(20_000, Time::ZERO), u64::MAX);
        let mut pacer = Pacer::default();
        let mut at = |now: Time| {
            pacer.sent(now, 1000, 10_000, 250_000);
            pacer.due()
        };
        let allowed = (0..20).take_while(|_| at(MS(500)) <= MS(500)).count() + 1;
        assert_eq!(allowed, 10);
        assert_eq!(at(MS(504)), MS(508));
        // After a long pause the burst is there again: the first of ten is at 9 * 4 ms before.
        assert_eq!(at(MS(900)), MS(900 - 36 + 4));
    }
}
