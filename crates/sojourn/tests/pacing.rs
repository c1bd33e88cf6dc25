//! How many packets of an upload leave together, where they come into the modem's queue and where they leave
//! it: a paced sender spreads its window, and the request and grant of a modem gather it again.

use crate::common::scenario;
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::engine::record::PacketRecord;
use sojourn::engine::units::Time;

/// An upload of 72 segments per round trip of some 41 ms, 21 Mb/s or 1.8 packets per ms, through a modem that
/// could send 200 Mb/s, 16.7 packets per ms. `tcp` and `upstream` are what else these have.
fn packets(tcp: &str, upstream: &str) -> Vec<PacketRecord> {
    let results = Simulation::run(&scenario(&format!(
        "duration_s = 20
         baseline = false
         metrics.packet_trace = true
         upstream = {{ sustained_mbps = 200, {upstream} }}
         downstream.sustained_mbps = 200
         servers.s.delay_ms = 20
         [traffic.upload]
         kind = 'transfer'
         server = 's'
         tcp = {{ max_window_segments = 72, {tcp} }}"
    )));
    let is_meant = |p: &&PacketRecord| p.direction == Direction::Up && p.sent > Time::from_s(5);
    results.packets.iter().filter(is_meant).cloned().collect()
}

/// The most of these times within 1 ms.
fn most_in_a_millisecond(mut times: Vec<Time>) -> usize {
    times.sort();
    let within = |(i, &time): (usize, &Time)| {
        times[i..].partition_point(|&other| other - time < Time::from_ms(1))
    };
    times.iter().enumerate().map(within).max().expect("packets")
}

/// At the queue's input and output.
fn bursts(tcp: &str, upstream: &str) -> [usize; 2] {
    let packets = packets(tcp, upstream);
    let delivered = packets.iter().filter(|p| p.forwarded != Time::NEVER);
    [
        most_in_a_millisecond(packets.iter().map(|p| p.sent).collect()),
        most_in_a_millisecond(delivered.map(|p| p.forwarded).collect()),
    ]
}

const PACED: [&str; 3] =
    ["pacing = true", "congestion_control.kind = 'bbr1'", "congestion_control.kind = 'prague'"];

/// Over a link, which serves what comes at once, a window comes as the link's 16.7 packets per ms if it is not
/// paced; paced in bursts of two at a rate of 120 % at most, 2.2 packets per ms and two more.
#[test]
fn pacing_spreads_a_window() {
    let link = "modem.kind = 'link'";
    for n in bursts("pacing = false", link) {
        assert!((16..=18).contains(&n), "not paced: {n}");
    }
    for tcp in PACED {
        let [input, output] = bursts(tcp, link);
        println!("{tcp}: {input} into a link's queue, {output} out of it");
        assert!(input <= 4 && output <= 4, "{tcp}: {input}, {output}");
    }
}

/// A grant serves what was requested in a MAP interval, so more leaves together than came, and the more, the
/// longer the interval.
#[test]
fn a_modem_gathers_what_was_paced() {
    for tcp in PACED {
        let [input, output] = bursts(tcp, "mac.map_interval_ms = 2");
        let [_, shorter] = bursts(tcp, "mac.map_interval_ms = 1");
        println!("{tcp}: {input} into the modem's queue, {output} out of it, {shorter} at 1 ms");
        assert!(input <= 4, "{tcp}: {input}");
        assert!(output >= 2 * input, "{tcp}: {input} in, {output} out");
        assert!(shorter < output, "{tcp}: {shorter} at 1 ms, {output} at 2 ms");
    }
}
