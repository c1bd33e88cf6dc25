//! Warnings of queues whose keys have no effect, or cannot do at the rate of the link what they are for.

use super::distinct;
use sojourn_access::flow_path;
use sojourn_engine::hop::Bottleneck;
use sojourn_engine::packet::Direction;
use sojourn_engine::queue::QueueSpec;
use sojourn_engine::units::BitRate;
use sojourn_input::problem::{Fault, Warning};
use sojourn_input::words;
use sojourn_scenario::Scenario;

/// All warnings, once where homes share a queue's keys.
pub(super) fn warnings(scenario: &Scenario) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut look = |path: &str, queue: &QueueSpec, mbps: f64| {
        let remarks = queue.remarks(BitRate::from_mbps(mbps)).under(&format!("{path}.queue"));
        warnings.extend(remarks.into_iter().map(Fault::about_its_key));
    };
    for group in scenario.groups() {
        for (name, flow) in group.upstream.flow_names().zip(group.upstream.service_flows()) {
            look(&flow_path("upstream", name), &flow.queue, flow.sustained_mbps);
        }
        for (name, flow) in group.downstream.flow_names().zip(group.downstream.service_flows()) {
            look(&flow_path("downstream", name), &flow.queue, flow.sustained_mbps);
        }
    }
    for (path, bottleneck) in bottlenecks(scenario) {
        look(&path, &bottleneck.queue, bottleneck.mean_rate().bps() as f64 / 1e6);
    }
    if let Some(cmts) = &scenario.cmts {
        let channels = f64::from(cmts.channel.count());
        look("cmts", &cmts.queue, cmts.channel.rate_mbps() * channels);
    }
    for (name, server) in &scenario.servers {
        if let Some(queue) = &server.queue {
            look(&words::join("servers", name), queue, server.rate_mbps);
        }
    }
    distinct(warnings)
}

/// Routers and links of the core that are limited, with their paths.
fn bottlenecks(scenario: &Scenario) -> impl Iterator<Item = (String, &Bottleneck)> {
    let groups = 0..scenario.groups().count();
    let routers = groups.flat_map(|group| {
        Direction::BOTH.map(|way| (format!("router.{}", way.stream()), scenario.router(group, way)))
    });
    let core = scenario.core.iter().flat_map(|(name, one)| {
        let path = words::join("core", name);
        Direction::BOTH.map(|way| (format!("{path}.{}", way.stream()), one.of(way)))
    });
    routers.chain(core).filter_map(|(path, bottleneck)| Some((path, bottleneck?)))
}
