//! WFQ and SCFQ against a fluid system that is computed here, event by event and without virtual time.
//!
//! Times are in bytes: the link sends one byte of 8 bits at 10 Mbps in 0.8 us.

use std::collections::VecDeque;

use crate::queue_kit::{Load, Rig, TRAFFIC, assert_all_near, datagram};
use sojourn::engine::units::{BitRate, Time};
use sojourn_testing::at_random;
use sojourn_testing::proptest::prelude::*;

const BYTE: Time = Time::from_ps(800_000);
const FLOWS: usize = TRAFFIC.len();
const LARGEST: u16 = 1500;
/// Of a byte: what sums of floating-point numbers may be off by.
const ROUNDING: f64 = 1e-6;

type Weights = [f64; FLOWS];

/// A packet that comes.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: u64,
    flow: u16,
    size: u16,
}

fn rig(kind: &str, weights: Weights) -> Rig {
    let weights: Vec<_> =
        TRAFFIC.iter().zip(weights).map(|(name, weight)| format!("{name} = {weight}")).collect();
    Rig::of(&format!("scheduler = {{ kind = '{kind}', weights = {{ {} }} }}", weights.join(", ")))
}

/// When each packet has been sent.
fn sent(mut rig: Rig, arrivals: &[Arrival]) -> Vec<u64> {
    let mut sent = vec![0; arrivals.len()];
    let (mut now, mut free) = (0, 0);
    let mut coming = (0_u64..).zip(arrivals).peekable();
    loop {
        let arrives = coming.peek().map_or(u64::MAX, |(_, arrival)| arrival.at);
        let leaves = if rig.backlog().packets > 0 { free.max(now) } else { u64::MAX };
        let at = arrives.min(leaves);
        if at == u64::MAX {
            return sent;
        }
        rig.wait(BYTE.times(at - now));
        now = at;
        if let Some((seq, arrival)) = coming.next_if(|_| arrives <= leaves) {
            rig.put(datagram(arrival.flow, seq, arrival.size));
        } else {
            let packet = rig.take().expect("something waits");
            free = now + u64::from(packet.size);
            sent[packet.segment.seq as usize] = free;
        }
    }
}

/// When the fluid system of Parekh & Gallager 1993 §II has served each packet: flows with a backlog share the link in
/// proportion to their weights.
fn served_by_fluid(weights: Weights, arrivals: &[Arrival]) -> Vec<f64> {
    let mut queues: [VecDeque<(usize, f64)>; FLOWS] = Default::default();
    let mut served = vec![0.0; arrivals.len()];
    let mut coming = arrivals.iter().enumerate().peekable();
    let mut now = 0.0;
    loop {
        let busy = |flow: &usize| !queues[*flow].is_empty();
        let total: f64 = (0..FLOWS).filter(busy).map(|flow| weights[flow]).sum();
        let rate = |flow: usize| weights[flow] / total;
        let ends = (0..FLOWS).filter(busy).map(|flow| now + queues[flow][0].1 / rate(flow));
        let end = ends.fold(f64::INFINITY, f64::min);
        let arrives = coming.peek().map_or(f64::INFINITY, |(_, arrival)| arrival.at as f64);
        let until = end.min(arrives);
        if until == f64::INFINITY {
            return served;
        }
        for (queue, weight) in queues.iter_mut().zip(weights) {
            let Some((seq, rest)) = queue.front_mut() else { continue };
            *rest -= (until - now) * weight / total;
            if *rest < ROUNDING {
                served[*seq] = until;
                queue.pop_front();
            }
        }
        now = until;
        while let Some((seq, arrival)) = coming.next_if(|(_, arrival)| arrival.at as f64 <= now) {
            queues[usize::from(arrival.flow)].push_back((seq, arrival.size.into()));
        }
    }
}

/// The order in which SCFQ sends packets, with a tag for each that is computed as it comes (Golestani 1994).
fn order_of_scfq(weights: Weights, arrivals: &[Arrival]) -> Vec<usize> {
    let mut waiting: Vec<(f64, u16, usize)> = Vec::new();
    let (mut order, mut last) = (Vec::new(), [0.0; FLOWS]);
    let (mut now, mut free, mut next) = (0, 0, 0);
    let mut tag_in_service = 0.0;
    while order.len() < arrivals.len() {
        let first = waiting.iter().copied().min_by(|a, b| a.partial_cmp(b).unwrap());
        let leaves = first.map_or(u64::MAX, |_| free.max(now));
        if let Some(Arrival { at, flow, size }) =
            arrivals.get(next).filter(|next| next.at <= leaves)
        {
            let (tag, weight) = (&mut last[usize::from(*flow)], weights[usize::from(*flow)]);
            *tag = f64::max(tag_in_service, *tag) + f64::from(*size) / weight;
            waiting.push((*tag, *flow, next));
            (now, next) = (*at, next + 1);
        } else if let Some(first) = first {
            waiting.retain(|one| one.2 != first.2);
            order.push(first.2);
            tag_in_service = first.0;
            now = leaves;
            free = now + u64::from(arrivals[first.2].size);
        }
    }
    order
}

/// The flow of each packet, and how long after what its flow is guaranteed it is sent. A flow is guaranteed the share r of
/// its weight among all weights: a packet is due L / r after it comes, or after the one before it is due.
fn late(rig: Rig, weights: Weights, arrivals: &[Arrival]) -> Vec<(usize, f64)> {
    let total: f64 = weights.into_iter().sum();
    let mut due = [0.0_f64; FLOWS];
    let mut late = Vec::new();
    for (sent, Arrival { at, flow, size }) in sent(rig, arrivals).into_iter().zip(arrivals) {
        let flow = usize::from(*flow);
        due[flow] = due[flow].max(*at as f64) + f64::from(*size) * total / weights[flow];
        late.push((flow, sent as f64 - due[flow] * (1.0 + 1e-12)));
    }
    late
}

/// The largest packet of each flow.
fn largest(arrivals: &[Arrival]) -> Weights {
    let mut largest = [0.0_f64; FLOWS];
    for Arrival { flow, size, .. } in arrivals {
        let of_flow = &mut largest[usize::from(*flow)];
        *of_flow = of_flow.max(f64::from(*size));
    }
    largest
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    // From loads that let the queue run empty to floods.
    let gap = prop_oneof![4 => 0_u64..1200, 3 => Just(0), 1 => 0_u64..20_000];
    let packets = prop::collection::vec((gap, 0..FLOWS as u16, 64..=LARGEST), 1..300);
    packets.prop_map(|packets| {
        let mut now = 0;
        let arrive = |(gap, flow, size)| {
            now += gap;
            Arrival { at: now, flow, size }
        };
        packets.into_iter().map(arrive).collect()
    })
}

fn weights() -> impl Strategy<Value = Weights> {
    let weight = prop::sample::select(&[0.01, 0.3, 1.0, 1.0, 1.0, 2.0, 4.0, 1000.0][..]);
    prop::array::uniform6(weight)
}

at_random! {
    400;

    /// Parekh & Gallager 1993, theorem 1: a packet leaves at most L_max / C after the fluid system has served it.
    #[test]
    fn wfq_is_a_packet_behind_the_fluid_system_at_most(arrivals in arrivals(), weights in weights()) {
        let most = largest(&arrivals).into_iter().fold(0.0, f64::max);
        let served = served_by_fluid(weights, &arrivals);
        for (sent, served) in sent(rig("wfq", weights), &arrivals).into_iter().zip(served) {
            let behind = sent as f64 - served;
            prop_assert!(behind <= most + ROUNDING, "{behind} bytes behind, {most} are allowed");
        }
    }

    /// A queue that gets another rate than the link's misjudges no more of the fluid system than what has been sent of
    /// one packet. So a flow has what it is guaranteed, two packets late at most: that one, and that of theorem 1.
    #[test]
    fn wfq_keeps_in_step_with_a_link_of_another_rate(
        arrivals in arrivals(),
        weights in weights(),
        told_mbps in prop::sample::select(&[0.1, 5.0, 20.0, 1000.0][..]),
    ) {
        let mut rig = rig("wfq", weights);
        rig.drain_rate.sustained = BitRate::from_mbps(told_mbps);
        rig.drain_rate.peak = rig.drain_rate.sustained;
        for (flow, late) in late(rig, weights, &arrivals) {
            let most = 2.0 * f64::from(LARGEST);
            prop_assert!(late <= most, "{flow}: {late} bytes late, {most} are allowed");
        }
    }

    /// Golestani 1994: a packet of each other flow at most, the largest.
    #[test]
    fn scfq_is_a_packet_of_each_other_flow_late_at_most(arrivals in arrivals(), weights in weights()) {
        let largest = largest(&arrivals);
        for (flow, late) in late(rig("scfq", weights), weights, &arrivals) {
            let most = largest.into_iter().sum::<f64>() - largest[flow];
            prop_assert!(late <= most, "{flow}: {late} bytes late, {most} are allowed");
        }
    }

    /// Weights whose quotients are exact, so that ties are ties in both.
    #[test]
    fn scfq_sends_in_the_order_of_its_tags(
        arrivals in arrivals(),
        weights in prop::array::uniform6(prop::sample::select(&[0.25, 0.5, 1.0, 1.0, 2.0, 8.0][..])),
    ) {
        let sent = sent(rig("scfq", weights), &arrivals);
        let mut order: Vec<_> = (0..arrivals.len()).collect();
        order.sort_by_key(|seq| sent[*seq]);
        prop_assert_eq!(order, order_of_scfq(weights, &arrivals));
    }
}

/// The letters of flows in the order in which their packets are sent.
fn order(kind: &str, packets: &[(u64, &str, u16)]) -> String {
    let arrive = |(at, flow, size): &(u64, &str, u16)| {
        let flow = u16::from(flow.as_bytes()[0] - b'a');
        Arrival { at: *at, flow, size: *size }
    };
    let arrivals: Vec<_> = packets.iter().map(arrive).collect();
    let sent = sent(rig(kind, [1.0; FLOWS]), &arrivals);
    let mut order: Vec<_> = packets.iter().zip(sent).collect();
    order.sort_by_key(|(_, sent)| *sent);
    order.iter().map(|((_, flow, _), _)| *flow).collect()
}

/// The first is sent from 0 to 1000.
const SIX: [(u64, &str, u16); 6] = [
    (0, "a", 1000),
    (500, "b", 1000),
    (500, "c", 500),
    (500, "a", 1000),
    (1100, "d", 100),
    (2000, "e", 1000),
];

#[test]
fn wfq_sends_in_the_order_of_the_fluid_system() {
    // a alone: v = 500 at 500, so b has 1500, c 1000 and a max(500, 1000) + 1000 = 2000. c is sent from 1000 to 1500.
    // Three flows: v = 500 + 600 / 3 = 700 at 1100, so d has 800, and is next, until 1600. Then b, until 2600.
    // Four flows: v = 800 at 1100 + 4 * 100 = 1500, where d ends. Three: v = 800 + 500 / 3 = 966.7 at 2000. So e has
    // 1966.7, before a.
    assert_eq!(order("wfq", &SIX), "acdbea");
}

#[test]
fn scfq_sends_in_the_order_of_tags_after_that_in_service() {
    // v = 1000 while a is sent: b has 2000, c 1500 and a max(1000, 1000) + 1000 = 2000. c is sent from 1000 to 1500, so d
    // has 1500 + 100, and is next, until 1600. Then a and b tie at 2000: a, the lower number. So e has 3000 at 2000.
    assert_eq!(order("scfq", &SIX), "acdabe");
}

#[test]
fn weights_are_shares_to_within_a_packet() {
    for kind in ["wfq", "scfq"] {
        let mut rig = rig(kind, [1.0, 2.0, 3.0, 1.0, 1.0, 1.0]);
        for seq in 0..6000 {
            (0..3).for_each(|flow| rig.put(datagram(flow, seq, 1000)));
        }
        let mut packets = [0.0; 3];
        for sent in 1..=6000 {
            rig.wait(BYTE.times(1000));
            packets[usize::from(rig.take().unwrap().traffic)] += 1.0;
            for (packets, weight) in packets.iter().zip([1.0, 2.0, 3.0]) {
                let share = f64::from(sent) * weight / 6.0;
                assert!((packets - share).abs() <= 1.0, "{kind}: {packets} of {share} packets");
            }
        }
        assert_eq!(packets, [1000.0, 2000.0, 3000.0], "{kind}");
    }
}

#[test]
fn a_flow_does_not_pay_for_what_an_overflow_drops() {
    for kind in ["wfq", "scfq"] {
        // Of six packets of a the heads 0 to 2 are dropped. b takes the place of 3: a's have the tags 1000 and 2000, b's has
        // 1000 too. Had a paid for those that were dropped, b would go first.
        let mut rig = Rig::of(&format!("limit_packets = 3\nscheduler.kind = '{kind}'"));
        (0..6).for_each(|seq| rig.put(datagram(0, seq, 1000)));
        rig.put(datagram(1, 0, 1000));
        assert_eq!(rig.dropped(0), 4, "{kind}");
        assert_eq!(rig.drain(), [(0, 4), (1, 0), (0, 5)], "{kind}");
        rig.assert_conserved();
    }
}

/// Two floods of two and nine times the share of each, with an algorithm that drops heads: CoDel drops most packets of
/// the faster one, and both have half of the link.
#[test]
fn a_flow_does_not_pay_for_what_its_algorithm_drops() {
    for kind in ["wfq", "scfq"] {
        let mut rig = Rig::of(&format!(
            "limit_bytes = 1_000_000\nscheduler.kind = '{kind}'\nlaw.kind = 'codel'"
        ));
        let load = Load { mbps: &[10.0, 45.0], packet_bytes: 1000, link_mbps: 10.0 };
        let got = load.throughputs(&mut rig, 2.0, 22.0);
        // A packet each of 1000 bytes in 20 s is 0.0004 Mbps.
        assert_all_near(&got, &[5.0, 5.0], 0.001);
        rig.assert_conserved();
    }
}

#[test]
fn flows_are_limited_one_by_one() {
    for kind in ["wfq", "scfq"] {
        let mut rig =
            Rig::of(&format!("scheduler = {{ kind = '{kind}', flow_limit_packets = 4 }}"));
        (0..6).for_each(|seq| rig.put(datagram(0, seq, 1000)));
        rig.put(datagram(1, 0, 1000));
        assert_eq!((rig.dropped(0), rig.dropped(1)), (2, 0), "{kind}");
        assert_eq!(rig.drain(), [(0, 0), (1, 0), (0, 1), (0, 2), (0, 3)], "{kind}");
    }
}
