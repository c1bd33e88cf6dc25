//! Checks between TCP options.

use super::cc::CongestionSpec;
use super::config::{Config, Recovery};
use super::options::TcpOptions;
use crate::dialect::Dialect;
use crate::input::compare::at_least;
use crate::input::problem::Fault;
use crate::input::words;
use crate::packet::LARGEST_PACKET;
use crate::units::Time;

/// Only ns-2's two-way agent has Nagle's algorithm.
pub(crate) const NO_NAGLE: &str =
    "found without recovery full_sack; allowed: only with recovery full_sack";

/// BBR is of dialect `linux`, whose sender samples the delivery rate, and sets the rate of sending.
fn check_bbr(
    config: &Config,
    own: &TcpOptions,
    place: &dyn Fn(bool) -> String,
) -> Result<(), Fault> {
    let Some(kind) = config.congestion_control.bbr() else { return Ok(()) };
    if config.dialect != Dialect::Linux {
        let path = words::join(&place(own.congestion_control.is_some()), "congestion_control.kind");
        let message = format!("found {kind}; allowed: reno, cubic, ledbat, or dialect linux");
        return Err(Fault::new(path, message));
    }
    if !config.pacing {
        let path = words::join(&place(own.pacing.is_some()), "pacing");
        let message = format!("found false; allowed: true, since congestion control {kind} paces");
        return Err(Fault::new(path, message));
    }
    Ok(())
}

/// Checks the options that result from a traffic entry, the scenario and the dialect. `own` are the
/// entry's options, at `own_path`; all others come from the scenario's `tcp`.
pub(crate) fn check(config: &Config, own: &TcpOptions, own_path: &str) -> Result<(), Fault> {
    let place = |is_own: bool| (if is_own { own_path } else { "tcp" }).to_owned();
    at_least(
        ("max_window_segments", config.max_window),
        ("initial_window_segments", config.initial_window),
    )
    .map_err(|fault| fault.under(&place(own.max_window_segments.is_some())))?;
    at_least(("max_rto_s", config.max_rto.secs_f64()), ("min_rto_s", config.min_rto.secs_f64()))
        .map_err(|fault| fault.under(&place(own.max_rto_s.is_some())))?;
    if matches!(config.congestion_control, CongestionSpec::Ledbat(_)) && !config.timestamps {
        let path = words::join(&place(own.timestamps.is_some()), "timestamps");
        let message = "found false; allowed: true, since congestion control ledbat needs them";
        return Err(Fault::new(path, message));
    }
    let agent = match config.recovery {
        Recovery::FullSack => Some("full_sack"),
        Recovery::Linux => Some("linux"),
        Recovery::Sack | Recovery::Newreno | Recovery::Reno => None,
    };
    if let Some(agent) = agent.filter(|_| config.dialect != Dialect::Ns2) {
        let path = words::join(&place(own.recovery.is_some()), "recovery");
        let message = format!(
            "found {agent}, an agent of ns-2; allowed: sack, newreno, reno, or dialect ns2"
        );
        return Err(Fault::new(path, message));
    }
    if config.is_full() && !matches!(config.congestion_control, CongestionSpec::Reno(_)) {
        let path = words::join(&place(own.congestion_control.is_some()), "congestion_control");
        let message = "found another one with recovery full_sack; allowed: reno";
        return Err(Fault::new(path, message));
    }
    if config.send_jitter > Time::ZERO && config.dialect != Dialect::Ns2 {
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
    if config.dialect == Dialect::Linux && config.recovery != Recovery::Sack {
        let path = words::join(&place(own.recovery.is_some()), "recovery");
        let found = if config.recovery == Recovery::Newreno { "newreno" } else { "reno" };
        let message = format!("found {found} with dialect linux; allowed: sack, or dialect rfc");
        return Err(Fault::new(path, message));
    }
    check_bbr(config, own, &place)?;
    if config.pacing && config.dialect != Dialect::Linux {
        let path = words::join(&place(own.pacing.is_some()), "pacing");
        return Err(Fault::new(path, "found true; allowed: false, or dialect linux"));
    }
    if own.nagle.is_some() && !config.is_full() {
        return Err(Fault::new(format!("{own_path}.nagle"), NO_NAGLE));
    }
    let header = u64::from(config.header);
    let largest = u64::from(LARGEST_PACKET);
    if config.mss + header > largest {
        let most = largest.saturating_sub(header);
        let message = format!(
            "found {}; allowed: {most} or less, so that a packet with {header} bytes of \
             header and options has {largest} or less",
            config.mss,
        );
        let path = place(own.mss_bytes.is_some());
        return Err(Fault::new(words::join(&path, "mss_bytes"), message));
    }
    Ok(())
}
