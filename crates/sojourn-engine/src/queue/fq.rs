//! Flow queueing of FQ-CoDel (RFC 8290 §4.1 and §4.2), with any AQM algorithm in its queues.
//!
//! Flows are hashed to queues. A queue that becomes busy joins the new queues, which are served
//! before the old ones until they have used up a quantum. A new queue that runs empty takes one
//! turn among the old ones, so that a flow cannot stay new by pausing.
//!
//! Left out: the salt of the hash (§4.1), since connections draw their hashes at random; and the
//! default limit of 10 240 packets (§4.1.3), since the limit is the queue's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aqm_bins::{AqmBins, Head, by_aqm_bins};
use super::bins::Measure;
use super::rounds::Rounds;
use super::{Discipline, Entry, Exit, FlowKey, FlowTable, Scheduler, SchedulerParameters, Setting};
use crate::packet::Packet;
use crate::record::Gauges;

crate::series! {
    /// FQ-CoDel, FQ-PIE: queues that have packets or a turn left.
    BUSY_QUEUES = "busy_queues", in "1", from "RFC 8290, section 4.2";
}

/// The most packets dropped at once (RFC 8290 §4.1).
const BATCH: u64 = 64;

/// Where the RFC and the kernel differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// RFC 8290: an overflow drops half the packets of the longest queue, up to 64, and a new queue that runs empty
    /// takes a turn among the old ones.
    #[default]
    Rfc8290,
    /// Linux 7.2, `fq_codel` and `fq_pie`: where no queue is old a new one that runs empty leaves at once. An overflow
    /// drops half the bytes of the longest queue; with an algorithm that judges arrivals, the arrival.
    Linux,
}

/// Parameters of the flow queueing of FQ-CoDel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Fq")]
pub struct Parameters {
    /// Number of queues that flows are hashed to (RFC 8290 §5.2.4: 1024).
    #[schemars(range(min = 1, max = 65_536))]
    pub queues: u32,
    /// Bytes that a queue may send in a round: one full packet (RFC 8290 §5.2.3: 1514).
    #[schemars(range(min = 64, max = 65_535))]
    pub quantum_bytes: u32,
    /// Whose rules it follows where they differ.
    pub variant: Variant,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { queues: 1024, quantum_bytes: 1514, variant: Variant::default() }
    }
}

impl SchedulerParameters for Parameters {
    fn bins(&self) -> (u32, u32) {
        (self.queues, self.queues)
    }

    fn start(&self, setting: &Setting) -> Scheduler {
        let queues = self.queues as usize;
        Fq {
            aqm_bins: AqmBins::new(queues, Measure::Bytes, setting),
            rounds: Rounds::new(queues, i64::from(self.quantum_bytes)),
            flows: FlowTable::default(),
            variant: self.variant,
            refuses: self.variant == Variant::Linux && !setting.law.parameters().judges_sojourns(),
        }
        .into()
    }
}

/// Flow queueing.
pub struct Fq {
    aqm_bins: AqmBins,
    rounds: Rounds,
    flows: FlowTable,
    variant: Variant,
    /// Does a full queue refuse arrivals?
    refuses: bool,
}

impl Discipline for Fq {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        let queue = self.aqm_bins.hashed(self.flows.hash(&packet));
        if self.refuses && !entry.limit.admits(self.aqm_bins.backlog(), packet.size.into()) {
            self.aqm_bins.overflow(queue, packet, entry);
            return;
        }
        if !self.aqm_bins.push(queue, packet, entry) {
            return;
        }
        self.rounds.join_first(queue);
        match self.variant {
            // RFC 8290 §4.1: half the packets of the queue with most bytes, up to a batch.
            Variant::Rfc8290 => self.aqm_bins.shed(entry, |packets| packets.div_ceil(2).min(BATCH)),
            Variant::Linux => self.aqm_bins.shed_bytes(entry, BATCH),
        }
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        // RFC 8290 §4.2 moves on from a queue "with a negative number of credits (i.e. it has
        // already dequeued at least a quantum of bytes)". The explanation counts: a queue without
        // credits moves on.
        while let Some(queue) = self.rounds.current(|_| 1) {
            match self.aqm_bins.judge_head(queue, exit) {
                Head::Passes(size) => {
                    self.rounds.charge(queue, size);
                    return self.aqm_bins.pop(queue);
                }
                Head::Dropped => {}
                Head::None if self.variant == Variant::Linux && !self.rounds.has_old() => {
                    self.rounds.retire_current();
                }
                Head::None => self.rounds.age_or_retire_current(),
            }
        }
        None
    }

    by_aqm_bins!();

    fn set_flow_classifier(&mut self, flows: &FlowTable, _names: &[&str]) {
        self.flows = flows.clone();
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(BUSY_QUEUES, self.rounds.busy() as f64);
    }

    fn flow_gauges(&self, flow: FlowKey, out: &mut Gauges) {
        self.aqm_bins.flow_gauges(self.aqm_bins.hashed(flow.hash), &self.rounds, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::{AqmSpec, codel};
    use crate::queue::tests::Bench;

    /// Linux' `fq_codel` with room for so many packets.
    fn fq_codel(packets: u64) -> (Fq, Bench) {
        let bench = Bench::of(packets);
        let law = codel::Parameters { variant: codel::Variant::Linux, ..Default::default() };
        let law = AqmSpec::Codel(law);
        let parameters = Parameters { variant: Variant::Linux, ..Parameters::default() };
        let Scheduler::Fq(fq) = parameters.start(&bench.setting(&law)) else { unreachable!() };
        (fq, bench)
    }

    /// Packets of these queues and sizes come, numbered.
    fn put(fq: &mut Fq, bench: &mut Bench, packets: &[(u32, u16)]) {
        for ((tuple, size), generation) in packets.iter().zip(0..) {
            let packet = Packet { tuple: *tuple, generation, ..Packet::datagram(*size) };
            fq.enqueue(packet, &mut bench.entry());
        }
    }

    fn take(fq: &mut Fq, bench: &mut Bench, packets: usize) -> Vec<u32> {
        let next = std::iter::from_fn(|| fq.dequeue(&mut bench.exit()));
        next.take(packets).map(|packet| packet.tuple).collect()
    }

    /// Queue 1 is empty when it is asked again, and no queue is old: it leaves, and is new with its next packet, before
    /// queue 3. With a turn among the old ones it would come after it. Queue 2 is new until its second packet.
    #[test]
    fn a_new_queue_of_linux_that_runs_empty_leaves_where_none_is_old() {
        let (mut fq, mut bench) = fq_codel(99);
        put(&mut fq, &mut bench, &[(1, 1000), (2, 1000), (2, 1000)]);
        assert_eq!(take(&mut fq, &mut bench, 2), [1, 2]);
        put(&mut fq, &mut bench, &[(1, 1000), (3, 1000)]);
        assert_eq!(take(&mut fq, &mut bench, 9), [2, 1, 3]);
    }

    /// Of 3800 B in two packets of 1500 and eight of 100, half are gone with the first two packets, where half of the
    /// packets would be five. Of 200 alike half would be 100, and 64 are the most at once.
    #[test]
    fn an_overflow_of_linux_takes_half_of_the_bytes_and_64_packets_at_most() {
        let (mut fq, mut bench) = fq_codel(9);
        let packets = [[(1, 1500); 2].as_slice(), &[(1, 100); 8]].concat();
        put(&mut fq, &mut bench, &packets);
        assert_eq!((bench.counts.all.dropped_overflow, fq.backlog().bytes), (2, 800));
        let (mut fq, mut bench) = fq_codel(199);
        put(&mut fq, &mut bench, &[(1, 100); 200]);
        assert_eq!((bench.counts.all.dropped_overflow, fq.backlog().packets), (64, 136));
    }
}
