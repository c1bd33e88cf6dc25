//! The results of a run, as tables.

use arrow_array::types::{Float32Type, Float64Type, UInt16Type, UInt32Type, UInt64Type};
use pyo3::prelude::*;
use serde_json::json;
use sojourn_core::metrics::modem_trace::{ModemEvent, ModemEventKind};
use sojourn_core::metrics::results::{
    ChannelRow, ConnectionRow, DelayPartRow, FlowRow, LatencyCells, PacketRecord, PageRow,
    QualityRow, QueueRow, Results, SeriesRow, ServiceFlowRow,
};
use sojourn_core::packet::{DATAGRAM, SackBlock, Segment};
use sojourn_core::units::Time;

use crate::table::{ArrowTable, Columns};

/// What a run tells. Units are in the names of the columns and in their metadata.
#[pyclass(frozen, get_all, module = "sojourn._sojourn")]
pub struct RunResult {
    /// Version, seed, counts, fingerprint and warnings, as JSON.
    meta: String,
    /// One row per traffic entry and direction.
    flows: ArrowTable,
    /// One row per quality and direction.
    qualities: ArrowTable,
    /// One row per direction of a connection, of the first connections of each entry.
    connections: ArrowTable,
    /// One row per group of homes, service flow and direction.
    service_flows: ArrowTable,
    /// One row for the upstream channel that modems share.
    channels: ArrowTable,
    /// One row per queue of the first home of each group.
    queues: ArrowTable,
    /// One row per page loaded.
    pages: ArrowTable,
    /// Distributions of latency: packets by upper edge of the cell.
    latencies: ArrowTable,
    /// Values over time.
    series: ArrowTable,
    /// The packet trace, empty unless asked for.
    packets: ArrowTable,
    /// What happened at the modem of the first home, empty unless asked for.
    modem_events: ArrowTable,
    /// The parts of delay of the packets that passed there, empty unless asked for.
    delay_parts: ArrowTable,
}

impl RunResult {
    /// The tables of a run with this seed.
    pub fn new(results: Results, seed: u64) -> Self {
        Self {
            meta: meta(&results, seed),
            flows: flows(&results.flows),
            qualities: qualities(&results.qualities),
            connections: connections(&results.connections),
            service_flows: service_flows(&results.service_flows),
            channels: channels(&results.channels),
            queues: queues(&results.queues),
            pages: pages(&results.pages),
            latencies: latencies(&results.latencies),
            series: series(&results.series),
            packets: packets(&results),
            modem_events: modem_events(&results.modem_events, &results.traffic),
            delay_parts: delay_parts(&results.delay_parts),
        }
    }
}

fn meta(results: &Results, seed: u64) -> String {
    json!({
        "version": results.version,
        "seed": seed,
        "duration_s": results.duration_s,
        "events": results.events,
        "forwarded_packets": results.forwarded_packets,
        "fingerprint": format!("{:016x}", results.fingerprint),
        "warnings": results.warnings,
    })
    .to_string()
}

fn flows(rows: &[FlowRow]) -> ArrowTable {
    Columns::of(rows)
        .text("traffic", |r| &r.traffic)
        .text("quality", |r| r.quality)
        .text("direction", |r| r.direction)
        .number::<UInt64Type>("sent_packets", |r| r.sent_packets)
        .number::<UInt64Type>("sent_bytes", |r| r.sent_bytes)
        .number::<UInt64Type>("delivered_packets", |r| r.delivered_packets)
        .number::<UInt64Type>("delivered_bytes", |r| r.delivered_bytes)
        .number::<UInt64Type>("dropped_overflow_packets", |r| r.dropped_overflow_packets)
        .number::<UInt64Type>("dropped_aqm_packets", |r| r.dropped_aqm_packets)
        .number::<UInt64Type>("dropped_link_packets", |r| r.dropped_link_packets)
        .number::<UInt64Type>("dropped_contention_packets", |r| r.dropped_contention_packets)
        .number::<UInt64Type>("superseded_packets", |r| r.superseded_packets)
        .number::<UInt64Type>("marked_packets", |r| r.marked_packets)
        .maybe::<Float64Type>("loss_percent", |r| r.loss_percent)
        .number::<Float64Type>("throughput_mbps", |r| r.throughput_mbps)
        .number::<Float64Type>("goodput_mbps", |r| r.goodput_mbps)
        .maybe::<Float64Type>("latency_mean_ms", |r| r.latency_mean_ms)
        .maybe::<Float64Type>("latency_min_ms", |r| r.latency_min_ms)
        .maybe::<Float64Type>("latency_p50_ms", |r| r.latency_p50_ms)
        .maybe::<Float64Type>("latency_p90_ms", |r| r.latency_p90_ms)
        .maybe::<Float64Type>("latency_p99_ms", |r| r.latency_p99_ms)
        .maybe::<Float64Type>("latency_p999_ms", |r| r.latency_p999_ms)
        .maybe::<Float64Type>("latency_max_ms", |r| r.latency_max_ms)
        .maybe::<Float64Type>("over_20_ms_access_percent", |r| r.over_20_ms_access_percent)
        .maybe::<Float64Type>("over_80_ms_round_trip_percent", |r| r.over_80_ms_round_trip_percent)
        .maybe::<Float64Type>("late_percent", |r| r.late_percent)
        .maybe::<Float64Type>("r_value", |r| r.r_value)
        .maybe::<Float64Type>("mos", |r| r.mos)
        .maybe::<Float64Type>("network_r_value", |r| r.network_r_value)
        .maybe::<Float64Type>("network_mos", |r| r.network_mos)
        .maybe::<UInt64Type>("page_loads", |r| r.page_loads)
        .maybe::<Float64Type>("page_load_median_s", |r| r.page_load_median_s)
        .maybe::<Float64Type>("page_load_mad_s", |r| r.page_load_mad_s)
        .maybe::<Float64Type>("page_load_p90_s", |r| r.page_load_p90_s)
        .maybe::<UInt64Type>("responses", |r| r.responses)
        .maybe::<Float64Type>("response_mean_s", |r| r.response_mean_s)
        .maybe::<Float64Type>("response_stddev_s", |r| r.response_stddev_s)
        .maybe::<Float64Type>("response_median_s", |r| r.response_median_s)
        .maybe::<Float64Type>("response_p90_s", |r| r.response_p90_s)
        .maybe::<Float64Type>("video_rate_mbps", |r| r.video_rate_mbps)
        .maybe::<Float64Type>("video_adaptations_per_hour", |r| r.video_adaptations_per_hour)
        .maybe::<Float64Type>("video_stalled_percent", |r| r.video_stalled_percent)
        .maybe::<UInt64Type>("transfers_completed", |r| r.transfers_completed)
        .maybe::<Float64Type>("time_to_sustained_rate_s", |r| r.time_to_sustained_rate_s)
        .maybe::<Float64Type>("time_to_peak_rate_s", |r| r.time_to_peak_rate_s)
        .number::<UInt64Type>("connections", |r| r.connections)
        .maybe::<Float64Type>("rtt_mean_ms", |r| r.rtt_mean_ms)
        .maybe::<Float64Type>("rtt_echo_mean_ms", |r| r.rtt_echo_mean_ms)
        .maybe::<Float64Type>("rtt_p50_ms", |r| r.rtt_p50_ms)
        .maybe::<Float64Type>("rtt_p90_ms", |r| r.rtt_p90_ms)
        .maybe::<Float64Type>("rtt_p99_ms", |r| r.rtt_p99_ms)
        .number::<UInt64Type>("retransmitted_packets", |r| r.retransmitted_packets)
        .number::<UInt64Type>("timeouts", |r| r.timeouts)
        .table()
}

fn qualities(rows: &[QualityRow]) -> ArrowTable {
    Columns::of(rows)
        .text("quality", |r| r.quality)
        .text("direction", |r| r.direction)
        .number::<UInt64Type>("entries", |r| r.entries)
        .number::<UInt64Type>("sent_packets", |r| r.sent_packets)
        .number::<UInt64Type>("delivered_packets", |r| r.delivered_packets)
        .number::<UInt64Type>("dropped_overflow_packets", |r| r.dropped_overflow_packets)
        .number::<UInt64Type>("dropped_aqm_packets", |r| r.dropped_aqm_packets)
        .number::<UInt64Type>("dropped_link_packets", |r| r.dropped_link_packets)
        .number::<UInt64Type>("dropped_contention_packets", |r| r.dropped_contention_packets)
        .number::<UInt64Type>("marked_packets", |r| r.marked_packets)
        .maybe::<Float64Type>("loss_percent", |r| r.loss_percent)
        .maybe::<Float64Type>("latency_p50_ms", |r| r.latency_p50_ms)
        .maybe::<Float64Type>("latency_p90_ms", |r| r.latency_p90_ms)
        .maybe::<Float64Type>("latency_p99_ms", |r| r.latency_p99_ms)
        .maybe::<Float64Type>("mos_mean", |r| r.mos_mean)
        .maybe::<Float64Type>("mos_min", |r| r.mos_min)
        .maybe::<UInt64Type>("page_loads", |r| r.page_loads)
        .maybe::<Float64Type>("page_load_median_s", |r| r.page_load_median_s)
        .maybe::<Float64Type>("page_load_mad_s", |r| r.page_load_mad_s)
        .maybe::<Float64Type>("page_load_p90_s", |r| r.page_load_p90_s)
        .table()
}

fn connections(rows: &[ConnectionRow]) -> ArrowTable {
    Columns::of(rows)
        .word("traffic", |r| &r.traffic)
        .number::<UInt16Type>("home", |r| r.home)
        .number::<UInt64Type>("connection", |r| r.connection)
        .word("direction", |r| r.direction)
        .number::<Float64Type>("start_s", |r| r.start_s)
        .maybe::<Float64Type>("end_s", |r| r.end_s)
        .number::<UInt64Type>("payload_bytes", |r| r.payload_bytes)
        .number::<UInt64Type>("delivered_packets", |r| r.delivered_packets)
        .number::<UInt64Type>("delivered_bytes", |r| r.delivered_bytes)
        .number::<UInt64Type>("dropped_packets", |r| r.dropped_packets)
        .number::<UInt64Type>("marked_packets", |r| r.marked_packets)
        .number::<UInt64Type>("retransmitted_packets", |r| r.retransmitted_packets)
        .number::<UInt64Type>("timeouts", |r| r.timeouts)
        .maybe::<Float64Type>("rtt_mean_ms", |r| r.rtt_mean_ms)
        .maybe::<Float64Type>("rtt_echo_mean_ms", |r| r.rtt_echo_mean_ms)
        .table()
}

fn service_flows(rows: &[ServiceFlowRow]) -> ArrowTable {
    Columns::of(rows)
        .text("homes", |r| &r.homes)
        .text("service_flow", |r| &r.service_flow)
        .text("direction", |r| r.direction)
        .number::<UInt64Type>("passed_packets", |r| r.passed_packets)
        .number::<UInt64Type>("passed_bytes", |r| r.passed_bytes)
        .number::<UInt64Type>("policed_drop_packets", |r| r.policed_drop_packets)
        .number::<UInt64Type>("policed_delay_packets", |r| r.policed_delay_packets)
        .number::<UInt64Type>("aqm_dropped_packets", |r| r.aqm_dropped_packets)
        .number::<UInt64Type>("superseded_packets", |r| r.superseded_packets)
        .number::<UInt64Type>("contention_dropped_packets", |r| r.contention_dropped_packets)
        .maybe::<UInt64Type>("mac_requests", |r| r.mac_requests)
        .maybe::<UInt64Type>("mac_collisions", |r| r.mac_collisions)
        .maybe::<UInt64Type>("mac_grants", |r| r.mac_grants)
        .maybe::<UInt64Type>("mac_granted_bytes", |r| r.mac_granted_bytes)
        .maybe::<UInt64Type>("mac_unused_bytes", |r| r.mac_unused_bytes)
        .table()
}

fn channels(rows: &[ChannelRow]) -> ArrowTable {
    Columns::of(rows)
        .text("channel", |r| r.channel)
        .number::<UInt64Type>("granted_minislots", |r| r.granted_minislots)
        .number::<Float64Type>("utilisation_percent", |r| r.utilisation_percent)
        .number::<UInt64Type>("request_opportunities", |r| r.request_opportunities)
        .number::<UInt64Type>("contention_requests", |r| r.contention_requests)
        .number::<UInt64Type>("collisions", |r| r.collisions)
        .table()
}

fn queues(rows: &[QueueRow]) -> ArrowTable {
    Columns::of(rows)
        .text("queue", |r| &r.queue)
        .number::<UInt64Type>("departed_packets", |r| r.departed_packets)
        .maybe::<Float64Type>("sojourn_mean_ms", |r| r.sojourn_mean_ms)
        .maybe::<Float64Type>("sojourn_p50_ms", |r| r.sojourn_p50_ms)
        .maybe::<Float64Type>("sojourn_p90_ms", |r| r.sojourn_p90_ms)
        .maybe::<Float64Type>("sojourn_p99_ms", |r| r.sojourn_p99_ms)
        .maybe::<Float64Type>("sojourn_max_ms", |r| r.sojourn_max_ms)
        .table()
}

fn pages(rows: &[PageRow]) -> ArrowTable {
    Columns::of(rows)
        .text("traffic", |r| &r.traffic)
        .number::<Float64Type>("start_s", |r| r.start_s)
        .number::<Float64Type>("load_time_s", |r| r.load_time_s)
        .number::<Float64Type>("no_slower_percent", |r| r.no_slower_percent)
        .table()
}

fn latencies(distributions: &[LatencyCells]) -> ArrowTable {
    let rows: Vec<_> =
        distributions.iter().flat_map(|d| d.cells.iter().map(move |cell| (d, cell))).collect();
    Columns::of(&rows)
        .word("traffic", |(d, _)| &d.traffic)
        .word("direction", |(d, _)| d.direction)
        .number::<Float64Type>("latency_ms", |(_, cell)| cell.0)
        .number::<UInt64Type>("packets", |(_, cell)| cell.1)
        .table()
}

fn series(all: &[SeriesRow]) -> ArrowTable {
    let rows: Vec<_> =
        all.iter().flat_map(|s| (0..s.series.values.len()).map(move |index| (s, index))).collect();
    Columns::of(&rows)
        .word("subject", |(s, _)| &s.subject)
        .word("metric", |(s, _)| s.series.metric)
        .word("unit", |(s, _)| s.series.unit)
        // The end of the interval that the value is of.
        .number::<Float64Type>("time_s", |(s, index)| (s.offset + index + 1) as f64 * s.interval_s)
        .maybe::<Float32Type>("value", |(s, index)| {
            Some(s.series.values[*index]).filter(|value| !value.is_nan())
        })
        .table()
}

fn packets(results: &Results) -> ArrowTable {
    let Results { traffic, ports, servers, timestamps, .. } = results;
    let has_timestamps =
        |r: &PacketRecord| r.flow != DATAGRAM && timestamps[usize::from(r.traffic)];
    Columns::of(&results.packets)
        .number::<UInt64Type>("packet", |r| r.number)
        .word("traffic", |r| &traffic[usize::from(r.traffic)])
        .word("direction", |r| r.direction.name())
        .number::<UInt16Type>("home", |r| r.home + 1)
        .word("server", |r| &servers[usize::from(r.server)])
        .number::<UInt16Type>("server_port", |r| ports[usize::from(r.traffic)])
        .maybe::<UInt32Type>("flow", |r| Some(r.flow).filter(|flow| *flow != DATAGRAM))
        .maybe::<UInt32Type>("connection", |r| r.connection)
        .number::<UInt64Type>("seq", |r| r.segment.seq)
        .maybe::<UInt64Type>("ack", |r| Some(r.segment.ack).filter(|_| r.segment.is_ack))
        .maybe_word("flags", flags)
        .number::<UInt16Type>("payload_bytes", payload_bytes)
        .number::<UInt16Type>("size_bytes", |r| r.size)
        .maybe::<Float64Type>("echo_s", |r| has_timestamps(r).then(|| r.segment.echo.secs_f64()))
        .maybe_word("sack", sack)
        .word("ecn", |r| r.ecn.name())
        .number::<Float64Type>("sent_s", |r| r.sent.secs_f64())
        .maybe::<Float64Type>("reached_cmts_s", |r| seconds(r.reached_cmts))
        .maybe::<Float64Type>("passed_s", |r| seconds(r.passed))
        .number::<Float64Type>("ended_s", |r| r.ended.secs_f64())
        .flag("marked", |r| r.marked)
        .word("fate", |r| r.fate.name())
        .table()
}

/// A time, unless it was never.
fn seconds(time: Time) -> Option<f64> {
    (time != Time::NEVER).then(|| time.secs_f64())
}

/// A datagram has no length of its own: UDP's and IPv4's headers are in its size.
fn payload_bytes(record: &PacketRecord) -> u16 {
    if record.flow == DATAGRAM { record.size.saturating_sub(28) } else { record.segment.len }
}

/// The flags of a segment, `None` for a datagram.
fn flags(record: &PacketRecord) -> Option<String> {
    let Segment { syn, is_ack, fin, echoes_mark, window_reduced, .. } = record.segment;
    let all = [
        (syn, "syn"),
        (is_ack, "ack"),
        (fin, "fin"),
        (echoes_mark, "ece"),
        (window_reduced, "cwr"),
    ];
    let set = all.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name);
    (record.flow != DATAGRAM).then(|| set.collect::<Vec<_>>().join(" "))
}

/// What is held beyond the acknowledgement, as sequence numbers: `2921-4381 7301-8761`.
fn sack(record: &PacketRecord) -> Option<String> {
    let ack = record.segment.ack;
    let block = |b: &SackBlock| format!("{}-{}", ack + u64::from(b.start), ack + u64::from(b.end));
    let blocks: Vec<_> = record.segment.sack.iter().filter(|b| b.end > 0).map(block).collect();
    (!blocks.is_empty()).then(|| blocks.join(" "))
}

fn modem_events(rows: &[ModemEvent], traffic: &[String]) -> ArrowTable {
    let reason = |r: &ModemEvent| match r.kind {
        ModemEventKind::Drop(reason) => Some(reason.name()),
        _ => None,
    };
    Columns::of(rows)
        .number::<Float64Type>("time_s", |r| r.at.secs_f64())
        .word("event", |r| r.kind.name())
        .maybe::<UInt64Type>("packet", |r| r.packet)
        .maybe_word("traffic", |r| r.traffic.map(|entry| &traffic[usize::from(entry)]))
        .maybe::<UInt32Type>("connection", |r| r.connection)
        .number::<UInt64Type>("bytes", |r| r.bytes)
        .maybe_word("reason", reason)
        .number::<Float64Type>("tokens_bytes", |r| r.tokens)
        .number::<UInt64Type>("backlog_packets", |r| r.backlog.packets)
        .number::<UInt64Type>("backlog_bytes", |r| r.backlog.bytes)
        .table()
}

fn delay_parts(rows: &[DelayPartRow]) -> ArrowTable {
    Columns::of(rows)
        .text("traffic", |r| &r.traffic)
        .text("direction", |_| "up")
        .text("part", |r| r.part)
        .number::<UInt64Type>("delivered_packets", |r| r.packets)
        .maybe::<Float64Type>("mean_ms", |r| r.mean_ms)
        .maybe::<Float64Type>("p50_ms", |r| r.p50_ms)
        .maybe::<Float64Type>("p90_ms", |r| r.p90_ms)
        .maybe::<Float64Type>("p99_ms", |r| r.p99_ms)
        .maybe::<Float64Type>("max_ms", |r| r.max_ms)
        .table()
}
