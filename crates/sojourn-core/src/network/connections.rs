//! The table of TCP connections. Slots are used again; generations tell their uses apart.

use crate::apps::{ConnectionId, End};
use crate::count::Tally;
use crate::packet::Packet;
use crate::tcp::{Config, Departure, Endpoint};
use crate::units::Time;

/// Who sends a packet: an entry of the traffic list in a home.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// The number of its app.
    pub app: u32,
    /// The traffic entry.
    pub traffic: u16,
    /// The home.
    pub home: u16,
}

/// Where a connection goes.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The server at its other end.
    pub server: u16,
    /// Hash of addresses and ports, up and down.
    pub tuples: [u32; 2],
    /// The service flows that classifiers send it through, up and down.
    pub service_flows: [u8; 2],
}

/// A connection: both of its ends, and whose it is.
pub struct Connection {
    /// Which use of the slot this is.
    pub generation: u16,
    /// Whose it is.
    pub owner: Owner,
    /// The app's mark.
    pub tag: u32,
    route: Route,
    /// The home's end and the server's.
    pub ends: [Endpoint; 2],
}

impl Connection {
    /// A connection that the home is about to open.
    pub fn new(owner: Owner, tag: u32, route: Route, config: &Config) -> Self {
        let mut home = Endpoint::new(config);
        home.open();
        Self { generation: 0, owner, tag, route, ends: [home, Endpoint::new(config)] }
    }

    /// Both ends have closed and know it of each other.
    pub fn is_done(&self) -> bool {
        self.ends.iter().all(Endpoint::is_done)
    }

    /// What its ends had to do twice, up and down.
    pub fn tallies(&self) -> [Tally; 2] {
        [self.ends[0].tally(), self.ends[1].tally()]
    }

    /// A segment of this connection, packed.
    pub fn packet(&self, now: Time, slot: u32, from: End, departure: Departure) -> Packet {
        Packet {
            sent_at: now,
            queued_at: now,
            segment: departure.segment,
            tuple: self.route.tuples[from as usize],
            flow: slot,
            generation: self.generation,
            traffic: self.owner.traffic,
            server: self.route.server,
            home: self.owner.home,
            service_flow: self.route.service_flows[from as usize],
            size: departure.size,
            direction: from.outward(),
            ecn: departure.ecn,
            number: [0; 3],
        }
    }
}

/// All connections, open and closed.
#[derive(Default)]
pub struct Connections {
    slots: Vec<Connection>,
    free: Vec<u32>,
}

impl Connections {
    /// Puts a connection into a slot; says whether the slot is a new one.
    pub fn open(&mut self, mut connection: Connection) -> (ConnectionId, bool) {
        if let Some(slot) = self.free.pop() {
            let old = &mut self.slots[slot as usize];
            connection.generation = old.generation;
            *old = connection;
            return (self.id(slot), false);
        }
        self.slots.push(connection);
        (self.id(self.slots.len() as u32 - 1), true)
    }

    /// The connection in a slot.
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> &mut Connection {
        &mut self.slots[slot as usize]
    }

    /// As above, if the slot was ever used.
    pub fn get(&self, slot: u32) -> Option<&Connection> {
        self.slots.get(slot as usize)
    }

    /// The connection, if the slot has not been released since.
    pub fn current(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        Some(&mut self.slots[id.slot as usize]).filter(|c| c.generation == id.generation)
    }

    /// The name of what is in a slot.
    pub fn id(&self, slot: u32) -> ConnectionId {
        ConnectionId { slot, generation: self.slots[slot as usize].generation }
    }

    /// The connections that are not done, with their slots.
    pub fn open_ones(&self) -> impl Iterator<Item = (u32, &Connection)> {
        (0..).zip(&self.slots).filter(|(_, connection)| !connection.is_done())
    }

    /// Frees a slot: packets still on the way to it belong to no one.
    pub fn release(&mut self, slot: u32) {
        let connection = &mut self.slots[slot as usize];
        connection.generation = connection.generation.wrapping_add(1);
        self.free.push(slot);
    }
}
