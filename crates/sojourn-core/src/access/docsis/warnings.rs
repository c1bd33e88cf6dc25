//! What a user must know of the plant before a run: settings that do nothing, and rates that cannot be
//! kept.

use indexmap::IndexMap;

use super::parameters::{ModemSpec, PlantSpec};
use super::shared_channel::SharedChannel;
use super::upstream_channel::UpstreamChannel;
use crate::access::Site;
use crate::access::homes::of_downstream_flows;
use crate::access::service::{Downstream, ServiceFlow};
use crate::queue::{SchedulerParameters, Unit};

/// The warnings, `modems` being those of the modems of each group.
pub(super) fn before_run(
    spec: &PlantSpec,
    site: &Site,
    modems: &[Vec<String>],
    channel: Option<&SharedChannel>,
) -> Vec<String> {
    let mut warnings: Vec<_> = channel_warning(spec, site, channel).into_iter().collect();
    for (group, modem) in site.groups.iter().zip(modems) {
        warnings.extend(modem.iter().cloned());
        let shares = group.upstream.modem == ModemSpec::SharedChannel;
        let (up, down) = (group.upstream, group.downstream);
        let own = (up.minimum_mbps, up.priority);
        warnings.extend(idle_terms("upstream", own, &up.flows, shares));
        let own = (down.minimum_mbps, down.priority);
        warnings.extend(idle_terms("downstream", own, &down.flows, spec.cmts.is_some()));
    }
    warnings.extend(idle_weights(spec, site));
    warnings.extend(downstream_reserved_rates(spec, site));
    warnings
}

/// Is the shared channel there for nothing, or reserved to more than it carries?
fn channel_warning(
    spec: &PlantSpec,
    site: &Site,
    channel: Option<&SharedChannel>,
) -> Option<String> {
    let Some(channel) = channel else {
        let is_default = *spec.upstream_channel == UpstreamChannel::default();
        return (!is_default).then(|| {
            "upstream_channel does nothing, as no modem is of kind shared_channel".to_owned()
        });
    };
    let shared = site.groups.iter().filter(|g| g.upstream.modem == ModemSpec::SharedChannel);
    let reserved = shared.map(|group| {
        let flows = group.upstream.service_flows();
        f64::from(group.count) * flows.iter().map(|flow| flow.minimum_mbps).sum::<f64>()
    });
    overbooked("upstream", reserved.sum(), channel.greatest_mbps())
}

/// Is more reserved than the channel carries?
fn overbooked(way: &str, reserved_mbps: f64, most_mbps: f64) -> Option<String> {
    (reserved_mbps > most_mbps).then(|| {
        format!(
            "minimum_mbps is {reserved_mbps} in all on the {way} channel, which carries at most \
             {most_mbps:.1}"
        )
    })
}

/// Minimum reserved rates that the scheduler of the shared channel does not know, or that it cannot keep.
fn downstream_reserved_rates(spec: &PlantSpec, site: &Site) -> Option<String> {
    let cmts = spec.cmts?;
    let minimum_mbps = of_downstream_flows(&site.groups, Downstream::minimum_mbps);
    let reserved_mbps: f64 = minimum_mbps.iter().flatten().sum();
    let is_kept = cmts.unit == Unit::ServiceFlow && cmts.queue.scheduler.keeps_reserved_rates();
    if reserved_mbps > 0.0 && !is_kept {
        return Some(
            "minimum_mbps of service flows does nothing downstream: of the schedulers of cmts.queue only \
             drr keeps it, with cmts.unit = \"service_flow\""
                .to_owned(),
        );
    }
    let most_mbps = cmts.channel.rate_mbps() * f64::from(cmts.channel.count());
    overbooked("downstream", reserved_mbps, most_mbps)
}

/// Minimum reserved rates and priorities, of the primary flow and of others, of which the channel of their
/// direction `knows` nothing.
fn idle_terms(
    way: &str,
    own: (f64, u8),
    flows: &IndexMap<String, ServiceFlow>,
    knows: bool,
) -> Vec<String> {
    let further = flows
        .iter()
        .map(|(name, flow)| (format!("{way}.flows.{name}"), (flow.minimum_mbps, flow.priority)));
    let mut warnings = Vec::new();
    for (path, (minimum_mbps, priority)) in [(way.to_owned(), own)].into_iter().chain(further) {
        let set = [("minimum_mbps", minimum_mbps > 0.0), ("priority", priority > 0)];
        let idle = set.into_iter().filter(|(_, is_set)| *is_set && !knows);
        warnings.extend(idle.map(|(key, _)| format!("{path}.{key} does nothing on this channel")));
    }
    warnings
}

/// Weights that the scheduler of the shared channel does not know.
fn idle_weights(spec: &PlantSpec, site: &Site) -> Option<String> {
    let scheduler = &spec.cmts?.queue.scheduler;
    let mut weights = site.groups.iter().flat_map(|group| group.downstream.weights());
    let is_idle = scheduler.weights().is_none() && weights.any(|weight| weight != 1.0);
    is_idle.then(|| {
        "weights of service flows do nothing here, as the scheduler of cmts.queue knows none; drr and \
         abb do"
            .to_owned()
    })
}
