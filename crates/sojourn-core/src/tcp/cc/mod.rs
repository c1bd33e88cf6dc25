//! Congestion control: how fast to send. One file per algorithm.
//!
//! The window is counted in segments, as a real number. An algorithm changes it at three events and
//! knows nothing of sequence numbers, timers or packets.

pub mod cubic;
mod cubic_linux;
mod hystart;
pub mod ledbat;
pub mod reno;

use enum_dispatch::enum_dispatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::Config;
use crate::units::Time;

pub use cubic::Cubic;
pub use cubic_linux::LinuxCubic;
pub use ledbat::Ledbat;
pub use reno::Reno;

/// The congestion window and the slow-start threshold, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Segments that may be under way.
    pub cwnd: f64,
    /// Below it, the window grows by slow start.
    pub ssthresh: f64,
}

impl Window {
    /// Does the window grow by slow start?
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// An acknowledgement of new data outside loss recovery.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Now.
    pub now: Time,
    /// Segments newly acknowledged, as a real number.
    pub segments: f64,
    /// Segments still under way, as a real number.
    pub flight: f64,
    /// Smoothed round-trip time, zero before the first measurement.
    pub srtt: Time,
    /// Least round-trip time seen, zero before the first measurement.
    pub min_rtt: Time,
    /// From the timestamp echoed to now: the round trip; zero without timestamps.
    pub rtt: Time,
    /// From the timestamp echoed to when the acknowledgement was sent: the way there, with what the
    /// receiver held back.
    pub one_way: Time,
    /// Greatest window the receiver takes, in segments.
    pub max_window: f64,
}

#[cfg(test)]
impl Ack {
    /// Of so many segments on a path with this round trip and no queue.
    fn of(now: Time, segments: f64, rtt: Time) -> Self {
        let one_way = rtt.scaled(0.5);
        let (srtt, min_rtt) = (rtt, rtt);
        Self { now, segments, flight: 1e4, srtt, min_rtt, rtt, one_way, max_window: 1e4 }
    }
}

/// A congestion control.
#[enum_dispatch]
pub trait CongestionControl {
    /// New data was acknowledged while the window was the limit.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);
    /// Loss was found by duplicate or selective acknowledgements, `flight` segments being under way.
    fn on_loss(&mut self, window: &mut Window, flight: f64, now: Time);
    /// A mark was echoed (RFC 3168 §6.1.2: the answer is that to a loss).
    fn on_mark(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.on_loss(window, flight, now);
    }
    /// The retransmission timer expired.
    fn on_timeout(&mut self, window: &mut Window, flight: f64, now: Time);
}

/// Every congestion control there is.
#[enum_dispatch(CongestionControl)]
pub enum Controller {
    /// Additive increase, multiplicative decrease.
    Reno,
    /// A cubic function of the time since the last loss.
    Cubic,
    /// The same as Linux 2.6.22 has it.
    LinuxCubic,
    /// What others leave, up to a queueing delay.
    Ledbat,
}

/// Makes a controller from its parameters.
#[enum_dispatch]
pub trait CongestionParameters {
    /// The controller of a new connection.
    fn start(&self, config: &Config) -> Controller;
}

/// A congestion control, by its `kind`.
#[enum_dispatch(CongestionParameters)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CongestionSpec {
    /// Reno (RFC 5681).
    Reno(reno::Parameters),
    /// CUBIC (RFC 9438; Linux 2.6.22 in the ns-2 dialect).
    Cubic(cubic::Parameters),
    /// LEDBAT (RFC 6817; Rossi and Valenti's in the ns-2 dialect): yields to others. It needs
    /// timestamps, which are then on.
    Ledbat(ledbat::Parameters),
}

impl Default for CongestionSpec {
    fn default() -> Self {
        Self::Cubic(cubic::Parameters::default())
    }
}
