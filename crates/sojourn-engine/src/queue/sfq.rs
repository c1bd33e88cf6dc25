//! Stochastic fair queueing: flows are hashed to bins, bins are served in turn, and each bin has an
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

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aqm_bins::{AqmBins, Head};
use super::rounds::Rounds;
use super::{Discipline, Entry, Exit, FlowKey, FlowTable, Scheduler, SchedulerParameters, Setting};
use crate::aqm::AqmSpec;
use crate::aqm::DrainRate;
use crate::count::Count;
use crate::dialect::Dialect;
use crate::packet::Packet;
use crate::record::Gauges;
use crate::units::Time;
use sojourn_input::problem::{Fault, Faults};

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
}

impl Default for Parameters {
    fn default() -> Self {
        Self { bins: 1024, quantum_bytes: 1514, one_law: false }
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
        Sfq {
            flows: FlowTable::default(),
            aqm_bins,
            rounds: Rounds::new(bins, i64::from(self.quantum_bytes)),
            by_packet: self.quantum_bytes == 0,
            ns2: setting.dialect == Dialect::Ns2,
        }
        .into()
    }

    fn check(&self, law: &AqmSpec, _largest: u64) -> Faults {
        let mut faults = Faults::default();
        if self.one_law && law.parameters().judges_sojourns() {
            let message = "found true with an AQM algorithm that judges each packet by its sojourn time; \
                           allowed: false, since packets of sparse flows would switch it off";
            faults.add(Fault::new("one_law", message));
        }
        if (1..SMALLEST_PACKET).contains(&self.quantum_bytes) {
            let message = format!(
                "found {}; allowed: 0 (one packet a round), or {SMALLEST_PACKET} (the smallest frame) \
                 or more",
                self.quantum_bytes
            );
            faults.add(Fault::new("quantum_bytes", message));
        }
        faults
    }
}

/// Stochastic fair queueing.
pub struct Sfq {
    aqm_bins: AqmBins,
    rounds: Rounds,
    /// Is a round one packet of each bin?
    by_packet: bool,
    ns2: bool,
    flows: FlowTable,
}

impl Sfq {
    fn schedule(&mut self, bin: usize) {
        // ns-2 queue/sfqcodel.cc: behind the current bin if that is the only other busy one.
        if self.ns2 && self.rounds.busy() == 1 {
            self.rounds.join_last(bin);
        } else {
            self.rounds.join_first(bin);
        }
    }
}

impl Discipline for Sfq {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        let bin = self.aqm_bins.hashed(self.flows.hash(&packet));
        let size = u64::from(packet.size);
        self.aqm_bins.make_room(size, entry);
        if !entry.limit.admits(self.aqm_bins.backlog(), size) {
            self.aqm_bins.overflow(bin, packet, entry);
            return;
        }
        if self.aqm_bins.push(bin, packet, entry) {
            self.schedule(bin);
        }
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        while let Some(bin) = self.rounds.current(|_| 1) {
            match self.aqm_bins.judge_head(bin, exit) {
                Head::Passes(size) => {
                    self.rounds.charge(bin, if self.by_packet { 1 } else { size });
                    return self.aqm_bins.pop(bin);
                }
                Head::Dropped => {}
                Head::None => self.rounds.retire_current(),
            }
        }
        None
    }

    fn backlog(&self) -> Count {
        self.aqm_bins.backlog()
    }

    fn on_map(&mut self, granted: u64, ungranted: u64) {
        self.aqm_bins.on_map(granted, ungranted);
    }

    fn next_update(&self) -> Time {
        self.aqm_bins.next_update()
    }

    fn update(&mut self, now: Time, drain_rate: &DrainRate) {
        self.aqm_bins.update(now, drain_rate);
    }

    fn set_flow_classifier(&mut self, flows: &FlowTable, _names: &[&str]) {
        self.flows = flows.clone();
    }

    fn gauges(&self, out: &mut Gauges) {
        out.set("busy_bins", "1", self.rounds.busy() as f64);
        self.aqm_bins.gauges(out);
    }

    fn flow_gauges(&self, flow: FlowKey, out: &mut Gauges) {
        self.aqm_bins.flow_gauges(self.aqm_bins.hashed(flow.hash), &self.rounds, out);
    }
}
