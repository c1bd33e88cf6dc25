//! Uploads over a path that changes the order of packets.

use crate::common::{flow, scenario};
use sojourn::Simulation;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::FlowRow;

/// An upload over 20 Mbps and 30 ms with a buffer of 50 ms, of which a part in a hundred is held back for this time.
fn upload(tcp: &str, hold_ms: f64) -> Results {
    let text = format!(
        "duration_s = 30
         seed = 1
         upstream = {{ sustained_mbps = 20, peak_mbps = 20, burst_bytes = 2000,
                       modem = {{ kind = 'link' }}, queue = {{ limit_bytes = 125_000 }} }}
         downstream = {{ sustained_mbps = 1000, peak_mbps = 1000, burst_bytes = 1_000_000 }}
         cable = {{ delay_ms = 0, byte_count = 'ip' }}
         core.path.upstream = {{ rate_mbps = 1000, delay_ms = 15, reorder_percent = 1, reorder_ms = {hold_ms} }}
         core.path.downstream = {{ rate_mbps = 1000, delay_ms = 15 }}
         servers.s.delay_ms = 0
         metrics.from_s = 5
         traffic.upload = {{ kind = 'transfer', server = 's', tcp = {{ {tcp} }} }}"
    );
    Simulation::run(&scenario(&text))
}

fn up(results: &Results) -> &FlowRow {
    flow(results, "upload", "up")
}

/// Uploads of TCP with both dialects and controls that adapt, over packets that come so late, each with its name.
fn uploads(late_ms: f64) -> impl Iterator<Item = (String, Results)> {
    let all = ["linux", "rfc"].into_iter().flat_map(|of| ["reno", "cubic"].map(|by| (of, by)));
    all.map(move |(dialect, control)| {
        let tcp = format!("dialect = '{dialect}', congestion_control.kind = '{control}'");
        let (name, results) = (format!("{dialect} {control}"), upload(&tcp, late_ms));
        let row = up(&results);
        println!(
            "{name}: {:.2} Mbps, {} again, {} timeouts, {} lost",
            row.goodput_mbps, row.retransmitted_packets, row.timeouts, row.dropped_overflow_packets
        );
        (name, results)
    })
}

/// A payload of 1448 B in packets of 1500 at 20 Mbps are 19.3 Mbps. In 25 s some 400 packets come 5 ms late, behind
/// eight others, and nearly none of them costs a repetition. The window stays, as a quarter of the round trip is more.
#[test]
fn late_packets_cost_nearly_nothing() {
    for (name, results) in uploads(5.0) {
        let row = up(&results);
        assert!(row.goodput_mbps > 19.0, "{name}: {}", row.goodput_mbps);
        assert_eq!(row.timeouts, 0);
        let needless = row.retransmitted_packets.saturating_sub(row.dropped_overflow_packets);
        assert!(needless < 20, "{name}: {needless}");
    }
}

/// Packets 15 ms late are beyond a first quarter of the round trip of 30 to 80 ms, and what is sent again needlessly
/// makes the window wider.
#[test]
fn the_window_adapts_to_what_is_later_than_a_quarter_of_the_round_trip() {
    for (name, results) in uploads(15.0) {
        let row = up(&results);
        assert!(row.goodput_mbps > 18.5, "{name}: {}", row.goodput_mbps);
    }
}

/// BBR, Prague and QUIC run over such a path too; ns-2's senders take what is late for lost.
#[test]
fn other_senders_run_over_it() {
    for (tcp, least, most) in [
        ("dialect = 'linux', congestion_control.kind = 'bbr1'", 15.0, 19.4),
        ("dialect = 'linux', congestion_control.kind = 'bbr3'", 15.0, 19.4),
        ("dialect = 'linux', congestion_control.kind = 'prague'", 15.0, 19.4),
        ("transport = 'quic'", 1.0, 19.4),
        ("dialect = 'ns2'", 1.0, 15.0),
        ("dialect = 'rfc', recovery = 'newreno', congestion_control.kind = 'reno'", 1.0, 15.0),
    ] {
        let results = upload(tcp, 5.0);
        let row = up(&results);
        println!("{tcp}: {:.2} Mbps, {} again", row.goodput_mbps, row.retransmitted_packets);
        assert!((least..most).contains(&row.goodput_mbps), "{tcp}: {}", row.goodput_mbps);
    }
}
