//! Bins tell their algorithms what they are to know, and do what these say.

use std::sync::{Arc, Mutex};

use super::*;
use crate::aqm::Verdict;
use crate::packet::Ecn;
use crate::queue::NextQueue;
use crate::queue::tests::Bench;
use crate::rng::Rng;

/// Algorithms that log their calls, and what they answer.
#[derive(Clone, Default)]
pub(in crate::queue) struct Spies(Arc<Mutex<(Vec<String>, Verdicts)>>);

#[derive(Clone, Copy, Default)]
struct Verdicts {
    on_arrival: Option<Verdict>,
    on_departure: Option<Verdict>,
    changes: bool,
}

struct Spy(Spies, usize);

impl Spy {
    fn note(&self, what: &str) {
        self.0.0.lock().unwrap().0.push(format!("{} {what}", self.1));
    }

    fn verdicts(&self) -> Verdicts {
        self.0.0.lock().unwrap().1
    }
}

impl Aqm for Spy {
    fn on_arrival(&mut self, packet: &Arrival, line: &DrainRate, _: &mut Rng) -> Verdict {
        let Arrival { size, share, backlog: Count { packets, bytes }, .. } = packet;
        let (bps, buffer) = (line.sustained.bps(), line.buffer_bytes);
        let what = format!(
            "takes {size} behind {packets}, {bytes} B, share {share}, {bps} bps, {buffer} B"
        );
        self.note(&what);
        self.verdicts().on_arrival.unwrap_or(Verdict::Pass)
    }

    fn on_overflow(&mut self) {
        self.note("overflows");
    }

    fn on_shed(&mut self) {
        self.note("sheds");
    }

    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        let Departure { size, sojourn, left, own_left, alone, .. } = packet;
        let what = format!(
            "sends {size} after {} ms, left {}, {} B, of its own {}, {} B{}",
            sojourn.ms_f64(),
            left.packets,
            left.bytes,
            own_left.packets,
            own_left.bytes,
            if *alone { ", alone" } else { "" },
        );
        self.note(&what);
        self.verdicts().on_departure.unwrap_or(Verdict::Pass)
    }

    fn on_empty(&mut self, now: Time) {
        self.note(&format!("is empty at {} ms", now.ms_f64()));
    }

    fn on_map(&mut self, granted: u64, ungranted: u64) {
        self.note(&format!("is granted {granted} of {}", granted + ungranted));
    }

    fn follows_maps(&self) -> bool {
        true
    }

    fn update(&mut self, _: Time, backlog: Count, line: &DrainRate) -> bool {
        let what = format!("is updated with {} B, {} bps", backlog.bytes, line.sustained.bps());
        self.note(&what);
        self.verdicts().changes
    }

    fn gauges(&self, out: &mut Gauges) {
        out.set("spy", "1", self.1 as f64);
    }
}

impl Spies {
    /// Algorithms of these bins from now on.
    pub(in crate::queue) fn within(bins: &mut AqmBins) -> Self {
        let spies = Self::default();
        for (bin, algorithm) in bins.algorithms.iter_mut().enumerate() {
            *algorithm = spies.algorithm(bin);
        }
        spies
    }

    /// One of them.
    pub(in crate::queue) fn algorithm(&self, number: usize) -> AqmAlgorithm {
        AqmAlgorithm::Outside(Box::new(Spy(self.clone(), number)))
    }

    /// The calls since they were asked last.
    pub(in crate::queue) fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().0)
    }

    fn answer(&self, verdicts: Verdicts) {
        self.0.lock().unwrap().1 = verdicts;
    }
}

/// Two bins of weights 1 and 3, with an algorithm each.
fn two_bins(dialect: Dialect) -> (AqmBins, Spies, Bench) {
    let (bench, law) = (Bench::of(4), AqmSpec::default());
    let setting = Setting { dialect, ..bench.setting(&law) };
    let mut bins = AqmBins::new(2, Measure::Bytes, &setting);
    bins.set_weight(1, 3.0);
    let spies = Spies::within(&mut bins);
    (bins, spies, bench)
}

fn one_algorithm() -> (AqmBins, Spies, Bench) {
    let (bench, law) = (Bench::of(4), AqmSpec::default());
    let mut bins = AqmBins::under_one_algorithm(2, &bench.setting(&law));
    let spies = Spies::within(&mut bins);
    (bins, spies, bench)
}

fn fill(bins: &mut AqmBins, bench: &mut Bench, packets: &[(usize, u16)]) {
    for (bin, size) in packets {
        assert!(bins.push(*bin, Packet::datagram(*size), &mut bench.entry()));
    }
}

const THREE: [(usize, u16); 3] = [(0, 1000), (1, 500), (0, 200)];

#[test]
fn an_algorithm_of_a_bin_sees_its_share_of_line_and_buffer() {
    let (mut bins, spies, mut bench) = two_bins(Dialect::Rfc);
    fill(&mut bins, &mut bench, &THREE);
    // Of 8 Mbps and 100 000 B: all of it alone, then 3 / 4 and 1 / 4.
    assert_eq!(
        spies.log(),
        [
            "0 takes 1000 behind 0, 0 B, share 1, 8000000 bps, 100000 B",
            "1 takes 500 behind 0, 0 B, share 1, 6000000 bps, 75000 B",
            "0 takes 200 behind 1, 1000 B, share 1, 2000000 bps, 25000 B",
        ]
    );
    bench.now = Time::from_ms(7);
    for bin in [0, 1] {
        let size = bins.head(bin).map(|head| i64::from(head.size));
        let judged = bins.judge_head(bin, &mut bench.exit());
        assert!(matches!(judged, Head::Passes(passed) if Some(passed) == size));
    }
    assert_eq!(
        spies.log(),
        [
            "0 sends 1000 after 7 ms, left 2, 700 B, of its own 1, 200 B",
            "1 sends 500 after 7 ms, left 2, 1200 B, of its own 0, 0 B, alone",
        ]
    );
    assert_eq!(bins.backlog(), Count { packets: 3, bytes: 1700 }, "they are still there");
}

/// In the ns-2 code each bin looks at the whole line, and at what is left in all.
#[test]
fn an_algorithm_of_a_bin_sees_the_whole_line_in_ns2() {
    let (mut bins, spies, mut bench) = two_bins(Dialect::Ns2);
    fill(&mut bins, &mut bench, &THREE);
    let reported = spies.log();
    assert!(
        reported.iter().all(|reported| reported.ends_with("share 1, 8000000 bps, 100000 B")),
        "{reported:?}"
    );
    let exit = &mut bench.exit();
    let backlog = Count { packets: 2, bytes: 3000 };
    exit.next_queue = NextQueue { sojourn: Time::from_ms(5), backlog };
    bins.judge_head(0, exit);
    assert_eq!(spies.log(), ["0 sends 1000 after 5 ms, left 4, 3700 B, of its own 4, 3700 B"]);
}

/// White 2014 §4.6: the likelihood is that of the whole backlog times the bin's length over the longest.
#[test]
fn one_algorithm_for_all_bins_sees_all_that_waits() {
    let (mut bins, spies, mut bench) = one_algorithm();
    fill(&mut bins, &mut bench, &[(0, 1000), (1, 250), (1, 500), (0, 64)]);
    assert_eq!(
        spies.log(),
        [
            "0 takes 1000 behind 0, 0 B, share 1, 8000000 bps, 100000 B",
            "0 takes 250 behind 1, 1000 B, share 0, 8000000 bps, 100000 B",
            "0 takes 500 behind 2, 1250 B, share 0.25, 8000000 bps, 100000 B",
            "0 takes 64 behind 3, 1750 B, share 1, 8000000 bps, 100000 B",
        ]
    );
    bins.judge_head(1, &mut bench.exit());
    assert_eq!(spies.log(), ["0 sends 250 after 0 ms, left 3, 1564 B, of its own 3, 1564 B"]);
    // It is empty where all bins are, not where one is.
    for bin in [1, 1, 0, 0] {
        assert!(bins.pop(bin).is_some());
        bins.emptied(bin, Time::from_ms(3));
    }
    assert_eq!(spies.log(), ["0 is empty at 3 ms"]);
}

#[test]
fn verdicts_are_carried_out_as_the_packet_allows() {
    let (mut bins, spies, mut bench) = two_bins(Dialect::Rfc);
    let packet = |ecn| Packet { ecn, ..Packet::datagram(100) };
    for (verdict, ecn, is_in, is_marked) in [
        (Verdict::Pass, Ecn::NotEct, true, false),
        (Verdict::Signal, Ecn::NotEct, false, false),
        (Verdict::Signal, Ecn::Ect0, true, true),
        (Verdict::Drop, Ecn::Ect0, false, false),
    ] {
        let (arrives, leaves) = (Some(verdict), Some(verdict));
        spies.answer(Verdicts { on_arrival: arrives, ..Verdicts::default() });
        bench.counts = crate::record::Counted::default();
        assert_eq!(bins.push(0, packet(ecn), &mut bench.entry()), is_in);
        let counts = bench.counts;
        assert_eq!(
            (counts.all.dropped_aqm, counts.all.marked),
            (u64::from(!is_in), u64::from(is_marked))
        );
        assert_eq!(bins.pop(0).map(|packet| packet.ecn == Ecn::Ce), is_in.then_some(is_marked));
        spies.answer(Verdicts { on_departure: leaves, ..Verdicts::default() });
        assert!(bins.push(0, packet(ecn), &mut bench.entry()));
        match bins.judge_head(0, &mut bench.exit()) {
            Head::Passes(size) => assert!(is_in && size == 100),
            Head::Dropped => assert!(!is_in),
            Head::None => unreachable!(),
        }
        let (twice, head) = (bench.counts, bins.pop(0));
        assert_eq!(
            (twice.all.dropped_aqm, twice.all.marked),
            (2 * counts.all.dropped_aqm, 2 * counts.all.marked)
        );
        assert_eq!(head.map(|packet| packet.ecn == Ecn::Ce), is_in.then_some(is_marked));
    }
    assert!(matches!(bins.judge_head(1, &mut bench.exit()), Head::None));
    assert_eq!(spies.log().last().map(String::as_str), Some("1 is empty at 0 ms"));
}

#[test]
fn what_overflows_comes_from_the_longest_bin() {
    let reported = |act: fn(&mut AqmBins, &mut Entry), room: u64| {
        let (mut bins, spies, mut bench) = two_bins(Dialect::Rfc);
        fill(&mut bins, &mut bench, &[(1, 100), (0, 400), (1, 200), (0, 90), (0, 10)]);
        spies.log();
        bench.limit.packets = room;
        act(&mut bins, &mut bench.entry());
        let left = [0, 1].map(|bin| bins.backlog_of(bin).bytes);
        assert_eq!(bench.counts.all.dropped_overflow, 5 - bins.backlog().packets);
        (left, spies.log().join(", "))
    };
    let make_room = |bins: &mut AqmBins, entry: &mut Entry| bins.make_room(64, entry);
    // From the tail, until one more fits: 500 and 300, 490, 400 and 300.
    assert_eq!(reported(make_room, 6), ([500, 300], String::new()));
    assert_eq!(reported(make_room, 4), ([400, 300], "0 overflows, 0 overflows".into()));
    assert_eq!(
        reported(make_room, 1),
        ([0, 0], ["0 overflows"; 3].join(", ") + ", 1 overflows, 1 overflows")
    );
    // From the head, one or a batch at a time, until it holds.
    let one = |bins: &mut AqmBins, entry: &mut Entry| bins.shed(entry, |_| 1);
    let half =
        |bins: &mut AqmBins, entry: &mut Entry| bins.shed(entry, |packets| packets.div_ceil(2));
    assert_eq!(reported(one, 5), ([500, 300], String::new()));
    assert_eq!(reported(one, 4), ([100, 300], "0 sheds".into()));
    assert_eq!(reported(one, 3), ([100, 200], "0 sheds, 1 sheds".into()));
    assert_eq!(reported(half, 4), ([10, 300], "0 sheds, 0 sheds".into()));
    // Until half of the bytes have gone: 400 of 500 are more, 100 of 300 are not.
    let bytes = |bins: &mut AqmBins, entry: &mut Entry| bins.shed_bytes(entry, 64);
    let one_at_most = |bins: &mut AqmBins, entry: &mut Entry| bins.shed_bytes(entry, 1);
    assert_eq!(reported(bytes, 5), ([500, 300], String::new()));
    assert_eq!(reported(bytes, 4), ([100, 300], "0 sheds".into()));
    assert_eq!(reported(bytes, 3), ([100, 0], "0 sheds, 1 sheds, 1 sheds".into()));
    assert_eq!(reported(one_at_most, 3), ([100, 200], "0 sheds, 1 sheds".into()));
}

/// Half of 300 bytes is reached exactly with the second packet of three.
#[test]
fn half_of_the_bytes_is_enough() {
    let (mut bins, _, mut bench) = two_bins(Dialect::Rfc);
    fill(&mut bins, &mut bench, &[(0, 100), (0, 50), (0, 150)]);
    bench.limit.packets = 2;
    bins.shed_bytes(&mut bench.entry(), 64);
    assert_eq!(bins.backlog_of(0).bytes, 150);
    // Of 151 bytes 76 may stay: 75 are gone only with both.
    fill(&mut bins, &mut bench, &[(1, 74), (1, 1), (1, 76), (1, 150)]);
    bins.shed_bytes(&mut bench.entry(), 64);
    assert_eq!([0, 1].map(|bin| bins.backlog_of(bin).packets), [1, 1]);
}

#[test]
fn the_longest_is_shed_one_by_one() {
    let (mut bins, spies, mut bench) = two_bins(Dialect::Rfc);
    fill(&mut bins, &mut bench, &[(1, 100), (0, 400), (1, 200)]);
    spies.log();
    bench.limit.packets = 2;
    assert_eq!(bins.shed_longest(&mut bench.entry()), Some((0, 400)));
    assert_eq!(bins.shed_longest(&mut bench.entry()), None);
    assert_eq!((spies.log(), bench.counts.all.dropped_overflow), (vec!["0 sheds".to_owned()], 1));
    assert_eq!(bins.longest(), Some(1));
    bins.shed_tail(1, &mut bench.entry());
    assert_eq!(bins.head(1).map(|head| head.size), Some(100));
    bins.shed_tail(0, &mut bench.entry());
    assert_eq!(
        (spies.log(), bench.counts.all.dropped_overflow),
        (vec!["1 overflows".to_owned()], 2)
    );
}

/// An algorithm that nothing changed, and for which nothing waits, is asked again when a packet comes.
#[test]
fn algorithms_at_rest_are_not_updated() {
    let (mut bins, spies, mut bench) = two_bins(Dialect::Rfc);
    bins.clock = UpdateClock::new(Time::from_ms(10));
    let line = bench.drain_rate;
    let update = |bins: &mut AqmBins, changes| {
        spies.answer(Verdicts { changes, ..Verdicts::default() });
        spies.log();
        bins.update(bins.next_update(), &line);
        spies.log()
    };
    let idle = ["0 is updated with 0 B, 8000000 bps", "1 is updated with 0 B, 8000000 bps"];
    assert_eq!(update(&mut bins, true), idle);
    assert_eq!(update(&mut bins, false), idle);
    assert_eq!(bins.next_update(), Time::NEVER);
    bench.now = Time::from_ms(35);
    fill(&mut bins, &mut bench, &[(1, 300)]);
    assert_eq!(bins.next_update(), Time::from_ms(40));
    assert_eq!(update(&mut bins, false), ["1 is updated with 300 B, 8000000 bps"]);
    // Its packet moves to the other bin, and so it gets a quarter of the line.
    let moved = bins.pop(1).expect("it has been put there");
    bins.take_over(0, moved);
    let reported = update(&mut bins, false);
    assert_eq!(
        reported,
        ["1 is updated with 0 B, 6000000 bps", "0 is updated with 300 B, 8000000 bps"]
    );
    assert_eq!(update(&mut bins, false), reported[1..]);
    assert_eq!(bins.next_update(), Time::from_ms(70));
}

#[test]
fn maps_are_told_to_all_and_gauges_are_those_of_a_bin() {
    let (mut bins, spies, _) = two_bins(Dialect::Rfc);
    bins.on_map(300, 20);
    assert_eq!(spies.log(), ["0 is granted 300 of 320", "1 is granted 300 of 320"]);
    let shown = |bins: &AqmBins| {
        let (mut own, mut all) = (Gauges::default(), Gauges::default());
        bins.flow_gauges(1, &Rounds::new(2, 700), &mut own);
        bins.gauges(&mut all);
        let of_flow = ["bin", "deficit", "bin_bytes", "spy"].map(|name| own.get(name));
        (of_flow, all.get("spy"))
    };
    assert_eq!(shown(&bins), ([Some(1.0), Some(0.0), Some(0.0), Some(1.0)], None));
    let (mut shared, spies, mut bench) = one_algorithm();
    fill(&mut shared, &mut bench, &[(1, 90)]);
    assert_eq!(shown(&shared), ([Some(1.0), Some(0.0), Some(90.0), None], Some(0.0)));
    shared.grow(5);
    assert_eq!((shared.count(), shared.algorithms.len()), (5, 1));
    drop(spies);
}

/// Bins that come later are as those that were there from the start.
#[test]
fn bins_that_come_later_have_algorithms_of_their_own() {
    let (mut bins, _, _) = two_bins(Dialect::Rfc);
    bins.grow(4);
    assert_eq!((bins.count(), bins.algorithms.len()), (4, 4));
    assert_eq!(
        (bins.at_rest.as_slice(), bins.awake.as_slice()),
        (&[false; 4][..], &[0, 1, 2, 3][..])
    );
    bins.grow(3);
    assert_eq!((bins.count(), bins.algorithms.len()), (4, 4));
    assert_eq!(bins.hashed(7), 3);
}
