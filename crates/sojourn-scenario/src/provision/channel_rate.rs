//! The rate of the channel that a service flow without a limit may fill.

use serde_json::Value;

use sojourn_access::AccessSpec;
use sojourn_access::docsis::Cmts;
use sojourn_access::docsis::Framing;
use sojourn_access::docsis::LEAST_CHANNEL_MBPS;
use sojourn_access::docsis::UpstreamChannel;
use sojourn_engine::packet::Direction;

/// The rate of the channel upstream or downstream in Mbps, if the scenario has one that does not
/// follow the rates of its service flows.
pub(super) fn channel_mbps(direction: Direction, scenario: &Value) -> Option<f64> {
    let number = |path: &str| scenario.pointer(path).and_then(Value::as_f64);
    let group = |way: &str| -> Vec<String> {
        let named = scenario.pointer(&format!("/{way}/bonding_group")).cloned();
        named.and_then(|named| serde_json::from_value(named).ok()).unwrap_or_default()
    };
    let access = scenario.get("access").map(|access| serde_json::from_value(access.clone()));
    if !access.and_then(Result::ok).unwrap_or(AccessSpec::Docsis).has_plant() {
        return None;
    }
    if direction == Direction::Down {
        let cmts: Option<Cmts> =
            scenario.get("cmts").and_then(|cmts| serde_json::from_value(cmts.clone()).ok());
        let shared = cmts.map(|cmts| cmts.carries_mbps(&group("downstream")));
        return shared.or_else(|| number("/downstream/channel_mbps"));
    }
    match scenario.pointer("/upstream/modem/kind").and_then(Value::as_str) {
        Some("link") => None,
        Some("shared_channel") => {
            let spec = scenario.get("upstream_channel").cloned();
            let spec = spec.and_then(|spec| serde_json::from_value(spec).ok());
            let spec: UpstreamChannel = spec.unwrap_or_default();
            let of = |one: &UpstreamChannel| Framing::of(one).greatest_mbps(one.least_region());
            if spec.bonded.is_empty() {
                return Some(of(&spec));
            }
            Some(spec.group(&group("upstream")).map(|one| of(&one)).sum())
        }
        _ => number("/upstream/mac/channel_mbps").or(Some(LEAST_CHANNEL_MBPS)),
    }
}
