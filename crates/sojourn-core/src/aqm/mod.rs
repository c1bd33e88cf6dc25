//! The laws of active queue management: they decide, and own no packets.
//!
//! A law is handed plain values (the time, the size and sojourn time of a packet, the backlog of its
//! queue, what the shaper has to give) and answers pass, signal or drop. It knows neither packets nor queues,
//! so the same law works in a single queue, in hashed bins or behind a round robin, and is tested
//! with literals. Each law has a file of its own with its parameters (from the scenario, immutable),
//! its state and its tests.

pub mod codel;
pub mod codel_dt;
mod departure_rate;
pub mod docsis_pie;
pub mod pie;
pub mod pie_early;
pub mod pie_parts;
pub mod red;

use enum_dispatch::enum_dispatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::count::Count;
use crate::engine::rng::Rng;
use crate::input::problem::Fault;
use crate::metrics::Gauges;
use crate::packet::FULL_PACKET;
use crate::units::{BitRate, Time};

/// What lies behind the queue: how fast a rate shaper will let it drain.
#[derive(Clone, Copy, Debug)]
pub struct DrainRate {
    /// Bytes that may leave at the peak rate before the sustained rate holds (the burst tokens).
    pub tokens: f64,
    /// Maximum sustained traffic rate.
    pub sustained: BitRate,
    /// Peak traffic rate.
    pub peak: BitRate,
    /// Bytes the queue may hold.
    pub buffer_bytes: u64,
}

impl DrainRate {
    /// Time to drain `bytes`, in seconds (RFC 8034 §4.3; White 2014 §7).
    pub fn drain_s(&self, bytes: f64) -> f64 {
        let at_peak = bytes.min(self.tokens);
        8.0 * (at_peak / self.peak.bps() as f64 + (bytes - at_peak) / self.sustained.bps() as f64)
    }
}

/// What a law says about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Let it through.
    Pass,
    /// Signal congestion to its sender: mark it if its transport understands marks, and otherwise
    /// drop it (RFC 3168 §5).
    Signal,
    /// Drop it, whatever its transport understands.
    Drop,
}

/// A packet at the tail of the queue, before it is let in.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Now.
    pub now: Time,
    /// Bytes on the wire.
    pub size: u64,
    /// What the queue holds without it.
    pub backlog: Count,
    /// Factor to its drop probability: 1, or in SFQ-PIE the length of its bin in that of the longest
    /// (White 2014 §4.6).
    pub share: f64,
}

/// A packet at the head of the queue, about to leave.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Now.
    pub now: Time,
    /// How long it has been in the queue.
    pub sojourn: Time,
    /// Bytes on the wire.
    pub size: u64,
    /// What its link still holds behind it, in all bins together (RFC 8289 §4.4).
    pub left: Count,
    /// No packet of its own bin waits behind it.
    pub alone: bool,
}

/// A law of queue management. Every hook has a default that does nothing: a law writes down only
/// what it acts on.
#[enum_dispatch]
pub trait Aqm {
    /// A packet has come and there is room for it.
    fn on_arrival(&mut self, _packet: &Arrival, _outlet: &DrainRate, _rng: &mut Rng) -> Verdict {
        Verdict::Pass
    }

    /// The queue was full and the packet was dropped for that alone.
    fn on_overflow(&mut self) {}

    /// A packet is at the head and may leave. If it is dropped the next head is judged in turn; if it
    /// is marked it leaves.
    fn on_departure(&mut self, _packet: &Departure) -> Verdict {
        Verdict::Pass
    }

    /// A packet was asked for and the queue is empty.
    fn on_empty(&mut self) {}

    /// A MAP of the modem brought a grant of so many bytes, and left so many that were asked for
    /// ungranted.
    fn on_map(&mut self, _granted: u64, _ungranted: u64) {}

    /// Does it act on `on_map`? Where there are many laws, those that do not are left alone.
    fn follows_maps(&self) -> bool {
        false
    }

    /// How often `update` is to be called; `Time::NEVER` for laws without a clock.
    fn update_interval(&self) -> Time {
        Time::NEVER
    }

    /// The periodic part of the law; says whether it changed anything. If not, and nothing waits, it
    /// need not be called until a packet comes.
    fn update(&mut self, _backlog: Count, _outlet: &DrainRate) -> bool {
        false
    }

    /// State worth watching over time, as named values.
    fn gauges(&self, _out: &mut Gauges) {}
}

/// No law: the queue drops only when it is full.
#[derive(Default)]
pub struct TailDrop;
impl Aqm for TailDrop {}

/// Every law there is.
#[enum_dispatch(Aqm)]
pub enum AqmAlgorithm {
    /// None.
    TailDrop(TailDrop),
    /// Controlled delay.
    Codel(codel::Codel),
    /// Proportional integral controller enhanced, as cable modems run it.
    DocsisPie(docsis_pie::DocsisPie),
    /// Proportional integral controller enhanced.
    Pie(pie::Pie),
    /// CoDel that drops arrivals.
    CodelDt(codel_dt::CodelDt),
    /// PIE of 2013.
    PieEarly(pie_early::PieEarly),
    /// Random early detection.
    Red(red::Red),
}

/// Makes a law in its initial state from its parameters.
#[enum_dispatch]
pub trait AqmParameters {
    /// The law at the start of a run.
    fn start(&self) -> AqmAlgorithm;
    /// Do its keys agree with each other, and with the time that a full packet takes on the link?
    ///
    /// # Errors
    /// The first key at fault.
    fn check(&self, _packet: Time) -> Result<(), Fault> {
        Ok(())
    }
    /// Does it judge each packet by that packet's own sojourn time? Then it needs a queue to itself:
    /// in one with many bins the packets of sparse flows would always end its episodes.
    fn judges_sojourns(&self) -> bool {
        false
    }
}

/// The interval within which a law expects a good queue to empty covers a round trip, which is more
/// than one packet (RFC 8289 §4.3).
fn check_interval(interval_ms: f64, packet: Time) -> Result<(), Fault> {
    let packet_ms = packet.ms_f64();
    if interval_ms >= packet_ms {
        return Ok(());
    }
    let message = format!(
        "found {interval_ms}; allowed: {packet_ms:.3} or more, the time of a packet of {FULL_PACKET} \
         bytes at the sustained rate"
    );
    Err(Fault::new("interval_ms", message))
}

/// Parameters of no law: `kind = "none"`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoParameters {}
impl AqmParameters for NoParameters {
    fn start(&self) -> AqmAlgorithm {
        TailDrop.into()
    }
}

/// The law of a queue, by its `kind`.
#[enum_dispatch(AqmParameters)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AqmSpec {
    /// No law: drop only when the queue is full.
    None(NoParameters),
    /// CoDel (RFC 8289).
    Codel(codel::Parameters),
    /// DOCSIS-PIE (RFC 8034).
    DocsisPie(docsis_pie::Parameters),
    /// PIE (RFC 8033).
    Pie(pie::Parameters),
    /// CoDel-DT: CoDel that drops arrivals on a predicted sojourn time (White 2014 §4.3).
    CodelDt(codel_dt::Parameters),
    /// Early PIE with three operating points (White & Rice 2013, Hong 2015).
    PieEarly(pie_early::Parameters),
    /// RED, gentle and adaptive (Floyd 1993, 2001; ns-2).
    Red(red::Parameters),
}

impl Default for AqmSpec {
    fn default() -> Self {
        Self::None(NoParameters {})
    }
}
