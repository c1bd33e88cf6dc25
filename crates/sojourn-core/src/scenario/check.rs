//! Checks across parts of a scenario. The schema checks each key, and each part checks its own
//! keys.

use super::schema::Scenario;
use super::traffic::Entry;
use crate::access::AccessSpec;
use crate::access::classifier::Classifier;
use crate::access::docsis::parameters::{Cable, PlantSpec};
use crate::access::docsis::upstream_channel::UpstreamChannel;
use crate::access::homes::Group;
use crate::access::service::ServiceFlow;
use crate::apps::{AppParameters, AppSpec};
use crate::dialect::Dialect;
use crate::input::problem::Fault;
use crate::input::words;
use crate::queue::room::Room;
use crate::queue::{QueueSpec, SchedulerParameters};
use crate::tcp::check::{self as tcp, NO_NAGLE};
use crate::units::BitRate;
use indexmap::IndexMap;

/// The most homes a network may have, over all groups.
const MOST_HOMES: usize = 10_000;

/// The first fault.
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    homes(scenario)?;
    scenario.upstream_channel.check().map_err(|fault| fault.under("upstream_channel"))?;
    for (name, entry) in &scenario.traffic {
        let (app, path) = (&entry.app, words::join("traffic", name));
        home_of(scenario, entry, &path)?;
        ecn_of(entry, &path)?;
        servers(scenario, app, &path)?;
        app.check().map_err(|fault| fault.under(&path))?;
        if let Some(own) = app.tcp() {
            let config = app.tcp_config(&scenario.tcp, scenario.dialect);
            tcp::check(&config, own, &words::join(&path, "tcp"), &scenario.tcp)?;
        }
    }
    nagle_of_none(scenario)?;
    let room =
        Room { largest: largest_sent(scenario), exclusive: scenario.dialect == Dialect::Ns2 };
    if let Some(cmts) = &scenario.cmts {
        weights(scenario, &cmts.queue, "cmts.queue")?;
        let mbps = cmts.channel.rate_mbps() * f64::from(cmts.channel.count());
        let checked = cmts.queue.check(&room, BitRate::from_mbps(mbps));
        checked.map_err(|fault| fault.under("cmts.queue"))?;
        cmts.queue.check_no_member_rate().map_err(|fault| fault.under("cmts"))?;
    }
    access(scenario)?;
    cable(scenario)?;
    let base = Group {
        name: "",
        count: 1,
        upstream: &scenario.upstream,
        downstream: &scenario.downstream,
        distance_km: None,
    };
    service(scenario, &base, "", &room)?;
    for (group, name) in scenario.groups().zip(scenario.homes.keys()) {
        service(scenario, &group, &words::join("homes", name), &room)?;
    }
    Ok(())
}

/// Limits the number of homes.
fn homes(scenario: &Scenario) -> Result<(), Fault> {
    let homes = scenario.homes_in_all();
    if homes <= MOST_HOMES {
        return Ok(());
    }
    let message = format!("found {homes} in all; allowed: {MOST_HOMES} or fewer");
    Err(Fault::new("homes", message))
}

/// A traffic entry must run in an existing group of homes.
fn home_of(scenario: &Scenario, entry: &Entry, path: &str) -> Result<(), Fault> {
    let Some(home) = &entry.labels.home else { return Ok(()) };
    is_there(home, &names(&scenario.homes), "homes")
        .map_err(|message| Fault::new(words::join(path, "home"), message))
}

/// Only senders of datagrams have an ECN field to choose.
fn ecn_of(entry: &Entry, path: &str) -> Result<(), Fault> {
    if entry.labels.ecn.is_none() || entry.app.tcp().is_none() {
        return Ok(());
    }
    let message = "found in an entry that uses TCP; allowed: only where datagrams are sent, since TCP \
                   chooses its own";
    Err(Fault::new(words::join(path, "ecn"), message))
}

/// Without a cable, keys of the cable plant have no effect and are rejected.
fn access(scenario: &Scenario) -> Result<(), Fault> {
    if scenario.access == AccessSpec::Docsis {
        return Ok(());
    }
    let given = [
        ("cable", scenario.cable != Cable::default()),
        ("upstream_channel", scenario.upstream_channel != UpstreamChannel::default()),
        ("cmts", scenario.cmts.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((key, _)) => {
            let message = "found without a cable network; allowed: only with access kind docsis";
            Err(Fault::new(*key, message))
        }
    }
}

/// The cable has one length, and MAPs are made early enough.
fn cable(scenario: &Scenario) -> Result<(), Fault> {
    let Scenario { cable, upstream_channel, cmts, .. } = scenario;
    if cable.delay_ms.is_some() && cable.distance_km.is_some() {
        let message = "found together with delay_ms; allowed: one of them";
        return Err(Fault::new("cable.distance_km", message));
    }
    cable.check_noise().map_err(|fault| fault.under("cable"))?;
    let spec = PlantSpec { cable, upstream_channel, cmts: cmts.as_ref() };
    let modems = scenario.groups().map(|group| (&group.upstream.modem, group.distance_km));
    let Some((set, least)) = spec.late_advance(modems) else { return Ok(()) };
    let message = format!(
        "found {set}; allowed: {least:.1} or more, the sum of the fixed times and of the longest \
         cable, there and back"
    );
    Err(Fault::new("cable.timing.map_advance_us", message))
}

/// Checks the service of the homes at `path`, or of the scenario itself.
fn service(scenario: &Scenario, group: &Group, path: &str, room: &Room) -> Result<(), Fault> {
    let (up, down) = (group.upstream, group.downstream);
    let (up_path, down_path) = (words::join(path, "upstream"), words::join(path, "downstream"));
    up.check(room).map_err(|fault| fault.under(&up_path))?;
    let shares_channel = scenario.cmts.is_some();
    down.check(shares_channel, room).map_err(|fault| fault.under(&down_path))?;
    let Scenario { cable, upstream_channel, cmts, .. } = scenario;
    let plant = PlantSpec { cable, upstream_channel, cmts: cmts.as_ref() };
    plant.check_profiles(up, down).map_err(|fault| fault.under(path))?;
    if let AccessSpec::Fibre(fibre) = &scenario.access {
        fibre.check(group).map_err(|fault| fault.under(path))?;
    }
    for (path, queue, flows) in
        [(&up_path, &up.queue, &up.flows), (&down_path, &down.queue, &down.flows)]
    {
        weights(scenario, queue, &words::join(path, "queue"))?;
        for (name, flow) in flows {
            names_in_flow(scenario, flow, &words::join(&words::join(path, "flows"), name))?;
        }
    }
    Ok(())
}

/// Names in classifiers must exist.
fn names_in_flow(scenario: &Scenario, flow: &ServiceFlow, path: &str) -> Result<(), Fault> {
    weights(scenario, &flow.queue, &words::join(path, "queue"))?;
    for (number, classifier) in flow.classifiers.iter().enumerate() {
        names_in_classifier(scenario, classifier, &format!("{path}.match.{number}"))?;
    }
    Ok(())
}

fn names_in_classifier(
    scenario: &Scenario,
    classifier: &Classifier,
    path: &str,
) -> Result<(), Fault> {
    let Classifier { server, traffic, .. } = classifier;
    for (key, name, there, table) in [
        ("server", server, names(&scenario.servers), "servers"),
        ("traffic", traffic, names(&scenario.traffic), "traffic"),
    ] {
        let known = name.as_ref().map_or(Ok(()), |name| is_there(name, &there, table));
        known.map_err(|message| Fault::new(words::join(path, key), message))?;
    }
    Ok(())
}

fn servers(scenario: &Scenario, app: &AppSpec, path: &str) -> Result<(), Fault> {
    for (key, server) in app.servers() {
        is_there(server, &names(&scenario.servers), "servers")
            .map_err(|message| Fault::new(format!("{path}.{key}"), message))?;
    }
    Ok(())
}

fn names<T>(table: &IndexMap<String, T>) -> Vec<&str> {
    table.keys().map(String::as_str).collect()
}

/// A name must be one of `there`, the names in `table`. The error lists them.
fn is_there(name: &str, there: &[&str], table: &str) -> Result<(), String> {
    if there.contains(&name) {
        return Ok(());
    }
    let names = match there {
        [] => format!("a name in the table {table}, which is empty"),
        names => names.join(", "),
    };
    Err(format!("found {}; allowed: {names}{}", words::quoted(name), did_you_mean(name, there)))
}

fn did_you_mean(name: &str, names: &[&str]) -> String {
    words::closest(name, names).map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

/// Weights must belong to existing traffic entries.
fn weights(scenario: &Scenario, queue: &QueueSpec, path: &str) -> Result<(), Fault> {
    let there = names(&scenario.traffic);
    let named = queue.scheduler.weights().into_iter().flat_map(|weights| weights.0.keys());
    match named.into_iter().find(|name| !there.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let path = words::join(&format!("{path}.scheduler.weights"), name);
            let close = did_you_mean(name, &there);
            let message = format!("unknown traffic entry; allowed: {}{close}", there.join(", "));
            Err(Fault::new(path, message))
        }
    }
}

/// Rejects `tcp.nagle` if no traffic entry has Nagle's algorithm.
fn nagle_of_none(scenario: &Scenario) -> Result<(), Fault> {
    let has_it = |app: &AppSpec| {
        app.tcp().is_some() && app.tcp_config(&scenario.tcp, scenario.dialect).is_full()
    };
    let is_idle = !scenario.traffic.values().any(|entry| has_it(&entry.app));
    match scenario.tcp.nagle.filter(|_| is_idle) {
        None => Ok(()),
        Some(_) => Err(Fault::new("tcp.nagle", NO_NAGLE)),
    }
}

/// Size in bytes of the largest packet that may be sent.
fn largest_sent(scenario: &Scenario) -> u64 {
    let packet = |app: &AppSpec| {
        let segment = app.tcp().map_or(0, |_| {
            let config = app.tcp_config(&scenario.tcp, scenario.dialect);
            let ip = config.mss as u16 + config.header;
            u64::from(scenario.cable.byte_count().of_ip(ip))
        });
        segment.max(app.largest_datagram().into())
    };
    scenario.traffic.values().map(|entry| packet(&entry.app)).fold(0, u64::max)
}
