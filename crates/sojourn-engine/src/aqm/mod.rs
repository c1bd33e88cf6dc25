//! AQM algorithms: they decide about packets but own none.
//!
//! An algorithm gets plain values (the time, a packet's size and sojourn time, the backlog of its
//! queue, the shaper's tokens and rates) and answers pass, signal or drop. It knows neither packets
//! nor queues. So the same algorithm works in a single queue, in hashed bins or in a round robin,
//! and its tests use literals. Each has a file with its parameters, its state and its tests.

pub mod afd;
pub mod blue;
pub(crate) mod ce_threshold;
pub mod codel;
pub mod codel_dt;
pub mod codel_linux;
mod departure_rate;
pub mod docsis_pie;
pub mod gsp;
pub(crate) mod immediate;
pub(crate) mod marking;
#[cfg(test)]
mod packets_for_tests;
#[cfg(test)]
mod parameter_tests;
pub mod pi2;
pub mod pie;
pub mod pie_early;
pub mod pie_linux;
pub(crate) mod pie_parts;
pub(crate) mod proactive_rate;
pub(crate) mod queue_protection;
pub mod red;
pub mod red_linux;
pub(crate) mod virtual_queue;

pub use pie_parts::Derandomiser;
pub use proactive_rate::ProactiveRate;
pub use virtual_queue::Loop;

use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::count::Count;
use crate::packet::{Ecn, FULL_PACKET};
use crate::record::{Definition, Gauges, Lapses, Rest};
use crate::rng::{Rng, Seed};
use crate::units::{BitRate, Time};
use sojourn_input::fault;
use sojourn_input::kinds;
use sojourn_input::parts::Keys;
use sojourn_input::problem::{Fault, Faults, Remedy};

/// Definitions of the series that algorithms show, from the file that sets their values.
pub(crate) const SERIES: [&[Definition]; 12] = [
    afd::SERIES,
    blue::SERIES,
    codel_dt::SERIES,
    codel_linux::SERIES,
    departure_rate::SERIES,
    docsis_pie::SERIES,
    gsp::SERIES,
    marking::SERIES,
    pi2::SERIES,
    pie_parts::SERIES,
    queue_protection::SERIES,
    red::SERIES,
];

/// How fast the rate shaper behind a queue lets it drain.
#[derive(Clone, Copy, Debug)]
pub struct DrainRate {
    /// Bytes that may still leave at the peak rate: the tokens of the sustained-rate bucket.
    pub tokens: f64,
    /// Maximum sustained traffic rate.
    pub sustained: BitRate,
    /// Peak traffic rate.
    pub peak: BitRate,
    /// Bytes the queue may hold.
    pub buffer_bytes: u64,
    /// In a bin with an algorithm of its own: the share of line and buffer that this is.
    pub share: Option<f64>,
}

impl DrainRate {
    /// A line without tokens.
    pub fn steady(rate: BitRate, buffer_bytes: u64) -> Self {
        Self { tokens: 0.0, sustained: rate, peak: rate, buffer_bytes, share: None }
    }

    /// What a bin with this share gets.
    pub(crate) fn part(&self, share: f64) -> Self {
        let of = |rate: BitRate| BitRate::from_bps(((rate.bps() as f64 * share) as u64).max(1));
        Self {
            tokens: self.tokens * share,
            sustained: of(self.sustained),
            peak: of(self.peak),
            buffer_bytes: (self.buffer_bytes as f64 * share) as u64,
            share: Some(share),
        }
    }

    /// The sustained rate of the whole line in bit/s, in a bin too.
    pub(crate) fn line_bps(&self) -> f64 {
        self.sustained.bps() as f64 / self.share.unwrap_or(1.0)
    }

    /// Time to drain `bytes`, in seconds (RFC 8034 §4.3; White 2014 §7).
    pub fn drain_s(&self, bytes: f64) -> f64 {
        let at_peak = bytes.min(self.tokens);
        8.0 * (at_peak / self.peak.bps() as f64 + (bytes - at_peak) / self.sustained.bps() as f64)
    }

    /// Bytes that drain in `span`: the inverse of `drain_s`.
    pub fn bytes_in(&self, span: Time) -> f64 {
        let at_peak = self.peak.bytes_in(span);
        let beyond = (at_peak - self.tokens.max(0.0)).max(0.0);
        at_peak - beyond + beyond * (self.sustained.bps() as f64 / self.peak.bps() as f64)
    }
}

/// How an estimated delay comes about: the time in seconds that a backlog takes at a measured rate, where one has
/// been measured. In a bin a rate that was measured while other bins were busy says little, so there the delay is that
/// at the bin's share of the line.
fn latency_s(bytes: u64, outlet: &DrainRate, measured_s: Option<f64>) -> f64 {
    match (outlet.share, measured_s) {
        (None, Some(measured_s)) => measured_s,
        _ => outlet.drain_s(bytes as f64),
    }
}

/// An AQM algorithm's decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Let the packet through.
    Pass,
    /// Signal congestion to the sender: mark the packet if its transport supports ECN, and drop it
    /// otherwise (RFC 3168 §5).
    Signal,
    /// Drop the packet, even if its transport supports ECN.
    Drop,
}

/// A packet that arrives at the tail of the queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Now.
    pub now: Time,
    /// Bytes on the wire.
    pub size: u64,
    /// Backlog of the queue without this packet.
    pub backlog: Count,
    /// Factor of its drop probability: 1, or in SFQ-PIE the length of its bin over that of the
    /// longest (White 2014 §4.6).
    pub share: f64,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// Does the queue mark it where the algorithm signals?
    pub is_markable: bool,
    /// Hash of its flow: equal for packets of a connection or of a traffic entry's datagrams.
    pub flow: u32,
}

/// A packet at the head of the queue that may leave.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Now.
    pub now: Time,
    /// How long it has been in the queue.
    pub sojourn: Time,
    /// Bytes on the wire.
    pub size: u64,
    /// Backlog behind it in all bins that share the link (RFC 8289 §4.4).
    pub left: Count,
    /// Backlog behind it that the algorithm judges: in its bin, if that has one of its own.
    pub own_left: Count,
    /// Is it the last packet of its bin?
    pub alone: bool,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// Does the queue mark it where the algorithm signals?
    pub is_markable: bool,
    /// Hash of its flow, as of an arrival.
    pub flow: u32,
}

/// An AQM algorithm. Every hook does nothing by default, so an algorithm implements only those it
/// needs.
#[enum_dispatch]
#[auto_impl(Box)]
pub trait Aqm {
    /// A packet has arrived and there is room for it.
    fn on_arrival(&mut self, _packet: &Arrival, _outlet: &DrainRate, _rng: &mut Rng) -> Verdict {
        Verdict::Pass
    }

    /// A packet was dropped because the queue was full.
    fn on_overflow(&mut self) {}

    /// A packet that waited was dropped to make room.
    fn on_shed(&mut self) {
        self.on_overflow();
    }

    /// A packet is at the head and may leave. After a drop the next head is judged; a marked packet
    /// leaves.
    fn on_departure(&mut self, _packet: &Departure) -> Verdict {
        Verdict::Pass
    }

    /// The queue is empty and a packet was requested.
    fn on_empty(&mut self, _now: Time) {}

    /// A MAP brought a grant of `_granted` bytes and left `_ungranted` requested bytes.
    fn on_map(&mut self, _granted: u64, _ungranted: u64) {}

    /// Does it use `on_map`? Algorithms that do not are not called, which matters where there are
    /// many.
    fn follows_maps(&self) -> bool {
        false
    }

    /// The time between calls of `update`; `Time::NEVER` if it has none.
    fn update_interval(&self) -> Time {
        Time::NEVER
    }

    /// The periodic update. Returns whether it changed anything. If not, and nothing waits, the
    /// next call may be skipped until a packet comes.
    fn update(&mut self, _now: Time, _backlog: Count, _outlet: &DrainRate) -> bool {
        false
    }

    /// From now on it has other parameters of its kind. Its state stays.
    fn retune(&mut self, _spec: &AqmSpec) {}

    /// Reports state worth watching over time.
    fn gauges(&self, _out: &mut Gauges) {}

    /// What it notes of itself.
    fn lapses(&self) -> Lapses {
        Lapses::default()
    }

    /// Its rest, if it is an algorithm that rests until a third of the buffer is full.
    fn rest(&self) -> Option<Rest> {
        None
    }
}

/// No AQM: the queue drops only when it is full.
#[derive(Default)]
pub struct TailDrop;
impl Aqm for TailDrop {}

/// Every AQM algorithm.
#[enum_dispatch(Aqm)]
#[non_exhaustive]
pub enum AqmAlgorithm {
    /// No AQM.
    TailDrop(TailDrop),
    /// Controlled delay.
    Codel(codel::Codel),
    /// Controlled delay as in Linux.
    LinuxCodel(codel_linux::LinuxCodel),
    /// One of them with a lower threshold for marks.
    CeThreshold(ce_threshold::CeThreshold),
    /// Proportional integral controller enhanced (PIE), the variant of cable modems.
    DocsisPie(docsis_pie::DocsisPie),
    /// Proportional integral controller enhanced (PIE).
    Pie(pie::Pie),
    /// PIE as in Linux.
    LinuxPie(pie_linux::LinuxPie),
    /// PI with a squared output.
    Pi2(pi2::Pi2),
    /// CoDel that drops arriving packets.
    CodelDt(codel_dt::CodelDt),
    /// PIE of 2013.
    PieEarly(pie_early::PieEarly),
    /// Random early detection.
    Red(red::Red),
    /// Random early detection as in Linux.
    LinuxRed(red_linux::LinuxRed),
    /// BLUE.
    Blue(blue::Blue),
    /// Global synchronization protection.
    Gsp(gsp::Gsp),
    /// Approximate fair dropping.
    Afd(afd::Afd),
    /// One from outside.
    Outside(Box<dyn Aqm + Send>),
}

/// Parameters of an AQM algorithm, which build it.
pub trait AqmParameters: Keys {
    /// The algorithm in its initial state. Each instance may have random numbers of its own.
    fn start(&self, seed: Seed) -> AqmAlgorithm;
    /// The faults of keys that do not agree with each other, or with the time of a full packet on
    /// the link.
    fn check(&self, _packet: Time) -> Faults {
        Faults::default()
    }
    /// Does it judge each packet by that packet's own sojourn time? Then it needs one queue or one
    /// instance for each bin: if one instance judged many bins, packets of sparse flows would keep
    /// ending its episodes. In a bin it gets the rates of the whole line, which it has no use for.
    fn judges_sojourns(&self) -> bool {
        false
    }
    /// The queue delay that it holds, in ms.
    fn target_ms(&self) -> Option<f64> {
        None
    }
    /// The delay above which it keeps signalling before a link of this rate, if one key sets it.
    fn threshold(&self, _rate: BitRate) -> Option<Threshold> {
        None
    }
    /// Keys that have no effect, or cannot do at this rate what they are for; each message follows its key.
    fn remarks(&self, _rate: BitRate) -> Faults {
        Faults::default()
    }
    /// What keeps it from acting in a buffer, and settings of the queue that would help.
    fn obstacle(&self, _buffer: Buffer) -> Option<(String, Remedy)> {
        None
    }
}

/// A delay above which a queue manager keeps signalling, whether the queue could be shorter or not.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    /// The key that sets it, and its value.
    pub key: &'static str,
    /// The value of the key.
    pub value: f64,
    /// The delay in ms.
    pub ms: f64,
    /// What the value has for each ms of delay.
    pub per_ms: f64,
    /// A key that must be twice as high.
    pub twice: Option<&'static str>,
    /// Another key that must be set with it, and its value.
    pub also: Option<(&'static str, f64)>,
}

impl Threshold {
    /// A key that is the delay itself, or `per_ms` times as much.
    pub fn of_delay(key: &'static str, value: f64, per_ms: f64) -> Self {
        Self { key, value, ms: value / per_ms, per_ms, twice: None, also: None }
    }

    /// A key in packets of so many bytes.
    pub fn of_packets(key: &'static str, value: f64, bytes: f64, rate: BitRate) -> Self {
        Self::of_delay(key, value, rate.bps() as f64 / 8e3 / bytes)
    }

    /// A value whose delay is more than this, in steps of the present value's first digit.
    pub fn enough(&self, ms: f64) -> f64 {
        let step = libm::pow(10.0, libm::floor(libm::log10(self.value)));
        step * ((ms * self.per_ms / step).floor() + 1.0)
    }

    /// Settings of a queue's part with which the delay is more than this.
    pub fn remedy(&self, ms: f64) -> Remedy {
        let enough = self.enough(ms);
        let twice = self.twice.map(|key| (key, 2.0 * enough));
        let others = twice.into_iter().chain(self.also);
        others.fold(Remedy::of(self.key, enough), |remedy, (key, value)| remedy.and(key, value))
    }
}

/// A remark on a lower threshold that follows a delay, `meant_ms`, but is so many packets at least.
pub(crate) fn at_least_packets(
    delay: (&str, f64),
    meant_ms: f64,
    packets: f64,
    bytes: u64,
    rate: BitRate,
) -> Option<Fault> {
    let ms = packets * bytes as f64 * 8e3 / rate.bps() as f64;
    (ms > 2.0 * meant_ms).then(|| {
        let remedy = Remedy::of("min_threshold_packets", (packets / 2.0).floor());
        fault!(TargetBelowPackets, delay.0, remedy =>
            "is {value}, but the lower threshold is {packets} packets of {bytes} bytes at least, which take \
             {ms:.0} ms at {mbps} Mbps; set {remedy:#} for a lower one",
            value = delay.1, packets, bytes, ms, mbps = rate.bps() as f64 / 1e6)
    })
}

/// What the usual buffer holds, in ms (White 2014 section 9).
const USUAL_MS: f64 = 250.0;

/// The buffer of an algorithm that never acted.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// What it holds.
    pub bytes: u64,
    /// May it never have been a third full?
    pub is_low: bool,
    /// The rate at which it drains.
    pub rate: BitRate,
    /// Is it limited in packets?
    pub in_packets: bool,
}

impl Buffer {
    /// The setting of a buffer that drains in so many ms.
    fn of_ms(self, ms: f64) -> Remedy {
        let bytes = (ms * self.rate.bps() as f64 / 8e3).ceil() as u64;
        match self.in_packets {
            true => Remedy::of("limit_packets", bytes.div_ceil(FULL_PACKET)),
            false => Remedy::of("limit_bytes", bytes),
        }
    }

    /// The obstacle of an algorithm that measures the rate while `threshold` bytes leave. In a buffer of less than that it
    /// rarely acts with a lower one either.
    fn too_small_to_measure(self, threshold: u64) -> Option<(String, Remedy)> {
        (self.bytes < threshold).then(|| {
            let why = format!(
                "it measures the rate over rate_threshold_bytes = {threshold}, and the buffer holds {}",
                self.bytes
            );
            (why, self.of_ms(USUAL_MS))
        })
    }

    /// The obstacle of an algorithm that acts above a delay, where the buffer was full and it never did.
    fn too_small_for_delay(self, key: &str, ms: f64) -> Option<(String, Remedy)> {
        (!self.is_low).then(|| {
            let why = format!(
                "it acts above {key} = {ms}, which the {} bytes of the buffer may not reach",
                self.bytes
            );
            let half_ms = self.bytes as f64 / 2.0 * 8e3 / self.rate.bps() as f64;
            (why, Remedy::of(format!("law.{key}"), (half_ms * 10.0).floor() / 10.0))
        })
    }
}

/// Checks that the interval covers more than one packet's time on the link, since it stands for a
/// round-trip time (RFC 8289 §4.3).
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

/// Parameters of `kind = "none"`: there are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoParameters {}
impl AqmParameters for NoParameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        TailDrop.into()
    }
}

kinds! {
    /// The AQM algorithm of a queue, chosen by `kind`: it decides which packets are dropped early.
    pub enum AqmSpec: AqmParameters in "AqmSpec" {
        /// No AQM algorithm: the queue drops packets only when it is full.
        None(NoParameters) = "none",
        /// CoDel, controlled delay (RFC 8289).
        Codel(codel::Parameters) = "codel",
        /// DOCSIS-PIE, the PIE variant of DOCSIS 3.1 cable modems (RFC 8034).
        DocsisPie(docsis_pie::Parameters) = "docsis_pie",
        /// PIE, proportional integral controller enhanced (RFC 8033).
        Pie(pie::Parameters) = "pie",
        /// PIE as Linux has it (`sch_pie`, and in `fq_pie`).
        PieLinux(pie_linux::Parameters) = "pie_linux",
        /// PI2: a PI controller whose output is squared for classic traffic (RFC 9332 appendix A.1).
        Pi2(pi2::Parameters) = "pi2",
        /// CoDel-DT: CoDel that drops arriving packets by a predicted sojourn time (White 2014 §4.3).
        CodelDt(codel_dt::Parameters) = "codel_dt",
        /// Early PIE with three operating points (White & Rice 2013; Hong 2015).
        PieEarly(pie_early::Parameters) = "pie_early",
        /// RED, random early detection, gentle and adaptive (Floyd 1993, 2001; ns-2).
        Red(red::Parameters) = "red",
        /// RED as Linux has it (`sch_red`): in bytes, the weight a power of two, and marks above the upper threshold too.
        RedLinux(red_linux::Parameters) = "red_linux",
        /// BLUE: a drop probability that overflows raise and an idle link lowers (Feng 2002).
        Blue(blue::Parameters) = "blue",
        /// GSP, global synchronization protection: one drop, then none for a while (Lautenschlaeger & Francini 2015).
        Gsp(gsp::Parameters) = "gsp",
        /// AFD, approximate fair dropping: flows lose what they have above a fair share (Pan 2003).
        Afd(afd::Parameters) = "afd",
    }
}

impl Default for AqmSpec {
    fn default() -> Self {
        Self::None(NoParameters {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drains_in_a_span_takes_that_span() {
        // 3000 tokens at 8 Mbps: 1000 bytes a ms. Then 2 Mbps: 250 bytes a ms. In 5 ms 3000 + 2 * 250.
        let (sustained, peak) = (BitRate::from_mbps(2.0), BitRate::from_mbps(8.0));
        let drain_rate = DrainRate { tokens: 3000.0, peak, ..DrainRate::steady(sustained, 0) };
        for (ms, bytes) in [(0, 0.0), (2, 2000.0), (3, 3000.0), (5, 3500.0)] {
            assert!((drain_rate.bytes_in(Time::from_ms(ms)) - bytes).abs() < 1e-9);
            assert!((drain_rate.drain_s(bytes) - ms as f64 * 1e-3).abs() < 1e-12);
        }
        // Tokens that are owed do not count: 250 bytes a ms from the first one on.
        let owed = DrainRate { tokens: -3000.0, ..drain_rate };
        assert!((owed.bytes_in(Time::from_ms(2)) - 500.0).abs() < 1e-9);
    }

    #[test]
    fn a_bin_gets_its_share_of_the_line_and_knows_the_whole() {
        let peak = BitRate::from_mbps(8.0);
        let line = DrainRate {
            tokens: 3000.0,
            peak,
            ..DrainRate::steady(BitRate::from_mbps(2.0), 10_000)
        };
        let part = line.part(0.25);
        assert_eq!((part.tokens, part.buffer_bytes, part.share), (750.0, 2500, Some(0.25)));
        assert_eq!((part.sustained.bps(), part.peak.bps()), (500_000, 2_000_000));
        assert_eq!([line.line_bps(), part.line_bps()], [2e6, 2e6]);
        // A rate is never 0.
        assert_eq!(line.part(1e-9).sustained.bps(), 1);
        // 1000 bytes at 2 Mbps take 4 ms; a rate that was measured counts only where there is no share.
        let steady = DrainRate::steady(BitRate::from_mbps(2.0), 10_000);
        for (outlet, measured_s, want) in [
            (steady, None, 0.004),
            (steady, Some(0.007), 0.007),
            (steady.part(0.5), None, 0.008),
            (steady.part(0.5), Some(0.007), 0.008),
        ] {
            assert_eq!(latency_s(1000, &outlet, measured_s), want);
        }
    }
}
