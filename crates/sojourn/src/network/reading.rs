//! What the counters of a run that are not of packets read at an instant. What came after it is the difference to a
//! later reading.

use super::Simulation;
use super::report::service_flows;
use sojourn_access::AccessNetwork;
use sojourn_access::docsis::MacCounters;
use sojourn_engine::record::ChannelUse;
use sojourn_engine::record::Lapses;
use sojourn_engine::units::Time;
use sojourn_scenario::apps::Done;

/// A reading of them.
pub(super) struct Reading {
    /// Channels that homes share.
    pub channels: Vec<ChannelUse>,
    /// The MACs of upstream service flows, group by group.
    pub macs: Vec<Option<MacCounters>>,
    /// What the apps of each entry did, in all its homes together.
    pub done: Vec<Done>,
    /// What the algorithms of measured queues note of themselves.
    pub lapses: Vec<Lapses>,
}

impl Reading {
    /// The counters as they are now.
    pub(super) fn of(run: &Simulation) -> Self {
        Self {
            channels: run.access.channels(run.now),
            macs: service_flows::macs(run),
            done: done(run),
            lapses: run.queues().iter().map(|placed| placed.queue.lapses()).collect(),
        }
    }

    /// What came since `earlier`, which was read at `from`.
    pub(super) fn since(self, earlier: &Self, from: Time) -> Self {
        fn each<T, U>(now: Vec<T>, earlier: &[U], since: impl Fn(T, &U) -> T) -> Vec<T> {
            now.into_iter().zip(earlier).map(|(now, earlier)| since(now, earlier)).collect()
        }
        Self {
            channels: each(self.channels, &earlier.channels, ChannelUse::since),
            macs: each(self.macs, &earlier.macs, |now, earlier| Some(now?.since((*earlier)?))),
            done: each(self.done, &earlier.done, |now, earlier| now.since(earlier, from)),
            lapses: each(self.lapses, &earlier.lapses, |now, earlier| now.since(*earlier)),
        }
    }
}

fn done(run: &Simulation) -> Vec<Done> {
    let mut done: Vec<Done> = run.scenario.traffic.iter().map(|_| Done::default()).collect();
    for instance in &run.instances {
        let of_entry = &mut done[usize::from(instance.owner.traffic)];
        *of_entry = std::mem::take(of_entry).and(instance.done(run.now));
    }
    done
}
