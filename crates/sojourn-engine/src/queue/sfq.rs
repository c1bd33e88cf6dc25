//! Stochastic fair queueing (McKenney 1990): flows are hashed to bins, bins are served in turn, and each bin has an
//! AQM algorithm.
//!
//! With CoDel it is the SFQ-CoDel of White & Rice 2013 §2.2, after the ns-2 code of Nichols with
//! CableLabs' byte-based rounds. Bins that have just become busy go before the others, as in
//! FQ-CoDel; but a bin that runs empty leaves the schedule at once, unlike RFC 8290 §4.2. With one
//! PIE for all bins it is the SFQ-PIE of White 2014 §4.6.
//!
//! Differences from the ns-2 code: there a bin goes before the others until it is first served,
//! here until it has used up its first quantum; and of several longest bins ns-2 spares the one
//! that was cut last.
//!
//! [`super::sfq_linux`] has the rules of Linux.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aqm_bins::{AqmBins, Head, by_aqm_bins};
use super::flow_table::mixed;
use super::rounds::Rounds;
use super::{
    Counters, Discipline, Entry, Exit, FlowKey, FlowTable, Scheduler, SchedulerParameters, Setting,
};
use crate::aqm::AqmSpec;
use crate::dialect::Dialect;
use crate::packet::{DropReason, Packet};
use crate::record::Gauges;
use crate::rng::Rng;
use crate::units::Time;
use sojourn_input::problem::{Fault, Faults};

crate::series! {
    /// SFQ: bins in which packets wait.
    BUSY_BINS = "busy_bins", in "1", from "McKenney 1990";
}

/// Bytes of the smallest Ethernet frame.
const SMALLEST_PACKET: u32 = 64;

/// Parameters of stochastic fair queueing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Sfq")]
pub struct Parameters {
    /// Number of bins that flows are hashed to (White & Rice 2013 §3.2: 32; Hong 2015 §5.2: 1024).
    #[schemars(range(min = 1, max = 65_536))]
    pub bins: u32,
    /// Bytes that a bin may send in a round (White & Rice 2013 §3.2: 300). 0 means one packet a
    /// round, as in the first SFQ-CoDel. Other values must be at least 64, the smallest frame.
    #[schemars(range(min = 0, max = 65_535))]
    pub quantum_bytes: u32,
    /// Use one AQM algorithm for all bins (White 2014 §4.6, SFQ-PIE). It looks at the backlog of
    /// all bins. Its drop probability is multiplied by the bin's length divided by the length of
    /// the longest bin. Algorithms without a drop probability treat all bins alike. With `false`,
    /// each bin has its own algorithm.
    pub one_law: bool,
    /// Time after which flows are hashed to other bins, in s (tc-sfq(8), `perturb`); 0 for never. Waiting packets
    /// stay where they are, so later ones of their flow may overtake them.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub perturb_s: f64,
    /// Packets that a bin may hold (tc-sfq(8), `depth`). Default: no limit.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub flow_limit_packets: Option<u64>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            bins: 1024,
            quantum_bytes: 1514,
            one_law: false,
            perturb_s: 0.0,
            flow_limit_packets: None,
        }
    }
}

impl SchedulerParameters for Parameters {
    fn bins(&self) -> (u32, u32) {
        (self.bins, if self.one_law { 1 } else { self.bins })
    }

    fn start(&self, setting: &Setting) -> Scheduler {
        let bins = self.bins as usize;
        let aqm_bins = if self.one_law {
            AqmBins::under_one_algorithm(bins, setting)
        } else {
            AqmBins::new(bins, setting.limit.measure(), setting)
        };
        let flow_limit = self.flow_limit_packets.unwrap_or(u64::MAX);
        let ns2 = setting.dialect == Dialect::Ns2;
        Sfq { flow_limit, ns2, ..Sfq::new(aqm_bins, self.quantum_bytes, self.perturb_s) }.into()
    }

    fn check(&self, law: &AqmSpec, _largest: u64) -> Faults {
        let mut faults = Faults::from(check_quantum(self.quantum_bytes));
        if self.one_law && law.parameters().judges_sojourns() {
            let message = "found true with an AQM algorithm that judges each packet by its sojourn time; \
                           allowed: false, since packets of sparse flows would switch it off";
            faults.add(Fault::new("one_law", message));
        }
        faults
    }
}

/// A quantum of 0 is one packet a round.
pub(super) fn check_quantum(quantum_bytes: u32) -> Result<(), Fault> {
    if !(1..SMALLEST_PACKET).contains(&quantum_bytes) {
        return Ok(());
    }
    let message = format!(
        "found {quantum_bytes}; allowed: 0 (one packet a round), or {SMALLEST_PACKET} (the smallest frame) or more"
    );
    Err(Fault::new("quantum_bytes", message))
}

/// How flows are hashed, which may change from time to time.
struct Hashing {
    interval: Time,
    next: Time,
    /// What hashes are mixed with, once they have been changed.
    salt: Option<u32>,
}

impl Hashing {
    fn new(perturb_s: f64) -> Self {
        let interval = if perturb_s > 0.0 { Time::from_secs_f64(perturb_s) } else { Time::NEVER };
        Self { interval, next: interval, salt: None }
    }

    /// Changes the hashes if that has become due. Returns whether it did.
    #[inline]
    fn perturb(&mut self, now: Time, rng: &mut Rng) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = self.interval.times(now.ps() / self.interval.ps() + 1);
            self.salt = Some(rng.bits() as u32);
        }
        is_due
    }

    fn of(&self, flow: u32) -> u32 {
        self.salt.map_or(flow, |salt| mixed(flow.wrapping_add(salt)))
    }
}

/// Stochastic fair queueing.
pub struct Sfq {
    aqm_bins: AqmBins,
    rounds: Rounds,
    hashing: Hashing,
    /// Is a round one packet of each bin?
    by_packet: bool,
    ns2: bool,
    is_linux: bool,
    flow_limit: u64,
    head_drop: bool,
    flows: FlowTable,
}

impl Sfq {
    /// The rules of White & Rice 2013, without a limit for each flow.
    pub(super) fn new(aqm_bins: AqmBins, quantum_bytes: u32, perturb_s: f64) -> Self {
        Self {
            flows: FlowTable::default(),
            rounds: Rounds::new(aqm_bins.count(), i64::from(quantum_bytes)),
            aqm_bins,
            hashing: Hashing::new(perturb_s),
            by_packet: quantum_bytes == 0,
            ns2: false,
            is_linux: false,
            flow_limit: u64::MAX,
            head_drop: false,
        }
    }

    /// The rules of Linux.
    pub(super) fn of_linux(self, flow_limit: u64, head_drop: bool) -> Self {
        Self { is_linux: true, flow_limit, head_drop, ..self }
    }

    fn bin(&self, flow: u32) -> usize {
        self.aqm_bins.hashed(self.hashing.of(flow))
    }

    fn is_full(&self, bin: usize) -> bool {
        self.aqm_bins.backlog_of(bin).packets >= self.flow_limit
    }

    fn schedule(&mut self, bin: usize) {
        // ns-2 queue/sfqcodel.cc: behind the current bin if that is the only other busy one.
        if self.is_linux || self.ns2 && self.rounds.busy() == 1 {
            self.rounds.join_last(bin);
        } else {
            self.rounds.join_first(bin);
        }
    }

    /// Changes the hashes if that has become due.
    #[inline]
    fn perturb(&mut self, now: Time, rng: &mut Rng, counters: &mut Counters) {
        if self.hashing.perturb(now, rng) && self.is_linux {
            self.rehash(now, counters);
        }
    }

    /// Moves all packets to the bins of new hashes; those that find their bin full are dropped (`sfq_rehash`).
    fn rehash(&mut self, now: Time, counters: &mut Counters) {
        let mut waiting = Vec::new();
        while let Some(bin) = self.rounds.first() {
            waiting.extend(std::iter::from_fn(|| self.aqm_bins.pop(bin)));
            self.rounds.retire_current();
        }
        for packet in waiting {
            let bin = self.bin(self.flows.hash(&packet));
            if self.is_full(bin) {
                counters.drop(now, packet, DropReason::Overflow);
            } else {
                self.aqm_bins.take_over(bin, packet);
                self.rounds.join_last(bin);
            }
        }
    }

    /// Drops packets as Linux does, until the limit holds.
    fn shed(&mut self, entry: &mut Entry) {
        while !entry.limit.holds(self.aqm_bins.backlog()) {
            let (Some(longest), Some(first)) = (self.aqm_bins.longest(), self.rounds.first())
            else {
                return;
            };
            if self.aqm_bins.backlog_of(longest).packets > 1 {
                self.shed_one(longest, entry);
            } else {
                // All hold one: the next to be served loses it and its turn.
                self.shed_one(first, entry);
                self.rounds.retire_current();
            }
        }
    }

    fn shed_one(&mut self, bin: usize, entry: &mut Entry) {
        if self.head_drop {
            self.aqm_bins.shed_head(bin, entry);
        } else {
            self.aqm_bins.shed_tail(bin, entry);
        }
    }
}

impl Discipline for Sfq {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        self.perturb(entry.now, entry.rng, &mut entry.counters);
        let bin = self.bin(self.flows.hash(&packet));
        let size = u64::from(packet.size);
        if !self.is_linux {
            self.aqm_bins.make_room(size, entry);
        }
        if self.is_full(bin) && self.head_drop {
            self.aqm_bins.shed_head(bin, entry);
        }
        let has_room = self.is_linux || entry.limit.admits(self.aqm_bins.backlog(), size);
        if self.is_full(bin) || !has_room {
            self.aqm_bins.overflow(bin, packet, entry);
        } else if self.aqm_bins.push(bin, packet, entry) {
            self.schedule(bin);
            if self.is_linux {
                self.shed(entry);
            }
        }
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        self.perturb(exit.now, exit.rng, &mut exit.counters);
        while let Some(bin) = self.rounds.current(|_| 1) {
            match self.aqm_bins.judge_head(bin, exit) {
                Head::Passes(size) => {
                    self.rounds.charge(bin, if self.by_packet { 1 } else { size });
                    let packet = self.aqm_bins.pop(bin);
                    if self.is_linux && self.aqm_bins.backlog_of(bin).packets == 0 {
                        self.aqm_bins.emptied(bin, exit.now);
                        self.rounds.retire_current();
                    }
                    return packet;
                }
                Head::Dropped => {}
                Head::None => self.rounds.retire_current(),
            }
        }
        None
    }

    by_aqm_bins!();

    fn set_flow_classifier(&mut self, flows: &FlowTable, _names: &[&str]) {
        self.flows = flows.clone();
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(BUSY_BINS, self.rounds.busy() as f64);
        self.aqm_bins.gauges(out);
    }

    fn flow_gauges(&self, flow: FlowKey, out: &mut Gauges) {
        self.aqm_bins.flow_gauges(self.bin(flow.hash), &self.rounds, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::{codel, pie};
    use crate::queue::aqm_bins::tests::Spies;
    use crate::queue::sfq_linux;
    use crate::queue::tests::Bench;

    fn sfq(parameters: &dyn SchedulerParameters, bench: &Bench) -> Sfq {
        let Scheduler::Sfq(sfq) = bench.start(parameters) else { unreachable!() };
        sfq
    }

    fn linux() -> sfq_linux::Parameters {
        sfq_linux::Parameters::default()
    }

    /// Packets of 1000 bytes of flows with these hashes, which are bins, with their numbers.
    fn put(sfq: &mut Sfq, bench: &mut Bench, tuples: &[u32]) {
        for (tuple, number) in tuples.iter().zip(1..) {
            let packet = Packet { tuple: *tuple, generation: number, ..Packet::datagram(1000) };
            sfq.enqueue(packet, &mut bench.entry());
        }
    }

    fn drain(sfq: &mut Sfq, bench: &mut Bench) -> Vec<(u32, u16)> {
        let sent = std::iter::from_fn(|| sfq.dequeue(&mut bench.exit()));
        sent.map(|packet| (packet.tuple, packet.generation)).collect()
    }

    #[test]
    fn hashes_change_at_whole_multiples_of_their_interval() {
        let mut rng = Rng::split_mix(1);
        let mut hashing = Hashing::new(10.0);
        let mut is_due = |ms| hashing.perturb(Time::from_ms(ms), &mut rng);
        let due = [9999, 10_000, 10_000, 19_999, 35_000, 39_999, 40_000].map(&mut is_due);
        assert_eq!(due, [false, true, false, false, true, false, true]);
        assert!(!Hashing::new(0.0).perturb(Time::from_s(1_000_000), &mut rng));
        let mut hashing = Hashing::new(1.0);
        assert_eq!(hashing.of(77), 77);
        hashing.perturb(Time::from_s(1), &mut Rng::split_mix(1));
        assert_eq!(hashing.of(77), mixed(77 + 0x8902_5cc1));
    }

    #[test]
    fn a_packet_that_comes_after_the_time_changes_hashes() {
        let perturb_s = 1.0;
        let both: [&dyn SchedulerParameters; 2] = [
            &sfq_linux::Parameters { perturb_s, ..linux() },
            &Parameters { perturb_s, ..Parameters::default() },
        ];
        for parameters in both {
            let mut bench = Bench::of(9);
            let mut sfq = sfq(parameters, &bench);
            for (ms, is_salted) in [(999, false), (1000, true)] {
                bench.now = Time::from_ms(ms);
                put(&mut sfq, &mut bench, &[1]);
                assert_eq!(sfq.hashing.salt.is_some(), is_salted, "{ms}");
            }
        }
    }

    /// A packet that is asked for after the time finds waiting ones in their new bins, and bins that are full by then
    /// lose some.
    #[test]
    fn waiting_packets_of_linux_move_when_hashes_change() {
        let mut bench = Bench::of(9);
        let parameters =
            sfq_linux::Parameters { bins: 1, perturb_s: 1.0, flow_limit_packets: 3, ..linux() };
        let mut sfq = sfq(&parameters, &bench);
        put(&mut sfq, &mut bench, &[1, 2, 1]);
        sfq.flow_limit = 2;
        bench.now = Time::from_s(1);
        assert_eq!(drain(&mut sfq, &mut bench), [(1, 1), (2, 2)]);
        assert_eq!(bench.counts.all.dropped_overflow, 1);
        assert!(sfq.hashing.salt.is_some());
    }

    #[test]
    fn a_bin_of_linux_leaves_the_round_with_its_last_packet() {
        let both: [(&dyn SchedulerParameters, _); 2] = [(&linux(), 0), (&Parameters::default(), 1)];
        for (parameters, busy) in both {
            let mut bench = Bench::of(9);
            let mut sfq = sfq(parameters, &bench);
            put(&mut sfq, &mut bench, &[1]);
            let spies = Spies::within(&mut sfq.aqm_bins);
            assert!(sfq.dequeue(&mut bench.exit()).is_some());
            assert_eq!(sfq.rounds.busy(), busy);
            // Its law learns then that it is empty, as it will not be asked again.
            let is_empty = spies.log().iter().any(|line| line.contains("is empty"));
            assert_eq!(is_empty, busy == 0);
            let mut shown = Gauges::default();
            sfq.gauges(&mut shown);
            assert_eq!(shown.get("busy_bins"), Some(busy as f64));
            assert!(sfq.dequeue(&mut bench.exit()).is_none());
            assert_eq!(sfq.rounds.busy(), 0);
        }
    }

    /// Where all hold one, the next to be served loses it and its turn: it comes again as the last.
    #[test]
    fn a_flow_of_linux_that_lost_its_only_packet_goes_to_the_end() {
        let mut bench = Bench::of(3);
        let mut sfq = sfq(&linux(), &bench);
        put(&mut sfq, &mut bench, &[1, 2, 3, 4]);
        assert_eq!(sfq.dequeue(&mut bench.exit()).map(|packet| packet.tuple), Some(2));
        put(&mut sfq, &mut bench, &[1]);
        assert_eq!(drain(&mut sfq, &mut bench), [(3, 3), (4, 4), (1, 1)]);
        assert_eq!(bench.counts.all.dropped_overflow, 1);
    }

    #[test]
    fn an_overflow_drops_from_the_tail_or_the_head() {
        let from_head = sfq_linux::Parameters { head_drop: true, ..linux() };
        let all: [(&dyn SchedulerParameters, _, _); 4] = [
            // The arrival finds room.
            (&Parameters::default(), 3, vec![(1, 1), (1, 2), (2, 4)]),
            (&linux(), 3, vec![(1, 1), (1, 2), (2, 4)]),
            (&from_head, 3, vec![(1, 2), (1, 3), (2, 4)]),
            // Nothing waits that could make room.
            (&Parameters::default(), 0, vec![]),
        ];
        for (parameters, room, left) in all {
            let mut bench = Bench::of(room);
            let mut sfq = sfq(parameters, &bench);
            put(&mut sfq, &mut bench, &[1, 1, 1, 2]);
            assert_eq!(bench.counts.all.dropped_overflow, 4 - left.len() as u64);
            let mut found = drain(&mut sfq, &mut bench);
            found.sort_unstable();
            assert_eq!(found, left, "{parameters:?}");
        }
    }

    #[test]
    fn a_flow_has_its_limit() {
        let all: [(&dyn SchedulerParameters, _); 4] = [
            (&Parameters { flow_limit_packets: Some(2), ..Parameters::default() }, 2),
            (&Parameters::default(), 200),
            (&linux(), 127),
            (&sfq_linux::Parameters { flow_limit_packets: 130, ..linux() }, 130),
        ];
        for (parameters, left) in all {
            let mut bench = Bench::of(1000);
            let mut sfq = sfq(parameters, &bench);
            put(&mut sfq, &mut bench, &[1; 200]);
            assert_eq!(sfq.backlog().packets, left, "{parameters:?}");
        }
    }

    #[test]
    fn a_round_may_be_one_packet_of_each_bin() {
        let parameters = Parameters { quantum_bytes: 0, ..Parameters::default() };
        let mut bench = Bench::of(9);
        let mut sfq = sfq(&parameters, &bench);
        put(&mut sfq, &mut bench, &[1, 1, 2, 2]);
        assert_eq!(drain(&mut sfq, &mut bench), [(1, 1), (2, 3), (1, 2), (2, 4)]);
        // Whatever their lengths are.
        for (tuple, size) in [(1, 1000), (1, 1000), (2, 100), (2, 100)] {
            let packet = Packet { tuple, ..Packet::datagram(size) };
            sfq.enqueue(packet, &mut bench.entry());
        }
        let bins: Vec<_> = drain(&mut sfq, &mut bench).iter().map(|(tuple, _)| *tuple).collect();
        assert_eq!(bins, [1, 2, 1, 2]);
    }

    #[test]
    fn keys_must_agree() {
        let codel = AqmSpec::Codel(codel::Parameters::default());
        let pie = AqmSpec::Pie(pie::Parameters::default());
        let one_law = Parameters { one_law: true, ..Parameters::default() };
        let quantum = |quantum_bytes| Parameters { quantum_bytes, ..Parameters::default() };
        for (parameters, law, keys) in [
            (Parameters::default(), &codel, ""),
            (one_law.clone(), &pie, ""),
            (one_law, &codel, "one_law"),
            (quantum(0), &pie, ""),
            (quantum(1), &pie, "quantum_bytes"),
            (quantum(63), &pie, "quantum_bytes"),
            (quantum(64), &pie, ""),
        ] {
            let faults = parameters.check(law, 1522).into_iter();
            let found: Vec<_> = faults.map(|fault| fault.path).collect();
            assert_eq!(found.join(" "), keys, "{parameters:?}");
        }
        let linux = |quantum_bytes| {
            let parameters = sfq_linux::Parameters { quantum_bytes, ..linux() };
            parameters.check(&codel, 1522).is_empty()
        };
        assert_eq!([0, 63, 64].map(linux), [true, false, true]);
    }
}
