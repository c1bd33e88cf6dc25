//! A home's upstream service flow with a channel of its own.

use super::modem::Modem;
use super::parameters::ModemSpec;
use super::request_grant::MacCounters;
use super::two_queues::{TwoQueueModem, TwoQueues};
use crate::context::ServiceFlowContext;
use crate::service::Upstream;
use crate::shaped_link::ShapedLink;
use sojourn_engine::count::Count;
use sojourn_engine::queue::{Queue, QueueSpec};
use sojourn_engine::record::Recorder;
use sojourn_engine::units::{BitRate, Time};
use sojourn_input::problem::Warning;

/// The upstream stage of a home's service flow.
pub(crate) enum UpstreamStage {
    /// A modem: queue, shaping, request and grant.
    Modem(Box<Modem>),
    /// A modem behind a rate-shaping queue.
    TwoQueues(Box<TwoQueueModem>),
    /// A plain link: queue and shaping.
    Link(Box<ShapedLink>),
}

impl UpstreamStage {
    /// An empty queue and full token buckets.
    ///
    /// # Panics For a modem on a shared channel, whose flows belong to that channel.
    pub(crate) fn new(spec: &Upstream, context: &ServiceFlowContext) -> Self {
        match spec.modem {
            ModemSpec::SingleQueue => Self::Modem(Box::new(Modem::new(spec, context))),
            ModemSpec::TwoQueues {
                transmit_packets,
                transmit_bytes,
                back_pressure,
                sojourn_across_both,
            } => {
                let limit_packets = transmit_bytes.is_none().then_some(transmit_packets);
                let limit_bytes = transmit_bytes;
                let transmit = QueueSpec { limit_packets, limit_bytes, ..QueueSpec::default() };
                let queues = TwoQueues { transmit, back_pressure, sojourn_across_both };
                Self::TwoQueues(Box::new(TwoQueueModem::new(&queues, spec, context)))
            }
            ModemSpec::Link => Self::Link(Box::new(ShapedLink::upstream(spec, context))),
            ModemSpec::SharedChannel => panic!("its flows belong to the shared channel"),
        }
    }

    /// From now on it has other rates and other parameters of its queue.
    pub(crate) fn retune(&mut self, now: Time, spec: &Upstream) {
        match self {
            Self::Modem(modem) => modem.retune(now, spec),
            Self::TwoQueues(modem) => modem.retune(now, spec),
            Self::Link(link) => {
                let peak = BitRate::from_mbps(spec.terms().peak_mbps);
                let channel = spec.capacity.is_none().then_some(peak);
                link.retune(now, (spec.terms(), &spec.queue), channel);
            }
        }
    }

    /// The next wake time.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        match self {
            Self::Modem(modem) => modem.next_wake(),
            Self::TwoQueues(modem) => modem.next_wake(),
            Self::Link(link) => link.next_wake(),
        }
    }

    /// Packets and bytes it holds.
    pub(crate) fn inside(&self) -> Count {
        match self {
            Self::Modem(modem) => modem.inside(),
            Self::TwoQueues(modem) => modem.inside(),
            Self::Link(link) => link.inside(),
        }
    }

    /// The run ends: what is in it, but in its queues, has spent its time until now.
    pub(crate) fn close(&self, now: Time, recorder: &mut Recorder) {
        match self {
            Self::Modem(modem) => modem.mac.close(now, recorder),
            Self::TwoQueues(modem) => modem.close(now, recorder),
            Self::Link(_) => {}
        }
    }

    /// When its last packet began to be sent, if that may be later than now.
    pub(crate) fn began_at(&self) -> Time {
        match self {
            Self::Link(link) => link.began_at(),
            Self::Modem(_) | Self::TwoQueues(_) => Time::ZERO,
        }
    }

    /// Warnings about settings that distort the results.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        match self {
            Self::Modem(modem) => modem.warnings().collect(),
            Self::TwoQueues(_) | Self::Link(_) => Vec::new(),
        }
    }

    /// Its queues, the one with the queue manager first.
    pub(crate) fn queues(&self) -> Vec<&Queue> {
        match self {
            Self::Modem(modem) => vec![modem.queue()],
            Self::TwoQueues(modem) => modem.queues().into(),
            Self::Link(link) => vec![link.queue()],
        }
    }

    /// Counters of its MAC, if it has one.
    pub(crate) fn mac_counters(&self) -> Option<MacCounters> {
        match self {
            Self::Modem(modem) => Some(modem.counters()),
            Self::TwoQueues(modem) => Some(modem.counters()),
            Self::Link(_) => None,
        }
    }

    /// Samples its queues for their time series.
    pub(crate) fn sample(&mut self, now: Time) {
        match self {
            Self::Modem(modem) => modem.sample(now),
            Self::TwoQueues(modem) => modem.sample(now),
            Self::Link(link) => link.sample(),
        }
    }
}
