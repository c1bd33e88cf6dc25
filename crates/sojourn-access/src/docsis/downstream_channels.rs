//! The downstream channel that homes share, or the channels that they bond in groups: a scenario has one of both.

use super::bonded_cmts::BondedCmts;
use super::cmts::Cmts;
use super::downstream_channel;
use crate::Site;
use crate::flight::Way;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::Queue;
use sojourn_engine::record::{ChannelUse, Recorder};
use sojourn_engine::units::Time;

/// What the packets of all homes pass.
pub(crate) enum DownstreamChannels {
    /// One channel, or several alike.
    Alike(Box<Cmts>),
    /// A table of channels.
    Bonded(Box<BondedCmts>),
}

/// The same of either.
macro_rules! either {
    ($channels:expr, $one:ident => $does:expr) => {
        match $channels {
            Self::Alike($one) => $does,
            Self::Bonded($one) => $does,
        }
    };
}

impl DownstreamChannels {
    pub(crate) fn new(spec: &downstream_channel::Cmts, uncounted: u32, site: &Site) -> Self {
        if spec.bonded.is_empty() {
            return Self::Alike(Box::new(Cmts::new(spec, spec.framing_bytes(uncounted), site)));
        }
        Self::Bonded(Box::new(BondedCmts::new(spec, uncounted, site)))
    }

    /// Takes a packet. Returns the one that goes on, and its way until then.
    #[inline]
    pub(crate) fn accept(
        &mut self,
        now: Time,
        packet: Packet,
        recorder: &mut Recorder,
    ) -> Option<(Way, Packet)> {
        match self {
            Self::Alike(one) => {
                let sent = one.accept(now, packet, recorder)?;
                Some((one.way(now, sent.home), sent))
            }
            Self::Bonded(table) => {
                table.accept(now, packet, recorder);
                None
            }
        }
    }

    /// Does what is due. Returns a packet that goes on, and its way until then.
    #[inline]
    pub(crate) fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<(Way, Packet)> {
        match self {
            Self::Alike(one) => {
                let sent = one.wake(now, recorder)?;
                Some((one.way(now, sent.home), sent))
            }
            Self::Bonded(table) => {
                table.wake(now, recorder).map(|packet| (Way::sent(now, now, now), packet))
            }
        }
    }

    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        either!(self, one => one.next_wake())
    }

    pub(crate) fn inside(&self) -> Count {
        either!(self, one => one.inside())
    }

    /// The run ends: what is on the channels has spent its time until now.
    pub(crate) fn close(&self, now: Time, recorder: &mut Recorder) {
        if let Self::Bonded(table) = self {
            table.close(now, recorder);
        }
    }

    pub(crate) fn queues(&self) -> Vec<&Queue> {
        either!(self, one => one.queues())
    }

    pub(crate) fn sample(&mut self) {
        either!(self, one => one.sample());
    }

    /// Counters of each channel of a table up to `now`.
    pub(crate) fn used(&self, now: Time) -> Vec<ChannelUse> {
        match self {
            Self::Alike(_) => Vec::new(),
            Self::Bonded(table) => table.used(now),
        }
    }
}
