//! Round-trip time and retransmission timeout: RFC 6298, and the ticked clock of ns-2 (tcp/tcp.cc).

use super::config::Config;
use super::rules::Recovery;
use sojourn_engine::units::Time;

/// Estimate of the round-trip time.
enum Smoothing {
    /// No measurement yet.
    None,
    /// Smoothed round-trip time and its variation.
    Smoothed(Time, Time),
    /// As above in ticks, multiplied by 8 and by 4, as ns-2 keeps them (t_srtt_, t_rttvar_).
    Ticks(u64, u64),
}

/// The round-trip estimator of one end.
pub(crate) struct Rtt {
    estimate: Smoothing,
    /// Smoothed round-trip time, zero before the first measurement.
    smoothed: Time,
    /// Minimum round-trip time, zero before the first measurement.
    min: Time,
    /// Timeout without backoff.
    base: Time,
    /// How often the timeout has been doubled.
    backoff: u32,
}

impl Rtt {
    /// An estimator without a measurement.
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            estimate: Smoothing::None,
            smoothed: Time::ZERO,
            min: Time::ZERO,
            base: config.initial_rto,
            backoff: 0,
        }
    }

    /// Smoothed round-trip time, zero before the first measurement.
    pub(crate) fn smoothed(&self) -> Time {
        self.smoothed
    }

    /// Minimum round-trip time, zero before the first measurement.
    pub(crate) fn min(&self) -> Time {
        self.min
    }

    /// Measures the round trip of a segment sent once, at `sent_at`, and acknowledged now. This
    /// ends any backoff (Karn).
    pub(crate) fn measured(&mut self, sent_at: Time, now: Time, config: &Config) {
        let rtt = now.since(sent_at);
        self.min = if self.min == Time::ZERO { rtt } else { self.min.min(rtt) };
        let rto = if config.rtt_tick == Time::ZERO {
            self.smooth(rtt, config)
        } else {
            config.rtt_tick.times(self.smooth_in_ticks(sent_at, now, config))
        };
        self.base = rto;
        self.backoff = 0;
    }

    /// Measures several segments of one acknowledgement: the first of them, which waited longest for it,
    /// counts for the timeout, and the last for the least round trip.
    pub(crate) fn measured_span(
        &mut self,
        (first, last): (Time, Time),
        now: Time,
        config: &Config,
    ) {
        self.measured(first, now, config);
        self.min = self.min.min(now.since(last));
    }

    /// Updates the estimate. Returns the timeout.
    fn smooth(&mut self, rtt: Time, config: &Config) -> Time {
        let (srtt, var) = match self.estimate {
            // RFC 6298 §2.3: beta = 1/4, alpha = 1/8.
            Smoothing::Smoothed(srtt, var) => {
                let error = rtt.since(srtt) + srtt.since(rtt);
                (srtt.scaled(0.875) + rtt.scaled(0.125), var.scaled(0.75) + error.scaled(0.25))
            }
            // RFC 6298 §2.2.
            _ => (rtt, rtt.scaled(0.5)),
        };
        self.estimate = Smoothing::Smoothed(srtt, var);
        self.smoothed = srtt;
        // RFC 6298 §2.3, with a clock granularity of 1 ms. Linux adds the whole minimum to the round trip.
        let least =
            if config.rules.least_timeout_above { config.min_rto } else { Time::from_ms(1) };
        srtt + var.times(4).max(least)
    }

    /// tcp.cc `rtt_update`, in whole numbers. Returns the timeout in ticks.
    fn smooth_in_ticks(&mut self, sent_at: Time, now: Time, config: &Config) -> u64 {
        let ticks = ticks_between(sent_at, now, config).max(1);
        let (srtt, var) = match self.estimate {
            Smoothing::Ticks(srtt, var) if srtt > 0 => {
                let old = srtt / 8;
                let mut step = ticks.abs_diff(old) as i64 - (var / 4) as i64;
                if config.recovery == Recovery::Linux && ticks < old && step > 0 {
                    step /= 8; // tcp-linux.cc `rtt_update`: no alarm when round trips get shorter
                }
                ((srtt + ticks).saturating_sub(old).max(1), var.saturating_add_signed(step).max(1))
            }
            Smoothing::Ticks(..) | Smoothing::None | Smoothing::Smoothed(..) => {
                (8 * ticks, 2 * ticks)
            }
        };
        self.estimate = Smoothing::Ticks(srtt, var);
        self.smoothed = config.rtt_tick.times(srtt).scaled(0.125);
        (8 * var + srtt) / 8
    }

    /// The current timeout.
    pub(crate) fn timeout(&self, config: &Config) -> Time {
        self.base.max(config.min_rto).times(1 << self.backoff.min(16)).min(config.max_rto)
    }

    /// Has the end been idle for longer than the timeout without its minimum? (tcp-full.cc
    /// `idle_restart`)
    pub(crate) fn has_idled(&self, last_sent: Time, now: Time, config: &Config) -> bool {
        let idle = if config.timestamps || config.rtt_tick == Time::ZERO {
            now.since(last_sent)
        } else {
            config.rtt_tick.times(ticks_between(last_sent, now, config))
        };
        idle > self.base
    }

    /// Doubles the timeout (RFC 6298 §5.5). After four doublings in a row ns-2 discards its
    /// smoothed value and adds it to the variation (tcp.cc `rtt_backoff`).
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
        if let Smoothing::Ticks(srtt, var) = &mut self.estimate
            && self.backoff >= 4
        {
            *var += *srtt / 8;
            *srtt = 0;
            self.smoothed = Time::ZERO;
        }
    }

    /// Resets the doubling of the timeout.
    pub(crate) fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    /// RFC 6298 §5.7: after a retransmitted SYN the data starts with a timeout of at least 3 s.
    pub(crate) fn restart_after_lost_syn(&mut self) {
        self.base = self.base.max(Time::from_s(3));
        self.backoff = 0;
    }
}

/// Ticks of ns-2's clock. With timestamps the time is rounded. Without, ticks of a clock are
/// counted, which in ns-2 has a random phase and here starts at zero.
fn ticks_between(sent_at: Time, now: Time, config: &Config) -> u64 {
    let tick = config.rtt_tick.ps();
    if config.timestamps {
        (now.since(sent_at).ps() + tick / 2) / tick
    } else {
        now.ps() / tick - sent_at.ps() / tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpOptions;
    use sojourn_engine::dialect::Dialect;

    #[test]
    fn first_and_second_measurement() {
        let config =
            TcpOptions { min_rto_s: Some(0.2), ..Default::default() }.resolve(Dialect::Rfc);
        let mut rtt = Rtt::new(&config);
        assert_eq!(rtt.timeout(&config), Time::from_s(1));
        // srtt 100, var 50: 100 + 200 = 300 ms.
        rtt.measured(Time::ZERO, Time::from_ms(100), &config);
        assert_eq!(rtt.timeout(&config), Time::from_ms(300));
        // srtt 0.875 * 100 + 0.125 * 180 = 110, var 0.75 * 50 + 0.25 * 80 = 57.5: 340 ms.
        rtt.measured(Time::from_ms(20), Time::from_ms(200), &config);
        assert_eq!(rtt.timeout(&config), Time::from_ms(340));
        rtt.back_off();
        assert_eq!(rtt.timeout(&config), Time::from_ms(680));
    }

    #[test]
    fn ns2_counts_in_whole_ticks_of_ten_ms() {
        let config = TcpOptions::default().resolve(Dialect::Ns2);
        let mut rtt = Rtt::new(&config);
        // From 5 to 109 ms the clock ticks ten times: 8 * 10 and 2 * 10, timeout 20 + 80/8 = 30 ticks.
        rtt.measured(Time::from_ms(5), Time::from_ms(109), &config);
        assert_eq!(rtt.smoothed(), Time::from_ms(100));
        assert_eq!(rtt.timeout(&config), Time::from_ms(300));
        // From 9 to 131 ms 13 times: 80 + 3 = 83, 20 + 3 - 5 = 18, timeout 18 + 10 = 28 ticks.
        rtt.measured(Time::from_ms(9), Time::from_ms(131), &config);
        assert_eq!(rtt.smoothed(), Time::from_us(103_750));
        assert_eq!(rtt.timeout(&config), Time::from_ms(280));
        // No tick counts for one: 83 + 1 - 10 = 74, 18 + 9 - 4 = 23, timeout 23 + 9 = 32 ticks.
        rtt.measured(Time::from_ms(1), Time::from_ms(2), &config);
        assert_eq!(rtt.timeout(&config), Time::from_ms(320));
        // After four timeouts the next measurement counts as the first.
        (0..4).for_each(|_| rtt.back_off());
        assert_eq!(rtt.timeout(&config), Time::from_ms(16 * 320));
        rtt.measured(Time::ZERO, Time::from_ms(50), &config);
        assert_eq!(rtt.smoothed(), Time::from_ms(50));
    }
}
