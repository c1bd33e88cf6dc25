//! Round-trip time and retransmission timeout: RFC 6298, and the ticked clock of ns-2 (tcp/tcp.cc).

use super::options::Config;
use crate::units::Time;

/// The estimator of one connection end.
pub struct Rtt {
    /// Smoothed round-trip time and its variation; `None` before the first measurement.
    smoothed: Option<(Time, Time)>,
    /// Least round-trip time measured, zero before the first.
    min: Time,
    /// Timeout without back-off.
    base: Time,
    /// Times the timeout has been doubled.
    backoff: u32,
}

impl Rtt {
    /// An estimator without a measurement.
    pub fn new(config: &Config) -> Self {
        Self { smoothed: None, min: Time::ZERO, base: config.initial_rto, backoff: 0 }
    }

    /// Smoothed round-trip time, zero before the first measurement.
    pub fn smoothed(&self) -> Time {
        self.smoothed.map_or(Time::ZERO, |(srtt, _)| srtt)
    }

    /// Least round-trip time, zero before the first measurement.
    pub fn min(&self) -> Time {
        self.min
    }

    /// Takes in a measurement and ends any back-off (Karn: it is of data sent once).
    pub fn measured(&mut self, rtt: Time, config: &Config) {
        self.min = if self.min == Time::ZERO { rtt } else { self.min.min(rtt) };
        let rtt = in_ticks(rtt, config.rtt_tick);
        let (srtt, var) = match self.smoothed {
            // RFC 6298 §2.2.
            None => (rtt, rtt.scaled(0.5)),
            // RFC 6298 §2.3: beta = 1/4, alpha = 1/8.
            Some((srtt, var)) => {
                let error = rtt.since(srtt) + srtt.since(rtt);
                (srtt.scaled(0.875) + rtt.scaled(0.125), var.scaled(0.75) + error.scaled(0.25))
            }
        };
        self.smoothed = Some((srtt, var));
        // RFC 6298 §2.3, with a clock granularity of 1 ms where there are no ticks.
        let granularity = config.rtt_tick.max(Time::from_ms(1));
        let rto = srtt + var.times(4).max(granularity);
        self.base = rto.clamp(config.min_rto, config.max_rto);
        self.backoff = 0;
    }

    /// The timeout now.
    pub fn timeout(&self, config: &Config) -> Time {
        self.base.times(1 << self.backoff.min(16)).min(config.max_rto)
    }

    /// Doubles the timeout (RFC 6298 §5.5).
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// The SYN was sent more than once: RFC 6298 §5.7 starts the data with at least 3 s.
    pub fn restart_after_lost_syn(&mut self) {
        self.base = self.base.max(Time::from_s(3));
        self.backoff = 0;
    }
}

/// To the nearest tick, and at least one.
fn in_ticks(rtt: Time, tick: Time) -> Time {
    if tick == Time::ZERO {
        return rtt;
    }
    let ticks = (rtt.ps() + tick.ps() / 2) / tick.ps();
    tick.times(ticks.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Dialect;
    use crate::tcp::TcpOptions;

    #[test]
    fn first_and_second_measurement() {
        let config =
            TcpOptions { min_rto_s: Some(0.2), ..Default::default() }.resolve(Dialect::Rfc);
        let mut rtt = Rtt::new(&config);
        assert_eq!(rtt.timeout(&config), Time::from_s(1));
        // srtt 100, var 50: 100 + 200 = 300 ms.
        rtt.measured(Time::from_ms(100), &config);
        assert_eq!(rtt.timeout(&config), Time::from_ms(300));
        // srtt 0.875 * 100 + 0.125 * 180 = 110, var 0.75 * 50 + 0.25 * 80 = 57.5: 340 ms.
        rtt.measured(Time::from_ms(180), &config);
        assert_eq!(rtt.timeout(&config), Time::from_ms(340));
        rtt.back_off();
        assert_eq!(rtt.timeout(&config), Time::from_ms(680));
    }

    #[test]
    fn ns2_counts_in_ticks_of_ten_ms() {
        let config = TcpOptions::default().resolve(Dialect::Ns2);
        let mut rtt = Rtt::new(&config);
        rtt.measured(Time::from_ms(104), &config);
        assert_eq!(rtt.smoothed(), Time::from_ms(100));
        rtt.measured(Time::from_us(10), &config);
        // One tick at least: 0.875 * 100 + 0.125 * 10 = 88.75.
        assert_eq!(rtt.smoothed(), Time::from_us(88_750));
    }
}
