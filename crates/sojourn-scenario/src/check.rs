//! Checks across parts of a scenario. The schema checks each key, and each part checks its own
//! keys.

use super::schema::Scenario;
use super::traffic::Entry;
use crate::apps::AppSpec;
use indexmap::IndexMap;
use sojourn_access::Classifier;
use sojourn_access::Group;
use sojourn_access::docsis::Booking;
use sojourn_access::docsis::UpstreamChannel;
use sojourn_access::docsis::{Cable, ModemSpec};
use sojourn_access::{ServiceFlow, flow_path};
use sojourn_engine::address::Network;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::Direction;
use sojourn_engine::queue::QueueSpec;
use sojourn_engine::queue::Room;
use sojourn_engine::units::BitRate;
use sojourn_input::fault;
use sojourn_input::problem::{Code, Fault, Faults};
use sojourn_input::words;
use sojourn_transport::Transport;
use sojourn_transport::check::{self as tcp, NO_NAGLE};

/// The most homes a network may have, over all groups.
const MOST_HOMES: usize = 20_000;

/// All faults.
pub(super) fn check(scenario: &Scenario) -> Faults {
    let mut faults = Faults::from(homes(scenario));
    faults.add_under("upstream_channel", scenario.upstream_channel.check());
    faults.add_under("provisioning", scenario.provisioning.check());
    faults.add(names_of_controllers(scenario));
    for (name, entry) in &scenario.traffic {
        faults.add(traffic(scenario, entry, &scenario.path_of(name, entry)));
    }
    faults.add(nagle_of_none(scenario));
    faults.add(warm_up(scenario));
    faults.add(seen_homes(scenario));
    let room = room(scenario);
    if let Some(cmts) = &scenario.cmts {
        faults.add(weights(scenario, &cmts.queue, "cmts.queue"));
        let mbps = cmts.carries_mbps(&[]);
        faults.add_under("cmts.queue", cmts.queue.check(&room, BitRate::from_mbps(mbps)));
        faults.add_under("cmts", cmts.queue.check_no_member_rate());
        faults.add_under("cmts", cmts.queue.check_no_shaper());
    }
    faults.add(hops(scenario, &room));
    faults.add(access(scenario));
    faults.add(cable(scenario));
    faults.add(booking(scenario));
    faults.add(tcp::check_ip(&scenario.tcp, "tcp"));
    let base = Group {
        name: "",
        count: 1,
        upstream: &scenario.upstream,
        downstream: &scenario.downstream,
        distance_km: None,
        router: None,
        base: None,
    };
    let base = service(scenario, &base, "", &room);
    // What homes take over from the scenario is reported once.
    let is_of_base = base.clone();
    faults.add(base);
    for (group, name) in scenario.groups().zip(scenario.homes.keys()) {
        let path = words::join("homes", name);
        let own = service(scenario, &group, "", &room).without(&is_of_base);
        faults.add_under(&path, own);
    }
    faults.one_per_key()
}

/// All faults of the hops beside the access network, on which nothing else depends.
pub(super) fn check_hops(scenario: &Scenario) -> Faults {
    hops(scenario, &room(scenario)).one_per_key()
}

fn room(scenario: &Scenario) -> Room {
    Room { largest: scenario.largest_sent(), exclusive: scenario.dialect == Dialect::Ns2 }
}

/// Results name the probes of controllers, as no entry may be called.
fn names_of_controllers(scenario: &Scenario) -> Faults {
    let taken = scenario.names_of_probes().filter(|name| {
        let entry = scenario.traffic.get(name);
        entry.is_some_and(|entry| !entry.app.parameters().is_of_router())
    });
    let faults = taken.map(|name| {
        let path = words::join("traffic", &name);
        Fault::found(path, "the name of the probes of a router's controller", "another name")
    });
    faults.collect()
}

/// Checks a traffic entry.
fn traffic(scenario: &Scenario, entry: &Entry, path: &str) -> Faults {
    let app = &entry.app;
    let mut faults = Faults::from(home_of(scenario, entry, path));
    faults.add(ecn_of(entry, path));
    faults.add(servers(scenario, app, path));
    faults.add_under(path, app.parameters().check());
    faults.add(activity_of(scenario, entry, path));
    if let Some(own) = app.parameters().tcp() {
        let config = app.tcp_config(&scenario.tcp, scenario.dialect);
        match quic_of_protocol(scenario, app, path) {
            Err(fault) => faults.add(Err(fault)),
            Ok(()) => {
                faults.add(tcp::check(&config, own, &words::join(path, "tcp"), &scenario.tcp))
            }
        }
    }
    faults
}

/// A protocol of pages that needs QUIC, with what QUIC does not have.
fn quic_of_protocol(scenario: &Scenario, app: &AppSpec, path: &str) -> Result<(), Fault> {
    let own = (app.parameters().transport() == Some(Transport::Quic))
        .then(|| ("h3", app.tcp_config(&scenario.tcp, scenario.dialect)));
    let beside = app.quic_config(&scenario.tcp, scenario.dialect).map(|config| ("mixed", config));
    let lacking =
        own.or(beside).and_then(|(name, config)| Some((name, tcp::lack_of_quic(&config)?)));
    lacking.map_or(Ok(()), |(name, (lack, instead))| {
        Err(fault!(NotAllowed, words::join(path, "protocol") =>
            "found {name} with {lack}; allowed: h1, h2, or {instead}", name, lack, instead))
    })
}

/// Something must be left to count.
fn warm_up(scenario: &Scenario) -> Result<(), Fault> {
    let (from_s, end_s) = (scenario.metrics.from_s, scenario.duration_s);
    if from_s < end_s {
        return Ok(());
    }
    Err(Fault::found(
        "metrics.from_s",
        from_s,
        format!("less than {end_s}, the value of duration_s"),
    ))
}

/// Answers are of a group that there is.
fn seen_homes(scenario: &Scenario) -> Result<(), Fault> {
    let Some(homes) = &scenario.metrics.homes else { return Ok(()) };
    is_there(homes, &names(&scenario.homes), "homes", "metrics.homes")
}

/// Limits the number of homes.
fn homes(scenario: &Scenario) -> Result<(), Fault> {
    let homes = scenario.homes_in_all();
    if homes <= MOST_HOMES {
        return Ok(());
    }
    Err(
        fault!(NotAllowed, "homes" => "found {homes} in all; allowed: {MOST_HOMES} or fewer", homes),
    )
}

/// A traffic entry must run in an existing group of homes.
fn home_of(scenario: &Scenario, entry: &Entry, path: &str) -> Result<(), Fault> {
    let Some(home) = &entry.labels.home else { return Ok(()) };
    let is_address = Network::try_from(home.clone()).is_ok();
    let hint = match &entry.app {
        AppSpec::Replay(_) if is_address => "; the home's address in a capture is home_address",
        _ => "",
    };
    is_there(home, &names(&scenario.homes), "homes", &words::join(path, "home"))
        .map_err(|fault| Fault { message: fault.message + hint, ..fault })
}

/// What a home at rest does not begin is what its apps do next.
fn activity_of(scenario: &Scenario, entry: &Entry, path: &str) -> Result<(), Fault> {
    let group = scenario.homes.get_index(scenario.group_of(entry));
    match group.filter(|(_, homes)| homes.activity.is_some()) {
        Some((name, _)) if entry.app.parameters().acts_on_its_own() => Err(Fault::found(
            words::join(&words::join("homes", name), "activity"),
            format!("it beside {path}, which goes on while the home rests"),
            "only with traffic that waits for the user: no torrent, replay, endless transfer or transfer with stop_s",
        )),
        _ => Ok(()),
    }
}

/// Only senders of datagrams have an ECN field to choose.
fn ecn_of(entry: &Entry, path: &str) -> Result<(), Fault> {
    if entry.labels.ecn.is_none() || entry.app.parameters().tcp().is_none() {
        return Ok(());
    }
    Err(fault!(NotAllowed, words::join(path, "ecn") =>
        "found in an entry that uses TCP; allowed: only where datagrams are sent, since TCP chooses its own"))
}

/// Checks the hops beside the access network.
fn hops(scenario: &Scenario, room: &Room) -> Faults {
    let mut faults = Faults::default();
    for (name, server) in &scenario.servers {
        let Some(queue) = &server.queue else { continue };
        let path = words::join("servers", name);
        let queue_path = words::join(&path, "queue");
        faults.add(weights(scenario, queue, &queue_path));
        faults.add_under(&queue_path, queue.check(room, BitRate::from_mbps(server.rate_mbps)));
        faults.add_under(&path, queue.check_no_member_rate());
    }
    let of_homes = scenario.homes.iter().filter_map(|(name, homes)| {
        Some((words::join(&words::join("homes", name), "router"), homes.router.as_ref()?))
    });
    let routers = scenario.router.iter().map(|router| ("router".to_owned(), router));
    let core = scenario.core.iter().map(|(name, both)| (words::join("core", name), both));
    let routers: Vec<_> = routers.chain(of_homes).collect();
    for (path, router) in &routers {
        let path = words::join(path, "controller");
        let controller = router.controller.as_ref().map(|controller| controller.parameters());
        faults.add_under(&path, controller.map(|of| of.check()).unwrap_or_default());
    }
    let shapers = routers.iter().flat_map(|(path, router)| {
        router.both().map(move |(way, shaper)| (words::join(path, way.stream()), shaper))
    });
    let core = core.flat_map(|(path, both)| {
        let of = move |(way, link): (Direction, _)| (words::join(&path, way.stream()), link);
        both.both().map(of).collect::<Vec<_>>()
    });
    for (path, bottleneck) in shapers.chain(core) {
        faults.add(weights(scenario, &bottleneck.queue, &words::join(&path, "queue")));
        faults.add_under(&path, bottleneck.check(room));
    }
    faults
}

/// Without a cable, keys of the cable plant have no effect and are rejected.
fn access(scenario: &Scenario) -> Faults {
    if scenario.access.has_plant() {
        return Faults::default();
    }
    let given = [
        ("cable", scenario.cable != Cable::default()),
        ("upstream_channel", scenario.upstream_channel != UpstreamChannel::default()),
        ("cmts", scenario.cmts.is_some()),
    ];
    let message = "found without a cable network; allowed: only with access kind docsis";
    given
        .iter()
        .filter(|(_, is_given)| *is_given)
        .map(|(key, _)| Fault::new(*key, message))
        .collect()
}

/// The cable has one length, and MAPs are made early enough.
fn cable(scenario: &Scenario) -> Faults {
    let cable = &scenario.cable;
    let mut faults = Faults::default();
    if cable.delay_ms.is_some() && cable.distance_km.is_some() {
        faults.add(Fault::found("cable.distance_km", "together with delay_ms", "one of them"));
    }
    faults.add_under("cable", cable.check_noise());
    let modems = scenario.groups().map(|group| (&group.upstream.modem, group.distance_km));
    let groups = scenario.groups();
    faults
        .add(scenario.plant().check_table(groups.map(|group| (group.upstream, group.distance_km))));
    let groups = scenario.groups().map(|group| group.downstream);
    faults.add(scenario.plant().check_downstream_table(groups));
    if let Some((set, least)) = scenario.plant().late_advance(modems) {
        let allowed = format!(
            "{least:.1} or more, the sum of the fixed times and of the longest cable, there and back"
        );
        faults.add(Fault::found("cable.timing.map_advance_us", set, allowed));
    }
    faults
}

/// Unsolicited grants and polls of all homes must fit into the channel that they share.
fn booking(scenario: &Scenario) -> Result<(), Fault> {
    let uncounted = scenario.cable.byte_count().uncounted();
    let mut booking = Booking::new(&scenario.upstream_channel, uncounted);
    let paths = scenario.homes.iter().map(|(name, homes)| match homes.upstream {
        Some(_) => words::join(&words::join("homes", name), "upstream"),
        None => "upstream".to_owned(),
    });
    let paths = paths.chain(scenario.homes.is_empty().then(|| "upstream".to_owned()));
    for (group, path) in scenario.groups().zip(paths) {
        if group.upstream.modem == ModemSpec::SharedChannel {
            booking.add(group.upstream, group.count.into(), &path)?;
        }
    }
    booking.check()
}

/// Checks the service of the homes at `path`, or of the scenario itself.
fn service(scenario: &Scenario, group: &Group, path: &str, room: &Room) -> Faults {
    let (up, down) = (group.upstream, group.downstream);
    let (up_path, down_path) = (words::join(path, "upstream"), words::join(path, "downstream"));
    let mut faults = up.check(room).under(&up_path);
    let shares_channel = scenario.cmts.is_some();
    faults.add_under(&down_path, down.check(shares_channel, room));
    faults.add_under(path, scenario.plant().check_profiles(up, down));
    faults.add_under(path, scenario.plant().check_group(up, down));
    faults.add_under(path, scenario.network().check(group));
    for (path, queue, flows) in
        [(&up_path, &up.queue, &up.flows), (&down_path, &down.queue, &down.flows)]
    {
        faults.add(weights(scenario, queue, &words::join(path, "queue")));
        for (name, flow) in flows {
            let path = flow_path(path, name);
            faults.add(names_in_flow(scenario, flow, &path));
        }
    }
    faults
}

/// Names in classifiers must exist.
fn names_in_flow(scenario: &Scenario, flow: &ServiceFlow, path: &str) -> Faults {
    let mut faults = weights(scenario, &flow.queue, &words::join(path, "queue"));
    for (number, classifier) in flow.classifiers.iter().enumerate() {
        faults.add(names_in_classifier(scenario, classifier, &format!("{path}.match.{number}")));
    }
    faults
}

fn names_in_classifier(scenario: &Scenario, classifier: &Classifier, path: &str) -> Faults {
    let Classifier { server, traffic, .. } = classifier;
    let mut faults = Faults::default();
    for (key, name, there, table) in [
        ("server", server, names(&scenario.servers), "servers"),
        ("traffic", traffic, names(&scenario.traffic), "traffic"),
    ] {
        if let Some(name) = name {
            faults.add(is_there(name, &there, table, &words::join(path, key)));
        }
    }
    faults
}

fn servers(scenario: &Scenario, app: &AppSpec, path: &str) -> Faults {
    let there = names(&scenario.servers);
    let mut named = app.parameters().servers();
    if named.is_empty() {
        named.push(("servers".to_owned(), ""));
    }
    let missing = named.into_iter().filter_map(|(key, server)| {
        is_there(server, &there, "servers", &format!("{path}.{key}")).err()
    });
    missing.collect()
}

fn names<T>(table: &IndexMap<String, T>) -> Vec<&str> {
    table.keys().map(String::as_str).collect()
}

/// The name at `path` must be one of `there`, the names in `table`. The error lists them.
fn is_there(name: &str, there: &[&str], table: &str, path: &str) -> Result<(), Fault> {
    if there.contains(&name) {
        return Ok(());
    }
    let allowed = match there {
        [] => format!("a name in the table {table}, which is empty"),
        names => names.join(", "),
    };
    if name.is_empty() {
        return Err(fault!(Missing, path => "missing; allowed: {allowed}", allowed));
    }
    let fault = Fault::found(path, words::quoted(name), allowed).coded(Code::UnknownName);
    Err(fault.meaning_one_of(&meant(name, there)))
}

fn meant(name: &str, names: &[&str]) -> Vec<String> {
    words::closest(name, names).into_iter().map(str::to_owned).collect()
}

/// Weights must belong to existing traffic entries.
fn weights(scenario: &Scenario, queue: &QueueSpec, path: &str) -> Faults {
    let there = names(&scenario.traffic);
    let named =
        queue.scheduler.parameters().weights().into_iter().flat_map(|weights| weights.0.keys());
    let unknown = named.filter(|name| !there.contains(&name.as_str())).map(|name| {
        let path = words::join(&format!("{path}.scheduler.weights"), name);
        let allowed = there.join(", ");
        fault!(UnknownName, path => "unknown traffic entry; allowed: {allowed}", allowed)
            .meaning_one_of(&meant(name, &there))
    });
    unknown.collect()
}

/// Rejects `tcp.nagle` if no traffic entry has Nagle's algorithm.
fn nagle_of_none(scenario: &Scenario) -> Result<(), Fault> {
    let has_it = |app: &AppSpec| {
        app.parameters().tcp().is_some()
            && app.tcp_config(&scenario.tcp, scenario.dialect).is_full()
    };
    let is_idle = !scenario.traffic.values().any(|entry| has_it(&entry.app));
    match scenario.tcp.nagle.filter(|_| is_idle) {
        None => Ok(()),
        Some(_) => Err(Fault::new("tcp.nagle", NO_NAGLE)),
    }
}
