//! What the counters of a run read at an instant. What came after it is the difference to a later
//! reading, so packets take no notice of it on their way.

use super::Simulation;
use super::report::service_flows;
use sojourn_access::docsis::MacCounters;
use sojourn_access::{AccessNetwork, PlacedQueue};
use sojourn_engine::packet::Direction;
use sojourn_engine::record::ChannelUse;
use sojourn_engine::record::LatencyHistogram;
use sojourn_engine::record::{Latency, Member, MemberCounts, QueueCounts};
use sojourn_engine::units::Time;
use sojourn_scenario::apps::{Done, Model};

/// A reading of all counters but those of the ledger.
pub(super) struct Reading {
    /// Measured queues.
    pub queues: Vec<QueueReading>,
    /// Channels that homes share.
    pub channels: Vec<ChannelUse>,
    /// The MACs of upstream service flows, group by group.
    pub macs: Vec<Option<MacCounters>>,
    /// What the apps of each entry did, in all its homes together.
    pub done: Vec<Done>,
}

impl Reading {
    /// The counters as they are now.
    pub(super) fn of(run: &Simulation) -> Self {
        Self {
            queues: run.queues().iter().filter_map(QueueReading::of).collect(),
            channels: run.access.channels(run.now),
            macs: service_flows::macs(run),
            done: done(run),
        }
    }

    /// What came since `earlier`, which was read at `from`.
    pub(super) fn since(self, earlier: &Self, from: Time) -> Self {
        fn each<T, U>(now: Vec<T>, earlier: &[U], since: impl Fn(T, &U) -> T) -> Vec<T> {
            now.into_iter().zip(earlier).map(|(now, earlier)| since(now, earlier)).collect()
        }
        Self {
            queues: each(self.queues, &earlier.queues, QueueReading::since),
            channels: each(self.channels, &earlier.channels, ChannelUse::since),
            macs: each(self.macs, &earlier.macs, |now, earlier| Some(now?.since((*earlier)?))),
            done: each(self.done, &earlier.done, |now, earlier| now.since(earlier, from)),
        }
    }
}

fn done(run: &Simulation) -> Vec<Done> {
    let mut done: Vec<Done> = run.configs.iter().map(|_| Done::default()).collect();
    for instance in &run.instances {
        let of_entry = &mut done[usize::from(instance.owner.traffic)];
        *of_entry = std::mem::take(of_entry).and(instance.app.done(run.now));
    }
    done
}

/// A reading of a queue.
pub(super) struct QueueReading {
    /// Its name in results.
    pub name: String,
    /// Where it is: its direction, and the home that it is of, if it is of one.
    pub direction: Direction,
    pub home: Option<usize>,
    /// Sojourn times.
    pub sojourn: Latency,
    /// What became of packets that did not just pass.
    pub counts: QueueCounts,
    /// Those of its members and what these did, if it has any.
    pub members: Vec<(Member, Latency, MemberCounts)>,
    /// Its latency histogram, if it keeps one.
    pub histogram: Option<LatencyHistogram>,
}

impl QueueReading {
    fn of(placed: &PlacedQueue) -> Option<Self> {
        let PlacedQueue { queue, direction, home } = *placed;
        let meter = queue.meter()?;
        let counts = queue.members().into_iter().flatten();
        let member = |(member, counts)| Some((member, meter.sojourn_of(member)?.clone(), counts));
        Some(Self {
            name: meter.name().to_owned(),
            direction,
            home,
            sojourn: meter.sojourn().clone(),
            counts: queue.counts(),
            members: Member::ALL.into_iter().zip(counts).filter_map(member).collect(),
            histogram: queue.latency_histogram().cloned(),
        })
    }

    fn since(mut self, earlier: &Self) -> Self {
        self.sojourn = self.sojourn.since(&earlier.sojourn);
        self.counts = self.counts.since(earlier.counts);
        for ((_, sojourn, counts), (_, before, counts_before)) in
            self.members.iter_mut().zip(&earlier.members)
        {
            (*sojourn, *counts) = (sojourn.since(before), counts.since(*counts_before));
        }
        self.histogram =
            self.histogram.zip(earlier.histogram.as_ref()).map(|(now, before)| now.since(before));
        self
    }
}
