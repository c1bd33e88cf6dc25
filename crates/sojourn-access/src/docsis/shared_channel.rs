//! The upstream channel that modems share, as one stage: a channel with its MAPs (map_channel.rs) and the service flows of
//! all modems on it.

use std::collections::VecDeque;
use std::ops::Range;

use super::channel_flows::ChannelFlows;
use super::map_channel::{Grant, MapChannel};
use super::timing::{PlantTiming, Timing};
use super::upstream_service_flow::UpstreamServiceFlow;
use crate::context::ServiceFlowContext;
use crate::delay_line::DelayLine;
use crate::docsis::upstream_channel::UpstreamChannel;
use crate::service::Upstream;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::record::{ChannelUse, Part as DelayPart};
use sojourn_engine::record::{Recorder, Series};
use sojourn_engine::units::Time;
use sojourn_engine::wake::Wake;
use sojourn_input::problem::Warning;

/// A packet on its way to a service flow, and when it came to its modem.
pub(super) struct Entering {
    pub number: u32,
    pub packet: Packet,
    pub came: Time,
}

/// The channel and the service flows on it.
pub(crate) struct SharedChannel {
    channel: MapChannel,
    overhead: u64,
    flows: ChannelFlows,
    /// When the AQM algorithms of the queues are updated.
    updates: Wake,
    /// Packets from modems that are farther away than the nearest, by the number of their flow. Time
    /// at a modem runs behind the channel's by the difference in propagation.
    entering: DelayLine<Entering>,
    /// Is the first of the channel's grants being sent?
    sending: bool,
    /// Sent packets, when they were sent, and when the CMTS has received them.
    leaving: VecDeque<(Time, Time, Packet)>,
}

impl SharedChannel {
    /// When requests are granted.
    pub(crate) fn timing(&self) -> Timing {
        self.channel.timing
    }

    /// A channel without modems.
    pub(crate) fn new(
        spec: &UpstreamChannel,
        overhead: u64,
        plant: &PlantTiming,
        seed: u64,
    ) -> Self {
        Self {
            channel: MapChannel::new(spec, plant, seed),
            overhead,
            flows: ChannelFlows::default(),
            updates: Wake::new(2),
            entering: DelayLine::new(Time::ZERO),
            sending: false,
            leaving: VecDeque::new(),
        }
    }

    /// Adds the service flows of a modem. Returns the number of the first.
    pub(crate) fn connect(&mut self, specs: &[Upstream], contexts: &[ServiceFlowContext]) -> u32 {
        let first = self.flows.len() as u32;
        self.channel.modems += 1;
        let grid = self.channel.grid(self.overhead);
        for ((number, spec), context) in (first..).zip(specs).zip(contexts) {
            self.channel.add_unsolicited(number, spec, context, &grid);
            let profile = self.channel.profile(spec.profile_bits);
            let timing = &self.channel.timing;
            self.flows.push(UpstreamServiceFlow::new(spec, context, timing, &grid, profile));
        }
        self.updates.grow(self.flows.len());
        (first..self.flows.len() as u32).for_each(|number| self.schedule_update(number));
        first
    }

    /// From now on the flow of this number has other rates and other parameters of its queue.
    pub(crate) fn retune(&mut self, now: Time, number: u32, spec: &Upstream) {
        let map = self.map_interval();
        self.flows[number].retune(now, spec, map);
    }

    /// The service flow of this number.
    pub(crate) fn flow(&self, number: u32) -> &UpstreamServiceFlow {
        &self.flows[number]
    }

    /// Takes a packet from a home whose modem is farther away than the nearest by this propagation
    /// delay.
    #[inline]
    pub(crate) fn accept(
        &mut self,
        now: Time,
        farther: Time,
        (number, packet): (u32, Packet),
        recorder: &mut Recorder,
    ) {
        if farther == Time::ZERO {
            self.enter(now, number, packet, recorder);
        } else {
            self.entering.accept(now + farther, Entering { number, packet, came: now });
        }
    }

    /// Takes a packet into a service flow.
    fn enter(&mut self, now: Time, number: u32, packet: Packet, recorder: &mut Recorder) {
        self.flows[number].accept(now, packet, recorder);
        self.schedule_update(number);
        self.channel.join_contention(number, &mut self.flows);
        self.channel.awake(now);
    }

    fn schedule_update(&mut self, number: u32) {
        self.updates.set(number, self.flows[number].next_update());
    }

    /// The next wake time of the channel.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        let leaves = self.leaving.front().map_or(Time::NEVER, |(_, at, _)| *at);
        leaves.min(self.channel.next_wake()).min(self.updates.next()).min(self.entering.next_wake())
    }

    /// Does one thing that is due. Returns a packet that the CMTS has received by then, if there is
    /// one. At equal times the order is: the end of a piece or the start of a grant, the AQM
    /// algorithms by the number of their flow, the MAP, requests in contention, packets that enter.
    pub(crate) fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        if self.channel.burst_next <= now {
            self.go_on(now, recorder);
        } else if self.updates.next() <= now {
            let flow = self.updates.next_stage();
            self.flows[flow].update(now);
            self.schedule_update(flow);
        } else if self.channel.next_map <= now {
            self.channel.on_map(now, &mut self.flows, recorder);
        } else if self.channel.region_at <= now {
            self.channel.region_at = Time::NEVER;
            self.channel.hold_contention(now, &mut self.flows, recorder);
        } else if self.entering.next_wake() <= now
            && let Some((at, Entering { number, packet, came })) = self.entering.wake()
        {
            recorder.delays.spends(&packet, came, [(DelayPart::Propagation, at)]);
            self.enter(at, number, packet, recorder);
        }
        let (sent, _, packet) = self.leaving.pop_front_if(|(_, at, _)| *at <= now)?;
        recorder.delays.spends(&packet, sent, [(DelayPart::Transmission, now)]);
        Some(packet)
    }

    /// Ends a piece or begins a grant.
    fn go_on(&mut self, now: Time, recorder: &mut Recorder) {
        let Some(&Grant { number, byte, kind, .. }) = self.channel.grants.front() else { return };
        if !self.sending {
            self.channel.begin_grant(now, (number, kind), &mut self.flows, recorder);
        } else if let Some(packet) = self.flows[number].mac.end_piece(now, recorder) {
            let sent = self.channel.framing.received_at(now);
            self.leaving.push_back((now, self.channel.timing.received_at(sent), packet));
        }
        let piece = self.flows[number].next_piece(now, recorder);
        self.sending = piece.is_some();
        if let Some(bytes) = piece {
            self.channel.burst_next = now + byte.times(bytes);
            return;
        }
        self.schedule_update(number);
        self.channel.join_contention(number, &mut self.flows);
        self.channel.end_grant();
    }

    /// Packets and bytes on the channel and before it.
    pub(crate) fn inside(&self) -> Count {
        let sent = self.leaving.iter().map(|(.., packet)| Count::of(packet));
        let entering = self.entering.items().map(|(_, entering)| Count::of(&entering.packet));
        self.flows
            .iter()
            .map(UpstreamServiceFlow::inside)
            .chain(sent)
            .chain(entering)
            .fold(Count::default(), Count::plus)
    }

    /// The run ends: what is on the channel and before it, but in queues, has spent its time until now.
    pub(crate) fn close(&self, now: Time, recorder: &mut Recorder) {
        self.flows.iter().for_each(|flow| flow.mac.close(now, recorder));
        for (sent, _, packet) in &self.leaving {
            recorder.delays.spends(packet, *sent, [(DelayPart::Transmission, now)]);
        }
        for (_, Entering { packet, came, .. }) in self.entering.items() {
            recorder.delays.spends(packet, *came, [(DelayPart::Propagation, now)]);
        }
    }

    /// Samples the queues of service flows for their time series.
    pub(crate) fn sample_flows(&mut self, numbers: Range<usize>) {
        self.flows.sample(numbers);
    }

    /// Samples the channel for its time series.
    pub(crate) fn sample(&mut self, now: Time) {
        self.channel.sample(now);
    }

    /// Counters up to `now`, including the request opportunities of skipped MAPs.
    pub(crate) fn used(&self, now: Time) -> ChannelUse {
        self.channel.used(now)
    }

    /// A warning if too many requests collide.
    pub(crate) fn collision_warning(&self) -> Option<Warning> {
        self.channel.collision_warning(&self.flows)
    }

    /// Time between MAPs.
    pub(crate) fn map_interval(&self) -> Time {
        self.channel.timing.map_interval()
    }

    /// The highest rate, including packet headers.
    pub(crate) fn greatest_mbps(&self) -> f64 {
        self.channel.greatest_mbps()
    }

    /// The time series of the channel, and whose they are.
    pub(crate) fn series(&self) -> impl Iterator<Item = (String, &Series)> {
        self.channel.series().map(|series| ("upstream channel".to_owned(), series))
    }
}

#[cfg(test)]
#[path = "shared_channel_tests.rs"]
mod tests;
