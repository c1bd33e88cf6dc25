//! Whole simulations with QUIC: against TCP on the same link, in the modem, and in each app that may use it.

use crate::common::{flow, scenario};
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::engine::record::{Outcome, PacketRecord};
use sojourn::results::metrics::Results;

/// An upload for 30 s over a drop-tail link of 20 Mbps with a round trip of 40 ms and 50 ms of buffer, where
/// bytes are those of IP packets.
fn upload(tcp: &str) -> Results {
    Simulation::run(&scenario(&format!(
        "duration_s = 30
         metrics.packet_trace = true
         cable = {{ byte_count = 'ip' }}
         upstream = {{ sustained_mbps = 20, peak_mbps = 20, burst_bytes = 3000,
                       modem.kind = 'link', queue.limit_bytes = 125_000 }}
         downstream = {{ sustained_mbps = 1000, peak_mbps = 1000, burst_bytes = 1_000_000 }}
         servers.s = {{ delay_ms = 19, rate_mbps = 100_000 }}
         traffic.upload = {{ kind = 'transfer', server = 's', tcp = {{ {tcp} }} }}\n"
    )))
}

fn data(results: &Results) -> impl Iterator<Item = &PacketRecord> {
    results.packets.iter().filter(|p| p.direction == Direction::Up && p.segment.len > 0)
}

/// Payload that arrived from 5 to 30 s, in Mbps. What came twice is counted twice; there are few of these.
fn goodput_mbps(results: &Results) -> f64 {
    let bytes: u64 = data(results)
        .filter(|p| p.outcome == Outcome::Delivered && p.sent.secs_f64() >= 5.0)
        .map(|p| u64::from(p.segment.len))
        .sum();
    bytes as f64 * 8.0 / 25e6
}

/// Both fill the link, so goodput is what headers leave of 20 Mbps. TCP: 1448 of 1500 B. QUIC: of a datagram of
/// 1452 B a full packet keeps 9 B of header, 4 of room for its number, 16 of tag and 6 of the frame, and has
/// 1417 B of payload: with 28 B below, 9 + 2 + 16 + 6 and the payload that is 1478 B (a number of two bytes).
#[test]
fn quic_fills_a_link_as_tcp_does_less_its_headers() {
    for control in ["reno", "cubic"] {
        let keys = format!("congestion_control.kind = '{control}'");
        let tcp = goodput_mbps(&upload(&format!("{keys}, pacing = true")));
        let quic = goodput_mbps(&upload(&format!("{keys}, transport = 'quic'")));
        let [of_tcp, of_quic] = [tcp / (20.0 * 1448.0 / 1500.0), quic / (20.0 * 1417.0 / 1478.0)];
        println!("{control}: TCP {tcp:.3} Mbps, QUIC {quic:.3} Mbps, {of_tcp:.4}, {of_quic:.4}");
        assert!((0.95..1.005).contains(&of_tcp), "{control}: TCP {of_tcp}");
        assert!((0.95..1.005).contains(&of_quic), "{control}: QUIC {of_quic}");
        assert!((of_quic / of_tcp - 1.0).abs() < 0.03, "{control}: {of_quic} and {of_tcp}");
    }
}

/// IPv4 and UDP 28 B, short header 9, packet number 1 or 2, tag 16, type and stream 2, offset 4 from 16 KiB on:
/// 60 or 61 B around the payload; and none repeats its number.
#[test]
fn headers_are_exact_and_numbers_never_repeat() {
    let results = upload("transport = 'quic'");
    let long = data(&results).filter(|p| p.segment.seq >= 16_384);
    let around: Vec<u16> = long.map(|p| p.size - p.segment.len).collect();
    // The receiver's PINGs, one with every 20th acknowledgement of two packets, are acknowledged along with
    // data: a type, a number of up to 4 B, a delay of 1 to 2 B, a count and a range of up to 4 B.
    let plain = around.iter().filter(|bytes| [60, 61].contains(*bytes)).count();
    assert!(around.iter().all(|bytes| (60..=61 + 12).contains(bytes)));
    assert!(around.len() > 40_000 && plain * 40 >= around.len() * 38, "{plain}");
    let full = data(&results).filter(|p| p.segment.len == 1417).count();
    assert!(full * 40 >= around.len() * 38, "{full} of {}", around.len());
    let mut numbers: Vec<u64> = (results.packets.iter())
        .filter(|p| p.direction == Direction::Up)
        .map(|p| p.segment.own.quic().number)
        .collect();
    let sent = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), sent);
    let row = flow(&results, "upload", "up");
    assert!(row.retransmitted_packets > 0 && row.timeouts == 0, "{row:?}");
}

/// A modem replaces acknowledgements of TCP that wait by newer ones; it cannot read those of QUIC.
#[test]
fn a_modem_does_not_see_acknowledgements_of_quic() {
    let superseded = |transport: &str| {
        let results = Simulation::run(&scenario(&format!(
            "duration_s = 5
             upstream = {{ sustained_mbps = 1, peak_mbps = 1, burst_bytes = 3000,
                           queue.acks = 'aggregated' }}
             downstream = {{ sustained_mbps = 50, peak_mbps = 50, burst_bytes = 100_000 }}
             servers.s = {{ delay_ms = 5 }}
             tcp.transport = '{transport}'
             traffic.up = {{ kind = 'transfer', server = 's' }}
             traffic.down = {{ kind = 'transfer', server = 's', direction = 'down' }}\n"
        )));
        flow(&results, "down", "up").superseded_packets
    };
    assert!(superseded("tcp") > 100);
    assert_eq!(superseded("quic"), 0);
}

/// A classifier of UDP takes QUIC's packets, and one of TCP does not.
#[test]
fn quic_is_udp_for_classifiers() {
    for (protocol, is_taken) in [("udp", true), ("tcp", false)] {
        let results = Simulation::run(&scenario(&format!(
            "duration_s = 2
             upstream = {{ sustained_mbps = 5, peak_mbps = 5, burst_bytes = 3000,
                           flows.own = {{ sustained_mbps = 5, peak_mbps = 5, burst_bytes = 3000,
                                          match = [{{ protocol = '{protocol}' }}] }} }}
             downstream = {{ sustained_mbps = 50, peak_mbps = 50, burst_bytes = 100_000 }}
             servers.s = {{ delay_ms = 5 }}
             traffic.up = {{ kind = 'transfer', server = 's', tcp.transport = 'quic' }}\n"
        )));
        let is_own = |row: &&sojourn::results::metrics::rows::ServiceFlowRow| {
            row.service_flow == "own" && row.direction == "up"
        };
        let own = results.service_flows.iter().find(is_own).unwrap();
        assert_eq!(own.forwarded_packets > 0, is_taken, "{protocol}");
    }
}

/// A page of 50 kB and five objects of 10 kB, each by a connection of its own after the other, with 5 Mbps and a
/// round trip of 42 ms: for each one round trip of handshake and one from request to first byte, 504 ms in
/// all; 100 kB take 160 ms, headers of 4 % 6, and the server's 2615 B of six handshakes 25: 695 ms at least. Slow
/// start from 14.5 kB, of which 26 kB fill the path, and requests add less than one round trip.
#[test]
fn a_page_waits_one_round_trip_for_each_handshake() {
    let results = Simulation::run(&scenario(
        "duration_s = 5
         cable.delay_ms = 1
         upstream = { sustained_mbps = 5, peak_mbps = 5, burst_bytes = 3000, modem.kind = 'link' }
         downstream = { sustained_mbps = 5, peak_mbps = 5, burst_bytes = 3000 }
         servers.s = { delay_ms = 20 }
         traffic.pages = { kind = 'web', servers = ['s'], html_bytes = 50_000, pause_s = 1,
                           objects = { kind = 'fixed', per_server = 5, bytes = 10_000 },
                           connections_per_server = 1, tcp.transport = 'quic' }\n",
    ));
    let page = results.pages.first().expect("a page was loaded").load_time_s;
    println!("{page} s");
    assert!((0.695..0.695 + 0.042).contains(&page), "{page} s");
}

/// All apps with connections go on over QUIC where packets are lost.
#[test]
fn pages_videos_and_downloads_work_over_quic() {
    let results = Simulation::run(&scenario(
        "duration_s = 60
         upstream = { sustained_mbps = 5, peak_mbps = 5, burst_bytes = 3000 }
         downstream = { sustained_mbps = 5, peak_mbps = 5, burst_bytes = 3000 }
         servers.s = { delay_ms = 20, loss_percent = 0.5 }
         tcp.transport = 'quic'
         traffic.pages = { kind = 'web', servers = ['s'], html_bytes = 50_000, pause_s = 1,
                           objects = { kind = 'fixed', per_server = 5, bytes = 10_000 } }
         traffic.sessions = { kind = 'web_sessions', servers = ['s'] }
         traffic.video = { kind = 'video', server = 's', start_s = 30 }
         traffic.file = { kind = 'transfer', server = 's', direction = 'down', file_bytes = 100_000,
                          pause_s = 1, start_s = 10 }\n",
    ));
    assert!(results.pages.len() > 20, "{}", results.pages.len());
    for (name, direction) in
        [("pages", "down"), ("sessions", "down"), ("video", "down"), ("file", "down")]
    {
        let row = flow(&results, name, direction);
        assert!(row.delivered_bytes > 500_000, "{name}: {}", row.delivered_bytes);
        assert!(row.sent_packets >= row.delivered_packets, "{name}");
    }
}
