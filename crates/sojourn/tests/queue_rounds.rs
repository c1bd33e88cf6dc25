//! Who is next, and who gets how much: SFQ, FQ, DRR and SFQ-PIE.
//!
//! E9, E10 and E18 are the numbers of the analytic checks in the design notes.

use crate::common::{scenario, series};
use crate::queue_kit::{Load, Rig, TRAFFIC, assert_all_near, datagram, segment, spec};
use sojourn::Simulation;
use sojourn::engine::count::Count;
use sojourn::engine::dialect::Dialect;
use sojourn::engine::packet::Packet;
use sojourn::engine::rng::Rng;
use sojourn::engine::units::Time;
use sojourn_testing::at_random;
use sojourn_testing::proptest::prelude::*;

/// Puts packets of 1000 bytes: for each letter one of that traffic entry, numbered as they come.
fn put(rig: &mut Rig, letters: &str) {
    for letter in letters.bytes() {
        rig.put(datagram(u16::from(letter - b'a'), rig.sent.packets, 1000));
    }
}

/// Takes this many packets: the letters of their entries.
fn take(rig: &mut Rig, packets: usize) -> String {
    let letter = |packet: Packet| char::from(b'a' + packet.traffic as u8);
    (0..packets).map_while(|_| rig.take()).map(letter).collect()
}

// FQ: RFC 8290 §4.2.

#[test]
fn fq_serves_new_queues_before_old_ones() {
    // Quantum 1500, packets of 1000: two of them use up the first quantum (1500 - 2000 < 0), and the
    // queue grows old with 1000 credits: one packet, then 1500 more, and so two and one in turn.
    let mut rig = Rig::of("scheduler = { kind = 'fq', quantum_bytes = 1500 }");
    put(&mut rig, "aaaaaabbbbbb");
    assert_eq!(take(&mut rig, 4), "aabb");
    // Both are old, a is next. A new queue goes first, for its quantum of two packets alone.
    put(&mut rig, "cccc");
    assert_eq!(take(&mut rig, 2), "cc");
    // a and b have 1000 credits each, c comes last with as many; then all have 1500, but c has one
    // packet left.
    assert_eq!(take(&mut rig, 3), "abc");
    assert_eq!(take(&mut rig, 8), "aabbcab");
}

#[test]
fn fq_sends_a_new_queue_that_ran_empty_round_once_as_an_old_one() {
    let mut rig = Rig::of("scheduler = { kind = 'fq', quantum_bytes = 1500 }");
    put(&mut rig, "aaaaaa");
    assert_eq!(take(&mut rig, 2), "aa");
    // b is new: it goes first and runs empty. When that is seen, at the next dequeue, it goes to the
    // end of the old ones, so that its next packet waits for a's turn of one packet (1000 credits).
    put(&mut rig, "b");
    assert_eq!(take(&mut rig, 1), "b");
    assert_eq!(take(&mut rig, 1), "a");
    put(&mut rig, "b");
    // a's credits are used up (1000 - 1000), b's are 500, one packet: 500 - 1000; then a has 1500.
    assert_eq!(take(&mut rig, 3), "baa");
    // b is seen empty as an old queue and leaves: its next packet is new and goes first.
    assert_eq!(take(&mut rig, 1), "a");
    put(&mut rig, "b");
    assert_eq!(take(&mut rig, 1), "b");
}

#[test]
fn sfq_forgets_a_bin_that_ran_empty_at_once() {
    // As above, but b is as new as ever each time.
    let mut rig = Rig::of("scheduler = { kind = 'sfq', quantum_bytes = 1500 }");
    put(&mut rig, "aaaaaa");
    assert_eq!(take(&mut rig, 2), "aa");
    put(&mut rig, "b");
    assert_eq!(take(&mut rig, 2), "ba");
    put(&mut rig, "b");
    assert_eq!(take(&mut rig, 2), "ba");
}

#[test]
fn sfq_of_ns2_puts_a_new_bin_behind_the_only_other_one() {
    // Quantum 3000. a has had its first turn and is in its second, with 3000 of 3000 left. In the rfc
    // dialect b goes first; in ns-2's code it waits for a's turn, three packets.
    let order = |dialect| {
        let mut rig =
            Rig::new(&spec("scheduler = { kind = 'sfq', quantum_bytes = 3000 }"), dialect, 10.0);
        put(&mut rig, "aaaaaaaaaa");
        let first = take(&mut rig, 4);
        put(&mut rig, "bb");
        first + &take(&mut rig, 6)
    };
    assert_eq!(order(Dialect::Rfc), "aaaabbaaaa");
    assert_eq!(order(Dialect::Ns2), "aaaaaabbaa");
}

#[test]
fn fq_drops_half_of_the_fattest_queue_from_its_head_and_64_packets_at_most() {
    let mut rig = Rig::of("limit_packets = 10\nscheduler = { kind = 'fq' }");
    put(&mut rig, "aaaaaaabbb");
    assert_eq!(rig.dropped(0), 0);
    // The eleventh packet is let in, then a loses ceil(7 / 2) = 4 from its head: 0 to 3.
    put(&mut rig, "b");
    assert_eq!((rig.dropped(0), rig.dropped(1)), (4, 0));
    let left: Vec<_> = rig.drain().into_iter().filter(|(traffic, _)| *traffic == 0).collect();
    assert_eq!(left, [(0, 4), (0, 5), (0, 6)]);

    let mut rig = Rig::of("limit_packets = 1000\nscheduler = { kind = 'fq' }");
    put(&mut rig, &"a".repeat(1001));
    assert_eq!((rig.dropped(0), rig.backlog().packets), (64, 937));
}

#[test]
fn fq_tells_the_fattest_queue_by_its_bytes() {
    // a: 5 packets of 100 bytes, b: 2 of 1000.
    let mut rig = Rig::of("limit_packets = 7\nscheduler = { kind = 'fq' }");
    (0..5).for_each(|seq| rig.put(datagram(0, seq, 100)));
    (0..3).for_each(|seq| rig.put(datagram(1, seq, 1000)));
    assert_eq!((rig.dropped(0), rig.dropped(1)), (0, 2));
}

// E18: hash collisions.

/// 100 flows in 1024 queues: one flow is alone with probability (1023/1024)^99 = 0.9078 (RFC 8290
/// §5.3). Of 20 000 draws the share is good to sqrt(0.9078 * 0.0922 / 20 000) = 0.0020; four times
/// that is allowed.
#[test]
fn one_flow_of_a_hundred_is_alone_in_its_queue_with_probability_0_9078() {
    let mut rng = Rng::named(1, "ports");
    let draws = 20_000;
    let mut alone = 0;
    for _ in 0..draws {
        let mut rig = Rig::of("scheduler = { kind = 'fq' }");
        for flow in 0..99 {
            rig.put(segment(flow, rng.bits() as u32, 0, 100));
        }
        let others = rig.gauge("busy_queues");
        rig.put(segment(99, rng.bits() as u32, 0, 100));
        alone += u32::from(rig.gauge("busy_queues") > others);
    }
    let share = f64::from(alone) / f64::from(draws);
    println!("{share}");
    assert!((share - 0.9078).abs() < 0.008, "{share}");
}

// DRR.

#[test]
fn drr_appends_a_flow_that_becomes_busy_and_takes_its_deficit_when_it_runs_empty() {
    // Quantum 1500, packets of 1000: 1500 pay for one, 500 + 1500 for two, 0 + 1500 for one.
    let mut rig = Rig::of("scheduler = { kind = 'drr', quantum_bytes = 1500 }");
    put(&mut rig, "aaaaaabbbb");
    assert_eq!(take(&mut rig, 2), "ab");
    // c joins the end of the round while it is b's turn, and so before b comes there.
    put(&mut rig, "c");
    assert_eq!(take(&mut rig, 5), "aacbb");
    // c ran empty and gave up its 500: 1500 pay for one; with 2000 two would come at once.
    put(&mut rig, "ccc");
    assert_eq!(take(&mut rig, 7), "acbaacc");
}

#[test]
fn drr_sends_nothing_that_its_deficit_does_not_cover() {
    // Quantum 500: a packet of 1000 bytes takes two rounds, one of 1500 three, and 500 one.
    let mut rig = Rig::of("scheduler = { kind = 'drr', quantum_bytes = 500 }");
    for seq in 0..3 {
        rig.put(datagram(0, seq, 1000));
        rig.put(datagram(1, seq, 1500));
        rig.put(datagram(2, seq, 500));
    }
    assert_eq!(take(&mut rig, 9), "cacbcaabb");
}

#[test]
fn drr_weights_are_by_name_and_multiply_the_quantum() {
    let mut rig = Rig::of(
        "scheduler = { kind = 'drr', quantum_bytes = 1000, weights = { b = 2.0, c = 0.5 } }",
    );
    put(&mut rig, "aaaaaabbbbbbcccccc");
    // a: one packet a round, b: two, c: one every second round.
    assert_eq!(take(&mut rig, 15), "abbabbcabbacaac");
}

#[test]
fn drr_limits_each_flow_and_drops_from_the_head_of_the_longest() {
    let mut rig =
        Rig::of("limit_packets = 6\nscheduler = { kind = 'drr', flow_limit_packets = 4 }");
    put(&mut rig, "aaaaa"); // the fifth does not fit into its flow: seq 4
    assert_eq!((rig.dropped(0), rig.backlog().packets), (1, 4));
    put(&mut rig, "bbb"); // the third is one too many for all: a's head goes
    assert_eq!((rig.dropped(0), rig.dropped(1)), (2, 0));
    let of_a: Vec<_> = rig.drain().into_iter().filter(|(traffic, _)| *traffic == 0).collect();
    assert_eq!(of_a, [(0, 1), (0, 2), (0, 3)]);
    // ns-2 never reaches a limit: three of a flow of four.
    let keys = "scheduler = { kind = 'drr', flow_limit_packets = 4 }";
    let mut rig = Rig::new(&spec(keys), Dialect::Ns2, 10.0);
    put(&mut rig, "aaaaa");
    assert_eq!(rig.backlog().packets, 3);
}

/// E9: max-min fair shares. Constant rates into DRR: whoever asks for no more than the fair share
/// gets it, the others share what is left in proportion to their weights. A load of 8 Mbps is n =
/// 20 000 packets in 20 s; their gaps deviate by 1/sqrt(12) of the mean, so n by sqrt(n / 12) = 41
/// packets or 0.016 Mbps. Four times that is allowed.
#[test]
fn drr_shares_are_max_min_fair() {
    let scheduler = |weights: &str| {
        format!(
            "scheduler = {{ kind = 'drr', flow_limit_packets = 100, weights = {{ {weights} }} }}"
        )
    };
    let shares = |weights: &str, mbps: &[f64], link_mbps| {
        let load = Load { mbps, packet_bytes: 1000, link_mbps };
        load.throughputs(&mut Rig::of(&scheduler(weights)), 2.0, 22.0)
    };
    // 35 Mbps: 8 of 35/3 wanted, then (35 - 8) / 2 = 13.5.
    assert_all_near(&shares("", &[8.0, 16.0, 32.0], 35.0), &[8.0, 13.5, 13.5], 0.065);
    // Weights 1:2:4: 35 / 7 = 5 each.
    let weighted = shares("b = 2, c = 4", &[8.0, 16.0, 32.0], 35.0);
    assert_all_near(&weighted, &[5.0, 10.0, 20.0], 0.065);
    // Hong 2015 §5.1.3.
    let six = shares("", &[4.0, 6.0, 7.0, 9.0, 11.0, 13.0], 38.0);
    assert_all_near(&six, &[4.0, 6.0, 7.0, 7.0, 7.0, 7.0], 0.065);
}

/// What each of a few flows was sent in units of its weight, and how far two of them have drifted
/// apart while both had packets waiting.
#[derive(Default)]
struct Fairness {
    waiting: [u32; 4],
    served: [f64; 4],
    /// Least and greatest difference since both are backlogged.
    spread: [[Option<(f64, f64)>; 4]; 4],
}

impl Fairness {
    /// By how much the bound Q + Max/w_i + Max/w_j is exceeded at worst, in bytes per weight.
    fn note(&mut self, weights: [f64; 4], quantum: f64) -> f64 {
        let mut worst = f64::MIN;
        for (i, j) in (0..4).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let spread = &mut self.spread[i][j];
            if self.waiting[i] == 0 || self.waiting[j] == 0 {
                *spread = None;
                continue;
            }
            let difference = self.served[i] - self.served[j];
            let (low, high) = spread.get_or_insert((difference, difference));
            (*low, *high) = (low.min(difference), high.max(difference));
            let bound = quantum + f64::from(LARGEST) * (1.0 / weights[i] + 1.0 / weights[j]);
            worst = worst.max(*high - *low - bound);
        }
        worst
    }
}

const LARGEST: u16 = 1500;

/// By how much the bound is exceeded at worst if packets come (`true`) and leave in this order.
fn unfairness(
    scheduler: &str,
    keys: &str,
    quantum: f64,
    steps: Vec<(bool, u16, u16)>,
    weights: [f64; 4],
) -> f64 {
    let [a, b, c, d] = weights;
    let mut rig = Rig::of(&format!(
        "scheduler = {{ kind = '{scheduler}', {keys}
                        weights = {{ a = {a}, b = {b}, c = {c}, d = {d} }} }}"
    ));
    let mut fairness = Fairness::default();
    let mut worst = f64::MIN;
    for (seq, (arrives, flow, size)) in (0..).zip(steps) {
        if arrives || rig.backlog().packets == 0 {
            rig.put(datagram(flow, seq, size));
            fairness.waiting[usize::from(flow)] += 1;
        } else {
            let packet = rig.take().expect("something waits");
            let flow = usize::from(packet.traffic);
            fairness.waiting[flow] -= 1;
            fairness.served[flow] += f64::from(packet.size) / weights[flow];
        }
        worst = worst.max(fairness.note(weights, quantum));
    }
    worst
}

at_random! {
    256;

    /// E10: in any interval in which two flows are backlogged, what they are sent differs by no more
    /// than Q + 2 Max; with weights |S_i/w_i - S_j/w_j| <= Q + Max/w_i + Max/w_j, for each flow gets
    /// m w Q - Max to m w Q + Max in m rounds, and the two may differ by one round.
    #[test]
    fn drr_is_fair_over_every_interval(
        steps in prop::collection::vec((any::<bool>(), 0_u16..4, 64..=LARGEST), 1..600),
        weights in prop::array::uniform4(prop::sample::select(&[0.5, 1.0, 1.0, 1.0, 2.0, 4.0][..])),
    ) {
        let quantum = format!("quantum_bytes = {LARGEST}, ");
        prop_assert!(unfairness("drr", &quantum, LARGEST.into(), steps, weights) <= 0.0);
    }

    /// Golestani 1994: in any interval in which two flows are backlogged, SCFQ keeps to |S_i/w_i - S_j/w_j| <= Max_i/w_i +
    /// Max_j/w_j.
    #[test]
    fn scfq_is_fair_over_every_interval(
        steps in prop::collection::vec((any::<bool>(), 0_u16..4, 64..=LARGEST), 1..600),
        weights in prop::array::uniform4(prop::sample::select(&[0.5, 1.0, 1.0, 1.0, 2.0, 4.0][..])),
    ) {
        prop_assert!(unfairness("scfq", "", 0.0, steps, weights) <= 1e-6);
    }

    /// White 2014 §4.6: with a single busy bin SFQ-PIE is PIE on a single queue, drop for drop.
    #[test]
    fn sfq_pie_of_one_busy_bin_is_pie(
        law in prop::sample::select(&["pie", "pie_early", "docsis_pie"][..]),
        steps in prop::collection::vec((0_u64..1200, 64_u16..1500, prop::bool::weighted(0.75)), 200..900),
    ) {
        let run = |scheduler: &str| {
            let mut rig = Rig::of(&format!(
                "limit_bytes = 100_000_000\nscheduler = {scheduler}\nlaw = {{ kind = '{law}' }}"
            ));
            rig.drain_rate.buffer_bytes = 60_000; // so that PIE is active
            let mut out = Vec::new();
            for (seq, (us, size, arrives)) in (0..).zip(&steps) {
                rig.wait(Time::from_us(*us));
                if *arrives {
                    rig.put(datagram(0, seq, *size));
                } else {
                    out.extend(rig.take().map(|packet| packet.segment.seq));
                }
            }
            out.extend(rig.drain().into_iter().map(|(_, seq)| seq));
            (out, rig.dropped(0))
        };
        prop_assert_eq!(run("{ kind = 'fifo' }"), run("{ kind = 'sfq', one_law = true }"));
    }
}

/// White 2014 §4.6: a packet that comes to an empty bin is immune, whatever the others hold. Two
/// flows at twice the rate of the link are dropped at half; a game beside them loses nothing.
#[test]
fn sfq_pie_spares_flows_that_do_not_wait() {
    for law in ["pie", "pie_early", "docsis_pie"] {
        let mut rig = Rig::of(&format!(
            "limit_bytes = 250_000\nscheduler = {{ kind = 'sfq', bins = 32, one_law = true }}
             law = {{ kind = '{law}' }}"
        ));
        let load = Load { mbps: &[10.0, 10.0, 0.1], packet_bytes: 1000, link_mbps: 10.0 };
        let got = load.throughputs(&mut rig, 10.0, 40.0);
        println!("{law}: {got:.3?} dropped {:?}", [0, 1, 2].map(|flow| rig.dropped(flow)));
        assert_eq!(rig.dropped(2), 0, "{law}");
        assert!(rig.dropped(0) > 1000 && rig.dropped(1) > 1000, "{law}");
        assert!((got[0] - got[1]).abs() < 0.1 * got[0], "{law}: {got:?}");
        rig.assert_conserved();
    }
}

#[test]
fn all_of_a_limit_may_be_used_by_one_flow() {
    for scheduler in ["sfq", "fq", "drr", "wfq", "scfq", "abb"] {
        let keys = format!("limit_bytes = 10_000\nscheduler = {{ kind = '{scheduler}' }}");
        let mut rig = Rig::of(&keys);
        (0..10).for_each(|seq| rig.put(datagram(0, seq, 1000)));
        assert_eq!(rig.backlog(), Count { bytes: 10_000, packets: 10 }, "{scheduler}");
        assert_eq!(rig.drain().len(), 10);
        assert_eq!(TRAFFIC.iter().enumerate().map(|(n, _)| rig.dropped(n)).sum::<u64>(), 0);
    }
}

// SFQ of Linux: net/sched/sch_sfq.c, held against the kernel's own verdicts in kernel_verdicts.rs.

const SFQ_LINUX: &str = "scheduler = { kind = 'sfq_linux', quantum_bytes = 1500";

#[test]
fn sfq_of_linux_puts_a_busy_bin_at_the_end_of_the_round() {
    // Quantum 1500: two packets of 1000 use it up (1500 - 2000 < 0), then one, as 1000 are left.
    let mut rig = Rig::of(&format!("{SFQ_LINUX} }}"));
    put(&mut rig, "aaaabbbb");
    assert_eq!(take(&mut rig, 1), "a");
    put(&mut rig, "c");
    assert_eq!(take(&mut rig, 8), "abbcabab");
}

#[test]
fn sfq_of_linux_drops_from_the_longest_bin_that_changed_last() {
    // a and b hold 3 each, b changed last. c is let in, and b loses its tail; then a is the longest alone.
    let mut rig = Rig::of(&format!("limit_packets = 6\n{SFQ_LINUX} }}"));
    put(&mut rig, "aaabbbc");
    assert_eq!((rig.dropped(0), rig.dropped(1)), (0, 1));
    put(&mut rig, "c");
    assert_eq!((rig.dropped(0), rig.dropped(1)), (1, 1));
    assert_eq!(rig.drain(), [(0, 0), (0, 1), (1, 3), (1, 4), (2, 6), (2, 7)]);
}

#[test]
fn sfq_of_linux_takes_from_the_next_in_turn_where_all_hold_one() {
    let mut rig = Rig::of(&format!("limit_packets = 3\n{SFQ_LINUX} }}"));
    put(&mut rig, "abcd");
    assert_eq!(rig.dropped(0), 1);
    assert_eq!(take(&mut rig, 3), "bcd");
}

#[test]
fn sfq_limits_each_flow_and_drops_its_head_if_so_set() {
    let left = |keys: &str| {
        let mut rig = Rig::of(&format!("{SFQ_LINUX}, flow_limit_packets = 2{keys} }}"));
        put(&mut rig, "aaab");
        assert_eq!(rig.dropped(0), 1);
        rig.drain()
    };
    assert_eq!(left(""), [(0, 0), (0, 1), (1, 3)]);
    assert_eq!(left(", head_drop = true"), [(0, 1), (0, 2), (1, 3)]);
    // 127 is what the kernel's depth is.
    let mut rig = Rig::of(&format!("{SFQ_LINUX} }}"));
    put(&mut rig, &"a".repeat(130));
    assert_eq!(rig.dropped(0), 3);
}

/// Numbers of ten packets of a flow, half of which came before its hash changed.
fn perturbed(kind: &str) -> Vec<u64> {
    let mut rig = Rig::of(&format!("scheduler = {{ kind = '{kind}', perturb_s = 10 }}"));
    put(&mut rig, "aaaaa");
    rig.wait(Time::from_s(10));
    put(&mut rig, "aaaaa");
    rig.drain().into_iter().map(|(_, seq)| seq).collect()
}

#[test]
fn a_new_hash_lets_packets_overtake_unless_those_that_wait_move_too() {
    // Both bins have their first quantum, 1514 bytes or two packets of 1000, the older one first.
    let reordered = perturbed("sfq");
    assert_eq!(reordered[..4], [0, 1, 5, 6]);
    assert!(!reordered.is_sorted());
    assert_eq!(perturbed("sfq_linux"), (0..10).collect::<Vec<_>>());
}

#[test]
fn a_new_hash_parts_flows_that_shared_a_bin() {
    // With two bins, two flows share one by chance; over 40 hashes that happens about half of the time.
    let mut rig =
        Rig::of("scheduler = { kind = 'sfq', bins = 2, perturb_s = 1, quantum_bytes = 1000 }");
    let mut shared = 0;
    for _ in 0..40 {
        rig.wait(Time::from_s(1));
        put(&mut rig, "aabb");
        shared += u32::from(take(&mut rig, 4) == "aabb");
    }
    assert!((8..=32).contains(&shared), "{shared} of 40");
}

/// How often a queue of FQ was busy in a modem that gets a packet every 100 ms.
fn busy_share(dialect: &str, modem: &str) -> f64 {
    let scenario = scenario(&format!(
        "duration_s = 20
         dialect = '{dialect}'
         upstream = {{ sustained_mbps = 5, peak_mbps = 20, burst_bytes = 100_000,
                       modem.kind = '{modem}', queue.scheduler.kind = 'fq' }}
         downstream = {{ sustained_mbps = 20, peak_mbps = 50, burst_bytes = 100_000 }}
         servers.near = {{ delay_ms = 0, rate_mbps = 1_000_000 }}
         traffic.call = {{ kind = 'stream', purpose = 'data', direction = 'up', server = 'near',
                           packet_bytes = 200, interval_ms = 100 }}
         metrics.series_interval_ms = 7"
    ));
    let results = Simulation::run(&scenario);
    let values = &series(&results, "upstream", "busy_queues").series.values;
    values.iter().filter(|value| **value > 0.0).count() as f64 / values.len() as f64
}

#[test]
fn a_modem_whose_grant_ends_with_the_last_packet_asks_for_another() {
    // Otherwise the queue would keep its place, and what it has spent, until the next packet. A packet waits for its
    // grant for 4 to 9 of 100 ms.
    for modem in ["single_queue", "shared_channel"] {
        let share = busy_share("rfc", modem);
        assert!((0.02..0.12).contains(&share), "{modem}: {share}");
    }
    // ns-2's modem does not ask (docsislink.cc).
    assert!(busy_share("ns2", "single_queue") > 0.95);
}
