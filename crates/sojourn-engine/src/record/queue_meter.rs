//! What is measured of one queue.

use super::{GaugeSeries, Gauges, Latency, LatencyMeter, Rest, Series};
use crate::count::Count;
use crate::packet::DropReason;
use crate::units::Time;
use sojourn_input::named;

crate::series! {
    /// Mean sojourn time of the packets that left in the interval.
    QUEUE_DELAY = "queue_delay", in "ms", from "RFC 8289, section 3";
    /// Bytes in the queue at the end of the interval.
    QUEUE_BYTES = "queue_bytes", in "B";
    /// Packets in the queue at the end of the interval.
    QUEUE_PACKETS = "queue_packets", in "packets";
    /// Packets that the queue marked (ECN) in the interval.
    MARKS = "marks", in "packets";
    /// Packets that the queue dropped in the interval because it was full.
    OVERFLOW_DROPS = "overflow_drops", in "packets";
    /// Packets that an AQM algorithm dropped early in the interval.
    AQM_DROPS = "aqm_drops", in "packets";
}

named! {
    /// A queue of a scheduler that has a low-latency queue and a classic one.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Member {
        /// The low-latency queue, L.
        LowLatency = "low_latency",
        /// The classic queue, C.
        Classic = "classic",
    }
}

/// Counts of all packets from the start of the run, which series show, and of those that count, which tables show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted<T> {
    /// Of all packets.
    pub all: T,
    /// Of the packets that count.
    pub counted: T,
}

impl<T> Counted<T> {
    /// Adds a packet, which counts or not, to one of the counts.
    #[inline]
    pub fn add(&mut self, counts: bool, of: impl Fn(&mut T) -> &mut u64) {
        *of(&mut self.all) += 1;
        *of(&mut self.counted) += u64::from(counts);
    }
}

/// Packets that a queue dropped or marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Marked, for any cause.
    pub marked: u64,
    /// Dropped at a limit.
    pub dropped_overflow: u64,
    /// Dropped early.
    pub dropped_aqm: u64,
}

impl QueueCounts {
    /// What came since they were as `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            marked: self.marked - earlier.marked,
            dropped_overflow: self.dropped_overflow - earlier.dropped_overflow,
            dropped_aqm: self.dropped_aqm - earlier.dropped_aqm,
        }
    }
}

impl Counted<QueueCounts> {
    /// Adds a drop. Other reasons than a limit and an AQM algorithm are not the queue's.
    #[inline]
    pub fn drop(&mut self, counts: bool, reason: DropReason) {
        match reason {
            DropReason::Overflow => self.add(counts, |of| &mut of.dropped_overflow),
            DropReason::Aqm => self.add(counts, |of| &mut of.dropped_aqm),
            DropReason::Link | DropReason::Contention | DropReason::Superseded => {}
        }
    }
}

/// The counts of each sampling interval.
struct CountSeries {
    before: QueueCounts,
    series: [Series; 3],
}

impl Default for CountSeries {
    fn default() -> Self {
        let series = [MARKS, OVERFLOW_DROPS, AQM_DROPS].map(Series::of_counts);
        Self { before: QueueCounts::default(), series }
    }
}

impl CountSeries {
    fn sample(&mut self, now: QueueCounts) {
        let new = now.since(std::mem::replace(&mut self.before, now));
        let new = [new.marked, new.dropped_overflow, new.dropped_aqm];
        self.series.iter_mut().zip(new).for_each(|(series, count)| series.push(count as f64));
    }
}

/// What a member did to packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberCounts {
    /// What waits in it now.
    pub backlog: Count,
    /// Marks by the law of the low-latency queue itself.
    pub native_marks: u64,
    /// Marks that follow the classic queue.
    pub coupled_marks: u64,
    /// Marks while the coupled likelihood is 1.
    pub overload_marks: u64,
    /// Marks of the classic queue.
    pub classic_marks: u64,
    /// Packets dropped at a limit.
    pub dropped_overflow: u64,
    /// Packets dropped early.
    pub dropped_aqm: u64,
    /// Packets that Queue Protection sent from the low-latency queue to the classic one.
    pub sanctioned: u64,
}

impl MemberCounts {
    /// Marks for all causes.
    pub fn marks(&self) -> u64 {
        self.native_marks + self.coupled_marks + self.overload_marks + self.classic_marks
    }

    /// Marks and drops alone.
    pub fn counts(&self) -> QueueCounts {
        let Self { dropped_overflow, dropped_aqm, .. } = *self;
        QueueCounts { marked: self.marks(), dropped_overflow, dropped_aqm }
    }

    /// The sum of two members.
    pub fn plus(self, other: Self) -> Self {
        Self {
            backlog: self.backlog.plus(other.backlog),
            native_marks: self.native_marks + other.native_marks,
            coupled_marks: self.coupled_marks + other.coupled_marks,
            overload_marks: self.overload_marks + other.overload_marks,
            classic_marks: self.classic_marks + other.classic_marks,
            dropped_overflow: self.dropped_overflow + other.dropped_overflow,
            dropped_aqm: self.dropped_aqm + other.dropped_aqm,
            sanctioned: self.sanctioned + other.sanctioned,
        }
    }
}

/// What is measured of a member alone.
struct MemberMeter {
    sojourn: LatencyMeter,
    bytes: Series,
    counts: CountSeries,
}

impl Default for MemberMeter {
    fn default() -> Self {
        Self {
            sojourn: LatencyMeter::new(QUEUE_DELAY),
            bytes: Series::of(QUEUE_BYTES),
            counts: CountSeries::default(),
        }
    }
}

/// Sojourn times of a queue, and its state over time.
pub struct QueueMeter {
    name: String,
    sojourn: LatencyMeter,
    members: Option<Box<[MemberMeter; 2]>>,
    rest: Rest,
    /// Of the packets that waited in what gathered while its algorithm rested.
    at_rest: Option<Box<Latency>>,
    bytes: Series,
    packets: Series,
    counts: CountSeries,
    gauges: GaugeSeries,
}

impl QueueMeter {
    /// A meter that has seen nothing, of the queue called `name`, which may have two members.
    pub fn new(name: &str, has_members: bool) -> Self {
        Self {
            name: name.to_owned(),
            sojourn: LatencyMeter::new(QUEUE_DELAY),
            members: has_members.then(Box::default),
            rest: Rest::default(),
            at_rest: None,
            bytes: Series::of(QUEUE_BYTES),
            packets: Series::of(QUEUE_PACKETS),
            counts: CountSeries::default(),
            gauges: GaugeSeries::default(),
        }
    }

    /// A packet, which counts or not, left the queue, and this member of it, after `sojourn`.
    #[inline(always)]
    pub fn departed(&mut self, counts: bool, sojourn: Time, member: Option<Member>) {
        self.sojourn.record_if(counts, sojourn);
        if let (Some(member), Some(members)) = (member, &mut self.members) {
            members[member as usize].sojourn.record_if(counts, sojourn);
        }
        if self.rest.made(sojourn) && counts && member != Some(Member::LowLatency) {
            self.at_rest.get_or_insert_default().record(sojourn);
        }
    }

    /// Follows the rest of its algorithm, if that ever rests.
    pub fn follow(&mut self, rest: Option<Rest>) {
        self.rest = rest.unwrap_or_default();
    }

    /// The rest of its algorithm.
    pub fn rest(&self) -> Rest {
        self.rest
    }

    /// Sojourn times above the target of packets that waited in what had gathered while its algorithm rested.
    pub fn at_rest(&self) -> Option<&Latency> {
        self.at_rest.as_deref()
    }

    /// Ends a sampling interval.
    pub fn sample(
        &mut self,
        backlog: Count,
        counts: QueueCounts,
        members: Option<[Counted<MemberCounts>; 2]>,
        show: impl FnOnce(&mut Gauges),
    ) {
        self.sojourn.sample();
        for (meter, of_member) in
            self.members.iter_mut().flat_map(|both| both.iter_mut()).zip(members.iter().flatten())
        {
            meter.sojourn.sample();
            meter.bytes.push(of_member.all.backlog.bytes as f64);
            meter.counts.sample(of_member.all.counts());
        }
        self.bytes.push(backlog.bytes as f64);
        self.packets.push(backlog.packets as f64);
        self.counts.sample(counts);
        self.gauges.sample(show);
    }

    /// The queue's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Time from entering the queue to leaving it, of all packets that count and were not dropped.
    pub fn sojourn(&self) -> &Latency {
        self.sojourn.latency()
    }

    /// Sojourn times in a member, of the packets that count and left it.
    pub fn sojourn_of(&self, member: Member) -> Option<&Latency> {
        self.members.as_ref().map(|both| both[member as usize].sojourn.latency())
    }

    /// The series of each member: its queue delay, its backlog, and its marks and drops.
    pub fn member_series(&self) -> impl Iterator<Item = (Member, &Series)> {
        let both = Member::ALL.into_iter().zip(self.members.iter().flat_map(|both| both.iter()));
        both.flat_map(|(member, meter)| {
            let series =
                [meter.sojourn.series(), &meter.bytes].into_iter().chain(&meter.counts.series);
            series.map(move |series| (member, series))
        })
    }

    /// All series, the queue delay first: the mean sojourn time of the packets that left.
    pub fn series(&self) -> impl Iterator<Item = &Series> {
        let own = [self.sojourn.series(), &self.bytes, &self.packets];
        own.into_iter().chain(&self.counts.series).chain(self.gauges.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts that differ from each other, so many times.
    fn counts(times: u64) -> MemberCounts {
        MemberCounts {
            backlog: Count { packets: times, bytes: 100 * times },
            native_marks: times,
            coupled_marks: 2 * times,
            overload_marks: 3 * times,
            classic_marks: 5 * times,
            dropped_overflow: 7 * times,
            dropped_aqm: 11 * times,
            sanctioned: 13 * times,
        }
    }

    #[test]
    fn members_add_up() {
        assert_eq!(counts(2).plus(counts(3)), counts(5));
        assert_eq!(counts(1).marks(), 11);
        let all = QueueCounts { marked: 11, dropped_overflow: 7, dropped_aqm: 11 };
        assert_eq!(counts(1).counts(), all);
    }
}
