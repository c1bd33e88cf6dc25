//! A service flow of a home at the CMTS: with a channel to itself, or before the one that all share.

use super::shaped_link::ShapedLink;
use super::shaper::Shaper;
use super::staging::Staging;
use super::subscriber::Place;
use crate::metrics::Count;
use crate::queue::{Queue, default_limit_bytes};
use crate::scenario::schema;
use crate::units::Time;

/// What a packet for a home meets first.
pub enum Downstream {
    /// A queue, token buckets and a channel.
    Link(ShapedLink),
    /// Token buckets with a queue; the shared channel comes behind them (Hong 2015 §3.2.1, the
    /// conventional service tiers).
    Regulator(Staging),
    /// Nothing: the shared channel is next (Hong 2015 §3.1.4, the new service tiers).
    Open,
}

impl Downstream {
    /// Nothing waits and the token buckets are full.
    pub fn new(spec: &schema::Downstream, has_shared_channel: bool, place: &Place) -> Self {
        match (has_shared_channel, spec.regulator) {
            (false, _) => Self::Link(ShapedLink::downstream(spec, place)),
            (true, true) => Self::Regulator(regulator(spec, place)),
            (true, false) => Self::Open,
        }
    }

    /// Tells the names of the traffic entries, by the number that packets carry.
    pub fn name_traffic(&mut self, names: &[&str], watch_flows: usize) {
        match self {
            Self::Link(link) => link.name_traffic(names, watch_flows),
            Self::Regulator(regulator) => regulator.queue_mut().name_traffic(names, watch_flows),
            Self::Open => {}
        }
    }

    /// When it wants to be woken next.
    #[inline]
    pub fn next_wake(&self) -> Time {
        match self {
            Self::Link(link) => link.next_wake(),
            Self::Regulator(regulator) => regulator.next_wake(),
            Self::Open => Time::NEVER,
        }
    }

    /// Packets and bytes it holds.
    pub fn inside(&self) -> Count {
        match self {
            Self::Link(link) => link.inside(),
            Self::Regulator(regulator) => regulator.inside(),
            Self::Open => Count::default(),
        }
    }

    /// Its queue, if it has one.
    pub fn queue(&self) -> Option<&Queue> {
        match self {
            Self::Link(link) => Some(link.queue()),
            Self::Regulator(regulator) => Some(regulator.queue()),
            Self::Open => None,
        }
    }

    /// Samples its queue for its series.
    pub fn sample(&mut self) {
        match self {
            Self::Link(link) => link.sample(),
            Self::Regulator(regulator) => regulator.sample(|_| ()),
            Self::Open => {}
        }
    }
}

fn regulator(spec: &schema::Downstream, place: &Place) -> Staging {
    let shaper = Shaper::of(spec.sustained_mbps, spec.peak_mbps, spec.burst_bytes);
    let buffer_bytes = default_limit_bytes(shaper.sustained.rate());
    let queue = place.queue("downstream", &spec.queue, buffer_bytes);
    Staging::new(queue, shaper, false, false)
}
