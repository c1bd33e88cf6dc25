//! The CMTS restores the order of segments that a service flow sends on several channels, and a modem that of packets which
//! come on several. Downstream each packet is a segment of its own.
//!
//! In Multiple Transmit Channel mode a modem puts its packets one behind the other, and sends of that what each grant
//! holds, as a segment whose header carries a sequence number (continuous concatenation and fragmentation, MULPI §7.2.5).
//! A channel delivers its segments in order; those of several channels may pass each other. A packet goes on when all
//! segments before its last byte have come. Where a later segment has come, the CMTS waits for the missing one no longer
//! than the time-out. Then the packets that have bytes in it are lost, also if it comes later.

use std::collections::VecDeque;

use sojourn_engine::count::Count;
use sojourn_engine::packet::{DropReason, Packet};
use sojourn_engine::record::{Part as DelayPart, Recorder};
use sojourn_engine::units::Time;
use sojourn_engine::wake::Wake;

/// A segment on its way to the CMTS, or at it and waiting for one before it.
pub(super) struct Segment {
    /// When its last byte is at the CMTS; never, if it is lost.
    pub arrives: Time,
    /// Is its end lost, so that a packet that goes on in the next segment is incomplete?
    pub is_damaged: bool,
    /// The channel that carries it.
    pub channel: u8,
}

/// A packet whose last byte is in a segment.
pub(super) struct Carried {
    pub packet: Packet,
    /// The numbers of the segments with its first and its last byte.
    pub began: u64,
    pub ended: u64,
    /// When the last of them begins, when the channel has received its last byte, and when the CMTS has it.
    pub since: Time,
    pub received: Time,
    pub arrives: Time,
}

/// The segments of a service flow that the CMTS has not put in order.
struct Order {
    /// The number of the first of them, and since when it is the first.
    first: u64,
    turn: Time,
    segments: VecDeque<Segment>,
    packets: VecDeque<Carried>,
    /// When segments behind the first one are at the CMTS, with their numbers: each that comes before all that were sent
    /// later. The first of them is the first to come.
    passing: VecDeque<(u64, Time)>,
    /// The last segment of which something is missing.
    broken: Option<u64>,
}

impl Order {
    fn new() -> Self {
        let (segments, packets, passing) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Self { first: 0, turn: Time::ZERO, segments, packets, passing, broken: None }
    }

    /// Is the next packet one of the first segment?
    fn next_packet(&self) -> Option<&Carried> {
        self.packets.front().filter(|next| next.ended == self.first)
    }

    /// When something is due.
    fn next(&self, timeout: Time) -> Time {
        let Some(segment) = self.segments.front() else { return Time::NEVER };
        let comes = self.next_packet().map_or(segment.arrives, |next| next.arrives);
        let passed = self.passing.front().map_or(Time::NEVER, |(_, at)| *at + timeout);
        comes.min(passed).max(self.turn)
    }

    /// The next segment is the first.
    fn go_on(&mut self, now: Time) -> Option<Segment> {
        let segment = self.segments.pop_front()?;
        (self.first, self.turn) = (self.first + 1, now);
        while self.passing.pop_front_if(|(number, _)| *number <= self.first).is_some() {}
        Some(segment)
    }
}

/// The CMTS puts the segments of all service flows in order.
pub(super) struct Resequencer {
    timeout: Time,
    orders: Vec<Order>,
    due: Wake,
    /// Segments that the CMTS did not wait for any longer, by channel.
    pub given_up: Vec<u64>,
}

impl Resequencer {
    pub(super) fn new(timeout: Time, channels: usize) -> Self {
        Self { timeout, orders: Vec::new(), due: Wake::new(2), given_up: vec![0; channels] }
    }

    /// Adds service flows.
    pub(super) fn grow(&mut self, flows: usize) {
        self.orders.resize_with(flows, Order::new);
        self.due.grow(flows);
    }

    /// The number of the next segment of a service flow.
    pub(super) fn next_number(&self, flow: u32) -> u64 {
        let order = &self.orders[flow as usize];
        order.first + order.segments.len() as u64
    }

    /// A packet ends in the next segment.
    pub(super) fn carry(&mut self, flow: u32, carried: Carried) {
        self.orders[flow as usize].packets.push_back(carried);
    }

    /// The next segment is sent.
    pub(super) fn send(&mut self, flow: u32, segment: Segment) {
        let order = &mut self.orders[flow as usize];
        if !order.segments.is_empty() {
            let number = order.first + order.segments.len() as u64;
            while order.passing.pop_back_if(|(_, at)| *at >= segment.arrives).is_some() {}
            order.passing.push_back((number, segment.arrives));
        }
        order.segments.push_back(segment);
        self.due.set(flow, order.next(self.timeout));
    }

    pub(super) fn next_wake(&self) -> Time {
        self.due.next()
    }

    /// Does one thing that is due. Returns a packet that goes on.
    pub(super) fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        let flow = self.due.next_stage();
        let order = &mut self.orders[flow as usize];
        let mut goes_on = None;
        if order.next_packet().is_some_and(|next| next.arrives <= now) {
            if let Some(carried) = order.packets.pop_front() {
                goes_on = pass(carried, order.broken, now, recorder);
            }
        } else if let Some(segment) = order.go_on(now) {
            let number = order.first - 1;
            let is_late = segment.arrives > now;
            self.given_up[usize::from(segment.channel)] += u64::from(is_late);
            if is_late || segment.is_damaged {
                order.broken = Some(number);
            }
            while let Some(late) = order.packets.pop_front_if(|next| next.ended == number) {
                lose(&late, recorder);
            }
        }
        self.due.set(flow, order.next(self.timeout));
        goes_on
    }

    /// Packets and bytes in segments.
    pub(super) fn inside(&self) -> Count {
        let carried = self.orders.iter().flat_map(|order| &order.packets);
        carried.map(|carried| Count::of(&carried.packet)).sum()
    }

    /// The run ends: packets have spent their time until now.
    pub(super) fn close(&self, now: Time, recorder: &mut Recorder) {
        for Carried { packet, since, received, arrives, .. } in
            self.orders.iter().flat_map(|order| &order.packets)
        {
            let legs = [
                (DelayPart::Transmission, (*received).min(now)),
                (DelayPart::Propagation, (*arrives).min(now)),
                (DelayPart::Resequencing, now),
            ];
            recorder.delays.spends(packet, *since, legs);
        }
    }
}

/// A packet whose turn has come; nothing if bytes of it are missing.
fn pass(
    carried: Carried,
    broken: Option<u64>,
    now: Time,
    recorder: &mut Recorder,
) -> Option<Packet> {
    let Carried { packet, began, since, received, arrives, .. } = carried;
    let legs = [
        (DelayPart::Transmission, received),
        (DelayPart::Propagation, arrives),
        (DelayPart::Resequencing, now),
    ];
    if broken.is_some_and(|broken| broken >= began) {
        recorder.forwarded(now, &packet);
        recorder.lost(now, &packet, DropReason::Link, (since, legs));
        return None;
    }
    recorder.delays.spends(&packet, since, legs);
    Some(packet)
}

/// A packet is lost on its channel, or comes when the CMTS no longer waits for it.
pub(super) fn lose(carried: &Carried, recorder: &mut Recorder) {
    let Carried { packet, since, received, arrives, .. } = carried;
    let legs = [(DelayPart::Transmission, *received), (DelayPart::Propagation, *arrives)];
    recorder.forwarded(*received, packet);
    recorder.lost(*arrives, packet, DropReason::Link, (*since, legs));
}

#[cfg(test)]
#[path = "resequencer_tests.rs"]
mod tests;
