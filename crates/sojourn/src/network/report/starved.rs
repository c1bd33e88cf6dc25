//! Warnings of settings that keep a service flow from sending, for the whole run or at its full rate.

use sojourn_access::Group;
use sojourn_access::docsis::Outage;
use sojourn_access::{Upstream, flow_path};
use sojourn_engine::units::{BitRate, Time};
use sojourn_input::fault;
use sojourn_input::problem::{Remedy, Warning};
use sojourn_input::words;
use sojourn_scenario::Scenario;

/// What noise takes of a channel.
const LOST: &str = "all that it carries is lost";

/// All warnings of a scenario. Networks other than a cable refuse the keys.
pub(super) fn warnings(scenario: &Scenario) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let up = scenario.upstream_channel.bonded.iter();
    let up = up.map(|(name, of)| ("upstream_channel.bonded", name, &of.noise, &of.outages));
    let down = scenario.cmts.iter().flat_map(|cmts| &cmts.bonded);
    let down = down.map(|(name, of)| ("cmts.bonded", name, &of.noise, &of.outages));
    let channels: Vec<_> = up
        .chain(down)
        .map(|(table, name, noise, outages)| (words::join(table, name), noise, outages))
        .collect();
    let cable = [
        ("cable.upstream_noise", &scenario.cable.upstream_noise),
        ("cable.downstream_noise", &scenario.cable.downstream_noise),
    ];
    let cable = cable.map(|(key, noise)| (key.to_owned(), noise, "all packets are lost"));
    let of_channels =
        channels.iter().map(|(path, noise, _)| (format!("{path}.noise"), *noise, LOST));
    for (path, noise, what) in cable.into_iter().chain(of_channels) {
        if noise.codeword_error_percent >= 100.0 {
            let key = format!("{path}.codeword_error_percent");
            warnings.push(fault!(LostOnNoise, &key => "{key} is 100: {what}", what));
        }
    }
    let partial = &scenario.upstream_channel.partial_service;
    let late = partial.iter().enumerate().filter(|(_, one)| one.start_s >= scenario.duration_s);
    warnings.extend(
        late.map(|(number, _)| late_outage(&format!("upstream_channel.partial_service.{number}"))),
    );
    let end = Time::from_secs_f64(scenario.duration_s);
    for (path, _, outages) in &channels {
        let what = "the channel carries nothing";
        warnings.extend(silent(&format!("{path}.outages"), outages, end, what));
    }
    for (name, own) in &scenario.upstream_channel.bonded {
        let path = words::join("upstream_channel.bonded", name);
        let key = format!("{path}.signal_losses");
        warnings.extend(silent(
            &key,
            &own.signal_losses,
            end,
            "nothing is received on the channel",
        ));
    }
    for group in scenario.groups() {
        for warning in of_group(scenario, &group).into_iter().map(|one| group.own(one)) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    warnings
}

fn late_outage(path: &str) -> Warning {
    fault!(LateOutage, path => "{path} has no effect: it begins when the run is over")
}

/// Outages that begin when the run is over, or that last for all of it.
fn silent(
    key: &str,
    outages: &[Outage],
    end: Time,
    what: &'static str,
) -> impl Iterator<Item = Warning> {
    outages.iter().enumerate().filter_map(move |(number, outage)| {
        let (from, until) = outage.span();
        let path = format!("{key}.{number}");
        if from >= end {
            return Some(late_outage(&path));
        }
        (from == Time::ZERO && until.is_some_and(|until| until >= end)).then(
            || fault!(OutageOfTheRun, &path => "{path} lasts for the whole run: {what}", what),
        )
    })
}

fn of_group(scenario: &Scenario, group: &Group) -> Vec<Warning> {
    let end = Time::from_secs_f64(scenario.duration_s);
    let upstream = group.upstream;
    let outages = [
        ("upstream.ranging_outages", &upstream.ranging_outages),
        ("upstream.stalls", &upstream.stalls),
        ("downstream.stalls", &group.downstream.stalls),
    ];
    let outages =
        outages.into_iter().flat_map(|(key, outages)| silent(key, outages, end, "nothing is sent"));
    let flows = upstream.flow_names().zip(upstream.service_flows());
    let map_interval = scenario.network().map_interval(upstream);
    let polls = flows
        .flat_map(|(name, flow)| polls(&flow_path("upstream", name), &flow, end, map_interval));
    outages.chain(polls).collect()
}

/// A flow that may request only when it is polled, and may request no more than its bucket holds.
fn polls(path: &str, flow: &Upstream, end: Time, map_interval: Option<Time>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let Some(times) = flow.scheduling.polls() else { return warnings };
    if times.interval >= end {
        warnings.push(fault!(NeverPolled, format!("{path}.scheduling") =>
            "{path}.scheduling polls every {interval_s} s, which is no less than the run",
            interval_s = times.interval.secs_f64()));
    }
    let policy = flow.scheduling.policy();
    let is_polled_alone = flow.scheduling.is_shaped() && !policy.contention && !policy.piggyback;
    let terms = flow.terms();
    let enough = BitRate::from_mbps(terms.sustained_mbps).bytes_in(times.interval).ceil() as u64;
    // What a poll requests must pass at the peak rate within a MAP interval.
    let maps = map_interval.map_or(1.0, |map| times.interval.ms_f64() / map.ms_f64());
    let enough_mbps = (terms.sustained_mbps * maps).ceil();
    if is_polled_alone && (terms.burst_bytes < enough || terms.peak_mbps < enough_mbps) {
        let [burst, peak] = ["burst_bytes", "peak_mbps"].map(|key| format!("{path}.{key}"));
        let mut remedy = Remedy::default();
        if terms.burst_bytes < enough {
            remedy = remedy.and(&burst, enough);
        }
        if terms.peak_mbps < enough_mbps {
            remedy = remedy.and(&peak, enough_mbps);
        }
        warnings.push(fault!(BurstBelowPoll, format!("{path}.burst_bytes"), remedy =>
            "{burst} is {burst_bytes} and {peak} is {peak_mbps}: without piggyback a flow requests no more at a \
             poll than they let pass, and cannot reach {sustained_mbps} Mbps; set {remedy:#} or more", burst, peak,
            burst_bytes = terms.burst_bytes, peak_mbps = terms.peak_mbps, sustained_mbps = terms.sustained_mbps));
    }
    warnings
}
