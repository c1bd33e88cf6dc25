//! A home's downstream service flow at the CMTS: with a channel of its own, or in front of the
//! shared one.

use super::shaping_queue::ShapingQueue;
use crate::context::ServiceFlowContext;
use crate::service::Downstream;
use crate::shaped_link::{ShapedLink, downstream_channel};
use crate::shaper::Shaper;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{NextQueue, Queue, default_limit_bytes};
use sojourn_engine::record::{Part, Recorder};
use sojourn_engine::units::Time;

/// The first stage for a packet to a home.
pub(crate) enum DownstreamStage {
    /// A queue, token buckets and a channel of its own.
    Link(ShapedLink),
    /// A queue and token buckets in front of the shared channel (Hong 2015 §3.2.1, the conventional
    /// service tiers).
    Regulator(Regulator),
}

impl DownstreamStage {
    /// An empty queue and full token buckets. Nothing if packets go straight to the shared channel
    /// (Hong 2015 §3.1.4, the new service tiers).
    pub(crate) fn new(
        spec: &Downstream,
        has_shared_channel: bool,
        context: &ServiceFlowContext,
    ) -> Option<Self> {
        match (has_shared_channel, spec.regulator) {
            (false, _) => Some(Self::Link(ShapedLink::downstream(spec, context))),
            (true, true) => Some(Self::Regulator(Regulator::new(spec, context))),
            (true, false) => None,
        }
    }

    /// From now on it has other rates and other parameters of its queue.
    pub(crate) fn retune(&mut self, now: Time, spec: &Downstream) {
        match self {
            Self::Link(link) => {
                let channel = spec.capacity.is_none().then(|| downstream_channel(spec));
                link.retune(now, (spec.terms(), &spec.queue), channel);
            }
            Self::Regulator(Regulator { queue, shaper }) => {
                shaper.retune(now, spec.terms());
                queue.retune(&spec.queue, shaper);
            }
        }
    }

    /// The next wake time.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        match self {
            Self::Link(link) => link.next_wake(),
            Self::Regulator(regulator) => regulator.queue.next_wake(),
        }
    }

    /// Packets and bytes it holds.
    pub(crate) fn inside(&self) -> Count {
        match self {
            Self::Link(link) => link.inside(),
            Self::Regulator(regulator) => regulator.queue.inside(),
        }
    }

    /// The run ends: what is in it, but in its queue, has spent its time until now.
    pub(crate) fn close(&self, now: Time, recorder: &mut Recorder) {
        if let Self::Regulator(regulator) = self {
            regulator.queue.close(now, recorder);
        }
    }

    /// When its last packet began to be sent, if that may be later than now.
    pub(crate) fn began_at(&self) -> Time {
        match self {
            Self::Link(link) => link.began_at(),
            Self::Regulator(_) => Time::ZERO,
        }
    }

    /// Its queue.
    pub(crate) fn queue(&self) -> &Queue {
        match self {
            Self::Link(link) => link.queue(),
            Self::Regulator(regulator) => regulator.queue.queue(),
        }
    }

    /// Samples its queue for its time series.
    pub(crate) fn sample(&mut self) {
        match self {
            Self::Link(link) => link.sample(),
            Self::Regulator(regulator) => regulator.queue.sample(|_| ()),
        }
    }
}

/// Token buckets with a queue in front of them.
pub(crate) struct Regulator {
    queue: ShapingQueue,
    shaper: Shaper,
}

impl Regulator {
    fn new(spec: &Downstream, context: &ServiceFlowContext) -> Self {
        let shaper = Shaper::of(spec.terms());
        let buffer_bytes = default_limit_bytes(shaper.sustained.rate());
        let queue = context.queue("downstream", &spec.queue, buffer_bytes);
        Self { queue: ShapingQueue::new(queue.placed(Part::CmtsQueue), false, false), shaper }
    }

    /// Takes a packet for the home.
    pub(crate) fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        self.queue.accept(now, packet, &self.shaper, recorder);
    }

    /// Runs the queue manager's periodic update if it is due.
    pub(crate) fn update(&mut self, now: Time) {
        self.queue.update(now, &self.shaper);
    }

    /// The next packet that may pass now.
    pub(crate) fn release(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        self.queue.release(now, true, NextQueue::default(), &mut self.shaper, recorder)
    }
}
