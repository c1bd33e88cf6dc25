//! TCP of dialect `linux` against a real kernel (Linux 6.18): one upload over a link with a drop-tail queue
//! for 40 s. Values of the kernel and how exact they are: docs/transport.md.

use crate::common::scenario;
use sojourn_core::metrics::results::{Outcome, PacketRecord};
use sojourn_core::network::Simulation;
use sojourn_core::packet::Direction;

/// What was measured of an upload: drops in the first 10 s and later, and the mean delay of the queue
/// in ms later.
struct Upload {
    start_drops: usize,
    later_drops: usize,
    delay_ms: f64,
    timeouts: u64,
}

/// An upload over a link of this rate in Mbps, with this round trip and buffer in ms.
fn upload(control: &str, [rate, rtt_ms, buffer_ms]: [f64; 3], pacing: bool) -> Upload {
    let results = Simulation::run(&scenario(&format!(
        "duration_s = 40.1
         dialect = 'linux'
         metrics.packet_trace = true
         upstream = {{ sustained_mbps = {rate}, peak_mbps = {rate}, burst_bytes = 3000,
                       modem.kind = 'link', queue.limit_bytes = {} }}
         downstream = {{ sustained_mbps = 1000, peak_mbps = 1000, burst_bytes = 1_000_000 }}
         servers.s = {{ delay_ms = {}, rate_mbps = 100_000 }}
         [traffic.upload]
         kind = 'transfer'
         server = 's'
         tcp = {{ pacing = {pacing}, congestion_control.kind = '{control}' }}\n",
        rate * buffer_ms * 125.0,
        rtt_ms / 2.0 - 1.0,
    )));
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
    let service_ms = 1500.0 * 8.0 / rate / 1e3;
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

/// The kernel repeats mean delays to 0.2 %, drops to 3; the bounds are 1 % and 5 % or 3 packets, as far
/// as the dialect has them.
#[test]
fn drops_and_delays_are_the_kernels() {
    let close = |ours: usize, kernel: usize| ours.abs_diff(kernel) <= (kernel / 20).max(3);
    for (control, link, pacing, start, later, delay_ms) in [
        ("reno", [50.0, 20.0, 250.0], true, 1127, 0, 149.6),
        ("reno", [5.0, 20.0, 50.0], true, 49, 60, 31.1),
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
