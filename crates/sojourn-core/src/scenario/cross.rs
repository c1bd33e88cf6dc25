//! The checks that look at several keys together; each key by itself is checked by the schema.

use super::channel::UpstreamChannel;
use super::check::Fault;
use super::cmts::Cmts;
use super::homes::{Buffer, Classifier, Entry, MOST_HOMES, PRIMARY, ServiceFlow};
use super::schema::{Congestion, Dialect, Downstream, Mac, ModemSpec, Scenario, Upstream};
use super::words;
use crate::apps::{AppParameters, AppSpec, transfer, video};
use crate::aqm::LawParameters;
use crate::docsis::framing::{Framing, request_region};
use crate::packet::LARGEST_PACKET;
use crate::queue::{QueueSpec, SchedulerParameters, SchedulerSpec, default_limit_bytes};
use crate::tcp::cc::CongestionSpec;
use crate::tcp::{Recovery, TcpOptions};
use crate::units::{BitRate, Time};

/// Bytes of a full Ethernet frame with a VLAN tag: what a modem must be able to pass.
const FULL_PACKET: u64 = 1522;
/// Bytes of the smallest Ethernet frame.
const SMALLEST_PACKET: u32 = 64;

/// The first fault.
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    homes(scenario)?;
    upstream_channel(&scenario.upstream_channel)?;
    for (name, entry) in &scenario.traffic {
        let (app, path) = (&entry.app, words::join("traffic", name));
        home_of(scenario, entry, &path)?;
        servers(scenario, app, &path)?;
        by_itself(app, &path)?;
        if let Some(own) = app.tcp() {
            tcp(scenario, app, own, &path)?;
        }
    }
    nagle_of_none(scenario)?;
    let largest = largest_sent(scenario);
    let exclusive = scenario.dialect == Dialect::Ns2;
    let room = Room { largest, packet: largest.max(FULL_PACKET), exclusive };
    if let Some(cmts) = &scenario.cmts {
        shared_channel(scenario, cmts, &room)?;
    }
    service(scenario, &scenario.upstream, &scenario.downstream, "", &room)?;
    for (name, homes) in &scenario.homes {
        let up = homes.upstream.as_ref().unwrap_or(&scenario.upstream);
        let down = homes.downstream.as_ref().unwrap_or(&scenario.downstream);
        service(scenario, up, down, &words::join("homes", name), &room)?;
    }
    Ok(())
}

/// There may be so many homes and no more.
fn homes(scenario: &Scenario) -> Result<(), Fault> {
    let homes = scenario.homes_in_all();
    if homes <= MOST_HOMES {
        return Ok(());
    }
    let message = format!("found {homes} in all; allowed: {MOST_HOMES} or fewer");
    Err(Fault::new("homes", message))
}

/// An entry must be in homes that there are.
fn home_of(scenario: &Scenario, entry: &Entry, path: &str) -> Result<(), Fault> {
    let Some(home) = &entry.labels.home else { return Ok(()) };
    let there: Vec<_> = scenario.homes.keys().map(String::as_str).collect();
    is_there(home, &there, "homes")
        .map_err(|message| Fault::new(words::join(path, "home"), message))
}

/// The queue of the channel that all homes share.
fn shared_channel(scenario: &Scenario, cmts: &Cmts, room: &Room) -> Result<(), Fault> {
    weights(scenario, &cmts.queue, "cmts")?;
    let mbps = cmts.channel.rate_mbps() * f64::from(cmts.channel.count());
    room.queue("cmts", &cmts.queue, mbps)
}

/// Keys of the downstream that go with the shared channel, and one that does not.
fn downstream_keys(scenario: &Scenario, down: &Downstream, path: &str) -> Result<(), Fault> {
    if scenario.cmts.is_some() {
        return match down.channel_mbps {
            None => Ok(()),
            Some(mbps) => {
                let message =
                    format!("found {mbps} beside cmts; allowed: none, as cmts.channel is it");
                Err(Fault::new(words::join(path, "channel_mbps"), message))
            }
        };
    }
    let flow = down.flows.iter().find_map(|(name, flow)| Some((name, flow.weight?)));
    let (key, found) = match (down.regulator, flow) {
        (false, _) => ("regulator".to_owned(), "false".to_owned()),
        (true, Some((name, weight))) => {
            (words::join(&words::join("flows", name), "weight"), weight.to_string())
        }
        (true, None) if down.weight != 1.0 => ("weight".to_owned(), down.weight.to_string()),
        (true, None) => return Ok(()),
    };
    let message = format!("found {found} without cmts; allowed: only with the channel of cmts");
    Err(Fault::new(format!("{path}.{key}"), message))
}

/// Weights of upstream flows mean nothing: they share no channel.
fn no_upstream_weights(up: &Upstream, path: &str) -> Result<(), Fault> {
    match up.flows.iter().find_map(|(name, flow)| Some((name, flow.weight?))) {
        None => Ok(()),
        Some((name, weight)) => {
            let path = words::join(&format!("{path}.flows"), name);
            let message =
                format!("found {weight}; allowed: only downstream, with the channel of cmts");
            Err(Fault::new(words::join(&path, "weight"), message))
        }
    }
}

/// What the homes at `path`, or the scenario itself, are served with.
fn service(
    scenario: &Scenario,
    up: &Upstream,
    down: &Downstream,
    path: &str,
    room: &Room,
) -> Result<(), Fault> {
    let (up_path, down_path) = (words::join(path, "upstream"), words::join(path, "downstream"));
    at_least(&up_path, ("peak_mbps", up.peak_mbps), ("sustained_mbps", up.sustained_mbps))?;
    at_least(&down_path, ("peak_mbps", down.peak_mbps), ("sustained_mbps", down.sustained_mbps))?;
    let promised = |path, sustained, minimum| {
        at_least(path, ("sustained_mbps", sustained), ("minimum_mbps", minimum))
    };
    promised(&up_path, up.sustained_mbps, up.minimum_mbps)?;
    promised(&down_path, down.sustained_mbps, down.minimum_mbps)?;
    downstream_keys(scenario, down, &down_path)?;
    no_upstream_weights(up, &up_path)?;
    match up.modem {
        ModemSpec::Link => {
            no_mac(up, &up_path, "link, which has no MAC")?;
            alone(scenario, up, &up_path)?;
        }
        ModemSpec::SharedChannel => {
            no_mac(up, &up_path, "shared_channel, whose MAC is that of upstream_channel")?;
        }
        ModemSpec::SingleQueue | ModemSpec::TwoQueues { .. } => {}
    }
    if let Some(congested) = &up.congestion {
        congestion(congested, &words::join(&up_path, "congestion"))?;
    }
    for (path, buffer, queue, flows) in [
        (&up_path, &up.buffer, &up.queue, &up.flows),
        (&down_path, &down.buffer, &down.queue, &down.flows),
    ] {
        buffers(path, buffer, queue, room)?;
        weights(scenario, queue, path)?;
        for (name, flow) in flows {
            service_flow(scenario, name, flow, &words::join(&format!("{path}.flows"), name), room)?;
        }
    }
    let controlled = |path: &str, own: &QueueSpec, buffer: &Buffer, mbps: f64, burst: u64| {
        let limit_bytes = buffer.bytes(mbps).or(own.limit_bytes);
        room.check(path, &QueueSpec { limit_bytes, ..own.clone() }, mbps, burst)
    };
    controlled(&up_path, &up.queue, &up.buffer, up.sustained_mbps, up.burst_bytes)?;
    controlled(&down_path, &down.queue, &down.buffer, down.sustained_mbps, down.burst_bytes)?;
    for (path, flows) in [(up_path, &up.flows), (down_path, &down.flows)] {
        for (name, flow) in flows {
            let path = words::join(&format!("{path}.flows"), name);
            controlled(&path, &flow.queue, &flow.buffer, flow.sustained_mbps, flow.burst_bytes)?;
        }
    }
    Ok(())
}

/// The keys of a service flow besides the primary one.
fn service_flow(
    scenario: &Scenario,
    name: &str,
    flow: &ServiceFlow,
    path: &str,
    room: &Room,
) -> Result<(), Fault> {
    if name == PRIMARY {
        let message =
            "found the name of the flow that the table itself describes; allowed: another";
        return Err(Fault::new(path, message));
    }
    at_least(path, ("peak_mbps", flow.peak_mbps), ("sustained_mbps", flow.sustained_mbps))?;
    at_least(path, ("sustained_mbps", flow.sustained_mbps), ("minimum_mbps", flow.minimum_mbps))?;
    buffers(path, &flow.buffer, &flow.queue, room)?;
    weights(scenario, &flow.queue, path)?;
    for (number, classifier) in flow.classifiers.iter().enumerate() {
        classifies(scenario, classifier, &format!("{path}.match.{number}"))?;
    }
    Ok(())
}

/// What a classifier names must be there, and its ranges must hold something.
fn classifies(scenario: &Scenario, classifier: &Classifier, path: &str) -> Result<(), Fault> {
    let Classifier { server, traffic, source_ports, destination_ports, dscp, .. } = classifier;
    let servers: Vec<_> = scenario.servers.keys().map(String::as_str).collect();
    let entries: Vec<_> = scenario.traffic.keys().map(String::as_str).collect();
    for (key, name, there, table) in
        [("server", server, servers, "servers"), ("traffic", traffic, entries, "traffic")]
    {
        let known = name.as_ref().map_or(Ok(()), |name| is_there(name, &there, table));
        known.map_err(|message| Fault::new(words::join(path, key), message))?;
    }
    let dscp = dscp.as_ref().map(|range| range.iter().take(2).copied().map(u16::from).collect());
    let ranges = [
        ("source_ports", source_ports.clone()),
        ("destination_ports", destination_ports.clone()),
        ("dscp", dscp),
    ];
    for (key, range) in ranges {
        let range: Vec<f64> = range.into_iter().flatten().map(f64::from).collect();
        ascending(&words::join(path, key), &range, "the bounds of a range")?;
    }
    Ok(())
}

/// Buffer control takes the place of limits, and its sizes ascend.
fn buffers(path: &str, buffer: &Buffer, queue: &QueueSpec, room: &Room) -> Result<(), Fault> {
    let path = words::join(path, "buffer");
    if *buffer == Buffer::default() {
        return Ok(());
    }
    if queue.limit_bytes.is_some() || queue.limit_packets.is_some() {
        let message = "found beside a limit of the queue; allowed: one of both";
        return Err(Fault::new(path, message));
    }
    let sizes = [
        ("minimum_bytes", buffer.minimum_bytes),
        ("target_bytes", buffer.target_bytes),
        ("maximum_bytes", buffer.maximum_bytes),
    ];
    let mut least = ("the largest packet", room.least(room.packet));
    for (key, size) in sizes {
        let Some(size) = size else { continue };
        if size < least.1 && (key != "minimum_bytes") {
            let message = format!("found {size}; allowed: {} or more, by {}", least.1, least.0);
            return Err(Fault::new(words::join(&path, key), message));
        }
        least = if size > least.1 { (key, size) } else { least };
    }
    Ok(())
}

/// Packets of several plain links would come to a server's link out of order.
fn alone(scenario: &Scenario, upstream: &Upstream, path: &str) -> Result<(), Fault> {
    let homes = scenario.homes_in_all();
    if homes == 1 && upstream.flows.is_empty() {
        return Ok(());
    }
    let message = "found link with several homes or service flows; allowed: single_queue, \
                   two_queues, shared_channel, as a plain link stands for a dumbbell";
    Err(Fault::new(format!("{path}.modem.kind"), message))
}

/// The first of two keys in the table at `path` must not be less than the second.
fn at_least(path: &str, (key, value): (&str, f64), least: (&str, f64)) -> Result<(), Fault> {
    if value >= least.1 {
        return Ok(());
    }
    let message = format!("found {value}; allowed: {} or more, by {}", least.1, least.0);
    Err(Fault::new(words::join(path, key), message))
}

/// Either the levels of the studies' pattern, or steps.
fn congestion(congestion: &Congestion, path: &str) -> Result<(), Fault> {
    let found = match (congestion.levels_mbps.is_empty(), congestion.steps.is_empty()) {
        (true, true) => "neither levels_mbps nor steps",
        (false, false) => "both levels_mbps and steps",
        _ => {
            return ascending(&words::join(path, "levels_mbps"), &congestion.levels_mbps, "levels");
        }
    };
    Err(Fault::new(path, format!("found {found}; allowed: one of both")))
}

/// What modems share must be able to carry something.
fn upstream_channel(spec: &UpstreamChannel) -> Result<(), Fault> {
    let (start, end) = (spec.backoff_start, spec.backoff_end);
    at_least(
        "upstream_channel",
        ("backoff_end", f64::from(end)),
        ("backoff_start", f64::from(start)),
    )?;
    let framing = Framing::of(spec);
    let (all, requests) = (framing.minislots(), request_region(spec));
    if framing.bytes_in(all.saturating_sub(requests)) > 0 {
        return Ok(());
    }
    let message = format!(
        "found {}, which with request_minislots take {requests} of the {all} minislots of a MAP \
         interval; allowed: fewer, so that a grant fits",
        spec.request_opportunities
    );
    Err(Fault::new("upstream_channel.request_opportunities", message))
}

/// A modem that has no MAC of its own has nothing that these keys could set.
fn no_mac(upstream: &Upstream, path: &str, kind: &str) -> Result<(), Fault> {
    let given = [
        ("mac", upstream.mac != Mac::default()),
        ("congestion", upstream.congestion.is_some()),
        ("shaping", upstream.shaping.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((key, _)) => {
            let message = format!(
                "found with a modem of kind {kind}; allowed: only with kind single_queue or \
                 two_queues"
            );
            Err(Fault::new(words::join(path, key), message))
        }
    }
}

fn ascending(path: &str, values: &[f64], what: &str) -> Result<(), Fault> {
    for (i, pair) in values.windows(2).enumerate() {
        if let [low, high] = pair
            && low > high
        {
            let message = format!("found {high}; allowed: {low} or more, as {what} ascend");
            return Err(Fault::new(format!("{path}.{}", i + 1), message));
        }
    }
    Ok(())
}

fn servers(scenario: &Scenario, app: &AppSpec, path: &str) -> Result<(), Fault> {
    let there: Vec<_> = scenario.servers.keys().map(String::as_str).collect();
    for (key, server) in app.servers() {
        is_there(server, &there, "servers")
            .map_err(|message| Fault::new(format!("{path}.{key}"), message))?;
    }
    Ok(())
}

/// A name must be one of those of a table; if it is not, says which there are.
fn is_there(name: &str, there: &[&str], table: &str) -> Result<(), String> {
    if there.contains(&name) {
        return Ok(());
    }
    let names = match there {
        [] => format!("a name of the table {table}, but that has none"),
        names => names.join(", "),
    };
    Err(format!("found {}; allowed: {names}{}", words::quoted(name), did_you_mean(name, there)))
}

fn did_you_mean(name: &str, names: &[&str]) -> String {
    words::closest(name, names).map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

/// Weights must be of entries that there are.
fn weights(scenario: &Scenario, queue: &QueueSpec, path: &str) -> Result<(), Fault> {
    let there: Vec<_> = scenario.traffic.keys().map(String::as_str).collect();
    let named = queue.scheduler.weights().into_iter().flat_map(|weights| weights.0.keys());
    match named.into_iter().find(|name| !there.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let path = words::join(&format!("{path}.queue.scheduler.weights"), name);
            let close = did_you_mean(name, &there);
            let message = format!("unknown entry of traffic; allowed: {}{close}", there.join(", "));
            Err(Fault::new(path, message))
        }
    }
}

/// The keys of an entry that must agree with each other.
fn by_itself(app: &AppSpec, path: &str) -> Result<(), Fault> {
    match app {
        AppSpec::Stream(stream) => stop(path, stream.start_s.unwrap_or(0.0), stream.stop_s),
        AppSpec::Transfer(transfer) => {
            again(path, transfer)?;
            stop(path, transfer.start_s, transfer.stop_s)
        }
        AppSpec::Video(video) => levels_and_buffer(video, path),
        AppSpec::OnOff(on_off) => {
            ascending(&format!("{path}.mean_mbps"), &on_off.mean_mbps, "the bounds of a range")?;
            ascending(&format!("{path}.on_s"), &on_off.on_s, "the bounds of a range")
        }
        AppSpec::WebSessions(sessions) => {
            for (key, draw) in
                [("objects", &sessions.objects), ("object_units", &sessions.object_units)]
            {
                if draw.mean() == 0.0 {
                    let message = "found 0 in the mean; allowed: more than 0";
                    return Err(Fault::new(format!("{path}.{key}"), message));
                }
            }
            if sessions.pushed && sessions.servers.len() > 1 {
                let message = "found true; allowed: only with a single server";
                return Err(Fault::new(format!("{path}.pushed"), message));
            }
            Ok(())
        }
        AppSpec::Web(_) | AppSpec::Torrent(_) | AppSpec::Replay(_) => Ok(()),
    }
}

fn stop(path: &str, start_s: f64, stop_s: Option<f64>) -> Result<(), Fault> {
    stop_s.map_or(Ok(()), |stop_s| at_least(path, ("stop_s", stop_s), ("start_s", start_s)))
}

/// When the next file starts.
fn again(path: &str, transfer: &transfer::Parameters) -> Result<(), Fault> {
    let refused = |key, found: f64, allowed| {
        Err(Fault::new(words::join(path, key), format!("found {found}; allowed: only {allowed}")))
    };
    let with_files = "with file_bytes, as an endless file never ends";
    match (transfer.pause_s, transfer.every_s) {
        (Some(_), Some(every_s)) => refused("every_s", every_s, "without pause_s"),
        (Some(pause_s), None) if transfer.file_bytes.is_none() => {
            refused("pause_s", pause_s, with_files)
        }
        (None, Some(every_s)) if transfer.file_bytes.is_none() => {
            refused("every_s", every_s, with_files)
        }
        _ => Ok(()),
    }
}

fn levels_and_buffer(video: &video::Parameters, path: &str) -> Result<(), Fault> {
    for (i, pair) in video.ladder_mbps.windows(2).enumerate() {
        if pair[1] <= pair[0] {
            let message =
                format!("found {}; allowed: more than {}, as levels ascend", pair[1], pair[0]);
            return Err(Fault::new(format!("{path}.ladder_mbps.{}", i + 1), message));
        }
    }
    let levels = video.ladder_mbps.len();
    if video.first_level as usize > levels {
        let message =
            format!("found {}; allowed: 1 to {levels}, by ladder_mbps", video.first_level);
        return Err(Fault::new(format!("{path}.first_level"), message));
    }
    let (held, wanted) = (video.buffer_segments(), video.start_segments);
    if held < wanted as usize {
        let message = format!(
            "found {}, which holds {held} of segment_s; allowed: {wanted} of them or more, by \
             start_segments",
            video.buffer_s,
        );
        return Err(Fault::new(format!("{path}.buffer_s"), message));
    }
    Ok(())
}

/// Nagle's algorithm is that of ns-2's two-way agent alone.
const NO_NAGLE: &str = "found without recovery full_sack; allowed: only with it";

/// The same, said for all entries where none has that agent.
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

/// The options of an entry's connections, which come from the entry, the scenario and the dialect.
fn tcp(scenario: &Scenario, app: &AppSpec, own: &TcpOptions, path: &str) -> Result<(), Fault> {
    let config = app.tcp_config(&scenario.tcp, scenario.dialect);
    let place = |is_own: bool| {
        if is_own { format!("{path}.tcp") } else { "tcp".to_owned() }
    };
    at_least(
        &place(own.max_window_segments.is_some()),
        ("max_window_segments", config.max_window),
        ("initial_window_segments", config.initial_window),
    )?;
    at_least(
        &place(own.max_rto_s.is_some()),
        ("max_rto_s", config.max_rto.secs_f64()),
        ("min_rto_s", config.min_rto.secs_f64()),
    )?;
    if matches!(config.congestion_control, CongestionSpec::Ledbat(_)) && !config.timestamps {
        let path = words::join(&place(own.timestamps.is_some()), "timestamps");
        let message = "found false; allowed: true, as congestion control ledbat measures by them";
        return Err(Fault::new(path, message));
    }
    let agent = match config.recovery {
        Recovery::FullSack => Some("full_sack"),
        Recovery::Linux => Some("linux"),
        Recovery::Sack | Recovery::Newreno | Recovery::Reno => None,
    };
    if let Some(agent) = agent.filter(|_| config.dialect == Dialect::Rfc) {
        let path = words::join(&place(own.recovery.is_some()), "recovery");
        let message = format!(
            "found {agent}, an agent of ns-2; allowed: sack, newreno, reno, or dialect ns2"
        );
        return Err(Fault::new(path, message));
    }
    if config.is_full() && !matches!(config.congestion_control, CongestionSpec::Reno(_)) {
        let path = words::join(&place(own.congestion_control.is_some()), "congestion_control");
        let message = "found another than reno; allowed: reno, the only one that full_sack has";
        return Err(Fault::new(path, message));
    }
    if config.send_jitter > Time::ZERO && config.dialect == Dialect::Rfc {
        let path = words::join(&place(own.send_jitter_us.is_some()), "send_jitter_us");
        let us = config.send_jitter.secs_f64() * 1e6;
        let message = format!("found {us}, an option of ns-2; allowed: 0, or dialect ns2");
        return Err(Fault::new(path, message));
    }
    if config.send_jitter > Time::ZERO && config.recovery == Recovery::Linux {
        let path = words::join(&place(own.send_jitter_us.is_some()), "send_jitter_us");
        let us = config.send_jitter.secs_f64() * 1e6;
        let message = format!("found {us} with recovery linux; allowed: 0, or another recovery");
        return Err(Fault::new(path, message));
    }
    if own.nagle.is_some() && !config.is_full() {
        return Err(Fault::new(format!("{path}.tcp.nagle"), NO_NAGLE));
    }
    let header = u64::from(config.header);
    let largest = u64::from(LARGEST_PACKET);
    if config.mss + header > largest {
        let most = largest.saturating_sub(header);
        let message = format!(
            "found {}; allowed: {most} or less, to stay within {largest} with {header} of header and options",
            config.mss,
        );
        let path = place(own.mss_bytes.is_some());
        return Err(Fault::new(words::join(&path, "mss_bytes"), message));
    }
    Ok(())
}

/// Bytes of the largest packet that may be sent.
fn largest_sent(scenario: &Scenario) -> u64 {
    let packet = |app: &AppSpec| {
        let segment = app.tcp().map_or(0, |_| {
            let config = app.tcp_config(&scenario.tcp, scenario.dialect);
            config.mss + u64::from(config.header)
        });
        segment.max(app.largest_datagram().into())
    };
    scenario.traffic.values().map(|entry| packet(&entry.app)).fold(0, u64::max)
}

/// Room for one packet in queues and bursts, without which nothing would ever pass.
struct Room {
    /// The largest packet that is sent.
    largest: u64,
    packet: u64,
    /// A queue never reaches its limit (ns-2.35 queue/drop-tail.cc).
    exclusive: bool,
}

impl Room {
    fn check(&self, path: &str, queue: &QueueSpec, mbps: f64, burst: u64) -> Result<(), Fault> {
        self.queue(path, queue, mbps)?;
        if burst < self.packet {
            let message =
                format!("found {burst}; allowed: {} or more, the largest packet", self.packet);
            return Err(Fault::new(format!("{path}.burst_bytes"), message));
        }
        Ok(())
    }

    /// A queue before a link of this rate.
    fn queue(&self, path: &str, queue: &QueueSpec, mbps: f64) -> Result<(), Fault> {
        let unlimited = queue.limit_bytes.is_none() && queue.limit_packets.is_none();
        let default = default_limit_bytes(BitRate::from_mbps(mbps));
        if unlimited && default < self.least(self.packet) {
            let message = format!(
                "unset, which is {default} (250 ms at the sustained rate); {}",
                self.allowed(self.packet),
            );
            return Err(Fault::new(format!("{path}.queue.limit_bytes"), message));
        }
        let limits = [
            ("limit_bytes", queue.limit_bytes, self.packet),
            ("limit_packets", queue.limit_packets, 1),
        ];
        for (key, limit, packet) in limits {
            if let Some(limit) = limit.filter(|limit| *limit < self.least(packet)) {
                let message = format!("found {limit}; {}", self.allowed(packet));
                return Err(Fault::new(format!("{path}.queue.{key}"), message));
            }
        }
        self.laws(path, queue, mbps)
    }

    /// What laws and schedulers must be to do anything sensible with full packets.
    fn laws(&self, path: &str, queue: &QueueSpec, mbps: f64) -> Result<(), Fault> {
        // RFC 8289 §4.3: the interval covers a round trip, which is more than one packet.
        let packet_ms = BitRate::from_mbps(mbps).time_for(FULL_PACKET).ms_f64();
        if let Some(interval) = queue.law.interval_ms().filter(|interval| *interval < packet_ms) {
            let message = format!(
                "found {interval}; allowed: {packet_ms:.3} or more, the time of a packet of \
                 {FULL_PACKET} bytes at the sustained rate"
            );
            return Err(Fault::new(format!("{path}.queue.law.interval_ms"), message));
        }
        if let Some((key, message)) = queue.law.contradiction() {
            return Err(Fault::new(format!("{path}.queue.law.{key}"), message));
        }
        let (quantum, allowed) = match &queue.scheduler {
            SchedulerSpec::Sfq(sfq) if sfq.one_law && queue.law.judges_sojourns() => {
                let message = "found true with a law that judges each packet by its sojourn time; \
                               allowed: false, as packets of sparse flows would switch it off";
                return Err(Fault::new(format!("{path}.queue.scheduler.one_law"), message));
            }
            // Shreedhar & Varghese 1996 §3: less, and turns pass in which nothing may be sent.
            SchedulerSpec::Drr(drr) if u64::from(drr.quantum_bytes) < self.largest => {
                (drr.quantum_bytes, format!("{} or more, the largest packet", self.largest))
            }
            SchedulerSpec::Sfq(sfq) if (1..SMALLEST_PACKET).contains(&sfq.quantum_bytes) => {
                let or_more = format!("{SMALLEST_PACKET} or more, the smallest frame");
                (sfq.quantum_bytes, format!("0 for one packet a round, or {or_more}"))
            }
            _ => return Ok(()),
        };
        let message = format!("found {quantum}; allowed: {allowed}");
        Err(Fault::new(format!("{path}.queue.scheduler.quantum_bytes"), message))
    }

    fn least(&self, packet: u64) -> u64 {
        packet + u64::from(self.exclusive)
    }

    fn allowed(&self, packet: u64) -> String {
        let reason = if self.exclusive {
            "so that one packet fits below the limit, which the ns2 dialect never reaches"
        } else {
            "so that one packet fits"
        };
        format!("allowed: {} or more, {reason}", self.least(packet))
    }
}
