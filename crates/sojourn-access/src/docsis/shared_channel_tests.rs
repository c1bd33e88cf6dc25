//! The shared channel event by event: minislots of 8 B and 2 us, MAPs every 2 ms, and 16 minislots for requests at the
//! start of each interval.

use super::super::for_tests::*;
use super::super::framing::Framing;
use super::super::timing::Specification;
use super::super::upstream_channel::{GrantPlace, Ofdma, PartialService, Phy, ScQam};
use super::*;

#[path = "shared_channel_order_tests.rs"]
mod order;

/// A channel at work.
struct Run {
    channel: SharedChannel,
    recorder: Recorder,
    /// The packets that have come to the CMTS, and when.
    received: Vec<(Time, u8)>,
}

/// Eight opportunities of two minislots, and a window of one.
fn fixed() -> UpstreamChannel {
    let (request_opportunities, backoff_start, backoff_end) = (Some(8), Some(0), Some(0));
    let grant_place = Some(GrantPlace::Start);
    UpstreamChannel {
        request_opportunities,
        backoff_start,
        backoff_end,
        grant_place,
        ..plain_channel()
    }
}

impl Run {
    /// One modem whose flows have these keys.
    fn new(spec: &UpstreamChannel, flows: &[&str], seed: u64) -> Self {
        Self::timed(spec, &PlantTiming::DOCUMENTS, flows, seed)
    }

    fn timed(spec: &UpstreamChannel, plant: &PlantTiming, flows: &[&str], seed: u64) -> Self {
        let mut run = Self {
            channel: SharedChannel::new(spec, 10, plant, seed),
            recorder: tracing(),
            received: Vec::new(),
        };
        run.connect("", flows);
        run
    }

    /// Adds a modem.
    fn connect(&mut self, home: &str, flows: &[&str]) -> u32 {
        let specs: Vec<_> = flows.iter().map(|keys| upstream(keys)).collect();
        let names = ["", "second"];
        let contexts: Vec<_> =
            names.iter().map(|flow| ServiceFlowContext { home, flow, ..context() }).collect();
        self.channel.connect(&specs, &contexts[..specs.len()])
    }

    /// Runs until a packet comes at this time for a flow.
    fn put(&mut self, at: Time, flow: u32, number: u8, size: u16) {
        self.run(at);
        self.channel.accept(at, Time::ZERO, (flow, packet(number, size)), &mut self.recorder);
    }

    fn run(&mut self, until: Time) {
        while self.channel.next_wake() <= until {
            let now = self.channel.next_wake();
            let packet = self.channel.wake(now, &mut self.recorder);
            self.received.extend(packet.map(|packet| (now, packet.number[0])));
        }
    }

    fn events(&mut self, kinds: &[&str]) -> Vec<(Time, &'static str, u64)> {
        events_of(&mut self.recorder, kinds)
    }
}

const ALL: [&str; 9] =
    ["arrive", "map", "request", "defer", "grant", "dequeue", "piece", "sent", "unused"];

/// 1010 B take 127 minislots or 254 us, 251 485 ps a byte, and begin behind 16 minislots. The MAP at 8 ms finds nothing
/// and is the last.
#[test]
fn a_packet_alone_is_requested_granted_and_sent() {
    let mut run = Run::new(&fixed(), &[""], 1);
    assert_eq!(run.channel.next_wake(), Time::NEVER);
    run.put(MS(1), 0, 0, 1000);
    assert_eq!(
        (run.channel.inside(), run.channel.next_wake()),
        (Count { packets: 1, bytes: 1000 }, MS(2))
    );
    let (start, end) = (US(6032), US(6032) + Time::from_ps(251_485 * 1010));
    run.run(start);
    assert_eq!(run.channel.inside().packets, 1);
    run.run(MS(100));
    assert_eq!((run.received.as_slice(), run.channel.inside().packets), ([(end, 0)].as_slice(), 0));
    let want = [
        (MS(1), "arrive", 1000),
        (MS(2), "map", 0),
        (MS(2), "request", 1010),
        (MS(4), "map", 0),
        (MS(6), "map", 1010),
        (start, "grant", 1010),
        (start, "dequeue", 1000),
        (start, "piece", 1010),
        (end, "sent", 1000),
        (MS(8), "map", 0),
    ];
    assert_eq!(run.events(&ALL), want);
    let used = run.channel.used(MS(100));
    assert_eq!((used.requests.unwrap().granted_minislots, used.used.1), (127, 50_000.0));
    assert_eq!(
        (used.requests.unwrap().contention_requests, used.requests.unwrap().collisions),
        (1, 0)
    );
    assert_eq!(used.requests.unwrap().request_opportunities, 50 * 8);
}

/// What came before the grant is requested with it, for two MAPs later; what comes behind it contends.
#[test]
fn a_grant_carries_the_next_request() {
    let mut run = Run::new(&fixed(), &[""], 1);
    for (at, number) in [(MS(1), 0), (MS(5), 1), (MS(13), 2)] {
        run.put(at, 0, number, 1000);
    }
    run.run(MS(100));
    let requests = [US(2000), US(6032), US(14_000)].map(|at| (at, "request", 1010));
    assert_eq!(run.events(&["request"]), requests);
    let numbers: Vec<_> = run.received.iter().map(|(at, n)| (at.ps() / MS(2).ps(), *n)).collect();
    assert_eq!(numbers, [(3, 0), (5, 1), (9, 2)]);
    assert_eq!(run.channel.used(MS(100)).requests.unwrap().contention_requests, 2);
}

/// 9010 B are granted in two MAPs, of which the first has 984 minislots for 7872 B.
#[test]
fn a_long_packet_goes_in_the_grants_of_two_maps() {
    let mut run = Run::new(&fixed(), &[""], 1);
    run.channel.flows[0].mac.shaper.sustained = deep_bucket();
    run.put(MS(1), 0, 0, 9000);
    run.run(MS(100));
    let grants = [(US(6032), "grant", 7872), (US(8032), "grant", 1138)];
    assert_eq!(run.events(&["grant", "defer"]), grants);
    // 1138 B have 143 minislots, 286 us.
    let end = US(8032) + Time::from_ps(286_000_000 / 1138 * 1138);
    assert_eq!(run.received, [(end, 0)]);
}

/// Where the rate lets 1000 B pass, the rest is deferred until the bucket has more.
#[test]
fn the_rate_defers_a_grant() {
    let mut run = Run::new(&fixed(), &[""], 1);
    run.channel.flows[0].mac.shaper.sustained.take(US(6032), 4000);
    (0..2).for_each(|n| run.put(MS(1), 0, n, 1000));
    run.run(MS(9));
    let seen = run.events(&["map", "defer"]);
    // Of 2020 B 1010 are granted at once, and what comes in 2 ms, 2000 B, is enough for the others.
    let want = [(MS(2), "map", 0), (MS(4), "map", 0), (MS(6), "map", 1010), (MS(6), "defer", 1010)];
    assert_eq!(seen[..4], want);
    assert_eq!(seen[4], (MS(8), "map", 1010));
}

/// A lone modem's grant is anywhere behind the region where it fits, in whole minislots, from 16 to 873.
#[test]
fn a_lone_modem_is_granted_anywhere_in_the_interval() {
    let spec = UpstreamChannel { grant_place: None, ..fixed() };
    let mut places: Vec<_> = (0..60)
        .map(|seed| {
            let mut run = Run::new(&spec, &[""], seed);
            run.put(MS(1), 0, 0, 1000);
            run.run(MS(100));
            let place = run.events(&["grant"])[0].0.since(MS(6)).ps();
            assert_eq!(place % US(2).ps(), 0);
            place / US(2).ps()
        })
        .collect();
    places.sort_unstable();
    assert!((16..60).contains(&places[0]) && (830..=873).contains(&places[59]), "{places:?}");
    // Beside another modem it is the first.
    let mut run = Run::new(&spec, &[""], 1);
    assert_eq!(run.connect("other", &[""]), 1);
    run.put(MS(1), 0, 0, 1000);
    run.run(MS(100));
    assert_eq!(run.events(&["grant"]), [(US(6032), "grant", 1010)]);
}

/// Without a fixed region requests have what grants leave, and grants begin with the interval.
#[test]
fn an_adaptive_region_is_behind_the_grants() {
    let spec = UpstreamChannel { grant_place: Some(GrantPlace::Start), ..plain_channel() };
    let mut run = Run::new(&spec, &[""], 1);
    run.put(MS(1), 0, 0, 1000);
    run.run(MS(6));
    assert_eq!(run.events(&["grant"]), [(MS(6), "grant", 1010)]);
    // 1000 minislots in the MAPs at 2 and 4 ms, 873 at 6 ms, and before the first 1000.
    let used = run.channel.used(MS(6));
    assert_eq!(
        (used.requests.unwrap().granted_minislots, used.requests.unwrap().request_opportunities),
        (127, 500 + 500 + 436)
    );
    assert_eq!(
        run.channel.used(MS(8)).requests.unwrap().request_opportunities,
        500 + 500 + 436 + 500
    );
}

/// Two modems that always draw the same opportunity lose a packet each after 16 collisions; both contend again for the
/// packets behind it.
#[test]
fn collisions_are_counted_and_end() {
    let spec = UpstreamChannel { request_opportunities: Some(1), ..fixed() };
    let mut run = Run::new(&spec, &[""], 1);
    run.connect("other", &[""]);
    for (flow, number) in [(0, 0), (0, 1), (1, 2)] {
        run.put(MS(1), flow, number, 1000);
    }
    run.run(MS(2));
    let flow = &run.channel.flows[0];
    assert_eq!((flow.counters().requests, flow.counters().collisions, flow.contends), (1, 1, true));
    assert_eq!(run.channel.used(MS(2)).requests.unwrap().contention_requests, 2);
    // The 16th is sent at 62 ms and known to be lost at 66 ms; then the second packet has no rival.
    run.run(MS(65));
    assert_eq!(run.channel.flows[0].inside().packets, 2);
    run.run(MS(66));
    assert_eq!(
        (run.channel.used(MS(66)).requests.unwrap().collisions, run.channel.inside().packets),
        (32, 1)
    );
    run.run(MS(200));
    let received: Vec<_> = run.received.iter().map(|(_, number)| *number).collect();
    assert_eq!(received, [1]);
    assert_eq!(run.channel.used(MS(200)).requests.unwrap().contention_requests, 33);
    assert_eq!(run.channel.next_wake(), Time::NEVER);
}

/// More than half of the contention requests, and a tenth of all requests at least.
#[test]
fn a_channel_warns_where_most_requests_collide() {
    let adapting = UpstreamChannel { request_opportunities: None, ..fixed() };
    for (contention_requests, collisions, all, warns) in [
        (100, 51, 1000, true),
        (100, 50, 1000, false),
        (100, 51, 1001, false),
        (0, 0, 0, false),
        (1, 1, 9, true),
    ] {
        for (spec, advice) in [(fixed(), "leave out"), (adapting.clone(), "fewer homes")] {
            let mut run = Run::new(&spec, &[""], 1);
            run.channel.channel.counters.contention_requests = contention_requests;
            run.channel.channel.counters.collisions = collisions;
            run.channel.flows[0].mac.flow.counters.requests = all;
            let warning = run.channel.collision_warning();
            assert_eq!(warning.is_some(), warns);
            let share = if all > 9 { "51 %" } else { "100 %" };
            assert!(
                warning.is_none_or(
                    |one| one.message.starts_with(share) && one.message.contains(advice)
                )
            );
        }
    }
}

/// A packet from a modem that is 100 us farther away enters 100 us later, and is inside meanwhile.
#[test]
fn packets_of_farther_modems_enter_later() {
    let mut run = Run::new(&fixed(), &[""], 1);
    run.channel.accept(MS(1), US(100), (0, packet(0, 1000)), &mut run.recorder);
    assert_eq!((run.channel.next_wake(), run.channel.inside().packets), (US(1100), 1));
    run.run(MS(100));
    assert_eq!(
        run.events(&["arrive", "request"]),
        [(US(1100), "arrive", 1000), (MS(2), "request", 1010)]
    );
}

/// The share of minislots granted since the last sample: 127 of 4000.
#[test]
fn samples_show_the_use_since_the_last_one() {
    let mut run =
        Run::new(&UpstreamChannel { request_opportunities: Some(1), ..fixed() }, &[""], 1);
    run.put(MS(1), 0, 0, 1000);
    run.run(MS(8));
    run.channel.sample(MS(8));
    run.channel.channel.counters.collisions = 3;
    run.channel.sample(MS(12));
    run.channel.channel.counters.collisions = 5;
    run.channel.channel.counters.granted_minislots += 500;
    run.channel.sample(MS(14));
    let values: Vec<_> =
        run.channel.series().map(|(_, series)| (series.metric, series.values.clone())).collect();
    let [(use_name, used), (collision_name, collisions)] = values.as_slice() else { panic!() };
    assert_eq!((*use_name, *collision_name), ("utilisation", "request_collisions"));
    for (seen, want) in used.iter().zip([3.175, 0.0, 50.0]) {
        assert!((f64::from(*seen) - want).abs() < 1e-4, "{used:?}");
    }
    assert_eq!(*collisions, [0.0, 3.0, 2.0]);
}

/// Four channels have 4000 minislots and one of them 1000, from the MAP at 6 ms to that at 8 ms: 5000 B are 625, which begin
/// behind 16 of 4000 or of 1000.
#[test]
fn lost_channels_are_missing_in_the_maps_of_their_time() {
    for (start_s, want) in
        [(0.006, US(6032)), (0.0061, US(6008)), (0.003, US(6032)), (0.0025, US(6008))]
    {
        let partial = PartialService { start_s, length_s: 0.0035, channels: 1 };
        let spec = UpstreamChannel { channels: 4, partial_service: vec![partial], ..fixed() };
        let mut run = Run::new(&spec, &[""], 1);
        run.put(MS(1), 0, 0, 500);
        run.run(MS(100));
        assert_eq!(run.events(&["grant"]), [(want, "grant", 510)], "{start_s}");
        assert_eq!(run.channel.used(MS(2)).used.1, 4000.0);
        assert!((run.channel.greatest_mbps() - 3984.0 * 8.0 * 8e-6 / 2e-3).abs() < 1e-6);
    }
}

/// An unsolicited grant of 238 B, 30 minislots, every 10 ms, at the same place; a requested one is split around it. All of
/// 1000 minislots but 16, 30 and one, by which the split may be longer, are 953: 7624 B of 9010.
#[test]
fn requested_grants_are_placed_around_unsolicited_ones() {
    let ugs = "scheduling = { kind = 'ugs', unsolicited_grant_bytes = 238, nominal_grant_interval_us = 2000 }";
    let mut run = Run::new(&fixed(), &["", ugs], 1);
    run.channel.flows[0].mac.shaper.sustained = deep_bucket();
    assert_eq!(run.channel.next_wake(), Time::ZERO);
    run.put(MS(1), 0, 0, 9000);
    run.put(MS(1), 1, 1, 228);
    run.run(US(9999));
    let seen = run.events(&["map", "grant"]);
    let maps: Vec<_> =
        seen.iter().filter(|(_, kind, _)| *kind == "map").map(|(.., bytes)| *bytes).collect();
    assert_eq!(maps, [0, 0, 0, 7624, 1386]);
    let grants: Vec<_> = seen.iter().filter(|(_, kind, _)| *kind == "grant").collect();
    assert_eq!(grants.iter().map(|(.., bytes)| bytes).sum::<u64>(), 9010);
    assert_eq!((grants[0].0, grants.len() >= 3), (US(6032), true), "{grants:?}");
    // The second part begins where the unsolicited grant ends, 30 minislots behind the first part.
    let first_minislots = grants[0].2.div_ceil(8);
    assert_eq!(grants[1].0, US(6032) + US(2 * (first_minislots + 30)));
    let counters = run.channel.flow(1).counters();
    assert_eq!((counters.grants, counters.requests), (5, 0));
    assert_eq!(counters.unused_bytes, 238 * 5 - 238);
    let used = run.channel.used(MS(10));
    assert_eq!(used.requests.unwrap().granted_minislots, 5 * 30 + 953 + 174);
    // The packet for them was sent in the first of them, 252 100 ps a byte.
    let place = US(32) + US(2 * first_minislots);
    assert_eq!(run.received[0], (place + Time::from_ps(60_000_000 / 238 * 238), 1));
    assert_eq!(run.received.len(), 2);
    assert!(run.channel.next_wake() <= MS(10), "no MAP is skipped");
}

/// A poll is a request without contention: two minislots in which nothing but the request is sent.
#[test]
fn a_poll_carries_a_request() {
    let polls = "scheduling = { kind = 'real_time_polling', nominal_polling_interval_us = 2000 }";
    let mut run = Run::new(&fixed(), &[polls], 1);
    run.put(MS(1), 0, 0, 1000);
    run.run(MS(9));
    let seen = run.events(&["request", "grant"]);
    let [(asked, "request", 1010), (granted, "grant", 1010)] = seen.as_slice() else {
        panic!("{seen:?}")
    };
    let map = asked.ps() / MS(2).ps();
    assert_eq!(*granted, MS(2 * (map + 2)) + US(32));
    let used = run.channel.used(MS(8));
    assert_eq!(
        (used.requests.unwrap().contention_requests, used.requests.unwrap().granted_minislots),
        (0, 127)
    );
}

/// By the specification modems request anywhere in an interval, and the first MAP after the loop grants that: here at once.
#[test]
fn by_the_specification_requests_are_within_the_interval() {
    let spec = Specification {
        modem_map_us: 0.0,
        cmts_map_us: 0.0,
        map_delivery_us: Some(0.0),
        ..Specification::default()
    };
    let plant = PlantTiming { spec: Some(&spec), ..PlantTiming::DOCUMENTS };
    let mut early = 0;
    for seed in 0..40 {
        let mut run = Run::timed(&fixed(), &plant, &[""], seed);
        run.put(MS(1), 0, 0, 1000);
        run.run(MS(100));
        let seen = run.events(&["request", "grant"]);
        let [(asked, "request", 1010), (granted, "grant", 1010)] = seen.as_slice() else {
            panic!("{seen:?}")
        };
        assert!((MS(1)..MS(4)).contains(asked), "{asked:?}");
        early += u32::from(*asked < MS(2));
        let map = asked.ps().div_ceil(MS(2).ps());
        assert_eq!(*granted, MS(2 * map) + US(32));
        assert_eq!(run.received.len(), 1);
    }
    assert!((8..32).contains(&early), "half of them: {early}");
}

/// The CMTS has a burst at the end of its frame, 22.5 us a symbol and six in a frame: 135 us.
#[test]
fn with_ofdma_a_burst_is_received_with_its_frame() {
    let phy = Phy::Ofdma(Ofdma::default());
    let spec = UpstreamChannel { phy, ..fixed() };
    let mut run = Run::new(&spec, &[""], 1);
    run.put(MS(1), 0, 0, 1000);
    run.run(MS(100));
    assert_eq!(Framing::of(&spec).map_interval(), US(2025));
    let [(sent, _, _)] = run.events(&["sent"])[..] else { panic!() };
    let [(received, _)] = run.received[..] else { panic!() };
    assert_eq!(received, US(135).times(sent.ps().div_ceil(US(135).ps())));
}

/// With 4000 B of tokens at 6 ms and 6000 at 8 ms the grant may be as long as 6000 B wherever it begins, so that it is whole.
#[test]
fn a_grant_anywhere_fits_with_the_tokens_of_its_place() {
    let spec = UpstreamChannel { grant_place: None, ..fixed() };
    for seed in 0..30 {
        let mut run = Run::new(&spec, &[""], seed);
        run.channel.flows[0].mac.shaper.sustained = deep_bucket();
        run.channel.flows[0].mac.shaper.sustained.take(MS(6), 16_000);
        run.put(MS(1), 0, 0, 9000);
        run.run(US(7999));
        let seen = run.events(&["map", "grant"]);
        let [_, _, (_, "map", in_map), (at, "grant", bytes)] = seen.as_slice() else {
            panic!("{seen:?}")
        };
        assert_eq!(in_map, bytes);
        assert!(*at + US(bytes / 4) <= MS(8), "{seen:?}");
    }
}

/// A request is known to the scheduler in the interval before the MAP that grants it.
#[test]
fn requests_are_known_an_interval_before_their_grant() {
    let mut run = Run::new(&fixed(), &[""], 1);
    run.put(MS(1), 0, 0, 1000);
    for (ms, known) in [(3, 0), (5, 1010), (7, 0)] {
        run.run(MS(ms));
        assert_eq!(run.channel.flow(0).known_request(), known, "{ms}");
    }
}

/// In a profile of 2 bits headers and parity take three times what they take in the channel's own, so that a grant that is
/// split around unsolicited ones may not fit: what is left is granted again.
#[test]
fn what_cannot_be_placed_is_granted_again() {
    let phy = Phy::ScQam(ScQam { parity_bytes: 32, ..ScQam::default() });
    let spec = UpstreamChannel { phy, segment_header_bytes: 64, ..fixed() };
    let ugs = "scheduling = { kind = 'ugs', unsolicited_grant_bytes = 238, nominal_grant_interval_us = 500 }";
    let mut taken_back = 0;
    for seed in 0..10 {
        let mut run = Run::new(&spec, &["profile_bits = 2", ugs], seed);
        run.channel.flows[0].mac.shaper.sustained = deep_bucket();
        for number in 0..6 {
            run.put(MS(1), 0, number, 1500);
        }
        run.run(MS(60));
        let seen = run.events(&["map", "grant"]);
        let sum =
            |kind| seen.iter().filter(|(_, k, _)| *k == kind).map(|(.., bytes)| bytes).sum::<u64>();
        assert_eq!(sum("grant"), 6 * 1510);
        taken_back += sum("map") - sum("grant");
        assert_eq!(run.channel.flow(0).counters().granted_bytes, 6 * 1510);
        assert_eq!(run.received.iter().filter(|(_, number)| *number < 6).count(), 6);
        assert!(run.channel.flow(0).mac.flow.is_idle());
    }
    assert!(taken_back > 0);
}

/// Algorithms with updates of their own wake the channel.
#[test]
fn queue_managers_are_updated_on_time() {
    let mut run = Run::new(&fixed(), &["", "queue.law.kind = 'docsis_pie'"], 1);
    let first = run.channel.flow(1).next_update();
    assert!(first > Time::ZERO && first < MS(100));
    assert_eq!(run.channel.next_wake(), first);
    run.run(first);
    let second = run.channel.flow(1).next_update();
    assert!(second > first && run.channel.next_wake() == second);
    // A second modem's flows count from behind those of the first.
    assert_eq!(run.connect("other", &["queue.law.kind = 'docsis_pie'"]), 2);
    assert_eq!(run.channel.next_wake(), first);
}

/// A request in a poll is followed by its grant and then by unsolicited ones, until two in a row are unused.
#[test]
fn activity_brings_unsolicited_grants() {
    let keys = "scheduling = { kind = 'ugs_with_activity_detection', unsolicited_grant_bytes = 238,
                               nominal_grant_interval_us = 2000, idle_grants = 2 }";
    let mut run = Run::new(&fixed(), &[keys], 1);
    run.put(MS(1), 0, 0, 228);
    run.run(MS(40));
    let kinds: Vec<_> =
        run.events(&["request", "grant", "unused"]).iter().map(|(_, kind, _)| *kind).collect();
    assert_eq!(kinds, ["request", "grant", "grant", "unused", "grant", "unused"]);
}
