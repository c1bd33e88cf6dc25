//! Warnings about the cable plant before a run: settings without effect, and rates that cannot be
//! kept.

use super::parameters::{ModemSpec, PlantSpec};
use super::timing::{Specification, Timing};
use super::upstream_channel::UpstreamChannel;
use super::upstream_channels::UpstreamChannels;
use crate::homes::{Group, of_downstream_flows};
use crate::service::{Downstream, flow_path};
use crate::shaper::PEAK_BURST_BYTES;
use crate::{AccessParameters, Site};
use sojourn_engine::aqm::Threshold;
use sojourn_engine::packet::{Direction, FULL_PACKET};
use sojourn_engine::queue::Unit;
use sojourn_engine::units::{BitRate, Time};
use sojourn_input::fault;
use sojourn_input::problem::{Remedy, Warning};

/// All warnings. `modems` has those of the modems of each group of homes.
pub(super) fn before_run(
    spec: &PlantSpec,
    site: &Site,
    modems: &[Vec<Warning>],
    channel: Option<&UpstreamChannels>,
) -> Vec<Warning> {
    let mut warnings: Vec<_> = channel_warning(spec, site, channel).into_iter().collect();
    let of_modems = site.groups.iter().zip(modems);
    warnings
        .extend(of_modems.flat_map(|(group, all)| all.iter().map(|one| group.own(one.clone()))));
    warnings.extend(starving_bursts(spec, site));
    warnings.extend(unreachable_targets(spec, site, channel));
    warnings.extend(downstream_reserved_rates(spec, site));
    warnings
}

/// Warns if no modem uses the shared channel, or if more is reserved than it carries.
fn channel_warning(
    spec: &PlantSpec,
    site: &Site,
    channel: Option<&UpstreamChannels>,
) -> Option<Warning> {
    let Some(channel) = channel else {
        let is_default = *spec.upstream_channel == UpstreamChannel::default();
        return (!is_default).then(|| {
            fault!(IdleChannel, "upstream_channel" =>
                "upstream_channel has no effect: no modem is of kind shared_channel")
        });
    };
    let shared = site.groups.iter().filter(|g| g.upstream.modem == ModemSpec::SharedChannel);
    let reserved = shared.map(|group| {
        let flows = group.upstream.service_flows();
        f64::from(group.count) * flows.iter().map(|flow| flow.minimum_mbps).sum::<f64>()
    });
    overbooked(Direction::Up, reserved.sum(), channel.greatest_mbps())
}

/// The burst in bytes that lets a flow reach its sustained rate in Mbps: the grants of two MAPs may be
/// two intervals apart, and the bucket must hold what the rate brings until then, and a frame.
pub fn enough_burst(sustained_mbps: f64, map_interval: Time) -> u64 {
    let rate = BitRate::from_mbps(sustained_mbps);
    rate.bytes_in(map_interval.times(2)) as u64 + PEAK_BURST_BYTES
}

/// Warns of bursts that keep a flow on the shared channel below its rate.
fn starving_bursts(spec: &PlantSpec, site: &Site) -> Vec<Warning> {
    let shared = site.groups.iter().filter(|g| g.upstream.modem == ModemSpec::SharedChannel);
    let mut warnings = Vec::new();
    for group in shared {
        let Some(map_interval) = spec.map_interval(group.upstream) else { continue };
        let span = map_interval.times(2);
        for (name, flow) in group.upstream.flow_names().zip(group.upstream.service_flows()) {
            let enough = enough_burst(flow.sustained_mbps, map_interval);
            let burst_bytes = flow.terms().burst_bytes;
            if burst_bytes < enough {
                let key = format!("{}.burst_bytes", flow_path("upstream", name));
                let remedy = Remedy::of(&key, enough);
                warnings.push(group.own(fault!(BurstOnSharedChannel, &key, remedy =>
                    "{key} is {burst_bytes}: on the shared channel the service flow cannot reach {sustained_mbps} \
                     Mbps, since grants of two MAPs may be {span_ms:.1} ms apart; set {remedy:#} or more",
                    burst_bytes, sustained_mbps = flow.sustained_mbps, span_ms = span.ms_f64())));
            }
        }
    }
    warnings
}

/// Warns of targets below what request and grant take, which a queue cannot meet however short it is.
fn unreachable_targets(
    spec: &PlantSpec,
    site: &Site,
    channel: Option<&UpstreamChannels>,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for group in &site.groups {
        let Some(wait) = grant_wait(spec, group, channel) else { continue };
        warnings.extend(target_of_router(group, wait).map(|one| group.own(one)));
        for (name, flow) in group.upstream.flow_names().zip(group.upstream.service_flows()) {
            let rate = BitRate::from_mbps(flow.sustained_mbps);
            let Some((part, threshold)) = flow.queue.threshold(rate) else { continue };
            let wait_ms = wait.ms_f64();
            if is_unreachable(&threshold, rate, wait_ms) && flow.scheduling.is_best_effort() {
                let part = format!("{}.queue.{part}", flow_path("upstream", name));
                let key = format!("{part}.{}", threshold.key);
                let remedy = threshold.remedy(wait_ms).under(&part);
                warnings.push(group.own(fault!(TargetBelowGrant, &key, remedy =>
                    "{key} is {value}, so packets are to wait {value_ms:.1} ms at most, but request and grant \
                     alone take about {wait_ms:.1} ms, before an empty queue too: no packet that waits for a grant meets \
                     that; set {remedy:#} or more",
                    value = threshold.value, value_ms = threshold.ms, wait_ms)));
            }
        }
    }
    warnings
}

/// Is the threshold below this wait? Where a packet takes longer than what would do, it always waits for one, and a
/// higher target changes little.
fn is_unreachable(threshold: &Threshold, rate: BitRate, wait_ms: f64) -> bool {
    let is_slow =
        rate.time_for(FULL_PACKET).ms_f64() >= threshold.enough(wait_ms) / threshold.per_ms;
    threshold.ms < wait_ms && !is_slow
}

/// Warns of such a target in a router before the modem. Nothing waits for grants there, but the modem sends what has
/// come within one in a burst, whose acknowledgements let senders send bursts too.
fn target_of_router(group: &Group, wait: Time) -> Option<Warning> {
    let router = group.router.filter(|one| one.least_mbps() < group.upstream.sustained_mbps)?;
    let rate = BitRate::from_mbps(router.least_mbps());
    let (part, threshold) = router.queue.threshold(rate)?;
    let wait_ms = wait.ms_f64();
    is_unreachable(&threshold, rate, wait_ms).then(|| {
        let part = format!("router.upstream.queue.{part}");
        let key = format!("{part}.{}", threshold.key);
        let remedy = threshold.remedy(wait_ms).under(&part);
        fault!(TargetBelowGrant, &key, remedy =>
            "{key} is {value}, so packets are to wait {value_ms:.1} ms at most, but what a sender sends comes in \
             bursts, as request and grant of the modem take about {wait_ms:.1} ms: one upload alone leaves some of the \
             rate unused, several less of it; set {remedy:#} or more",
            value = threshold.value, value_ms = threshold.ms, wait_ms)
    })
}

/// About what a packet of these homes waits where nothing else does: for an opportunity to request and for the MAP that
/// grants it, half a MAP interval each, for what a request takes at least, and for its place in the grants of a MAP.
fn grant_wait(spec: &PlantSpec, group: &Group, channel: Option<&UpstreamChannels>) -> Option<Time> {
    let timing = match group.upstream.modem {
        ModemSpec::SingleQueue => {
            let plant = spec.timing(spec.cable.delay(group.distance_km));
            let interval = Time::from_secs_f64(group.upstream.mac.map_interval_ms / 1e3);
            Timing::new(&plant, interval, plant.spec.and_then(Specification::own_frame))
        }
        ModemSpec::SharedChannel => channel?.timing(),
        ModemSpec::TwoQueues { .. } | ModemSpec::Link => return None,
    };
    Some(timing.request_loop().delay + timing.map_interval())
}

/// Warns if more is reserved than the channel carries.
fn overbooked(direction: Direction, reserved_mbps: f64, most_mbps: f64) -> Option<Warning> {
    let direction = direction.stream();
    (reserved_mbps > most_mbps).then(|| {
        fault!(Overbooked, format!("{direction}.minimum_mbps") =>
            "the minimum_mbps of all {direction} service flows add up to {reserved_mbps}, but the channel carries \
             at most {most_mbps:.1} Mbps", reserved_mbps, most_mbps)
    })
}

/// Warns of minimum reserved rates that the scheduler of the shared channel cannot keep.
fn downstream_reserved_rates(spec: &PlantSpec, site: &Site) -> Option<Warning> {
    let cmts = spec.cmts?;
    let minimum_mbps = of_downstream_flows(&site.groups, Downstream::minimum_mbps);
    let is_kept =
        cmts.unit == Unit::ServiceFlow && cmts.queue.scheduler.parameters().keeps_reserved_rates();
    let reserved_mbps = if is_kept { minimum_mbps.iter().flatten().sum() } else { 0.0 };
    let most_mbps = cmts.carries_mbps(&[]);
    overbooked(Direction::Down, reserved_mbps, most_mbps)
}
