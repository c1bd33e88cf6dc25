//! From a finished run to its results.

use super::Simulation;
use crate::apps::{AppParameters, Done, Model, Quality};
use crate::metrics::ledger::Account;
use crate::metrics::qoe::{self, VOICE_EXTRA_DELAY_MS, VOICE_LATE_MS};
use crate::metrics::results::{
    FlowRow, LatencyCells, PacketRecord, PageRow, QueueRow, Results, SeriesRow,
};
use crate::metrics::{Latency, QueueMeter, Series};
use crate::packet::{Direction, DropReason};

/// The results of a run that has come to its end.
pub(super) fn results(run: &Simulation, packets: Vec<PacketRecord>) -> Results {
    let names: Vec<String> = run.scenario.traffic.keys().cloned().collect();
    let done: Vec<Done> = run.players.iter().map(|player| player.app.done(run.now)).collect();
    let meters: Vec<_> = run.modem.meters().chain([run.downstream.meter()]).collect();
    let used = accounts(run).filter(|(.., account)| account.sent.packets > 0);
    let mut results = Results {
        version: crate::VERSION,
        duration_s: run.scenario.duration_s,
        events: run.events,
        forwarded_packets: run.ledger.data_packets(),
        fingerprint: run.fingerprint,
        warnings: Vec::new(),
        flows: Vec::new(),
        queues: meters.iter().map(|meter| queue_row(meter)).collect(),
        pages: Vec::new(),
        latencies: Vec::new(),
        series: meters.iter().flat_map(|meter| queue_series(run, meter)).collect(),
        packets,
        traffic: names.clone(),
    };
    for (index, direction, account) in used {
        let name = &names[index];
        results.flows.push(flow_row(run, index, direction, account, &done[index]));
        results.latencies.push(LatencyCells {
            traffic: name.clone(),
            direction: direction.name(),
            cells: account.latency.cells(),
        });
        let subject = format!("{name} {}", direction.name());
        results.series.push(series_row(run, subject, &account.throughput));
    }
    for (name, done) in names.iter().zip(&done) {
        results.pages.extend(done.pages.iter().map(|(start, load_time)| PageRow {
            traffic: name.clone(),
            start_s: start.secs_f64(),
            load_time_s: load_time.secs_f64(),
        }));
    }
    results.warnings = warnings(run, &done);
    results
}

fn accounts(run: &Simulation) -> impl Iterator<Item = (usize, Direction, &Account)> {
    (0..run.players.len()).flat_map(move |index| {
        Direction::BOTH.map(|direction| (index, direction, run.ledger.account(index, direction)))
    })
}

fn flow_row(
    run: &Simulation,
    index: usize,
    direction: Direction,
    account: &Account,
    done: &Done,
) -> FlowRow {
    let (name, spec) = run.scenario.traffic.get_index(index).expect("an account per traffic entry");
    let dropped = account.dropped_in_all().packets;
    let ended = account.delivered.packets + dropped;
    let mbps = |bytes: u64| bytes as f64 * 8e-6 / run.scenario.duration_s;
    let latency = &account.latency;
    let mut row = FlowRow {
        traffic: name.clone(),
        quality: spec.quality().name(),
        direction: direction.name(),
        sent_packets: account.sent.packets,
        sent_bytes: account.sent.bytes,
        delivered_packets: account.delivered.packets,
        delivered_bytes: account.delivered.bytes,
        dropped_overflow_packets: account.dropped[DropReason::Overflow as usize].packets,
        dropped_aqm_packets: account.dropped[DropReason::Aqm as usize].packets,
        loss_percent: (ended > 0).then(|| 100.0 * dropped as f64 / ended as f64),
        throughput_mbps: mbps(account.delivered.bytes),
        goodput_mbps: mbps(account.goodput_bytes),
        latency_mean_ms: latency.mean_ms(),
        latency_min_ms: latency.min_ms(),
        latency_p50_ms: latency.quantile_ms(0.5),
        latency_p90_ms: latency.quantile_ms(0.9),
        latency_p99_ms: latency.quantile_ms(0.99),
        latency_p999_ms: latency.quantile_ms(0.999),
        latency_max_ms: latency.max_ms(),
        late_percent: None,
        r_value: None,
        mos: None,
        page_loads: None,
        page_load_median_s: None,
        page_load_mad_s: None,
        page_load_p90_s: None,
        responses: None,
        response_mean_s: None,
        response_stddev_s: None,
        response_median_s: None,
        response_p90_s: None,
        video_rate_mbps: None,
        video_adaptations_per_hour: None,
        video_stalled_percent: None,
        transfers_completed: done.transfers_completed,
    };
    match spec.quality() {
        Quality::Voice => score_voice(&mut row, latency, dropped, ended),
        Quality::Pages if direction == Direction::Down => score_pages(&mut row, done),
        Quality::Responses if direction == Direction::Down => score_responses(&mut row, done),
        Quality::Video if direction == Direction::Down => score_video(&mut row, done),
        _ => {}
    }
    row
}

/// White & Padden 2012 §3.2.2: late packets count as lost, and the latency in the model is that of
/// the packets that are played.
fn score_voice(row: &mut FlowRow, latency: &Latency, dropped: u64, ended: u64) {
    let Some(fastest) = latency.min_ms() else {
        return;
    };
    let latest = fastest + VOICE_LATE_MS;
    let late = latency.count_above_ms(latest);
    let lost = (dropped + late) as f64 / ended as f64;
    let delay = latency.mean_up_to_ms(latest).unwrap_or(fastest) + VOICE_EXTRA_DELAY_MS;
    let r = qoe::r_value(delay, lost);
    row.late_percent = Some(100.0 * late as f64 / ended as f64);
    row.r_value = Some(r);
    row.mos = Some(qoe::mos(r));
}

fn score_pages(row: &mut FlowRow, done: &Done) {
    let times: Vec<f64> = done.pages.iter().map(|(_, load_time)| load_time.secs_f64()).collect();
    row.page_loads = Some(times.len() as u64);
    row.page_load_median_s = qoe::median(&times);
    row.page_load_mad_s = qoe::median_absolute_deviation(&times);
    row.page_load_p90_s = qoe::quantile(&times, 0.9);
}

fn score_responses(row: &mut FlowRow, done: &Done) {
    let times: Vec<f64> = done.responses.iter().map(|time| time.secs_f64()).collect();
    row.responses = Some(times.len() as u64);
    row.response_mean_s = qoe::mean(&times);
    row.response_stddev_s = qoe::standard_deviation(&times);
    row.response_median_s = qoe::median(&times);
    row.response_p90_s = qoe::quantile(&times, 0.9);
}

fn score_video(row: &mut FlowRow, done: &Done) {
    row.video_rate_mbps = done.viewing.and_then(|viewing| viewing.rate_mbps);
    row.video_adaptations_per_hour = done.viewing.and_then(|viewing| viewing.adaptations_per_hour);
    row.video_stalled_percent = done.viewing.and_then(|viewing| viewing.stalled_percent);
}

fn queue_row(meter: &QueueMeter) -> QueueRow {
    let sojourn = meter.sojourn();
    QueueRow {
        queue: meter.name().to_owned(),
        departed_packets: sojourn.count(),
        sojourn_mean_ms: sojourn.mean_ms(),
        sojourn_p50_ms: sojourn.quantile_ms(0.5),
        sojourn_p90_ms: sojourn.quantile_ms(0.9),
        sojourn_p99_ms: sojourn.quantile_ms(0.99),
        sojourn_max_ms: sojourn.max_ms(),
    }
}

fn queue_series(run: &Simulation, meter: &QueueMeter) -> Vec<SeriesRow> {
    meter.series().map(|series| series_row(run, meter.name().to_owned(), series)).collect()
}

fn series_row(run: &Simulation, subject: String, series: &Series) -> SeriesRow {
    let interval_s = run.sample_interval.secs_f64() * f64::from(series.stride);
    SeriesRow { subject, series: series.clone(), interval_s }
}

/// What a user must know before trusting the results.
fn warnings(run: &Simulation, done: &[Done]) -> Vec<String> {
    let mut warnings: Vec<String> = run.modem.warnings().collect();
    for (index, (name, spec)) in run.scenario.traffic.iter().enumerate() {
        let sent = Direction::BOTH.map(|way| run.ledger.account(index, way).sent.packets);
        if sent == [0, 0] {
            warnings.push(format!("traffic.{name} sent nothing: does it start within the run?"));
        } else if spec.quality() == Quality::Pages && done[index].pages.is_empty() {
            warnings.push(format!("traffic.{name} did not finish loading a single page"));
        }
    }
    warnings
}
