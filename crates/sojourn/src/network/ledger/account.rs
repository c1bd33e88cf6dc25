//! The account of a traffic entry in one direction.

use super::ramp::Ramp;
use sojourn_engine::count::{Count, Tally};
use sojourn_engine::packet::{DropReason, Packet};
use sojourn_engine::record::{Latency, LatencyMeter, Series, TimeMean};
use sojourn_engine::record::{PacketEvent, PacketEventKind};
use sojourn_engine::units::{Time, mbps};
use sojourn_results::scores::frames::Frames;
use sojourn_results::scores::inputs::Inputs;
use sojourn_results::scores::nqb::Bound;
use sojourn_results::scores::playout::{Played, Playout};

sojourn_engine::series! {
    /// Bytes on the wire delivered in the sampling interval.
    THROUGHPUT = "throughput", in "Mbps";
    /// Mean of the round-trip times that TCP measured in the interval.
    RTT = "rtt", in "ms", from "RFC 7323, section 4; RFC 6298, section 3";
}

/// The account of one entry of the traffic list in one direction.
pub(crate) struct Account {
    /// Sent by its endpoints.
    pub sent: Count,
    /// Delivered to its endpoints.
    pub delivered: Count,
    /// Dropped, by reason.
    pub dropped: [Count; DropReason::ALL.len()],
    /// When packets were delivered or dropped less when they were sent, in ps: the sum wraps around until that of the
    /// packets under way is added.
    pub(super) lived_ps: u128,
    /// Packets that a queue marked rather than dropped.
    pub marked_packets: u64,
    /// Packets that Queue Protection kept out of a low-latency queue.
    pub sanctioned_packets: u64,
    /// Delivered packets that carried payload.
    pub data_packets: u64,
    /// Payload bytes delivered in order to the application.
    pub goodput_bytes: u64,
    /// One-way latency from sending to delivery.
    pub latency: Latency,
    /// That of the packet that was delivered first.
    pub first_latency: Time,
    /// Bytes on the wire delivered, over time.
    pub throughput: Series,
    /// Round-trip times that its senders measured with the data of this direction.
    pub round_trips: LatencyMeter,
    /// Those of datagrams, by what went in bulk meanwhile.
    pub by_load: [Latency; 4],
    /// Ages of the segments that acknowledgements of its new data echo.
    pub echoes: TimeMean,
    /// When the first packet was sent.
    pub first_sent: Option<Time>,
    /// The playout buffers of its calls, if they adapt.
    pub calls: Calls,
    /// The frames of its video calls and games from afar, if it has any.
    pub frames: Option<Box<Frames>>,
    /// The inputs that such frames show, if it sends some.
    pub inputs: Option<Box<Inputs>>,
    /// The bound on its senders, if they claim to build no queue.
    pub nqb: Option<Box<Bound>>,
    /// How soon it got to the sustained rate of the service.
    pub to_sustained: Ramp,
    /// How soon it got to the peak rate of the service.
    pub to_peak: Ramp,
    pub(super) interval_bytes: u64,
    /// What its TCP senders did twice, of the connections that have been settled, and before the
    /// counting.
    pub(super) tally: Tally,
    pub(super) tally_before: Tally,
}

impl Account {
    pub(super) fn new(rates: Rates) -> Self {
        Self {
            sent: Count::default(),
            delivered: Count::default(),
            dropped: Default::default(),
            lived_ps: 0,
            marked_packets: 0,
            sanctioned_packets: 0,
            data_packets: 0,
            goodput_bytes: 0,
            latency: Latency::default(),
            first_latency: Time::ZERO,
            throughput: Series::of(THROUGHPUT),
            round_trips: LatencyMeter::new(RTT),
            by_load: Default::default(),
            echoes: TimeMean::default(),
            first_sent: None,
            calls: Calls::default(),
            frames: None,
            inputs: None,
            nqb: None,
            to_sustained: Ramp::to(rates.sustained_mbps),
            to_peak: Ramp::to(rates.peak_mbps),
            interval_bytes: 0,
            tally: Tally::default(),
            tally_before: Tally::default(),
        }
    }

    pub(super) fn sample(&mut self, now: Time, interval: Time) {
        let bytes = std::mem::take(&mut self.interval_bytes);
        let mbps = mbps(bytes, interval);
        self.throughput.push(mbps);
        self.to_sustained.sample(now, mbps);
        self.to_peak.sample(now, mbps);
        self.round_trips.sample();
    }

    /// What its TCP senders did twice, of the connections that have been settled.
    pub(crate) fn tally(&self) -> Tally {
        self.tally.since(self.tally_before)
    }

    /// Something happened to a packet that counts.
    pub(super) fn post(&mut self, event: &PacketEvent) {
        match event.kind {
            PacketEventKind::Dropped(reason) => {
                let dropped = &mut self.dropped[reason as usize];
                *dropped = dropped.with(event.size.into());
                self.lived_ps = self.lived_ps.wrapping_add(event.at.ps().into());
                if let Some(buffer) = self.calls.buffer(event.home) {
                    buffer.drop_one();
                }
            }
            PacketEventKind::Marked => self.marked_packets += 1,
            PacketEventKind::Sanctioned => self.sanctioned_packets += 1,
        }
    }

    /// All drops together.
    pub(crate) fn dropped_in_all(&self) -> Count {
        self.dropped.iter().fold(Count::default(), |sum, count| sum.plus(*count))
    }

    /// Packets lost: dropped, and not because another one says all that they said.
    pub(crate) fn lost_packets(&self) -> u64 {
        let superseded = self.dropped[DropReason::Superseded as usize];
        self.dropped_in_all().packets - superseded.packets
    }

    /// What was sent and neither delivered nor dropped.
    pub(super) fn outstanding(&self) -> Count {
        self.sent.minus(self.delivered.plus(self.dropped_in_all()))
    }
}

/// The playout buffers of an entry's calls, one in each of its homes; none if they do not adapt.
#[derive(Default)]
pub(crate) struct Calls {
    first_home: usize,
    buffers: Box<[Playout]>,
}

impl Calls {
    /// Empty buffers of `homes` homes from `first_home` on that count packets sent from `from` on.
    pub(super) fn new(first_home: usize, homes: usize, from: Time) -> Self {
        Self { first_home, buffers: (0..homes).map(|_| Playout::counting_from(from)).collect() }
    }

    #[inline]
    pub(super) fn arrive(&mut self, now: Time, packet: &Packet) {
        if let Some(buffer) = self.buffer(packet.home) {
            buffer.arrive(now, packet.sent_at);
        }
    }

    /// The buffer of a home.
    #[inline]
    pub(super) fn buffer(&mut self, home: u16) -> Option<&mut Playout> {
        let is_any = !self.buffers.is_empty();
        is_any.then(|| &mut self.buffers[usize::from(home) - self.first_home])
    }

    /// The time between the packets of a call, as its first ones show it.
    pub(crate) fn interval(&self) -> Option<Time> {
        self.buffers.iter().find_map(Playout::interval)
    }

    /// Packets under way at `end` that come too late to be played.
    pub(crate) fn overdue_packets(&self, end: Time, interval: Time) -> u64 {
        self.buffers.iter().map(|buffer| buffer.overdue_packets(end, interval)).sum()
    }

    /// What came of all of them; nothing if they do not adapt.
    pub(crate) fn played(&self) -> Option<Played> {
        let played = self.buffers.iter().map(Playout::played);
        (!self.buffers.is_empty()).then(|| played.fold(Played::default(), Played::plus))
    }
}

/// The rates of the primary service flow of an entry's homes, all of them together.
#[derive(Clone, Copy)]
pub(crate) struct Rates {
    /// Maximum sustained traffic rate.
    pub sustained_mbps: f64,
    /// Peak traffic rate.
    pub peak_mbps: f64,
}
