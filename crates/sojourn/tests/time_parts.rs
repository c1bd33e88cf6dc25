//! What packets spend their time on, against arithmetic. That all parts are all the time, to the picosecond, each
//! run asserts when it ends, here also at any time before.

use crate::common::loaded;
use sojourn::Simulation;
use sojourn::engine::units::Time;
use sojourn::results::metrics::Results;
use sojourn::scenario::Scenario;

const STREAM: &str = "
    traffic.s = { kind = 'stream', purpose = 'data', direction = 'both', server = 'near',
                  packet_bytes = 125, interval_ms = 50, stop_s = 9.9 }
";
const LINE: &str = "
    duration_s = 10
    upstream.sustained_mbps = 50
    upstream.modem.kind = 'link'
    downstream.sustained_mbps = 100
    cable.delay_ms = 1
    cable.byte_count = 'ip'
    servers.near.delay_ms = 5
";
const FAST: &str = "servers.near.rate_mbps = 1_000_000\nservers.near.host_jitter_us = 0";

fn line(more: &str) -> Scenario {
    loaded(&format!("{LINE}{STREAM}{more}"), &[])
}

/// The means of a part in both directions, in ms.
fn both(results: &Results, part: &str) -> [f64; 2] {
    ["up", "down"].map(|way| {
        let mut rows = results.delay_parts.iter();
        let row =
            rows.find(|row| (row.traffic.as_str(), row.direction, row.part) == ("s", way, part));
        row.map_or(0.0, |row| row.mean_ms)
    })
}

#[track_caller]
fn assert_both(results: &Results, part: &str, want_ms: [f64; 2], error_ms: f64) {
    let found = both(results, part);
    for (got, want) in found.iter().zip(want_ms) {
        assert!((got - want).abs() <= error_ms, "{part}: {found:?}, not {want_ms:?}");
    }
}

/// 125 B are 20 us at 50 Mbps and 10 at ten times the peak of 100 Mbps, or 1 ns at the server. Nothing waits.
#[test]
fn a_packet_alone_is_sent_and_propagated() {
    let results = Simulation::run(&line(FAST));
    assert_both(&results, "propagation", [6.0, 6.0], 1e-9);
    assert_both(&results, "transmission", [0.020_001, 0.001_001], 1e-6);
    assert_both(&results, "total", [6.020_001, 6.001_001], 1e-6);
    let rows = results.delay_parts.len();
    assert_eq!(rows, 6, "{:?}", results.delay_parts);
}

/// A router's delay is the router's, its link sends for 1 ms at 1 Mbps, and the core propagates.
#[test]
fn hops_have_what_they_take() {
    let results = Simulation::run(&line(&format!(
        "router.upstream = {{ rate_mbps = 1, delay_ms = 15 }}
         router.downstream = {{ rate_mbps = 1, delay_ms = 2 }}
         core.first.upstream = {{ rate_mbps = 2, delay_ms = 3 }}
         core.first.downstream = {{ rate_mbps = 0.5, delay_ms = 7 }}
         {FAST}"
    )));
    assert_both(&results, "router", [15.0, 2.0], 1e-9);
    assert_both(&results, "propagation", [9.0, 13.0], 1e-9);
    assert_both(&results, "transmission", [1.0 + 0.5 + 0.02, 1.0 + 2.0 + 0.001], 1e-5);
    for queue in ["router_queue", "core_queue", "modem_queue", "cmts_queue", "server_queue"] {
        assert_both(&results, queue, [0.0, 0.0], 0.0);
    }
}

/// Two packets at once: one of them waits where a link is slow, for the millisecond in which the other is sent.
#[test]
fn queues_are_known_by_where_they_are() {
    let other = STREAM.replace("traffic.s", "traffic.t");
    for (keys, queue) in [
        ("router.upstream.rate_mbps = 1\nrouter.downstream.rate_mbps = 1", "router_queue"),
        ("core.a.upstream.rate_mbps = 1\ncore.a.downstream.rate_mbps = 1", "core_queue"),
        ("servers.near.rate_mbps = 1", "server_queue"),
        ("servers.near.rate_mbps = 1\nservers.near.queue = {}", "server_queue"),
    ] {
        let results = Simulation::run(&line(&format!("{other}\n{keys}")));
        let of = |traffic: &str, way: &str| {
            let mut rows = results.delay_parts.iter();
            let row = rows.find(|row| {
                (row.traffic.as_str(), row.direction, row.part) == (traffic, way, queue)
            });
            row.map_or(0.0, |row| row.mean_ms)
        };
        let waits_ms = ["up", "down"].map(|way| of("s", way) + of("t", way));
        assert!(waits_ms.iter().all(|ms| *ms < 1.05), "{keys}: {waits_ms:?}");
        assert_eq!(results.delay_parts.iter().any(|row| row.part == queue), waits_ms != [0.0; 2]);
    }
}

/// A fifth of the packets is held back for 20 ms: 4 ms in the mean.
#[test]
fn what_is_held_back_is_jitter() {
    let results = Simulation::run(&line(&format!(
        "servers.near.reorder_percent = 20\nservers.near.reorder_ms = 20\n{FAST}"
    )));
    // 200 packets in each direction: three deviations of the mean are 1.7 ms.
    assert_both(&results, "jitter", [4.0, 4.0], 1.7);
    assert_both(&results, "propagation", [6.0, 6.0], 1e-9);
}

/// A mean of 8 ms on the path down, from 0 to 4 ms at the host, from 0 to 9 ms on the interconnect, whose delay
/// propagates; and 0.4 s of 10 in which a modem is silent or passes nothing: packets wait 0.2 s in the mean for 4 %
/// of the time.
#[test]
fn random_times_and_stalls_have_their_parts() {
    let results = Simulation::run(&line(
        "servers.near.path_jitter_ms = 8\nservers.near.host_jitter_us = 4000",
    ));
    assert_both(&results, "host", [2.0, 0.0], 0.4);
    assert_both(&results, "jitter", [0.0, 8.0], 2.0);
    let interconnect = "cable.interconnect = { delay_us = 7000, jitter_us = 9000 }";
    let results = Simulation::run(&line(interconnect));
    assert_both(&results, "propagation", [13.0, 13.0], 1e-6);
    assert_both(&results, "jitter", [4.5, 4.5], 0.8);
    let stalls = "stalls = [{ start_s = 1, length_s = 0.4 }]";
    let keys = format!("upstream.{stalls}\ndownstream.{stalls}");
    let of_modem = LINE.replace("upstream.modem.kind = 'link'", "");
    let results = Simulation::run(&loaded(&format!("{of_modem}{STREAM}{keys}"), &[]));
    assert_both(&results, "stall", [8.0, 8.0], 1.5);
}

/// Of packets that come for 9.9 s those of 5 s wait for the end of a stall, 2.5 s in the mean: 1263 ms, whether the
/// modem is silent or passes nothing on, whatever its kind and queue, and whether packets leave it, are dropped when it
/// is over, or are in it when the run ends.
#[test]
fn all_that_waits_for_a_stall_waits_for_it() {
    let stalls = "[{ start_s = 2, length_s = 5 }]";
    let mut seen = 0;
    for modem in ["single_queue", "two_queues", "shared_channel"] {
        for queue in [
            "",
            "upstream.queue.law.kind = 'codel'",
            "upstream.queue = { scheduler.kind = 'fq', law.kind = 'codel' }",
            "upstream.queue.acks = 'aggregated'",
            "upstream.queue.scheduler.kind = 'cake'",
            "upstream.queue.scheduler.kind = 'sfb'",
            "upstream.queue.scheduler.kind = 'choke'",
            "upstream.queue.scheduler.kind = 'dualq'",
            "upstream.queue.scheduler.kind = 'abb'",
            "upstream.queue.scheduler.kind = 'wfq'",
            "upstream.queue.scheduler.kind = 'low_latency'",
        ] {
            for outage in
                if queue.is_empty() { &["stalls", "ranging_outages"][..] } else { &["stalls"] }
            {
                let keys = format!("upstream.modem.kind = '{modem}'\nupstream.{outage} = {stalls}");
                let keys = format!("{keys}\ndownstream.stalls = {stalls}\n{queue}");
                let of_modem = LINE.replace("upstream.modem.kind = 'link'", &keys);
                let scenario = loaded(&format!("{of_modem}{STREAM}"), &[]);
                let results = Simulation::run(&scenario);
                // Some drop what comes to a long queue, which then has not waited.
                let (waited, all) = (both(&results, "stall"), both(&results, "total"));
                assert!(
                    waited.iter().zip(all).all(|(stall, all)| all - stall < 40.0),
                    "{keys}: {waited:?} {all:?}"
                );
                let drops = results
                    .queues
                    .iter()
                    .map(|of| of.dropped_aqm_packets + of.dropped_overflow_packets);
                if drops.sum::<u64>() == 0 {
                    assert_both(&results, "stall", [1263.0, 1263.0], 40.0);
                }
                // 3.5 s are left of the stall: those that came since have waited 1.75 s.
                let mut simulation = Simulation::new(&scenario);
                simulation.run_until(Time::from_ms(5500));
                let (results, want_ms) = (simulation.finish(), 1750.0 * 3.5 / 5.5);
                let [stall, all] = ["stall", "total"].map(|part| both(&results, part)[0]);
                assert!(
                    all - stall < 40.0 && stall < want_ms + 40.0,
                    "{keys}: {stall} of {all} ms"
                );
                seen += u32::from(stall > want_ms - 40.0);
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// What is never granted, heard or polled has waited for that, and so has what stands behind it.
#[test]
fn a_grant_that_never_comes_has_been_waited_for() {
    let shared = LINE.replace("kind = 'link'", "kind = 'shared_channel'");
    let homes = "homes.ours = {}\nhomes.theirs = { count = 30, upstream.minimum_mbps = 10 }\n";
    let full =
        "traffic.load = { kind = 'stream', purpose = 'data', server = 'near', home = 'theirs',
                packet_bytes = 1500, interval_ms = 1 }\n";
    let one = "upstream_channel.request_opportunities = 1\nhomes.ours = {}\nhomes.theirs.count = 500\n\
               traffic.load = { kind = 'stream', purpose = 'data', server = 'near', home = 'theirs', \
               packet_bytes = 100, interval_ms = 20 }\n";
    let polled = "upstream.scheduling = { kind = 'real_time_polling', nominal_polling_interval_us = 10_000_000 }\n";
    for (keys, part, end_s) in [
        (format!("{shared}{homes}{full}"), "grant_wait", 10),
        (format!("{shared}{one}"), "contention", 10),
        (format!("{shared}{polled}"), "request_wait", 1),
    ] {
        let mut simulation = Simulation::new(&loaded(&format!("{keys}{STREAM}"), &[]));
        simulation.run_until(Time::from_s(end_s));
        let results = simulation.finish();
        let [of_part, total, queue] =
            [part, "total", "modem_queue"].map(|part| both(&results, part)[0]);
        println!("{part}: {of_part} of {total} ms, queue {queue}");
        assert!(of_part >= 0.9 * total, "{part}: {of_part} of {total} ms, {queue} in the queue");
    }
}

/// Runs end at any time, with packets in all places; what is known ahead of them is not counted.
#[test]
fn a_run_may_end_at_any_time() {
    let load = "
        duration_s = 1
        downstream.sustained_mbps = 100
        servers.near.delay_ms = 5
        servers.near.rate_mbps = 200
        servers.near.path_jitter_ms = 1
        traffic.up = { kind = 'transfer', server = 'near', connections = 2 }
        traffic.down = { kind = 'transfer', server = 'near', direction = 'down', tcp.transport = 'quic' }";
    let far = "homes.a.count = 3\nhomes.b = { count = 2, distance_km = 30 }\n\
               traffic.far = { kind = 'transfer', server = 'near', home = 'b' }";
    let shared = format!("upstream.modem.kind = 'shared_channel'\n{far}");
    let links = format!("upstream.modem.kind = 'link'\n{far}");
    for keys in [
        "",
        "upstream.modem.kind = 'link'",
        &shared,
        &links,
        "upstream.modem.kind = 'two_queues'",
        "upstream.queue.scheduler.kind = 'low_latency'",
        "upstream.queue = { scheduler.kind = 'fq', law.kind = 'codel' }\ncable.timing.kind = 'documents'",
        "cable = { delay_ms = 1, interconnect.delay_us = 3000, \
                   upstream_noise.codeword_error_percent = 2, downstream_noise.codeword_error_percent = 2 }",
        "cable = { delay_ms = 1, interconnect = { delay_us = 3000, jitter_us = 2000 } }",
        "cmts.channel = { kind = 'sc_qam', channels = 4 }",
        "cmts = {}\ndownstream.regulator = false\ndownstream.stalls = [{ start_s = 0.1, length_s = 0.2 }]",
        "router.upstream = { rate_mbps = 4, delay_ms = 3, loss_percent = 1 }\n\
         core.a.upstream = { rate_mbps = 30, delay_ms = 2 }\n\
         core.a.downstream = { rate_mbps = 30, delay_ms = 2 }",
        "servers.near.host_jitter_us = 900\nservers.near.reorder_percent = 10\nservers.near.reorder_ms = 30",
        "router.upstream = { rate_mbps = 4, reorder_percent = 100, reorder_ms = 5 }\n\
         core.a.downstream = { rate_mbps = 30, reorder_percent = 20, reorder_ms = 40 }",
        "metrics.from_s = 0.2",
    ] {
        let keys = format!("{load}\n{keys}\nupstream.sustained_mbps = 5");
        let scenario = loaded(&keys, &[]);
        for at_us in [1, 3_000, 7_777, 100_000, 203_456, 480_001, 777_777] {
            let mut simulation = Simulation::new(&scenario);
            simulation.run_until(Time::from_us(at_us));
            let results = simulation.finish();
            let totals = results.delay_parts.iter().filter(|row| row.part == "total");
            let sent: u64 = totals.map(|row| row.sent_packets).sum();
            let flows = results.flows.iter().map(|row| row.sent_packets);
            assert_eq!(sent, flows.sum::<u64>(), "{keys}");
        }
    }
}

/// No rate is above what the line carried in its time: of 10 Mbps, whether what loads the line stops, ends, pauses, is cut
/// off by the start of the counting or goes on. A queue of 250 ms drains after it stops.
#[test]
fn a_rate_is_of_the_time_in_which_the_line_carried_it() {
    let line = "downstream = { sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3044 }
                servers.near.delay_ms = 10";
    for modem in ["single_queue", "shared_channel", "link"] {
        for load in [
            "kind = 'transfer', stop_s = 1",
            "kind = 'transfer', connections = 5, stop_s = 2.1",
            "kind = 'transfer', start_s = 1.5, stop_s = 2.1, tcp.transport = 'quic'",
            "kind = 'transfer', file_bytes = 2_000_000",
            "kind = 'transfer', file_bytes = 200_000, pause_s = 0.3, connections = 2, stop_s = 2.3",
            "kind = 'transfer', file_bytes = 500_000, every_s = 0.3, stop_s = 2.5",
            "kind = 'transfer'",
            "kind = 'stream', purpose = 'data', packet_bytes = 1250, interval_ms = 0.8, stop_s = 1.2",
            "kind = 'stream', purpose = 'data', packet_bytes = 1250, interval_ms = 0.8, stop_s = 2.05",
        ] {
            for (way, from_s) in [("up", 0.0), ("up", 2.0), ("down", 0.0), ("down", 2.0)] {
                let results = Simulation::run(&loaded(
                    &format!(
                        "duration_s = 3\n{line}\nmetrics.from_s = {from_s}
                         upstream = {{ sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3044, modem.kind = '{modem}' }}
                         traffic.s = {{ {load}, direction = '{way}', server = 'near' }}"
                    ),
                    &[],
                ));
                let mut rows = results.flows.iter().filter(|row| row.direction == way);
                let Some(row) = rows.next().filter(|row| row.delivered_packets > 20) else {
                    continue;
                };
                let mbps = row.rate_mbps.expect("it is bulk traffic");
                // The buckets hold two packets, of which each takes 1.2 ms, and a MAP brings what 2 ms gather.
                let most = 10.0 * (1.0 + 0.005 / row.under_way_s.unwrap_or_default());
                let whole = format!(
                    "{load} {way} {modem} from {from_s}: {mbps} Mbps in {:?} s",
                    row.under_way_s
                );
                assert!(mbps <= most && row.throughput_mbps <= 10.02, "{whole}");
                if load.contains("kind = 'stream'") && from_s == 0.0 {
                    assert!(mbps > 9.0, "{whole}");
                }
            }
        }
    }
}
