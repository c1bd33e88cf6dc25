//! Checks between TCP options.

use super::accecn::EcnMode;
use super::cc::CongestionSpec;
use super::config::{Config, Transport};
use super::options::TcpOptions;
use super::quic;
use super::rules::Recovery;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::LARGEST_PACKET;
use sojourn_engine::units::Time;
use sojourn_input::compare::at_least;
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Faults};
use sojourn_input::words;

/// Only ns-2's two-way agent has Nagle's algorithm.
pub const NO_NAGLE: &str =
    "found without recovery full_sack; allowed: only with recovery full_sack";

/// The place of the congestion control's name.
fn kind_path(own: &TcpOptions, place: &dyn Fn(bool) -> String) -> String {
    let table = words::join(&place(own.congestion_control.is_some()), "congestion_control");
    words::join(&table, "kind")
}

/// The message for a congestion control that other dialects than `linux` do not have.
fn only_in_linux(kind: &str) -> String {
    format!("found {kind}; allowed: reno, cubic, ledbat, or dialect linux")
}

/// There are two IP versions.
pub fn check_ip(options: &TcpOptions, path: &str) -> Result<(), Fault> {
    match options.version() {
        4 | 6 => Ok(()),
        other => Err(Fault::found(words::join(path, "ip"), other, "4, 6")),
    }
}

/// A control like BBR is of dialect `linux`, whose sender samples the delivery rate, and sets the rate of sending.
fn check_samples(
    config: &Config,
    own: &TcpOptions,
    place: &dyn Fn(bool) -> String,
) -> Result<(), Fault> {
    if !config.congestion_control.parameters().wants_samples() {
        return Ok(());
    }
    let kind = config.congestion_control.name();
    if config.dialect != Dialect::Linux && config.transport == Transport::Tcp {
        return Err(Fault::new(kind_path(own, place), only_in_linux(kind)));
    }
    if !config.pacing {
        let path = words::join(&place(own.pacing.is_some()), "pacing");
        return Err(fault!(NotAllowed, path =>
            "found false; allowed: true, since congestion control {kind} paces", kind));
    }
    Ok(())
}

/// Checks the options that result from a traffic entry, the scenario and the dialect. `own` are the
/// entry's options, at `own_path`; all others come from `base`, the scenario's `tcp`.
pub fn check(config: &Config, own: &TcpOptions, own_path: &str, base: &TcpOptions) -> Faults {
    let place = |is_own: bool| (if is_own { own_path } else { "tcp" }).to_owned();
    if config.transport == Transport::Quic {
        // Complaints about what only TCP has would follow from these.
        let faults = Faults::from(check_quic(config, own, own_path, base));
        if !faults.is_empty() {
            return faults;
        }
    }
    let mut faults = Faults::from(check_ip(own, own_path));
    let windows = at_least(
        ("max_window_segments", config.max_window),
        ("initial_window_segments", config.initial_window),
    );
    faults.add_under(&place(own.max_window_segments.is_some()), windows);
    let timeouts = at_least(
        ("max_rto_s", config.max_rto.secs_f64()),
        ("min_rto_s", config.min_rto.secs_f64()),
    );
    faults.add_under(&place(own.max_rto_s.is_some()), timeouts);
    faults.add(check_timestamps(config, own, &place));
    faults.add(check_dialect(config, own, &place));
    faults.add(check_samples(config, own, &place));
    faults.add(check_ecn(config, own, &place));
    let may_pace = config.dialect == Dialect::Linux || config.transport == Transport::Quic;
    if config.pacing && !may_pace {
        let path = words::join(&place(own.pacing.is_some()), "pacing");
        faults.add(Fault::found(path, "true", "false, or dialect linux, or transport quic"));
    }
    if own.nagle.is_some() && !config.is_full() {
        faults.add(Fault::new(format!("{own_path}.nagle"), NO_NAGLE));
    }
    faults.add(fits_into_a_packet(config, &place(own.mss_bytes.is_some())));
    faults
}

/// One-way delays come from timestamps.
fn check_timestamps(
    config: &Config,
    own: &TcpOptions,
    place: &dyn Fn(bool) -> String,
) -> Result<(), Fault> {
    if config.congestion_control.parameters().needs_timestamps() && !config.timestamps {
        let path = words::join(&place(own.timestamps.is_some()), "timestamps");
        let kind = config.congestion_control.name();
        return Err(fault!(NotAllowed, path =>
            "found false; allowed: true, since congestion control {kind} needs them", kind));
    }
    Ok(())
}

/// The first option that the dialect does not have.
fn check_dialect(
    config: &Config,
    own: &TcpOptions,
    place: &dyn Fn(bool) -> String,
) -> Result<(), Fault> {
    let agent = match config.recovery {
        Recovery::FullSack => Some("full_sack"),
        Recovery::Linux => Some("linux"),
        Recovery::Sack | Recovery::Newreno | Recovery::Reno => None,
    };
    if let Some(agent) = agent.filter(|_| config.dialect != Dialect::Ns2) {
        let path = words::join(&place(own.recovery.is_some()), "recovery");
        let others = if config.dialect == Dialect::Linux { "sack" } else { "sack, newreno, reno" };
        return Err(fault!(NotAllowed, path =>
            "found {agent}, an agent of ns-2; allowed: {others}, or dialect ns2", agent, others));
    }
    if config.is_full() && !matches!(config.congestion_control, CongestionSpec::Reno(_)) {
        let kind = config.congestion_control.name();
        return Err(fault!(NotAllowed, kind_path(own, place) =>
            "found {kind} with recovery full_sack; allowed: reno", kind));
    }
    if config.send_jitter > Time::ZERO && config.dialect != Dialect::Ns2 {
        let path = words::join(&place(own.send_jitter_us.is_some()), "send_jitter_us");
        let us = config.send_jitter.secs_f64() * 1e6;
        return Err(
            fault!(NotAllowed, path => "found {us}, an option of ns-2; allowed: 0, or dialect ns2", us),
        );
    }
    if config.send_jitter > Time::ZERO && config.recovery == Recovery::Linux {
        let path = words::join(&place(own.send_jitter_us.is_some()), "send_jitter_us");
        let us = config.send_jitter.secs_f64() * 1e6;
        return Err(
            fault!(NotAllowed, path => "found {us} with recovery linux; allowed: 0, or another recovery", us),
        );
    }
    if config.dialect == Dialect::Linux && config.recovery != Recovery::Sack {
        let path = words::join(&place(own.recovery.is_some()), "recovery");
        let found = if config.recovery == Recovery::Newreno { "newreno" } else { "reno" };
        return Err(fault!(NotAllowed, path =>
            "found {found} with dialect linux; allowed: sack, or dialect rfc", found));
    }
    if config.dialect == Dialect::Linux && config.rtt_tick > Time::ZERO {
        let path = words::join(&place(own.rtt_tick_ms.is_some()), "rtt_tick_ms");
        let ms = config.rtt_tick.secs_f64() * 1e3;
        return Err(fault!(NotAllowed, path =>
            "found {ms} with dialect linux; allowed: 0, or dialect rfc or ns2", ms));
    }
    Ok(())
}

/// A full segment with its headers is no larger than a packet may be. `path` is where its size comes from.
fn fits_into_a_packet(config: &Config, path: &str) -> Result<(), Fault> {
    let header = u64::from(config.header);
    let largest = u64::from(LARGEST_PACKET);
    if config.mss + header > largest {
        // What timestamps take of an MSS, a packet of that MSS has in its header.
        let taken = config.mss_option() - config.mss;
        let most = largest.saturating_sub(header) + taken;
        let message = format!(
            "found {}; allowed: {most} or less, so that a packet with {header} bytes of \
             header and options has {largest} or less",
            config.mss_option(),
        );
        return Err(Fault::new(words::join(path, "mss_bytes"), message));
    }
    Ok(())
}

/// Keys of the table that only TCP has, and are set.
fn only_of_tcp(options: &TcpOptions) -> Option<&'static str> {
    let keys = [
        ("recovery", options.recovery.is_some()),
        ("timestamps", options.timestamps.is_some()),
        ("delayed_ack_beats", options.delayed_ack_beats.is_some()),
        ("restart_after_idle", options.restart_after_idle.is_some()),
        ("nagle", options.nagle.is_some()),
        ("send_jitter_us", options.send_jitter_us.is_some()),
        ("initial_rto_s", options.initial_rto_s.is_some()),
        ("min_rto_s", options.min_rto_s.is_some()),
        ("rtt_tick_ms", options.rtt_tick_ms.is_some()),
    ];
    keys.iter().find(|(_, is_set)| *is_set).map(|(key, _)| *key)
}

/// The name of a congestion control that is none of QUIC, and what it needs that QUIC does not have here.
fn not_of_quic(control: &CongestionSpec) -> Option<(&str, &'static str)> {
    let needs = match control {
        CongestionSpec::Reno(_) | CongestionSpec::Cubic(_) => return None,
        CongestionSpec::Outside(own) if own.is_scalable() => ", which needs the share of marks",
        CongestionSpec::Outside(own) if own.needs_timestamps() => ", which needs timestamps",
        CongestionSpec::Outside(_) => return None,
        _ => "",
    };
    Some((control.name(), needs))
}

/// What keeps connections with this configuration from QUIC, which something else than `tcp.transport` chose, and what
/// would not.
pub fn lack_of_quic(config: &Config) -> Option<(String, String)> {
    let least = quic::LEAST_DATAGRAM;
    let [found, instead] = if config.dialect == Dialect::Ns2 {
        ["dialect ns2".to_owned(), "dialect rfc or linux".to_owned()]
    } else if let Some((kind, needs)) = not_of_quic(&config.congestion_control) {
        let found = format!("congestion control {kind}{needs}");
        [found, "congestion control reno or cubic".to_owned()]
    } else if config.ecn.is_accurate() {
        [format!("ecn {}", config.ecn.name()), "ecn off or classic".to_owned()]
    } else if config.mss < least {
        [format!("mss_bytes {}", config.mss), format!("mss_bytes {least} or more")]
    } else {
        return None;
    };
    Some((found, instead))
}

/// What QUIC does not have is refused, in the table that chooses QUIC and in those of single entries. Keys of
/// the scenario beside entries that choose QUIC are for the others.
fn check_quic(
    config: &Config,
    own: &TcpOptions,
    own_path: &str,
    base: &TcpOptions,
) -> Result<(), Fault> {
    let place = |is_own: bool| if is_own { own_path } else { "tcp" };
    let of_base = only_of_tcp(base).filter(|_| base.transport == Some(Transport::Quic));
    let of_tcp = only_of_tcp(own).map(|key| (own_path, key)).or(of_base.map(|key| ("tcp", key)));
    if let Some((path, key)) = of_tcp {
        return Err(fault!(NotAllowed, words::join(path, key) =>
            "found with transport quic; allowed: only with transport tcp"));
    }
    let chosen = words::join(place(own.transport.is_some()), "transport");
    if config.dialect == Dialect::Ns2 {
        return Err(Fault::found(chosen, "quic with dialect ns2", "tcp, or dialect rfc or linux"));
    }
    if let Some((kind, needs)) = not_of_quic(&config.congestion_control) {
        return Err(fault!(NotAllowed, chosen =>
            "found quic with congestion control {kind}{needs}; allowed: tcp, or congestion control reno or cubic",
            kind, needs));
    }
    if config.ecn.is_accurate() {
        let path = words::join(place(own.ecn.is_some()), "ecn");
        let message =
            format!("found {}; allowed: off, classic with transport quic", config.ecn.name());
        return Err(Fault::new(path, message));
    }
    if config.mss < quic::LEAST_DATAGRAM {
        let path = words::join(place(own.mss_bytes.is_some()), "mss_bytes");
        let (found, least) = (config.mss, quic::LEAST_DATAGRAM);
        return Err(Fault::found(path, found, format!("{least} or more with transport quic")));
    }
    Ok(())
}

/// Checks explicit congestion notification against the congestion control and the dialect.
fn check_ecn(
    config: &Config,
    own: &TcpOptions,
    place: &dyn Fn(bool) -> String,
) -> Result<(), Fault> {
    let (control, ecn) = (config.congestion_control.name(), config.ecn.name());
    let is_scalable = config.congestion_control.parameters().is_scalable();
    let at_ecn = words::join(&place(own.ecn.is_some()), "ecn");
    if is_scalable && config.dialect != Dialect::Linux {
        return Err(Fault::new(kind_path(own, place), only_in_linux(control)));
    }
    if is_scalable && !config.ecn.is_accurate() {
        return Err(fault!(NotAllowed, at_ecn =>
            "found {ecn} with congestion_control {control}, which needs the share of marks; allowed: accecn, l4s, \
             or another congestion_control", ecn, control));
    }
    if config.ecn == EcnMode::L4s && !is_scalable {
        return Err(fault!(NotAllowed, at_ecn =>
            "found l4s with congestion_control {control}, which reacts to a mark as to a loss; allowed: off, \
             classic, accecn, or congestion_control dctcp, prague", control));
    }
    if config.ecn.is_accurate() && config.dialect == Dialect::Ns2 {
        return Err(
            fault!(NotAllowed, at_ecn => "found {ecn} with dialect ns2; allowed: off, classic", ecn),
        );
    }
    match own.ace_bits {
        Some(bits) if ![3, 24].contains(&bits) => {
            let path = words::join(&place(true), "ace_bits");
            Err(Fault::found(path, bits, "3, 24"))
        }
        Some(bits) if !config.ecn.is_accurate() => {
            let path = words::join(&place(true), "ace_bits");
            Err(
                fault!(NotAllowed, path => "found {bits} with ecn {ecn}; allowed: only with accecn, l4s", bits, ecn),
            )
        }
        _ => Ok(()),
    }
}
