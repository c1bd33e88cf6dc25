//! TCP on the path: segments to the ends of connections, the segments that these send, and their
//! timers.

use super::Simulation;
use sojourn_engine::packet::{DATAGRAM, Packet};
use sojourn_engine::units::Time;
use sojourn_engine::wake::StageId;
use sojourn_scenario::apps::{ConnectionId, End};

impl Simulation {
    /// Handles a packet that has arrived at its destination.
    pub(super) fn arrive(&mut self, end: End, packet: &Packet) {
        self.ledger.delivered(self.now, packet);
        if self.stopped[usize::from(packet.traffic)] > 0 {
            self.arrives_late(packet);
        }
        if !packet.is_of_connection() {
            self.ledger.received(packet, u64::from(packet.size));
            return if packet.flow == DATAGRAM {
                self.hear(packet)
            } else {
                self.arrive_outside(packet)
            };
        }
        let connection = self.connections.get_mut(packet.flow);
        if connection.generation != packet.generation {
            return; // a late packet of a closed connection
        }
        let config = &self.configs[usize::from(connection.config)];
        let (clock, of_sender) =
            (connection.clocks[end as usize], connection.clocks[1 - end as usize]);
        let as_sent = (of_sender.reading(packet.sent_at), packet.ecn);
        let now = clock.reading(self.now);
        let events =
            connection.ends.on_segment(end as usize, now, &packet.segment, as_sent, config);
        if events.received_bytes > 0 {
            self.ledger.received(packet, events.received_bytes);
        }
        if events.rtt > Time::ZERO {
            self.ledger.round_trip(self.now, packet, clock.span(events.rtt));
        }
        if events.echo_age > Time::ZERO {
            self.ledger.echo(self.now, packet, clock.span(events.echo_age));
        }
        // FullTcp informs the application first, and the acknowledgement goes out with its data
        // (tcp-full.cc `recv`).
        let app_first = config.is_full();
        if !app_first {
            self.pump(packet.flow, end);
        }
        if events.concern_app() {
            self.report_segment(packet.flow, end, &events);
        }
        let id = ConnectionId { slot: packet.flow, generation: packet.generation };
        if app_first && self.connections.current(id).is_some() {
            self.pump(packet.flow, end);
        }
        self.release_if_done(packet.flow, packet.generation);
    }

    /// Sends all segments that an end wants to send now, and sets its timer.
    pub(super) fn pump(&mut self, slot: u32, end: End) {
        let timer = self.timer_of(slot, end);
        let config = self.connections.get_mut(slot).config;
        loop {
            let config = &self.configs[usize::from(config)];
            let connection = self.connections.get_mut(slot);
            if connection.ends.is_silent(end as usize) {
                return self.timers.set_no_later(timer, connection.deadline(end));
            }
            // A clock that is read once lets the compiler compute ahead what few senders need.
            let now = connection.reading(end, self.now);
            let Some(departure) = connection.ends.poll(end as usize, now, config) else {
                break;
            };
            let mut packet = connection.packet(self.now, slot, end, departure);
            packet.size = self.byte_count.of_ip(packet.size);
            self.send(packet);
        }
        let connection = self.connections.get_mut(slot);
        let config = &self.configs[usize::from(config)];
        let now = connection.reading(end, self.now);
        let (ends, end_number) = (&mut connection.ends, end as usize);
        if ends.needs_jitter(end_number, config) {
            let draw = self.instances[connection.owner.app as usize].send_jitter.uniform();
            ends.draw_jitter(end_number, now, draw, config);
        }
        self.timers.set_no_later(timer, connection.deadline(end));
    }

    /// Handles the timer of this number among those of connections. If it was moved later since, it is
    /// only set again.
    pub(super) fn on_timer(&mut self, timer: StageId) {
        let (slot, end) =
            (timer / 2, if timer.is_multiple_of(2) { End::Home } else { End::Server });
        self.timers.set(self.timer_of(slot, end), Time::NEVER);
        let connection = self.connections.get_mut(slot);
        let config = &self.configs[usize::from(connection.config)];
        let now = connection.reading(end, self.now);
        if connection.ends.deadline(end as usize) <= now {
            connection.ends.on_timer(end as usize, now, config);
        }
        self.pump(slot, end);
    }

    /// The app may have aborted the connection, which is then released already.
    fn release_if_done(&mut self, slot: u32, generation: u16) {
        let id = ConnectionId { slot, generation };
        if self.connections.current(id).is_some_and(|connection| connection.is_done()) {
            self.release(slot);
        }
    }

    pub(super) fn release(&mut self, slot: u32) {
        let connection = self.connections.get_mut(slot);
        let traffic = connection.owner.traffic;
        self.ledger.settle(slot, traffic, connection.tallies(), Some(self.now));
        self.connections.release(slot);
        for end in [End::Home, End::Server] {
            self.timers.set(self.timer_of(slot, end), Time::NEVER);
        }
    }

    /// The place of the timer of an end of a connection, behind those of all apps.
    pub(super) fn timer_of(&self, slot: u32, end: End) -> StageId {
        self.instances.len() as StageId + 2 * slot + end as StageId
    }
}
