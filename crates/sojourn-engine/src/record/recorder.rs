//! What stages record of the packets that pass them: forwarded, dropped for a reason, marked or
//! sanctioned.

use super::delay_parts::{Delay, DelayBook, Legs};
use super::queue_meter::Member;
use super::service_flows::{ServiceFlowBook, ServiceFlowCounters};
use super::trace::{Outcome, Trace};
use crate::count::Count;
use crate::packet::{Direction, DropReason, Packet};
use crate::units::Time;

/// What happened to a packet on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketEventKind {
    /// It was dropped.
    Dropped(DropReason),
    /// A queue marked it.
    Marked,
    /// Queue Protection kept it out of a low-latency queue.
    Sanctioned,
}

/// An event, and what accounts must know of its packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketEvent {
    /// What happened.
    pub kind: PacketEventKind,
    /// When it happened.
    pub at: Time,
    /// When the packet was sent.
    pub sent_at: Time,
    /// Slot of its connection; [`crate::packet::DATAGRAM`] for none.
    pub flow: u32,
    /// Generation of that slot.
    pub generation: u16,
    /// Number of its traffic entry.
    pub traffic: u16,
    /// The home it comes from or goes to.
    pub home: u16,
    /// Bytes on the wire.
    pub size: u16,
    /// Which way it went.
    pub direction: Direction,
}

/// A packet from outside that will not arrive.
#[derive(Clone, Copy, Debug)]
pub struct LostOutside {
    /// The number that it was given outside.
    pub handle: u64,
    /// The number of its conversation.
    pub flow: u32,
    /// Its traffic entry.
    pub traffic: u16,
    /// Which way it went.
    pub direction: Direction,
    /// When it is lost.
    pub at: Time,
    /// Why.
    pub reason: DropReason,
}

/// Counts by service flow, sums what packets spend their time on, writes the traces, and keeps events until they
/// are read into accounts.
pub struct Recorder {
    service_flows: ServiceFlowBook,
    /// What packets spend their time on.
    pub delays: DelayBook,
    /// The delays of traced packets that were delivered, in the order of arrival.
    traced: Vec<Delay>,
    trace: Option<Box<Trace>>,
    end: Time,
    lost_after_end: Count,
    /// What has happened since it was last read.
    pub events: Vec<PacketEvent>,
    /// The packets from outside that were lost since it was last read.
    pub lost_outside: Vec<LostOutside>,
}

impl Default for Recorder {
    /// Of one home with one service flow and one traffic entry. It keeps no traces, and its run does not end.
    fn default() -> Self {
        let delays = DelayBook::new(Time::ZERO, 1, false);
        Self::new(ServiceFlowBook::lone(), delays, None, Time::NEVER)
    }
}

impl Recorder {
    /// For a run that ends at `end`, with the counters of its service flows, the sums of its delays and its traces.
    pub fn new(
        service_flows: ServiceFlowBook,
        delays: DelayBook,
        trace: Option<Box<Trace>>,
        end: Time,
    ) -> Self {
        let (lost_after_end, events, traced) = (Count::default(), Vec::new(), Vec::new());
        let lost_outside = Vec::new();
        Self { service_flows, delays, traced, trace, end, lost_after_end, events, lost_outside }
    }

    /// Does a packet count in tables? All of them count those that are sent from `metrics.from_s` on.
    #[inline]
    pub fn counts(&self, packet: &Packet) -> bool {
        self.delays.counts(packet)
    }

    #[inline]
    fn service_flow(&mut self, packet: &Packet) -> &mut ServiceFlowCounters {
        self.service_flows.of_packet(packet, self.delays.counts(packet))
    }

    /// A packet for a home comes to the access network.
    #[inline]
    pub fn reached_access(&mut self, now: Time, packet: &Packet) {
        if let Some(trace) = &mut self.trace {
            trace.reached_access(now, packet);
        }
    }

    /// A packet leaves its service flow: its last byte is sent at this time.
    #[inline]
    pub fn forwarded(&mut self, at: Time, packet: &Packet) {
        self.service_flow(packet).forwarded.add(packet);
        if let Some(trace) = &mut self.trace {
            trace.forwarded(at, packet);
        }
    }

    /// A packet is sent on that the sustained rate of its service flow held back.
    #[inline]
    pub fn delayed(&mut self, packet: &Packet) {
        self.service_flow(packet).delayed_packets += 1;
    }

    /// A packet has come to its endpoint.
    #[inline]
    pub fn delivered(&mut self, now: Time, packet: &Packet) {
        if let Some(trace) = &mut self.trace {
            trace.ended(now, packet, Outcome::Delivered);
            let is_kept = trace.modem().is_some_and(|modem| modem.cut_at().is_none());
            let delay = is_kept.then(|| self.delays.delay_of(packet));
            self.traced.extend(delay.flatten());
        }
    }

    /// The queue at work drops a packet, which is gone with this call.
    #[cold]
    pub fn dropped(&mut self, now: Time, packet: Packet, reason: DropReason) {
        self.delays.drops(now, &packet);
        self.ended(now, &packet, reason);
        self.delays.has_dropped(packet);
    }

    /// A packet that is in no queue is lost at the end of these legs, which may be later than now; it is gone with
    /// this call.
    #[cold]
    pub fn lost<const N: usize>(
        &mut self,
        at: Time,
        packet: &Packet,
        reason: DropReason,
        (since, legs): (Time, Legs<N>),
    ) {
        self.delays.spends(packet, since, legs);
        if at > self.end {
            self.report(at, packet, reason);
            self.delays.lost_after_end(at, packet);
            self.lost_after_end.add(packet);
        } else {
            self.ended(at, packet, reason);
        }
    }

    /// Whoever has the rest of a packet from outside forgets it.
    fn report(&mut self, at: Time, packet: &Packet, reason: DropReason) {
        if packet.is_outside() {
            let Packet { flow, traffic, direction, .. } = *packet;
            let handle = packet.segment.seq;
            self.lost_outside.push(LostOutside { handle, flow, traffic, direction, at, reason });
        }
    }

    fn ended(&mut self, at: Time, packet: &Packet, reason: DropReason) {
        self.report(at, packet, reason);
        self.service_flow(packet).dropped[reason as usize].add(packet);
        self.keep(at, PacketEventKind::Dropped(reason), packet);
        if let Some(trace) = &mut self.trace {
            trace.ended(at, packet, Outcome::Dropped(reason));
        }
    }

    /// A queue marks a packet (RFC 3168 §5) rather than dropping it.
    pub fn marked(&mut self, now: Time, packet: &Packet) {
        self.service_flow(packet).marked_packets += 1;
        self.keep(now, PacketEventKind::Marked, packet);
        if let Some(trace) = &mut self.trace {
            trace.marked(now, packet);
        }
    }

    /// A packet goes to one of two queues.
    #[inline]
    pub fn goes_to(&mut self, packet: &Packet, low: bool) {
        if let Some(trace) = &mut self.trace {
            trace.goes_to(packet, if low { Member::LowLatency } else { Member::Classic });
        }
    }

    /// Queue Protection sends a packet of a low-latency queue to the classic one (RFC 9957 §4).
    pub fn sanctioned(&mut self, now: Time, packet: &Packet) {
        self.keep(now, PacketEventKind::Sanctioned, packet);
        if let Some(trace) = &mut self.trace {
            trace.sanctioned(now, packet);
        }
    }

    /// Out of the way of packets to which nothing happens.
    #[inline(never)]
    fn keep(&mut self, at: Time, kind: PacketEventKind, packet: &Packet) {
        let Packet { sent_at, flow, generation, traffic, home, size, direction, .. } = *packet;
        self.events.push(PacketEvent {
            kind,
            at,
            sent_at,
            flow,
            generation,
            traffic,
            home,
            size,
            direction,
        });
    }

    /// The counters of service flows.
    pub fn service_flows(&self) -> &ServiceFlowBook {
        &self.service_flows
    }

    /// Packets whose loss is known ahead and comes after the end of the run.
    pub fn lost_after_end(&self) -> Count {
        self.lost_after_end
    }

    /// The traces, if any are kept.
    #[inline]
    pub fn trace(&mut self) -> Option<&mut Trace> {
        self.trace.as_deref_mut()
    }

    /// The delays of traced packets, when the run is over.
    pub fn take_delays(&mut self) -> Vec<Delay> {
        std::mem::take(&mut self.traced)
    }

    /// The traces, when the run is over.
    pub fn take_trace(&mut self) -> Option<Box<Trace>> {
        self.trace.take()
    }
}

#[cfg(test)]
mod tests {
    use super::super::delay_parts::Part;
    use super::*;

    #[test]
    fn drops_after_the_end_are_no_events() {
        let delays = DelayBook::new(Time::ZERO, 1, false);
        let mut recorder = Recorder::new(ServiceFlowBook::lone(), delays, None, Time::from_ms(10));
        recorder.delays.enters(Time::ZERO, &Packet::datagram(100), Part::ModemQueue);
        recorder.dropped(Time::from_ms(10), Packet::datagram(100), DropReason::Aqm);
        let way = (Time::from_ms(4), [(Part::Propagation, Time::from_ms(11))]);
        recorder.lost(Time::from_ms(11), &Packet::datagram(200), DropReason::Link, way);
        let sums = recorder.delays.sums(0, Direction::Up);
        assert_eq!((sums.ps(Part::ModemQueue), sums.lost_after_end), (10_000_000_000, 1));
        assert_eq!(sums.ps(Part::Propagation), 7_000_000_000);
        assert_eq!(sums.lost_after_end_ps, 11_000_000_000);
        let [event] = &*recorder.events else { panic!("one of them was dropped before") };
        assert_eq!((event.kind, event.size), (PacketEventKind::Dropped(DropReason::Aqm), 100));
        assert_eq!(recorder.lost_after_end(), Count { packets: 1, bytes: 200 });
        let counters = recorder.service_flows().get(0, Direction::Up, 0);
        assert_eq!(counters.dropped[DropReason::Link as usize].packets, 0);
    }
}
