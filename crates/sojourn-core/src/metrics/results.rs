//! The results of a run, as plain data for whoever shows or stores them.

use super::Series;
use super::delay_parts::Delay;
use super::modem_trace::ModemEvent;
use super::rows::{
    ChannelRow, ConnectionRow, DelayPartRow, FlowRow, LatencyHistogramRow, PageRow, QueueRow,
    ServiceFlowRow, TrafficClassRow,
};
use crate::packet::{Direction, DropReason, Ecn, Packet, Segment};
use crate::units::Time;

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It came to its endpoint.
    Delivered,
    /// It was dropped.
    Dropped(DropReason),
    /// Neither until now.
    UnderWay,
}

impl Outcome {
    /// As it stands in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Dropped(reason) => reason.name(),
            Self::UnderWay => "under_way",
        }
    }
}

/// One line of the packet trace.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketRecord {
    /// Its number among all packets of the run, from 0, in the order of sending.
    pub number: u64,
    /// When it was sent.
    pub sent: Time,
    /// Downstream: when it came to the CMTS; never if it was lost before.
    pub reached_cmts: Time,
    /// When its last byte left its service flow: at the modem upstream, at the CMTS downstream; never
    /// if it was dropped before.
    pub forwarded: Time,
    /// When it was delivered or dropped; never while it is under way.
    pub ended: Time,
    /// Its transport header.
    pub segment: Segment,
    /// Slot of its connection; [`crate::packet::DATAGRAM`] for none.
    pub flow: u32,
    /// Number of the connection among those of its entry, from 1; `None` for a datagram.
    pub connection: Option<u32>,
    /// Entry of the traffic list.
    pub traffic: u16,
    /// The home it comes from or goes to, by its number in the network from 0.
    pub home: u16,
    /// The server it goes to or comes from, by its number in the scenario from 0.
    pub server: u16,
    /// Bytes on the wire.
    pub size: u16,
    /// Which way it went.
    pub direction: Direction,
    /// Its ECN field as it was sent.
    pub ecn: Ecn,
    /// A queue marked it.
    pub marked: bool,
    /// What became of it.
    pub outcome: Outcome,
}

impl PacketRecord {
    /// The line of a packet that is being sent.
    pub fn new(number: u64, connection: Option<u32>, packet: &Packet) -> Self {
        Self {
            number,
            sent: packet.sent_at,
            reached_cmts: Time::NEVER,
            forwarded: Time::NEVER,
            ended: Time::NEVER,
            segment: packet.segment.clone(),
            flow: packet.flow,
            connection,
            traffic: packet.traffic,
            home: packet.home,
            server: packet.server,
            size: packet.size,
            direction: packet.direction,
            ecn: packet.ecn,
            marked: false,
            outcome: Outcome::UnderWay,
        }
    }
}

/// The distribution of the one-way latency of a flow.
#[derive(Clone, Debug)]
pub struct LatencyCells {
    /// Entry of the traffic list.
    pub traffic: String,
    /// `up` or `down`.
    pub direction: &'static str,
    /// Upper edge of the cell in ms and number of packets in it, ascending.
    pub cells: Vec<(f64, u64)>,
}

/// A series with its subject.
#[derive(Clone, Debug)]
pub struct SeriesRow {
    /// The queue, or the traffic entry with its direction and the number of a connection.
    pub subject: String,
    /// The values.
    pub series: Series,
    /// Intervals before the first value: a connection has none before it opens.
    pub offset: usize,
    /// Seconds between its values.
    pub interval_s: f64,
}

/// Everything a run tells.
#[derive(Debug, Default)]
pub struct Results {
    /// Version of this library.
    pub version: &'static str,
    /// Simulated seconds.
    pub duration_s: f64,
    /// Wake-ups handled.
    pub events: u64,
    /// Packets delivered end to end that carried payload.
    pub forwarded_packets: u64,
    /// Hash over the time and stage of every event: equal for equal runs, bit for bit.
    pub fingerprint: u64,
    /// What to know before trusting the results.
    pub warnings: Vec<String>,
    /// Names of the traffic entries, by the index that packet records carry.
    pub traffic: Vec<String>,
    /// Names of the servers, by the number that packet records carry.
    pub servers: Vec<String>,
    /// Ports of the servers of a traffic entry, by its index.
    pub ports: Vec<u16>,
    /// Do the segments of a traffic entry carry timestamps (RFC 7323)? By its index.
    pub timestamps: Vec<bool>,
    /// Are the connections of a traffic entry QUIC's? By its index.
    pub quic: Vec<bool>,
    /// One row per traffic entry and direction that carried packets.
    pub flows: Vec<FlowRow>,
    /// One row per quality and direction.
    pub traffic_classes: Vec<TrafficClassRow>,
    /// One row per direction of a connection, of the first connections of each entry.
    pub connections: Vec<ConnectionRow>,
    /// One row per group of homes, service flow and direction.
    pub service_flows: Vec<ServiceFlowRow>,
    /// One row for the upstream channel that modems share.
    pub channels: Vec<ChannelRow>,
    /// One row per queue of the first home of each group.
    pub queues: Vec<QueueRow>,
    /// One row per bin of the latency histograms of aggregates.
    pub latency_histogram: Vec<LatencyHistogramRow>,
    /// One row per page loaded.
    pub pages: Vec<PageRow>,
    /// Latency distributions of the flows.
    pub latencies: Vec<LatencyCells>,
    /// All series.
    pub series: Vec<SeriesRow>,
    /// The packet trace, empty unless asked for.
    pub packets: Vec<PacketRecord>,
    /// What happened at the modem of the first home, empty unless asked for.
    pub modem_events: Vec<ModemEvent>,
    /// The parts of the delay of each packet that came through there, in the order of delivery.
    pub delays: Vec<Delay>,
    /// The same by traffic entry.
    pub delay_parts: Vec<DelayPartRow>,
}
