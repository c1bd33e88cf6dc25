//! Round-trip time (RFC 9002 §5) and the probe timeout (RFC 9002 §6.2).

use sojourn_engine::units::Time;

/// RFC 9002 §6.2.2: the round trip before it was measured (kInitialRtt).
const INITIAL: Time = Time::from_ms(333);
/// RFC 9002 §6.1.2: the least time that a timer can tell (kGranularity).
const GRANULARITY: Time = Time::from_ms(1);
/// RFC 9002 §6.1.2: a packet may be later than the round trip by an eighth (kTimeThreshold).
const TIME_THRESHOLD: f64 = 9.0 / 8.0;
/// RFC 9002 §7.6.1: probe timeouts that make congestion persistent (kPersistentCongestionThreshold).
const PERSISTENT: u64 = 3;

/// The estimate of an end.
pub(super) struct Rtt {
    latest: Time,
    min: Time,
    smoothed: Time,
    var: Time,
    /// When the first round trip was measured.
    first_at: Option<Time>,
}

impl Rtt {
    /// Nothing measured.
    pub(super) fn new() -> Self {
        Self {
            latest: Time::ZERO,
            min: Time::ZERO,
            smoothed: INITIAL,
            var: INITIAL.scaled(0.5),
            first_at: None,
        }
    }

    /// Takes in a round trip of the largest packet that an acknowledgement is the first to tell of
    /// (RFC 9002 §5.3), of which the other end held it back for `ack_delay`.
    pub(super) fn measured(&mut self, now: Time, rtt: Time, ack_delay: Time) {
        self.latest = rtt;
        if self.first_at.is_none() {
            (self.min, self.smoothed, self.var) = (rtt, rtt, rtt.scaled(0.5));
            self.first_at = Some(now);
            return;
        }
        self.min = self.min.min(rtt);
        let adjusted = if rtt >= self.min + ack_delay { rtt.since(ack_delay) } else { rtt };
        // RFC 9002 A.7: the variation first, by the old mean, as RFC 6298 §2.3 has it.
        let error = adjusted.since(self.smoothed) + self.smoothed.since(adjusted);
        self.var = self.var.scaled(0.75) + error.scaled(0.25);
        self.smoothed = self.smoothed.scaled(0.875) + adjusted.scaled(0.125);
    }

    /// When the first round trip was measured.
    pub(super) fn first_at(&self) -> Option<Time> {
        self.first_at
    }

    /// The last one measured, zero before the first.
    pub(super) fn latest(&self) -> Time {
        self.latest
    }

    /// The least one, zero before the first.
    pub(super) fn min(&self) -> Time {
        self.min
    }

    /// The smoothed one, or what counts before the first is measured.
    pub(super) fn smoothed(&self) -> Time {
        self.smoothed
    }

    /// How late a packet may be before it is lost (RFC 9002 §6.1.2).
    pub(super) fn loss_delay(&self) -> Time {
        self.latest.max(self.smoothed).scaled(TIME_THRESHOLD).max(GRANULARITY)
    }

    /// The probe timeout without backoff (RFC 9002 §6.2.1).
    pub(super) fn probe(&self, max_ack_delay: Time) -> Time {
        self.smoothed + self.var.times(4).max(GRANULARITY) + max_ack_delay
    }

    /// When all is lost for longer than this, congestion is persistent (RFC 9002 §7.6.1).
    pub(super) fn persistent(&self, max_ack_delay: Time) -> Time {
        self.probe(max_ack_delay).times(PERSISTENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;

    #[test]
    fn before_a_measurement_a_probe_waits_for_three_initial_round_trips() {
        // 333 + 4 * 166.5.
        assert_eq!(Rtt::new().probe(Time::ZERO), MS(999));
    }

    #[test]
    fn the_delay_is_subtracted_unless_that_is_below_the_least() {
        let mut rtt = Rtt::new();
        rtt.measured(MS(100), MS(100), MS(20));
        assert_eq!((rtt.smoothed(), rtt.min(), rtt.probe(MS(25))), (MS(100), MS(100), MS(325)));
        // 148 - 20 = 128: error 28, var 0.75 * 50 + 0.25 * 28 = 44.5, smoothed 100 + 28/8 = 103.5.
        rtt.measured(MS(300), MS(148), MS(20));
        assert_eq!(rtt.smoothed(), Time::from_us(103_500));
        assert_eq!(rtt.probe(MS(25)), Time::from_us(103_500 + 178_000 + 25_000));
        // 110 is less than 100 + 20: error 6.5, var 33.375 + 1.625 = 35, smoothed 104.3125.
        rtt.measured(MS(400), MS(110), MS(20));
        assert_eq!(rtt.probe(Time::ZERO), Time::from_ps(104_312_500_000) + MS(140));
        assert_eq!(rtt.persistent(MS(25)), (rtt.probe(Time::ZERO) + MS(25)).times(3));
    }

    #[test]
    fn a_packet_is_late_after_nine_eighths_of_the_longer_round_trip() {
        let mut rtt = Rtt::new();
        rtt.measured(MS(1), MS(80), Time::ZERO);
        assert_eq!(rtt.loss_delay(), MS(90));
        rtt.measured(MS(2), MS(160), Time::ZERO);
        assert_eq!(rtt.loss_delay(), MS(180));
        let mut short = Rtt::new();
        short.measured(MS(1), Time::from_us(100), Time::ZERO);
        assert_eq!((short.loss_delay(), short.probe(Time::ZERO)), (MS(1), Time::from_us(1100)));
    }
}
