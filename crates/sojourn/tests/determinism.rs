//! A run is a function of scenario, seed and version: bit for bit the same in every build.
//!
//! The snapshot holds for debug and release builds alike: `cargo test -p sojourn
//! determinism` and the same with `--release` read the same file. `UPDATE_SNAPSHOTS=1` in front of
//! either rewrites it; whoever commits that says in the change log why results changed.

use std::fmt::Write as _;

use crate::common::{HOME_QUEUES, home, scenario};
use sojourn::Simulation;
use sojourn::access::docsis::ByteCount;
use sojourn::access::docsis::TimingSpec;
use sojourn::engine::dialect::Dialect;
use sojourn::engine::units::Time;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::FlowRow;
use sojourn::scenario::Scenario;
use sojourn_testing::assert_snapshot;

/// The five queue managers of the home for 10 s, in the dialect of the study.
fn homes() -> Vec<(String, Scenario)> {
    HOME_QUEUES.iter().map(|(name, keys)| ((*name).to_owned(), home(keys, 10.0))).collect()
}

/// The home by the documents: rfc dialect, rate shaping of transmissions, default queue.
fn rfc_home() -> Scenario {
    Scenario { dialect: Dialect::Rfc, ..home("law = { kind = 'docsis_pie' }", 10.0) }
}

/// All that the home leaves out: congestion, repeated files, several connections and users, losses
/// in the downstream, Reno, recovery without SACK, bins with tail drop.
fn busy() -> Scenario {
    scenario(
        "duration_s = 10
         upstream = { sustained_mbps = 3, peak_mbps = 6, burst_bytes = 100_000,
                      congestion = { levels_mbps = [1, 2, 4, 6], step_s = 1 },
                      queue = { limit_packets = 40, scheduler = { kind = 'sfq', bins = 16 } } }
         downstream = { sustained_mbps = 8, peak_mbps = 10, burst_bytes = 50_000,
                        queue = { limit_bytes = 60_000, law = { kind = 'codel' } } }
         servers.near = { delay_ms = 2 }
         servers.far = { delay_ms = 60, rate_mbps = 20 }
         traffic.save = { kind = 'transfer', server = 'near', connections = 3, file_bytes = 90_000,
                          pause_s = 0.2, start_spread_s = 1,
                          tcp = { recovery = 'newreno', congestion_control = { kind = 'reno' } } }
         traffic.watch = { kind = 'transfer', server = 'far', direction = 'down' }
         traffic.read = { kind = 'web', servers = ['near', 'far'], html_bytes = 100_000,
                          objects = { kind = 'appendix_a' }, users = 2, pause_s = 0.5, tcp = { recovery = 'reno' } }
         traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'far' }
         traffic.hear = { kind = 'stream', purpose = 'voice', server = 'far', direction = 'down' }",
    )
}

/// Homes with and without regulators on bonded channels.
fn shared_downstream() -> Scenario {
    scenario(
        "duration_s = 5
         upstream = { sustained_mbps = 3, peak_mbps = 6, burst_bytes = 100_000 }
         downstream = { sustained_mbps = 8, peak_mbps = 10, burst_bytes = 50_000 }
         cmts = { channel = { kind = 'rate', rate_mbps = 6, channels = 2 },
                  queue = { scheduler.kind = 'drr', law.kind = 'codel' } }
         homes.capped = { count = 2 }
         homes.open = { downstream = { sustained_mbps = 8, peak_mbps = 10, burst_bytes = 50_000,
                                       regulator = false, weight = 2 } }
         servers.near = { delay_ms = 2 }
         traffic.watch = { kind = 'transfer', server = 'near', direction = 'down' }
         traffic.load = { kind = 'transfer', server = 'near', direction = 'down', home = 'open' }
         traffic.hear = { kind = 'stream', purpose = 'voice', server = 'near', direction = 'down',
                          home = 'open' }",
    )
}

/// All kinds of traffic that the others leave out, but for captures, which come from files.
fn crowd() -> Scenario {
    scenario(
        "duration_s = 10
         upstream = { sustained_mbps = 3, peak_mbps = 6, burst_bytes = 100_000,
                      queue = { law = { kind = 'docsis_pie' } } }
         downstream = { sustained_mbps = 8, peak_mbps = 10, burst_bytes = 50_000 }
         servers.near = { delay_ms = 2 }
         servers.far = { delay_ms = 60 }
         traffic.seed = { kind = 'torrent', servers = ['near', 'far'], connections = 5, limit_mbps = 2 }
         traffic.browse = { kind = 'web_sessions', servers = ['near', 'far'], sessions = 10 }
         traffic.film = { kind = 'video', server = 'far', viewers = 2, start_spread_s = 1 }
         traffic.mice = { kind = 'on_off', server = 'near', sources = 5, mean_mbps = [0.1, 0.2] }
         traffic.bursts = { kind = 'on_off', server = 'far', direction = 'down', mean_mbps = [0.3],
                            transport = 'datagrams', packet_bytes = 1000 }
         traffic.save = { kind = 'transfer', server = 'near', start_s = 4, stop_s = 6 }",
    )
}

/// Modems that share an upstream channel, which is full now and then.
fn neighbours() -> Scenario {
    scenario(
        "duration_s = 5
         upstream = { sustained_mbps = 5, peak_mbps = 20, burst_bytes = 100_000,
                      modem = { kind = 'shared_channel' }, queue = { law = { kind = 'docsis_pie' } },
                      flows.calls = { sustained_mbps = 1, peak_mbps = 2, burst_bytes = 3000,
                                      priority = 5, minimum_mbps = 0.2,
                                      match = [{ protocol = 'udp' }] } }
         upstream_channel = { channels = 1, request_opportunities = 3, backoff_start = 1 }
         downstream = { sustained_mbps = 20, peak_mbps = 50, burst_bytes = 100_000 }
         homes.ours = {}
         homes.theirs = { count = 12 }
         servers.near = { delay_ms = 4 }
         traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }
         traffic.calls = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near', home = 'theirs' }
         traffic.save = { kind = 'transfer', server = 'near', home = 'theirs', file_bytes = 200_000,
                          pause_s = 0.3, start_spread_s = 1 }",
    )
}

/// With clocks that drift, as by default in this dialect.
fn drifting(scenario: Scenario) -> Scenario {
    Scenario { clock_drift_ppm: None, ..scenario }
}

/// With the timing and the byte count of the documents, which were once those of all.
fn documented(mut scenario: Scenario) -> Scenario {
    scenario.cable.timing = Some(TimingSpec::Documents);
    scenario.cable.byte_count = Some(ByteCount::Ip);
    scenario
}

fn all() -> Vec<(String, Scenario)> {
    let mut all = homes();
    all.push(("home in the rfc dialect".to_owned(), rfc_home()));
    all.push(("busy, rfc dialect".to_owned(), busy()));
    all.push(("crowd, rfc dialect".to_owned(), crowd()));
    all.push(("shared downstream, rfc dialect".to_owned(), shared_downstream()));
    all.push(("neighbours on a shared channel".to_owned(), neighbours()));
    for (name, scenario) in [
        ("home in the rfc dialect", rfc_home()),
        ("busy, rfc dialect", busy()),
        ("crowd, rfc dialect", crowd()),
        ("shared downstream, rfc dialect", shared_downstream()),
        ("neighbours on a shared channel", neighbours()),
    ] {
        all.push((format!("{name}, the documents' plant"), documented(scenario)));
    }
    all.push(("crowd, clocks drift".to_owned(), drifting(crowd())));
    all
}

/// The counts of a flow, and latencies as the bits of their numbers.
fn flow_line(row: &FlowRow) -> String {
    let bits = |value: Option<f64>| value.map_or(0, f64::to_bits);
    format!(
        "{} {}: sent {} delivered {} ({} B) overflow {} aqm {} mean {:016x} max {:016x} pages {} files {}",
        row.traffic,
        row.direction,
        row.sent_packets,
        row.delivered_packets,
        row.delivered_bytes,
        row.dropped_overflow_packets,
        row.dropped_aqm_packets,
        bits(row.latency_mean_ms),
        bits(row.latency_max_ms),
        row.page_loads.unwrap_or(0),
        row.transfers_completed.unwrap_or(0),
    )
}

fn flow_lines(results: &Results) -> Vec<String> {
    results.flows.iter().map(flow_line).collect()
}

fn digest(name: &str, results: &Results) -> String {
    let mut text = format!(
        "{name}\n  fingerprint {:016x} events {} forwarded {}\n",
        results.fingerprint, results.events, results.forwarded_packets
    );
    for line in flow_lines(results) {
        writeln!(text, "  {line}").unwrap();
    }
    text
}

fn digest_all() -> String {
    all().iter().map(|(name, scenario)| digest(name, &Simulation::run(scenario))).collect()
}

/// The runs are those of the snapshot: in every build, on every machine, until somebody means to
/// change them.
#[test]
fn runs_are_those_of_the_snapshot() {
    assert_snapshot!("fingerprints.txt", &digest_all());
}

/// Nothing is shared between runs: two at once, in threads that start with different scenarios, give
/// what each gives alone.
#[test]
fn runs_at_the_same_time_do_not_disturb_each_other() {
    let alone: Vec<_> = all().iter().map(|(_, s)| Simulation::run(s).fingerprint).collect();
    let in_order = std::thread::spawn(|| {
        all().iter().map(|(_, s)| Simulation::run(s).fingerprint).collect::<Vec<_>>()
    });
    let reversed = std::thread::spawn(|| {
        all().iter().rev().map(|(_, s)| Simulation::run(s).fingerprint).collect::<Vec<_>>()
    });
    assert_eq!(in_order.join().unwrap(), alone);
    assert!(reversed.join().unwrap().into_iter().rev().eq(alone));
}

/// A run in pieces is the run.
#[test]
fn advancing_in_pieces_changes_nothing() {
    let whole = Simulation::run(&busy());
    let mut simulation = Simulation::new(&busy());
    while simulation.advance(777) {}
    let pieces = simulation.finish();
    assert_eq!(digest("", &pieces), digest("", &whole));
}

/// A run that ends early has the results of the shorter scenario, but for events at its last instant.
#[test]
fn a_run_that_ends_early_is_one_of_a_shorter_scenario() {
    for from_s in [0.0, 1.0, 8.0] {
        let is_counted = from_s < 5.0;
        let mut scenario = busy();
        scenario.metrics.from_s = from_s;
        let mut simulation = Simulation::new(&scenario);
        let half = Time::from_secs_f64(scenario.duration_s / 2.0);
        while simulation.now() < half && simulation.advance(1) {}
        let early = simulation.finish();
        assert!(early.duration_s < scenario.duration_s);
        let reported = "the run ended before metrics.from_s = 8, so nothing of it counts";
        assert_eq!(early.warnings.iter().any(|warning| warning.message == reported), !is_counted);
        if !is_counted {
            assert!(early.flows.is_empty());
            continue;
        }
        scenario.duration_s = early.duration_s;
        let short = Simulation::run(&scenario);
        assert_eq!(early.flows.len(), short.flows.len(), "{from_s}");
        for (early, short) in early.flows.iter().zip(&short.flows) {
            let (early, short) = (early.throughput_mbps, short.throughput_mbps);
            assert!((early - short).abs() <= 0.01 * short, "{early} {short}");
        }
    }
}

/// The seed reaches every run: another one gives another run.
#[test]
fn another_seed_gives_another_run() {
    for (name, scenario) in all() {
        let other = Scenario { seed: scenario.seed + 1, ..scenario.clone() };
        let fingerprints = [&scenario, &other].map(|s| Simulation::run(s).fingerprint);
        assert_ne!(fingerprints[0], fingerprints[1], "{name}");
    }
}

/// Watching changes nothing: with the traces of packets and of a modem the run is the same event for event. (The series
/// have an event for each sample, so their interval is part of the run.)
#[test]
fn the_traces_change_nothing() {
    for (name, scenario) in all() {
        let mut traced = scenario.clone();
        traced.metrics.packet_trace = true;
        traced.metrics.modem_trace = true;
        let results = [&scenario, &traced].map(Simulation::run);
        assert!(results[0].packets.is_empty() && !results[1].packets.is_empty());
        assert!(results[0].modem_events.is_empty() && !results[1].modem_events.is_empty());
        assert_eq!(digest(&name, &results[0]), digest(&name, &results[1]));
    }
}

/// Random numbers belong to names: an entry that sends nothing within the run, before or after the
/// others in the list, leaves all others' packets as they were.
#[test]
fn an_entry_that_never_starts_changes_nothing() {
    let idle = scenario(
        "duration_s = 10
         upstream = { sustained_mbps = 3, peak_mbps = 6, burst_bytes = 100_000 }
         downstream = { sustained_mbps = 8, peak_mbps = 10, burst_bytes = 50_000 }
         servers.near = { delay_ms = 2 }
         traffic.never = { kind = 'transfer', server = 'near', start_s = 11 }",
    )
    .traffic["never"]
        .clone();
    for (name, scenario) in [("CoDel", homes().swap_remove(2).1), ("busy", busy())] {
        let want = flow_lines(&Simulation::run(&scenario));
        for place in [0, scenario.traffic.len()] {
            let mut with_idle = scenario.clone();
            with_idle.traffic.shift_insert(place, "never".to_owned(), idle.clone());
            assert_eq!(flow_lines(&Simulation::run(&with_idle)), want, "{name}, at {place}");
        }
    }
}
