//! Checks between keys of a home's service. Fault paths start below the checked table.

use super::classifier::Classifier;
use super::docsis::outages;
use super::docsis::parameters::ModemSpec;
use super::docsis::scheduling_service::SchedulingService;
use super::service::{Buffer, Downstream, PRIMARY, ServiceFlow, Terms, Upstream, flow_path};
use indexmap::IndexMap;
use sojourn_engine::queue::Room;
use sojourn_engine::queue::{QueueSpec, SchedulerSpec};
use sojourn_engine::units::BitRate;
use sojourn_input::compare::{ascending, at_least};
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Faults};
use sojourn_input::words;

impl Upstream {
    /// Checks the keys of all service flows. `room` is what the largest packet needs.
    pub fn check(&self, room: &Room) -> Faults {
        let mut faults = self.terms().check();
        faults.add(self.check_weights());
        match self.modem {
            ModemSpec::Link => {
                faults.add(self.check_no_mac("link, which has no MAC"));
                faults.add(self.check_no_outages());
            }
            ModemSpec::SharedChannel => {
                let kind = "shared_channel, whose MAC is set in upstream_channel";
                faults.add(self.check_no_mac(kind));
            }
            ModemSpec::SingleQueue | ModemSpec::TwoQueues { .. } => {}
        }
        faults.add(outages::check("ranging_outages", &self.ranging_outages));
        faults.add(outages::check("stalls", &self.stalls));
        faults.add(self.check_scheduling());
        faults.add(self.check_aqm());
        if let Some(congestion) = &self.congestion {
            faults.add_under("congestion", congestion.check());
        }
        faults.add(self.terms().check_room(&self.queue, &self.buffer, room));
        faults.add(check_flows(&self.flows, room));
        faults
    }

    /// A plain link does not range, and has no processor.
    fn check_no_outages(&self) -> Result<(), Fault> {
        let keys = [
            ("ranging_outages", &self.ranging_outages, "no ranging"),
            ("stalls", &self.stalls, "no processor"),
        ];
        let Some((key, _, lacks)) = keys.iter().find(|(_, outages, _)| !outages.is_empty()) else {
            return Ok(());
        };
        Err(fault!(NotAllowed, *key =>
            "found with a modem of kind link, which has {lacks}; allowed: any other kind", lacks))
    }

    /// The scheduling services of all flows need a modem that requests by itself.
    fn check_scheduling(&self) -> Faults {
        let has_it = matches!(self.modem, ModemSpec::SingleQueue | ModemSpec::SharedChannel);
        let check = |service: &SchedulingService, terms| {
            if has_it || service.is_best_effort() {
                return service.check(terms);
            }
            Err(fault!(NotAllowed, "scheduling" =>
                "found with a modem of another kind; allowed: only with kind single_queue or shared_channel"))
        };
        let mut faults = Faults::from(check_aggregate(&self.scheduling, &self.queue));
        faults.add(self.check_capacity());
        faults.add(self.check_grants_fit());
        let terms = (self.sustained_mbps, self.minimum_mbps, self.priority);
        faults.add(check(&self.scheduling, terms));
        let queues = self.flows.iter().map(|(name, flow)| (flow_path("", name), &flow.queue));
        for (path, queue) in std::iter::once((String::new(), &self.queue)).chain(queues) {
            if self.modem != ModemSpec::SingleQueue {
                faults.add_under(&path, queue.check_no_member_rate());
            }
            if self.modem != ModemSpec::Link {
                faults.add_under(&path, queue.check_no_shaper());
            }
        }
        for (name, flow) in &self.flows {
            let path = flow_path("", name);
            faults.add_under(&path, check_aggregate(&flow.scheduling, &flow.queue));
            let terms = (flow.sustained_mbps, flow.minimum_mbps, flow.priority);
            faults.add_under(&path, check(&flow.scheduling, terms));
        }
        faults
    }

    /// Only a plain link has a capacity of its own.
    fn check_capacity(&self) -> Faults {
        let Some(trace) = &self.capacity else { return Faults::default() };
        let mut faults = trace.check_rates().under("capacity");
        if self.modem != ModemSpec::Link {
            faults.add(fault!(NotAllowed, "capacity" =>
                "found with a modem that requests grants; allowed: only with modem.kind = \"link\"; congestion \
                 says what other modems leave free"));
        }
        faults
    }

    /// Unsolicited grants must fit into a channel of the flow's own.
    fn check_grants_fit(&self) -> Faults {
        let Some(most) = self.mac.channel_mbps else { return Faults::default() };
        let flows = self.flow_names().zip(self.service_flows());
        flows
            .filter(|(_, flow)| flow.scheduling.grants_mbps() > most)
            .map(|(name, flow)| {
                let message = format!(
                    "unsolicited grants take {} Mbps; allowed: at most {most}, mac.channel_mbps",
                    flow.scheduling.grants_mbps()
                );
                Fault::new("scheduling", message).under(&flow_path("", name))
            })
            .collect()
    }

    /// Upstream flows share no channel with weights, so a weight has no meaning.
    fn check_weights(&self) -> Result<(), Fault> {
        match self.flows.iter().find_map(|(name, flow)| Some((name, flow.weight?))) {
            None => Ok(()),
            Some((name, weight)) => {
                Err(Fault::found("weight", weight, "only downstream, where cmts is set")
                    .under(&flow_path("", name)))
            }
        }
    }

    /// Rejects keys of a MAC that this kind of modem does not have.
    fn check_no_mac(&self, kind: &str) -> Result<(), Fault> {
        match self.mac_key() {
            None => Ok(()),
            Some(key) => Err(fault!(NotAllowed, key =>
                "found with a modem of kind {kind}; allowed: only with kind single_queue or two_queues", kind)),
        }
    }
}

impl Downstream {
    /// Checks the keys of all service flows. `room` is what the largest packet needs;
    /// `shares_channel` is true where the homes share the channel of a CMTS.
    pub fn check(&self, shares_channel: bool, room: &Room) -> Faults {
        let mut faults = self.terms().check();
        faults.add(match shares_channel {
            true => self.check_no_channel(),
            false => self.check_no_sharing(),
        });
        faults.add(self.check_no_scheduling());
        faults.add(self.check_capacity());
        faults.add(self.check_aqm());
        faults.add(outages::check("stalls", &self.stalls));
        let queues = self.flows.iter().map(|(name, flow)| (flow_path("", name), &flow.queue));
        for (path, queue) in std::iter::once((String::new(), &self.queue)).chain(queues) {
            faults.add_under(&path, queue.check_no_member_rate());
            if shares_channel {
                faults.add_under(&path, queue.check_no_shaper());
            }
        }
        faults.add(self.terms().check_room(&self.queue, &self.buffer, room));
        faults.add(check_flows(&self.flows, room));
        faults
    }

    /// Downstream nobody requests.
    fn check_no_scheduling(&self) -> Result<(), Fault> {
        match self.flows.iter().find(|(_, flow)| !flow.scheduling.is_best_effort()) {
            None => Ok(()),
            Some((name, _)) => {
                Err(Fault::found("scheduling", "in a downstream flow", "only upstream")
                    .under(&flow_path("", name)))
            }
        }
    }

    /// A channel has one capacity.
    fn check_capacity(&self) -> Faults {
        let Some(trace) = &self.capacity else { return Faults::default() };
        let mut faults = trace.check_rates().under("capacity");
        if self.channel_mbps.is_some() {
            faults.add(Fault::found("capacity", "beside channel_mbps", "one of them"));
        }
        faults
    }

    /// A flow cannot have a channel of its own beside the shared one.
    fn check_no_channel(&self) -> Result<(), Fault> {
        match self.channel_mbps {
            None if self.capacity.is_some() => {
                Err(Fault::found("capacity", "with cmts", "unset, since homes share that channel"))
            }
            None => Ok(()),
            Some(mbps) => Err(fault!(NotAllowed, "channel_mbps" =>
                "found {mbps} with cmts; allowed: unset, since cmts.channel sets the rate", mbps)),
        }
    }

    /// Rejects keys that have a meaning only on a shared channel.
    fn check_no_sharing(&self) -> Result<(), Fault> {
        let flow = self.flows.iter().find_map(|(name, flow)| Some((name, flow.weight?)));
        let (key, found) = match (self.regulator, flow) {
            (false, _) => ("regulator".to_owned(), "false".to_owned()),
            (true, Some((name, weight))) => {
                (words::join(&flow_path("", name), "weight"), weight.to_string())
            }
            (true, None) if self.weight != 1.0 => ("weight".to_owned(), self.weight.to_string()),
            (true, None) => return Ok(()),
        };
        Err(Fault::found(key, found, "only where cmts is set"))
    }
}

/// Proactive grants are those of an aggregate's low-latency flow, and its only unsolicited ones.
fn check_aggregate(service: &SchedulingService, queue: &QueueSpec) -> Result<(), Fault> {
    let is_aggregate = matches!(queue.scheduler, SchedulerSpec::LowLatency(_));
    let message = match service {
        SchedulingService::ProactiveGrants(_) if !is_aggregate => {
            "found proactive_grants without a low-latency flow; allowed: only with \
             queue.scheduler.kind = \"low_latency\""
        }
        SchedulingService::BestEffort | SchedulingService::ProactiveGrants(_) => return Ok(()),
        _ if is_aggregate => {
            "found with queue.scheduler.kind = \"low_latency\"; allowed: best_effort, \
             proactive_grants"
        }
        _ => return Ok(()),
    };
    Err(Fault::new("scheduling.kind", message))
}

/// Checks all keys of the further flows.
fn check_flows(flows: &IndexMap<String, ServiceFlow>, room: &Room) -> Faults {
    let mut faults = Faults::default();
    for (name, flow) in flows {
        faults.add_under(&flow_path("", name), flow.check(name, room));
    }
    faults
}

impl Terms {
    /// The peak rate is the highest, the minimum the lowest.
    fn check(&self) -> Faults {
        let sustained = ("sustained_mbps", self.sustained_mbps);
        let mut faults = Faults::from(at_least(("peak_mbps", self.peak_mbps), sustained));
        faults.add(at_least(sustained, ("minimum_mbps", self.minimum_mbps)));
        faults
    }

    /// The flow's queue, sized by buffer control, and its burst must hold the largest packet.
    fn check_room(&self, queue: &QueueSpec, buffer: &Buffer, room: &Room) -> Faults {
        let mut faults = Faults::from(buffer.check(queue, room));
        // A contradiction in the buffer control says nothing of the size.
        if faults.is_empty() {
            let limit_bytes = buffer.bytes(self.sustained_mbps).or(queue.limit_bytes);
            let queue = QueueSpec { limit_bytes, ..queue.clone() };
            faults.add_under("queue", queue.check(room, BitRate::from_mbps(self.sustained_mbps)));
        }
        faults.add(room.check_burst(self.burst_bytes));
        faults
    }
}

impl ServiceFlow {
    fn check(&self, name: &str, room: &Room) -> Faults {
        let mut faults = self.terms().check();
        if name == PRIMARY {
            faults.add(Fault::found("", "the reserved name of the primary flow", "any other name"));
        }
        for (number, classifier) in self.classifiers.iter().enumerate() {
            faults.add_under(&format!("match.{number}"), classifier.check());
        }
        faults.add(self.terms().check_room(&self.queue, &self.buffer, room));
        faults
    }
}

impl Buffer {
    /// Buffer control replaces the queue's limits, and its sizes must ascend.
    fn check(&self, queue: &QueueSpec, room: &Room) -> Result<(), Fault> {
        if *self == Self::default() {
            return Ok(());
        }
        if queue.limit_bytes.is_some() || queue.limit_packets.is_some() {
            return Err(fault!(NotAllowed, "buffer" =>
                "found together with a limit of the queue; allowed: one of them"));
        }
        let sizes = [
            ("minimum_bytes", self.minimum_bytes),
            ("target_bytes", self.target_bytes),
            ("maximum_bytes", self.maximum_bytes),
        ];
        let mut least = ("the size of the largest packet".to_owned(), room.least(room.packet()));
        for (key, size) in sizes {
            let Some(size) = size else { continue };
            if size < least.1 && key != "minimum_bytes" {
                let message = format!("found {size}; allowed: {} or more, {}", least.1, least.0);
                return Err(Fault::new(key, message).under("buffer"));
            }
            if size > least.1 {
                least = (format!("the value of {key}"), size);
            }
        }
        Ok(())
    }
}

impl Classifier {
    /// Ranges must not be empty.
    fn check(&self) -> Faults {
        let mut faults = Faults::default();
        if self.ip == Some(5) {
            faults.add(Fault::found("ip", 5, "4, 6"));
        }
        let dscp = self.dscp.as_ref();
        let dscp = dscp.map(|range| range.iter().take(2).copied().map(u16::from).collect());
        let tos = self.tos.as_ref();
        let tos = tos.map(|range| range.iter().take(2).copied().map(u16::from).collect());
        if dscp.is_some() && self.tos.is_some() {
            faults.add(Fault::found("tos", "beside dscp", "one of them"));
        }
        let ranges = [
            ("source_ports", self.source_ports.clone()),
            ("destination_ports", self.destination_ports.clone()),
            ("dscp", dscp),
            ("tos", tos),
        ];
        for (key, range) in ranges {
            let range: Vec<f64> = range.into_iter().flatten().map(f64::from).collect();
            faults.add(ascending(key, &range, "the bounds of a range"));
        }
        faults
    }
}
