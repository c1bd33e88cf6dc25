//! Congestion control: how fast to send, with a file per algorithm.
//!
//! The window is a real number of segments. An algorithm changes it at acknowledgements, losses and
//! timeouts, and knows nothing of sequence numbers, timers or packets.

mod aggregation;
pub mod bbr1;
pub mod bbr3;
mod bbr3_model;
#[cfg(test)]
mod bbr3_tests;
pub mod cubic;
mod cubic_linux;
mod cubic_ns2;
pub mod dctcp;
mod draw;
mod hystart;
mod hystart_classic;
pub mod ledbat;
mod policer;
pub mod prague;
pub mod reno;
mod reno_linux;
mod whole;
mod windowed_max;

use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;

use super::accecn::EcnMode;
use super::bursts::BurstLimit;
use super::rate::RateSample;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::record::Gauges;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;
use sojourn_input::kinds;
use sojourn_input::parts::Keys;

pub use bbr1::Bbr1;
pub use bbr3::Bbr3;
pub use cubic::Cubic;
pub use cubic_linux::LinuxCubic;
pub use cubic_ns2::Ns2Cubic;
pub use dctcp::Dctcp;
pub use ledbat::Ledbat;
pub use prague::Prague;
pub use reno::Reno;
pub use reno_linux::LinuxReno;

/// What a control knows of a new connection.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// The dialect of its control.
    pub dialect: Dialect,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// Initial window in segments.
    pub initial_window: f64,
    /// Maximum window of the receiver in segments.
    pub max_window: f64,
}

/// The congestion window and the slow-start threshold, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Segments that may be outstanding.
    pub cwnd: f64,
    /// The window grows by slow start below this.
    pub ssthresh: f64,
}

impl Window {
    /// At least that window and threshold again.
    pub fn raise_to(&mut self, before: &Self) {
        self.cwnd = self.cwnd.max(before.cwnd);
        self.ssthresh = self.ssthresh.max(before.ssthresh);
    }

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
    /// Newly acknowledged segments, as a real number.
    pub segments: f64,
    /// Outstanding segments, as a real number, and those that the window had room for but that wait for their pace
    /// or for a whole burst.
    pub flight: f64,
    /// Smoothed round-trip time, zero before the first measurement.
    pub srtt: Time,
    /// Minimum round-trip time, zero before the first measurement.
    pub min_rtt: Time,
    /// Round-trip time, from the echoed timestamp to now; zero without timestamps.
    pub rtt: Time,
    /// Time from the echoed timestamp to when the acknowledgement was sent: one-way delay, plus the
    /// delay of a delayed acknowledgement, and how far the other end's clock is ahead; zero without timestamps.
    pub one_way: Time,
    /// Maximum window of the receiver in segments.
    pub max_window: f64,
}

/// How far the clock of the other end is ahead, so that one-way delays stay above zero whatever the clocks gain.
/// Controls use their differences alone.
pub(crate) const CLOCKS_APART: Time = Time::from_s(1 << 16);

/// A one-way delay of [`Ack`] in us, as the clocks of both ends have it: it may be below zero. NaN without timestamps.
pub fn one_way_us(one_way: Time) -> f64 {
    if one_way == Time::ZERO {
        return f64::NAN;
    }
    one_way.since(CLOCKS_APART).us_f64() - CLOCKS_APART.since(one_way).us_f64()
}

/// A round trip that an acknowledgement measures, before the window changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrip {
    /// Now.
    pub now: Time,
    /// Of the last segment that is newly acknowledged or held, and was sent once.
    pub rtt: Time,
    /// Smoothed round-trip time, with this one.
    pub srtt: Time,
    /// Minimum round-trip time, with this one.
    pub min_rtt: Time,
    /// As that of [`Ack`].
    pub one_way: Time,
    /// First byte not acknowledged.
    pub una: u64,
    /// One past the highest byte sent.
    pub nxt: u64,
    /// Does the sender pace what it sends?
    pub is_paced: bool,
}

/// Something leaves while nothing is in flight.
#[derive(Clone, Copy, Debug)]
pub struct Restart {
    /// Now.
    pub now: Time,
    /// So long after the last departure: time in which the window was not used (RFC 9438 §5.8).
    pub idle: Time,
    /// With samples of the delivery rate: had the application nothing to send?
    pub is_app_limited: Option<bool>,
}

#[cfg(test)]
impl Restart {
    fn after(now: Time, idle: Time) -> Self {
        Self { now, idle, is_app_limited: None }
    }

    fn at(now: Time, is_app_limited: bool) -> Self {
        Self { now, idle: Time::ZERO, is_app_limited: Some(is_app_limited) }
    }
}

/// What an acknowledgement says of marks, for a control that reacts to their share.
#[derive(Clone, Copy, Debug)]
pub struct EcnFeedback {
    /// Now.
    pub now: Time,
    /// Newly delivered segments.
    pub delivered: f64,
    /// Segments that it newly reports as marked.
    pub marked: f64,
    /// First byte not acknowledged.
    pub una: u64,
    /// One past the highest byte sent.
    pub nxt: u64,
    /// Smoothed round-trip time, zero before the first measurement.
    pub srtt: Time,
    /// A recovery from a loss goes on, or what follows a timeout.
    pub is_recovering: bool,
}

#[cfg(test)]
impl Ack {
    /// An acknowledgement of this many segments on a path with this round-trip time and no queue.
    fn of(now: Time, segments: f64, rtt: Time) -> Self {
        let one_way = rtt.scaled(0.5);
        let (srtt, min_rtt) = (rtt, rtt);
        Self { now, segments, flight: 1e4, srtt, min_rtt, rtt, one_way, max_window: 1e4 }
    }
}

/// A congestion control.
#[enum_dispatch]
#[auto_impl(Box)]
pub trait CongestionControl {
    /// The connection is open; the round trip of the handshake, zero if unknown.
    fn on_established(&mut self, _window: &mut Window, _srtt: Time, _now: Time) {}
    /// An acknowledgement came, and all that it says about deliveries and losses is known.
    fn on_sample(&mut self, _window: &mut Window, _sample: &RateSample) {}
    /// Something leaves while nothing is in flight.
    fn on_restart(&mut self, _window: &mut Window, _restart: &Restart) {}
    /// Does it send less than the path takes, so that samples are to be marked as limited?
    fn holds_back(&self) -> bool {
        false
    }
    /// A round trip was measured. This comes first of all that an acknowledgement changes.
    fn on_round_trip(&mut self, _window: &mut Window, _trip: &RoundTrip) {}
    /// New data was acknowledged while the window limited sending.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);
    /// Duplicate or selective acknowledgements revealed a loss, with `flight` segments outstanding.
    fn on_loss(&mut self, window: &mut Window, flight: f64, now: Time);
    /// A mark was echoed; RFC 3168 §6.1.2 requires the reaction to a loss.
    fn on_mark(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.on_loss(window, flight, now);
    }
    /// With accurate feedback, for a scalable control: each acknowledgement that delivers something,
    /// before the window grows for it. Marked segments do not keep it from growing.
    fn on_feedback(&mut self, _window: &mut Window, _feedback: &EcnFeedback) {}
    /// How much leaves as one burst, for a control that limits it.
    fn burst_limit(&self) -> Option<BurstLimit> {
        None
    }
    /// The pacing rate in bytes per second, for a control that sets it; otherwise it follows from the
    /// window and the round trip.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }
    /// Shows values over time, in the same order each time.
    fn gauges(&self, _out: &mut Gauges) {}
    /// The last reduction proved needless; `before` is the window before it.
    fn on_undo(&mut self, window: &mut Window, before: &Window) {
        window.raise_to(before);
    }
    /// When `on_wake` wants to be called, for a control that has timers.
    fn due(&self) -> Time {
        Time::NEVER
    }
    /// That time has come, with `flight` segments outstanding.
    fn on_wake(&mut self, _window: &mut Window, _flight: f64, _now: Time) {}
    /// The retransmission timer expired.
    fn on_timeout(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.on_loss(window, flight, now);
        window.cwnd = 1.0;
    }
}

/// Every congestion control.
#[enum_dispatch(CongestionControl)]
#[non_exhaustive]
pub enum Controller {
    /// Reno: additive increase, multiplicative decrease.
    Reno,
    /// CUBIC: a cubic function of the time since the last loss.
    Cubic,
    /// Reno of today's Linux.
    LinuxReno,
    /// CUBIC of today's Linux.
    LinuxCubic,
    /// CUBIC of Linux 2.6.22, which ns-2 has.
    Ns2Cubic,
    /// LEDBAT: uses what others leave, up to a target queue delay.
    Ledbat,
    /// BBR of today's Linux: paced at the rate of delivery.
    Bbr1,
    /// BBR version 3.
    Bbr3,
    /// DCTCP: reduces by the share of marks.
    Dctcp,
    /// Prague: reduces by the share of marks, at a rate that depends little on the round trip.
    Prague,
    /// One from outside.
    Outside(Box<dyn CongestionControl + Send>),
}

/// Parameters of a congestion control, which build controllers.
pub trait CongestionParameters: Keys {
    /// The controller of a new connection, which may have random numbers of its own.
    fn start(&self, connection: &Connection, seed: Seed) -> Controller;
    /// Does it want a sample of the delivery rate at each acknowledgement? It then sets the window by
    /// itself, also in a recovery, and paces. Only the `linux` dialect takes samples.
    fn wants_samples(&self) -> bool {
        false
    }
    /// Where it wants samples: does it want `on_ack` too?
    fn wants_acknowledgements(&self) -> bool {
        false
    }
    /// Does it want to be woken at times of its own?
    fn has_timers(&self) -> bool {
        false
    }
    /// Does it react to the share of marks, by `on_feedback`, rather than to a mark as to a loss? Only
    /// the `linux` dialect gives it that share.
    fn is_scalable(&self) -> bool {
        false
    }
    /// Does it need one-way delays, and so timestamps?
    fn needs_timestamps(&self) -> bool {
        false
    }
    /// Does it show values over time?
    fn has_gauges(&self) -> bool {
        false
    }
    /// Is it paced where the scenario does not say?
    fn is_paced(&self) -> bool {
        self.wants_samples()
    }
    /// How it uses explicit congestion notification where the scenario does not say.
    fn usual_ecn(&self) -> EcnMode {
        EcnMode::Off
    }
}

kinds! {
    /// A congestion control, chosen by `kind`.
    pub enum CongestionSpec: CongestionParameters in "CongestionSpec" {
        /// Reno (RFC 5681).
        Reno(reno::Parameters) = "reno",
        /// CUBIC (RFC 9438; in the `ns2` dialect that of Linux 2.6.22).
        Cubic(cubic::Parameters) = "cubic",
        /// LEDBAT, which yields to other traffic (RFC 6817; in the `ns2` dialect that of Rossi and
        /// Valenti). It requires timestamps, and enables them by default.
        Ledbat(ledbat::Parameters) = "ledbat",
        /// BBR version 1 as Linux has it (draft-cardwell-iccrg-bbr-00). It paces its packets. Only in
        /// the `linux` dialect.
        Bbr1(bbr1::Parameters) = "bbr1",
        /// BBR version 3 (draft-ietf-ccwg-bbr). It paces its packets. Only in the `linux` dialect.
        Bbr3(bbr3::Parameters) = "bbr3",
        /// DCTCP (RFC 8257), which reduces its window by the share of marks. Only in the `linux`
        /// dialect, with `ecn = "accecn"` (its default) or `"l4s"`.
        Dctcp(dctcp::Parameters) = "dctcp",
        /// Prague, the L4S reference (draft-briscoe-iccrg-prague-congestion-control). Only in the
        /// `linux` dialect, with `ecn = "l4s"` (its default) or `"accecn"`. It is paced by default.
        Prague(prague::Parameters) = "prague",
    }
}

impl Default for CongestionSpec {
    fn default() -> Self {
        Self::Cubic(cubic::Parameters::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples and pacing for BBR, shares of marks for the scalable ones, timestamps for LEDBAT.
    #[test]
    fn controls_say_what_they_need() {
        use EcnMode::{Accecn, L4s, Off};
        let all: [(CongestionSpec, _); 7] = [
            (CongestionSpec::Reno(Default::default()), (false, false, false, false, Off)),
            (CongestionSpec::Cubic(Default::default()), (false, false, false, false, Off)),
            (CongestionSpec::Ledbat(Default::default()), (false, false, true, false, Off)),
            (CongestionSpec::Bbr1(Default::default()), (true, false, false, true, Off)),
            (CongestionSpec::Bbr3(Default::default()), (true, false, false, true, Off)),
            (CongestionSpec::Dctcp(Default::default()), (false, true, false, false, Accecn)),
            (CongestionSpec::Prague(Default::default()), (false, true, false, true, L4s)),
        ];
        for (spec, want) in all {
            let keys = spec.parameters();
            let is = (keys.wants_samples(), keys.is_scalable(), keys.needs_timestamps());
            assert_eq!(
                (is.0, is.1, is.2, keys.is_paced(), keys.usual_ecn()),
                want,
                "{}",
                spec.name()
            );
        }
    }

    /// A control that paces by samples ignores single acknowledgements and marks; others slow down for a mark as for a loss.
    #[test]
    fn marks_count_as_losses_where_nothing_else_is_said() {
        let connection =
            Connection { dialect: Dialect::Rfc, mss: 1000, initial_window: 10.0, max_window: 1e4 };
        let specs: [(CongestionSpec, _); 3] = [
            (CongestionSpec::Reno(Default::default()), 50.0),
            (CongestionSpec::Bbr1(Default::default()), 100.0),
            (CongestionSpec::Bbr3(Default::default()), 100.0),
        ];
        for (spec, want) in specs {
            let mut control = spec.parameters().start(&connection, Seed::named(1, ""));
            let mut window = Window { cwnd: 100.0, ssthresh: 1.0 };
            control.on_mark(&mut window, 100.0, Time::ZERO);
            assert_eq!(window.cwnd, want);
            assert!(!control.holds_back());
        }
    }
}
