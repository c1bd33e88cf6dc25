//! Priority for bare TCP acknowledgements: what cable modems do so that a full upstream queue does
//! not throttle downloads (White & Rice 2013 §1.3; RFC 3449 §5.2).
//!
//! A newer acknowledgement replaces one of the same connection that still waits (RFC 3449 §5.2.1,
//! ACK filtering). Duplicate acknowledgements, and acknowledgements that follow one with SACK
//! blocks, both stay: the sender counts them as signs of loss.
//!
//! Real modems differ, and their methods are not published. Left out: thinning when no
//! acknowledgement waits, and regenerating acknowledgements at the CMTS.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::count::Count;
use crate::packet::{Own, Packet};

/// How a queue treats bare TCP acknowledgements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Acks {
    /// They wait in order with all other packets.
    #[default]
    InOrder,
    /// They go before all other packets. Their own queue has the same limit and no AQM.
    Prioritised,
    /// They go before all other packets, and a newer one replaces an older one of its connection.
    Aggregated,
}

/// Waiting acknowledgements, first in, first out.
pub(crate) struct AckLane {
    aggregates: bool,
    packets: VecDeque<Packet>,
    bytes: u64,
    /// How many have left.
    left: u64,
    /// For each flow by its index, the number of its latest acknowledgement, counted over all that
    /// ever came.
    latest: Vec<u64>,
}

impl AckLane {
    /// An empty lane, or `None` if acknowledgements wait in order.
    pub(crate) fn new(acks: Acks) -> Option<Self> {
        (acks != Acks::InOrder).then(|| Self {
            aggregates: acks == Acks::Aggregated,
            packets: VecDeque::new(),
            bytes: 0,
            left: 0,
            latest: Vec::new(),
        })
    }

    /// Backlog of the lane.
    pub(crate) fn backlog(&self) -> Count {
        Count { bytes: self.bytes, packets: self.packets.len() as u64 }
    }

    /// What waits in it.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter()
    }

    /// Replaces an acknowledgement that `packet` supersedes and returns the old one. Otherwise
    /// returns `packet` as the error.
    pub(crate) fn replace(&mut self, packet: Packet) -> Result<Packet, Packet> {
        match self.superseded_by(&packet) {
            Some(place) => {
                self.bytes += u64::from(packet.size);
                let old = std::mem::replace(&mut self.packets[place], packet);
                self.bytes -= u64::from(old.size);
                Ok(old)
            }
            None => Err(packet),
        }
    }

    fn superseded_by(&self, packet: &Packet) -> Option<usize> {
        let number = *self.latest.get(packet.flow_index()).filter(|_| self.aggregates)?;
        let place = number.checked_sub(self.left)? as usize;
        let old = self.packets.get(place)?;
        let same = old.flow == packet.flow && old.generation == packet.generation;
        let is_plain = old.segment.own == Own::default();
        (same && is_plain && old.segment.ack < packet.segment.ack).then_some(place)
    }

    /// Appends an acknowledgement.
    pub(crate) fn push(&mut self, packet: Packet) {
        let index = packet.flow_index();
        if index >= self.latest.len() {
            self.latest.resize(index + 1, u64::MAX);
        }
        self.latest[index] = self.left + self.packets.len() as u64;
        self.bytes += u64::from(packet.size);
        self.packets.push_back(packet);
    }

    /// The next acknowledgement to send.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size);
        self.left += 1;
        Some(packet)
    }
}
