//! The table of TCP connections. Slots are reused; generations distinguish their uses.

use sojourn_engine::clock::Clock;
use sojourn_engine::count::Tally;
use sojourn_engine::packet::{Packet, Segment};
use sojourn_engine::units::Time;
use sojourn_scenario::apps::{ConnectionId, End};
use sojourn_transport::{Departure, Ends};

/// The sender of a packet: a traffic entry in a home.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    /// The number of its app.
    pub app: u32,
    /// The traffic entry.
    pub traffic: u16,
    /// The home.
    pub home: u16,
}

/// The route of a connection's packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    /// The server at its other end.
    pub server: u16,
    /// Hashes of addresses and ports, upstream and downstream.
    pub tuples: [u32; 2],
    /// The service flows that its classifiers selected, upstream and downstream, by the ECN field.
    pub service_flows: [[u8; 4]; 2],
    /// DSCP of its packets.
    pub dscp: u8,
}

/// A connection: its two ends and its owner.
pub(super) struct Connection {
    /// Counts the uses of the slot.
    pub generation: u16,
    /// The app that owns it.
    pub owner: Owner,
    /// The app's tag.
    pub tag: u32,
    pub route: Route,
    /// Its configuration in the run's list.
    pub config: u16,
    /// Has it its slot still?
    is_open: bool,
    /// The clocks of the device in the home and of the server.
    pub clocks: [Clock; 2],
    /// The end in the home and the end at the server.
    pub ends: Ends,
}

impl Connection {
    /// A connection that the home is about to open.
    pub(super) fn new(
        owner: Owner,
        tag: u32,
        route: Route,
        clocks: [Clock; 2],
        (config, ends): (u16, Ends),
    ) -> Self {
        Self { generation: 0, owner, tag, route, config, is_open: true, clocks, ends }
    }

    /// What the clock of an end shows at a simulated time.
    pub(super) fn reading(&self, end: End, at: Time) -> Time {
        self.clocks[end as usize].reading(at)
    }

    /// The simulated time at which an end's timer is due.
    pub(super) fn deadline(&self, end: End) -> Time {
        self.clocks[end as usize].instant(self.ends.deadline(end as usize))
    }

    /// Have both ends closed, and do both know it?
    pub(super) fn is_done(&self) -> bool {
        self.ends.is_done()
    }

    /// Retransmissions and timeouts of its ends, upstream and downstream.
    pub(super) fn tallies(&self) -> [Tally; 2] {
        self.ends.tallies()
    }

    /// A packet with a segment of this connection.
    pub(super) fn packet(&self, now: Time, slot: u32, from: End, departure: Departure) -> Packet {
        Packet {
            sent_at: now,
            queued_at: now,
            segment: Segment { dscp: self.route.dscp, ..departure.segment },
            tuple: self.route.tuples[from as usize],
            flow: slot,
            generation: self.generation,
            traffic: self.owner.traffic,
            server: self.route.server,
            home: self.owner.home,
            service_flow: self.route.service_flows[from as usize][departure.ecn as usize],
            size: departure.size,
            direction: from.outward(),
            ecn: departure.ecn,
            number: [0; 3],
        }
    }
}

/// All connections, open and closed.
#[derive(Default)]
pub(super) struct Connections {
    slots: Vec<Connection>,
    free: Vec<u32>,
}

impl Connections {
    /// Puts a connection into a slot. Returns its identity and whether the slot is new.
    pub(super) fn open(&mut self, mut connection: Connection) -> (ConnectionId, bool) {
        if let Some(slot) = self.free.pop() {
            let old = &mut self.slots[slot as usize];
            connection.generation = old.generation;
            *old = connection;
            return (self.id(slot), false);
        }
        let slot = u32::try_from(self.slots.len()).expect("memory ends before slots do");
        self.slots.push(connection);
        (self.id(slot), true)
    }

    /// The connection in a slot.
    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut Connection {
        &mut self.slots[slot as usize]
    }

    /// The connection in a slot, if the slot was ever used.
    pub(super) fn get(&self, slot: u32) -> Option<&Connection> {
        self.slots.get(slot as usize)
    }

    /// The connection, if its slot has not been released since.
    pub(super) fn current(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        Some(&mut self.slots[id.slot as usize]).filter(|c| c.generation == id.generation)
    }

    /// The identity of the connection in a slot.
    pub(super) fn id(&self, slot: u32) -> ConnectionId {
        ConnectionId { slot, generation: self.slots[slot as usize].generation }
    }

    /// The connections that were neither closed nor aborted, with their slots.
    pub(super) fn open_ones(&self) -> impl Iterator<Item = (u32, &Connection)> {
        (0..).zip(&self.slots).filter(|(_, connection)| connection.is_open)
    }

    /// Frees a slot. Packets still in flight to it no longer belong to a connection. A slot whose
    /// generations are used up stays empty, so that no old packet is taken for one of a later
    /// connection.
    pub(super) fn release(&mut self, slot: u32) {
        let connection = &mut self.slots[slot as usize];
        connection.is_open = false;
        connection.generation += 1;
        if connection.generation < u16::MAX {
            self.free.push(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_engine::dialect::Dialect;
    use sojourn_engine::rng::Seed;
    use sojourn_transport::TcpOptions;

    #[test]
    fn a_generation_is_never_used_twice() {
        let config = TcpOptions::default().resolve(Dialect::Rfc);
        let owner = Owner { app: 0, traffic: 0, home: 0 };
        let route = Route { server: 0, tuples: [0; 2], service_flows: [[0; 4]; 2], dscp: 0 };
        let ends = || (0, Ends::open(&config, Seed::named(1, "test")));
        let new = || Connection::new(owner, 0, route, [Clock::TRUE; 2], ends());
        let mut connections = Connections::default();
        let (first, _) = connections.open(new());
        connections.release(first.slot);
        for _ in 0..1 << 17 {
            let (id, _) = connections.open(new());
            assert_ne!(id, first);
            assert!(connections.current(first).is_none());
            connections.release(id.slot);
        }
        // A slot has 65 535 generations: 131 073 connections take three.
        assert_eq!(connections.slots.len(), 3);
    }
}
