//! The homes of a run, as they stand at time zero.

use crate::docsis::{SharedChannel, Subscriber};
use crate::engine::wake::StageId;
use crate::scenario::Scenario;
use crate::scenario::homes::Group;
use crate::scenario::schema::ModemSpec;

/// A home with the numbers of its first stages.
pub(super) struct Home {
    pub subscriber: Subscriber,
    /// Its number within its group, from 1.
    pub number: u16,
    /// Its first service flow, up and down.
    pub stages: [StageId; 2],
}

/// All homes, group by group, and the upstream channel of those that share one.
pub(super) fn homes(scenario: &Scenario) -> (Vec<Home>, Option<SharedChannel>) {
    let names: Vec<&str> = scenario.traffic.keys().map(String::as_str).collect();
    let watch_flows = scenario.metrics.watch_flows as usize;
    let shares = |group: Group| group.upstream.modem == ModemSpec::SharedChannel;
    let new = || SharedChannel::new(&scenario.upstream_channel, scenario.seed);
    let mut channel = scenario.groups().any(shares).then(new);
    let mut homes = Vec::new();
    for group in scenario.groups() {
        for number in 1..=group.count {
            let is_first = homes.is_empty();
            let rules = (scenario.dialect, scenario.seed);
            let shares_downstream = scenario.cmts.is_some();
            let mut subscriber = Subscriber::new(
                &group,
                number,
                is_first,
                rules,
                channel.as_mut(),
                shares_downstream,
            );
            subscriber.name_traffic(&names, watch_flows);
            if let Some(channel) = &mut channel {
                let watch_flows = if subscriber.is_watched() { watch_flows } else { 0 };
                let ports = subscriber.ports.clone();
                ports.for_each(|port| channel.port_mut(port).name_traffic(&names, watch_flows));
            }
            homes.push(Home { subscriber, number, stages: [0; 2] });
        }
    }
    (homes, channel)
}
