//! TCP of dialect `linux` against a real kernel (Linux 6.18): one upload over a link with a drop-tail queue
//! for 40 s. Values of the kernel and how exact they are: docs/transport.md.

use crate::common::scenario;
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::engine::record::{Outcome, PacketRecord};
use sojourn::scenario::Scenario;
use sojourn::scenario::apps::End;
use std::collections::HashSet;

/// What was measured of an upload: drops in the first 10 s and later, and the mean delay of the queue
/// in ms later.
struct Upload {
    start_drops: usize,
    later_drops: usize,
    delay_ms: f64,
    timeouts: u64,
}

/// A link of this rate in Mbps with a drop-tail buffer of so many ms: `[upstream]`.
fn drop_tail(rate: f64, buffer_ms: f64) -> String {
    let limit_bytes = rate * buffer_ms * 125.0;
    format!(
        "sustained_mbps = {rate}, peak_mbps = {rate}, burst_bytes = 3000, queue.limit_bytes = {limit_bytes}"
    )
}

/// Uploads over a link with this round trip in ms. `tcp` is what else TCP has.
fn uploads(upstream: &str, rtt_ms: f64, connections: u32, tcp: &str) -> Scenario {
    scenario(&format!(
        "duration_s = 40.1
         metrics.packet_trace = true
         upstream = {{ modem.kind = 'link', {upstream} }}
         downstream = {{ sustained_mbps = 1000, peak_mbps = 1000, burst_bytes = 1_000_000 }}
         servers.s = {{ delay_ms = {}, rate_mbps = 100_000 }}
         [traffic.upload]
         kind = 'transfer'
         server = 's'
         connections = {connections}
         tcp = {{ {tcp} }}\n",
        rtt_ms / 2.0 - 1.0,
    ))
}

/// An upload over a link of this rate in Mbps, with this round trip and buffer in ms.
fn link(control: &str, [rate, rtt_ms, buffer_ms]: [f64; 3], pacing: bool) -> Scenario {
    let tcp =
        format!("dialect = 'linux', pacing = {pacing}, congestion_control.kind = '{control}'");
    uploads(&drop_tail(rate, buffer_ms), rtt_ms, 1, &tcp)
}

fn upload(control: &str, of: [f64; 3], pacing: bool) -> Upload {
    let results = Simulation::run(&link(control, of, pacing));
    let up: Vec<&PacketRecord> = results
        .packets
        .iter()
        .filter(|p| p.direction == Direction::Up && p.segment.len > 0)
        .collect();
    let first = up[0].sent;
    let is_later = |p: &PacketRecord| (p.sent - first).secs_f64() >= 10.0;
    let drops = |later: bool| {
        let is_meant =
            |p: &&&PacketRecord| matches!(p.outcome, Outcome::Dropped(_)) && (is_later(p)) == later;
        up.iter().filter(is_meant).count()
    };
    let service_ms = 1500.0 * 8.0 / of[0] / 1e3;
    let waits: Vec<f64> = up
        .iter()
        .filter(|p| p.outcome == Outcome::Delivered && is_later(p))
        .map(|p| (p.forwarded - p.sent).secs_f64() * 1e3 - service_ms)
        .collect();
    Upload {
        start_drops: drops(false),
        later_drops: drops(true),
        delay_ms: waits.iter().sum::<f64>() / waits.len() as f64,
        timeouts: results.flows.iter().map(|flow| flow.timeouts).sum(),
    }
}

/// The kernel repeats mean delays to 0.2 %, drops to 3; the bounds are 3 % and 5 % or 3 packets.
#[test]
fn drops_and_delays_are_the_kernels() {
    let close = |ours: usize, kernel: usize| ours.abs_diff(kernel) <= (kernel / 20).max(3);
    for (control, link, pacing, start, later, delay_ms) in [
        ("reno", [50.0, 20.0, 250.0], true, 1127, 0, 149.6),
        ("reno", [5.0, 20.0, 50.0], true, 49, 60, 31.1),
        ("reno", [5.0, 20.0, 50.0], false, 49, 59, 31.5),
        ("cubic", [5.0, 20.0, 50.0], true, 31, 25, 38.0),
        ("cubic", [50.0, 20.0, 250.0], true, 65, 22, 209.4),
        ("cubic", [50.0, 20.0, 250.0], false, 56, 31, 210.1),
        ("cubic", [20.0, 100.0, 50.0], false, 8, 14, 29.1),
        ("cubic", [5.0, 100.0, 250.0], true, 35, 29, 203.3),
    ] {
        let name = format!("{control} {link:?} pacing {pacing}");
        let ours = upload(control, link, pacing);
        let Upload { start_drops, later_drops, timeouts, .. } = ours;
        println!("{name}: {start_drops} + {later_drops} drops, {:.1} ms", ours.delay_ms);
        assert!(close(start_drops, start), "{name}: {start_drops} drops at the start");
        assert!(close(later_drops, later), "{name}: {later_drops} drops later");
        assert!((ours.delay_ms / delay_ms - 1.0).abs() < 0.03, "{name}: {} ms", ours.delay_ms);
        assert_eq!(timeouts, 0, "{name}");
    }
}

/// The window in segments at which an upload with CUBIC leaves slow start: its first threshold.
fn window_at_exit(of: [f64; 3], pacing: bool) -> f64 {
    let mut simulation = Simulation::new(&link("cubic", of, pacing));
    let mut unset = None;
    while simulation.advance(1) {
        let Some(window) = simulation.window(0, End::Home) else { continue };
        if window.ssthresh < *unset.get_or_insert(window.ssthresh) {
            return window.ssthresh;
        }
    }
    panic!("slow start does not end");
}

/// Windows of the kernel; how near it comes to itself is the last number. With pacing the delay's rise ends slow
/// start, without it a train of acknowledgements does.
#[test]
fn hystart_leaves_slow_start_at_the_kernels_window() {
    for (link, pacing, kernel, bound) in [
        ([5.0, 20.0, 250.0], true, 48.0, 2.0),
        ([5.0, 100.0, 250.0], true, 168.0, 2.0),
        ([50.0, 20.0, 250.0], true, 246.0, 2.0),
        ([20.0, 100.0, 50.0], false, 244.0, 1.0),
        ([50.0, 20.0, 250.0], false, 125.0, 1.0),
    ] {
        let ours = window_at_exit(link, pacing);
        println!("{link:?} pacing {pacing}: {ours}, kernel {kernel}");
        assert!((ours - kernel).abs() <= bound, "{link:?} pacing {pacing}: {ours}");
    }
}

/// The kernel has no timeout in any of the links of docs/transport.md, with Reno or CUBIC, nor have both dialects.
#[test]
fn no_reference_case_has_a_timeout() {
    let codel = "sustained_mbps = 20, peak_mbps = 20, burst_bytes = 3000, \
         queue = { limit_bytes = 1_500_000, law = { kind = 'codel', target_ms = 20, interval_ms = 100 } }";
    let bucket =
        "sustained_mbps = 5, peak_mbps = 20, burst_bytes = 10_000_000, queue.limit_bytes = 31_250";
    let mut links = vec![(codel.to_owned(), 40.0, 5), (bucket.to_owned(), 40.0, 1)];
    for rate in [5.0, 20.0, 50.0] {
        for rtt_ms in [20.0, 100.0] {
            for buffer_ms in [50.0, 250.0] {
                links.push((drop_tail(rate, buffer_ms), rtt_ms, 1));
            }
        }
    }
    for (upstream, rtt_ms, connections) in &links {
        for tcp in ["dialect = 'rfc'", "dialect = 'linux'", "dialect = 'linux', pacing = true"] {
            for control in ["reno", "cubic"] {
                let tcp = format!("{tcp}, congestion_control.kind = '{control}'");
                let mut scenario = uploads(upstream, *rtt_ms, *connections, &tcp);
                scenario.metrics.packet_trace = false;
                let flows = Simulation::run(&scenario).flows;
                let timeouts: u64 = flows.iter().map(|flow| flow.timeouts).sum();
                assert_eq!(timeouts, 0, "{tcp}, round trip {rtt_ms} ms, {upstream}");
            }
        }
    }
}

/// How many segments are sent again although a copy of them is delivered.
fn needless_repeats(packets: &[PacketRecord]) -> usize {
    let mut sent: Vec<&PacketRecord> =
        packets.iter().filter(|p| p.direction == Direction::Up && p.segment.len > 0).collect();
    sent.sort_by_key(|p| p.sent);
    let mut delivered = HashSet::new();
    let is_repeat = |p: &&&PacketRecord| {
        let is_needless = delivered.contains(&p.segment.seq);
        if p.outcome == Outcome::Delivered {
            delivered.insert(p.segment.seq);
        }
        is_needless
    };
    sent.iter().filter(is_repeat).count()
}

/// Hundreds of holes in one window: each arrival may make a new block, of which an acknowledgement reports three.
/// None may be forgotten because an acknowledgement was held back (SACK compression).
#[test]
fn no_segment_that_arrived_is_sent_again() {
    for control in ["reno", "cubic", "bbr1", "bbr3"] {
        let tcp = format!("dialect = 'linux', congestion_control.kind = '{control}'");
        let mut scenario = uploads(&drop_tail(100.0, 20.0), 200.0, 1, &tcp);
        scenario.duration_s = 8.0;
        let packets = Simulation::run(&scenario).packets;
        let lost = packets.iter().filter(|p| matches!(p.outcome, Outcome::Dropped(_))).count();
        println!("{control}: {lost} packets lost");
        assert!(lost > 200, "{control}: the link should be congested");
        assert_eq!(needless_repeats(&packets), 0, "{control}");
    }
}

/// The mean window in segments times the square root of the loss rate, where packets are lost at random: goodput
/// over a round trip of 40 ms on a link that is never full. The kernel's own values are of 25 s, so the bound is wide.
#[test]
fn windows_at_random_loss_are_the_kernels() {
    for (control, percent, kernel) in
        [("reno", 2.0, 1.24), ("reno", 0.6, 1.31), ("cubic", 2.0, 1.07), ("cubic", 0.6, 1.22)]
    {
        let tcp = format!("dialect = 'linux', congestion_control.kind = '{control}'");
        let mut scenario = uploads(&drop_tail(100.0, 500.0), 40.0, 1, &tcp);
        scenario.metrics.packet_trace = false;
        scenario.duration_s = 60.0;
        for server in scenario.servers.values_mut() {
            server.loss_percent = percent;
        }
        let windows = (1..=3).map(|seed| {
            scenario.seed = seed;
            let results = Simulation::run(&scenario);
            let up = results.flows.iter().find(|flow| flow.direction == "up").expect("the upload");
            up.goodput_mbps * 1e6 / 8.0 / 1448.0 * 0.04
        });
        let ours = windows.sum::<f64>() / 3.0 * f64::sqrt(percent / 100.0);
        println!("{control} at {percent} %: {ours:.2}, kernel {kernel}");
        assert!((ours / kernel - 1.0).abs() < 0.15, "{control} at {percent} %: {ours}");
    }
}
