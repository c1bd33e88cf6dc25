//! The laws of SFB by hand.

use super::*;
use crate::packet::Ecn;
use crate::queue::Unit;
use crate::queue::tests::Bench;

fn sfb(parameters: &Parameters) -> Sfb {
    let Scheduler::Sfb(sfb) = Bench::of(9).start(parameters) else { unreachable!() };
    sfb
}

/// All buckets of both slots are as this one, and hashes are what they are.
fn filled(bucket: Bucket) -> Sfb {
    let mut sfb = sfb(&Parameters::default());
    sfb.slots.iter_mut().for_each(|slot| slot.buckets = [[bucket; BUCKETS]; LEVELS]);
    sfb.is_seeded = true;
    sfb
}

/// The verdict of this stream's first draw on a packet whose buckets have this probability and hold so many.
fn verdict(state: u64, probability: u64, packets: u16) -> Verdict {
    let mut bench = Bench::of(9);
    bench.rng = Rng::split_mix(state);
    let mut sfb = filled(Bucket { packets, probability: probability as u16 });
    sfb.judge(&Packet::datagram(100), &mut bench.entry()).0
}

#[test]
fn probabilities_rise_at_the_target_and_fall_where_a_bucket_is_empty() {
    // Of 65 535, 0.001 is 66 and 1/6000 is 11, as in `sch_sfb`.
    let mut sfb = sfb(&Parameters::default());
    let (own, other) = (0x8765_4321, 0x0765_4321);
    (0..19).for_each(|_| sfb.count([own, 0], 1));
    assert_eq!(sfb.learn(0, own), (0, 19));
    sfb.count([own, 0], 1);
    assert_eq!(sfb.learn(0, own), (66, 20));
    assert_eq!(sfb.learn(0, own), (132, 20));
    // Seven buckets are shared, and the eighth is empty: it is what counts.
    assert_eq!(sfb.learn(0, other), (0, 0));
    for _ in 0..1000 {
        sfb.learn(0, own);
    }
    assert_eq!(sfb.learn(0, own), (ONE, 20));
    (0..20).for_each(|_| sfb.count([own, 0], -1));
    assert_eq!(sfb.learn(0, own), (ONE - 11, 0));
}

#[test]
fn flows_that_do_not_respond_send_a_burst_and_then_at_the_penalty_rate() {
    let mut limited = sfb(&Parameters::default());
    let mut sent = |ms| (0..30).take_while(|_| !limited.is_spent(Time::from_ms(ms))).count();
    // 20 at once; then 10 per second since the tokens were last counted, and 20 at most.
    assert_eq!([0, 99, 199, 499, 3000, 9000].map(&mut sent), [20, 0, 1, 3, 20, 20]);
    for (penalty_rate_pps, penalty_burst_packets) in [(0, 20), (10, 0)] {
        let none = Parameters { penalty_rate_pps, penalty_burst_packets, ..Default::default() };
        assert!(sfb(&none).is_spent(Time::from_s(9)));
    }
}

#[test]
fn hashes_are_renewed_after_their_time_and_the_next_ones_learn_before() {
    let mut sfb = sfb(&Parameters::default());
    let mut rng = Rng::named(1, "unused");
    let mut hashes = [0; 2];
    let mut at = |ms| {
        let current = sfb.current;
        sfb.rehash(Time::from_ms(ms), &mut rng);
        // The slot that decided until now is hashed anew.
        let before = std::mem::replace(&mut hashes, sfb.slots.each_ref().map(|slot| slot.hash(7)));
        if sfb.current != current {
            assert!(
                before[current] != hashes[current] && before[current ^ 1] == hashes[current ^ 1]
            );
        }
        (sfb.current, sfb.learns)
    };
    assert_eq!([540_000, 540_001, 600_000].map(&mut at), [(0, false), (0, true), (0, true)]);
    assert_eq!([600_001, 1_140_001, 1_140_002].map(&mut at), [(1, false), (1, false), (1, true)]);
    assert_eq!(at(1_200_002), (0, false));
}

/// MurmurHash3's finaliser of 2^32 over the golden ratio, which stands for the first flow, and with what makes the sum 1.
#[test]
fn hashes_are_mixed_and_never_none() {
    assert_eq!(Slot::EMPTY.hash(0), 0x92ca_2f0e);
    let salted = |sum: u32| Slot { salt: sum.wrapping_sub(0x9e37_79b9), ..Slot::EMPTY };
    assert_eq!([salted(1).hash(0), salted(0).hash(0)], [0x514e_28b7, 1]);
}

#[test]
fn steps_are_whole_and_never_none() {
    // Of 65 535: 0.00005 are 3.3 and 0.0001 are 6.6; 1e-6 would be none.
    let steps = [(5e-5, 1e-4), (1e-6, 1.0)].map(|(increment, decrement)| {
        let sfb = sfb(&Parameters { increment, decrement, ..Default::default() });
        (sfb.increment, sfb.decrement)
    });
    assert_eq!(steps, [(3, 7), (1, ONE)]);
}

/// A packet is signalled if a draw of 16 bits is below the probability. Above a half it is dropped if the draw is below
/// twice what is beyond that, so that at 1 all are.
#[test]
fn draws_below_the_probability_signal_and_some_drop() {
    let draw = |state: &u64| Rng::split_mix(*state).bits() >> 48;
    let (is_low, is_high) = (|draw| draw % 2 == 0 && draw < 30_000, |draw| draw > 40_000);
    let state = (1..).find(|state| is_low(draw(state))).expect("one of four");
    let low = draw(&state);
    assert_eq!(verdict(state, low, 1), Verdict::Pass);
    assert_eq!(verdict(state, low + 1, 1), Verdict::Signal);
    assert_eq!(verdict(state, 32_767 + low / 2, 1), Verdict::Signal);
    assert_eq!(verdict(state, 32_768 + low / 2, 1), Verdict::Drop);
    let state = (1..).find(|state| is_high(draw(state))).expect("one of three");
    assert_eq!(verdict(state, draw(&state), 1), Verdict::Pass);
    assert_eq!(verdict(state, draw(&state) + 1, 1), Verdict::Signal);
}

#[test]
fn a_flow_whose_buckets_are_full_is_dropped() {
    // The first draw of 1 is 0x910a, and a bucket above its target has a step of 66.
    assert_eq!(verdict(1, 0, 24), Verdict::Pass);
    assert_eq!(verdict(1, 0, 25), Verdict::Drop);
}

/// At a probability of 1 the penalty rate decides, and buckets of the next hashes count the packet once they learn.
#[test]
fn a_flow_that_does_not_respond_has_its_burst() {
    for (probability, learns, taken) in [(65_534, true, 20), (65_535, true, 0), (65_535, false, 0)]
    {
        let mut bench = Bench::of(9);
        let mut sfb = filled(Bucket { packets: 1, probability });
        (sfb.learns, sfb.tokens, sfb.tokens_ms) = (learns, 20, 0);
        for _ in 0..20 {
            sfb.judge(&Packet::datagram(100), &mut bench.entry());
        }
        assert_eq!(sfb.tokens, taken, "{probability} {learns}");
        let (_, [own, next]) = sfb.judge(&Packet::datagram(100), &mut bench.entry());
        assert!(own != 0 && (next != 0) == (probability == 65_535 && learns));
    }
}

#[test]
fn buckets_count_the_packets_that_wait() {
    let mut bench = Bench::of(3);
    let mut sfb = sfb(&Parameters::default());
    let most = |sfb: &Sfb| {
        let of = |slot: &Slot| {
            let counts = slot.buckets.iter().flatten().map(|bucket| bucket.packets);
            (counts.clone().max().unwrap(), counts.map(u32::from).sum::<u32>())
        };
        sfb.slots.each_ref().map(of)
    };
    (1..=4).for_each(|size| sfb.enqueue(Packet::datagram(100 * size), &mut bench.entry()));
    assert_eq!(sfb.backlog(), Count { packets: 3, bytes: 600 });
    assert_eq!((bench.counts.all.dropped_overflow, bench.counts.all.dropped_aqm), (1, 0));
    // Each is in a bucket of each of eight levels, of the first hash alone.
    assert_eq!(most(&sfb), [(3, 24), (0, 0)]);
    for (size, left) in [(100, 16), (200, 8), (300, 0)] {
        assert_eq!(sfb.dequeue(&mut bench.exit()).map(|packet| packet.size), Some(size));
        assert_eq!(most(&sfb)[0].1, left);
    }
    assert_eq!(sfb.backlog(), Count::default());
    assert!(sfb.dequeue(&mut bench.exit()).is_none());
}

/// Two hashes count a packet that comes while the second one learns, and each forgets it when it leaves.
#[test]
fn a_packet_is_counted_where_it_was_hashed() {
    let mut sfb = sfb(&Parameters::default());
    sfb.count([7, 9], 1);
    sfb.count([7, 0], 1);
    let of = |sfb: &mut Sfb, slot: usize, hash| {
        sfb.slots[slot].of(hash).map(|bucket| u32::from(bucket.packets)).sum::<u32>()
    };
    assert_eq!([of(&mut sfb, 0, 7), of(&mut sfb, 1, 9)], [16, 8]);
    (0..3).for_each(|_| sfb.count([7, 9], -1));
    assert_eq!([of(&mut sfb, 0, 7), of(&mut sfb, 1, 9)], [0, 0]);
}

#[test]
fn what_is_signalled_is_marked_or_dropped_as_its_transport_has_it() {
    for (ecn, marked, dropped) in [(Ecn::NotEct, 0, 1), (Ecn::Ect0, 1, 0)] {
        let mut bench = Bench::of(9);
        bench.rng = Rng::split_mix(1);
        // The first draw is 0x910a, which is not below 2 (0x910b - 0x7fff).
        let mut sfb = filled(Bucket { packets: 1, probability: 0x910b });
        sfb.enqueue(Packet { ecn, ..Packet::datagram(100) }, &mut bench.entry());
        assert_eq!((bench.counts.all.marked, bench.counts.all.dropped_aqm), (marked, dropped));
        assert_eq!(sfb.backlog().packets, marked);
    }
}

#[test]
fn it_shows_the_greatest_probability_of_the_slot_that_decides() {
    let mut sfb = sfb(&Parameters::default());
    sfb.slots[0].buckets[3][5].probability = 13_107;
    sfb.slots[1].buckets[2][1].probability = ONE as u16;
    let mut shown = Gauges::default();
    sfb.gauges(&mut shown);
    assert_eq!(shown.get("most_probability"), Some(0.2));
}

/// The first hashes are random too, and a pair of draws makes each.
#[test]
fn hashes_have_a_number_each_from_the_start() {
    let mut sfb = sfb(&Parameters { rehash_s: 0.0, ..Default::default() });
    let (mut rng, mut twin) = (Rng::split_mix(3), Rng::split_mix(3));
    let draws: Vec<u64> = (0..4).map(|_| twin.bits()).collect();
    for _ in 0..2 {
        sfb.rehash(Time::from_s(1000), &mut rng);
        assert_eq!(
            sfb.slots.each_ref().map(|slot| u64::from(slot.salt)),
            [draws[0], draws[2]].map(|bits| bits & 0xffff_ffff)
        );
    }
    assert_eq!(rng.bits(), twin.bits(), "and no more are drawn without renewal");
    assert_eq!((sfb.current, sfb.learns), (0, false));
    assert_ne!(sfb.slots[0].hash(5), sfb.slots[1].hash(5));
    assert_ne!(sfb.slots[0].hash(5), sfb.slots[0].hash(6));
    assert_eq!(Slot::EMPTY.hash(u32::MAX), 1, "0 stands for none");
}

/// 20 packets of 1522 bytes at 10 Mbps are 24.352 ms.
#[test]
fn it_signals_from_a_flow_s_target_on() {
    let rate = BitRate::from_mbps(10.0);
    let limit = Parameters::default().threshold(rate).unwrap();
    assert_eq!((limit.key, limit.value), ("target_packets", 20.0));
    assert!((limit.ms - 24.352).abs() < 1e-9);
    let remedy = "target_packets = 30, max_packets = 60 and decrement = 0.001";
    assert_eq!(limit.remedy(24.4).to_string(), remedy);
}

#[test]
fn keys_must_agree() {
    let wrong = |parameters: Parameters| {
        let faults = parameters.check(&AqmSpec::default(), 1522).into_iter();
        faults.map(|fault| fault.path).collect::<Vec<_>>()
    };
    let usual = Parameters::default;
    assert!(wrong(usual()).is_empty());
    assert!(wrong(Parameters { max_packets: 20, ..usual() }).is_empty());
    assert_eq!(wrong(Parameters { max_packets: 19, ..usual() }), ["max_packets"]);
    assert!(wrong(Parameters { rehash_s: 60.0, ..usual() }).is_empty());
    assert_eq!(wrong(Parameters { rehash_s: 59.0, ..usual() }), ["rehash_s"]);
    assert!(wrong(Parameters { rehash_s: 0.0, ..usual() }).is_empty());
    assert_eq!(wrong(Parameters { rehash_s: 0.5, warmup_s: 0.6, ..usual() }), ["rehash_s"]);
}

/// Connections of a service flow have the same buckets where flows are service flows.
#[test]
fn the_classifier_says_what_a_flow_is() {
    let mut bench = Bench::of(9);
    for (unit, are_alike) in [(Unit::ServiceFlow, true), (Unit::Connection, false)] {
        let mut sfb = sfb(&Parameters::default());
        sfb.set_flow_classifier(&FlowTable::of_homes(unit, &[vec![1.0]]), &[]);
        let [one, other] = [1, 2].map(|tuple| {
            let packet = Packet { tuple, ..Packet::datagram(100) };
            sfb.judge(&packet, &mut bench.entry()).1
        });
        assert_eq!(one == other, are_alike);
    }
}
