//! Scheduling services of upstream flows, in closed form: on a modem with a channel of its own and
//! on a shared channel.

use crate::common::{flow, latencies, loaded, refused, sentences, service_flow};
use sojourn::Simulation;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::ServiceFlowRow;

/// 218 B and, on the shared channel, 10 of MAC header.
const UGS: &str =
    "{ kind = 'ugs', unsolicited_grant_bytes = 228, nominal_grant_interval_us = 20_000 }";

fn text(modem: &str, keys: &str) -> String {
    format!(
        "upstream.sustained_mbps = 50
         upstream.peak_mbps = 100
         upstream.burst_bytes = 100_000
         upstream.modem.kind = '{modem}'
         upstream.flows.voice = {{ sustained_mbps = 1, peak_mbps = 100, burst_bytes = 100_000,
                                   match = [{{ traffic = 'call' }}] }}
         downstream = {{ sustained_mbps = 100, peak_mbps = 100, burst_bytes = 100_000 }}
         servers.near = {{ delay_ms = 0, rate_mbps = 1_000_000 }}
         {keys}"
    )
}

fn run(modem: &str, keys: &str, sets: &[&str]) -> Results {
    Simulation::run(&loaded(&text(modem, keys), sets))
}

/// A call of 218 B every `interval_ms` with this scheduling service.
fn call(modem: &str, interval_ms: f64, service: &str, keys: &str) -> Results {
    let keys = format!(
        "{keys}
         traffic.call = {{ kind = 'stream', purpose = 'voice', direction = 'up', server = 'near',
                           interval_ms = {interval_ms} }}"
    );
    run(modem, &keys, &[&format!("upstream.flows.voice.scheduling={service}")])
}

const MODEMS: [&str; 2] = ["single_queue", "shared_channel"];
/// No frames, whose length would be a jitter of its own: one single carrier.
const ONE_CARRIER: &str =
    "cable.timing = { kind = 'specification', frame_symbols = 0 }\nupstream_channel.channels = 1";

/// Packets and grants come every 20 ms: each waits as long as the first, for less than an interval,
/// and the deviation of the latency is 0. On the shared channel grants begin with minislots of
/// 12.5 us, of which there are 1600 in 20 ms, so that they too keep their time exactly.
#[test]
fn matched_unsolicited_grants_have_a_constant_latency() {
    for modem in MODEMS {
        let results = call(modem, 20.0, UGS, &format!("duration_s = 60\n{ONE_CARRIER}"));
        let row = flow(&results, "call", "up");
        let [min, mean, _, max] = latencies(row);
        println!("{modem}: {min} {mean} {max}");
        assert!(max - min < 1e-6, "{modem}: {min} {max}");
        assert!(max < 20.0 + 0.2, "{modem}: {max}"); // and sending it: 8 minislots of 12.5 us
        assert!(row.delivered_packets > 2900);
    }
}

/// A tolerated jitter of 4 ms, all of which the CMTS uses, is the spread of the latency: uniform, so
/// its mean is 2 ms above its least. Of 3000 packets: 4 * 4 / sqrt(12 * 3000) = 0.085 ms.
#[test]
fn the_tolerated_jitter_is_the_spread() {
    for modem in MODEMS {
        let service = UGS.replace(" }", ", tolerated_grant_jitter_us = 4000 }");
        let results = call(modem, 20.0, &service, &format!("duration_s = 60\n{ONE_CARRIER}"));
        let [min, mean, _, max] = latencies(flow(&results, "call", "up"));
        println!("{modem}: {min} {mean} {max}");
        // If a packet comes within the jitter of its grant, it may miss it: seed 1 has none.
        assert!(max - min <= 4.0 + 0.02 && max - min > 3.9, "{modem}: {min} {max}");
        assert!((mean - min - 2.0).abs() < 0.1, "{modem}: {mean}");
    }
}

/// Packets every 20.6 ms, an irrational multiple of the grants' interval, meet any phase: they wait
/// 0 to 20 ms, 10 in the mean, 99 % below 19.8 ms; and 218 B are sent in 17.4 us at 100 Mbps, and in 8
/// minislots of 12.5 us on the shared channel. 8 km of cable are 40 us. Phases of an irrational
/// rotation are far more even than random ones: 0.05 ms are allowed.
#[test]
fn an_unmatched_phase_is_uniform_over_the_interval() {
    for (modem, sent) in [(MODEMS[0], 0.0174), (MODEMS[1], 0.1)] {
        let keys = format!("duration_s = 200\n{ONE_CARRIER}");
        let results = call(modem, 20.618_033_988_749_8, UGS, &keys);
        let [min, mean, p99, max] = latencies(flow(&results, "call", "up"));
        println!("{modem}: {min} {mean} {p99} {max}");
        let rest = sent + 0.04;
        assert!(min >= rest - 0.02 && min < rest + 0.03 && max < 20.0 + rest + 0.03);
        assert!((mean - 10.0 - rest).abs() < 0.05, "{modem}: {mean}");
        assert!((p99 - 19.8 - rest).abs() < 0.1, "{modem}: {p99}");
    }
}

/// Two packets of 20 ms each need two grants in an interval of 40 ms, which follow each other where
/// there is no jitter: every second packet waits 20 ms less than the others, and on the shared channel
/// 0.1 ms more, which the first of two grants takes.
#[test]
fn several_grants_in_an_interval() {
    let service = "{ kind = 'ugs', unsolicited_grant_bytes = 228, grants_per_interval = 2,
                     nominal_grant_interval_us = 40_000 }";
    for modem in MODEMS {
        let results = call(modem, 20.0, service, &format!("duration_s = 60\n{ONE_CARRIER}"));
        let row = flow(&results, "call", "up");
        let [min, mean, _, max] = latencies(row);
        println!("{modem}: {min} {mean} {max}");
        assert!((max - min - 20.0).abs() < 0.2 && (mean - (min + max) / 2.0).abs() < 0.06);
        let grants = mac(&results).mac_grants.unwrap();
        assert!((2998..=3002).contains(&grants), "{grants}"); // 60 s / 40 ms * 2
    }
}

fn mac(results: &Results) -> &ServiceFlowRow {
    service_flow(results, "home", "voice", "up")
}

/// No fixed times, so that the first MAP after a request grants it.
const NO_FIXED_TIMES: &str = "upstream_channel.channels = 1
    cable = { distance_km = 0, timing = { kind = 'specification', modem_map_us = 0, cmts_map_us = 0,
              map_delivery_us = 0, build_frames = 0, decode_frames = 0, frame_symbols = 0 } }";

/// A packet waits for a poll, uniformly over P = 20.618 ms, then for the next MAP, uniformly over 2
/// ms, as 20.618 ms pass through all phases of it, and then for its place in the interval: anywhere
/// where it still fits, 2 ms less the 17.4 us that 218 B take at 100 Mbps; on the shared channel with 8
/// minislots of 12.5 us for 228 B and 4 behind it for requests, so from 0 to 1.85 ms.
/// - alone: P/2 + 1 + (2 - 0.0174)/2 + 0.0174 = 12.318 ms
/// - shared: P/2 + 1 + 1.85/2 + 0.1 = 12.334 ms
///
/// The deviation of the two waits for MAPs is 0.8 ms, over 9700 polls: 4 * 0.008, and the rest for
/// the phases of packets and polls.
#[test]
fn a_polled_packet_waits_for_its_poll_and_the_loop() {
    let service = "{ kind = 'real_time_polling', nominal_polling_interval_us = 20_618,
                     piggyback = false }";
    for (modem, expected) in [(MODEMS[0], 12.318), (MODEMS[1], 12.334)] {
        let keys = NO_FIXED_TIMES.replace("cable = {", "duration_s = 200\ncable = {");
        let results = call(modem, 20.0, service, &keys);
        let [min, mean, _, max] = latencies(flow(&results, "call", "up"));
        println!("{modem}: {min} {mean} {max}");
        assert!((mean - expected).abs() < 0.1, "{modem}: {mean} {expected}");
        assert!(min < 1.0 && max < 20.618 + 2.0 + 2.0 && max > 22.0, "{modem}: {min} {max}");
        // One request a poll at most, and no other: a poll without a packet asks for nothing.
        let requests = mac(&results).mac_requests.unwrap();
        assert!(requests <= 200_000 / 20 && requests > 9500, "{requests}");
        assert_eq!(mac(&results).mac_collisions, Some(0));
    }
}

/// Polled once a second, a real-time flow waits half a second in the mean. A non-real-time one also
/// requests by itself and is as fast as best effort.
#[test]
fn non_real_time_polling_also_contends() {
    for modem in MODEMS {
        let mean = |service: &str| {
            let results = call(modem, 20.618_033_988_749_8, service, "duration_s = 60");
            latencies(flow(&results, "call", "up"))[1]
        };
        let polled = |kind: &str| {
            mean(&format!(
                "{{ kind = '{kind}_polling', nominal_polling_interval_us = 1_000_000,
                    piggyback = false }}"
            ))
        };
        let [best_effort, real_time, non_real_time] =
            [mean("{ kind = 'best_effort' }"), polled("real_time"), polled("non_real_time")];
        println!("{modem}: {best_effort:.3} {real_time:.3} {non_real_time:.3}");
        assert!((real_time - 500.0).abs() < 15.0, "{modem}: {real_time}");
        assert!((non_real_time - best_effort).abs() < 0.15, "{modem}: {non_real_time}");
    }
}

/// Grants that nobody uses are capacity that others lack. A single carrier has 160 minislots in 2
/// ms, of which requests take 16. Four grants of 228 B in 2 ms take 4 * 8 = 32 of the 144, and what is
/// split around them up to one more burst's head, 3 minislots, twice.
#[test]
fn unused_grants_cost_the_channel() {
    let upload = |service: &str| {
        let keys = "duration_s = 10
            upstream_channel.channels = 1
            traffic.flood = { kind = 'stream', purpose = 'data', packet_bytes = 1500, interval_ms = 0.2 }
            traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near', start_s = 100 }";
        let set = format!("upstream.flows.voice.scheduling={service}");
        let results =
            run("shared_channel", keys, &["upstream.flows.voice.sustained_mbps=10", &set]);
        let unused = mac(&results).mac_unused_bytes.unwrap();
        (flow(&results, "flood", "up").throughput_mbps, unused)
    };
    let (alone, _) = upload("{ kind = 'best_effort' }");
    let four = "{ kind = 'ugs', unsolicited_grant_bytes = 228, grants_per_interval = 4,
                  nominal_grant_interval_us = 2000 }";
    let (beside, unused) = upload(four);
    println!("{alone:.3} {beside:.3} {unused}");
    let lost = 144.0 * (1.0 - beside / alone);
    assert!((31.0..=38.0).contains(&lost), "{lost}");
    assert!((unused as f64 / (228.0 * 4.0 * 5000.0) - 1.0).abs() < 0.001, "{unused}");
}

/// A call from 5 s to 35 s. Until then the flow is polled; the first packet's request brings a grant
/// and then unsolicited ones every 20 ms, so that all others have one latency, below the 20 ms until
/// a poll and 4 until the grant. After the call, 10 grants stay unused and then there are none.
#[test]
fn activity_detection_grants_only_while_packets_come() {
    for modem in MODEMS {
        let service = UGS.replace("'ugs'", "'ugs_with_activity_detection'");
        let keys = format!(
            "duration_s = 60\n{ONE_CARRIER}
             traffic.call = {{ kind = 'stream', purpose = 'voice', direction = 'up', server = 'near', start_s = 5,
                               stop_s = 35 }}"
        );
        let results = run(modem, &keys, &[&format!("upstream.flows.voice.scheduling={service}")]);
        let row = flow(&results, "call", "up");
        let [min, _, p99, max] = latencies(row);
        println!("{modem}: {min} {p99} {max}");
        assert!((p99 - min).abs() < 0.01 && max < 24.2, "{modem}: {min} {p99} {max}");
        let mac = mac(&results);
        assert_eq!(mac.mac_requests, Some(1));
        // The grants of its packets, and 10 more.
        assert_eq!(mac.mac_grants, Some(row.delivered_packets + 10));
        assert_eq!(row.delivered_packets, 1501); // 30 s / 20 ms, the first and the last included
    }
}

#[test]
fn contradictory_keys_are_refused() {
    let refusal = |modem: &str, sets: &[&str]| {
        let keys = "duration_s = 1
            traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }";
        refused(&text(modem, keys), sets)
    };
    let ugs = format!("upstream.flows.voice.scheduling={UGS}");
    let jitter = UGS.replace(" }", ", tolerated_grant_jitter_us = 20_001 }");
    let jitter = format!("upstream.flows.voice.scheduling={jitter}");
    let fast = UGS.replace("20_000", "1000");
    let fast = format!("upstream.flows.voice.scheduling={fast}");
    for (modem, sets, message) in [
        (
            "link",
            vec![&*ugs],
            "upstream.flows.voice.scheduling: found with a modem of another kind; allowed: only with \
             kind single_queue or shared_channel",
        ),
        (
            "shared_channel",
            vec![&*jitter],
            "upstream.flows.voice.scheduling.tolerated_grant_jitter_us: found 20001; allowed: 20000 or \
             less, the nominal_grant_interval_us",
        ),
        // 228 B every ms are 1.824 Mbps.
        (
            "single_queue",
            vec![&*fast],
            "upstream.flows.voice.sustained_mbps: found 1; allowed: 1.824 or more, the rate of the \
             unsolicited grants",
        ),
        (
            "shared_channel",
            vec![&*ugs, "upstream.flows.voice.priority=3"],
            "upstream.flows.voice.priority: found 3; remove it: unsolicited grants come before all others",
        ),
        (
            "shared_channel",
            vec![
                "downstream.flows.video={sustained_mbps=1,peak_mbps=1,burst_bytes=3044,\
                  scheduling={kind='real_time_polling',nominal_polling_interval_us=1000}}",
            ],
            "downstream.flows.video.scheduling: found in a downstream flow; allowed: only upstream",
        ),
    ] {
        let problem = refusal(modem, &sets);
        assert!(problem.contains(message), "{problem}");
    }
}

/// One home of a group of 1000 on the shared channel with this service.
fn thousand(service: &str) -> String {
    text(
        "shared_channel",
        &format!(
            "homes.h.count = 1000
             traffic.call = {{ kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }}
             upstream.scheduling = {service}"
        ),
    )
}

/// 228 + 8 B of header are 2 codewords, 276 B or 368 symbols of 6 bits, 472 with 104 around them: 8
/// minislots of 64. 1000 of them in 20 ms are 800 in a MAP interval of 2 ms, which has 640, 4 of them
/// for requests at least. A poll has 2 minislots: 1000 in 2 ms are 2000.
#[test]
fn unsolicited_grants_and_polls_beyond_the_channel_are_refused() {
    let reported = refused(&thousand(UGS), &[]);
    for part in ["upstream.scheduling", "take 800.0 of the 640 minislots", "at most 636"] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let polls =
        |us| format!("{{ kind = 'real_time_polling', nominal_polling_interval_us = {us} }}");
    let reported = refused(&thousand(&polls(2000)), &[]);
    assert!(reported.contains("polls take 2000.0"), "{reported}");
    // 2000 * 2 / 6.5 = 615.
    loaded(&thousand(&polls(6500)), &[]);
    loaded(&thousand(&UGS.replace("20_000", "26_000")), &[]); // 800 * 20 / 26 = 615
    let reported = refused(&thousand(&UGS.replace("228", "65_535")), &[]);
    assert!(reported.contains("unsolicited_grant_bytes: found a grant of"), "{reported}");
}

/// A call whose grants come half as often as its packets is not good. The buffer of 31 250 B (1 Mbps
/// for 250 ms) holds 143 of 218 B: these are overdue at the end, and what it cannot hold is lost.
#[test]
fn a_call_that_is_delivered_by_half_is_not_good() {
    for modem in MODEMS {
        let keys = format!("duration_s = 20\n{ONE_CARRIER}");
        let slow = UGS.replace("20_000", "40_000");
        let results = call(modem, 20.0, &slow, &keys);
        let row = flow(&results, "call", "up");
        assert!(row.delivered_packets < row.sent_packets * 6 / 10);
        assert!(row.mos.unwrap() < 3.0, "{modem}: {:?}", row.mos);
        let overdue = row.sent_packets - row.delivered_packets - row.dropped_overflow_packets;
        assert!(overdue > 130, "{modem}: {overdue}");
        assert!(row.late_percent.unwrap() > 25.0, "{modem}: {:?}", row.late_percent);
    }
}

/// The run warns of settings that starve a flow and names a burst that suffices: 1 Mbps x 100 ms / 8 =
/// 12 500 B.
#[test]
fn starved_flows_are_told() {
    let rare = "{ kind = 'real_time_polling', nominal_polling_interval_us = 100_000,
                  piggyback = false }";
    let keys = "duration_s = 1
                upstream.ranging_outages = [{ start_s = 2, length_s = 1 }]
                cable.upstream_noise.codeword_error_percent = 100";
    let sets = "upstream.flows.voice.burst_bytes=3044";
    let keys = format!(
        "{keys}
         traffic.call = {{ kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }}"
    );
    let service = format!("upstream.flows.voice.scheduling={rare}");
    let reported = sentences(run("single_queue", &keys, &[&service, sets]).warnings).join("\n");
    for part in [
        "set upstream.flows.voice.burst_bytes to 12500 or more",
        "upstream.ranging_outages.0 has no effect",
        "codeword_error_percent is 100",
    ] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let never = rare.replace("100_000", "2_000_000");
    let service = format!("upstream.flows.voice.scheduling={never}");
    let reported = sentences(run("single_queue", &keys, &[&service]).warnings).join("\n");
    assert!(reported.contains("polls every 2 s"), "{reported}");
}
