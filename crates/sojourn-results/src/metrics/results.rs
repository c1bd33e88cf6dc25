//! The results of a run, as plain data for whoever shows or stores them.

use super::rows::{
    ChannelRow, ConnectionRow, DelayPartRow, FirstHalfRow, FlowRow, LatencyHistogramRow, PageRow,
    QueueRow, ServiceFlowRow, TrafficClassRow,
};
use serde::Serialize;
use serde_json::Value;
use sojourn_engine::record::Delay;
use sojourn_engine::record::ModemEvent;
use sojourn_engine::record::PacketRecord;
use sojourn_engine::record::Series;
use sojourn_input::problem::Warning;

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

/// A key that was changed in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// When, in ps of simulated time.
    pub at_ps: u64,
    /// Of several that were changed at once, which alone may not agree: the same number, from 1.
    pub call: u64,
    /// The key in the scenario.
    pub key: String,
    /// Its value from then on.
    pub value: Value,
}

/// Everything a run reports.
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
    /// The planned simulated seconds of a run that was ended before.
    pub planned_s: Option<f64>,
    /// Keys that were changed in the run, in order.
    pub changes: Vec<Change>,
    /// What to know before trusting the results.
    pub warnings: Vec<Warning>,
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
    /// The parts of the delay of each delivered packet, in the order of delivery, if the modem is traced.
    pub delays: Vec<Delay>,
    /// What the packets of each traffic entry and direction spent their time on.
    pub delay_parts: Vec<DelayPartRow>,
    /// What grades read of the first half of the time that counts.
    pub first_half: Vec<FirstHalfRow>,
}
