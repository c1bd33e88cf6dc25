//! The rows of the `flows` and `connections` tables.

use super::super::Simulation;
use super::super::ledger::account::Account;
use super::super::ledger::connections::ConnectionAccount;
use sojourn_access::AccessNetwork;
use sojourn_engine::packet::{Direction, DropReason};
use sojourn_engine::record::Latency;
use sojourn_engine::units::{BitRate, Time};
use sojourn_results::metrics::rows::{ConnectionRow, FlowRow};
use sojourn_results::scores::g1072;
use sojourn_results::scores::playout::Played;
use sojourn_results::scores::qoe::{
    self, GAME_ACCESS_MS, GAME_ROUND_TRIP_MS, VOICE_EXTRA_DELAY_MS, VOICE_LATE_MS,
};
use sojourn_results::scores::voice_model::r_value;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::{AppSpec, Confidence, Done, Mean, Quality};
use sojourn_scenario::metrics::VoiceModel;

/// The row of a traffic entry in a direction.
pub(super) fn flow_row(
    run: &Simulation,
    index: usize,
    direction: Direction,
    done: &Done,
) -> FlowRow {
    let (name, entry) =
        run.scenario.traffic.get_index(index).expect("an account per traffic entry");
    let account = run.ledger.account(index, direction);
    let arrival = |counted_s| arrival_s(&run.scenario, account, counted_s);
    let arrival_s = arrival(run.scenario.counted_s());
    let mbps = |bytes: u64| bytes as f64 * 8e-6 / arrival_s;
    let under_way_s = run.under_way_s(index, direction).map(arrival);
    let latency = &account.latency;
    let rtt = account.round_trips.latency();
    let [idle, down, up, both] = &account.by_load;
    let mut row = FlowRow {
        traffic: name.clone(),
        quality: entry.app.parameters().quality().name(),
        direction: direction.name(),
        sent_packets: account.sent.packets,
        sent_bytes: account.sent.bytes,
        delivered_packets: account.delivered.packets,
        delivered_bytes: account.delivered.bytes,
        dropped_overflow_packets: account.dropped[DropReason::Overflow as usize].packets,
        dropped_aqm_packets: account.dropped[DropReason::Aqm as usize].packets,
        dropped_link_packets: account.dropped[DropReason::Link as usize].packets,
        dropped_contention_packets: account.dropped[DropReason::Contention as usize].packets,
        superseded_packets: account.dropped[DropReason::Superseded as usize].packets,
        marked_packets: account.marked_packets,
        sanctioned_packets: account.sanctioned_packets,
        loss_percent: percent(account.lost_packets(), ended_packets(account)),
        throughput_mbps: mbps(account.delivered.bytes),
        goodput_mbps: mbps(account.goodput_bytes),
        under_way_s,
        rate_mbps: under_way_s
            .filter(|length_s| *length_s > 0.0)
            .map(|length_s| account.delivered.bytes as f64 * 8e-6 / length_s),
        latency_mean_ms: latency.mean_ms(),
        latency_min_ms: latency.min_ms(),
        latency_p50_ms: latency.quantile_ms(0.5),
        latency_p90_ms: latency.quantile_ms(0.9),
        latency_p99_ms: latency.quantile_ms(0.99),
        latency_p999_ms: latency.quantile_ms(0.999),
        latency_p9999_ms: latency.quantile_ms(0.9999),
        latency_max_ms: latency.max_ms(),
        transfers_completed: done.transfers_completed,
        transfer_time_mean_s: done
            .transfers_s
            .zip(done.transfers_completed.filter(|count| *count > 0))
            .map(|(sum_s, count)| sum_s / count as f64),
        connections: run.ledger.connections().opened_by(index),
        rtt_mean_ms: rtt.mean_ms(),
        rtt_min_ms: rtt.min_ms(),
        rtt_echo_mean_ms: account.echoes.ms(),
        rtt_p50_ms: rtt.quantile_ms(0.5),
        rtt_p90_ms: rtt.quantile_ms(0.9),
        rtt_p99_ms: rtt.quantile_ms(0.99),
        rtt_p999_ms: rtt.quantile_ms(0.999),
        rtt_idle_mean_ms: enough(idle).and_then(Latency::mean_ms),
        rtt_idle_p50_ms: enough(idle).and_then(median_ms),
        rtt_down_mean_ms: enough(down).and_then(Latency::mean_ms),
        rtt_down_p50_ms: enough(down).and_then(median_ms),
        rtt_up_mean_ms: enough(up).and_then(Latency::mean_ms),
        rtt_up_p50_ms: enough(up).and_then(median_ms),
        rtt_both_mean_ms: enough(both).and_then(Latency::mean_ms),
        rtt_both_p50_ms: enough(both).and_then(median_ms),
        retransmitted_packets: account.tally().retransmissions,
        timeouts: account.tally().timeouts,
        // The scores of its quality, below; `every_column_has_a_value_somewhere` notices one that is forgotten.
        ..FlowRow::default()
    };
    match entry.app.parameters().quality() {
        Quality::Voice => {
            let model = run.scenario.metrics.voice_model;
            let interval = entry.app.parameters().packet_interval(direction);
            let interval = interval.or_else(|| account.calls.interval()).unwrap_or(Time::NEVER);
            score_voice(&mut row, account, (run.end, interval), model);
        }
        Quality::Game => score_game(&mut row, run, index, direction),
        Quality::Pages if direction == Direction::Down => score_pages(&mut row, done),
        Quality::Responses if direction == Direction::Down => score_responses(&mut row, done),
        Quality::Video if direction == Direction::Down => score_video(&mut row, done),
        Quality::Pages | Quality::Responses | Quality::Video | Quality::Unscored => {}
        Quality::VideoCall => {
            score_frames(&mut row, run, index, direction);
            row.picture_height_percent = done.filmed[direction as usize].and_then(Mean::percent);
        }
        Quality::Responsiveness => score_responsiveness(&mut row, done, direction),
        Quality::CloudGame => score_cloud_game(&mut row, run, index, direction),
        Quality::Own => {
            row.own_score = done.own.map(|own| own.value);
            row.own_score_metric = done.own.map(|own| own.metric);
            row.own_score_level = done.own.map(|own| own.level);
        }
        Quality::Throughput => score_throughput(&mut row, account),
        Quality::Probes => score_probes(&mut row, run, index, direction),
    }
    row
}

/// The part of a time that counts in which counted packets could arrive. Where others were sent before, these have the
/// line until the first counted one has crossed it; few seconds at the end say nothing.
fn arrival_s(scenario: &Scenario, account: &Account, counted_s: f64) -> f64 {
    let from = Time::from_secs_f64(scenario.metrics.from_s);
    let is_earlier = account.first_sent.is_some_and(|first| first < from);
    let lag_s = if is_earlier { account.first_latency.secs_f64() } else { 0.0 };
    (counted_s - lag_s).max(LEAST_ARRIVAL * counted_s)
}

/// The fewest round trips of which something is said.
const FEWEST_ROUND_TRIPS: u64 = 10;

fn enough(round_trips: &Latency) -> Option<&Latency> {
    Some(round_trips).filter(|of| of.count() >= FEWEST_ROUND_TRIPS)
}

fn median_ms(latency: &Latency) -> Option<f64> {
    latency.quantile_ms(0.5)
}

/// A rate is one over no less than this share of the time that counts.
const LEAST_ARRIVAL: f64 = 0.1;

fn score_responses(row: &mut FlowRow, done: &Done) {
    let times: Vec<f64> = done.responses.iter().map(|(_, time)| time.secs_f64()).collect();
    row.responses = Some(times.len() as u64);
    row.response_mean_s = qoe::mean(&times);
    row.response_stddev_s = qoe::standard_deviation(&times);
    row.response_median_s = qoe::median(&times);
    row.response_p90_s = qoe::quantile(&times, 0.9);
}

fn score_video(row: &mut FlowRow, done: &Done) {
    row.video_rate_mbps = done.viewing.and_then(|viewing| viewing.rate_mbps());
    row.video_rise_s = done.viewing.and_then(|viewing| viewing.rise_s());
    row.video_whole_rate_mbps = done.viewing.and_then(|viewing| viewing.whole_rate_mbps());
    row.video_adaptations_per_hour =
        done.viewing.and_then(|viewing| viewing.adaptations_per_hour());
    row.video_start_wait_s = done.viewing.and_then(|viewing| viewing.start_wait_s());
    row.video_stalled_percent = done.viewing.and_then(|viewing| viewing.stalled_percent());
}

fn score_frames(row: &mut FlowRow, run: &Simulation, index: usize, direction: Direction) {
    let Some(frames) = &run.ledger.account(index, direction).frames else { return };
    row.frame_latency_p50_ms = frames.latency().quantile_ms(0.5);
    row.frame_latency_p90_ms = frames.latency().quantile_ms(0.9);
    row.frame_latency_p99_ms = frames.latency().quantile_ms(0.99);
    let stop_s = run.scenario.traffic[index].app.watches_s().end;
    let end = run.now.min(Time::from_secs_f64(stop_s.min(run.end.secs_f64())));
    // A frame that is on its way when its entry stops still has time to come.
    let (ended, incomplete) = frames.incomplete(run.now.min(run.end));
    row.frames_incomplete_percent = percent(incomplete, ended);
    let stood = frames.stood(end);
    if stood.shown_s > 0.0 {
        row.freezes = Some(stood.freezes);
        row.frozen_percent = Some(100.0 * stood.frozen_s / stood.shown_s);
    }
}

/// What the player of a game from afar notices, which is of the direction of its frames.
fn score_cloud_game(row: &mut FlowRow, run: &Simulation, index: usize, direction: Direction) {
    if direction == Direction::Up {
        return;
    }
    score_frames(row, run, index, direction);
    let AppSpec::CloudGame(game) = &run.scenario.traffic[index].app else { return };
    let accounts = Direction::BOTH.map(|direction| run.ledger.account(index, direction));
    let (Some(inputs), Some(frames)) = (&accounts[0].inputs, &accounts[1].frames) else { return };
    let latency = frames.latency();
    let in_time_ms = latency.min_ms().map(|least_ms| least_ms + 1e3 / game.frames_per_s);
    row.frames_late_percent = in_time_ms.and_then(|ms| share_over(latency, ms));
    row.input_to_frame_p50_ms = inputs.shown().quantile_ms(0.5);
    row.input_to_frame_p90_ms = inputs.shown().quantile_ms(0.9);
    row.input_to_frame_p99_ms = inputs.shown().quantile_ms(0.99);
    row.input_and_frame_mean_ms = inputs.on_the_way().mean_ms();
    let incomplete = row.frames_incomplete_percent.unwrap_or_default();
    let late = row.frames_late_percent.unwrap_or_default();
    let missed_percent = incomplete + late * (1.0 - incomplete / 100.0);
    let of = |delay_ms| g1072::r_value(delay_ms, game.frames_per_s, missed_percent);
    row.game_r_value = row.input_and_frame_mean_ms.map(of);
    row.game_mos = row.game_r_value.map(g1072::mos);
}

/// What a test of responsiveness found, in the directions that it loads.
fn score_responsiveness(row: &mut FlowRow, done: &Done, direction: Direction) {
    let Some(found) = done.responded else { return };
    let goodput = found.mbps[direction as usize].value();
    if goodput.is_none() {
        return;
    }
    row.load_mbps = goodput;
    row.load_connections = found.connections.value();
    row.rpm = found.rpm.value();
    row.mean_delay_rpm = found.rpm_of_mean.value();
    row.rpm_before_load = found.rpm_before_load.value();
    let [tcp, tls, http, loaded] = found.parts_ms.map(Mean::value);
    row.probe_tcp_ms = tcp;
    row.probe_tls_ms = tls;
    row.probe_http_ms = http;
    row.probe_loaded_http_ms = loaded;
    row.rpm_confidence = found.confidence.map(Confidence::word);
}

/// A share in percent.
pub(super) fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

fn ended_packets(account: &Account) -> u64 {
    account.delivered.packets + account.lost_packets()
}

/// Scores what was played, and what the network alone did (Hong 2015 §3.2.2.2 and table 4.10: latency
/// and loss as they are). A call of which nothing is delivered has a score if it was due.
fn score_voice(
    row: &mut FlowRow,
    account: &Account,
    (end, interval): (Time, Time),
    model: VoiceModel,
) {
    let mean_ms = account.latency.mean_ms();
    let heard = match account.calls.played() {
        Some(played) => {
            let overdue = account.calls.overdue_packets(end, interval);
            let counts = (account.lost_packets(), ended_packets(account), overdue);
            heard_adaptively(&played, counts, interval)
        }
        None if mean_ms.is_some() => heard_on_time(account),
        None => return,
    };
    if heard.due_packets == 0 {
        return;
    }
    let r = r_value(model, heard.delay_ms + VOICE_EXTRA_DELAY_MS, heard.concealed);
    row.late_percent = Some(100.0 * heard.late_packets as f64 / heard.due_packets as f64);
    row.concealed_percent = Some(100.0 * heard.concealed);
    row.playout_delay_ms = account.calls.played().and_then(|played| played.delay_ms());
    row.r_value = Some(r);
    row.mos = Some(qoe::mos(r));
    let Some(mean_ms) = mean_ms else { return };
    let lost = account.lost_packets() as f64 / ended_packets(account) as f64;
    let network_r = r_value(model, mean_ms, lost);
    row.network_r_value = Some(network_r);
    row.network_mos = Some(qoe::mos(network_r));
}

/// What somebody hears of a call.
struct Heard {
    /// Mean time until a packet is played.
    delay_ms: f64,
    /// Packets that came too late, or not by the end of the run though they were due.
    late_packets: u64,
    /// Packets that were due: delivered, dropped or overdue at the end.
    due_packets: u64,
    /// Share of the call that is not played as it was sent.
    concealed: f64,
}

/// The gap before a late packet is concealed, and so is each packet that was lost or is overdue at the
/// end. Lost ones are among those that ended.
fn heard_adaptively(
    played: &Played,
    (lost, ended, overdue): (u64, u64, u64),
    interval: Time,
) -> Heard {
    let due_packets = ended + overdue;
    let missing = (lost + overdue) as f64;
    let gaps = played.concealed.secs_f64() / interval.secs_f64();
    Heard {
        delay_ms: played.delay_ms().unwrap_or_default(),
        late_packets: played.late_packets + overdue,
        due_packets,
        concealed: ((missing + gaps) / due_packets as f64).min(1.0),
    }
}

/// White & Padden 2012 §3.2.2: late packets count as lost, and the latency in the model is that of
/// the packets that are played.
fn heard_on_time(account: &Account) -> Heard {
    let (latency, ended) = (&account.latency, ended_packets(account) as f64);
    let fastest_ms = latency.min_ms().unwrap_or_default();
    let latest_ms = fastest_ms + VOICE_LATE_MS;
    let late = latency.count_above_ms(latest_ms);
    Heard {
        delay_ms: latency.mean_up_to_ms(latest_ms).unwrap_or(fastest_ms),
        late_packets: late,
        due_packets: ended_packets(account),
        concealed: (account.lost_packets() + late) as f64 / ended,
    }
}

fn score_game(row: &mut FlowRow, run: &Simulation, index: usize, direction: Direction) {
    let account = run.ledger.account(index, direction);
    let round_trips = account.round_trips.latency();
    let beyond_access_ms = beyond_access_ms(run, index, direction);
    row.over_20_ms_access_percent = share_over(&account.latency, GAME_ACCESS_MS + beyond_access_ms);
    row.over_80_ms_round_trip_percent = match round_trips.count() {
        0 => share_over(&account.latency, GAME_ROUND_TRIP_MS - beyond_access_ms),
        _ => share_over(round_trips, GAME_ROUND_TRIP_MS),
    };
}

fn share_over(latency: &Latency, budget_ms: f64) -> Option<f64> {
    percent(latency.count_above_ms(budget_ms.max(0.0)), latency.count())
}

/// What the cable, the links of the core and that of an entry's first server take of the one-way latency of a
/// packet that is sent alone, in ms.
fn beyond_access_ms(run: &Simulation, index: usize, direction: Direction) -> f64 {
    let scenario = &run.scenario;
    let sent = run.ledger.account(index, direction).sent;
    let packet_bytes = sent.bytes.checked_div(sent.packets).unwrap_or_default();
    let servers = scenario.traffic[index].app.parameters().servers();
    let link_ms =
        servers.first().and_then(|(_, name)| scenario.servers.get(*name)).map_or(0.0, |s| {
            s.delay_ms + BitRate::from_mbps(s.rate_mbps).time_for(packet_bytes).ms_f64()
        });
    let home = scenario.first_home_of(&scenario.traffic[index]);
    let core_ms: f64 = scenario
        .core
        .values()
        .filter_map(|both| both.of(direction))
        .map(|link| link.delay_ms + link.mean_rate().time_for(packet_bytes).ms_f64())
        .sum();
    run.access.propagation(home).ms_f64() + core_ms + link_ms
}

fn score_pages(row: &mut FlowRow, done: &Done) {
    let times = load_times_s(done);
    row.page_loads = Some(times.len() as u64);
    row.page_load_median_s = qoe::median(&times);
    row.page_load_mad_s = qoe::median_absolute_deviation(&times);
    row.page_load_p90_s = qoe::quantile(&times, 0.9);
    let renders = done.pages.iter().filter_map(|page| page.first_render);
    row.first_render_median_s = qoe::median(&renders.map(Time::secs_f64).collect::<Vec<_>>());
}

/// Page load times in s.
pub(super) fn load_times_s(done: &Done) -> Vec<f64> {
    done.pages.iter().map(|page| page.took.secs_f64()).collect()
}

/// What the controllers of all homes set.
fn score_probes(row: &mut FlowRow, run: &Simulation, index: usize, direction: Direction) {
    let own = run.instances.iter().filter(|of| usize::from(of.owner.traffic) == index);
    let all = own.filter_map(|of| of.shaped.as_ref()?.measures(direction, run.now));
    let (means, decreases): (Vec<f64>, Vec<u64>) = all.unzip();
    row.shaper_mean_mbps = qoe::mean(&means);
    row.shaper_decreases = (!decreases.is_empty()).then(|| decreases.iter().sum());
}

fn score_throughput(row: &mut FlowRow, account: &Account) {
    let since_start = |reached: Time| account.first_sent.map(|start| (reached - start).secs_f64());
    row.time_to_sustained_rate_s = account.to_sustained.reached().and_then(since_start);
    row.time_to_peak_rate_s = account.to_peak.reached().and_then(since_start);
}

/// The row of a direction of a connection.
pub(super) fn connection_row(
    traffic: &str,
    account: &ConnectionAccount,
    direction: Direction,
) -> ConnectionRow {
    let way = &account.ways[direction as usize];
    ConnectionRow {
        traffic: traffic.to_owned(),
        home: account.home,
        connection: account.number,
        direction: direction.name(),
        start_s: account.start.secs_f64(),
        end_s: account.end.map(Time::secs_f64),
        payload_bytes: way.payload_bytes,
        delivered_packets: way.delivered.packets,
        delivered_bytes: way.delivered.bytes,
        dropped_packets: way.dropped_packets,
        marked_packets: way.marked_packets,
        retransmitted_packets: way.tally().retransmissions,
        timeouts: way.tally().timeouts,
        rtt_mean_ms: way.rtt_mean_ms(),
        rtt_echo_mean_ms: way.rtt_echo_mean_ms(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_concealed_is_a_share_of_all_packets_that_were_due() {
        // Of 90 packets that ended 5 were lost, and 10 more are overdue. Gaps of 100 ms are 5 packets of 20 ms: 5 + 10 + 5
        // of 100 are concealed.
        let played = Played {
            packets: 85,
            late_packets: 2,
            concealed: Time::from_ms(100),
            delay_sum_ps: 85 * 40_000_000_000,
        };
        let heard = heard_adaptively(&played, (5, 90, 10), Time::from_ms(20));
        assert_eq!((heard.due_packets, heard.late_packets), (100, 12));
        assert!((heard.concealed - 0.2).abs() < 1e-12);
        assert_eq!(heard.delay_ms, 40.0);
        // Gaps may be longer than the call is.
        let played = Played { concealed: Time::from_s(9), ..played };
        assert_eq!(heard_adaptively(&played, (5, 90, 10), Time::from_ms(20)).concealed, 1.0);
    }
}
