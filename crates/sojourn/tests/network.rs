//! Several homes, each with service flows of its own: who is served by what, and that all is counted.

use std::fmt::Write as _;

use crate::common::{flow, loaded, queue, refused, scenario, sentences, series, service_flow};
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::results::metrics::{Results, SeriesRow};
use sojourn_testing::at_random;
use sojourn_testing::proptest::prelude::*;

const NETWORK: &str = "
    duration_s = 20
    upstream.sustained_mbps = 2
    upstream.burst_bytes = 3000
    downstream.sustained_mbps = 8
    downstream.burst_bytes = 3000
    servers.near = { delay_ms = 5 }
    servers.far = { delay_ms = 30 }
    ";

fn run(keys: &str) -> Results {
    Simulation::run(&loaded(&format!("{NETWORK}{keys}"), &[]))
}

/// Of a packet every ms to a server behind 500 km, those of the last 2.5 ms are still on the cable when the
/// run ends: a loss beyond it has not happened yet, though it is known.
#[test]
fn what_is_lost_after_the_end_is_not_lost() {
    let results = run("cable = { distance_km = 500, upstream_noise.codeword_error_percent = 100 }
         metrics.packet_trace = true
         traffic.a = { kind = 'stream', purpose = 'data', packet_bytes = 200, interval_ms = 1 }");
    let row = flow(&results, "a", "up");
    let last = results.packets.iter().map(|packet| packet.ended.secs_f64()).fold(0.0, f64::max);
    assert!(last <= 20.0, "{last} s");
    assert_eq!(row.dropped_link_packets, results.packets.len() as u64);
    assert_eq!(row.delivered_packets, 0);
    let under_way = row.sent_packets - row.dropped_link_packets;
    assert!((2..20).contains(&under_way), "{under_way}");
}

/// Every home has its service: three homes of 1 Mbps carry 3 Mbps together, the two others 2 Mbps and
/// 8 Mbps. Floods of twice the rate; of 20 s the last queue and the first millisecond are missing.
#[test]
fn each_home_gets_its_own_rate() {
    let results =
        run("homes.slow = { count = 3, upstream = { sustained_mbps = 1, peak_mbps = 1 } }
         homes.fast = { upstream = { flows = {} } }
         traffic.a = { kind = 'stream', purpose = 'data', server = 'near', home = 'slow',
                       packet_bytes = 1000, interval_ms = 4 }
         traffic.b = { kind = 'stream', purpose = 'data', server = 'near', home = 'fast',
                       packet_bytes = 1000, interval_ms = 2 }
         traffic.c = { kind = 'stream', purpose = 'data', server = 'near', home = 'fast',
                       direction = 'down', packet_bytes = 1000, interval_ms = 0.5 }");
    for (traffic, direction, mbps) in [("a", "up", 3.0), ("b", "up", 2.0), ("c", "down", 8.0)] {
        let carried = flow(&results, traffic, direction).throughput_mbps;
        assert!((carried / mbps - 1.0).abs() < 0.01, "{traffic}: {carried} Mbps");
    }
    // Only the first home of each group is watched.
    let names: Vec<_> = results.queues.iter().map(|row| &*row.queue).collect();
    assert_eq!(names, ["upstream", "downstream", "fast upstream", "fast downstream"]);
}

/// A call with a flow of its own does not wait behind the upload that fills the primary flow's 250 ms;
/// the rates of both add up.
#[test]
fn flows_of_one_modem_have_queues_and_rates_of_their_own() {
    let results =
        run("upstream.flows.voice = { sustained_mbps = 0.5, peak_mbps = 0.5, burst_bytes = 3000,
                                  match = [{ protocol = 'udp', dscp = [46, 46] }] }
         traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near', dscp = 46 }
         traffic.noise = { kind = 'stream', purpose = 'data', packet_bytes = 1000, interval_ms = 2 }");
    // 20 s of packets every 20 ms, the last of which may be under way.
    let voice = service_flow(&results, "home", "voice", "up");
    assert!((999..=1000).contains(&voice.forwarded_packets), "{voice:?}");
    assert!(flow(&results, "call", "up").latency_max_ms.unwrap() < 20.0);
    assert!(queue(&results, "upstream").sojourn_p50_ms.unwrap() > 200.0);
    assert_eq!(queue(&results, "upstream voice").departed_packets, voice.forwarded_packets);
    let noise = flow(&results, "noise", "up");
    assert!((noise.throughput_mbps / 2.0 - 1.0).abs() < 0.01);
    let primary = service_flow(&results, "home", "primary", "up");
    assert_eq!(primary.policed_drop_packets, noise.dropped_overflow_packets);
    assert!(primary.policed_drop_packets > 0 && voice.policed_drop_packets == 0);
    // At twice the rate, all but the first burst are held back; the call never is.
    let at_once = primary.forwarded_packets - primary.policed_delay_packets;
    assert!(at_once < 10 && voice.policed_delay_packets == 0, "{at_once} of {primary:?}");
}

/// What waits for the peak rate or for the channel is not held back by the sustained rate.
#[test]
fn only_the_sustained_rate_counts_as_policing() {
    let delayed_and_passed = |sets: &str| {
        let text = format!(
            "{NETWORK}traffic.noise = {{ kind = 'stream', purpose = 'data', server = 'near',
                                         packet_bytes = 1000, interval_ms = 0.2 }}"
        );
        let results = Simulation::run(&loaded(&text, &sets.split(' ').collect::<Vec<_>>()));
        let row = service_flow(&results, "home", "primary", "up");
        (row.policed_delay_packets, row.forwarded_packets)
    };
    // 2 s of 40 Mbps, of which a peak rate of 8 Mbps passes 2000 packets; the burst has tokens for all.
    let ample =
        "duration_s=2 upstream.peak_mbps=8 upstream.burst_bytes=4000000 upstream.modem.kind=";
    for modem in ["link", "single_queue", "two_queues", "shared_channel"] {
        let (delayed, passed) = delayed_and_passed(&format!("{ample}{modem}"));
        assert!(delayed == 0 && (1950..=2002).contains(&passed), "{modem}: {delayed} of {passed}");
        let (delayed, passed) = delayed_and_passed(&format!(
            "duration_s=2 upstream.peak_mbps=8 upstream.modem.kind={modem}"
        ));
        // 500 packets in 2 s, and the burst of three.
        assert!(delayed + 20 > passed && passed > 480, "{modem}: {delayed} of {passed}");
    }
    // One channel of 24.5 Mbps before a service of 100 Mbps.
    let (delayed, passed) = delayed_and_passed(
        "duration_s=2 upstream.peak_mbps=100 upstream.sustained_mbps=100 upstream.burst_bytes=30000 \
         upstream_channel.channels=1 upstream.modem.kind=shared_channel",
    );
    assert!(delayed == 0 && passed > 5500, "{delayed} of {passed}");
}

/// Of TCP both directions are distinguished by ports: data goes to 443 and comes from there.
#[test]
fn connections_take_the_flows_of_their_ports() {
    let results =
        run("upstream.flows.https = { sustained_mbps = 1, peak_mbps = 1, burst_bytes = 3000,
                                  match = [{ protocol = 'tcp', destination_ports = [443, 443] }] }
         downstream.flows.other = { sustained_mbps = 1, peak_mbps = 1, burst_bytes = 3000,
                                    match = [{ source_ports = [8000, 8999] }] }
         traffic.web = { kind = 'transfer', server = 'near', direction = 'down' }
         traffic.box = { kind = 'transfer', server = 'far', direction = 'down', port = 8080 }");
    let passed =
        |flow, direction| service_flow(&results, "home", flow, direction).forwarded_packets;
    let sent = |traffic, direction| flow(&results, traffic, direction).sent_packets;
    // Some acknowledgements are still in the modem at the end, those of three MAP intervals at most:
    // 6 ms at 8 Mbps are 4 segments.
    assert!((0..=4).contains(&(sent("web", "up") - passed("https", "up"))));
    assert!((0..=4).contains(&(sent("box", "up") - passed("primary", "up"))));
    // 1 Mbps for the box, whatever the 8 Mbps of the primary flow carry beside it.
    let slow = flow(&results, "box", "down").throughput_mbps;
    assert!(slow > 0.9 && slow <= 1.01, "{slow} Mbps");
    assert!(flow(&results, "web", "down").throughput_mbps > 7.0);
}

/// Buffer control: the target, else 250 ms within the bounds. A flood at twice the rate fills it, so
/// that a packet of 1000 B waits for the packets that fit before it, of 4 ms each.
#[test]
fn buffer_control_sets_what_waits() {
    for (buffer, waiting_bytes) in [
        ("{ target_bytes = 10_000 }", 10_000.0),
        ("{ maximum_bytes = 20_000 }", 20_000.0),
        // 250 ms at 2 Mbps.
        ("{ minimum_bytes = 10_000 }", 62_500.0),
        ("{ minimum_bytes = 100_000 }", 100_000.0),
    ] {
        let results = run(&format!(
            "upstream.buffer = {buffer}
             traffic.noise = {{ kind = 'stream', purpose = 'data', packet_bytes = 1000, interval_ms = 2 }}"
        ));
        let waits_ms = queue(&results, "upstream").sojourn_p90_ms.unwrap();
        let least_ms = (waiting_bytes - 1000.0) * 8.0 / 2e3 - 8.0;
        assert!(waits_ms > least_ms && waits_ms < least_ms + 20.0, "{buffer}: {waits_ms} ms");
    }
}

/// The adapter's calls have a service flow of their own in both directions, by its address in the home; an
/// address that nobody has is reported.
#[test]
fn classifiers_distinguish_devices_by_address() {
    let keys = "
        traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near', address = '192.168.0.7' }
        traffic.save = { kind = 'transfer', server = 'near', address = '192.168.0.8' }
        upstream.flows.calls = { sustained_mbps = 1, peak_mbps = 1, burst_bytes = 3000,
                                 match = [{ source = '192.168.0.7' }, { source = '10.0.0.0/8' }] }
        downstream.flows.rest = { sustained_mbps = 1, peak_mbps = 1, burst_bytes = 3000,
                                  match = [{ destination = '192.168.0.8/29' }] }";
    let results = run(keys);
    // 20 s of a call upstream, and of the upload acknowledgements; 192.168.0.8/29 ends with .15.
    let calls = service_flow(&results, "home", "calls", "up").forwarded_packets;
    assert!((999..=1000).contains(&calls), "{calls}");
    let acknowledgements = flow(&results, "save", "down").delivered_packets;
    assert!(
        service_flow(&results, "home", "rest", "down").forwarded_packets.abs_diff(acknowledgements)
            < 3
    );
    assert_eq!(
        sentences(results.warnings),
        [
            "upstream.flows.calls.match.1.source fits nothing: no address of traffic is in 10.0.0.0/8"
        ]
    );
}

/// A law does nothing for an upload that takes another service flow: the law that has no load is named, with the share of
/// the bytes that its flow carries, in each direction and in each flow; and none is where it has the load.
#[test]
fn a_law_of_a_service_flow_that_no_load_passes_is_named() {
    let law = "queue.law.kind = 'docsis_pie'";
    let game = "traffic.game = { kind = 'stream', purpose = 'game', server = 'near' }";
    let of = |way: &str, name: &str, of_primary: &str, of_flow: &str| {
        let primary = if of_primary.is_empty() {
            String::new()
        } else {
            format!("{way}stream.{of_primary}\n")
        };
        let found = run(&format!(
            "{primary}{way}stream.flows.{name} = {{ sustained_mbps = 2, match = [{{ dscp = [10, 10] }}], {of_flow} }}
             traffic.load = {{ kind = 'transfer', server = 'near', direction = '{way}', dscp = 10 }}
             {game}"
        ));
        let all = sentences(found.warnings).into_iter();
        let said: Vec<String> = all.filter(|one| one.contains("marked nothing, for")).collect();
        said
    };
    for way in ["up", "down"] {
        let said = of(way, "bulk", law, "");
        assert_eq!(said.len(), 1, "{said:?}");
        let (first, last) = said[0].split_once(" carried ").expect("it says how much");
        let want = format!(
            "{way}stream.queue.law: docsis_pie dropped and marked nothing, for its service flow"
        );
        assert_eq!(first, want);
        let end =
            format!(" % of the bytes {way}: most take that of {way}stream.flows.bulk.queue.law");
        assert!(last.ends_with(&end), "{last}");
        assert_eq!(of(way, "bulk", "", law), [""; 0]);
        assert_eq!(of(way, "bulk", "", ""), [""; 0]);
    }
}

/// A key that waits for a packet or a time which never comes says so; where it comes, nothing is said.
#[test]
fn keys_that_wait_for_what_never_comes_are_named() {
    let flow = |dscp: u8| {
        format!(
            "upstream.flows.calls = {{ sustained_mbps = 1, match = [{{ dscp = [{dscp}, {dscp}] }}] }}"
        )
    };
    let partial = |start_s: u32| {
        format!(
            "upstream.modem.kind = 'shared_channel'
             upstream_channel.partial_service = [{{ start_s = {start_s}, length_s = 2, channels = 2 }}]"
        )
    };
    let outage = |start_s: &str| {
        let outages = format!("outages = [{{ start_s = {start_s}, length_s = 1000 }}]");
        format!(
            "upstream.modem.kind = 'shared_channel'
             upstream_channel.bonded = {{ a = {{}}, b = {{ {outages} }} }}"
        )
    };
    let weights = |other: u32| {
        format!(
            "cmts = {{ unit = 'service_flow', queue.scheduler.kind = 'wfq' }}
             downstream.regulator = false
             downstream.weight = 3
             homes.ours = {{}}
             homes.theirs.downstream.weight = {other}"
        )
    };
    let keeps = |pause: &str| {
        format!(
            "traffic.file = {{ kind = 'transfer', server = 'near', file_bytes = 9000, keep_connection = true{pause} }}"
        )
    };
    for (key, silent, acts) in [
        ("upstream.flows.calls.match", flow(46), flow(0)),
        ("upstream_channel.partial_service.0", partial(20), partial(9)),
        ("upstream_channel.bonded.b.outages.0", outage("20"), outage("1")),
        ("upstream_channel.bonded.b.outages.0", outage("0"), outage("1")),
        ("downstream.weight", weights(3), weights(2)),
        ("traffic.file.keep_connection", keeps(""), keeps(", pause_s = 1")),
    ] {
        let named = |lines: &str| {
            let entry = "traffic.get = { kind = 'transfer', server = 'near', direction = 'down' }";
            let warnings = run(&format!("{entry}\n{lines}")).warnings;
            warnings.iter().any(|one| one.path == key)
        };
        assert!(named(&silent) && !named(&acts), "{key}");
    }
}

/// `aqm = false` disables AQM in all flows; without it each drops by its own algorithm.
#[test]
fn aqm_is_switched_off_for_all_flows_at_once() {
    let keys = "
        upstream.queue.law = { kind = 'docsis_pie' }
        upstream.flows.own = { sustained_mbps = 1, peak_mbps = 1, burst_bytes = 3000,
                               queue.law = { kind = 'docsis_pie', target_ms = 20 },
                               match = [{ traffic = 'b' }] }
        traffic.a = { kind = 'transfer', server = 'near' }
        traffic.b = { kind = 'transfer', server = 'near' }\n";
    for (switch, is_on) in [("true", true), ("false", false)] {
        let results = run(&format!("{keys}upstream.aqm = {switch}"));
        for (name, entry) in [("primary", "a"), ("own", "b")] {
            let dropped = service_flow(&results, "home", name, "up").dropped_aqm_packets;
            assert_eq!(dropped > 0, is_on, "{name}");
            assert_eq!(dropped, flow(&results, entry, "up").dropped_aqm_packets);
        }
    }
}

/// The first home of a network is the home that is alone: others beside it change nothing there.
#[test]
fn neighbours_with_channels_of_their_own_change_nothing() {
    let entry = "kind = 'transfer', server = 'near', connections = 2";
    let alone = run(&format!("traffic.save = {{ {entry} }}"));
    let among = run(&format!(
        "homes.one = {{}}
         homes.others = {{ count = 4 }}
         traffic.save = {{ {entry} }}
         traffic.theirs = {{ {entry}, home = 'others' }}"
    ));
    // The links of servers are shared, at a gigabit; so times differ by some microseconds at most.
    let [alone, among] =
        [&alone, &among].map(|results| flow(results, "save", "up").delivered_bytes);
    assert!((alone as f64 / among as f64 - 1.0).abs() < 0.01, "{alone} and {among}");
}

at_random! {
    60;

    /// Whatever the homes, `Simulation::run` asserts that packets are conserved; and the counters of
    /// service flows add up to what the entries' accounts have: passed are those delivered, and at
    /// most those still under way; dropped are those dropped.
    #[test]
    fn counters_add_up_to_the_accounts(
        homes in prop::collection::vec((1_u16..12, 0.3..4.0_f64, any::<bool>()), 1..4),
        seed in 0_u32..1000,
        limit in 5_000_u32..40_000,
    ) {
        let mut text = format!(
            "duration_s = 2\nseed = {seed}
             upstream = {{ sustained_mbps = 2, peak_mbps = 4, burst_bytes = 20_000,
                           queue = {{ limit_bytes = {limit}, law = {{ kind = 'docsis_pie' }} }} }}
             downstream = {{ sustained_mbps = 4, peak_mbps = 8, burst_bytes = 20_000 }}
             servers.near = {{ delay_ms = 3 }}\n"
        );
        for (index, (count, mbps, has_flow)) in homes.iter().enumerate() {
            let flow = "{ sustained_mbps = 1, peak_mbps = 2, burst_bytes = 3000,
                          match = [{ protocol = 'udp' }] }";
            let flows = if *has_flow { format!("flows.calls = {flow}") } else { String::new() };
            writeln!(
                text,
                "homes.h{index} = {{ count = {count}, downstream = {{ sustained_mbps = {mbps}, {flows} }},
                                     upstream = {{ {flows} }} }}
                 traffic.save{index} = {{ kind = 'transfer', server = 'near', home = 'h{index}' }}
                 traffic.load{index} = {{ kind = 'transfer', home = 'h{index}', direction = 'down' }}
                 traffic.call{index} = {{ kind = 'stream', purpose = 'voice', server = 'near',
                                          home = 'h{index}', direction = 'down' }}"
            ).unwrap();
        }
        let results = Simulation::run(&loaded(&text, &[]));
        for direction in Direction::BOTH.map(Direction::name) {
            let flows = results.flows.iter().filter(|row| row.direction == direction);
            let (mut delivered, mut sent, mut dropped) = (0, 0, (0, 0));
            for row in flows {
                delivered += row.delivered_packets;
                sent += row.sent_packets;
                dropped.0 += row.dropped_overflow_packets;
                dropped.1 += row.dropped_aqm_packets;
            }
            let rows = results.service_flows.iter().filter(|row| row.direction == direction);
            let (mut passed, mut counted) = (0, (0, 0));
            for row in rows {
                passed += row.forwarded_packets;
                counted.0 += row.policed_drop_packets;
                counted.1 += row.dropped_aqm_packets;
            }
            prop_assert!(delivered > 0 && delivered <= passed);
            prop_assert!(passed + dropped.0 + dropped.1 <= sent);
            prop_assert_eq!(counted, dropped);
        }
    }
}

/// A large network is made and runs; nothing in it goes by the square of its homes.
#[test]
fn five_hundred_homes_run() {
    let text = scenario(
        "duration_s = 0.5
         upstream = { sustained_mbps = 5, peak_mbps = 10, burst_bytes = 20_000 }
         downstream = { sustained_mbps = 20, peak_mbps = 20, burst_bytes = 20_000 }
         servers.near = { delay_ms = 3 }
         homes.all = { count = 500 }
         traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near', start_s = 0 }",
    );
    // 26 packets of each home, from 0 to 0.5 s.
    let results = Simulation::run(&text);
    assert_eq!(flow(&results, "call", "up").sent_packets, 500 * 26);
}

/// Homes of a group are active by turns; the packets that they send are those of the times of activity, whatever the
/// app, and another group is as it was.
#[test]
fn homes_at_rest_begin_nothing() {
    let run = |activity: &str| {
        Simulation::run(&scenario(&format!(
            "duration_s = 60
             upstream = {{ sustained_mbps = 50 }}
             downstream = {{ sustained_mbps = 200 }}
             servers.near = {{ delay_ms = 3 }}
             homes = {{ ours = {{}}, all = {{ count = 60{activity} }} }}
             traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}
             traffic.call = {{ kind = 'stream', purpose = 'voice', direction = 'up', server = 'near', home = 'all' }}
             traffic.save = {{ kind = 'transfer', file_bytes = 20_000, every_s = 1, server = 'near', home = 'all' }}
             traffic.surf = {{ kind = 'web', servers = ['near'], home = 'all' }}"
        )))
    };
    let (all, some) = (run(""), run(", activity = { share = 0.25, time_constant_s = 3 }"));
    for name in ["call", "save"] {
        let sent = |results| flow(results, name, "up").sent_packets as f64;
        let share = sent(&some) / sent(&all);
        // A home's mean over 60 s has a variance of 0.25 * 0.75 * 2 * 3 s / 60 s: of 60 homes, a deviation of 0.018.
        assert!((share - 0.25).abs() < 0.06, "{name}: {share}");
    }
    assert!(flow(&some, "surf", "down").delivered_packets > 0);
    assert_eq!(flow(&some, "game", "up").sent_packets, flow(&all, "game", "up").sent_packets);
}

/// What goes on without its user would be under way in a home at rest.
#[test]
fn traffic_that_goes_on_by_itself_never_rests() {
    for (keys, is_refused) in [
        ("kind = 'transfer'", true),
        ("kind = 'transfer', file_bytes = 9000", false),
        ("kind = 'transfer', file_bytes = 9000, stop_s = 1", true),
        ("kind = 'torrent'", true),
        ("kind = 'video'", false),
        ("kind = 'web'", false),
    ] {
        let text = format!(
            "duration_s = 2
             upstream.sustained_mbps = 5
             downstream.sustained_mbps = 20
             servers.near = {{ delay_ms = 3 }}
             homes.all.activity = {{ time_constant_s = 3 }}
             traffic.one = {{ {keys} }}"
        );
        if is_refused {
            let message = refused(&text, &[]);
            assert!(
                message.contains("homes.all.activity: found it beside traffic.one"),
                "{message}"
            );
        } else {
            loaded(&text, &[]);
        }
    }
}

/// The sender of a watched connection shows its window: what it delivers in an interval is about a window in each round
/// trip. A connection that is not watched shows nothing, and neither does an end that sends no data.
#[test]
fn senders_of_watched_connections_show_their_windows() {
    for transport in ["tcp", "quic"] {
        let results = Simulation::run(&loaded(
            &format!(
                "duration_s = 20
                 upstream = {{ sustained_mbps = 5, queue.limit_bytes = 30_000 }}
                 downstream = {{ sustained_mbps = 20 }}
                 servers.near = {{ delay_ms = 20 }}
                 tcp.transport = '{transport}'
                 metrics.watch_connections = 1
                 traffic.save = {{ kind = 'transfer', server = 'near', connections = 2, start_s = 2 }}"
            ),
            &[],
        ));
        let of = |metric: &str| series(&results, "save up 1", metric);
        let (rate, window, rtt) = (of("throughput"), of("congestion_window"), of("smoothed_rtt"));
        assert_eq!(
            (window.offset, window.series.values.len()),
            (rate.offset, rate.series.values.len())
        );
        let mean = |row: &SeriesRow| {
            let values: Vec<f64> =
                row.series.values.iter().skip(100).map(|value| f64::from(*value)).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let sent_mbps = mean(window) * 8e-3 / mean(rtt);
        assert!((sent_mbps / mean(rate) - 1.0).abs() < 0.15, "{sent_mbps} of {}", mean(rate));
        assert!(of("slow_start_threshold").series.values.last().unwrap().is_finite());
        let others = results.series.iter().filter(|row| row.subject != "save up 1");
        assert_eq!(others.filter(|row| row.series.metric == "congestion_window").count(), 0);
    }
}
