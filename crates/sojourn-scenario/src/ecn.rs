//! Who uses explicit congestion notification, and which settings of paths and peers keep it from what it is for.

use super::apps::AppSpec;
use super::apps::video_call::Control;
use super::schema::Scenario;
use super::traffic::Entry;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::ecn_path::EcnPath;
use sojourn_engine::packet::{Direction, Ecn};
use sojourn_input::problem::Remedy;
use sojourn_input::words;
use sojourn_transport::{Config, EcnMode, Transport};

/// A setting with which ECN does not do what an entry uses it for.
#[derive(Clone, Debug, PartialEq)]
pub struct EcnFault {
    /// Its key.
    pub key: String,
    /// Its value.
    pub found: &'static str,
    /// What follows for the entry.
    pub effect: &'static str,
    /// Are its packets no longer what they were sent as when they come to a queue, or not even sent so?
    pub is_lost: bool,
    /// What undoes it.
    pub remedy: Remedy,
}

const NOT_ECT: &str = "its packets are Not-ECT, and queues drop what they would mark";
const NO_REPORT: &str = "no mark is reported, and it slows down for losses alone";
const ONE_BIT: &str = "marks are reported by one bit, as with ecn = \"classic\"";

/// What follows where a control that needs counters has one bit, or another one.
fn without_counters(config: &Config) -> (&'static str, bool) {
    let is_scalable = config.congestion_control.parameters().is_scalable();
    if is_scalable { (NOT_ECT, true) } else { (ONE_BIT, false) }
}

/// What a path does to the connections of an entry that uses ECN; none if nothing. QUIC has no flags that a path sees.
fn of_connections(path: EcnPath, config: &Config) -> Option<(&'static str, bool)> {
    let is_accurate = config.ecn.is_accurate();
    let is_quic = config.transport == Transport::Quic;
    // Those whose first packets are ECT.
    let notices = is_quic || config.congestion_control.parameters().is_scalable();
    match path {
        EcnPath::Kept => None,
        EcnPath::Bleached if notices => Some((NOT_ECT, true)),
        EcnPath::Bleached | EcnPath::Ect1ToEct0 => of_datagrams(path, config.ecn.codepoint(), true),
        EcnPath::CeCleared | EcnPath::CeAlways => of_marks(path),
        _ if is_quic => None,
        EcnPath::AeCleared => is_accurate.then(|| without_counters(config)),
        EcnPath::AceCleared if is_accurate => Some((NOT_ECT, true)),
        EcnPath::AceCleared => Some((NO_REPORT, false)),
        EcnPath::SynDropped if config.dialect == Dialect::Ns2 => {
            Some(("it opens no connection, as ns-2 offers ECN in each SYN", true))
        }
        EcnPath::SynDropped => {
            Some(("it opens connections after a timeout, and without ECN", true))
        }
    }
}

/// What a path does to the marks of who heeds them.
fn of_marks(path: EcnPath) -> Option<(&'static str, bool)> {
    match path {
        EcnPath::CeCleared => Some(("marks of queues before that link are lost", false)),
        EcnPath::CeAlways => Some(("all that it sends with ECN arrives marked", true)),
        _ => None,
    }
}

/// What a path does to packets that are sent with this field, by somebody who heeds marks or does not.
fn of_datagrams(path: EcnPath, sent: Ecn, heeds_marks: bool) -> Option<(&'static str, bool)> {
    match (path, sent) {
        (_, Ecn::NotEct) => None,
        (EcnPath::Bleached, _) => Some((
            "its packets are Not-ECT behind that link, and marks of queues before it are lost",
            true,
        )),
        (EcnPath::Ect1ToEct0, Ecn::Ect1) => Some((
            "its packets are ECT(0) behind that link, so that queues take them for classic traffic",
            true,
        )),
        _ => of_marks(path).filter(|_| heeds_marks),
    }
}

/// What follows where a call calls itself L4S and has no control that heeds marks (RFC 9331 §4.3).
fn of_control(name: &str, entry: &Entry) -> Option<EcnFault> {
    let AppSpec::VideoCall(call) = &entry.app else { return None };
    let heeds_marks = entry.app.parameters().heeds_marks();
    (entry.datagram_ecn() == Ecn::Ect1 && !heeds_marks).then(|| {
        let key = format!("{}.control", words::join("traffic", name));
        let effect = "low-latency queues take it and mark its packets, and it does not slow down";
        let (found, remedy) = (call.control.name(), Remedy::of(&key, Control::Scream.name()));
        EcnFault { key, found, effect, is_lost: false, remedy }
    })
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn server_key(name: &str) -> Vec<String> {
    names(&["servers", name, "ecn"])
}

impl Scenario {
    /// What each hop of a direction does to ECN, with the names in the path of its key.
    pub fn ecn_paths(&self, way: Direction) -> impl Iterator<Item = (Vec<String>, EcnPath)> {
        let groups = 0..self.groups().count();
        let routers = groups.filter_map(move |group| self.router_ecn(group, way));
        let servers = self.servers.iter().map(|(name, server)| (server_key(name), server.ecn));
        routers.chain(self.core_ecn(way)).chain(servers)
    }

    fn router_ecn(&self, group: usize, way: Direction) -> Option<(Vec<String>, EcnPath)> {
        let path = self.router(group, way)?.ecn;
        let group = self.group(group);
        let is_shared = group.path_of("router.upstream") == "router.upstream";
        let of_group = ["homes", group.name, "router", way.stream(), "ecn"];
        Some((names(&of_group[if is_shared { 2 } else { 0 }..]), path))
    }

    fn core_ecn(&self, way: Direction) -> impl Iterator<Item = (Vec<String>, EcnPath)> {
        self.core.iter().filter_map(move |(name, both)| {
            Some((names(&["core", name, way.stream(), "ecn"]), both.of(way)?.ecn))
        })
    }

    /// The connections of an entry that uses ECN.
    fn ecn_config(&self, entry: &Entry) -> Option<Config> {
        entry.app.parameters().tcp()?;
        Some(entry.app.tcp_config(&self.tcp, self.dialect)).filter(|of| of.ecn != EcnMode::Off)
    }

    /// Does an entry send packets that queues may mark?
    pub fn uses_ecn(&self, entry: &Entry) -> bool {
        let may = matches!(entry.app, AppSpec::Real(_));
        may || self.ecn_config(entry).is_some() || entry.datagram_ecn() != Ecn::NotEct
    }

    /// Does an entry send L4S traffic over TCP, with the code point ECT(1), which queues see?
    pub fn is_l4s(&self, name: &str, entry: &Entry) -> bool {
        self.ecn_config(entry).is_some_and(|config| config.ecn == EcnMode::L4s)
            && !self.ecn_faults(name, entry).iter().any(|fault| fault.is_lost)
    }

    /// The settings that keep ECN from what an entry uses it for.
    pub fn ecn_faults(&self, name: &str, entry: &Entry) -> Vec<EcnFault> {
        let config = self.ecn_config(entry);
        let peer = config.iter().flat_map(|config| self.of_peer(name, entry, config));
        let mut faults: Vec<EcnFault> = peer.chain(of_control(name, entry)).collect();
        for way in Direction::BOTH {
            let router = self.router_ecn(self.group_of(entry), way);
            let servers = entry.app.parameters().servers().into_iter();
            let servers = servers
                .filter_map(|(_, name)| Some((server_key(name), self.servers.get(name)?.ecn)));
            for (parts, path) in router.into_iter().chain(self.core_ecn(way)).chain(servers) {
                let effect = match &config {
                    Some(config) => of_connections(path, config),
                    None => {
                        let heeds_marks = entry.app.parameters().heeds_marks();
                        of_datagrams(path, entry.datagram_ecn(), heeds_marks)
                    }
                };
                let Some((effect, is_lost)) = effect else { continue };
                let key = parts.iter().fold(String::new(), |path, part| words::join(&path, part));
                let remedy = Remedy::of(&key, EcnPath::Kept.name());
                let fault = EcnFault { key, found: path.name(), effect, is_lost, remedy };
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
        }
        faults
    }

    /// Those of the other end.
    fn of_peer(&self, name: &str, entry: &Entry, config: &Config) -> Vec<EcnFault> {
        let own = entry.app.parameters().tcp();
        let place = |is_own: bool, key: &str| match is_own {
            true => format!("{}.tcp.{key}", words::join("traffic", name)),
            false => format!("tcp.{key}"),
        };
        let effect = match config.ecn_server {
            EcnMode::Off => Some((NOT_ECT, true)),
            EcnMode::Classic if config.ecn.is_accurate() => Some(without_counters(config)),
            _ => None,
        };
        let mut faults = Vec::new();
        if let Some((effect, is_lost)) = effect {
            let key = place(own.is_some_and(|tcp| tcp.ecn_server.is_some()), "ecn_server");
            let remedy = Remedy::of(&key, config.ecn.name());
            faults.push(EcnFault { key, found: config.ecn_server.name(), effect, is_lost, remedy });
        }
        if !config.ecn_feedback {
            let key = place(own.is_some_and(|tcp| tcp.ecn_feedback.is_some()), "ecn_feedback");
            let remedy = Remedy::of(&key, true);
            let is_lost = config.transport == Transport::Quic;
            let effect = if is_lost { NOT_ECT } else { NO_REPORT };
            faults.push(EcnFault { key, found: "false", effect, is_lost, remedy });
        }
        faults
    }
}
