//! Warnings of AQM algorithms that do less than they are for, or more: each where it happens, and only there.

use crate::common::{flow, loaded, queue, sentences};
use sojourn::Simulation;
use sojourn::input::problem::Code;
use sojourn::results::metrics::Results;

fn run(upstream: &str, keys: &str, traffic: &str) -> Results {
    let text = format!(
        "duration_s = 30
         upstream = {{ modem.kind = 'link', {upstream} }}
         downstream.sustained_mbps = 200
         {keys}
         traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}
         {traffic}"
    );
    Simulation::run(&loaded(&text, &[]))
}

fn uploads(upstream: &str, delay_ms: u32, connections: u32, control: &str) -> Results {
    let keys = format!("servers.near.delay_ms = {delay_ms}");
    let traffic = format!(
        "traffic.up = {{ kind = 'transfer', server = 'near', connections = {connections}, \
                         tcp.congestion_control.kind = '{control}' }}"
    );
    run(upstream, &keys, &traffic)
}

fn of_code(results: Results, code: Code) -> Vec<String> {
    sentences(results.warnings.into_iter().filter(|warning| warning.code == code))
}

/// In 12.5 MB a third takes 333 ms at 100 Mbps, and 1.67 s at 20: where no algorithm acts until then, that is the tail. In
/// the usual 250 ms it is 83 ms. PIE rests with `rests = true`.
#[test]
fn a_tail_that_gathers_while_an_algorithm_rests() {
    let docsis_pie = "law.kind = 'docsis_pie'";
    for (mbps, queue_keys, delay_ms, connections, is_reported) in [
        (20, "limit_bytes = 12_500_000, law.kind = 'docsis_pie'", 5, 1, true),
        (20, "limit_packets = 8000, law.kind = 'docsis_pie'", 20, 16, true),
        (100, "limit_bytes = 12_500_000, law.kind = 'docsis_pie'", 5, 4, true),
        (100, "limit_bytes = 12_500_000, law = { kind = 'pie', rests = true }", 5, 4, true),
        (100, "limit_bytes = 12_500_000, law = { kind = 'pie', rests = false }", 5, 4, false),
        (100, "limit_bytes = 12_500_000, law.kind = 'codel'", 5, 4, false),
        (20, docsis_pie, 5, 1, false),
        (20, docsis_pie, 20, 16, false),
        (20, "scheduler = { kind = 'low_latency', classic_buffer_bytes = 12_500_000 }", 5, 4, true),
        (20, "scheduler.kind = 'low_latency'", 5, 4, false),
    ] {
        let upstream = format!("sustained_mbps = {mbps}, queue = {{ {queue_keys} }}");
        let results = uploads(&upstream, delay_ms, connections, "cubic");
        let p99_ms = queue(&results, "upstream").sojourn_p99_ms.unwrap();
        let reported = of_code(results, Code::AqmRested);
        println!("{mbps} Mbps, {queue_keys}: {p99_ms:.0} ms, {reported:?}");
        assert_eq!(!reported.is_empty(), is_reported, "{mbps} {queue_keys} {connections}");
    }
    // Of a run that counts from a time on at which that is over, nothing is said.
    let upstream =
        "sustained_mbps = 100, queue = { limit_bytes = 12_500_000, law.kind = 'docsis_pie' }";
    let keys = "servers.near.delay_ms = 5\nmetrics.from_s = 20";
    let traffic = "traffic.up = { kind = 'transfer', server = 'near', connections = 4 }";
    assert!(of_code(run(upstream, keys, traffic), Code::AqmRested).is_empty());
}

/// Ten uploads at 2 Mbps, where a packet takes 6.1 ms: RFC 8034's limit of 0.02 a step holds 50 ms for a target of 10. What
/// the warning says is the mean of the queue.
#[test]
fn a_limit_of_steps_that_holds_the_delay_above_the_target() {
    for (mbps, connections, control, is_reported) in [
        ("1", 20, "cubic", true),
        ("2", 10, "cubic", true),
        ("2", 20, "reno", true),
        ("3", 10, "cubic", true),
        ("2", 1, "cubic", false),
        ("8", 10, "cubic", false),
        ("20", 20, "cubic", false),
    ] {
        let upstream = format!("sustained_mbps = {mbps}, queue.law.kind = 'docsis_pie'");
        let results = uploads(&upstream, 10, connections, control);
        let mean_ms = queue(&results, "upstream").sojourn_mean_ms.unwrap();
        let reported = of_code(results, Code::LimitedSteps);
        println!("{mbps} Mbps, {connections} {control}: {mean_ms:.0} ms, {reported:?}");
        assert_eq!(!reported.is_empty(), is_reported, "{mbps} {connections} {control}");
        if is_reported {
            let held = reported[0].split_once("holds ").unwrap().1.split_once(" ms").unwrap().0;
            let held_ms: f64 = held.parse().unwrap();
            assert!((held_ms / mean_ms - 1.0).abs() < 0.15, "{held_ms} {mean_ms}");
        }
    }
}

/// A classic queue that a full low-latency one leaves one turn of 256 is slow for its weight, and not for its line.
#[test]
fn a_queue_that_has_few_turns_is_not_on_a_slow_line() {
    let text = "duration_s = 20
        upstream = { sustained_mbps = 50, queue.scheduler = { kind = 'low_latency', weight = 255, coupled = false, \
                     low_latency_aqm = false, queue_protection = false } }
        downstream.sustained_mbps = 500
        servers.near = { delay_ms = 9, rate_mbps = 10_000 }
        traffic.game = { kind = 'stream', purpose = 'game', server = 'near', dscp = 45 }
        traffic.classic = { kind = 'transfer', server = 'near' }
        traffic.low = { kind = 'transfer', server = 'near', tcp.congestion_control.kind = 'prague', tcp.ecn = 'l4s' }";
    let results = Simulation::run(&loaded(text, &[]));
    assert!(queue(&results, "upstream classic").sojourn_mean_ms > Some(30.0));
    assert!(of_code(results, Code::LimitedSteps).is_empty());
}

/// One upload that overflows its queue once keeps BLUE's probability for ever: it loses packets that need no signal. Linux'
/// memory is never full, several flows see each other's queues empty, and a stream that does not slow down needs BLUE.
#[test]
fn blue_that_an_overflow_arms_for_ever() {
    for (queue_keys, delay_ms, connections, control, is_reported) in [
        ("limit_bytes = 62_500,", 10, 1, "reno", true),
        ("limit_bytes = 62_500,", 40, 1, "cubic", true),
        ("limit_bytes = 15_503_360,", 10, 1, "reno", false),
        ("", 10, 1, "cubic", false),
        ("limit_bytes = 62_500,", 10, 3, "reno", false),
    ] {
        let upstream =
            format!("sustained_mbps = 50, queue = {{ {queue_keys} scheduler.kind = 'cake' }}");
        let results = uploads(&upstream, delay_ms, connections, control);
        let mbps = flow(&results, "up", "up").goodput_mbps;
        let reported = of_code(results, Code::NeedlessDrops);
        println!("{queue_keys}, {connections} {control}: {mbps:.1} Mbps, {reported:?}");
        assert_eq!(!reported.is_empty(), is_reported, "{queue_keys} {connections} {control}");
    }
    let upstream = "sustained_mbps = 10, queue = { limit_bytes = 62_500, scheduler.kind = 'cake' }";
    for interval_ms in [0.6, 0.8, 1.0] {
        let traffic = format!(
            "traffic.flood = {{ kind = 'stream', purpose = 'data', direction = 'up', server = 'near',
                                packet_bytes = 1400, interval_ms = {interval_ms} }}"
        );
        let results = run(upstream, "servers.near.delay_ms = 10", &traffic);
        assert!(queue(&results, "upstream").dropped_aqm_packets > 0);
        assert!(of_code(results, Code::NeedlessDrops).is_empty(), "{interval_ms}");
    }
}
