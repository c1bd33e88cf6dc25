//! A run that is stopped, looked at and changed.

use serde_json::json;
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::engine::rng::Rng;
use sojourn::engine::units::Time;
use sojourn::results::metrics::Results;
use sojourn::scenario::Scenario;

use crate::common::scenario;

const MS: fn(u64) -> Time = Time::from_ms;

/// A plain line of 8 Mbps, on which a packet of 1000 bytes takes 1 ms, with such a packet each 4 ms.
fn line() -> Scenario {
    scenario(
        "duration_s = 2
         clock_drift_ppm = 0
         upstream = { sustained_mbps = 8, burst_bytes = 4000, modem.kind = 'link', queue.limit_bytes = 100_000,
                      queue.law = { kind = 'codel' } }
         downstream = { sustained_mbps = 8 }
         router.upstream = { rate_mbps = 80 }
         servers.near = { delay_ms = 5, rate_mbps = 1_000_000, host_jitter_us = 0 }
         traffic.data = { kind = 'stream', purpose = 'data', direction = 'up', server = 'near', start_s = 0,
                          packet_bytes = 1000, interval_ms = 4 }",
    )
}

fn set(simulation: &mut Simulation, key: &str, value: serde_json::Value) {
    simulation.set(&[(key.to_owned(), value)]).unwrap_or_else(|why| panic!("{why}"));
}

fn delay_ms(simulation: &mut Simulation) -> f64 {
    let seen = simulation.observe();
    let up = seen.traffic.iter().find(|of| of.direction == Direction::Up);
    up.and_then(|of| of.delay).expect("packets have come").ms_f64()
}

/// The router takes 0.1 ms, the line 1 ms, and the path 5 ms and next to nothing; the cable of a plain link takes 1 ms.
const OTHERS_MS: f64 = 0.1 + 5.0 + 1.0;

/// Before anything has happened a change is another scenario, whatever stage keeps the rate.
#[test]
fn each_kind_of_modem_takes_over_a_rate() {
    for kind in ["single_queue", "shared_channel", "link"] {
        let of = |mbps: u32| {
            scenario(&format!(
                "duration_s = 1
                 upstream = {{ sustained_mbps = {mbps}, peak_mbps = 10, burst_bytes = 5000, modem.kind = '{kind}',
                              queue.limit_bytes = 50_000 }}
                 downstream.sustained_mbps = 20
                 servers.near.delay_ms = 5
                 traffic.data = {{ kind = 'stream', purpose = 'data', direction = 'up', server = 'near',
                                   packet_bytes = 1000, interval_ms = 0.5 }}"
            ))
        };
        let rows = |results: Results| format!("{:?}", results.flows);
        let mut changed = Simulation::new(&of(8));
        set(&mut changed, "upstream.sustained_mbps", json!(4));
        changed.run_until(Time::NEVER);
        let changed = rows(changed.finish());
        assert_eq!(changed, rows(Simulation::run(&of(4))), "{kind}");
        assert_ne!(changed, rows(Simulation::run(&of(8))), "{kind}");
    }
}

#[test]
fn what_is_sent_is_finished_at_the_old_rate() {
    let mut simulation = Simulation::new(&line());
    // Packets come to the line at 0.1, 4.1 ms and so on. At 100.5 ms that of 100.1 ms is being sent.
    simulation.run_until(MS(99));
    assert!((delay_ms(&mut simulation) - (1.0 + OTHERS_MS)).abs() < 0.01);
    simulation.run_until(Time::from_us(100_500));
    set(&mut simulation, "upstream.sustained_mbps", json!(4));
    set(&mut simulation, "upstream.peak_mbps", json!(4));
    simulation.run_until(MS(108));
    // It arrives after 1 ms all the same, and the next one, of 104.1 ms, after 2 ms at 108.1 + 4 ms.
    let seen = delay_ms(&mut simulation);
    assert!((seen - (1.0 + OTHERS_MS)).abs() < 0.01, "{seen}");
    simulation.run_until(MS(113));
    let seen = delay_ms(&mut simulation);
    assert!((seen - (2.0 + OTHERS_MS)).abs() < 0.01, "{seen}");
}

/// At 8 Mbps the bucket lacks nothing before a packet, as 4000 bytes come in the 4 ms since the last. At 1 Mbps 500 come:
/// a packet of 1000 takes 500 more than comes, so after 3000 / 500 = 6 packets 1000 are left, and packets begin to wait.
#[test]
fn a_lower_rate_uses_up_the_tokens_that_there_are() {
    let mut simulation = Simulation::new(&line());
    simulation.run_until(MS(99));
    simulation.set(&[("upstream.sustained_mbps".to_owned(), json!(1))]).unwrap();
    simulation.observe();
    // Packets of 100 to 120 ms are sent at the peak rate, 8 Mbps.
    simulation.run_until(MS(120) + Time::from_us(7200));
    let seen = delay_ms(&mut simulation);
    assert!((seen - (1.0 + OTHERS_MS)).abs() < 0.01, "{seen}");
    // Each further one waits 4 ms longer than the one before.
    simulation.run_until(MS(200));
    assert!(delay_ms(&mut simulation) > 10.0 + OTHERS_MS);
}

#[test]
fn a_stream_goes_on_at_its_new_interval() {
    let mut simulation = Simulation::new(&line());
    simulation.run_until(MS(101));
    simulation.observe();
    set(&mut simulation, "traffic.data.interval_ms", json!(10));
    // The next ones at 104, 114, 124, 134 and 144 ms.
    simulation.run_until(MS(150));
    assert_eq!(simulation.observe().traffic[0].sent.packets, 5);
}

#[test]
fn the_clock_is_where_it_was_sent() {
    let mut simulation = Simulation::new(&line());
    for at in [MS(0), Time::from_us(1234), Time::from_us(1234), MS(1999)] {
        assert!(simulation.run_until(at));
        assert_eq!(simulation.now(), at);
    }
    assert!(simulation.run_until(MS(5)) && simulation.now() == MS(1999));
    assert!(!simulation.run_until(Time::NEVER) && simulation.now() == MS(2000));
    let refused = simulation.set(&[("upstream.sustained_mbps".to_owned(), json!(4))]);
    assert!(refused.unwrap_err().to_string().contains("the run is over"));
}

/// What a run did until a time is what a shorter one does.
#[test]
fn a_run_that_ends_early_is_one_of_a_shorter_scenario() {
    let whole = line();
    let mut simulation = Simulation::new(&whole);
    simulation.run_until(MS(700));
    let early = simulation.finish();
    let short = Simulation::run(&Scenario { duration_s: 0.7, ..whole });
    assert_eq!((early.planned_s, early.duration_s), (Some(2.0), 0.7));
    assert_eq!(early.fingerprint, short.fingerprint);
    assert!(early.first_half.is_empty() && !short.first_half.is_empty());
    let same = |of: &Results| format!("{:?}{:?}{:?}", of.flows, of.queues, of.delay_parts);
    assert_eq!(same(&early), same(&short));
}

#[test]
fn changes_are_reported_and_can_be_made_again() {
    let with_changes = || {
        let mut simulation = Simulation::new(&line());
        simulation.run_until(MS(300));
        set(&mut simulation, "router.upstream.rate_mbps", json!(4.0));
        simulation.run_until(MS(900));
        set(&mut simulation, "upstream.queue.law.target_ms", json!(1));
        simulation.run_until(Time::NEVER);
        simulation.finish()
    };
    let (one, other) = (with_changes(), with_changes());
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    let found: Vec<_> = one.changes.iter().map(|of| (of.at_ps / 1_000_000_000, &*of.key)).collect();
    assert_eq!(found, [(300, "router.upstream.rate_mbps"), (900, "upstream.queue.law.target_ms")]);
    let warned = one.warnings.iter().filter(|of| of.message.contains("changed 2 times in the run"));
    assert_eq!(warned.count(), 1, "{:?}", one.warnings);
    assert_ne!(one.fingerprint, Simulation::run(&line()).fingerprint);
}

#[test]
fn a_refused_change_changes_nothing() {
    let mut simulation = Simulation::new(&line());
    simulation.run_until(MS(300));
    for (changes, wants) in [
        (json!({ "upstream.sustained_mbps": 9 }), "upstream.peak_mbps: found 8"),
        (json!({ "upstream.sustained_mbps": -1 }), "found -1"),
        (json!({ "upstream.sustained_mbps": "fast" }), "found a string \"fast\""),
        (json!({ "upstream.sustained_mbps": null }), "found nothing"),
        (json!({ "upstream.modem.kind": "single_queue" }), "cannot change in this run; allowed"),
        (json!({ "upstream.sustain_mbps": 4 }), "did you mean upstream.sustained_mbps"),
        (json!({ "router.upstream.rate_mbps": 4, "seed": 4 }), "seed: cannot change"),
        (json!({ "traffic.data.packet_bytes": 1.5 }), "found 1.5"),
    ] {
        let all: Vec<_> = changes.as_object().unwrap().clone().into_iter().collect();
        let why = simulation.set(&all).unwrap_err().to_string();
        assert!(why.contains(wants), "{why}");
    }
    simulation.run_until(Time::NEVER);
    assert_eq!(simulation.finish().fingerprint, Simulation::run(&line()).fingerprint);
}

/// Stops at random times and looks, which a run does not notice.
pub fn is_as_whole(scenario: &Scenario, seed: u64) {
    const MOST_EVENTS: u64 = 60_000;
    let mut rng = Rng::named(seed, "steps");
    let mut stepped = Simulation::new(scenario);
    let mut whole = Simulation::new(scenario);
    if whole.advance(MOST_EVENTS) {
        return;
    }
    let end_s = scenario.duration_s;
    while stepped.now() < Time::from_secs_f64(end_s) {
        let span_s = rng.uniform() * rng.uniform() * end_s / 3.0;
        let at = stepped.now() + Time::from_secs_f64(span_s);
        stepped.run_until(at);
        assert_eq!(stepped.now(), at.min(Time::from_secs_f64(end_s)));
        if rng.uniform() < 0.5 {
            stepped.observe();
        }
    }
    assert_eq!(format!("{:?}", stepped.finish()), format!("{:?}", whole.finish()));
}
