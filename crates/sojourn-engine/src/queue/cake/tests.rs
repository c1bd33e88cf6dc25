//! CAKE by hand.

use super::*;
use crate::packet::{DATAGRAM, Ecn, Flags, Segment};
use crate::queue::tests::Bench;

const MS: i64 = 1_000_000;

/// One tin unless these say otherwise.
fn plain() -> Parameters {
    Parameters { diffserv: Diffserv::BestEffort, ..Parameters::default() }
}

/// A byte takes 1 us.
fn shaped() -> Parameters {
    Parameters { bandwidth_mbps: Some(8.0), ..plain() }
}

fn cake(parameters: &Parameters) -> (Cake, Bench) {
    let bench = Bench::of(1000);
    let Scheduler::Cake(cake) = bench.start(parameters) else { unreachable!() };
    (cake, bench)
}

/// A packet of 1000 bytes of the flow of this hash.
fn of(tuple: u32) -> Packet {
    Packet { tuple, ..Packet::datagram(1000) }
}

fn put(cake: &mut Cake, bench: &mut Bench, tuples: &[u32]) {
    for tuple in tuples {
        cake.enqueue(Packet { queued_at: bench.now, ..of(*tuple) }, &mut bench.entry());
    }
}

fn take(cake: &mut Cake, bench: &mut Bench, packets: usize) -> Vec<u32> {
    (0..packets).map_while(|_| cake.dequeue(&mut bench.exit())).map(|packet| packet.tuple).collect()
}

fn counts(cake: &Cake) -> (u32, u32) {
    (cake.tins[0].sparse, cake.tins[0].bulk)
}

#[test]
fn the_shaper_counts_what_the_link_behind_adds() {
    let framing = |framing| Parameters { framing, ..plain() };
    let overhead = |overhead_bytes, mpu_bytes| Parameters { overhead_bytes, mpu_bytes, ..plain() };
    for (parameters, size, counted) in [
        (overhead(18, 64), 1500, 1518),
        (overhead(18, 64), 40, 64),
        (overhead(18, 64), 47, 65),
        (overhead(-20, 0), 100, 80),
        (overhead(-64, 0), 50, 0),
        // 48 bytes in a cell of 53; a byte more for each 64.
        (framing(Framing::Atm), 48, 53),
        (framing(Framing::Atm), 49, 106),
        (framing(Framing::Ptm), 64, 65),
        (framing(Framing::Ptm), 65, 67),
        (framing(Framing::Noatm), 65, 65),
    ] {
        assert_eq!(parameters.counted_bytes(size), counted, "{parameters:?} {size}");
    }
}

/// Four intervals of 100 ms at the rate, from 4 MiB to 10 240 full packets, which it is without a rate.
#[test]
fn memory_is_what_four_intervals_fill() {
    let of = |bandwidth_mbps, memlimit_bytes| {
        let parameters = Parameters { bandwidth_mbps, memlimit_bytes, ..plain() };
        (
            parameters.memory(),
            parameters.limits_itself(),
            parameters.shaper().map(|shaper| shaper.1),
        )
    };
    assert_eq!(of(None, None), (15_503_360, false, None));
    assert_eq!(of(Some(8.0), None), (4_194_304, true, Some(8.0)));
    assert_eq!(of(Some(100.0), None), (5_000_000, true, Some(100.0)));
    assert_eq!(of(Some(1000.0), None), (15_503_360, true, Some(1000.0)));
    assert_eq!(of(None, Some(20_000)), (20_000, true, None));
    assert_eq!([64, 128, 129, 640, 641, 1514].map(truesize), [768, 768, 1280, 1280, 2304, 2304]);
}

#[test]
fn isolation_says_whose_flows_count() {
    use FlowIsolation::{
        Dsthost, DualDsthost, DualSrchost, Flowblind, Flows, Hosts, Srchost, TripleIsolate,
    };
    for (flow_isolation, counts) in [
        (Flowblind, [false, false]),
        (Srchost, [false, false]),
        (Dsthost, [false, false]),
        (Hosts, [false, false]),
        (Flows, [false, false]),
        (DualSrchost, [true, false]),
        (DualDsthost, [false, true]),
        (TripleIsolate, [true, true]),
    ] {
        assert_eq!(flow_isolation.counts(), counts);
    }
    let bins = |diffserv| Parameters { diffserv, ..plain() }.bins();
    assert_eq!(
        [bins(Diffserv::BestEffort), bins(Diffserv::Diffserv3)],
        [(1024, 1024), (3072, 3072)]
    );
    let threshold = plain().threshold(BitRate::from_bps(1)).unwrap();
    assert_eq!((threshold.key, threshold.ms), ("rtt_ms", 5.0));
}

/// Target and interval follow the round trip, and the target is 1 us at least.
#[test]
fn the_target_is_a_twentieth_of_the_round_trip() {
    for (rtt_ms, target, interval) in
        [(100.0, 5_000_000, 100_000_000), (0.1, 5000, 100_000), (0.01, 1000, 10_000)]
    {
        let (cake, _) = cake(&Parameters { rtt_ms, ..plain() });
        let terms = cake.tins[0].terms;
        assert_eq!((terms.target, terms.interval), (target, interval));
    }
}

#[test]
fn devices_of_homes_and_servers_are_hosts() {
    let (mut cake, _) = cake(&plain());
    cake.set_flow_classifier(&FlowTable::connections(), &["a", "b", "c"]);
    let packet = |direction| Packet { home: 2, traffic: 1, server: 5, direction, ..of(1) };
    // Three devices a home: the second one of the third home.
    assert_eq!(cake.hosts_of(&packet(Direction::Up)), [7, 5]);
    assert_eq!(cake.hosts_of(&packet(Direction::Down)), [5, 7]);
    cake.set_flow_classifier(&FlowTable::connections(), &[]);
    assert_eq!(cake.hosts_of(&packet(Direction::Up)), [3, 5]);
}

#[test]
fn flows_of_one_queue_take_free_ones_of_their_set() {
    let (mut cake, mut bench) = cake(&plain());
    let mut place = |cake: &mut Cake, tuple| {
        let flow = cake.place(0, &of(tuple));
        put(cake, &mut bench, &[tuple]);
        flow
    };
    // 10 is in the set of 8 to 15, of which the ninth flow finds none free and joins the first.
    let found: Vec<_> = (0..9).map(|number| place(&mut cake, 10 + 1024 * number)).collect();
    assert_eq!(found, [10, 11, 12, 13, 14, 15, 8, 9, 10]);
    // The queue has the tag of the last that came, and so the first flow comes to it as another one.
    assert_eq!([place(&mut cake, 10 + 8 * 1024), place(&mut cake, 10 + 3 * 1024)], [10, 13]);
    assert_eq!(cake.flows[10].tag, 10 + 8 * 1024);
    // The last of a set goes on with its first.
    assert_eq!([0, 1, 2].map(|number| place(&mut cake, 23 + 1024 * number)), [23, 16, 17]);
    let (mut tins, _) = self::cake(&Parameters::default());
    assert_eq!([1, 2].map(|tin| tins.place(tin, &of(10))), [1024 + 10, 2048 + 10]);
}

#[test]
fn what_is_not_isolated_shares_a_queue() {
    use FlowIsolation::{Dsthost, Flowblind, Flows, Hosts, Srchost};
    let packet = || Packet { traffic: 3, server: 4, ..of(900) };
    // 3 times 0x9e3779b9 is 0xdaa66d2b in 32 bits, of which 25 are left.
    let pair = (0xdaa6_6d2b_u32 >> 7) ^ 4;
    for (flow_isolation, tag) in
        [(Flowblind, 0), (Srchost, 3), (Dsthost, 4), (Flows, 900), (Hosts, pair)]
    {
        let (mut cake, _) = cake(&Parameters { flow_isolation, ..plain() });
        let flow = cake.place(0, &packet());
        assert_eq!((flow, cake.flows[flow].tag), (tag as usize % 1024, tag));
        assert_eq!(cake.flows[flow].hosts, [3, 4]);
    }
}

/// Of 1514 bytes a flow has its part of 1 / load, in 65 536ths; the first draw of SplitMix64 from 1 adds 0.567.
#[test]
fn a_flow_of_a_host_with_many_bulk_flows_has_a_smaller_quantum() {
    use FlowIsolation::{DualDsthost, DualSrchost, Flows, TripleIsolate};
    for (flow_isolation, quantum) in
        [(Flows, 1514), (DualSrchost, 505), (DualDsthost, 216), (TripleIsolate, 216)]
    {
        let (mut cake, _) = cake(&Parameters { flow_isolation, ..plain() });
        cake.flows[5].hosts = [2, 1];
        // No host has been counted yet.
        assert_eq!(cake.quantum(5, &mut Rng::split_mix(1)), 1514);
        // Three bulk flows of the sender, seven of the receiver.
        cake.hosts = [vec![vec![9, 9, 3]], vec![vec![9, 7]]];
        assert_eq!(cake.quantum(5, &mut Rng::split_mix(1)), quantum, "{flow_isolation:?}");
    }
}

#[test]
fn bulk_flows_are_counted_for_their_hosts() {
    let (mut cake, _) = cake(&plain());
    cake.flows[5].hosts = [2, 0];
    let none = [vec![], vec![]];
    for (set, sparse, bulk, hosts) in [
        (Set::Sparse, 1, 0, none),
        (Set::Bulk, 0, 1, [vec![0, 0, 1], vec![1]]),
        (Set::Bulk, 0, 1, [vec![0, 0, 1], vec![1]]),
        (Set::SparseWait, 1, 0, [vec![0, 0, 0], vec![0]]),
        (Set::Decaying, 0, 0, [vec![0, 0, 0], vec![0]]),
        (Set::None, 0, 0, [vec![0, 0, 0], vec![0]]),
    ] {
        cake.move_to(5, set);
        assert_eq!(counts(&cake), (sparse, bulk), "{set:?}");
        assert_eq!(cake.hosts.clone().map(|mut side| side.remove(0)), hosts, "{set:?}");
    }
    // A flow that takes over a bulk queue brings its hosts.
    cake.move_to(10, Set::Bulk);
    (8..16).for_each(|flow| cake.flows[flow].tag = 1);
    (8..16).filter(|flow| *flow != 10).for_each(|flow| cake.flows[flow].set = Set::Sparse);
    let packet = Packet { traffic: 0, server: 3, ..of(10) };
    assert_eq!(cake.place(0, &packet), 10);
    assert_eq!(cake.hosts, [vec![vec![1, 0, 0]], vec![vec![0, 0, 0, 1]]]);
}

/// With packets of 1000 bytes and a quantum of 1514 or a byte less: 1514 - 2000 + 1514 = 1028, two more, and
/// 1028 - 2000 + 1514 = 542, one.
#[test]
fn flows_take_turns_and_new_ones_go_first() {
    let flows = Parameters { flow_isolation: FlowIsolation::Flows, ..plain() };
    let (mut cake, mut bench) = cake(&flows);
    put(&mut cake, &mut bench, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    assert_eq!(counts(&cake), (2, 0));
    assert_eq!(take(&mut cake, &mut bench, 4), [1, 1, 2, 2]);
    assert_eq!(
        counts(&cake),
        (1, 1),
        "flow 2 is found to have used up its quantum with the next packet"
    );
    put(&mut cake, &mut bench, &[3]);
    assert_eq!(take(&mut cake, &mut bench, 1), [3]);
    assert_eq!(counts(&cake), (1, 2));
    let mut shown = Gauges::default();
    cake.gauges(&mut shown);
    assert_eq!([shown.get("sparse_flows"), shown.get("bulk_flows")], [Some(1.0), Some(2.0)]);
    assert_eq!(take(&mut cake, &mut bench, 8), [1, 1, 2, 2, 1, 2, 1, 2]);
    assert_eq!((cake.memory, cake.tins[0].backlog_bytes, cake.backlog()), (0, 0, Count::default()));
}

/// Found empty, a flow is remembered for an interval; when it comes back it is as new as any.
#[test]
fn an_empty_flow_is_remembered_until_its_law_rests() {
    let (mut cake, mut bench) = cake(&plain());
    put(&mut cake, &mut bench, &[1, 2]);
    assert_eq!(take(&mut cake, &mut bench, 2), [1, 2]);
    assert_eq!([1, 2].map(|flow| cake.flows[flow].set), [Set::Decaying, Set::Sparse]);
    put(&mut cake, &mut bench, &[1]);
    assert_eq!((cake.flows[1].set, counts(&cake)), (Set::Sparse, (2, 0)));
    // Flow 2 is before it, and found empty.
    assert_eq!(take(&mut cake, &mut bench, 1), [1]);
    assert_eq!((cake.flows[2].set, counts(&cake)), (Set::Decaying, (1, 0)));
    // After an interval it is forgotten, with the first packet that is asked for.
    for (ms, set) in [(99, Set::Decaying), (100, Set::None)] {
        bench.now = Time::from_ms(ms);
        put(&mut cake, &mut bench, &[3]);
        assert_eq!(take(&mut cake, &mut bench, 1), [3]);
        assert_eq!(cake.flows[2].set, set, "{ms}");
    }
}

/// Eight bulk flows of one host fill the places that a ninth could have: it takes the first of them over, and its host too.
#[test]
fn a_flow_that_takes_over_a_place_takes_its_host_along() {
    let (mut cake, _) = cake(&plain());
    cake.entries = 2;
    for flow in 0..WAYS {
        (cake.flows[flow].tag, cake.flows[flow].hosts) = (flow as u32, [0, 0]);
        cake.move_to(flow, Set::Bulk);
    }
    assert_eq!((cake.hosts[0][0][0], cake.tins[0].bulk), (8, 8));
    let packet = Packet { traffic: 1, ..of(QUEUES as u32) };
    assert_eq!(cake.place(0, &packet), 0);
    assert_eq!((cake.hosts[0][0].clone(), cake.hosts[1][0].clone()), (vec![7, 1], vec![8]));
    assert_eq!((cake.flows[0].tag, cake.tins[0].bulk), (QUEUES as u32, 8));
}

/// One that has used up its quantum as it ran empty waits for a turn among the old ones.
#[test]
fn a_flow_that_spent_its_quantum_is_not_new_again_at_once() {
    let (mut cake, mut bench) = cake(&plain());
    put(&mut cake, &mut bench, &[1, 1, 2, 2, 2, 2]);
    assert_eq!(take(&mut cake, &mut bench, 3), [1, 1, 2]);
    assert_eq!((cake.flows[1].set, counts(&cake)), (Set::SparseWait, (2, 0)));
    put(&mut cake, &mut bench, &[1]);
    assert_eq!((cake.flows[1].set, counts(&cake)), (Set::Bulk, (1, 1)));
    assert_eq!(take(&mut cake, &mut bench, 4), [2, 1, 2, 2]);
}

#[test]
fn a_packet_is_charged_to_flow_tin_and_shaper() {
    for (tin_next, now, after) in [
        (500, 1000, 1_000_500),
        (1000, 1000, 1_001_000),
        (2000, 1000, 1_001_000),
        (5 * MS, 1000, 5 * MS),
    ] {
        let (mut cake, _) = cake(&Parameters { overhead_bytes: 100, ..shaped() });
        (cake.tins[0].next, cake.next) = (tin_next, 70);
        cake.charge(5, 900, now);
        assert_eq!(cake.tins[0].next, after, "{tin_next}");
        assert_eq!(cake.next, 70 + MS);
        assert_eq!((cake.tins[0].deficit, cake.flows[5].deficit), (-1000, -1000));
        assert_eq!(cake.due(), 70 + MS);
        assert_eq!(cake.ready_at(), Time::from_ps(1_000_070_000));
    }
    let (mut cake, _) = cake(&plain());
    cake.charge(5, 900, 1000);
    assert_eq!((cake.tins[0].next, cake.next, cake.due()), (0, 0, 0));
    assert_eq!((cake.tins[0].deficit, cake.flows[5].deficit), (-900, -900));
}

#[test]
fn a_shaper_sends_at_its_rate_and_saves_up_nothing() {
    let (mut cake, mut bench) = cake(&shaped());
    put(&mut cake, &mut bench, &[1, 1, 1]);
    assert_eq!(take(&mut cake, &mut bench, 3), [1], "the second is due after 1 ms");
    for us in [999, 1000, 1999, 2000] {
        bench.now = Time::from_us(us);
        assert_eq!(take(&mut cake, &mut bench, 1).len(), usize::from(us % 1000 == 0), "{us}");
    }
    assert_eq!(cake.ready_at(), Time::from_ms(3));
    // A packet that comes before that waits for it, and one that comes later does not.
    bench.now = Time::from_us(2500);
    put(&mut cake, &mut bench, &[1]);
    assert_eq!((cake.next, cake.tins[0].next), (3 * MS, 3 * MS));
    bench.now = Time::from_ms(3);
    assert_eq!(take(&mut cake, &mut bench, 1), [1]);
    bench.now = Time::from_ms(9);
    put(&mut cake, &mut bench, &[1, 1]);
    assert_eq!((cake.next, cake.tins[0].next), (9 * MS, 9 * MS));
    assert_eq!(take(&mut cake, &mut bench, 2), [1]);
    // While something waits, time that the link did not use is made up for.
    bench.now = Time::from_ms(20);
    put(&mut cake, &mut bench, &[1]);
    assert_eq!(cake.next, 10 * MS);
    assert_eq!(take(&mut cake, &mut bench, 2), [1, 1]);
}

/// With a shaper the last tin that is on schedule, or else the first that will be; of several the last.
#[test]
fn tins_are_served_by_their_schedules() {
    let (mut cake, _) = cake(&Parameters { bandwidth_mbps: Some(8.0), ..Parameters::default() });
    assert_eq!(cake.choose_tin(0), None);
    for (next, busy, chosen) in [
        ([0, 0, 0], [1, 1, 1], 2),
        ([0, 0, 0], [1, 1, 0], 1),
        ([-5, 0, 9], [1, 1, 1], 1),
        ([-5, 1, 9], [1, 1, 1], 0),
        ([5, 3, 9], [1, 1, 1], 1),
        ([5, 5, 9], [1, 1, 1], 1),
        ([7, 9, 8], [0, 1, 1], 2),
    ] {
        for (tin, (next, busy)) in cake.tins.iter_mut().zip(next.into_iter().zip(busy)) {
            (tin.next, tin.sparse) = (100 + next, busy);
        }
        assert_eq!(cake.choose_tin(100), Some(chosen), "{next:?} {busy:?}");
    }
}

/// Without a shaper tins take turns: best effort, bulk and voice have 1024, 64 and 256 of 1344 parts.
#[test]
fn tins_take_turns_by_their_weights() {
    let (mut cake, _) = cake(&Parameters::default());
    assert_eq!(cake.next_turn(), None);
    cake.tins.iter_mut().for_each(|tin| tin.sparse = 1);
    let turn = |cake: &mut Cake| {
        let tin = cake.next_turn().expect("all are busy");
        cake.tins[tin].deficit -= 1000;
        tin
    };
    assert_eq!([0; 3].map(|_| turn(&mut cake)), [0, 1, 2]);
    // After a round of each -1000 + 1024, and so on: 0 has its turn, 1 and 2 wait.
    assert_eq!(turn(&mut cake), 0);
    assert_eq!(cake.tins.iter().map(|tin| tin.deficit).collect::<Vec<_>>(), [-976, -936, -744]);
    let mut served = [0_u64; 3];
    (0..1344).for_each(|_| served[turn(&mut cake)] += 1);
    for (served, want) in served.into_iter().zip([1024_u64, 64, 256]) {
        assert!(served.abs_diff(want) <= 2, "{served} of {want}");
    }
    // A tin that is not busy is passed over, but gets its quantum while it owes.
    cake.tins[0].sparse = 0;
    (cake.current, cake.tins[0].deficit, cake.tins[1].deficit) = (0, -100, 0);
    assert_eq!(cake.next_turn(), Some(1));
    assert_eq!((cake.tins[0].deficit, cake.tins[1].deficit), (924, 0));
    (cake.current, cake.tins[0].deficit) = (0, 0);
    assert_eq!((cake.next_turn(), cake.tins[0].deficit), (Some(1), 1024));
    (cake.current, cake.tins[0].deficit) = (0, 1);
    assert_eq!((cake.next_turn(), cake.tins[0].deficit), (Some(1), 1));
}

/// Packets of 1000 bytes have 2304 in memory.
#[test]
fn the_longest_flow_loses_its_head_where_memory_is_full() {
    let (mut cake, mut bench) = cake(&Parameters { memlimit_bytes: Some(10_000), ..plain() });
    put(&mut cake, &mut bench, &[1, 2, 2, 2]);
    assert_eq!((cake.memory, bench.counts.all.dropped_overflow), (9216, 0));
    bench.now = Time::from_ms(1);
    put(&mut cake, &mut bench, &[1]);
    assert_eq!((cake.memory, bench.counts.all.dropped_overflow), (9216, 1));
    assert_eq!(cake.tins[0].backlog_bytes, 4000);
    assert_eq!(cake.bins.backlog_of(2).packets, 2);
    // Its law hears of that: BLUE's probability is not zero, so the flow is remembered for longer than an interval.
    let terms = cake.tins[0].terms;
    let remembers = [1, 2].map(|flow| cake.flows[flow].cobalt.on_empty(&terms, 500 * MS));
    assert_eq!(remembers, [false, true]);
    // The limit of the queue counts too.
    let (mut cake, mut bench) = self::cake(&plain());
    bench.limit.packets = 3;
    put(&mut cake, &mut bench, &[1, 2, 2, 1, 2]);
    assert_eq!((cake.backlog().packets, bench.counts.all.dropped_overflow), (3, 2));
    // Exactly full is not too full.
    let (mut cake, mut bench) =
        self::cake(&Parameters { memlimit_bytes: Some(2304 * 5), ..plain() });
    put(&mut cake, &mut bench, &[1; 5]);
    assert_eq!(bench.counts.all.dropped_overflow, 0);
}

/// After 256 overflows BLUE drops all but the last packet of a flow, those that had waited no longer than 5 ms needlessly.
#[test]
fn drops_of_packets_in_time_are_needless() {
    for (waited_ms, needless_drops) in [(5, 2), (6, 0)] {
        let (mut cake, mut bench) = cake(&plain());
        bench.now = Time::from_s(10);
        put(&mut cake, &mut bench, &[1, 1, 1]);
        let terms = cake.tins[0].terms;
        (1..257).for_each(|count| cake.flows[1].cobalt.on_overflow(&terms, count * 6 * MS));
        bench.now += Time::from_ms(waited_ms);
        assert_eq!(take(&mut cake, &mut bench, 3), [1]);
        assert_eq!(
            (bench.counts.all.dropped_aqm, cake.lapses().needless_drops),
            (2, needless_drops)
        );
    }
}

/// A flow that has been late for a second packet loses it, but never its last one.
#[test]
fn late_packets_are_dropped_but_for_the_last_of_a_flow() {
    let ecn = |ecn, waiting: &[u32], ms| {
        let (mut cake, mut bench) = cake(&plain());
        bench.now = Time::from_ms(10);
        for tuple in waiting {
            let packet = Packet { ecn, queued_at: bench.now, ..of(*tuple) };
            cake.enqueue(packet, &mut bench.entry());
        }
        bench.now += Time::from_ms(ms);
        let left = take(&mut cake, &mut bench, 1);
        let second = take(&mut cake, &mut bench, 1);
        (left.len() + second.len(), bench.counts.all.dropped_aqm, bench.counts.all.marked)
    };
    // The first late packet begins an episode, the second is signalled.
    assert_eq!(ecn(Ecn::NotEct, &[1; 4], 6), (2, 1, 0));
    assert_eq!(ecn(Ecn::Ect0, &[1; 4], 6), (2, 0, 1));
    assert_eq!(ecn(Ecn::NotEct, &[1; 4], 5), (2, 0, 0));
    assert_eq!(ecn(Ecn::NotEct, &[1; 2], 6), (2, 0, 0), "the last one stays");
}

#[test]
fn an_acknowledgement_drops_the_older_of_two() {
    let filter = Parameters { ack_filter: AckFilter::On, ..plain() };
    let (mut cake, mut bench) = cake(&filter);
    for number in 1..=3 {
        let segment = Segment { ack: number, flags: Flags::ACK, ..Segment::default() };
        cake.enqueue(Packet { segment, flow: 4, ..Packet::datagram(64) }, &mut bench.entry());
    }
    assert_eq!((cake.backlog(), cake.memory), (Count { packets: 2, bytes: 128 }, 2 * 768));
    assert_eq!(cake.tins[0].backlog_bytes, 128);
    assert_eq!(bench.recorder.events.len(), 1);
    let left: Vec<_> = std::iter::from_fn(|| cake.dequeue(&mut bench.exit())).collect();
    assert_eq!(left.iter().map(|packet| packet.segment.ack).collect::<Vec<_>>(), [2, 3]);
    assert!(left.iter().all(|packet| packet.flow != DATAGRAM));
}

#[test]
fn a_code_point_has_its_tin() {
    let (mut cake, mut bench) = cake(&Parameters::default());
    for (dscp, size) in [(0, 100), (8, 200), (46, 300)] {
        let segment = Segment { dscp, ..Segment::default() };
        cake.enqueue(Packet { segment, ..Packet::datagram(size) }, &mut bench.entry());
    }
    assert!(cake.tins.iter().map(|tin| tin.backlog_bytes).eq([100, 200, 300]));
    assert_eq!([0, 1023, 1024, 3071].map(Cake::tin_of), [0, 0, 1, 2]);
}

/// A flow is served while a byte of its turn is left; then it gets another turn, at the end of the others.
#[test]
fn a_turn_of_a_flow_lasts_until_it_is_used_up() {
    for (deficit, set, after) in [(1, Set::Sparse, 1), (0, Set::Bulk, 1514), (-14, Set::Bulk, 1500)]
    {
        let flows = Parameters { flow_isolation: FlowIsolation::Flows, ..plain() };
        let (mut cake, mut bench) = cake(&flows);
        put(&mut cake, &mut bench, &[7]);
        cake.flows[7].deficit = deficit;
        // The first draw of SplitMix64 from 1 makes the quantum 1514.
        assert_eq!(cake.choose_flow(0, &mut false, &mut Rng::split_mix(1)), Some(7));
        assert_eq!((cake.flows[7].set, cake.flows[7].deficit), (set, after));
    }
}
