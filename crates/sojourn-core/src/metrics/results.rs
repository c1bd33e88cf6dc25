//! The results of a run, as plain data for whoever shows or stores them.

use serde::Serialize;

use super::Series;
use super::delay_parts::Delay;
use super::modem_trace::ModemEvent;
use crate::packet::{Direction, DropReason, Ecn, Packet, Segment};
use crate::units::Time;

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It came to its endpoint.
    Delivered,
    /// It was dropped.
    Dropped(DropReason),
    /// Neither until now.
    UnderWay,
}

impl Fate {
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
#[derive(Clone, Debug)]
pub struct PacketRecord {
    /// Its number among all packets of the run, from 0, in the order of sending.
    pub number: u64,
    /// When it was sent.
    pub sent: Time,
    /// Downstream: when it came to the CMTS; never if it was lost before.
    pub reached_cmts: Time,
    /// When its last byte left its service flow: at the modem upstream, at the CMTS downstream; never
    /// if it was dropped before.
    pub passed: Time,
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
    pub fate: Fate,
}

impl PacketRecord {
    /// The line of a packet that is being sent.
    pub fn new(number: u64, connection: Option<u32>, packet: &Packet) -> Self {
        Self {
            number,
            sent: packet.sent_at,
            reached_cmts: Time::NEVER,
            passed: Time::NEVER,
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
            fate: Fate::UnderWay,
        }
    }
}

/// One entry of the traffic list in one direction: a row of the `flows` table. `None` where the
/// measure does not apply or nothing was measured.
#[derive(Clone, Debug, Serialize)]
pub struct FlowRow {
    /// Name of the entry.
    pub traffic: String,
    /// How it is judged: voice, game, pages, responses, video or throughput.
    pub quality: &'static str,
    /// `up` or `down`.
    pub direction: &'static str,
    /// Packets sent.
    pub sent_packets: u64,
    /// Bytes sent, on the wire.
    pub sent_bytes: u64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Bytes delivered, on the wire.
    pub delivered_bytes: u64,
    /// Packets dropped because a queue was full.
    pub dropped_overflow_packets: u64,
    /// Packets dropped early by a queue manager.
    pub dropped_aqm_packets: u64,
    /// Packets lost at random on the link of their server.
    pub dropped_link_packets: u64,
    /// Packets that a modem discarded after 16 requests in vain (DOCSIS 3.1 MULPI §7.2.1).
    pub dropped_contention_packets: u64,
    /// Acknowledgements dropped because a newer one took their place in the modem: no loss.
    pub superseded_packets: u64,
    /// Packets that a queue manager marked (RFC 3168 §5) rather than dropping them.
    pub marked_packets: u64,
    /// Share of packets lost among those delivered or lost, in percent.
    pub loss_percent: Option<f64>,
    /// Bytes on the wire delivered, over the run, in Mbps.
    pub throughput_mbps: f64,
    /// Payload delivered in order, over the run, in Mbps.
    pub goodput_mbps: f64,
    /// One-way latency from sender to receiver, in ms: mean, extremes and quantiles.
    pub latency_mean_ms: Option<f64>,
    /// Least latency.
    pub latency_min_ms: Option<f64>,
    /// Median.
    pub latency_p50_ms: Option<f64>,
    /// 90 % quantile.
    pub latency_p90_ms: Option<f64>,
    /// 99 % quantile.
    pub latency_p99_ms: Option<f64>,
    /// 99.9 % quantile.
    pub latency_p999_ms: Option<f64>,
    /// Greatest latency.
    pub latency_max_ms: Option<f64>,
    /// Game: share of delivered packets, in percent, with more than 20 ms in the access network: the
    /// one-way latency without what the cable and the server's link take of it. White & Rice 2013
    /// §4.1.3 asks for less in the upstream; lost packets are in `loss_percent` alone, as there.
    pub over_20_ms_access_percent: Option<f64>,
    /// Game: share of delivered packets, in percent, that leave a round trip of more than 80 ms, the
    /// budget of Choy et al. in White & Rice 2013 §4.1.3. The way back counts with the mean latency of
    /// what the entry sends that way, or with cable and link alone if that is nothing.
    pub over_80_ms_round_trip_percent: Option<f64>,
    /// Voice: share of packets more than 60 ms later than the fastest, in percent of those that ended.
    pub late_percent: Option<f64>,
    /// Voice: E-model R of White & Padden 2012 §3.2.2: 20 ms added for the rest of the way, late
    /// packets lost.
    pub r_value: Option<f64>,
    /// Voice: mean opinion score, from `r_value`.
    pub mos: Option<f64>,
    /// Voice: E-model R of Hong 2015 §3.2.2.2: mean latency and loss of the network, nothing added,
    /// no packet late.
    pub network_r_value: Option<f64>,
    /// Voice: mean opinion score, from `network_r_value`.
    pub network_mos: Option<f64>,
    /// Web: pages loaded.
    pub page_loads: Option<u64>,
    /// Web: median page load time in s.
    pub page_load_median_s: Option<f64>,
    /// Web: median absolute deviation of the page load time in s.
    pub page_load_mad_s: Option<f64>,
    /// Web: 90 % quantile of the page load time in s.
    pub page_load_p90_s: Option<f64>,
    /// Web sessions: objects that came.
    pub responses: Option<u64>,
    /// Web sessions: mean time in s from the opening of an object's connection to its last byte
    /// (Hong 2015 §3.2.2.3).
    pub response_mean_s: Option<f64>,
    /// Standard deviation of that time in s.
    pub response_stddev_s: Option<f64>,
    /// Median.
    pub response_median_s: Option<f64>,
    /// 90 % quantile.
    pub response_p90_s: Option<f64>,
    /// Video: mean rate of what was played, in Mbps (Hong 2015 §3.2.2.1, videoPlaybackRate).
    pub video_rate_mbps: Option<f64>,
    /// Video: changes of the level per viewer and hour (Hong 2015 §3.2.2.1, adaptationRate).
    pub video_adaptations_per_hour: Option<f64>,
    /// Video: share of the time since playing began in which it stood still, in percent (Hong 2015
    /// §3.2.2.1, rebufferTime).
    pub video_stalled_percent: Option<f64>,
    /// Transfers of known size, and pieces: how many were completed.
    pub transfers_completed: Option<u64>,
    /// Throughput: s from the first packet to the end of the first sampling interval (100 ms by
    /// default, as in White & Rice 2013 §4.4) at 90 % of the service's sustained rate or more. `None`
    /// if there was none.
    pub time_to_sustained_rate_s: Option<f64>,
    /// The same for the service's peak rate.
    pub time_to_peak_rate_s: Option<f64>,
    /// TCP: connections opened, in the rows of both directions.
    pub connections: u64,
    /// TCP: mean in ms of the round-trip times that the senders of this direction measured with their
    /// data (RFC 7323 §4 with timestamps, RFC 6298 §3 without), delayed acknowledgements included.
    pub rtt_mean_ms: Option<f64>,
    /// TCP: mean in ms over acknowledgements of new data of the time since the segment was sent that
    /// they echo: the first of those acknowledged (RFC 7323 §4.3), in ns-2 the latest, so that a
    /// receiver's wait is not in it. Each window weighs by its packets (Hong 2015, table 5.4).
    pub rtt_echo_mean_ms: Option<f64>,
    /// TCP: median round-trip time in ms.
    pub rtt_p50_ms: Option<f64>,
    /// TCP: 90 % quantile in ms.
    pub rtt_p90_ms: Option<f64>,
    /// TCP: 99 % quantile in ms.
    pub rtt_p99_ms: Option<f64>,
    /// TCP: segments that the senders of this direction sent again, those of handshakes too.
    pub retransmitted_packets: u64,
    /// TCP: times that their retransmission timers expired.
    pub timeouts: u64,
}

/// All entries of the traffic list that are judged alike, in one direction: a row of the `qualities`
/// table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QualityRow {
    /// How they are judged: voice, game, pages or throughput.
    pub quality: &'static str,
    /// `up` or `down`.
    pub direction: &'static str,
    /// Entries that sent packets this way.
    pub entries: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Packets dropped because a queue was full.
    pub dropped_overflow_packets: u64,
    /// Packets dropped early by a queue manager.
    pub dropped_aqm_packets: u64,
    /// Packets lost at random on the links of servers.
    pub dropped_link_packets: u64,
    /// Packets that modems discarded after 16 requests in vain.
    pub dropped_contention_packets: u64,
    /// Packets marked by a queue manager.
    pub marked_packets: u64,
    /// Share of packets dropped among those delivered or dropped, in percent.
    pub loss_percent: Option<f64>,
    /// Median one-way latency of all packets together, in ms.
    pub latency_p50_ms: Option<f64>,
    /// 90 % quantile.
    pub latency_p90_ms: Option<f64>,
    /// 99 % quantile.
    pub latency_p99_ms: Option<f64>,
    /// Voice: mean of the entries' mean opinion scores.
    pub mos_mean: Option<f64>,
    /// Voice: the worst of them.
    pub mos_min: Option<f64>,
    /// Web: pages loaded.
    pub page_loads: Option<u64>,
    /// Web: median load time of all pages together, in s.
    pub page_load_median_s: Option<f64>,
    /// Web: median absolute deviation in s.
    pub page_load_mad_s: Option<f64>,
    /// Web: 90 % quantile in s.
    pub page_load_p90_s: Option<f64>,
}

/// One direction of a TCP connection that carried packets: a row of the `connections` table, which
/// has the first of each entry, as many as the scenario's `metrics.connections` says.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionRow {
    /// Name of the entry.
    pub traffic: String,
    /// The home that opened it: its number within the group of the entry, from 1.
    pub home: u16,
    /// Its number among those of its entry, from 1, in the order of opening.
    pub connection: u64,
    /// `up` or `down`.
    pub direction: &'static str,
    /// When it was opened, in s.
    pub start_s: f64,
    /// When both sides were closed, in s; `None` if it was open at the end of the run.
    pub end_s: Option<f64>,
    /// Payload delivered in order, in bytes.
    pub payload_bytes: u64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Bytes delivered, on the wire.
    pub delivered_bytes: u64,
    /// Packets dropped, for any reason.
    pub dropped_packets: u64,
    /// Packets marked by a queue manager.
    pub marked_packets: u64,
    /// Segments sent again, those of the handshake too.
    pub retransmitted_packets: u64,
    /// Times that the retransmission timer expired.
    pub timeouts: u64,
    /// Mean in ms of the round-trip times that the sender measured.
    pub rtt_mean_ms: Option<f64>,
    /// Mean in ms over acknowledgements of new data of the time since the segment was sent that they
    /// echo.
    pub rtt_echo_mean_ms: Option<f64>,
}

/// One queue: a row of the `queues` table.
#[derive(Clone, Debug, Serialize)]
pub struct QueueRow {
    /// Name of the queue.
    pub queue: String,
    /// Packets that left it.
    pub departed_packets: u64,
    /// Sojourn time of those packets in ms.
    pub sojourn_mean_ms: Option<f64>,
    /// Median.
    pub sojourn_p50_ms: Option<f64>,
    /// 90 % quantile.
    pub sojourn_p90_ms: Option<f64>,
    /// 99 % quantile.
    pub sojourn_p99_ms: Option<f64>,
    /// Greatest.
    pub sojourn_max_ms: Option<f64>,
}

/// A service flow of all homes of a group together: a row of the `service_flows` table, with the
/// counters of a modem's management information base (DOCS-QOS3-MIB, docsQosServiceFlowStatsTable).
#[derive(Clone, Debug, Serialize)]
pub struct ServiceFlowRow {
    /// Name of the group of homes.
    pub homes: String,
    /// Name of the flow; `primary` for what no classifier sends elsewhere.
    pub service_flow: String,
    /// `up` or `down`.
    pub direction: &'static str,
    /// Packets sent on (docsQosServiceFlowPkts).
    pub passed_packets: u64,
    /// Their bytes on the wire (docsQosServiceFlowOctets).
    pub passed_bytes: u64,
    /// Packets dropped because the buffer was full (docsQosServiceFlowPolicedDropPkts).
    pub policed_drop_packets: u64,
    /// Packets sent on that were held back by the sustained rate (docsQosServiceFlowPolicedDelayPkts).
    pub policed_delay_packets: u64,
    /// Packets dropped early by the queue manager (White 2014 §9).
    pub aqm_dropped_packets: u64,
    /// Acknowledgements dropped because a newer one took their place: no loss.
    pub superseded_packets: u64,
    /// Packets discarded after 16 requests in vain (DOCSIS 3.1 MULPI §7.2.1).
    pub contention_dropped_packets: u64,
    /// Upstream: requests for bandwidth that the modems made. `None` where there is no MAC.
    pub mac_requests: Option<u64>,
    /// Upstream: requests not heard, as another modem made one in the same opportunity. None are in
    /// the modems of the studies.
    pub mac_collisions: Option<u64>,
    /// Upstream: grants that gave something.
    pub mac_grants: Option<u64>,
    /// Upstream: bytes granted.
    pub mac_granted_bytes: Option<u64>,
    /// Upstream: bytes granted and not used.
    pub mac_unused_bytes: Option<u64>,
}

/// The upstream channel that modems share: the row of the `channels` table, if there is one.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelRow {
    /// `upstream`.
    pub channel: &'static str,
    /// Minislots granted.
    pub granted_minislots: u64,
    /// Their share of all minislots, in percent.
    pub utilisation_percent: f64,
    /// Opportunities to ask for bandwidth in contention.
    pub request_opportunities: u64,
    /// Requests made in them.
    pub contention_requests: u64,
    /// Those of them that collided.
    pub collisions: u64,
}

/// A web page that was loaded: a row of the `pages` table.
#[derive(Clone, Debug, Serialize)]
pub struct PageRow {
    /// Name of the web user.
    pub traffic: String,
    /// When its first request was sent, in s.
    pub start_s: f64,
    /// Until its last object was there, in s.
    pub load_time_s: f64,
    /// Share of the pages of this entry that took no longer, in percent: with the load time, the
    /// distribution that White & Rice 2013 §4.2 plots.
    pub no_slower_percent: f64,
}

/// The distribution of the one-way latency of a flow.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyCells {
    /// Entry of the traffic list.
    pub traffic: String,
    /// `up` or `down`.
    pub direction: &'static str,
    /// Upper edge of the cell in ms and number of packets in it, ascending.
    pub cells: Vec<(f64, u64)>,
}

/// A part of the delay of a traffic entry's packets: a row of the `delay_parts` table. The means of the
/// parts add up to that of `total`; quantiles do not.
#[derive(Clone, Debug, Serialize)]
pub struct DelayPartRow {
    /// Entry of the traffic list.
    pub traffic: String,
    /// `queue`, `request_wait`, `grant_wait`, `shaping`, `transmission`, `path`
    /// ([`crate::metrics::delay_parts::Part`]), or `total`.
    pub part: &'static str,
    /// Packets delivered.
    pub packets: u64,
    /// Mean in ms.
    pub mean_ms: Option<f64>,
    /// Median.
    pub p50_ms: Option<f64>,
    /// 90 % quantile.
    pub p90_ms: Option<f64>,
    /// 99 % quantile.
    pub p99_ms: Option<f64>,
    /// Greatest.
    pub max_ms: Option<f64>,
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
#[derive(Debug)]
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
    /// One row per traffic entry and direction that carried packets.
    pub flows: Vec<FlowRow>,
    /// One row per quality and direction.
    pub qualities: Vec<QualityRow>,
    /// One row per direction of a connection, of the first connections of each entry.
    pub connections: Vec<ConnectionRow>,
    /// One row per group of homes, service flow and direction.
    pub service_flows: Vec<ServiceFlowRow>,
    /// One row for the upstream channel that modems share.
    pub channels: Vec<ChannelRow>,
    /// One row per queue of the first home of each group.
    pub queues: Vec<QueueRow>,
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
