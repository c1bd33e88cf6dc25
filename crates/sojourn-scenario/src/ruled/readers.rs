//! Keys that have no effect since nothing reads them. Variants share them: what one of these reads is of use.

use super::super::schema::Scenario;
use super::heirs::senders;
use super::{Idle, Place, Reason, collect, idle_in};
use crate::apps::{AppSpec, Quality};
use crate::node::Node;
use crate::traffic::Entry;
use sojourn_engine::ecn_path::EcnPath;
use sojourn_engine::packet::{Direction, NQB};
use sojourn_transport::Transport;

/// What reads a key, or the field of packets that it sets.
#[derive(Clone, Copy)]
enum Reader {
    /// Traffic that uses ECN.
    EcnTraffic,
    /// What marks packets of such traffic, changes their field or goes by it.
    EcnQueue,
    /// Acknowledgements of TCP.
    Acknowledgements,
    /// Classifiers of service flows.
    Classifier,
    /// They, or queues that go by the DSCP.
    DscpQueue,
    /// Queues that distinguish flows.
    FlowQueue,
    /// Calls.
    Call,
}

/// Keys of a definition, with what reads them; a star stands for all kinds.
const READ: [(&str, &[&str], Reader); 12] = [
    ("Entry/*", &["dscp"], Reader::DscpQueue),
    ("Entry/*", &["port", "address"], Reader::Classifier),
    ("Entry/*", &["ecn"], Reader::EcnQueue),
    ("TcpOptions", &["ecn"], Reader::EcnQueue),
    ("Server", &["address"], Reader::Classifier),
    ("Server", &["ecn"], Reader::EcnTraffic),
    ("Bottleneck", &["ecn"], Reader::EcnTraffic),
    ("QueueSpec", &["ecn"], Reader::EcnTraffic),
    ("QueueSpec", &["acks"], Reader::Acknowledgements),
    ("SchedulerSpec/low_latency", &["low_latency_aqm"], Reader::EcnTraffic),
    ("Metrics", &["watch_flows"], Reader::FlowQueue),
    ("Metrics", &["voice_model"], Reader::Call),
];

/// Kinds of queues that distinguish no flows.
const WITHOUT_FLOWS: [&str; 2] = ["SchedulerSpec/fifo", "SchedulerSpec/low_latency"];
/// Kinds of queues that read the DSCP.
const OF_DSCP: [&str; 2] = ["SchedulerSpec/low_latency", "SchedulerSpec/cake"];
/// Schedulers that mark only as a law of their bins says, and laws that mark nothing.
const OF_LAWS: [&str; 8] = ["fifo", "sfq", "sfq_linux", "fq", "drr", "wfq", "scfq", "abb"];
const WITHOUT_MARKS: [&str; 3] = ["none", "docsis_pie", "codel_dt"];

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

/// The keys that nothing reads.
pub(in super::super) fn unread(scenario: &Scenario) -> Vec<Idle> {
    let root = serde_json::to_value(scenario).unwrap_or_default();
    let mut places = Vec::new();
    collect(&root, &Node::root(), &[], &mut places);
    // A key that others leave without effect has its reason.
    let ruled: Vec<_> = idle_in(&root, scenario).into_iter().map(|idle| idle.parts).collect();
    let idle = READ.iter().filter(|(.., reader)| !reader.is_there(scenario, &places));
    let idle = idle.flat_map(|(of, keys, reader)| {
        let is_its = |place: &&Place<'_>| {
            let is_its = match of.strip_suffix('*') {
                Some(kinds) => place.node.of.starts_with(kinds),
                None => place.node.of == *of,
            };
            is_its && !(matches!(reader, Reader::Acknowledgements) && acks_pass(scenario, place))
        };
        let set = places.iter().filter(is_its).flat_map(|place| {
            // Results of delay go by NQB too.
            let keys = keys.iter().filter(|key| **key != "dscp" || place.table["dscp"] != NQB);
            keys.flat_map(|key| place.set(key)).collect::<Vec<_>>()
        });
        let set = set.filter(|parts| !ruled.contains(parts));
        set.map(|parts| Idle::new(parts, reader.lack())).collect::<Vec<_>>()
    });
    idle.collect()
}

impl Reader {
    /// Is there such a reader in a scenario, of which these are the tables?
    fn is_there(self, scenario: &Scenario, places: &[Place<'_>]) -> bool {
        let of = |kind: &str| places.iter().any(|place| place.node.of == kind);
        let mut apps = scenario.traffic.values().map(|entry| &entry.app);
        match self {
            Self::EcnTraffic => scenario.traffic.values().any(|entry| scenario.uses_ecn(entry)),
            Self::EcnQueue => {
                let is_quic = |app: &AppSpec| {
                    app.parameters().tcp().is_some()
                        && app.tcp_config(&scenario.tcp, scenario.dialect).transport
                            == Transport::Quic
                };
                let mut paths = Direction::BOTH.into_iter().flat_map(|way| scenario.ecn_paths(way));
                places.iter().any(may_mark)
                    || paths.any(|(_, path)| path != EcnPath::Kept)
                    || apps.any(is_quic)
            }
            // Each queue has its own.
            Self::Acknowledgements => false,
            Self::Classifier => of("Classifier"),
            Self::DscpQueue => of("Classifier") || OF_DSCP.iter().any(|kind| of(kind)),
            Self::FlowQueue => {
                let mut kinds = places.iter().map(|place| &*place.node.of);
                of("AqmSpec/afd")
                    || kinds.any(|kind| {
                        kind.starts_with("SchedulerSpec/") && !WITHOUT_FLOWS.contains(&kind)
                    })
            }
            Self::Call => apps.any(|app| app.parameters().quality() == Quality::Voice),
        }
    }

    /// That there is none, and what to do.
    fn lack(self) -> Reason {
        let (clause, otherwise) = match self {
            Self::EcnTraffic => {
                ("without traffic that uses ECN", "set tcp.ecn, or ecn of a stream")
            }
            Self::EcnQueue => {
                ("without a queue that marks packets", "set a law that does, such as codel")
            }
            Self::Acknowledgements => (
                "without bare acknowledgements of TCP in its direction",
                "set it for the other one",
            ),
            Self::Classifier => {
                ("without a classifier (`match`) of a service flow that reads it", "set one")
            }
            Self::DscpQueue => (
                "without a queue that reads it",
                "set a scheduler of kind low_latency or cake, or a classifier (`match`) of a service flow",
            ),
            Self::FlowQueue => (
                "without a queue that distinguishes flows",
                "set a scheduler of kind fq, sfq or cake",
            ),
            Self::Call => ("without a call", "add a stream with purpose = \"voice\""),
        };
        Reason::new(clause, format!("{otherwise}, or leave it out"))
    }
}

/// Do acknowledgements of TCP without payload pass a queue? What sends one way gets them the other way, and those of QUIC are
/// no bare ones.
fn acks_pass(scenario: &Scenario, place: &Place<'_>) -> bool {
    let below = |name: &str| place.parts.iter().any(|part| part == name);
    let ways = match (below("upstream"), below("downstream") || below("cmts")) {
        (true, _) => &[Direction::Up][..],
        (_, true) => &[Direction::Down],
        _ => &Direction::BOTH,
    };
    let homes = (place.parts[0] == "homes").then(|| &place.parts[1]);
    let server = (place.parts[0] == "servers").then(|| &*place.parts[1]);
    let passes = |entry: &Entry| {
        let config = entry.app.tcp_config(&scenario.tcp, scenario.dialect);
        let only = match &entry.app {
            AppSpec::Transfer(_) | AppSpec::OnOff(_) => entry.app.bulk_direction(),
            _ => None,
        };
        let mut servers = entry.app.parameters().servers().into_iter();
        let group = scenario.group(scenario.group_of(entry)).name;
        let may = matches!(entry.app, AppSpec::Real(_));
        let is_tcp = entry.app.parameters().tcp().is_some() && config.transport != Transport::Quic;
        (may || is_tcp)
            && ways.iter().any(|way| only != Some(*way))
            && homes.is_none_or(|homes| homes == group)
            && server.is_none_or(|name| servers.any(|(_, server)| server == name))
    };
    senders(scenario).any(|(_, entry)| passes(entry))
}

/// May a queue mark packets, or go by their ECN field? Of other tables it says no.
fn may_mark(place: &Place<'_>) -> bool {
    let kind = |key: &str| place.table[key]["kind"].as_str().unwrap_or_default();
    let marks = || !WITHOUT_MARKS.contains(&kind("law")) && place.table["ecn"] != false;
    place.node.of == "QueueSpec" && (!OF_LAWS.contains(&kind("scheduler")) || marks())
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

    /// A key that others leave without effect and that nothing reads has the first reason alone.
    #[test]
    fn a_key_has_one_reason() {
        let mine = "traffic.mine = { kind = 'outside', port = 1000, address = '1.2.3.4', dscp = 45, ecn = 'ect0' }";
        assert_eq!(notes(mine), notes(""));
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
        assert_eq!(upload("direction = 'down'"), ["upstream.queue.ecn"]);
        assert_eq!(upload("direction = 'down', tcp.ecn = 'classic'"), [""; 0]);
        // Of an upload they go down, and those of QUIC carry more.
        assert_eq!(upload("tcp.ecn = 'classic'"), ["upstream.queue.acks"]);
        let quic = "direction = 'down', tcp = { ecn = 'classic', transport = 'quic' }";
        assert_eq!(upload(quic), ["upstream.queue.acks"]);
        assert_eq!(
            of("traffic.web = { kind = 'web', servers = ['near'] }"),
            ["upstream.queue.ecn"]
        );
        let stream =
            "traffic.data = { kind = 'stream', purpose = 'data', server = 'near', ecn = 'ect1' }";
        assert_eq!(of(stream), ["upstream.queue.acks"]);
    }

    /// ECN is read by queues that mark, by paths that change it, and by the acknowledgements of QUIC.
    #[test]
    fn ecn_that_nothing_reads_is_noted() {
        let of = |lines: &str| {
            let all = notes(&format!(
                "{lines}\ntraffic.up = {{ kind = 'transfer', server = 'near', tcp.ecn = 'classic' }}"
            ));
            all.iter().any(|path| path == "traffic.up.tcp.ecn")
        };
        let queue = |keys: &str| of(&format!("upstream.queue = {{ {keys} }}"));
        assert!(of("") && queue("law.kind = 'docsis_pie'"));
        assert!(queue("law.kind = 'codel', ecn = false") && queue("scheduler.kind = 'fq'"));
        assert!(!queue("law.kind = 'codel'") && !queue("scheduler.kind = 'cake'"));
        assert!(!of("servers.other = { delay_ms = 9, ecn = 'ce_always' }"));
        assert!(!of("tcp.transport = 'quic'"));
    }

    #[test]
    fn marks_of_low_latency_docsis_need_ecn() {
        let queue =
            "downstream.queue.scheduler = { kind = 'low_latency', low_latency_aqm = false }";
        let key = "downstream.queue.scheduler.low_latency_aqm";
        assert!(notes(queue).iter().any(|path| path == key));
        let stream =
            "traffic.data = { kind = 'stream', purpose = 'data', server = 'near', ecn = 'ect1' }";
        assert!(!notes(&format!("{queue}\n{stream}")).iter().any(|path| path == key));
    }
}
