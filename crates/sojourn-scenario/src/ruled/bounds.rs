//! Keys that the values of others leave without effect: limits that are never reached, and what decides between service
//! flows where there is one.

use serde_json::Value;
use sojourn_access::Downstream;
use sojourn_access::docsis::ModemSpec;
use sojourn_engine::packet::Direction;
use sojourn_engine::queue::{QueueSpec, SchedulerSpec, Unit};
use sojourn_engine::units::BitRate;
use sojourn_input::problem::Remedy;

use super::{Idle, LEAVE_OUT, Place, Reason, heirs, path_of, with};
use crate::schema::Scenario;

/// Bytes of the smallest IP packet.
const SMALLEST: u16 = 20;
/// Laws, beside none, and schedulers that read nothing of the limit in bytes.
const WITHOUT_LIMIT: [&str; 5] = ["none", "codel", "fifo", "sfq", "fq"];
/// What a service flow has that decides between several on a channel: of both directions, and downstream.
const SHARES: [&str; 4] = ["minimum_mbps", "priority", "flows.*.minimum_mbps", "flows.*.priority"];
const WEIGHTS: [&str; 2] = ["weight", "flows.*.weight"];
const PRIORITIES: [&str; 2] = ["priority", "flows.*.priority"];

/// All of them.
pub(super) fn all(places: &[Place<'_>], whole: &Value, scenario: &Scenario) -> Vec<Idle> {
    let mut idle = Vec::new();
    let shared = Direction::BOTH.map(|way| shared(scenario, way));
    for place in places {
        match &*place.node.of {
            "QueueSpec" => idle.extend(limits(place, whole, scenario)),
            "Upstream" => idle.extend(without_rival(place, shared[0].as_deref())),
            "Downstream" => idle.extend(without_rival(place, shared[1].as_deref())),
            of if of.starts_with("Entry/") => idle.extend(late_stop(place, scenario)),
            _ => {}
        }
    }
    idle
}

/// What decides between service flows on a channel.
#[derive(Clone, Copy, PartialEq)]
struct Claim {
    priority: u8,
    /// Where weights are read and their ratio alone matters.
    weight: Option<f64>,
}

/// The claims of the service flows that share a channel, once for each home of a group up to two; `None` if there is no
/// such channel.
fn shared(scenario: &Scenario, way: Direction) -> Option<Vec<Claim>> {
    let is_shared = match way {
        Direction::Up => {
            scenario.groups().any(|group| group.upstream.modem == ModemSpec::SharedChannel)
        }
        Direction::Down => scenario.cmts.is_some(),
    };
    let is_by_ratio = scenario.cmts.as_ref().is_some_and(|cmts| {
        // Elsewhere more weight is a longer turn too.
        let scheduler = &cmts.queue.scheduler;
        matches!(scheduler, SchedulerSpec::Wfq(_) | SchedulerSpec::Scfq(_))
            && cmts.unit == Unit::ServiceFlow
    });
    let of_groups = scenario.groups().flat_map(|group| {
        let claims: Vec<Claim> = match way {
            Direction::Up if group.upstream.modem != ModemSpec::SharedChannel => Vec::new(),
            Direction::Up => {
                let flows = group.upstream.service_flows();
                flows.iter().map(|flow| Claim { priority: flow.priority, weight: None }).collect()
            }
            Direction::Down => {
                let flows = group.downstream.service_flows();
                let weight = |weight: f64| Some(weight).filter(|_| is_by_ratio);
                let claim = |flow: &Downstream| Claim {
                    priority: flow.priority,
                    weight: weight(flow.weight),
                };
                flows.iter().map(claim).collect()
            }
        };
        claims.repeat(usize::from(group.count.min(2)))
    });
    is_shared.then(|| of_groups.collect())
}

/// What decides between service flows on a channel, where there is one or all have the same.
fn without_rival(place: &Place<'_>, claims: Option<&[Claim]>) -> Vec<Idle> {
    let alike = "where all service flows of the channel have the same";
    let (keys, clause) = match claims {
        Some([_]) => ([&SHARES[..], &WEIGHTS].concat(), "for the only service flow of a channel"),
        Some([first, rest @ ..]) => {
            let is_alike = |of: &dyn Fn(&Claim) -> bool| rest.iter().all(of);
            let priorities = is_alike(&|other| other.priority == first.priority);
            let weights = first.weight.is_some() && is_alike(&|other| other.weight == first.weight);
            let keys = [(priorities, PRIORITIES), (weights, WEIGHTS)].into_iter();
            (keys.filter(|(is_alike, _)| *is_alike).flat_map(|(_, keys)| keys).collect(), alike)
        }
        _ => return Vec::new(),
    };
    let set = keys.into_iter().flat_map(|key| place.set(key));
    set.map(|parts| Idle::new(parts, Reason::new(clause, LEAVE_OUT))).collect()
}

/// A time after the end of the run, by the fastest clock.
fn late_stop(place: &Place<'_>, scenario: &Scenario) -> Option<Idle> {
    let drift = scenario.clock_drift_ppm.unwrap_or_default() * 1e-6;
    let end_s = scenario.duration_s;
    let stop_s = place.table.get("stop_s")?.as_f64()?;
    (stop_s > end_s * (1.0 + drift)).then(|| {
        let reason = Reason::new(format!("after the end of the run at {end_s} s"), LEAVE_OUT);
        Idle::new(with(&place.parts, "stop_s"), reason)
    })
}

/// Limits of a queue that are never reached, beside each other or in an aggregate of Low Latency DOCSIS: its own buffer
/// beyond both of its members', and the delay from which all packets are marked, below the least that its rate allows.
fn limits(place: &Place<'_>, whole: &Value, scenario: &Scenario) -> Vec<Idle> {
    let queue = heirs::at(whole, &place.parts).cloned().unwrap_or_default();
    let Ok(queue) = serde_json::from_value::<QueueSpec>(queue) else { return Vec::new() };
    let mut idle = Vec::new();
    let mut held_bytes = queue.limit_bytes;
    if let (SchedulerSpec::LowLatency(keys), Some(rate)) = (&queue.scheduler, rate_of(place, whole))
    {
        let members_bytes = keys.most_bytes(rate);
        held_bytes = Some(members_bytes);
        if queue.limit_bytes.is_some_and(|limit| limit >= members_bytes) {
            let scheduler = path_of(&with(&place.parts, "scheduler"));
            let reason = Reason::new(
                format!("beside the buffers of the members, which hold {members_bytes} bytes"),
                format!(
                    "set less, or {scheduler}.classic_buffer_bytes and low_latency_buffer_bytes"
                ),
            );
            idle.push(Idle::new(with(&place.parts, "limit_bytes"), reason));
        }
        idle.extend(keys.least_max_us(rate).map(|least_us| {
            let path = with(&place.parts, "scheduler.low_latency_max_us");
            let remedy = Remedy::of(path_of(&path), (2.0 * least_us).ceil());
            let clause = format!(
                "up to {least_us:.0}, the time of two packets of 2000 bytes at the rate of the service and the length of \
                 the ramp"
            );
            // No other value has one without packets to mark.
            let has_ecn = scenario.traffic.values().any(|entry| scenario.uses_ecn(entry));
            let remedy = if has_ecn { remedy } else { Remedy::default() };
            Idle::new(path, Reason::without(clause, remedy))
        }));
    }
    let Some((packets, bytes)) = queue.limit_packets.zip(held_bytes) else { return idle };
    let least_bytes = u64::from(scenario.network().byte_count().of_ip(SMALLEST));
    let kind = |key: &str| place.table[key]["kind"].as_str().unwrap_or_default();
    let is_plain = ["law", "scheduler"].iter().all(|key| WITHOUT_LIMIT.contains(&kind(key)));
    if packets.saturating_mul(least_bytes) > bytes {
        let clause = format!(
            "beside a limit of {bytes} bytes, which fewer packets fill: {least_bytes} bytes are the least"
        );
        let most = (bytes / least_bytes).max(1);
        let reason = Reason::new(clause, format!("set less than {most}"));
        idle.push(Idle::new(with(&place.parts, "limit_packets"), reason));
    } else if is_plain && bytes > packets.saturating_mul(scenario.largest_sent()) {
        let most = packets * scenario.largest_sent();
        let clause = format!("beside limit_packets, which lets no more than {most} bytes wait");
        let reason = Reason::new(clause, "set less");
        idle.push(Idle::new(with(&place.parts, "limit_bytes"), reason));
    }
    idle
}

/// The rate of the service flow that a queue is of.
fn rate_of(place: &Place<'_>, whole: &Value) -> Option<BitRate> {
    let above = heirs::at(whole, place.parts.split_last()?.1)?;
    Some(BitRate::from_mbps(above["sustained_mbps"].as_f64()?))
}

#[cfg(test)]
mod tests {
    use crate::load;

    /// At 5 Mbps two packets of 2000 bytes take 6.4 ms, and the ramp is 524 us long; the members hold 40 000 and 62 500
    /// bytes.
    #[test]
    fn limits_that_members_do_not_reach_are_idle() {
        let idle = |keys: &str| {
            let text = format!(
                "duration_s = 3
                 cable.byte_count = 'ip'
                 upstream = {{ sustained_mbps = 5, queue = {{ {keys} }} }}
                 downstream.sustained_mbps = 20
                 servers.near.delay_ms = 9
                 traffic.up = {{ kind = 'transfer', server = 'near', tcp.congestion_control.kind = 'prague' }}"
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
        // An IP header has 20 bytes, which `cable.byte_count = "ip"` counts alone.
        let packets =
            |packets: u32| idle(&format!("limit_packets = {packets}, limit_bytes = 3000"));
        assert_eq!(packets(150), [""; 0]);
        assert_eq!(
            packets(151),
            [
                "upstream.queue.limit_packets has no effect beside a limit of 3000 bytes, which fewer packets fill: 20 bytes are \
              the least: set less than 150"
            ]
        );
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
