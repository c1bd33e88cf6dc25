//! The scenario's options of what a run measures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Metrics {
    /// When counting begins, in s: the warm-up before it is left out of distributions, counts, rates and
    /// scores. Every table counts a packet that is sent from then on, and no other: entries, connections, service
    /// flows, queues, their members and parts of delay. Requests, grants and minislots count from then on; pages and responses count that are requested from then on. Rates are over
    /// the time from then to the end. Series, traces, `connections` of `flows` and times to a rate are
    /// of the whole run.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub from_s: f64,
    /// Time between the values of all series in ms (White & Rice 2013 §4.4: 100). In long runs it
    /// is doubled until a series has at most 4096 values.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    pub series_interval_ms: f64,
    /// Keep headers, times and outcome of every packet. Memory then grows with the run: about 400
    /// bytes a packet. A trace holds at most 16 777 215 packets; if it is full, a warning says
    /// since when.
    pub packet_trace: bool,
    /// Record every event of the first home's primary upstream service flow, and the parts of its
    /// packets' delay. Memory then grows with the run: about 600 bytes a packet. A trace holds at
    /// most 16 777 216 events; if it is full, a warning says since when.
    pub modem_trace: bool,
    /// Number of flows of each queue that are recorded one by one, in order of arrival: time series
    /// of bin, weight, deficit and state of the AQM algorithm. It has an effect with queue managers
    /// that distinguish flows.
    #[schemars(range(min = 0, max = 64))]
    pub watch_flows: u32,
    /// Number of connections of each traffic entry that are recorded one by one: a row of
    /// `connections` and a throughput series for each direction, at most 33 kB together. Further
    /// connections count only in the sums of their entry, so memory does not grow with simulated
    /// time. The default is the number that the largest entry of White & Rice 2013 §3.6 opens at
    /// once.
    #[schemars(range(min = 0, max = 100_000))]
    pub connections: u32,
    /// Number of connections of each traffic entry, of those that are recorded one by one, whose senders are
    /// sampled: time series of the congestion window (cwnd), the slow-start threshold, the smoothed round-trip time and the
    /// pacing rate, at most 66 kB together in each direction. Gauges of a congestion control of your own are
    /// series of all recorded connections.
    #[schemars(range(min = 0, max = 1000))]
    pub watch_connections: u32,
    /// The group of homes that grades, measures and answers are of. Default: that of the real programs where one
    /// group alone has some, else all of them, the worst of a kind counting and rates being summed. Tables have all
    /// homes either way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homes: Option<String>,
    /// How calls are scored, chosen by `kind`: `cole_rosenbluth`, as in the studies, or `g107`.
    pub voice_model: VoiceModel,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            from_s: 0.0,
            series_interval_ms: 100.0,
            packet_trace: false,
            modem_trace: false,
            watch_flows: 0,
            connections: 32,
            watch_connections: 0,
            homes: None,
            voice_model: VoiceModel::default(),
        }
    }
}

/// The E-model of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum VoiceModel {
    /// The reduced model of Cole and Rosenbluth 2001 for G.711 (White & Padden 2012 §3.2.2, Hong 2015
    /// §3.2.2.2).
    #[default]
    ColeRosenbluth,
    /// ITU-T G.107 with its default values: R is 93.2 without delay and loss.
    G107 {
        /// The codec's packet-loss robustness factor Bpl. G.711 has 4.3 without concealment (G.107)
        /// and 25.1 with the concealment of its appendix I.
        #[serde(default = "loss_robustness")]
        #[schemars(range(min = 1.0, max = 40.0))]
        loss_robustness: f64,
    },
}

fn loss_robustness() -> f64 {
    4.3
}
