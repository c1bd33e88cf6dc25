//! Scheduling services of upstream flows, from a configuration file to a scenario and back (DOCSIS
//! 3.1 MULPI §C.2.2.8.2-9; the bits of the request policy are from memory).

use serde_json::{Value, json};

use sojourn_access::docsis::{Regularity, SchedulingService};
use sojourn_access::modem_config::view::{Scheduling, ServiceFlow};
use sojourn_engine::units::Time;

/// Request/transmission policy: the modem must not request in contention.
const NO_CONTENTION: u32 = 1;
/// It must not request with its grants.
const NO_PIGGYBACK: u32 = 1 << 4;
/// Bits on what this simulator has not: multicast request regions, request/data regions.
const WITHOUT_EFFECT: u32 = 0b1110;

/// A scheduling service as keys of a scenario.
pub(super) struct Read {
    /// Its table.
    pub keys: Value,
    /// Keys of the file that it includes.
    pub done: &'static [&'static str],
    /// What else is to be said, by key of the file.
    pub notes: Vec<(&'static str, String)>,
}

const BEST_EFFORT: Read = Read { keys: Value::Null, done: &[], notes: Vec::new() };
const GRANTS: [&str; 5] = [
    "grant_bytes",
    "grant_interval_us",
    "grant_jitter_us",
    "grants_per_interval",
    "request_policy",
];
const POLLS: [&str; 3] = ["polling_interval_us", "poll_jitter_us", "request_policy"];
const BOTH: [&str; 7] = [
    "grant_bytes",
    "grant_interval_us",
    "grant_jitter_us",
    "grants_per_interval",
    "polling_interval_us",
    "poll_jitter_us",
    "request_policy",
];

/// The service of a flow of a file.
pub(super) fn read(flow: &ServiceFlow) -> Read {
    let kind = flow.scheduling;
    match kind {
        None | Some(Scheduling::Undefined | Scheduling::BestEffort) => BEST_EFFORT,
        Some(Scheduling::ProactiveGrants) => {
            best_effort("proactive_grants outside an aggregate is not simulated")
        }
        Some(Scheduling::Ugs) => grants(flow, "ugs"),
        Some(Scheduling::UgsWithActivityDetection) => grants(flow, "ugs_with_activity_detection"),
        Some(Scheduling::RealTimePolling) => polls(flow, "real_time_polling"),
        Some(Scheduling::NonRealTimePolling) => polls(flow, "non_real_time_polling"),
    }
}

fn best_effort(why: &str) -> Read {
    let notes = vec![("scheduling", format!("{why}; using best_effort"))];
    Read { notes, ..BEST_EFFORT }
}

fn grants(flow: &ServiceFlow, kind: &str) -> Read {
    let (Some(bytes), Some(interval_us)) = (flow.grant_bytes, flow.grant_interval_us) else {
        return best_effort(&format!("{kind} without grant_bytes or grant_interval_us"));
    };
    let mut keys = json!({
        "kind": kind,
        "unsolicited_grant_bytes": bytes,
        "nominal_grant_interval_us": interval_us,
        "tolerated_grant_jitter_us": flow.grant_jitter_us.unwrap_or_default(),
        "grants_per_interval": flow.grants_per_interval.unwrap_or(1),
    });
    let is_polled = flow.scheduling == Some(Scheduling::UgsWithActivityDetection);
    if is_polled {
        keys["nominal_polling_interval_us"] =
            flow.polling_interval_us.unwrap_or(interval_us).into();
        keys["tolerated_poll_jitter_us"] = flow.poll_jitter_us.unwrap_or_default().into();
    }
    let unasked = NO_CONTENTION | NO_PIGGYBACK;
    let notes = policy_notes(flow, unasked, unasked);
    Read { keys, done: if is_polled { &BOTH } else { &GRANTS }, notes }
}

fn polls(flow: &ServiceFlow, kind: &str) -> Read {
    let Some(interval_us) = flow.polling_interval_us else {
        return best_effort(&format!("{kind} without polling_interval_us"));
    };
    let default = if kind == "real_time_polling" { NO_CONTENTION } else { 0 };
    let keys = json!({
        "kind": kind,
        "nominal_polling_interval_us": interval_us,
        "tolerated_poll_jitter_us": flow.poll_jitter_us.unwrap_or_default(),
        "piggyback": policy(flow).is_none_or(|policy| policy & NO_PIGGYBACK == 0),
    });
    Read { keys, done: &POLLS, notes: policy_notes(flow, NO_CONTENTION, default) }
}

fn policy(flow: &ServiceFlow) -> Option<u32> {
    u32::from_str_radix(flow.request_policy.as_ref()?, 16).ok()
}

/// Notes bits of the policy that differ from what the service has in `expected`, among those of
/// `of_service`, and bits that are not simulated.
fn policy_notes(flow: &ServiceFlow, of_service: u32, expected: u32) -> Vec<(&'static str, String)> {
    let Some(policy) = policy(flow) else { return Vec::new() };
    let known = NO_CONTENTION | NO_PIGGYBACK | WITHOUT_EFFECT;
    let odd = (policy & of_service) ^ expected | policy & !known;
    let bits: Vec<_> = (0..32).filter(|bit| odd >> bit & 1 == 1).map(|b| b.to_string()).collect();
    let text = match &bits[..] {
        [only] => format!("bit {only} is ignored"),
        [first @ .., last] => format!("bits {} and {last} are ignored", first.join(", ")),
        [] => return Vec::new(),
    };
    vec![("request_policy", text)]
}

/// Writes a service into a flow of a file.
pub(super) fn write(service: &SchedulingService, flow: &mut ServiceFlow) {
    flow.scheduling = match service {
        // Proactive grants are the low-latency flow's (low_latency.rs).
        SchedulingService::BestEffort | SchedulingService::ProactiveGrants(_) => return,
        SchedulingService::Ugs { .. } => Some(Scheduling::Ugs),
        SchedulingService::UgsWithActivityDetection { .. } => {
            Some(Scheduling::UgsWithActivityDetection)
        }
        SchedulingService::RealTimePolling { .. } => Some(Scheduling::RealTimePolling),
        SchedulingService::NonRealTimePolling { .. } => Some(Scheduling::NonRealTimePolling),
    };
    let us = |time: Time| u32::try_from(time.ps() / 1_000_000).ok();
    if let Some((bytes, Regularity { interval, jitter, per_interval })) = service.grants() {
        flow.grant_bytes = u16::try_from(bytes).ok();
        flow.grant_interval_us = us(interval);
        flow.grant_jitter_us = us(jitter);
        flow.grants_per_interval = u8::try_from(per_interval).ok();
    }
    if let Some(Regularity { interval, jitter, .. }) = service.polls() {
        flow.polling_interval_us = us(interval);
        flow.poll_jitter_us = us(jitter);
    }
    let policy = service.policy();
    let bits = if policy.contention { 0 } else { NO_CONTENTION }
        | if policy.piggyback { 0 } else { NO_PIGGYBACK };
    flow.request_policy = Some(format!("{bits:08x}"));
}
