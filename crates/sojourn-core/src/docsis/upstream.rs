//! The upstream of the home: a modem, or a plain link where no request-grant MAC is wanted.

use super::{MacCounters, Modem, Place, ShapedLink};
use crate::metrics::{Count, Ledger};
use crate::packet::Packet;
use crate::queue::Queue;
use crate::scenario::schema::{self, ModemSpec};
use crate::units::Time;

/// What a home sends through.
pub enum Upstream {
    /// Queue, shaping, request and grant.
    Modem(Box<Modem>),
    /// Queue and shaping.
    Link(Box<ShapedLink>),
}

impl Upstream {
    /// Nothing waits and the token buckets are full.
    pub fn new(spec: &schema::Upstream, place: &Place) -> Self {
        match spec.modem {
            ModemSpec::Link => Self::Link(Box::new(ShapedLink::upstream(spec, place))),
            _ => Self::Modem(Box::new(Modem::new(spec, place))),
        }
    }

    /// Tells the names of the traffic entries, by the number that packets carry.
    pub fn name_traffic(&mut self, names: &[&str], watch_flows: usize) {
        match self {
            Self::Modem(modem) => modem.name_traffic(names, watch_flows),
            Self::Link(link) => link.name_traffic(names, watch_flows),
        }
    }

    /// Takes a packet from the home; gives the packet that is sent at once, if there is one, and when
    /// its last byte leaves.
    #[inline]
    pub fn accept(
        &mut self,
        now: Time,
        packet: Packet,
        ledger: &mut Ledger,
    ) -> Option<(Time, Packet)> {
        match self {
            Self::Modem(modem) => {
                modem.accept(now, packet, ledger);
                None
            }
            Self::Link(link) => link.accept(now, packet, ledger),
        }
    }

    /// When it wants to be woken next.
    #[inline]
    pub fn next_wake(&self) -> Time {
        match self {
            Self::Modem(modem) => modem.next_wake(),
            Self::Link(link) => link.next_wake(),
        }
    }

    /// Does what is due; gives the packet that is sent, if there is one, and when its last byte
    /// leaves.
    pub fn wake(&mut self, now: Time, ledger: &mut Ledger) -> Option<(Time, Packet)> {
        match self {
            Self::Modem(modem) => modem.wake(now, ledger).map(|packet| (now, packet)),
            Self::Link(link) => link.wake(now, ledger),
        }
    }

    /// Packets and bytes it holds.
    pub fn inside(&self) -> Count {
        match self {
            Self::Modem(modem) => modem.inside(),
            Self::Link(link) => link.inside(),
        }
    }

    /// What a user must know before trusting the results.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Modem(modem) => modem.warnings().collect(),
            Self::Link(_) => Vec::new(),
        }
    }

    /// Its queues, the one with the queue manager first.
    pub fn queues(&self) -> Vec<&Queue> {
        match self {
            Self::Modem(modem) => modem.queues().collect(),
            Self::Link(link) => vec![link.queue()],
        }
    }

    /// What its MAC did, if it has one.
    pub fn mac_counters(&self) -> Option<MacCounters> {
        match self {
            Self::Modem(modem) => Some(modem.counters()),
            Self::Link(_) => None,
        }
    }

    /// Samples its queues for their series.
    pub fn sample(&mut self, now: Time) {
        match self {
            Self::Modem(modem) => modem.sample(now),
            Self::Link(link) => link.sample(),
        }
    }
}
