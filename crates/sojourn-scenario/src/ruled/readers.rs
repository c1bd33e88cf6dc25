//! Keys that have no effect since nothing reads them. Variants share them: what one of these reads is of use.

use super::super::schema::Scenario;
use super::{Idle, Place, collect, with};
use crate::apps::Quality;
use crate::node::Node;
use sojourn_engine::ecn_path::EcnPath;
use sojourn_engine::packet::{Direction, NQB};
use sojourn_input::problem::Remedy;
use std::collections::BTreeSet;

/// Kinds of queues that distinguish no flows.
const WITHOUT_FLOWS: [&str; 2] = ["SchedulerSpec/fifo", "SchedulerSpec/low_latency"];
/// Kinds of queues that read the DSCP.
const OF_DSCP: [&str; 2] = ["SchedulerSpec/low_latency", "SchedulerSpec/cake"];

/// The keys of these variants that none of them reads.
pub(in super::super) fn unread_by_all<'a>(
    variants: impl Iterator<Item = &'a Scenario>,
) -> Vec<Idle> {
    let both = |mut all: Vec<Idle>, one: Vec<Idle>| {
        all.retain(|idle| one.contains(idle));
        all
    };
    variants.map(unread).reduce(both).unwrap_or_default()
}

fn unread(scenario: &Scenario) -> Vec<Idle> {
    let root = serde_json::to_value(scenario).unwrap_or_default();
    let mut places = Vec::new();
    collect(&root, &Node::root(), &[], &mut places);
    let of = |kind: &str, places: &[Place<'_>]| places.iter().any(|place| place.node.of == kind);
    let has_classifier = of("Classifier", &places);
    let reads_dscp = has_classifier || OF_DSCP.iter().any(|kind| of(kind, &places));
    let mut idle = Vec::new();
    let mut add = |parts: Vec<String>, why: &str| {
        idle.push(Idle::new(parts, format!("{why}, or leave it out"), Remedy::default()));
    };
    let classifier = "without a classifier (`match`) of a service flow that reads it: set one";
    for (name, entry) in &scenario.traffic {
        let parts = |key: &str| ["traffic", name, key].map(str::to_owned).to_vec();
        let labels = &entry.labels;
        // Results of delay go by NQB too.
        if ![0, NQB].contains(&labels.dscp) && !reads_dscp {
            let why = "without a queue that reads it: set a scheduler of kind low_latency or cake, or a classifier \
                       (`match`) of a service flow";
            add(parts("dscp"), why);
        }
        let set = [("port", labels.port.is_some()), ("address", labels.address.is_some())];
        for (key, _) in set.into_iter().filter(|(_, is_set)| *is_set && !has_classifier) {
            add(parts(key), classifier);
        }
    }
    let addressed = scenario.servers.iter().filter(|(_, server)| server.address.is_some());
    for (name, _) in addressed.filter(|_| !has_classifier) {
        add(["servers", name, "address"].map(str::to_owned).to_vec(), classifier);
    }
    let without_ecn = "without traffic that uses ECN: set tcp.ecn, or ecn of a stream";
    let has_ecn = scenario.traffic.values().any(|entry| scenario.uses_ecn(entry));
    if !has_ecn {
        let paths = Direction::BOTH.into_iter().flat_map(|way| scenario.ecn_paths(way));
        let treated = paths.filter(|(_, path)| *path != EcnPath::Kept).map(|(parts, _)| parts);
        for parts in treated.collect::<BTreeSet<_>>() {
            add(parts, without_ecn);
        }
    }
    let is_acknowledged =
        scenario.traffic.values().any(|entry| entry.app.parameters().tcp().is_some());
    for place in places.iter().filter(|place| place.node.of == "QueueSpec") {
        let unread = [
            ("ecn", has_ecn, without_ecn),
            ("acks", is_acknowledged, "without acknowledgements: add TCP traffic"),
        ];
        for (key, _, why) in unread.into_iter().filter(|(_, is_read, _)| !is_read) {
            place.set(key).into_iter().for_each(|parts| add(parts, why));
        }
    }
    let metrics = |key: &str| with(&["metrics".to_owned()], key);
    let is_scheduler = |place: &&Place<'_>| place.node.of.starts_with("SchedulerSpec/");
    let mut schedulers = places.iter().filter(is_scheduler);
    let has_flows = schedulers.any(|place| !WITHOUT_FLOWS.contains(&&*place.node.of));
    let has_flow_law = of("AqmSpec/afd", &places);
    if scenario.metrics.watch_flows > 0 && !has_flows && !has_flow_law {
        let why =
            "without a queue that distinguishes flows: set a scheduler of kind fq, sfq or cake";
        add(metrics("watch_flows"), why);
    }
    let is_call = |quality: Quality| quality == Quality::Voice;
    let has_call = scenario.traffic.values().any(|entry| is_call(entry.app.parameters().quality()));
    if scenario.metrics.voice_model != Default::default() && !has_call {
        add(metrics("voice_model"), "without a call: add a stream with purpose = \"voice\"");
    }
    idle
}

#[cfg(test)]
mod tests {
    use crate::load;

    /// The notes on keys of a home with these further lines.
    fn notes(lines: &str) -> Vec<String> {
        let text = format!(
            "duration_s = 3
             upstream.sustained_mbps = 5
             downstream.sustained_mbps = 20
             servers.near = {{ delay_ms = 9, address = '10.1.0.1' }}
             traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near', dscp = 46, port = 99, address = '10.0.0.1' }}
             metrics = {{ watch_flows = 8, voice_model.kind = 'g107' }}
             {lines}"
        );
        let notes = load(&text, "home.toml", &[]).expect(lines).remove(0).notes;
        let paths = notes.into_iter().filter(|one| one.message.contains("has no effect without "));
        paths.map(|one| one.path).collect()
    }

    #[test]
    fn keys_that_nothing_reads_are_noted() {
        let all = [
            "traffic.game.dscp",
            "traffic.game.port",
            "traffic.game.address",
            "servers.near.address",
            "metrics.watch_flows",
            "metrics.voice_model",
        ];
        let without =
            |read: &[&str]| all.into_iter().filter(|key| !read.contains(key)).collect::<Vec<_>>();
        assert_eq!(notes(""), all);
        let call = "traffic.call = { kind = 'stream', purpose = 'voice', server = 'near' }";
        assert_eq!(notes(call), without(&["metrics.voice_model"]));
        let low_latency = "upstream.queue.scheduler.kind = 'low_latency'";
        assert_eq!(notes(low_latency), without(&["traffic.game.dscp"]));
        let cake = "downstream.queue.scheduler.kind = 'cake'";
        assert_eq!(notes(cake), without(&["traffic.game.dscp", "metrics.watch_flows"]));
        let afd = "upstream.queue.law.kind = 'afd'";
        assert_eq!(notes(afd), without(&["metrics.watch_flows"]));
        let flow = "upstream.flows.voice = { sustained_mbps = 1, match = [{ traffic = 'game' }] }";
        assert_eq!(notes(flow), ["metrics.watch_flows", "metrics.voice_model"]);
        // One of several variants reads it.
        let variants = format!("compare.one = {{}}\ncompare.other.{cake}");
        assert_eq!(notes(&variants), without(&["traffic.game.dscp", "metrics.watch_flows"]));
    }

    #[test]
    fn treatment_of_what_no_traffic_sends_is_noted() {
        let keys = "upstream.queue = { law.kind = 'codel', ecn = false, acks = 'prioritised' }";
        let of = |traffic: &str| {
            let all = notes(&format!("{keys}\n{traffic}")).into_iter();
            all.filter(|path| path.starts_with("upstream")).collect::<Vec<_>>()
        };
        assert_eq!(of(""), ["upstream.queue.ecn", "upstream.queue.acks"]);
        let upload = |tcp: &str| {
            of(&format!("traffic.up = {{ kind = 'transfer', server = 'near', {tcp} }}"))
        };
        assert_eq!(upload(""), ["upstream.queue.ecn"]);
        assert_eq!(upload("tcp.ecn = 'classic'"), [""; 0]);
        let stream =
            "traffic.data = { kind = 'stream', purpose = 'data', server = 'near', ecn = 'ect1' }";
        assert_eq!(of(stream), ["upstream.queue.acks"]);
    }

    /// At 5 Mbps two packets of 2000 bytes take 6.4 ms, and the ramp is 524 us long; the members hold 40 000 and 62 500
    /// bytes.
    #[test]
    fn limits_that_members_do_not_reach_are_idle() {
        let idle = |keys: &str| {
            let text = format!(
                "duration_s = 3
                 upstream = {{ sustained_mbps = 5, queue = {{ {keys} }} }}
                 downstream.sustained_mbps = 20
                 servers.near.delay_ms = 9
                 traffic.up = {{ kind = 'transfer', server = 'near' }}"
            );
            let variant = load(&text, "home.toml", &[]).expect(keys).remove(0);
            super::super::idle_keys(&variant.scenario)
                .iter()
                .map(super::Idle::sentence)
                .collect::<Vec<_>>()
        };
        let of = |keys: &str| idle(&format!("scheduler = {{ kind = 'low_latency', {keys} }}"));
        let max = "upstream.queue.scheduler.low_latency_max_us";
        let message = format!(
            "{max} has no effect up to 6924, the time of two packets of 2000 bytes at the rate of the service and the \
             length of the ramp; set {max} = 13849"
        );
        assert_eq!(of("low_latency_max_us = 6900"), [message]);
        assert_eq!(of("low_latency_max_us = 7000"), [""; 0]);
        assert_eq!(of(""), [""; 0]);
        let limit =
            |bytes: u32| idle(&format!("limit_bytes = {bytes}, scheduler.kind = 'low_latency'"));
        assert_eq!(limit(102_499), [""; 0]);
        assert_eq!(
            limit(102_500),
            [
                "upstream.queue.limit_bytes has no effect beside the buffers of the members, which hold 102500 bytes: \
              set less, or upstream.queue.scheduler.classic_buffer_bytes and low_latency_buffer_bytes"
            ]
        );
    }
}
