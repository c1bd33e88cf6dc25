//! The checks that look at several keys together; each key by itself is checked by the schema.

use super::check::Fault;
use super::schema::{Dialect, Mac, ModemSpec, Scenario, Upstream};
use super::words;
use crate::apps::{AppParameters, AppSpec, video};
use crate::aqm::LawParameters;
use crate::packet::LARGEST_PACKET;
use crate::queue::{QueueSpec, SchedulerParameters, SchedulerSpec, default_limit_bytes};
use crate::tcp::TcpOptions;
use crate::tcp::cc::CongestionSpec;
use crate::units::BitRate;

/// Bytes of a full Ethernet frame with a VLAN tag: what a modem must be able to pass.
const FULL_PACKET: u64 = 1522;
/// Bytes of the smallest Ethernet frame.
const SMALLEST_PACKET: u32 = 64;

/// The first fault.
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    let (up, down) = (&scenario.upstream, &scenario.downstream);
    at_least("upstream", ("peak_mbps", up.peak_mbps), ("sustained_mbps", up.sustained_mbps))?;
    at_least("downstream", ("peak_mbps", down.peak_mbps), ("sustained_mbps", down.sustained_mbps))?;
    if up.modem == ModemSpec::Link {
        no_mac(up)?;
    }
    if let Some(congestion) = &up.congestion {
        ascending("upstream.congestion.levels_mbps", &congestion.levels_mbps, "levels")?;
    }
    for (name, app) in &scenario.traffic {
        let path = words::join("traffic", name);
        servers(scenario, app, &path)?;
        by_itself(app, &path)?;
        if let Some(own) = app.tcp() {
            tcp(scenario, app, own, &path)?;
        }
    }
    weights(scenario, &up.queue, "upstream")?;
    weights(scenario, &down.queue, "downstream")?;
    let room = Room {
        largest: largest_sent(scenario),
        packet: largest_sent(scenario).max(FULL_PACKET),
        exclusive: scenario.dialect == Dialect::Ns2,
    };
    room.check("upstream", &up.queue, up.sustained_mbps, up.burst_bytes)?;
    room.check("downstream", &down.queue, down.sustained_mbps, down.burst_bytes)
}

/// The first of two keys in the table at `path` must not be less than the second.
fn at_least(path: &str, (key, value): (&str, f64), least: (&str, f64)) -> Result<(), Fault> {
    if value >= least.1 {
        return Ok(());
    }
    let message = format!("found {value}; allowed: {} or more, by {}", least.1, least.0);
    Err(Fault::new(words::join(path, key), message))
}

/// A plain link has nothing that these keys could set.
fn no_mac(upstream: &Upstream) -> Result<(), Fault> {
    let given = [
        ("mac", upstream.mac != Mac::default()),
        ("congestion", upstream.congestion.is_some()),
        ("shaping", upstream.shaping.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((key, _)) => {
            let message = "found with a modem of kind link, which has no MAC; allowed: only with \
                           kind single_queue or two_queues";
            Err(Fault::new(words::join("upstream", key), message))
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
        if there.contains(&server) {
            continue;
        }
        let mut message = format!("found {}; allowed: ", words::quoted(server));
        message += &match &*there {
            [] => "a name of the table servers, but that has none".to_owned(),
            names => names.join(", "),
        };
        message += &did_you_mean(server, &there);
        return Err(Fault::new(format!("{path}.{key}"), message));
    }
    Ok(())
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
            pause(path, transfer.pause_s, transfer.file_bytes)?;
            stop(path, transfer.start_s, transfer.stop_s)
        }
        AppSpec::Video(video) => levels_and_buffer(video, path),
        AppSpec::OnOff(on_off) => {
            ascending(&format!("{path}.mean_mbps"), &on_off.mean_mbps, "the bounds of a range")?;
            ascending(&format!("{path}.on_s"), &on_off.on_s, "the bounds of a range")
        }
        AppSpec::Web(_) | AppSpec::WebSessions(_) | AppSpec::Torrent(_) | AppSpec::Replay(_) => {
            Ok(())
        }
    }
}

fn stop(path: &str, start_s: f64, stop_s: Option<f64>) -> Result<(), Fault> {
    stop_s.map_or(Ok(()), |stop_s| at_least(path, ("stop_s", stop_s), ("start_s", start_s)))
}

fn pause(path: &str, pause_s: Option<f64>, file_bytes: Option<u64>) -> Result<(), Fault> {
    match (pause_s, file_bytes) {
        (Some(pause_s), None) => {
            let message = format!(
                "found {pause_s}; allowed: only with file_bytes, as an endless file never ends"
            );
            Err(Fault::new(words::join(path, "pause_s"), message))
        }
        _ => Ok(()),
    }
}

fn levels_and_buffer(video: &video::Parameters, path: &str) -> Result<(), Fault> {
    ascending(&format!("{path}.ladder_mbps"), &video.ladder_mbps, "levels")?;
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
    if config.is_full() && config.dialect == Dialect::Rfc {
        let path = words::join(&place(own.recovery.is_some()), "recovery");
        let message = "found full_sack, an agent of ns-2; allowed: sack, newreno, reno, or \
                       dialect ns2";
        return Err(Fault::new(path, message));
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
    scenario.traffic.values().map(packet).fold(0, u64::max)
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
        self.laws(path, queue, mbps)?;
        if burst < self.packet {
            let message =
                format!("found {burst}; allowed: {} or more, the largest packet", self.packet);
            return Err(Fault::new(format!("{path}.burst_bytes"), message));
        }
        Ok(())
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
        let (quantum, allowed) = match &queue.scheduler {
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
