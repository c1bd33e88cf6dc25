//! What goes wrong on the cable plant, and profiles, in closed form.

use crate::common::{flow, latencies, loaded, refused, service_flow};
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::FlowRow;

fn text(keys: &str) -> String {
    format!(
        "upstream.sustained_mbps = 900
         upstream.peak_mbps = 1000
         upstream.burst_bytes = 10_000_000
         downstream.sustained_mbps = 3000
         downstream.peak_mbps = 3000
         downstream.burst_bytes = 10_000_000
         servers.near = {{ delay_ms = 0, rate_mbps = 1_000_000 }}
         {keys}"
    )
}

fn run(keys: &str) -> Results {
    Simulation::run(&loaded(&text(keys), &[]))
}

fn lost_share(row: &FlowRow) -> f64 {
    row.dropped_link_packets as f64 / row.sent_packets as f64
}

/// 1500 B and 10 of MAC header have 7 codewords of 220 B: at 1 % errors 1 - 0.99^7 = 6.79 % of the packets are
/// lost, of 218 B with their header 1 - 0.99^2 = 1.99 %. Of 20 000 packets each:
/// 4 * sqrt(0.068 * 0.93 / 20 000) = 0.7 %, and 0.4 % of the short ones. Downstream a codeword has 1777 B here, so
/// that all lose 1 %.
#[test]
fn codeword_errors_lose_packets() {
    let results = run("duration_s = 40
        cable.upstream_noise.codeword_error_percent = 1
        cable.downstream_noise = { codeword_error_percent = 1, codeword_bytes = 1777 }
        traffic.long = { kind = 'stream', purpose = 'data', packet_bytes = 1500, interval_ms = 2 }
        traffic.short = { kind = 'stream', purpose = 'data', packet_bytes = 218, interval_ms = 2 }
        traffic.down = { kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1500,
                         interval_ms = 2, direction = 'down' }");
    for (name, way, expected) in
        [("long", "up", 0.0679), ("short", "up", 0.0199), ("down", "down", 0.01)]
    {
        let row = flow(&results, name, way);
        println!("{name}: {:.4} {expected}", lost_share(row));
        assert!((lost_share(row) - expected).abs() < 0.007, "{name}");
        assert!(row.sent_packets > 19_000);
    }
}

/// Bursts of 20 ms, twice a second in the mean: 1 - exp(-0.04) = 3.92 % of the time. In 400 s there are
/// 800 bursts, 4 / sqrt(800) = 14 % of it. A burst takes packets in a row: of 20 ms at 2 ms ten.
#[test]
fn noise_bursts_lose_what_comes_meanwhile() {
    for modem in ["single_queue", "shared_channel"] {
        let results = run(&format!(
            "duration_s = 400
             upstream.modem.kind = '{modem}'
             cable.upstream_noise = {{ burst_interval_s = 0.5, burst_ms = 20 }}
             traffic.game = {{ kind = 'stream', purpose = 'data', server = 'near', interval_ms = 7 }}"
        ));
        let row = flow(&results, "game", "up");
        println!("{modem}: {:.4}", lost_share(row));
        assert!((lost_share(row) / 0.0392 - 1.0).abs() < 0.14, "{modem}: {}", lost_share(row));
    }
}

/// A modem is silent from 10 s to 12 s. Nothing is lost, and of the packets that come every 10.1 ms the
/// first waits 2 s, and at most as long as usually more: 2 MAP intervals and the fixed times, 6 ms.
/// The others of these 2 s wait evenly less, so 200 of 2000 packets add 1 s each in the mean: 0.1 s.
#[test]
fn a_modem_without_ranging_is_silent() {
    for modem in ["single_queue", "shared_channel"] {
        let latency = |keys: &str| {
            let results = run(&format!(
                "duration_s = 20.2
                 upstream.modem.kind = '{modem}'
                 {keys}
                 traffic.game = {{ kind = 'stream', purpose = 'data', interval_ms = 10.1, stop_s = 20.1 }}"
            ));
            let row = flow(&results, "game", "up");
            assert_eq!(row.sent_packets, row.delivered_packets, "{modem}");
            latencies(row)
        };
        let usual = latency("");
        let outage = latency("upstream.ranging_outages = [{ start_s = 10, length_s = 2 }]");
        println!("{modem}: {usual:?} {outage:?}");
        assert!(outage[3] > 2000.0 - 10.1 && outage[3] < 2000.0 + 6.0, "{modem}");
        assert!((outage[1] - usual[1] - 100.0).abs() < 2.0, "{modem}");
    }
}

/// A modem whose processor stalls for 150 ms every 1.9 s, in one direction or both: of packets every 10.1 ms
/// those of a stall wait up to 150 ms, 0.15 / 1.9 of them and 75 ms each in the mean: 5.9 ms. Nothing is lost.
#[test]
fn stalls_come_again_in_their_direction() {
    let stalls = "stalls = [{ start_s = 1, length_s = 0.15, every_s = 1.9 }]";
    let ways = [("up", format!("upstream.{stalls}")), ("down", format!("downstream.{stalls}"))];
    for modem in ["single_queue", "two_queues", "shared_channel"] {
        let latency = |keys: &str| {
            let results = run(&format!(
                "duration_s = 39.2
                 upstream.modem.kind = '{modem}'
                 {keys}
                 traffic.game = {{ kind = 'stream', purpose = 'data', server = 'near', direction = 'both',
                                   interval_ms = 10.1, stop_s = 39 }}"
            ));
            ["up", "down"].map(|way| {
                let row = flow(&results, "game", way);
                assert_eq!(row.sent_packets, row.delivered_packets, "{modem} {way}");
                latencies(row)
            })
        };
        let usual = latency("");
        for (stalled, (way, keys)) in ways.iter().enumerate() {
            let found = latency(keys);
            let [min, mean, max] =
                [0, 1, 3].map(|what| found[stalled][what] - usual[stalled][what]);
            println!("{modem} {way}: {min} {mean} {max}");
            assert!(min.abs() < 0.3 && (mean - 5.9).abs() < 0.8, "{modem} {way}");
            assert!((130.0..160.0).contains(&max), "{modem} {way}");
            assert_eq!(found[1 - stalled], usual[1 - stalled], "{modem} {way}");
        }
    }
}

/// Unsolicited grants and polls of a silent modem bring nothing either.
#[test]
fn a_silent_modem_uses_no_unsolicited_grants() {
    for modem in ["single_queue", "shared_channel"] {
        for service in [
            "{ kind = 'ugs', unsolicited_grant_bytes = 300, nominal_grant_interval_us = 5000 }",
            "{ kind = 'real_time_polling', nominal_polling_interval_us = 5000 }",
        ] {
            let results = run(&format!(
                "duration_s = 10
                 upstream.modem.kind = '{modem}'
                 upstream.scheduling = {service}
                 upstream.ranging_outages = [{{ start_s = 5, length_s = 1000 }}]
                 traffic.game = {{ kind = 'stream', purpose = 'data', interval_ms = 10 }}"
            ));
            let row = flow(&results, "game", "up");
            println!("{modem} {service}: {} {}", row.sent_packets, row.delivered_packets);
            // What comes in the first 5 s, but for the last one or two.
            assert!((498..=501).contains(&row.delivered_packets), "{modem} {service}");
        }
    }
}

/// An interconnect of 1 ms each way is twice in the loop and once behind it: 3 ms more upstream, and
/// 1 ms downstream. A jitter of 2 ms is allowed for in full in the loop, 4 ms, and adds 1 ms to packets
/// in the mean. MAPs of 0.27 ms hide little: two frames are allowed.
#[test]
fn an_interconnect_is_in_the_loop_and_in_the_way() {
    let latency = |keys: &str| {
        let results = run(&format!(
            "duration_s = 300
             upstream.modem.kind = 'shared_channel'
             upstream_channel = {{ map_interval_ms = 0.27, channels = 1, phy.kind = 'ofdma' }}
             {keys}
             traffic.up = {{ kind = 'stream', purpose = 'data', interval_ms = 20.618 }}
             traffic.down = {{ kind = 'stream', purpose = 'data', server = 'near',
                               interval_ms = 20.618, direction = 'down' }}"
        ));
        [("up", "up"), ("down", "down")].map(|(name, way)| latencies(flow(&results, name, way)))
    };
    let [up, down] = latency("");
    let [late_up, late_down] = latency("cable.interconnect.delay_us = 1000");
    println!("{up:?} {late_up:?}, {down:?} {late_down:?}");
    assert!((late_up[1] - up[1] - 3.0).abs() < 0.27, "{}", late_up[1] - up[1]);
    assert!((late_down[1] - down[1] - 1.0).abs() < 1e-3, "{}", late_down[1] - down[1]);
    let [jitter_up, jitter_down] = latency("cable.interconnect.jitter_us = 2000");
    println!("{jitter_up:?} {jitter_down:?}");
    assert!((jitter_up[1] - up[1] - 5.0).abs() < 0.3, "{}", jitter_up[1] - up[1]);
    // Of 14 500 packets: 4 * 2 / sqrt(12 * 14 500) = 0.02 ms.
    assert!((jitter_down[1] - down[1] - 1.0).abs() < 0.02, "{}", jitter_down[1] - down[1]);
    assert!((jitter_down[3] - down[3] - 2.0).abs() < 0.05);
}

/// Packets of a burst keep their order behind a jitter that is longer than their distance.
#[test]
fn jitter_keeps_the_order_of_packets() {
    let results = run("duration_s = 20
        cable.interconnect = { delay_us = 500, jitter_us = 5000 }
        traffic.save = { kind = 'transfer', server = 'near' }
        traffic.load = { kind = 'transfer', server = 'near', direction = 'down' }");
    for (name, way) in [("save", "up"), ("load", "down")] {
        let row = flow(&results, name, way);
        assert!(row.delivered_packets > 10_000);
        assert_eq!(row.dropped_link_packets, 0, "{name}");
    }
}

/// A flood with all four channels and with one. A single carrier has 160 minislots in 2 ms, requests
/// take 16 here: 4 * 160 - 16 = 624 minislots and 144. Of these a grant of all is, with 4 segments of 156
/// minislots, 9984 symbols, 9880 without what is around them and 7410 B: with codewords of 220 + 20 B 30
/// whole ones of 240 and one of 190 + 20, 6790 B less 8 of header: 27 128 B; with one segment of 144,
/// 9216, 9112 symbols, 6834 B: 28 of 240 and 114 - 20 = 94: 6254 - 8 = 6246 B.
/// In 2 ms these are 108.5 and 25.0 Mbps, of which 1500 of 1510 B are counted: the MAC
/// header has 10.
#[test]
fn lost_channels_lower_the_rate() {
    let mbps = |keys: &str| {
        let results = run(&format!(
            "duration_s = 4
             upstream.modem.kind = 'shared_channel'
             upstream_channel.request_opportunities = 8
             {keys}
             traffic.flood = {{ kind = 'stream', purpose = 'data', server = 'near',
                                packet_bytes = 1500, interval_ms = 0.1 }}"
        ));
        flow(&results, "flood", "up").throughput_mbps
    };
    let lost = "upstream_channel.partial_service = [{ start_s = LOST, channels = 1 }]";
    let whole = mbps("");
    let one = mbps(&lost.replace("LOST", "0, length_s = 100"));
    let half = mbps(&lost.replace("LOST", "2, length_s = 100"));
    println!("{whole:.2} {one:.2} {half:.2}");
    for (found, bytes) in [(whole, 27_128.0), (one, 6246.0)] {
        let expected: f64 = bytes * 8.0 / 2000.0 * 1500.0 / 1510.0;
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
    }
    assert!((half / ((whole + one) / 2.0) - 1.0).abs() < 0.03, "{half}");
}

/// What the line carries is so much less, of which transfers have their part: of 20 s five with one of four channels.
#[test]
fn partial_service_is_no_part_of_what_the_line_carries() {
    let keys = "duration_s = 20
        upstream.modem.kind = 'shared_channel'
        upstream_channel.partial_service = [{ start_s = 10, length_s = 5, channels = 1 }]
        traffic.flood = { kind = 'transfer', server = 'near' }";
    let scenario = loaded(&text(keys), &[]);
    let carried = |from_s: f64, to_s: f64| {
        let carried = scenario.channel_mbit(&scenario.group(0), Direction::Up, &(from_s..to_s));
        carried.unwrap()
    };
    let (whole, one) = (carried(0.0, 1.0), carried(11.0, 12.0));
    assert!((one / whole - 0.25).abs() < 0.01, "{one} of {whole}");
    assert!((carried(0.0, 20.0) - 15.0 * whole - 5.0 * one).abs() < 1e-6);
    assert!(scenario.channel_mbit(&scenario.group(0), Direction::Down, &(0.0..1.0)).is_none());
}

/// Homes whose profile has 6 bits a symbol beside homes with 10: an OFDMA minislot has 8 * 6 * 6 / 8 = 36 B
/// instead of 60. Alone on the channel, which is full, the one has 0.6 times the rate of the other.
/// Downstream, a codeword of 16 200 bits takes 16 200 / bits subcarriers and 12 for its pointer: with 8
/// bits 2037 instead of 1362.
#[test]
fn a_profile_with_fewer_bits_is_slower() {
    let mbps = |keys: &str| {
        let results = run(&format!(
            "duration_s = 2
             upstream.modem.kind = 'shared_channel'
             upstream_channel = {{ channels = 1, phy = {{ kind = 'ofdma', subcarriers = 376 }} }}
             cmts.channel = {{ kind = 'ofdm', subcarriers = 749 }}
             homes.near.count = 1
             homes.far.count = 1
             traffic.up = {{ kind = 'stream', purpose = 'data', server = 'near', home = 'far',
                             packet_bytes = 1500, interval_ms = 0.05 }}
             traffic.down = {{ kind = 'stream', purpose = 'data', server = 'near', home = 'far',
                               packet_bytes = 1500, interval_ms = 0.02, direction = 'down' }}
             {keys}"
        ));
        ["up", "down"].map(|name| flow(&results, name, name).throughput_mbps)
    };
    let full = mbps("");
    let less = mbps("homes.far.upstream.profile_bits = 6\nhomes.far.downstream.profile_bits = 8");
    let others =
        mbps("homes.near.upstream.profile_bits = 6\nhomes.near.downstream.profile_bits = 8");
    println!("{full:?} {less:?} {others:?}");
    assert!((less[0] / full[0] - 0.6).abs() < 0.006, "{}", less[0] / full[0]);
    assert!((less[1] / full[1] - 1362.0 / 2037.0).abs() < 0.01, "{}", less[1] / full[1]);
    assert_eq!(full, others);
}

#[test]
fn impossible_faults_are_refused() {
    for (keys, message) in [
        (
            "cable.upstream_noise.burst_ms = 5",
            "cable.upstream_noise.burst_ms: found 5 without burst_interval_s; allowed: only with it",
        ),
        (
            "upstream_channel.partial_service = [{ start_s = 0, length_s = 1, channels = 4 }]",
            "upstream_channel.partial_service.0.channels: found 4; allowed: fewer than the 4 channels",
        ),
        (
            "upstream.profile_bits = 6",
            "upstream.profile_bits: found 6; allowed: only with modem.kind = \"shared_channel\"",
        ),
        (
            "upstream.profile_bits = 6.5\nupstream.modem.kind = 'shared_channel'",
            "upstream.profile_bits: found 6.5; allowed: a whole number from 2 to 8 on a single \
             carrier",
        ),
        (
            "downstream.profile_bits = 8",
            "downstream.profile_bits: found 8; allowed: only where cmts.channel is of kind ofdm",
        ),
        (
            "upstream.stalls = [{ start_s = 1, length_s = 1, every_s = 1 }]",
            "upstream.stalls.0.every_s: found 1; allowed: more than 1, the value of length_s",
        ),
        (
            "access.kind = 'fibre'\ndownstream.stalls = [{ start_s = 1, length_s = 1 }]",
            "downstream.stalls: found with access kind fibre; allowed: only with kind docsis",
        ),
        (
            "upstream.modem.kind = 'link'\nupstream.ranging_outages = [{ start_s = 1, length_s = 1 }]",
            "upstream.ranging_outages: found with a modem of kind link, which has no ranging; \
             allowed: any other kind",
        ),
    ] {
        let keys = format!(
            "duration_s = 1
             traffic.game = {{ kind = 'stream', server = 'near', purpose = 'game', direction = 'up' }}\n{keys}"
        );
        let problem = refused(&text(&keys), &[]);
        assert!(problem.contains(message), "{problem}");
    }
}

/// An IPv6 header is 20 bytes longer: of a full packet of 1500 IPv4 carries 1448 with timestamps, IPv6
/// 1428; acknowledgements of 70 and 90 B with Ethernet's 18. Classifiers tell versions and addresses.
#[test]
fn ipv6_has_longer_headers_and_its_own_classifiers() {
    let results = run("duration_s = 4
        tcp.timestamps = true
        upstream.flows.six = { sustained_mbps = 900, peak_mbps = 1000, burst_bytes = 10_000_000,
                               match = [{ ip = 6, destination = '2001:db8::/32' }] }
        servers.new = { delay_ms = 0, rate_mbps = 1_000_000, address = '2001:db8::5' }
        traffic.old = { kind = 'transfer', server = 'near', direction = 'down', file_bytes = 1_448_000 }
        traffic.new = { kind = 'transfer', server = 'new', direction = 'down', file_bytes = 1_428_000,
                        tcp.ip = 6 }");
    for (name, payload, ack) in [("old", 1448, 70), ("new", 1428, 90)] {
        let (down, up) = (flow(&results, name, "down"), flow(&results, name, "up"));
        // 1000 full packets; the rest opens and closes the connection.
        let full = down.delivered_bytes as f64 - 1000.0 * (f64::from(payload) + 70.0);
        println!("{name}: {full} {} {}", down.delivered_packets, up.delivered_packets);
        let rest = (down.delivered_packets - 1000) as f64;
        let header = f64::from(ack) - 70.0;
        assert!((full - header * 1000.0 - rest * f64::from(ack)).abs() < 40.0, "{name}: {full}");
        let mean = up.delivered_bytes as f64 / up.delivered_packets as f64;
        assert!((mean - f64::from(ack)).abs() < 1.0, "{name}: {mean}");
    }
    let six = service_flow(&results, "home", "six", "up");
    assert_eq!(six.forwarded_packets, flow(&results, "new", "up").sent_packets);
}
