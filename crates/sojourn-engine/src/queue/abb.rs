//! Adaptive bandwidth binning (Hong 2015 §3.1.2 and §5.1). With CoDel as the AQM algorithm it is
//! ABB-k.
//!
//! Flows are put into a few bins by the bandwidth they received. Weighted bins are served in turn,
//! and each bin is first in, first out. Flows are reclassified every interval. The bounds of the
//! bins are the break-points of a max-min fair division of the capacity, and a bin's weight is the
//! sum of its flows' weights. So a flow that took more than its fair share shares a bin with others
//! that did.
//!
//! Choices where the source leaves questions open:
//! - A reclassification that falls due while plugs are in waits until they are pulled.
//! - Plugs separate old packets from new ones. The weights of the old bins hold until the plugs are
//!   pulled, since packets served until then are in bins of the old classification.
//! - To the rounds, a bin behind its plug is empty: it leaves them and joins again as a busy bin.
//! - A new flow starts in the first bin with a rate of zero. A flow that sent nothing for an
//!   interval and has nothing waiting is forgotten once its average rate is below `idle_kbps`; it
//!   then has no weight. Until then it keeps the bin it had. In the source every flow belongs to a
//!   modem and lasts.
//! - A flow is a TCP connection (a slot in their table) or the datagrams of a traffic entry.
//! - The last bin takes all flows that fit in no other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aqm_bins::{AqmBins, Head};
use super::bins::Measure;
use super::flow_table::WEIGHT;
use super::plugs::Plugs;
use super::rounds::Rounds;
use super::weights::Weights;
use super::{
    Discipline, Entry, Exit, FlowKey, FlowTable, Scheduler, SchedulerParameters, Setting, Waiting,
};
use crate::aqm::DrainRate;
use crate::count::Count;
use crate::fairness::{Demand, break_points};
use crate::packet::Packet;
use crate::record::Gauges;
use crate::units::{BitRate, Time};

crate::series! {
    /// ABB: time since the run began in which a bin with packets waited at its plug for those of other bins.
    DISRUPTED = "disrupted", in "s", from "Hong 2015, section 5.1.4";
    /// ABB: flows that changed their bin at a reclassification, since the run began.
    BIN_SWITCHES = "bin_switches", in "1", from "Hong 2015";
    /// ABB: flows times reclassifications since the run began, of which `bin_switches` are a share.
    BIN_SWITCH_CHANCES = "bin_switch_chances", in "1", from "Hong 2015";
    /// ABB: moving average of a watched flow's rate.
    RATE = "rate", in "Mbps", from "Hong 2015, section 5.1";
    /// ABB: sum of the weights of the flows in a watched flow's bin.
    BIN_WEIGHT = "bin_weight", in "1", from "Hong 2015, section 5.1";
}

/// Parameters of adaptive bandwidth binning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Abb")]
pub struct Parameters {
    /// Number of bins (Hong 2015 §5.2: 2 to 4).
    #[schemars(range(min = 1, max = 64))]
    pub bins: u32,
    /// Time between reclassifications of flows in s (Hong 2015 §5.2: 1).
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub interval_s: f64,
    /// Weight of the last interval in the moving average of a flow's rate (Hong 2015 §5.1: 0.4).
    #[schemars(range(min = 0.01, max = 1.0))]
    pub smoothing: f64,
    /// Average rate in kbps below which a flow always counts as satisfied (Hong 2015 §5.1.2.3: 50
    /// or 100).
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub idle_kbps: f64,
    /// Capacity in Mbps that is divided among flows. Default: the sustained rate of the service
    /// flow.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub capacity_mbps: Option<f64>,
    /// Bytes that a bin with one flow of weight 1 may send in a round.
    #[schemars(range(min = 64, max = 65_535))]
    pub quantum_bytes: u32,
    /// Weights of flows, by name of the traffic entry. Default: 1 for each entry.
    pub weights: Weights,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            bins: 3,
            interval_s: 1.0,
            smoothing: 0.4,
            idle_kbps: 50.0,
            capacity_mbps: None,
            quantum_bytes: 1514,
            weights: Weights::default(),
        }
    }
}

impl SchedulerParameters for Parameters {
    fn bins(&self) -> (u32, u32) {
        (self.bins, self.bins)
    }

    fn start(&self, setting: &Setting) -> Scheduler {
        let bins = self.bins as usize;
        let interval = Time::from_secs_f64(self.interval_s);
        Abb {
            aqm_bins: AqmBins::new(bins, Measure::Packets, setting),
            rounds: Rounds::new(bins, i64::from(self.quantum_bytes)),
            plugs: Plugs::new(bins),
            flows: Vec::new(),
            bin_weights: vec![0.0; bins],
            p: self.clone(),
            table: FlowTable::default(),
            interval,
            next_measurement: interval,
            overdue: false,
            capacity_bps: 0.0,
            demands: Vec::new(),
            switches: 0,
            chances: 0,
        }
        .into()
    }

    fn weights(&self) -> Option<&Weights> {
        Some(&self.weights)
    }
}

/// State of a flow.
#[derive(Clone, Copy, Default)]
struct Flow {
    /// Is it active, or was it recently enough that its average rate is not yet that of an idle
    /// flow?
    is_known: bool,
    weight: f64,
    bin: usize,
    /// Packets waiting.
    waiting: u64,
    /// Bytes sent since the last measurement.
    sent: u64,
    /// Moving average of its rate in bit/s.
    rate_bps: f64,
    /// Was nothing sent in the last interval?
    is_silent: bool,
}

/// Adaptive bandwidth binning.
pub struct Abb {
    p: Parameters,
    aqm_bins: AqmBins,
    rounds: Rounds,
    plugs: Plugs,
    /// Indexed by [`FlowTable::index`].
    flows: Vec<Flow>,
    table: FlowTable,
    /// Sum of the weights of the flows classified into each bin.
    bin_weights: Vec<f64>,
    interval: Time,
    next_measurement: Time,
    /// A reclassification is due but waits for the plugs.
    overdue: bool,
    capacity_bps: f64,
    /// Kept to reuse its memory.
    demands: Vec<Demand>,
    switches: u64,
    /// Number of classifications in which a flow could have changed its bin.
    chances: u64,
}

impl Abb {
    /// The bin of a packet's flow.
    fn bin_of(&mut self, packet: &Packet) -> usize {
        let (index, weight) = (self.table.index(packet), self.table.weight(packet));
        if index >= self.flows.len() {
            self.flows.resize(index + 1, Flow::default());
        }
        if !self.flows[index].is_known {
            self.flows[index] = Flow { is_known: true, ..Flow::default() };
            self.bin_weights[0] += weight;
            if !self.plugs.are_in() {
                self.apply_weight(0);
            }
        }
        let flow = &mut self.flows[index];
        flow.weight = weight;
        flow.bin
    }

    fn apply_weight(&mut self, bin: usize) {
        let quantum = self.bin_weights[bin] * f64::from(self.p.quantum_bytes);
        self.rounds.set_quantum(bin, quantum);
    }

    /// Updates the average rates of flows (Hong 2015 §5.1).
    fn measure(&mut self) {
        let per_interval = 8.0 / self.interval.secs_f64();
        for flow in &mut self.flows {
            let sample = flow.sent as f64 * per_interval;
            flow.is_silent = flow.sent == 0;
            flow.sent = 0;
            flow.rate_bps += self.p.smoothing * (sample - flow.rate_bps);
        }
    }

    /// Classifies flows (Hong 2015, listing 5.4 `Optimize`) and inserts plugs if a flow changes its
    /// bin (§5.1.4).
    fn reclassify(&mut self, now: Time) {
        self.overdue = false;
        self.gather_demands();
        // The last bin has no upper bound.
        let bounds = break_points(self.capacity_bps, &mut self.demands, self.aqm_bins.count() - 1);
        if self.assign_bins(&bounds) {
            let Self { plugs, aqm_bins, .. } = self;
            plugs.plug(|bin| aqm_bins.backlog_of(bin).packets);
            self.pull_plugs(now);
        } else {
            (0..self.aqm_bins.count()).for_each(|bin| self.apply_weight(bin));
        }
    }

    fn gather_demands(&mut self) {
        self.demands.clear();
        for flow in &mut self.flows {
            let rate = flow.rate_bps;
            // An average never reaches 0; below 1 bit/s it counts as 0.
            let is_satisfied = rate < (self.p.idle_kbps * 1e3).max(1.0);
            flow.is_known &= flow.waiting > 0 || !flow.is_silent || !is_satisfied;
            if flow.is_known {
                self.demands.push(Demand { rate, weight: flow.weight, is_satisfied });
            }
        }
    }

    /// Puts flows into the bins with these bounds. Returns whether any flow changed its bin.
    fn assign_bins(&mut self, bounds: &[f64]) -> bool {
        self.bin_weights.fill(0.0);
        let switches_before = self.switches;
        let known = self.flows.iter_mut().filter(|flow| flow.is_known);
        for (flow, demand) in known.zip(&self.demands) {
            let normalised = demand.rate / demand.weight;
            let fits = |bound: &f64| normalised <= *bound;
            let bin = bounds.iter().position(fits).unwrap_or(bounds.len());
            self.switches += u64::from(bin != flow.bin);
            flow.bin = bin;
            self.bin_weights[bin] += demand.weight;
        }
        self.chances += self.demands.len() as u64;
        self.switches > switches_before
    }

    /// Once all plugs are at the heads, removes them: waiting bins go on with the new weights.
    #[inline]
    fn pull_plugs(&mut self, now: Time) {
        if !self.plugs.pull(now) {
            return;
        }
        for bin in 0..self.aqm_bins.count() {
            self.apply_weight(bin);
            if self.aqm_bins.backlog_of(bin).packets > 0 {
                self.rounds.join_first(bin);
            }
        }
        if self.overdue {
            self.reclassify(now);
        }
    }

    /// Records that the head of a bin was sent or dropped.
    fn popped(&mut self, bin: usize, flow: usize, now: Time) {
        self.flows[flow].waiting -= 1;
        self.plugs.popped(bin, self.aqm_bins.backlog_of(bin).packets, now);
        self.pull_plugs(now);
    }
}

impl Discipline for Abb {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        let size = u64::from(packet.size);
        while let Some((bin, victim)) = self.aqm_bins.take_excess(size, entry) {
            self.flows[self.table.index(&victim)].waiting -= 1;
            self.plugs.cut(bin, self.aqm_bins.backlog_of(bin).packets);
            self.aqm_bins.overflow(bin, victim, entry);
        }
        self.pull_plugs(entry.now);
        let bin = self.bin_of(&packet);
        if !entry.limit.admits(self.aqm_bins.backlog(), size) {
            self.aqm_bins.overflow(bin, packet, entry);
            return;
        }
        let flow = self.table.index(&packet);
        if self.aqm_bins.push(bin, packet, entry) {
            self.flows[flow].waiting += 1;
            self.plugs.pushed(bin, entry.now);
            if !self.plugs.hold(bin) {
                self.rounds.join_first(bin);
            }
        }
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        while let Some(bin) = self.rounds.current(|_| 1) {
            let Some(head) = self.aqm_bins.head(bin).filter(|_| !self.plugs.hold(bin)) else {
                self.aqm_bins.emptied(bin, exit.now);
                self.rounds.retire_current();
                continue;
            };
            let flow = self.table.index(head);
            let packet = match self.aqm_bins.judge_head(bin, exit) {
                Head::Passes(size) => {
                    self.flows[flow].sent += size as u64;
                    self.rounds.charge(bin, size);
                    self.aqm_bins.pop(bin)
                }
                Head::Dropped | Head::None => None,
            };
            self.popped(bin, flow, exit.now);
            if packet.is_some() {
                return packet;
            }
        }
        None
    }

    fn backlog(&self) -> Count {
        self.aqm_bins.backlog()
    }

    fn packets(&self) -> Waiting<'_> {
        Box::new(self.aqm_bins.packets())
    }

    fn on_map(&mut self, granted: u64, ungranted: u64) {
        self.aqm_bins.on_map(granted, ungranted);
    }

    fn next_update(&self) -> Time {
        self.aqm_bins.next_update().min(self.next_measurement)
    }

    fn update(&mut self, now: Time, drain_rate: &DrainRate) {
        if self.aqm_bins.next_update() <= now {
            self.aqm_bins.update(now, drain_rate);
        }
        if self.next_measurement > now {
            return;
        }
        self.next_measurement = now + self.interval;
        let capacity = self.p.capacity_mbps.map_or(drain_rate.sustained, BitRate::from_mbps);
        self.capacity_bps = capacity.bps() as f64;
        self.measure();
        if self.plugs.are_in() {
            self.overdue = true;
        } else {
            self.reclassify(now);
        }
    }

    fn set_flow_classifier(&mut self, flows: &FlowTable, names: &[&str]) {
        self.table = flows.weighing(&self.p.weights, names);
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(DISRUPTED, self.plugs.disrupted().secs_f64());
        out.show(BIN_SWITCHES, self.switches as f64);
        out.show(BIN_SWITCH_CHANCES, self.chances as f64);
    }

    fn flow_gauges(&self, flow: FlowKey, out: &mut Gauges) {
        let Flow { bin, rate_bps, weight, .. } = self.flows[flow.index];
        out.show(WEIGHT, weight);
        out.show(RATE, rate_bps / 1e6);
        out.show(BIN_WEIGHT, self.bin_weights[bin]);
        self.aqm_bins.flow_gauges(bin, &self.rounds, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::Bench;
    use crate::queue::weights::Weight;

    /// Two bins; flow 2 has a weight of 2.
    fn abb(bench: &Bench) -> Abb {
        let weights = Weights([("b".to_owned(), Weight(2.0))].into_iter().collect());
        let parameters =
            Parameters { bins: 2, quantum_bytes: 1000, weights, ..Parameters::default() };
        let Scheduler::Abb(mut abb) = bench.start(&parameters) else { unreachable!() };
        abb.set_flow_classifier(&FlowTable::connections(), &["a", "b"]);
        abb
    }

    fn packet(traffic: u16) -> Packet {
        Packet { flow: traffic.into(), traffic, ..Packet::datagram(1000) }
    }

    fn shown(abb: &Abb, flow: usize, name: &str) -> f64 {
        let mut shown = Gauges::default();
        abb.gauges(&mut shown);
        abb.flow_gauges(abb.table.key(&packet(flow as u16)), &mut shown);
        shown.get(name).unwrap()
    }

    #[test]
    fn the_first_bin_has_the_weights_of_new_flows() {
        let mut bench = Bench::of(99);
        let mut abb = abb(&bench);
        abb.enqueue(packet(0), &mut bench.entry());
        assert_eq!((shown(&abb, 0, "bin_weight"), shown(&abb, 0, "deficit")), (1.0, 1000.0));
        (0..5).for_each(|_| abb.enqueue(packet(1), &mut bench.entry()));
        assert_eq!((shown(&abb, 1, "bin_weight"), shown(&abb, 1, "weight")), (3.0, 2.0));
        // Its next turn is of 3000 bytes: the first of 1000 is used up.
        (0..2).for_each(|_| assert!(abb.dequeue(&mut bench.exit()).is_some()));
        assert_eq!(shown(&abb, 1, "deficit"), 2000.0);
        // While plugs are in, the new weights wait.
        abb.plugs.plug(|bin| abb.aqm_bins.backlog_of(bin).packets);
        abb.enqueue(Packet { flow: 9, ..packet(1) }, &mut bench.entry());
        assert_eq!(shown(&abb, 1, "bin_weight"), 5.0);
        (0..3).for_each(|_| assert!(abb.dequeue(&mut bench.exit()).is_some()));
        assert_eq!(shown(&abb, 1, "deficit"), 2000.0);
        assert_eq!(shown(&abb, 1, "disrupted"), 0.0);
        abb.plugs.plug(|bin| [1, 0][bin]);
        abb.plugs.pushed(1, Time::from_ms(3));
        abb.plugs.popped(0, 0, Time::from_ms(10));
        assert!(abb.plugs.pull(Time::from_ms(10)));
        assert_eq!(shown(&abb, 1, "disrupted"), 0.007);
    }

    /// Hong 2015 §5.1: by the rate over the weight; one that is at a bound fits below it.
    #[test]
    fn flows_are_in_the_first_bin_that_they_fit_into() {
        let mut abb = abb(&Bench::of(9));
        let flow = |weight, bin| Flow { is_known: true, weight, bin, ..Flow::default() };
        abb.flows = vec![flow(1.0, 0), flow(1.0, 0), flow(2.0, 1), Flow::default(), flow(1.0, 1)];
        let demand = |rate, weight| Demand { rate, weight, is_satisfied: false };
        abb.demands = vec![demand(2.0, 1.0), demand(2.1, 1.0), demand(4.0, 2.0), demand(9.0, 1.0)];
        assert!(abb.assign_bins(&[2.0]));
        let bins: Vec<_> = abb.flows.iter().map(|flow| flow.bin).collect();
        assert_eq!((bins, abb.bin_weights.clone()), (vec![0, 1, 0, 0, 1], vec![3.0, 2.0]));
        assert_eq!((abb.switches, abb.chances), (2, 4));
        assert!(!abb.assign_bins(&[2.0]), "they stay");
        assert_eq!((abb.switches, abb.chances, abb.bin_weights[0]), (2, 8, 3.0));
    }

    /// An average of 0.4 of a second's rate: 1000 bytes are 8000 bit/s.
    #[test]
    fn rates_are_measured_and_idle_flows_forgotten() {
        let mut bench = Bench::of(9);
        let mut abb = abb(&bench);
        assert_eq!(abb.next_update(), Time::from_s(1));
        (0..2).for_each(|flow| abb.enqueue(packet(flow), &mut bench.entry()));
        assert!(abb.dequeue(&mut bench.exit()).is_some());
        abb.update(Time::from_s(1), &bench.drain_rate);
        assert_eq!(abb.next_update(), Time::from_s(2));
        assert_eq!([0, 1].map(|flow| shown(&abb, flow, "rate")), [0.0032, 0.0]);
        // Flow 0 is silent now and below 50 kbit/s; a packet of flow 1 still waits.
        abb.update(Time::from_s(2), &bench.drain_rate);
        assert!((shown(&abb, 0, "rate") - 0.00192).abs() < 1e-12);
        let known: Vec<_> = abb.flows.iter().step_by(2).map(|flow| flow.is_known).collect();
        assert_eq!(known, [false, true]);
        assert_eq!(abb.bin_weights, [2.0, 0.0]);
        // Its quantum is that of flow 1 alone.
        abb.dequeue(&mut bench.exit());
        abb.enqueue(packet(1), &mut bench.entry());
        abb.dequeue(&mut bench.exit());
        assert!(abb.dequeue(&mut bench.exit()).is_none());
        abb.enqueue(packet(1), &mut bench.entry());
        assert_eq!(shown(&abb, 1, "deficit"), 2000.0);
        // The capacity is the line's.
        assert_eq!(abb.capacity_bps, 8e6);
    }

    /// Without `idle_kbps` an average counts as 0 below 1 bit/s.
    #[test]
    fn a_flow_is_idle_below_its_rate() {
        let mut abb = abb(&Bench::of(9));
        abb.p.idle_kbps = 0.0;
        let flow = |rate_bps| Flow { is_known: true, is_silent: true, rate_bps, ..Flow::default() };
        abb.flows = [0.99, 1.0, 1.4].map(flow).to_vec();
        abb.gather_demands();
        assert_eq!(
            abb.flows.iter().map(|flow| flow.is_known).collect::<Vec<_>>(),
            [false, true, true]
        );
        assert!(abb.demands.iter().all(|demand| !demand.is_satisfied));
        abb.p.idle_kbps = 1.0;
        abb.flows = [999.0, 1000.0].map(flow).to_vec();
        abb.gather_demands();
        assert_eq!([abb.flows[0].is_known, abb.flows[1].is_known], [false, true]);
    }

    /// Plugs are pulled as soon as nothing is before them; of the bins only that with packets takes turns.
    #[test]
    fn bins_with_packets_go_on_when_plugs_are_pulled() {
        let mut bench = Bench::of(2);
        let mut abb = abb(&bench);
        abb.enqueue(packet(0), &mut bench.entry());
        abb.plugs.plug(|bin| abb.aqm_bins.backlog_of(bin).packets);
        abb.enqueue(packet(0), &mut bench.entry());
        assert_eq!(abb.dequeue(&mut bench.exit()).map(|packet| packet.flow), Some(0));
        assert!(!abb.plugs.are_in());
        assert_eq!(abb.rounds.busy(), 1);
        assert!(abb.dequeue(&mut bench.exit()).is_some());
        // An overflow that takes what was before the plug has them pulled too.
        bench.limit.packets = 1;
        abb.enqueue(packet(0), &mut bench.entry());
        abb.plugs.plug(|bin| abb.aqm_bins.backlog_of(bin).packets);
        abb.enqueue(packet(1), &mut bench.entry());
        assert_eq!((bench.counts.all.dropped_overflow, abb.plugs.are_in()), (1, false));
        assert_eq!(abb.dequeue(&mut bench.exit()).map(|packet| packet.flow), Some(1));
        assert_eq!(abb.flows.iter().map(|flow| flow.waiting).sum::<u64>(), 0);
        // Without any room the arrival itself is dropped.
        bench.limit.packets = 0;
        abb.enqueue(packet(0), &mut bench.entry());
        assert_eq!((bench.counts.all.dropped_overflow, abb.backlog().packets), (2, 0));
    }

    /// Of 4 with demands of 1 and 9 each may have 2 at first: the last of the two bins takes what is above.
    #[test]
    fn the_last_bin_has_no_bound() {
        let mut abb = abb(&Bench::of(9));
        let flow = |rate_bps| Flow { is_known: true, weight: 1.0, rate_bps, ..Flow::default() };
        abb.flows = vec![flow(1e6), flow(9e6)];
        (abb.capacity_bps, abb.overdue) = (4e6, true);
        abb.reclassify(Time::from_s(1));
        assert_eq!(([abb.flows[0].bin, abb.flows[1].bin], abb.overdue), ([0, 1], false));
        assert_eq!(abb.bin_weights, [1.0, 1.0]);
    }
}
