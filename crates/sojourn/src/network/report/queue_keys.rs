//! Warnings of queues whose keys have no effect, or cannot do at the rate of the link what they are for.

use super::distinct;
use sojourn_access::{Group, flow_path};
use sojourn_engine::hop::Bottleneck;
use sojourn_engine::packet::Direction;
use sojourn_engine::queue::QueueSpec;
use sojourn_engine::units::BitRate;
use sojourn_input::problem::Warning;
use sojourn_input::words;
use sojourn_scenario::Scenario;

/// All warnings, once where homes share a queue's keys.
pub(super) fn warnings(scenario: &Scenario) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut look = |group: Option<&Group>, path: &str, queue: &QueueSpec, mbps: f64| {
        let remarks = queue.remarks(BitRate::from_mbps(mbps)).under(&format!("{path}.queue"));
        let own = |one: Warning| match group {
            Some(group) => group.own(one),
            None => one,
        };
        warnings.extend(remarks.into_iter().map(|one| own(one.about_its_key())));
    };
    let mbps_of = |one: &Bottleneck| one.mean_rate().bps() as f64 / 1e6;
    for (number, group) in scenario.groups().enumerate() {
        let own = Some(&group);
        for (name, flow) in group.upstream.flow_names().zip(group.upstream.service_flows()) {
            look(own, &flow_path("upstream", name), &flow.queue, flow.sustained_mbps);
        }
        for (name, flow) in group.downstream.flow_names().zip(group.downstream.service_flows()) {
            look(own, &flow_path("downstream", name), &flow.queue, flow.sustained_mbps);
        }
        for way in Direction::BOTH {
            if let Some(router) = scenario.router(number, way) {
                look(own, &words::join("router", way.stream()), &router.queue, mbps_of(router));
            }
        }
    }
    for (name, link) in &scenario.core {
        for way in Direction::BOTH {
            if let Some(link) = link.of(way) {
                let path = words::join(&words::join("core", name), way.stream());
                look(None, &path, &link.queue, mbps_of(link));
            }
        }
    }
    if let Some(cmts) = &scenario.cmts {
        look(None, "cmts", &cmts.queue, cmts.carries_mbps(&[]));
    }
    for (name, server) in &scenario.servers {
        if let Some(queue) = &server.queue {
            look(None, &words::join("servers", name), queue, server.rate_mbps);
        }
    }
    distinct(warnings)
}
