//! `metrics.from_s`: what counts of a run, and the warning where its beginning makes the tail.

use crate::common::{flow, loaded, queue, scenario, sentences, series};
use sojourn::Simulation;
use sojourn::engine::record::Outcome;
use sojourn::engine::rng::Rng;
use sojourn::input::problem::Code;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::QueueRow;
use sojourn::results::verdict::{Facts, Group, Rows, verdict};
use sojourn_testing::rounds;

/// A home with everything that is measured, on a channel that two modems share.
fn home(duration_s: f64, from_s: f64) -> Results {
    Simulation::run(&scenario(&format!(
        "duration_s = {duration_s}
         metrics = {{ from_s = {from_s}, packet_trace = true, modem_trace = true }}
         upstream = {{ sustained_mbps = 5, peak_mbps = 20, burst_bytes = 100_000, modem = {{ kind = 'shared_channel' }}, queue.law.kind = 'docsis_pie' }}
         downstream = {{ sustained_mbps = 20, peak_mbps = 50, burst_bytes = 100_000 }}
         homes.all.count = 2
         servers.near.delay_ms = 10
         tcp.ecn = 'classic'
         [traffic.game]
         kind = 'stream'
         purpose = 'game'
         server = 'near'
         [traffic.call]
         kind = 'stream'
         purpose = 'voice'
         server = 'near'
         [traffic.camera]
         kind = 'video_call'
         server = 'near'
         direction = 'up'
         [traffic.upload]
         kind = 'transfer'
         direction = 'up'
         server = 'near'
         connections = 2
         [traffic.photos]
         kind = 'transfer'
         direction = 'up'
         file_bytes = 100_000
         pause_s = 0.2
         server = 'near'
         [traffic.pages]
         kind = 'web'
         servers = ['near']
         objects = {{ kind = 'appendix_a' }}
         pause_s = 0.2
         [traffic.film]
         kind = 'video'
         server = 'near'
         ladder_mbps = [1, 2, 4]"
    )))
}

/// Nothing happens at this very instant.
const FROM_S: f64 = 4.000_3;
const END_S: f64 = 9.0;

#[test]
fn packets_count_that_are_sent_from_then_on() {
    // A run that ends where counting begins is the beginning of the other.
    let (whole, before, results) = (home(END_S, 0.0), home(FROM_S, 0.0), home(END_S, FROM_S));
    assert!(results.flows.len() >= 8);
    for row in &results.flows {
        let counted: Vec<_> = results
            .packets
            .iter()
            .filter(|packet| {
                results.traffic[usize::from(packet.traffic)] == row.traffic
                    && packet.direction.name() == row.direction
                    && packet.sent.secs_f64() >= FROM_S
            })
            .collect();
        let came = counted.iter().filter(|packet| packet.outcome == Outcome::Delivered);
        let bytes: u64 = came.clone().map(|packet| u64::from(packet.size)).sum();
        let dropped =
            counted.iter().filter(|packet| matches!(packet.outcome, Outcome::Dropped(_))).count()
                as u64;
        let slowest = came.clone().map(|packet| packet.ended.since(packet.sent)).max();
        let sent = |of: &Results| flow(of, &row.traffic, row.direction).sent_packets;
        assert_eq!(row.sent_packets, sent(&whole) - sent(&before));
        assert_eq!(
            (row.delivered_packets, row.delivered_bytes),
            (came.clone().count() as u64, bytes)
        );
        assert_eq!(row.dropped_overflow_packets + row.dropped_aqm_packets, dropped);
        assert_eq!(row.latency_max_ms, slowest.map(|time| time.ms_f64()));
        // Where packets were sent before, the first that counts may only come when these have crossed the line.
        let first = came.clone().min_by_key(|packet| packet.ended);
        let lag_s = first.map_or(0.0, |packet| packet.ended.since(packet.sent).secs_f64());
        let lag_s = if sent(&before) > 0 { lag_s } else { 0.0 };
        let mbps = bytes as f64 * 8e-6 / (END_S - FROM_S - lag_s);
        assert!((row.throughput_mbps - mbps).abs() < 1e-9);
        assert!(row.goodput_mbps <= row.throughput_mbps && row.goodput_mbps >= 0.0);
        assert_eq!(
            row.marked_packets,
            counted.iter().filter(|packet| packet.marked).count() as u64
        );
    }
    let of_connections: u64 = results.connections.iter().map(|row| row.delivered_packets).sum();
    let of_entries: u64 = ["upload", "photos", "pages", "film"]
        .iter()
        .flat_map(|name| ["up", "down"].map(|way| flow(&results, name, way).delivered_packets))
        .sum();
    assert!(of_connections <= of_entries && of_connections > 0);
    let class = results.traffic_classes.iter().find(|row| row.quality == "game").unwrap();
    assert_eq!(class.sent_packets, flow(&results, "game", "up").sent_packets);
}

/// Behind a long queue packets come late: what was sent before counting began has the line until then.
#[test]
fn the_rate_of_a_full_line_is_that_of_the_line_from_whenever_it_counts() {
    for (limit_bytes, from_s) in [
        (100_000, 10.0),
        (4_000_000, 10.0),
        (4_000_000, 20.0),
        (8_000_000, 20.0),
        (8_000_000, 29.0),
    ] {
        let text = format!(
            "duration_s = 40
             upstream = {{ sustained_mbps = 10, queue.limit_bytes = {limit_bytes} }}
             downstream.sustained_mbps = 50
             servers.near.delay_ms = 9
             metrics.from_s = {from_s}
             traffic.upload = {{ kind = 'transfer', server = 'near' }}"
        );
        let scenario = scenario(&text);
        let results = Simulation::run(&scenario);
        let row = flow(&results, "upload", "up");
        assert!((row.throughput_mbps - 9.95).abs() < 0.1, "{limit_bytes} {from_s}: {row:?}");
        let facts = Facts::of(&scenario, &Rows::from(&results));
        let group = Group { name: "", variant: "", point: &[], runs: vec![&facts] };
        let upload = verdict(&[group], &[]).groups[0].transfers[0].share.clone();
        // The first packet has waited as long as the buffer is.
        let left_s = 40.0 - from_s - f64::from(limit_bytes) * 8e-7;
        assert_eq!(upload.share_percent.is_some(), left_s > 9.5, "{limit_bytes} {from_s}");
        assert!(upload.share_percent.is_none_or(|percent| percent > 95.0), "{upload:?}");
    }
}

#[test]
fn nothing_else_moves() {
    let (whole, counted) = (home(END_S, 0.0), home(END_S, FROM_S));
    assert_eq!(whole.fingerprint, counted.fingerprint);
    assert_eq!(whole.forwarded_packets, counted.forwarded_packets);
    for subject in ["upload up", "game up"] {
        let of = |results| series(results, subject, "throughput").series.values.clone();
        assert_eq!(of(&whole), of(&counted));
    }
    let delays = |results: &Results| {
        let values = &series(results, "upstream", "queue_delay").series.values;
        values.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(delays(&whole), delays(&counted));
    let of = |results| flow(results, "upload", "up").time_to_sustained_rate_s;
    assert_eq!(of(&whole), of(&counted));
}

/// A home behind this queue manager; all of its traffic comes to an end.
fn ending(queue: &str, seed: u64, from_s: f64) -> Results {
    Simulation::run(&loaded(
        &format!(
            "duration_s = 12
             seed = {seed}
             metrics.from_s = {from_s}
             upstream = {{ sustained_mbps = 4, queue = {{ {queue} }} }}
             downstream.sustained_mbps = 20
             servers.near.delay_ms = 10
             traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near', dscp = 45, stop_s = 3 }}
             traffic.flood = {{ kind = 'stream', purpose = 'data', direction = 'up', server = 'near', dscp = 45,               packet_bytes = 1200, interval_ms = 4, stop_s = 2 }}
             traffic.plain = {{ kind = 'transfer', direction = 'up', server = 'near', file_bytes = 300_000 }}
             traffic.files = {{ kind = 'transfer', direction = 'up', server = 'near', file_bytes = 300_000,               connections = 3, tcp.ecn = 'classic' }}
             traffic.prague = {{ kind = 'transfer', direction = 'up', server = 'near', file_bytes = 300_000,               tcp.congestion_control.kind = 'prague' }}
             traffic.page = {{ kind = 'transfer', direction = 'down', server = 'near', file_bytes = 400_000 }}"
        ),
        &[],
    ))
}

/// Every table counts the packets that are sent from then on, and no others: so their sums agree.
#[test]
fn all_tables_count_the_same_packets() {
    let managers = [
        "limit_packets = 15",
        "acks = 'aggregated'",
        "ecn = true, law = { kind = 'pie', target_ms = 5 }",
        "ecn = true, law.kind = 'docsis_pie'",
        "ecn = true, scheduler.kind = 'fq', law.kind = 'codel'",
        "ecn = true, scheduler = { kind = 'dualq', variant = 'rfc9332' }",
        "ecn = true, limit_packets = 40, scheduler = { kind = 'dualq', drop_early = true, variant = 'linux' }",
        "ecn = true, scheduler = { kind = 'low_latency', latency_histogram_ms = [1, 10] }",
    ];
    rounds(16, |seed| {
        let mut rng = Rng::named(seed, "counting");
        let queue = managers[(seed % 8) as usize];
        let results = ending(queue, seed, 2.5 * rng.uniform());
        for way in ["up", "down"] {
            let flows = || results.flows.iter().filter(|row| row.direction == way);
            let services = || results.service_flows.iter().filter(|row| row.direction == way);
            let queues =
                || results.queues.iter().filter(|row| row.direction == way && row.member.is_none());
            let members =
                || results.queues.iter().filter(|row| row.direction == way && row.member.is_some());
            let what = format!("{queue} {seed} {way}");
            // Sent, dropped at a limit, dropped early, marked, sanctioned.
            let of_flows = flows().fold([0; 5], |sum, row| {
                plus(
                    sum,
                    [
                        row.sent_packets - row.superseded_packets,
                        row.dropped_overflow_packets,
                        row.dropped_aqm_packets,
                        row.marked_packets,
                        row.sanctioned_packets,
                    ],
                )
            });
            let of_queues = |rows: &mut dyn Iterator<Item = &QueueRow>| {
                rows.fold([0; 5], |sum, row| {
                    let dropped = [row.dropped_overflow_packets, row.dropped_aqm_packets];
                    let sent = row.departed_packets + dropped.iter().sum::<u64>();
                    plus(
                        sum,
                        [
                            sent,
                            dropped[0],
                            dropped[1],
                            row.marked_packets,
                            row.sanctioned_packets.unwrap_or(0),
                        ],
                    )
                })
            };
            assert_eq!(of_queues(&mut queues()), of_flows, "{what}");
            if members().next().is_some() {
                assert_eq!(of_queues(&mut members()), of_flows, "{what}: members");
            }
            let of_services = services().fold([0; 4], |sum, row| {
                let (overflow, aqm) = (row.policed_drop_packets, row.dropped_aqm_packets);
                plus(
                    sum,
                    [row.forwarded_packets + overflow + aqm, overflow, aqm, row.marked_packets],
                )
            });
            assert_eq!(of_services[..], of_flows[..4], "{what}: service flows");
            let parts = results
                .delay_parts
                .iter()
                .filter(|row| row.direction == way && row.part == "total");
            let sent: u64 = flows().map(|row| row.sent_packets).sum();
            assert_eq!(parts.map(|row| row.sent_packets).sum::<u64>(), sent, "{what}: parts");
            let binned: u64 = results.latency_histogram.iter().map(|row| row.packets).sum();
            let is_kept = binned > 0 && way == "up";
            assert!(!is_kept || binned == of_flows[0], "{what}: histogram");
        }
    });
}

fn plus<const N: usize>(sum: [u64; N], of: [u64; N]) -> [u64; N] {
    std::array::from_fn(|index| sum[index] + of[index])
}

#[test]
fn counters_of_no_packets_count_what_comes_after_the_beginning() {
    let (whole, before, counted) = (home(END_S, 0.0), home(FROM_S, 0.0), home(END_S, FROM_S));
    for (index, row) in counted.service_flows.iter().enumerate() {
        let [all, early] = [&whole, &before].map(|results| &results.service_flows[index]);
        let grants = |of: Option<u64>| of.unwrap_or_default();
        assert_eq!(grants(row.mac_grants), grants(all.mac_grants) - grants(early.mac_grants));
    }
    let [row, all, early] = [&counted, &whole, &before].map(|results| &results.channels[0]);
    let granted = [row, all, early].map(|row| row.granted_minislots.unwrap());
    assert_eq!(granted[0], granted[1] - granted[2]);
    let used_s = |share: f64, seconds: f64| share * seconds;
    let later = used_s(all.utilisation_percent, END_S) - used_s(early.utilisation_percent, FROM_S);
    assert!((row.utilisation_percent * (END_S - FROM_S) - later).abs() < 1e-6);
    let of = |results| flow(results, "photos", "up").transfers_completed.unwrap();
    assert_eq!(of(&counted), of(&whole) - of(&before));
    let of = |results| flow(results, "upload", "up").retransmitted_packets;
    assert_eq!(of(&counted), of(&whole) - of(&before));
}

/// The last packets of a transfer are as slow as the slowest and faster than a microsecond cell's edge says.
#[test]
fn counting_may_begin_where_a_transfer_ends() {
    for from_s in [0.4828, 0.4832, 0.4836, 5.999] {
        let results = Simulation::run(&scenario(&format!(
            "seed = 590425
             duration_s = 6
             upstream.sustained_mbps = 10
             downstream.sustained_mbps = 50
             servers.a.delay_ms = 9
             metrics.from_s = {from_s}
             [traffic.t]
             kind = 'transfer'
             server = 'a'
             direction = 'up'
             file_bytes = 500_000"
        )));
        for row in &results.queues {
            let shown = [row.sojourn_p50_ms, row.sojourn_p99_ms, row.sojourn_max_ms];
            assert!(shown.is_sorted() && row.sojourn_mean_ms <= row.sojourn_max_ms, "{row:?}");
        }
        // Those that were under way count neither in the entry nor in the service flow; nothing is lost.
        for row in &results.service_flows {
            let entries = results.flows.iter().filter(|of| of.direction == row.direction);
            let sent: u64 = entries.map(|of| of.sent_packets).sum();
            assert_eq!(row.forwarded_packets, sent, "{from_s} {}", row.direction);
        }
    }
}

#[test]
fn pages_count_that_are_requested_from_then_on() {
    let (whole, counted) = (home(END_S, 0.0), home(END_S, FROM_S));
    let starts =
        |results: &Results| results.pages.iter().map(|row| row.start_s).collect::<Vec<_>>();
    let late: Vec<f64> = starts(&whole).into_iter().filter(|start| *start >= FROM_S).collect();
    assert_eq!(starts(&counted), late);
    assert!(!late.is_empty() && late.len() < whole.pages.len());
    assert_eq!(flow(&counted, "pages", "down").page_loads, Some(late.len() as u64));
    let total = |results: &Results| {
        results
            .delay_parts
            .iter()
            .filter(|row| row.part == "total")
            .map(|row| row.sent_packets)
            .sum::<u64>()
    };
    assert!(total(&counted) > 0 && total(&counted) < total(&whole));
}

/// Uploads that fill a large buffer once and are then held by DOCSIS-PIE, or that keep it full.
fn uploads(queue_keys: &str, keys: &str, of_uploads: &str) -> Vec<String> {
    let run = Simulation::run(&scenario(&format!(
        "duration_s = 30
         upstream = {{ sustained_mbps = 20, peak_mbps = 20, burst_bytes = 3044, queue = {{ {queue_keys} }} }}
         downstream = {{ sustained_mbps = 100, peak_mbps = 100 }}
         servers.near.delay_ms = 10
         metrics = {{ {keys} }}
         [traffic.uploads]
         kind = 'transfer'
         direction = 'up'
         connections = 16
         server = 'near'
         {of_uploads}"
    )));
    assert!(queue(&run, "upstream").sojourn_p99_ms.is_some());
    sentences(run.warnings.into_iter().filter(|warning| warning.code == Code::EarlyTail))
}

#[test]
fn a_tail_that_the_first_seconds_make_is_warned_of() {
    let warnings = uploads("law.kind = 'docsis_pie'", "", "");
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(warning.starts_with("the first 10 s make the tail: p99 of the upstream queue is "));
    assert!(warning.ends_with(" after 10 s; metrics.from_s = 10 leaves them out"), "{warning}");
    // The second it takes to fill is still there.
    let warnings = uploads("law.kind = 'docsis_pie'", "from_s = 0.1", "");
    assert!(warnings[0].contains(" ms from 0.1 s on and "), "{warnings:?}");
}

/// Homes that are not judged are nobody's to change.
#[test]
fn of_what_other_homes_do_nobody_is_warned() {
    let warnings = |metrics: &str, limit_bytes: u32, uploads: &str| {
        let text = format!(
            "duration_s = 30
             upstream = {{ sustained_mbps = 20, peak_mbps = 20, queue.law.kind = 'docsis_pie', \
              queue.limit_bytes = {limit_bytes} }}
             downstream = {{ sustained_mbps = 100, peak_mbps = 100 }}
             servers.near.delay_ms = 10
             homes = {{ ours = {{}}, others = {{}} }}
             {metrics}
             traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}
             [traffic.uploads]
             kind = 'transfer'
             {uploads}
             home = 'others'
             server = 'near'"
        );
        sentences(Simulation::run(&scenario(&text)).warnings)
    };
    for (limit_bytes, uploads, reported) in [
        (625_000, "connections = 16", "make the tail"),
        (625_000, "connections = 16", "no traffic of homes.others"),
        (10_000_000, "file_bytes = 2_500_000", "dropped and marked nothing"),
    ] {
        let all = warnings("", limit_bytes, uploads).join(" ");
        assert!(all.contains(reported), "{all}");
        let ours = warnings("metrics.homes = 'ours'", limit_bytes, uploads);
        assert_eq!(ours, Vec::<String>::new());
    }
}

#[test]
fn a_tail_that_stays_is_not_warned_of() {
    assert_eq!(uploads("limit_bytes = 250_000", "", ""), Vec::<String>::new());
    assert_eq!(uploads("law.kind = 'docsis_pie'", "from_s = 10", ""), Vec::<String>::new());
}

#[test]
fn a_tail_of_bulk_traffic_that_ends_is_its_own() {
    let kept = "stop_s = 30";
    assert_eq!(uploads("law.kind = 'docsis_pie'", "", kept).len(), 1);
    for ends in ["stop_s = 12", "file_bytes = 2_500_000"] {
        assert_eq!(uploads("law.kind = 'docsis_pie'", "", ends), Vec::<String>::new(), "{ends}");
    }
}
