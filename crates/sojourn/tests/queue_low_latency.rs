//! Low Latency DOCSIS: who goes to which flow, who is marked, who is sanctioned, and how both flows are
//! served.

use crate::queue_kit::{Rig, classic, datagram, low};
use sojourn::engine::packet::{Ecn, Packet, Segment};
use sojourn::engine::record::PacketEventKind;
use sojourn::engine::units::{BitRate, Time};

/// A datagram with this code point.
fn with_dscp(dscp: u8, seq: u64) -> Packet {
    let packet = datagram(2, seq, 1500);
    Packet { segment: Segment { dscp, ..packet.segment }, ..packet }
}

/// An aggregate of 100 Mb/s: 1500 B are 120 us, and the ramp is from 475.712 us to 1 ms.
fn rig(keys: &str) -> Rig {
    let mut rig = Rig::of(&format!("scheduler = {{ kind = 'low_latency', {keys} }}"));
    rig.drain_rate.sustained = BitRate::from_mbps(100.0);
    rig.drain_rate.peak = BitRate::from_mbps(100.0);
    rig
}

#[test]
fn ecn_and_code_points_choose_the_flow() {
    for (keys, ecn, dscp, is_low) in [
        ("", Ecn::Ect1, 0, true),
        ("", Ecn::Ce, 0, true),
        ("", Ecn::Ect0, 0, false),
        ("", Ecn::NotEct, 0, false),
        ("", Ecn::NotEct, 45, true),
        ("", Ecn::NotEct, 46, true),
        ("", Ecn::NotEct, 44, false),
        ("dscp = []", Ecn::NotEct, 46, false),
        ("dscp = [0]", Ecn::NotEct, 0, true),
    ] {
        let mut rig = rig(keys);
        rig.put(Packet { ecn, ..with_dscp(dscp, 1) });
        let got = rig.gauge("low_latency_packets") == 1.0;
        assert_eq!(got, is_low, "{keys} {ecn:?} {dscp}");
    }
}

#[test]
fn the_ramp_marks_by_the_backlog() {
    // With the nth packet the delay is 120 n us: likelihoods (120 n - 475.712) / 524.288 are 0.237 at
    // the 5th, 0.466, 0.695, 0.924, and 1 from the 9th. Sums 0.237, 0.703, 1.398, 1.322, 1.322: the
    // 7th, 8th, 9th ...
    let mut rig = rig("queue_protection = false");
    (1..=10).for_each(|seq| rig.put(low(seq)));
    let marked: Vec<_> = std::iter::from_fn(|| rig.take())
        .filter(|packet| packet.ecn == Ecn::Ce)
        .map(|packet| packet.segment.seq)
        .collect();
    assert_eq!(marked, [7, 8, 9, 10]);
    assert_eq!(rig.gauge("native_marks"), 4.0);
    assert_eq!(rig.gauge("coupled_marks"), 0.0);
}

#[test]
fn what_cannot_be_marked_is_left_alone() {
    let mut rig = rig("queue_protection = false");
    (1..=20).for_each(|seq| rig.put(with_dscp(46, seq)));
    assert_eq!(rig.drain().len(), 20);
    assert_eq!(rig.gauge("native_marks"), 0.0);
}

#[test]
fn the_second_full_packet_of_a_fresh_flow_is_sanctioned() {
    // Nine small packets of others wait: 9 * 1500 B are 1080 us. With one more the delay is 1.2 ms, the
    // likelihood 1 and the score 3.072 ms, of which 4 ms * 1 ms / 1.2 ms = 3.333 ms are allowed. The
    // next one has 6.144 ms at 1.2 ms or more.
    let mut rig = rig("");
    for other in 1..=9 {
        rig.put(Packet { tuple: other << 20 | other, ..with_dscp(46, other.into()) });
    }
    assert_eq!(rig.gauge("sanctioned_packets"), 0.0);
    rig.put(Packet { tuple: 30, ..low(1) });
    assert_eq!(rig.gauge("sanctioned_packets"), 0.0);
    assert_eq!(rig.gauge("low_latency_packets"), 10.0);
    rig.put(Packet { tuple: 30, ..low(2) });
    assert_eq!(rig.gauge("sanctioned_packets"), 1.0);
    assert_eq!(rig.gauge("low_latency_packets"), 10.0);
    assert_eq!(rig.gauge("classic_packets"), 1.0);
    let events = rig.recorder.events.iter();
    let sanctioned = events.filter(|event| event.kind == PacketEventKind::Sanctioned);
    assert_eq!(sanctioned.map(|event| event.traffic).collect::<Vec<_>>(), [0]);
    rig.assert_conserved();
}

#[test]
fn without_protection_nobody_is_sanctioned() {
    let mut rig = rig("queue_protection = false");
    (1..=26).for_each(|seq| rig.put(low(seq)));
    assert_eq!(rig.gauge("classic_packets"), 0.0);
}

#[test]
fn each_flow_has_its_buffer() {
    // L: 125 000 B less a packet of 2000 B, at 100 Mb/s: 82 * 1500 = 123 000 are not below it, 81 * 1500
    // are, so the 82nd packet comes in and the 83rd does not. C: 1 250 000 B are 833 packets.
    let mut rig = rig("queue_protection = false, classic_aqm = false");
    for seq in 1..=1000 {
        rig.put(low(seq));
        rig.put(classic(seq));
    }
    assert_eq!(rig.gauge("low_latency_packets"), 82.0);
    assert_eq!(rig.gauge("classic_packets"), 833.0);
    rig.assert_conserved();
}

#[test]
fn the_weight_divides_a_link() {
    // 230/256 of 512 packets are 460, with weight 128 half of them, give or take the first turn.
    for (keys, want) in [("weight = 230", 460), ("weight = 128", 256)] {
        let mut rig = rig(&format!(
            "{keys}, queue_protection = false, low_latency_buffer_bytes = 4_000_000_000,
             classic_buffer_bytes = 4_000_000_000, classic_aqm = false"
        ));
        for seq in 1..=600 {
            rig.put(low(seq));
            rig.put(classic(seq));
        }
        let served = (0..512).filter(|_| rig.take().unwrap().traffic == 0).count();
        assert!(served.abs_diff(want) <= 2, "{keys}: {served}, expected {want}");
    }
}

/// Overloads C and looks at both likelihoods after every update.
fn coupling(keys: &str, check: impl Fn(f64, f64)) {
    let mut rig = rig(keys);
    let mut seen = 0.0_f64;
    for seq in 1..=10_000 {
        rig.put(classic(3 * seq));
        rig.put(classic(3 * seq + 1));
        rig.put(classic(3 * seq + 2));
        rig.take();
        rig.take();
        rig.wait(Time::from_us(240));
        if seq % 66 > 0 {
            continue; // an update every 16 ms
        }
        let (p, coupled) = (rig.gauge("classic_probability"), rig.gauge("coupled_probability"));
        check(p, coupled);
        seen = seen.max(p);
    }
    assert!(seen > 0.25, "{seen}");
}

#[test]
fn marks_of_l_follow_the_root_of_the_drops_of_c() {
    let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-6, "{got} {want}");
    coupling("", |p, coupled| near(coupled, (2.0 * p.sqrt()).min(1.0)));
    coupling("coupling = 0.5", |p, coupled| near(coupled, (0.5 * p.sqrt()).min(1.0)));
    coupling("coupled = false", |_, coupled| near(coupled, 0.0));
}

/// The drop probability of C, whose `waiting` packets stay, while L sends so many packets in 16 ms, in turn.
fn p_beside(keys: &str, waiting: u64, sent: [u64; 2]) -> f64 {
    let mut rig = rig(&format!("queue_protection = false, classic_buffer_bytes = 200_000, {keys}"));
    (1..=waiting).for_each(|seq| rig.put(classic(seq)));
    for sent in (0..100).flat_map(|_| sent) {
        for seq in 0..sent {
            rig.put(low(seq));
            rig.queue.dequeue_member(true, rig.now, &mut rig.recorder);
        }
        rig.wait(Time::from_ms(16));
    }
    rig.gauge("classic_probability")
}

#[test]
fn the_rate_of_c_is_what_l_leaves() {
    // L takes 50 Mb/s of 100: C's 50 packets of 1500 B take 12 ms, not 6. DOCSIS-PIE with a target of
    // 10 ms moves only if it sees 12. 16 ms at 50 Mb/s are 100 000 B: 67 packets.
    for estimate in ["rate_estimate = 'mean'", "rate_estimate = 'raw'"] {
        assert_eq!(p_beside(estimate, 50, [0, 0]), 0.0);
        assert!(p_beside(estimate, 50, [67, 67]) > 0.0);
    }
}

#[test]
fn a_swinging_rate_of_l_does_not_stop_the_drops_of_c() {
    // L takes 50 Mb/s in the mean: C's 100 packets take 24 ms, and p rises as it does beside an even L.
    // One sample alternates between 12 and 118 ms, of which each fall throws p back to 0.
    let (even, swings) = ([67, 67], [134, 0]);
    let steady = p_beside("", 100, even);
    assert!(steady > 0.1, "{steady}");
    let mean = p_beside("", 100, swings);
    assert!((0.5..2.0).contains(&(mean / steady)), "{mean} {steady}");
    let raw = p_beside("rate_estimate = 'raw'", 100, swings);
    assert!(raw < 0.001, "{raw}");
}

#[test]
fn sanctioned_packets_wait_in_c_without_a_second_chance() {
    // A flow that builds the queue alone: L never holds much more than the critical delay of 1 ms.
    let mut rig = rig("");
    for seq in 1..=200 {
        rig.put(low(seq));
        assert!(rig.gauge("low_latency_packets") <= 9.0);
    }
    assert!(rig.gauge("sanctioned_packets") > 180.0);
    rig.assert_conserved();
}
