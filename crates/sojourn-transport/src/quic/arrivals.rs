//! What the ACK frames of one end carry (RFC 9000 §19.3).
//!
//! A frame reports all packets that have come, down to a smallest number. To copy these into each would cost much,
//! so the frames of an end share one log, in the order of arrival, and each refers to it by a count. The connection
//! keeps the log beside both ends: one writes it, and the other reads it up to the count of a frame that comes.
//! What a lost frame reported is still in the log for the next one, and a frame that comes late finds it read.

use std::collections::VecDeque;

use super::header::AckFrame;
use sojourn_engine::packet::Ecn;

/// Numbers of packets that came at one end.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// From the first that the other end does not know of, with their ECN fields.
    log: VecDeque<(u64, Ecn)>,
    /// How many were reported to it.
    reported: u64,
}

impl Arrivals {
    /// A new packet has come, with this ECN field as it is to be counted.
    pub(super) fn push(&mut self, number: u64, ecn: Ecn) {
        self.log.push_back((number, ecn));
    }

    /// A frame arrives at the other end: the packets that it is the first to tell of.
    pub(super) fn tell(&mut self, frame: &AckFrame, mut reported: impl FnMut(u64, Ecn)) {
        while self.reported < frame.arrivals
            && let Some((number, ecn)) = self.log.pop_front()
        {
            self.reported += 1;
            if number >= frame.smallest {
                reported(number, ecn);
            }
        }
    }
}
