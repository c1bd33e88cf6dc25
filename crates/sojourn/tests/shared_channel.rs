//! The upstream channel that modems share, against arithmetic and against the modem of the studies.

use std::fmt::Write as _;

use crate::common::{flow, loaded, queue, sentences, series, service_flow};
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::engine::record::Outcome;
use sojourn::engine::units::{BitRate, Time};
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::ServiceFlowRow;
use sojourn_testing::at_random;
use sojourn_testing::proptest::prelude::*;

/// A service of 5/20 Mbps on a shared channel, by default four times 30.72 Mbps, and a server at no
/// distance.
fn run_of(modem: &str, keys: &str) -> Results {
    let text = format!(
        "cable = {{ timing.kind = 'documents', byte_count = 'ip' }}
         upstream.modem.kind = '{modem}'
         upstream.sustained_mbps = 5
         upstream.peak_mbps = 20
         upstream.burst_bytes = 100_000
         downstream = {{ sustained_mbps = 100, peak_mbps = 100, burst_bytes = 100_000 }}
         servers.near = {{ delay_ms = 0, rate_mbps = 1_000_000 }}
         {keys}"
    );
    Simulation::run(&loaded(&text, &[]))
}

fn run(keys: &str) -> Results {
    run_of("shared_channel", keys)
}

/// A stream from each home of a group, called as the group.
fn stream(home: &str, packet_bytes: u32, interval_ms: f64) -> String {
    format!(
        "traffic.{home} = {{ kind = 'stream', purpose = 'data', server = 'near', start_s = 0,
                             home = '{home}', packet_bytes = {packet_bytes},
                             interval_ms = {interval_ms} }}\n"
    )
}

/// A lone packet waits for the next MAP (0 to 2 ms), is requested in its request region, granted
/// two intervals on (4 ms) and sent anywhere in that interval behind its request region.
///
/// The region is fixed, 8 * 2 of 640 minislots: 50 us. The packet of 218 B is 246 B on the channel, with
/// the segment header 254 B, with the parity of two codewords 294 B: 392 symbols of 6 bits, 496
/// with preamble and guard, 8 minislots or 25 us. So it takes (0 to 2 ms) + 4 ms + 0.05 ms + (0 to
/// 1.925 ms) + 0.025 ms: 4.075 to 8 ms, in the mean 6.0375 ms. To it come 1 ms of cable and 1.7 ns
/// on the link.
///
/// As in the test of the modem of the studies (closed_form.rs), the stream's interval runs through
/// all phases, and the mean of 5650 packets is off by 0.56 ms / sqrt(5650) = 7.4 us; four times
/// that.
///
/// With the other modems silent the channel is that of the studies: there the packet takes
/// 6 ms - 0.0436 ms + 0.01744 ms in the mean (closed_form.rs). Region and framing make 64 us of
/// difference, and both are off by 7.5 us, together 10.6 us; four times that.
#[test]
fn a_stream_alone_has_the_latency_of_request_and_grant() {
    let game = "duration_s = 120
         upstream_channel.request_opportunities = 8
         traffic.game = { kind = 'stream', purpose = 'game', direction = 'up', server = 'near',
                          interval_ms = 21.2360679774998 }";
    let results = run(game);
    let up = flow(&results, "game", "up");
    let [min, mean, max] =
        [up.latency_min_ms, up.latency_mean_ms, up.latency_max_ms].map(Option::unwrap);
    println!("{min:.4} to {max:.4} ms, mean {mean:.4}");
    assert!(up.sent_packets > 5600 && up.sent_packets - up.delivered_packets <= 1);
    // 25 us are not a whole number of ps for each of 246 bytes: up to 246 ps are lost.
    assert!(min >= 5.075 - 1e-6 && max <= 9.0 + 1e-6);
    assert!((mean - 7.0375).abs() < 4.0 * 0.0074);
    let counted = service_flow(&results, "home", "primary", "up");
    assert!(counted.mac_requests.unwrap().abs_diff(up.sent_packets) <= 1);
    assert!(counted.mac_grants.unwrap().abs_diff(up.delivered_packets) <= 1);
    assert_eq!((counted.mac_collisions, counted.mac_unused_bytes), (Some(0), Some(0)));

    let studied = run_of("single_queue", game);
    let theirs = flow(&studied, "game", "up").latency_mean_ms.unwrap();
    println!("single queue: {theirs:.4} ms");
    assert!((mean - theirs - 0.064).abs() < 4.0 * 0.0106);
}

/// An upload under one AQM through both modems, twelve seeds each. A lone modem gets the
/// rate of the service through either, and has as long a queue, within the noise.
#[test]
fn an_upload_alone_is_as_with_the_single_queue() {
    let means = ["single_queue", "shared_channel"].map(|modem| {
        let runs = (1..=12).map(|seed| {
            let results = run_of(
                modem,
                &format!(
                    "duration_s = 100
                     dialect = 'rfc'
                     seed = {seed}
                     upstream.queue.law = {{ kind = 'docsis_pie' }}
                     servers.far = {{ delay_ms = 9 }}
                     traffic.save = {{ kind = 'transfer', server = 'far' }}"
                ),
            );
            let mbps = flow(&results, "save", "up").throughput_mbps;
            [mbps, crate::common::queue(&results, "upstream").sojourn_mean_ms.unwrap()]
        });
        let runs: Vec<_> = runs.collect();
        println!("{modem}: {runs:?}");
        [0, 1].map(|what| {
            let mean = runs.iter().map(|run| run[what]).sum::<f64>() / 12.0;
            let squares = runs.iter().map(|run| (run[what] - mean).powi(2)).sum::<f64>();
            (mean, squares / 11.0 / 12.0)
        })
    });
    // Student's t with 22 degrees of freedom: 3.79 for 99.9 %.
    let [(mbps, delay_ms), noise] = {
        let [studied, shared] = means;
        let difference = [0, 1].map(|what| shared[what].0 - studied[what].0);
        let noise = [0, 1].map(|what| 3.79 * f64::sqrt(shared[what].1 + studied[what].1));
        [difference, noise].map(|[mbps, delay_ms]| (mbps, delay_ms))
    };
    println!("{mbps:.3} +- {:.3} Mbps, {delay_ms:.3} +- {:.3} ms", noise.0, noise.1);
    assert!(noise.0 < 0.2 && noise.1 < 1.5, "too noisy to say anything");
    assert!(mbps.abs() <= noise.0);
    assert!(delay_ms.abs() <= noise.1);
}

/// Datagrams at a steady rate from one modem on OFDMA of 668 Mbps, with the specification's timing: the mean
/// and the 99th percentile of their latency on a shared channel are those on a channel of its own, as a modem
/// requests again before it is granted.
#[test]
fn a_loaded_modem_alone_waits_as_with_the_single_queue() {
    for (mbps, map_ms) in [(5.0, 0.945), (25.0, 0.945), (50.0, 2.0), (150.0, 0.945)] {
        let [single, shared] = ["single_queue", "shared_channel"].map(|modem| {
            let mac = match modem {
                "single_queue" => {
                    format!(", mac = {{ map_interval_ms = {map_ms}, channel_mbps = 668.444 }}")
                }
                _ => String::new(),
            };
            let text = format!(
                "duration_s = 6
                 cable.distance_km = 8
                 upstream = {{ sustained_mbps = 200, peak_mbps = 400, burst_bytes = 2_000_000,
                               modem.kind = '{modem}' {mac} }}
                 upstream_channel = {{ map_interval_ms = {map_ms}, channels = 1,
                                       phy = {{ kind = 'ofdma', subcarrier_bits = 8 }} }}
                 downstream.sustained_mbps = 1000
                 servers.near.delay_ms = 0
                 traffic.c = {{ kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1518,
                                interval_ms = {} }}",
                1518.0 * 8.0 / mbps / 1e3
            );
            let results = Simulation::run(&loaded(&text, &[]));
            let up = flow(&results, "c", "up");
            [up.latency_mean_ms.unwrap(), up.latency_p99_ms.unwrap()]
        });
        println!("{mbps} Mbps, a MAP every {map_ms} ms: {single:.2?} {shared:.2?}");
        for (single, shared) in single.into_iter().zip(shared) {
            assert!((shared / single - 1.0).abs() < 0.06, "{mbps} {map_ms}: {single} {shared}");
        }
    }
}

/// A lone packet as in the test of a stream alone, with the grant at the start of its interval: (0 to 2 ms) +
/// 4 ms + 0.025 ms + 1 ms of cable. A second modem has grants packed by default.
#[test]
fn grants_begin_where_they_are_said_to() {
    let latencies = |keys: &str| {
        let results = run(&format!(
            "duration_s = 20
             {keys}
             traffic.game = {{ kind = 'stream', purpose = 'game', direction = 'up', server = 'near',
                               interval_ms = 21.236, home = 'ours' }}
             homes.ours = {{}}"
        ));
        let up = flow(&results, "game", "up");
        [up.latency_min_ms.unwrap(), up.latency_max_ms.unwrap()]
    };
    let packed = |[min, max]: [f64; 2]| min > 5.02 && max < 7.03;
    assert!(packed(latencies("upstream_channel.grant_place = 'start'")));
    assert!(packed(latencies("homes.other = {}")));
    for keys in ["", "homes.other = {}\nupstream_channel.grant_place = 'uniform'"] {
        let [min, max] = latencies(keys);
        assert!(min > 5.02 && max > 8.5 && max < 9.03, "{keys}: {min} {max}");
    }
}

/// 200 homes with a game each, which request 13 300 times a second: 27 times in each MAP interval, for which
/// eight fixed opportunities are too few. Their grants of 8 of 640 minislots leave 424, or 212 opportunities,
/// sometimes 256: of 27 requests in a window of 256 or 128 one collides with a probability of
/// 1 - (255/256)^26 = 10 % to 1 - (127/128)^26 = 18 %, and collided ones come again.
#[test]
fn idle_space_is_for_requests() {
    let game = |keys: &str| {
        let results = run(&format!(
            "duration_s = 8
             {keys}
             homes.all = {{ count = 200 }}
             traffic.game = {{ kind = 'stream', purpose = 'game', direction = 'up', home = 'all' }}"
        ));
        let channel = &results.channels[0];
        let collided =
            channel.collisions.unwrap() as f64 / channel.contention_requests.unwrap() as f64;
        (flow(&results, "game", "up").latency_p99_ms.unwrap(), collided)
    };
    let (wide, collided) = game("");
    println!("{wide:.1} ms, {:.1} % collide", 100.0 * collided);
    assert!(wide < 20.0 && (0.1..0.2).contains(&collided));
    let (narrow, collided) = game("upstream_channel.request_opportunities = 8");
    println!("{narrow:.1} ms, {:.1} % collide", 100.0 * collided);
    assert!(narrow > 100.0 && collided > 0.5);
}

/// One flow that wants more than a channel carries: of 160 minislots of a MAP 16 are a fixed request
/// region. 144 * 64 = 9216 symbols are left, less 104 for preamble and guard 9112, that is 6834 B:
/// 28 codewords of 240 B and one of 114 B, so 28 * 220 + 94 = 6254 B, less 8 of header 6246 B in 2
/// ms: 24.984 Mbps. Packets of 1000 B take 1028 there: 24.304 Mbps of them.
#[test]
fn a_channel_carries_what_its_framing_leaves() {
    let results = run(&format!(
        "duration_s = 5
         upstream_channel = {{ channels = 1, request_opportunities = 8 }}
         homes.a.upstream = {{ sustained_mbps = 100, peak_mbps = 100 }}
         {}",
        stream("a", 1000, 0.25)
    ));
    let carried = flow(&results, "a", "up").throughput_mbps;
    println!("{carried:.3} Mbps");
    // Of 2500 intervals the first three carry nothing, and the last packets are under way.
    assert!(carried <= 24.304 && carried > 24.304 * (1.0 - 5.0 / 2500.0));
    // 144 of 160 minislots.
    let used = results.channels[0].utilisation_percent;
    assert!(used <= 90.0 && used > 90.0 * (1.0 - 5.0 / 2500.0), "{used}");
    let over_time = &series(&results, "upstream channel", "utilisation").series.values;
    assert!(over_time[1..].iter().all(|percent| (*percent - 90.0).abs() < 1.9), "{over_time:?}");
}

/// What OFDMA carries: 235 minislots of 60 B in each of 15 frames, less 16 of the request region,
/// are 3509 * 60 - 8 = 210 532 B in 2.025 ms, 831.7 Mbps, 809.1 without headers.
#[test]
fn ofdma_carries_what_its_frames_hold() {
    let results = run(&format!(
        "duration_s = 0.5
         upstream_channel = {{ channels = 1, phy = {{ kind = 'ofdma' }} }}
         homes.a.upstream = {{ sustained_mbps = 1000, peak_mbps = 1000, burst_bytes = 1_000_000 }}
         {}",
        stream("a", 1000, 0.008)
    ));
    let carried = flow(&results, "a", "up").throughput_mbps;
    println!("{carried:.3} Mbps");
    // Of 247 intervals the first three carry nothing, and the last packets are under way.
    assert!(carried < 809.1 && carried > 809.1 * (1.0 - 5.0 / 247.0));
}

/// Modems that all want more than there is get the same, whatever their number.
#[test]
fn saturated_modems_share_alike() {
    for modems in [2, 7, 40] {
        let mut keys = "duration_s = 20\nupstream_channel.channels = 1\n".to_owned();
        for home in 0..modems {
            keys += &format!(
                "homes.h{home}.upstream = {{ sustained_mbps = 30, peak_mbps = 30 }}\n{}",
                stream(&format!("h{home}"), 1000, 0.3)
            );
        }
        let results = run(&keys);
        let rates: Vec<f64> =
            (0..modems).map(|n| flow(&results, &format!("h{n}"), "up").throughput_mbps).collect();
        let mean = rates.iter().sum::<f64>() / f64::from(modems);
        println!("{modems} modems: {:.2} Mbps in all, {rates:.3?}", mean * f64::from(modems));
        assert!(rates.iter().all(|rate| (rate / mean - 1.0).abs() < 0.02));
        assert!(mean * f64::from(modems) > 20.0);
    }
}

/// On a channel of 24 Mbps that ten others flood: a flow with a minimum reserved rate of 6 Mbps has
/// that, and one of priority 7 all that its service allows, 5 Mbps. The others share the rest
/// alike.
#[test]
fn reserved_rates_and_priorities_come_first() {
    let results = run(&format!(
        "duration_s = 10
         upstream_channel.channels = 1
         homes.others = {{ count = 10 }}
         homes.reserved.upstream.flows.own = {{
             sustained_mbps = 20, peak_mbps = 20, burst_bytes = 10_000, minimum_mbps = 6,
             match = [{{ protocol = 'udp' }}] }}
         homes.first.upstream.flows.own = {{
             sustained_mbps = 5, peak_mbps = 20, burst_bytes = 10_000, priority = 7,
             match = [{{ protocol = 'udp' }}] }}
         {}{}{}",
        stream("others", 1000, 1.0),
        stream("reserved", 1000, 0.4),
        stream("first", 1000, 1.0),
    ));
    let rate = |traffic| flow(&results, traffic, "up").throughput_mbps;
    let [others, reserved, first] = ["others", "reserved", "first"].map(rate);
    println!("others {others:.3}, reserved {reserved:.3}, first {first:.3} Mbps");
    // The bucket's 10 000 B are 8 kbps of the ten seconds.
    assert!((first / 5.008 - 1.0).abs() < 0.01);
    // Its rate counts headers, 1028 B for 1000.
    // And of the rest what each of the others has.
    let rest = others / 10.0;
    assert!((reserved / (6.0 / 1.028 + rest) - 1.0).abs() < 0.01, "{reserved} {rest}");
    assert!(others > 9.0);
}

/// Two modems whose windows never grow and that ask at the same times collide 16 times for each
/// packet and then discard it.
#[test]
fn packets_whose_requests_keep_failing_are_discarded() {
    let results = run(&format!(
        "duration_s = 10
         upstream_channel = {{ request_opportunities = 1, backoff_start = 0, backoff_end = 0 }}
         homes.twins = {{ count = 2 }}
         {}",
        stream("twins", 1000, 1000.0)
    ));
    let up = flow(&results, "twins", "up");
    assert_eq!((up.sent_packets, up.delivered_packets), (22, 0));
    // Those of the last second are still requested when the run ends.
    assert_eq!(up.dropped_contention_packets, 20);
    let counted = service_flow(&results, "twins", "primary", "up");
    assert_eq!(counted.contention_dropped_packets, 20);
    assert_eq!(counted.mac_collisions, Some(20 * 16));
    assert_eq!(results.channels[0].collisions.unwrap(), 20 * 16);
    // They did not leave their queue to be sent.
    assert_eq!(queue(&results, "upstream").departed_packets, 0);
}

/// A collapse: 25 homes with two service flows each share one opportunity, with windows of 1, 2 and then
/// 4. Each of the 50 sends 2 MAPs after it collided, or up to 3 later, so in 1 of 3.5. That one is alone
/// has a probability of 50 / 3.5 * (2.5 / 3.5)^49 = 1e-6 in each of 1000 MAPs, 1e-3 in all: nothing is
/// granted, and all that the modems do is to ask and to give up.
///
/// Who gives up has collided 16 times, which takes 16 * 2 to 16 * 5 MAPs, and begins anew as there is
/// more to send. In 1000 MAPs each flow does so 1000 / 80 to 1000 / 32 times, 12 to 31, and has up to 16
/// more collisions behind it.
#[test]
fn where_all_requests_collide_nothing_is_granted() {
    let results = run(&format!(
        "duration_s = 2
         upstream_channel = {{ request_opportunities = 1, backoff_start = 0, backoff_end = 2 }}
         homes.all = {{ count = 25, upstream.flows.more = {{
             sustained_mbps = 5, peak_mbps = 20, burst_bytes = 100_000,
             match = [{{ traffic = 'more' }}] }} }}
         {}{}",
        stream("all", 1000, 20.0),
        stream("all", 1000, 20.0).replace("traffic.all", "traffic.more"),
    ));
    let channel = &results.channels[0];
    assert_eq!(channel.contention_requests.unwrap(), channel.collisions.unwrap());
    assert_eq!((channel.granted_minislots.unwrap(), channel.utilisation_percent), (0, 0.0));
    // One in each MAP, of which the first takes effect at 2 ms and the last at 2 s.
    assert_eq!(channel.request_opportunities.unwrap(), 1000);
    let mut collisions = 0;
    for name in ["primary", "more"] {
        let counted = service_flow(&results, "all", name, "up");
        let (requests, dropped) =
            (counted.mac_requests.unwrap(), counted.contention_dropped_packets);
        assert_eq!((counted.forwarded_packets, counted.forwarded_bytes), (0, 0));
        assert_eq!((counted.mac_grants, counted.mac_granted_bytes), (Some(0), Some(0)));
        assert_eq!((counted.mac_unused_bytes, counted.mac_collisions), (Some(0), Some(requests)));
        assert!((25 * 12..=25 * 31).contains(&dropped), "{name}: {dropped} given up");
        assert!((16 * dropped..=16 * dropped + 25 * 16).contains(&requests), "{name}: {requests}");
        collisions += requests;
    }
    assert_eq!(collisions, channel.collisions.unwrap());
    for (traffic, flow_name) in [("all", "primary"), ("more", "more")] {
        let up = flow(&results, traffic, "up");
        let counted = service_flow(&results, "all", flow_name, "up");
        // One at 0 s and one every 20 ms until the last at 2 s.
        assert_eq!((up.sent_packets, up.delivered_packets), (25 * 101, 0));
        assert_eq!(up.dropped_contention_packets, counted.contention_dropped_packets);
        assert_eq!((up.dropped_overflow_packets, up.dropped_aqm_packets), (0, 0));
    }
}

/// A channel on which nothing is sent has no events: a longer silence costs its samples, ten a
/// second.
#[test]
fn an_idle_channel_sleeps() {
    let events = [10, 100].map(|duration_s| {
        run(&format!(
            "duration_s = {duration_s}
             homes.all = {{ count = 50 }}
             traffic.all = {{ kind = 'stream', purpose = 'data', server = 'near', start_s = 0,
                              stop_s = 1, packet_bytes = 500, interval_ms = 20 }}"
        ))
        .events
    });
    assert_eq!(events[1] - events[0], 900);
}

/// The greatest number of bytes beyond what `rate` carries, over all intervals from the end of a
/// packet to that of another.
fn greatest_excess(ends: &[(Time, f64)], rate: BitRate) -> f64 {
    let (mut sum, mut least, mut greatest) = (0.0, f64::MAX, 0.0);
    for (end, size) in ends {
        sum += size;
        let excess = sum - rate.bytes_in(*end);
        greatest = f64::max(greatest, excess - least);
        least = f64::min(least, excess);
    }
    greatest
}

at_random! {
    40;

    /// White 2014 appendix C on every interval, of each of three modems that want more than they
    /// may have: `span * R / 8 + B` bytes at most, with the sustained rate R and the burst B. The
    /// packets after one are sent after its end, so those up to another one's end are sent between
    /// both ends.
    ///
    /// The bucket of the peak rate P holds what comes in two MAP intervals beside a frame, as
    /// grants are lumps: `(span + 4 ms) * P / 8 + 1522`.
    #[test]
    fn no_interval_carries_more_than_the_token_bucket(
        homes in prop::collection::vec((0.5..8.0_f64, 1.5..4.0_f64, 3000_u32..60_000), 3),
        sizes in prop::collection::vec(64_u32..1500, 3),
        seed in 0_u32..1000,
    ) {
        let mut keys = format!("duration_s = 3\nseed = {seed}\nmetrics.packet_trace = true\n");
        for (home, ((mbps, peaks, burst), size)) in homes.iter().zip(&sizes).enumerate() {
            writeln!(
                keys,
                "homes.h{home}.upstream = {{ sustained_mbps = {mbps}, peak_mbps = {},
                                            burst_bytes = {burst} }}",
                mbps * peaks
            ).unwrap();
            // Two sizes, in all one and a half times the sustained rate: 3 s of it bring
            // 0.5 * 0.5 Mbps * 3 s / 8 = 94 kB more than that, and more than any burst.
            let interval_ms = f64::from(size + 700) * 8e-3 / mbps / 1.5;
            keys += &stream(&format!("h{home}"), *size, interval_ms);
            keys += &stream(&format!("h{home}"), 700, interval_ms)
                .replace(&format!("traffic.h{home}"), &format!("traffic.more{home}"));
        }
        let results = run(&keys);
        for (home, (mbps, peaks, burst)) in homes.iter().enumerate() {
            let of_home = |traffic: u16| results.traffic[usize::from(traffic)].ends_with(&format!("{home}"));
            let ends: Vec<(Time, f64)> = results
                .packets
                .iter()
                .filter(|p| p.direction == Direction::Up && p.outcome == Outcome::Delivered && of_home(p.traffic))
                .map(|p| (p.ended, f64::from(p.size)))
                .collect();
            prop_assert!(ends.len() > 100 && ends.is_sorted_by_key(|(end, _)| *end));
            let excess = greatest_excess(&ends, BitRate::from_mbps(*mbps));
            let bound = f64::from(*burst);
            // The link rounds each packet's 1 ps a bit up: a millionth of a byte at these rates.
            prop_assert!(excess <= bound + 1e-3, "home {home}: {excess} of {bound} B");
            // And they use it up, or the bound would not have been tested.
            prop_assert!(excess >= bound - 3000.0, "home {home}: only {excess} of {bound} B");
            let peak = BitRate::from_mbps(mbps * peaks);
            let excess = greatest_excess(&ends, peak);
            let bound = 1522.0 + peak.bytes_in(Time::from_ms(4));
            prop_assert!(excess <= bound + 1e-3, "home {home}: {excess} of {bound} B at the peak rate");
        }
    }

    /// Whatever the channel and the modems on it, all packets are accounted for (`Simulation::run`
    /// asserts that) and all counters agree: the requests of contention are among all requests, of
    /// those in one opportunity one is heard at most, who gives up has collided 16 times, and what
    /// passed was granted.
    ///
    /// Nothing is granted before a request is heard, which may be never. The first one that is heard is
    /// granted two MAPs later, with full token buckets and in a turn of 1550 B at least, so its packet
    /// passes before the MAP after that, or in OFDMA before the end of a frame that has then begun. Of
    /// the last four MAPs of a run all requests may be unanswered at its end.
    #[test]
    fn counters_agree_whatever_the_channel(
        channel in (1_u32..5, 1_u32..12, 0_u8..5, 0_u8..6, any::<bool>()),
        homes in prop::collection::vec((1_u16..15, 0.2..20.0_f64, any::<bool>()), 1..4),
        seed in 0_u32..1000,
    ) {
        let (channels, opportunities, start, more, is_ofdma) = channel;
        let kind = if is_ofdma { "ofdma" } else { "sc_qam" };
        let mut keys = format!(
            "duration_s = 2\nseed = {seed}
             upstream_channel = {{ channels = {channels}, request_opportunities = {opportunities},
                                   backoff_start = {start}, backoff_end = {}, phy.kind = '{kind}' }}\n",
            start + more + 2
        );
        for (index, (count, mbps, has_flow)) in homes.iter().enumerate() {
            let law = "queue = { law = { kind = 'docsis_pie' } }";
            let flows = if *has_flow {
                "flows.calls = { sustained_mbps = 1, peak_mbps = 2, burst_bytes = 3000, priority = 3,
                                 minimum_mbps = 0.1, match = [{ protocol = 'udp' }] }"
            } else {
                ""
            };
            writeln!(
                keys,
                "homes.h{index} = {{ count = {count}, upstream = {{ sustained_mbps = {mbps},
                                     peak_mbps = {}, {law}, {flows} }} }}
                 traffic.save{index} = {{ kind = 'transfer', server = 'near', home = 'h{index}' }}
                 traffic.load{index} = {{ kind = 'transfer', home = 'h{index}', direction = 'down' }}
                 traffic.call{index} = {{ kind = 'stream', purpose = 'voice', direction = 'up', server = 'near',
                                          home = 'h{index}' }}",
                2.0 * mbps
            ).unwrap();
        }
        let results = run(&keys);
        let up: Vec<_> = results.service_flows.iter().filter(|row| row.direction == "up").collect();
        let sum = |of: fn(&ServiceFlowRow) -> u64| up.iter().map(|row| of(row)).sum::<u64>();
        let channel = &results.channels[0];
        prop_assert_eq!(sum(|row| row.mac_collisions.unwrap()), channel.collisions.unwrap());
        prop_assert!(channel.contention_requests.unwrap() <= sum(|row| row.mac_requests.unwrap()));
        prop_assert!(channel.collisions.unwrap() <= channel.contention_requests.unwrap());
        let heard = channel.contention_requests.unwrap() - channel.collisions.unwrap();
        prop_assert!(heard <= channel.request_opportunities.unwrap());
        let passed = sum(|row| row.forwarded_bytes + 28 * row.forwarded_packets);
        let granted = sum(|row| row.mac_granted_bytes.unwrap());
        let used = granted - sum(|row| row.mac_unused_bytes.unwrap());
        prop_assert!(passed <= used, "{} of {}", passed, used);
        prop_assert!(heard > 0 || granted == 0, "{} bytes for nobody", granted);
        prop_assert!(passed > 0 || heard <= 4 * u64::from(opportunities), "{} in vain", heard);
        prop_assert_eq!(granted > 0, sum(|row| row.mac_grants.unwrap()) > 0);
        prop_assert_eq!(granted > 0, channel.granted_minislots.unwrap() > 0);
        prop_assert_eq!(granted > 0, channel.utilisation_percent > 0.0);
        prop_assert!(channel.utilisation_percent < 100.0);
        let dropped = sum(|row| row.contention_dropped_packets);
        prop_assert!(16 * dropped <= channel.collisions.unwrap());
        let in_accounts: u64 = results.flows.iter().map(|row| row.dropped_contention_packets).sum();
        prop_assert_eq!(dropped, in_accounts);
    }
}

#[test]
fn a_service_beyond_its_channel_is_a_warning() {
    let warnings = |mbps: u32| {
        let text = format!(
            "duration_s = 1
             upstream = {{ sustained_mbps = {mbps}, modem.kind = 'shared_channel' }}
             downstream.sustained_mbps = 100
             servers.near.delay_ms = 0
             traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}"
        );
        sentences(sojourn::warnings(&loaded(&text, &[])))
    };
    assert_eq!(warnings(100), [""; 0]);
    let sentence = "upstream.sustained_mbps is 1000, and the channel that homes share carries 110.5 Mbps: the channel is \
                    the limit";
    assert_eq!(warnings(1000), [sentence]);
}
