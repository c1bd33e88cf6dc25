//! The modem with a channel of its own, event by event: a byte per us and a burst of 5000 B, two bytes per us at the peak,
//! MAPs every 2 ms, and a channel of 100 Mbps, on which 1000 B take 80 us.

use super::super::for_tests::*;
use super::super::timing::PlantTiming;
use super::*;
use sojourn_engine::packet::Direction;

#[path = "modem_ahead_tests.rs"]
mod ahead;

const ALL: [&str; 11] = [
    "arrive",
    "map",
    "request",
    "withhold",
    "defer",
    "grant",
    "dequeue",
    "piece",
    "piece_end",
    "sent",
    "unused",
];

struct Run {
    modem: Modem,
    recorder: Recorder,
    sent: Vec<(Time, u8)>,
}

impl Run {
    fn new(keys: &str, dialect: Dialect, seed: u64) -> Self {
        let spec = upstream(&format!("mac.grant_spread_percent = 0\n{keys}"));
        Self::of(Modem::new(&spec, &ServiceFlowContext::lone(dialect, seed)))
    }

    fn of(modem: Modem) -> Self {
        Self { modem, recorder: tracing(), sent: Vec::new() }
    }

    fn put(&mut self, at: Time, numbers: std::ops::Range<u8>, size: u16) {
        self.run(at);
        numbers.for_each(|n| self.modem.accept(at, packet(n, size), &mut self.recorder));
    }

    fn run(&mut self, until: Time) {
        while self.modem.next_wake() <= until {
            let now = self.modem.next_wake();
            let packet = self.modem.wake(now, &mut self.recorder);
            self.sent.extend(packet.map(|packet| (now, packet.number[0])));
        }
    }

    /// Packets that the sustained rate held back.
    fn delayed(&self) -> u64 {
        self.recorder.service_flows().get(0, Direction::Up, 0).delayed_packets
    }

    fn events(&mut self, kinds: &[&str]) -> Vec<(Time, &'static str, u64)> {
        events_of(&mut self.recorder, kinds)
    }
}

/// The grant of 1000 B may begin anywhere in the interval where it fits at the peak rate, 500 us.
#[test]
fn a_packet_alone_is_requested_granted_and_sent() {
    let mut starts = Vec::new();
    for seed in 0..40 {
        let mut run = Run::new("", Dialect::Rfc, seed);
        assert_eq!(run.modem.next_wake(), Time::NEVER);
        run.put(MS(1), 0..1, 1000);
        run.run(MS(100));
        let seen = run.events(&ALL);
        let start = seen[5].0;
        let want = [
            (MS(1), "arrive", 1000),
            (MS(2), "map", 0),
            (MS(2), "request", 1000),
            (MS(4), "map", 0),
            (MS(6), "map", 1000),
            (start, "grant", 1000),
            (start, "dequeue", 1000),
            (start, "piece", 1000),
            (start + US(80), "sent", 1000),
            (MS(8), "map", 0),
        ];
        assert_eq!(seen, want);
        assert_eq!(
            (run.sent.as_slice(), run.modem.inside().packets),
            ([(start + US(80), 0)].as_slice(), 0)
        );
        assert_eq!(run.modem.received_at(MS(7)), MS(7));
        starts.push(start.since(MS(6)));
        assert_eq!(run.delayed(), 0);
    }
    let (least, most) = (*starts.iter().min().unwrap(), *starts.iter().max().unwrap());
    assert!(least < US(150) && (US(1350)..=US(1500)).contains(&most), "{least:?} {most:?}");
}

/// By the end of the interval in which a request is granted, 6 ms on, 5000 + 6000 B conform. A MAP grants 4000 B, what the
/// peak rate brings, which are sent when there are tokens: at the peak rate 1522 B at once.
#[test]
fn a_modem_requests_what_will_conform() {
    let mut run = Run::new("", Dialect::Rfc, 1);
    run.put(MS(1), 0..12, 1000);
    run.run(MS(2));
    assert!(run.modem.mac.shaper.held(&packet(0, 0)), "the rate withheld something");
    let seen = run.events(&["request", "withhold"]);
    assert_eq!(seen, [(MS(2), "request", 11_000), (MS(2), "withhold", 1000)]);
    let mut run = Run::new("", Dialect::Rfc, 1);
    run.put(MS(1), 0..12, 1000);
    run.run(MS(9));
    let seen = run.events(&["map", "withhold"]);
    let maps: Vec<_> =
        seen.iter().filter(|(_, kind, _)| *kind == "map").map(|(.., bytes)| *bytes).collect();
    assert_eq!(maps, [0, 0, 4000, 4000]);
    let dequeued: Vec<_> = run.sent.iter().map(|(at, _)| *at).collect();
    assert!(run.delayed() > 0);
    // The second packet lacks 478 B and gets 160 while the first is sent: it waits 159 us for the others.
    assert_eq!(dequeued[1] - dequeued[0], US(80 + 159));
    assert_eq!(dequeued[2] - dequeued[1], US(500));
    assert!(run.sent.len() >= 4);
}

/// ns-2: a request takes tokens of the 5000, and what the peak rate brings since the last one, 4000 B in an interval; the
/// next MAP is known as soon as the burst that carries the next request has begun.
#[test]
fn ns2_shapes_requests() {
    let mut run = Run::new("", Dialect::Ns2, 1);
    run.put(MS(1), 0..7, 1000);
    run.run(MS(20));
    let seen = run.events(&["request", "withhold", "map"]);
    let want = [
        (MS(2), "map", 0),
        (MS(2), "request", 4000),
        (MS(2), "withhold", 3000),
        (MS(4), "map", 0),
        (MS(4), "request", 3000), // 1000 are left, and 2000 have come
        (MS(6), "map", 4000),
        (MS(8), "map", 3000),
        (MS(10), "map", 0),
    ];
    assert_eq!(seen, want);
    let places: Vec<_> = run.sent.iter().map(|(at, _)| at.ps() / MS(2).ps()).collect();
    assert_eq!(places, [3, 3, 3, 3, 4, 4, 4]);
    // Each burst is sent without gaps.
    assert!(run.sent.windows(2).filter(|pair| pair[1].0 - pair[0].0 == US(80)).count() >= 5);
}

/// A packet that comes while the burst of one before it waits is requested with that burst.
#[test]
fn a_burst_carries_the_next_request() {
    let mut run = Run::new("", Dialect::Rfc, 1);
    run.put(MS(1), 0..1, 1000);
    run.put(MS(5), 1..2, 500);
    run.run(MS(100));
    let seen = run.events(&["request", "grant"]);
    let [first, grant, second, last] = seen.as_slice() else { panic!("{seen:?}") };
    assert_eq!((*first, grant.1, grant.2), ((MS(2), "request", 1000), "grant", 1000));
    assert_eq!(*second, (grant.0, "request", 500));
    assert!((MS(6)..MS(8)).contains(&grant.0) && (MS(10)..MS(12)).contains(&last.0));
    assert_eq!(run.sent.len(), 2);
}

/// Unsolicited grants come every 10 ms; who has nothing to send wastes them, and nothing else is requested.
#[test]
fn unsolicited_grants_come_without_requests() {
    let keys = "scheduling = { kind = 'ugs', unsolicited_grant_bytes = 228, nominal_grant_interval_us = 10_000 }";
    let mut run = Run::new(keys, Dialect::Rfc, 1);
    run.run(US(9_990));
    run.put(MS(10), 0..1, 228);
    run.put(MS(10), 1..2, 300);
    run.run(MS(40));
    let seen = run.events(&ALL);
    let first = seen[0].0;
    let (second, third, fourth) = (first + MS(10), first + MS(20), first + MS(30));
    let took = |bytes: u64| Time::from_ps(bytes * 80_000);
    let want = [
        (first, "grant", 228),
        (first, "unused", 228),
        (MS(10), "arrive", 228),
        (MS(10), "arrive", 300),
        (second, "grant", 228),
        (second, "dequeue", 228),
        (second, "piece", 228),
        (second + took(228), "sent", 228),
        (third, "grant", 228),
        (third, "dequeue", 300),
        (third, "piece", 228),
        (third + took(228), "piece_end", 228),
        (fourth, "grant", 228),
        (fourth, "piece", 72),
        (fourth + took(72), "sent", 300),
        (fourth + took(72), "unused", 156),
    ];
    assert_eq!(seen, want);
    assert_eq!((run.modem.counters().grants, run.modem.counters().requests), (4, 0));
    // Silence wastes a grant that is needed.
    let silent = "stalls = [{ start_s = 0, length_s = 0.03 }]\n";
    let mut run = Run::new(&format!("{silent}{keys}"), Dialect::Rfc, 1);
    run.put(US(1), 0..1, 228);
    run.run(MS(40));
    assert_eq!(run.modem.counters().unused_bytes, 3 * 228);
    assert_eq!(run.sent.len(), 1);
}

/// A poll brings a request, and its grant comes two MAPs later; no poll is answered without anything to request.
#[test]
fn polls_are_answered_when_something_waits() {
    let keys = "scheduling = { kind = 'real_time_polling', nominal_polling_interval_us = 10_000 }";
    let mut run = Run::new(keys, Dialect::Rfc, 1);
    run.put(MS(21), 0..1, 1000);
    run.run(MS(60));
    let seen = run.events(&["map", "request", "grant", "sent"]);
    let asked = seen[0].0;
    let map = asked.ps() / MS(2).ps();
    let want = [
        (asked, "request", 1000),
        (MS(2 * map + 2), "map", 0),
        (MS(2 * map + 4), "map", 1000),
        (seen[3].0, "grant", 1000),
        (seen[3].0 + US(80), "sent", 1000),
        (MS(2 * map + 6), "map", 0),
    ];
    assert_eq!(seen, want);
    assert!((MS(21)..MS(31)).contains(&asked));
}

/// With activity detection a request is followed by its grant and, 10 ms later, by unsolicited ones until one is unused.
#[test]
fn activity_brings_grants_and_idleness_polls() {
    let keys = "scheduling = { kind = 'ugs_with_activity_detection', unsolicited_grant_bytes = 228,
                               nominal_grant_interval_us = 10_000, idle_grants = 1 }";
    let mut run = Run::new(keys, Dialect::Rfc, 1);
    run.put(MS(1), 0..1, 228);
    run.run(MS(19));
    run.put(MS(19), 1..2, 228);
    run.run(MS(100));
    let seen = run.events(&["request", "grant", "unused"]);
    let asked = seen[0].0;
    // The MAP that grants it, at 8 ms, and 10 ms later an unsolicited grant that is unused; the packet at 19 ms waits for
    // the first poll, 10 ms after that.
    let granted = MS(2 * (asked.ps() / MS(2).ps()) + 4);
    let (idle, again) = (granted + MS(10), granted + MS(20));
    let within = |at: Time, map: Time| at >= map && at < map + MS(2);
    assert!(granted == MS(8) && within(seen[1].0, granted) && within(seen[5].0, again + MS(4)));
    let want = [
        (asked, "request", 228),
        (seen[1].0, "grant", 228),
        (idle, "grant", 228),
        (idle, "unused", 228),
        (again, "request", 228),
        (seen[5].0, "grant", 228),
        (again + MS(14), "grant", 228),
        (again + MS(14), "unused", 228),
    ];
    assert_eq!(seen, want);
}

/// A burst must hold what the sustained rate brings in an interval, 2000 B, where it limits requests.
#[test]
fn a_burst_too_small_for_requests_is_warned_of() {
    for (keys, dialect, warns) in [
        ("sustained_mbps = 8\nburst_bytes = 1999", Dialect::Ns2, true),
        ("sustained_mbps = 8\nburst_bytes = 2000", Dialect::Ns2, false),
        ("sustained_mbps = 8\nburst_bytes = 1999", Dialect::Rfc, false),
    ] {
        let spec: Upstream = toml::from_str(keys).unwrap();
        let modem = Modem::new(&spec, &ServiceFlowContext::lone(dialect, 1));
        assert_eq!(modem.warnings().count(), usize::from(warns));
    }
}

/// 100 Mbps, or twice the peak rate if that is more, or what the scenario says. What is free is the peak rate.
#[test]
fn the_channel_is_twice_as_fast_as_the_peak_rate() {
    for (keys, mbps) in [
        ("sustained_mbps = 8\npeak_mbps = 50", 100.0),
        ("sustained_mbps = 8\npeak_mbps = 51", 102.0),
        ("sustained_mbps = 8\npeak_mbps = 51\nmac.channel_mbps = 60", 60.0),
    ] {
        let spec: Upstream = toml::from_str(keys).unwrap();
        assert_eq!(channel_rate(&spec), BitRate::from_mbps(mbps));
        let modem = Modem::new(&spec, &context());
        assert!((modem.channel_mbps(MS(1)) - spec.peak_mbps.unwrap()).abs() < 0.1);
    }
}

/// The specification's loop without a cable: requests are made where frames of 135 us begin, and a MAP every 945 us grants what
/// was requested 2 * 135 + 200 + 112.5 + 600 + 157.5 = 1340 us before. The CMTS has a burst two frames after its own.
#[test]
fn by_the_specification_requests_are_in_frames() {
    let spec = Specification::default();
    let timing = PlantTiming { spec: Some(&spec), map_delivery: None, propagation: Time::ZERO };
    let mut frames = Vec::new();
    for seed in 0..40 {
        let service = upstream("mac = { map_interval_ms = 0.945, grant_spread_percent = 0 }");
        let context = ServiceFlowContext { timing, ..ServiceFlowContext::lone(Dialect::Rfc, seed) };
        let mut run = Run::of(Modem::new(&service, &context));
        run.put(MS(1), 0..1, 1000);
        run.run(MS(100));
        let seen = run.events(&["request", "grant"]);
        let [(asked, "request", 1000), (granted, "grant", 1000)] = seen.as_slice() else {
            panic!("{seen:?}")
        };
        let (frame, map) = (US(135).ps(), US(945).ps());
        assert_eq!(asked.ps() % frame, 0);
        assert!((MS(1)..US(3 * 945)).contains(asked), "{asked:?}");
        let by = (*asked + US(1340)).ps().div_ceil(map) * map;
        assert!((by..by + map).contains(&granted.ps()), "{asked:?} {granted:?}");
        frames.push(asked.ps() / frame);
        let sent = run.sent[0].0;
        assert_eq!(run.modem.received_at(sent).ps(), (sent.ps().div_ceil(frame) + 2) * frame);
    }
    // From the eighth frame, which begins at 1080 us, to the 20th; those of the first interval have a seventh each.
    frames.sort_unstable();
    assert!(frames[0] == 8 && *frames.last().unwrap() > 13, "{frames:?}");
}

const AGGREGATE: &str = "queue.scheduler.kind = 'low_latency'\n";

impl Run {
    fn put_low(&mut self, at: Time, number: u8, size: u16) {
        self.run(at);
        self.modem.accept(at, low_latency(packet(number, size)), &mut self.recorder);
    }
}

/// Both flows of an aggregate request together, and the low-latency one sends first. The other requests beside its burst.
#[test]
fn an_aggregate_requests_for_both_of_its_flows() {
    let mut run = Run::new(AGGREGATE, Dialect::Rfc, 1);
    run.put(MS(1), 0..1, 1000);
    run.put_low(MS(1), 1, 200);
    run.run(MS(20));
    let seen = run.events(&["request", "map", "grant", "dequeue", "piece"]);
    let start = seen[4].0;
    let want = [
        (MS(2), "map", 0),
        (MS(2), "request", 1200),
        (MS(4), "map", 0),
        (MS(6), "map", 1200),
        (start, "grant", 1200),
        (start, "dequeue", 200),
        (start, "piece", 200),
        (start + US(16), "dequeue", 1000),
        (start + US(16), "piece", 1000),
        (MS(8), "map", 0),
    ];
    assert_eq!(seen, want);

    let mut run = Run::new(AGGREGATE, Dialect::Rfc, 1);
    run.put_low(MS(1), 0, 200);
    run.put(MS(5), 1..2, 1000);
    run.run(MS(20));
    assert_eq!(run.events(&["request"]), [(MS(2), "request", 200), (MS(6), "request", 1000)]);
    assert_eq!(run.sent.len(), 2);
}

/// Its grants take the tokens: 1522 B and what 2 ms bring at the peak rate, 4000 B, of 8000. What a queue manager leaves unused
/// comes back.
#[test]
fn grants_of_an_aggregate_take_its_tokens() {
    let keys = format!(
        "{AGGREGATE}burst_bytes = 5000\ncongestion.steps = [{{ for_s = 1000, mbps = 100 }}]"
    );
    let spec: Upstream = toml::from_str(&format!(
        "sustained_mbps = 8\npeak_mbps = 16\n{keys}\ncongestion.grant_spread_percent = 0"
    ))
    .unwrap();
    let mut run = Run::of(Modem::new(&spec, &context()));
    run.put(MS(1), 0..8, 1000);
    run.run(MS(20));
    let seen = run.events(&["request", "map", "defer"]);
    let want = [
        (MS(2), "map", 0),
        (MS(2), "request", 8000),
        (MS(4), "map", 0),
        (MS(6), "map", 5522),
        (MS(6), "defer", 2478),
    ];
    assert_eq!(seen[..5], want);
    // Of the sustained rate 5000 + 2000 - 5522 were left, and 2000 have come; of the peak rate 4000.
    assert_eq!(seen[5], (MS(8), "map", 2478));
    assert_eq!(run.sent.len(), 8);
}

/// 4 Mbps are 1000 B in each MAP interval, from its start on, whether they are needed or not. What they do not hold of the
/// low-latency flow is requested with them, and the classic flow requests for itself.
#[test]
fn proactive_grants_begin_with_the_map_interval() {
    let keys = format!(
        "{AGGREGATE}scheduling = {{ kind = 'proactive_grants', guaranteed_grant_rate_mbps = 4 }}"
    );
    let mut run = Run::new(&keys, Dialect::Rfc, 1);
    assert_eq!(run.modem.next_wake(), Time::ZERO);
    (0..2).for_each(|n| run.put_low(MS(1), n, 800));
    run.put(MS(1), 2..3, 500);
    run.run(US(6500));
    let seen = run.events(&["grant", "request", "piece", "unused", "map"]);
    let us = |n: u64| Time::from_ps(n * 80_000);
    let want = [
        (MS(0), "grant", 1000),
        (MS(0), "unused", 1000),
        (MS(2), "map", 0),
        (MS(2), "request", 500),
        (MS(2), "grant", 1000),
        (MS(2), "request", 600),
        (MS(2), "piece", 800),
        (MS(2) + us(800), "piece", 200),
        (MS(4), "map", 0),
        (MS(4), "grant", 1000),
        (MS(4), "piece", 600),
        (MS(4) + us(600), "unused", 400),
        (MS(6), "map", 1100),
        (MS(6), "grant", 1000),
    ];
    assert_eq!(seen[..want.len()], want);
    // Unasked and requested bytes are one block, of which the low-latency flow needs none.
    assert_eq!(run.sent.len(), 3);
    let counters = run.modem.counters();
    assert_eq!(counters.unused_proactive_bytes, 1000 + 400 + 1000);
    assert_eq!((counters.requests, counters.unused_bytes), (2, 1000 + 400 + 1000 + 600));
}

/// A burst that extends into the next interval carries a request at its start.
#[test]
fn a_burst_of_two_intervals_requests_at_the_start_of_the_second() {
    let mut run = Run::new("mac.channel_mbps = 4", Dialect::Rfc, 1); // half a byte per us
    run.put(MS(1), 0..2, 1000);
    run.put(US(7_500), 2..3, 700);
    run.run(MS(30));
    let seen = run.events(&["request", "grant"]);
    assert_eq!(seen[0], (MS(2), "request", 2000));
    // The grant of 2000 B takes 4 ms from 6 ms on; the next request is made at 8 ms.
    assert_eq!((seen[1], seen[2]), ((MS(6), "grant", 2000), (MS(8), "request", 700)));
    assert_eq!(run.sent[..2], [(MS(8), 0), (MS(10), 1)]);
}

/// ns-2: 1.5 kbps bring 0.375 B in a MAP interval, and nothing is lost of them.
#[test]
fn fractions_of_a_byte_add_up() {
    let spec = "sustained_mbps = 0.0015\npeak_mbps = 0.0015\nburst_bytes = 5000\nmac.grant_spread_percent = 0";
    let spec: Upstream = toml::from_str(spec).unwrap();
    let context = ServiceFlowContext::lone(Dialect::Ns2, 1);
    let mut run = Run::of(Modem::new(&spec, &context));
    run.put(MS(1), 0..1, 200);
    run.run(Time::from_s(1));
    let seen = run.events(&["request", "map"]);
    let bytes =
        |kind| seen.iter().filter(|(_, k, _)| *k == kind).map(|(.., bytes)| bytes).sum::<u64>();
    // In a second 187.5 B, of which the MAPs trail by up to two intervals and their own fraction.
    assert!((186..=187).contains(&bytes("request")), "{}", bytes("request"));
    assert!((184..=187).contains(&bytes("map")), "{}", bytes("map"));
}

/// An algorithm with periodic updates learns of MAPs, also of those that are skipped; samples show the channel.
#[test]
fn updates_and_samples() {
    let mut run = Run::new("queue.law.kind = 'docsis_pie'", Dialect::Rfc, 1);
    let first = run.modem.next_wake();
    assert!(first > Time::ZERO && first < MS(100) && run.modem.skips_maps());
    run.run(first);
    assert!(run.modem.next_wake() > first);
    run.modem.sample(MS(50));
    let (_, shown) =
        run.modem.queue().series().find(|(_, of)| of.metric == "channel_rate").unwrap();
    assert_eq!(shown.values, [16.0]);
}

/// A silent modem is granted nothing; the MAP after the stall grants what was requested before.
#[test]
fn a_stalled_modem_is_granted_later() {
    let mut run = Run::new("stalls = [{ start_s = 0.005, length_s = 0.002 }]", Dialect::Rfc, 1);
    run.put(MS(1), 0..1, 1000);
    run.run(MS(9));
    let maps = [(2, 0), (4, 0), (6, 0), (8, 1000)].map(|(ms, bytes)| (MS(ms), "map", bytes));
    assert_eq!(run.events(&["map"]), maps);
}

/// The CMTS puts back the tokens of an aggregate's grant that is not used.
#[test]
fn unused_grants_of_an_aggregate_give_tokens_back() {
    for (keys, want) in [(AGGREGATE, 2500.0), ("", 2000.0)] {
        let Run { mut modem, mut recorder, .. } = Run::new(keys, Dialect::Rfc, 1);
        modem.mac.shaper.take(MS(1), 3000);
        modem.mac.flow.begin(Shares { low: 0, classic: 500 });
        assert!(matches!(modem.mac.next_piece(MS(1), &mut recorder), Next::Nothing));
        assert_eq!(modem.mac.shaper.sustained.tokens(MS(1)), want);
        assert_eq!(modem.counters().unused_bytes, 500);
    }
}
