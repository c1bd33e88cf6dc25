//! What the tests of this folder are built from: round numbers, so that arithmetic is short.

use std::sync::LazyLock;

use super::framing::Framing;
use super::regularity::Grid;
use super::timing::{PlantTiming, Specification, Timing};
use super::upstream_channel::{Phy, ScQam, UpstreamChannel};
use super::upstream_service_flow::UpstreamServiceFlow;
use crate::context::ServiceFlowContext;
use crate::service::Upstream;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::{Packet, Segment};
use sojourn_engine::queue::Queue;
use sojourn_engine::record::{DelayBook, Recorder, ServiceFlowBook, Trace};
use sojourn_engine::token_bucket::TokenBucket;
use sojourn_engine::units::{BitRate, Time};

pub(super) const MS: fn(u64) -> Time = Time::from_ms;
pub(super) const US: fn(u64) -> Time = Time::from_us;

/// 8 Mbps, which are a byte per us, and a peak rate of twice that.
pub(super) const SERVICE: &str = "sustained_mbps = 8\npeak_mbps = 16\nburst_bytes = 5000\n";

/// A service with these keys.
pub(super) fn upstream(keys: &str) -> Upstream {
    toml::from_str(&format!("{SERVICE}{keys}")).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The primary flow of the only home.
pub(super) fn context() -> ServiceFlowContext<'static> {
    ServiceFlowContext::lone(Dialect::Rfc, 1)
}

/// A channel of minislots of 8 B and 2 us, which nothing precedes or follows: 1000 of them and 8000 B are in a
/// MAP interval of 2 ms.
pub(super) fn plain_channel() -> UpstreamChannel {
    let phy = ScQam {
        symbol_rate_ksps: 4000,
        symbol_bits: 8,
        minislot_symbols: 8,
        preamble_symbols: 0,
        guard_symbols: 0,
        parity_bytes: 0,
        ..ScQam::default()
    };
    let phy = Phy::ScQam(phy);
    UpstreamChannel { channels: 1, segment_header_bytes: 0, phy, ..UpstreamChannel::default() }
}

pub(super) fn plain_framing() -> Framing {
    Framing::of(&plain_channel())
}

/// MAPs every 2 ms, each of which grants what was requested two intervals before.
pub(super) fn documents() -> Timing {
    Timing::new(&PlantTiming::DOCUMENTS, MS(2), None)
}

/// The plant with the fixed times of the specification.
pub(super) fn specified() -> PlantTiming<'static> {
    static SPECIFICATION: LazyLock<Specification> = LazyLock::new(Specification::default);
    PlantTiming { spec: Some(&SPECIFICATION), ..PlantTiming::DOCUMENTS }
}

/// A flow on the shared channel, with 10 B of header for each packet.
pub(super) fn shared_flow(keys: &str) -> UpstreamServiceFlow {
    let grid = Grid { map_interval: MS(2), frame: None, overhead: 10, is_own: false };
    UpstreamServiceFlow::new(&upstream(keys), &context(), &documents(), &grid, 0)
}

/// A bucket of 8 Mbps that holds 20 000 B.
pub(super) fn deep_bucket() -> TokenBucket {
    TokenBucket::new(BitRate::from_mbps(8.0), 20_000)
}

/// A packet with this number.
pub(super) fn packet(number: u8, size: u16) -> Packet {
    Packet { number: [number, 0, 0], ..Packet::datagram(size) }
}

/// One for the low-latency flow of an aggregate.
pub(super) fn low_latency(packet: Packet) -> Packet {
    Packet { segment: Segment { dscp: 45, ..Segment::default() }, ..packet }
}

/// The rate in Mbps that the tracking algorithm of a queue shows in its only sample: 8 Mbps at first, and half-way to what MAPs
/// brought in 16 ms where each left something ungranted.
pub(super) fn rate_estimate(queue: &Queue) -> f32 {
    let mut series = queue.series();
    let (_, shown) = series.find(|(_, of)| of.metric == "rate_estimate").expect("it tracks");
    shown.values[0]
}

/// Keys of an algorithm that tracks the rate of the channel.
pub(super) const TRACKING: &str = "queue.law = { kind = 'docsis_pie', track_rate = true }\n";

/// A recorder that keeps what happens at the modem.
pub(super) fn tracing() -> Recorder {
    let delays = DelayBook::new(Time::ZERO, 1, false);
    Recorder::new(ServiceFlowBook::lone(), delays, Trace::new(false, true), Time::NEVER)
}

/// What has happened there: when, what, and with how many bytes.
pub(super) fn events(recorder: &mut Recorder) -> Vec<(Time, &'static str, u64)> {
    let trace = recorder.take_trace().expect("it keeps one");
    let events = trace.finish().1.expect("of the modem").finish();
    events.iter().map(|event| (event.at, event.kind.name(), event.bytes)).collect()
}

/// What of these kinds has happened there.
pub(super) fn events_of(recorder: &mut Recorder, kinds: &[&str]) -> Vec<(Time, &'static str, u64)> {
    let mut all = events(recorder);
    all.retain(|(_, kind, _)| kinds.contains(kind));
    all
}
