//! The results of a run, as plain data for whoever shows or stores them.

use serde::Serialize;

use super::Series;
use crate::packet::{DropReason, Packet};
use crate::units::Time;

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It came to its endpoint.
    Delivered,
    /// It was dropped.
    Dropped(DropReason),
}

impl Fate {
    /// As it stands in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Dropped(reason) => reason.name(),
        }
    }
}

/// One line of the packet trace.
#[derive(Clone, Copy, Debug)]
pub struct PacketRecord {
    /// When it was sent.
    pub sent: Time,
    /// When it was delivered or dropped.
    pub ended: Time,
    /// Sequence number of its transport.
    pub seq: u64,
    /// Connection or stream.
    pub flow: u32,
    /// Entry of the traffic list.
    pub traffic: u16,
    /// Bytes on the wire.
    pub size: u16,
    /// Which way it went.
    pub direction: crate::packet::Direction,
    /// What became of it.
    pub fate: Fate,
}

impl PacketRecord {
    /// The line of a packet that ended now.
    pub fn new(now: Time, packet: &Packet, fate: Fate) -> Self {
        Self {
            sent: packet.sent_at,
            ended: now,
            seq: packet.segment.seq,
            flow: packet.flow,
            traffic: packet.traffic,
            size: packet.size,
            direction: packet.direction,
            fate,
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
    /// Share of packets dropped among those delivered or dropped, in percent.
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
    /// Voice: share of packets more than 60 ms later than the fastest, in percent of those sent.
    pub late_percent: Option<f64>,
    /// Voice: E-model R.
    pub r_value: Option<f64>,
    /// Voice: mean opinion score.
    pub mos: Option<f64>,
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

/// A web page that was loaded: a row of the `pages` table.
#[derive(Clone, Debug, Serialize)]
pub struct PageRow {
    /// Name of the web user.
    pub traffic: String,
    /// When its first request was sent, in s.
    pub start_s: f64,
    /// Until its last object was there, in s.
    pub load_time_s: f64,
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

/// A series with its subject.
#[derive(Clone, Debug)]
pub struct SeriesRow {
    /// The queue, or the traffic entry with its direction.
    pub subject: String,
    /// The values.
    pub series: Series,
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
    /// One row per traffic entry and direction that carried packets.
    pub flows: Vec<FlowRow>,
    /// One row per queue.
    pub queues: Vec<QueueRow>,
    /// One row per page loaded.
    pub pages: Vec<PageRow>,
    /// Latency distributions of the flows.
    pub latencies: Vec<LatencyCells>,
    /// All series.
    pub series: Vec<SeriesRow>,
    /// The packet trace, empty unless asked for.
    pub packets: Vec<PacketRecord>,
}
