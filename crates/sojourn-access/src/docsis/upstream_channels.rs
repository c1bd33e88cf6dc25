//! The upstream channel that modems share, or the channels that they bond in groups: a scenario has one of both.

use std::ops::Range;

use super::bonded_channels::BondedChannels;
use super::parameters::PlantSpec;
use super::shared_channel::SharedChannel;
use super::timing::Timing;
use super::upstream_service_flow::UpstreamServiceFlow;
use crate::context::ServiceFlowContext;
use crate::service::Upstream;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::record::{ChannelUse, Recorder, Series};
use sojourn_engine::units::Time;
use sojourn_input::problem::Warning;

/// What modems of kind `shared_channel` send on.
pub(crate) enum UpstreamChannels {
    /// One channel, or several alike that are modelled as one.
    Alike(Box<SharedChannel>),
    /// A table of channels.
    Bonded(Box<BondedChannels>),
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

impl UpstreamChannels {
    /// Without modems, of which the farthest has this propagation delay.
    pub(crate) fn new(spec: &PlantSpec, overhead: u64, farthest: Time, seed: u64) -> Self {
        let channel = spec.upstream_channel;
        if channel.bonded.is_empty() {
            let timing = spec.timing(farthest);
            return Self::Alike(Box::new(SharedChannel::new(channel, overhead, &timing, seed)));
        }
        Self::Bonded(Box::new(BondedChannels::new(spec, overhead, farthest, seed)))
    }

    pub(crate) fn timing(&self) -> Timing {
        either!(self, one => one.timing())
    }

    pub(crate) fn connect(&mut self, specs: &[Upstream], contexts: &[ServiceFlowContext]) -> u32 {
        either!(self, one => one.connect(specs, contexts))
    }

    pub(crate) fn retune(&mut self, now: Time, number: u32, spec: &Upstream) {
        either!(self, one => one.retune(now, number, spec));
    }

    pub(crate) fn flow(&self, number: u32) -> &UpstreamServiceFlow {
        either!(self, one => one.flow(number))
    }

    #[inline]
    pub(crate) fn accept(
        &mut self,
        now: Time,
        farther: Time,
        packet: (u32, Packet),
        recorder: &mut Recorder,
    ) {
        either!(self, one => one.accept(now, farther, packet, recorder));
    }

    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        either!(self, one => one.next_wake())
    }

    #[inline]
    pub(crate) fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        either!(self, one => one.wake(now, recorder))
    }

    pub(crate) fn inside(&self) -> Count {
        either!(self, one => one.inside())
    }

    pub(crate) fn close(&self, now: Time, recorder: &mut Recorder) {
        either!(self, one => one.close(now, recorder));
    }

    pub(crate) fn sample_flows(&mut self, numbers: Range<usize>) {
        either!(self, one => one.sample_flows(numbers));
    }

    pub(crate) fn sample(&mut self, now: Time) {
        either!(self, one => one.sample(now));
    }

    pub(crate) fn used(&self, now: Time) -> Vec<ChannelUse> {
        match self {
            Self::Alike(one) => vec![one.used(now)],
            Self::Bonded(table) => table.used(now),
        }
    }

    pub(crate) fn collision_warning(&self) -> Option<Warning> {
        either!(self, one => one.collision_warning())
    }

    pub(crate) fn greatest_mbps(&self) -> f64 {
        either!(self, one => one.greatest_mbps())
    }

    pub(crate) fn series(&self) -> Vec<(String, &Series)> {
        either!(self, one => one.series().collect())
    }
}
