//! The rows of the `traffic_classes` table.

use super::super::Simulation;
use super::flows::{load_times_s, percent};
use sojourn_engine::packet::Direction;
use sojourn_engine::record::Latency;
use sojourn_results::metrics::rows::{FlowRow, TrafficClassRow};
use sojourn_results::scores::qoe;
use sojourn_scenario::apps::{Done, Quality};

/// One row for each quality and direction with packets; `flows` are the rows of all entries.
pub(super) fn rows(run: &Simulation, flows: &[FlowRow], done: &[Done]) -> Vec<TrafficClassRow> {
    Quality::ALL
        .iter()
        .flat_map(|quality| Direction::BOTH.map(|direction| (quality, direction)))
        .filter_map(|(quality, direction)| class_row(run, *quality, direction, flows, done))
        .collect()
}

fn class_row(
    run: &Simulation,
    quality: Quality,
    direction: Direction,
    flows: &[FlowRow],
    done: &[Done],
) -> Option<TrafficClassRow> {
    let (quality, way) = (quality.name(), direction.name());
    let mut row = TrafficClassRow { quality, direction: way, ..TrafficClassRow::default() };
    let mut latency = Latency::default();
    let mut scores = Vec::new();
    let mut load_times = Vec::new();
    for flow in flows.iter().filter(|f| f.quality == quality && f.direction == way) {
        let index = run.scenario.traffic.get_index_of(&flow.traffic)?;
        add_counts(&mut row, flow);
        latency.merge(&run.ledger.account(index, direction).latency);
        scores.extend(flow.mos);
        if flow.page_loads.is_some() {
            load_times.extend(load_times_s(&done[index]));
            row.page_loads = Some(load_times.len() as u64);
        }
    }
    let dropped = row.dropped_overflow_packets
        + row.dropped_aqm_packets
        + row.dropped_link_packets
        + row.dropped_contention_packets;
    row.loss_percent = percent(dropped, row.delivered_packets + dropped);
    row.latency_p50_ms = latency.quantile_ms(0.5);
    row.latency_p90_ms = latency.quantile_ms(0.9);
    row.latency_p99_ms = latency.quantile_ms(0.99);
    row.mos_mean = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
    row.mos_min = scores.iter().copied().reduce(f64::min);
    row.page_load_median_s = qoe::median(&load_times);
    row.page_load_mad_s = qoe::median_absolute_deviation(&load_times);
    row.page_load_p90_s = qoe::quantile(&load_times, 0.9);
    (row.entries > 0).then_some(row)
}

fn add_counts(row: &mut TrafficClassRow, flow: &FlowRow) {
    row.entries += 1;
    row.sent_packets += flow.sent_packets;
    row.delivered_packets += flow.delivered_packets;
    row.dropped_overflow_packets += flow.dropped_overflow_packets;
    row.dropped_aqm_packets += flow.dropped_aqm_packets;
    row.dropped_link_packets += flow.dropped_link_packets;
    row.dropped_contention_packets += flow.dropped_contention_packets;
    row.marked_packets += flow.marked_packets;
}
