//! Scenario keys of upstream channels that modems bond in groups (`upstream_channel.bonded`).

use std::collections::BTreeMap;

use super::impairments::Noise;
use super::outages;
use super::parameters::{ModemSpec, PlantSpec};
use super::timing::Specification;
use super::upstream_channel::{BondedChannel, UpstreamChannel};
use crate::service::{Upstream, flow_path};
use sojourn_engine::units::Time;
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Faults};
use sojourn_input::words;

/// How long a modem may wait for a missing packet downstream (MULPI Annex B, from memory).
const RESEQUENCING_MS: f64 = 18.0;

/// Is a channel one of a bonding group? One that names none has all channels of the table.
pub fn is_bonded(group: &[String], name: &str) -> bool {
    group.is_empty() || group.iter().any(|one| one == name)
}

impl BondedChannel {
    /// The fixed times of its MAPs.
    pub(super) fn specification(&self, common: &Specification) -> Specification {
        let map_advance_us = self.map_advance_us.or(common.map_advance_us);
        Specification { map_advance_us, ..common.clone() }
    }
}

impl UpstreamChannel {
    /// How long the CMTS waits for a missing segment.
    pub(super) fn resequencing_ms(&self) -> f64 {
        self.resequencing_ms.unwrap_or(RESEQUENCING_MS)
    }

    /// A channel of the table as one that nothing else is bonded with.
    pub fn bonded_channel(&self, name: &str) -> Self {
        let own = &self.bonded[name];
        Self {
            channels: 1,
            bonded: BTreeMap::new(),
            resequencing_ms: None,
            phy: own.phy.clone().unwrap_or_else(|| self.phy.clone()),
            map_interval_ms: own.map_interval_ms.unwrap_or(self.map_interval_ms),
            ..self.clone()
        }
    }

    /// The channels on which a modem with this group sends.
    pub fn group<'a>(&'a self, named: &'a [String]) -> impl Iterator<Item = Self> + 'a {
        let names = self.bonded.keys().filter(|name| is_bonded(named, name));
        names.map(|name| self.bonded_channel(name))
    }

    /// Checks the table of channels.
    pub(super) fn check_bonded(&self) -> Faults {
        let mut faults = Faults::default();
        if self.bonded.is_empty() {
            if let Some(ms) = self.resequencing_ms {
                faults.add(fault!(NotAllowed, "resequencing_ms" =>
                    "found {ms} without bonded; allowed: only with a table of channels", ms));
            }
            return faults;
        }
        let default = Self::default();
        let alike = [
            ("channels", self.channels != default.channels),
            ("partial_service", !self.partial_service.is_empty()),
        ];
        for (key, is_given) in alike {
            if is_given {
                let instead =
                    if key == "channels" { "the table" } else { "the outages of its channels" };
                faults.add(fault!(NotAllowed, key =>
                    "found beside bonded; allowed: only without the table of channels; use {instead}", instead));
            }
        }
        for (name, own) in &self.bonded {
            let path = words::join("bonded", name);
            faults.add_under(&path, own.noise.check().under("noise"));
            faults.add_under(&path, outages::check("outages", &own.outages));
            faults.add_under(&path, self.bonded_channel(name).check());
        }
        faults
    }
}

impl PlantSpec<'_> {
    /// Checks the group of a home's channels against the table.
    pub fn check_group(&self, up: &Upstream) -> Faults {
        let mut faults = Faults::default();
        let table = &self.upstream_channel.bonded;
        let is_shared = up.modem == ModemSpec::SharedChannel;
        if !up.bonding_group.is_empty() && (table.is_empty() || !is_shared) {
            faults.add(fault!(NotAllowed, "upstream.bonding_group" =>
                "found without upstream_channel.bonded and a modem of kind shared_channel; allowed: only with both"));
            return faults;
        }
        if table.is_empty() || !is_shared {
            return faults;
        }
        for (number, name) in up.bonding_group.iter().enumerate() {
            let path = format!("upstream.bonding_group.{number}");
            if !table.contains_key(name) {
                let known = table.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                faults.add(Fault::found(
                    &path,
                    format!("{name:?}"),
                    format!("channels of upstream_channel.bonded: {known}"),
                ));
            } else if up.bonding_group[..number].contains(name) {
                faults.add(Fault::found(&path, format!("{name:?} again"), "each channel once"));
            }
        }
        for (name, flow) in up.flow_names().zip(up.service_flows()) {
            if !flow.scheduling.is_best_effort() {
                let path = words::join(&flow_path("upstream", name), "scheduling");
                faults.add(fault!(NotAllowed, &path =>
                    "found unsolicited grants or polls with upstream_channel.bonded; allowed: best_effort"));
            }
        }
        if let Some(bits) = up.profile_bits {
            faults.add(fault!(NotAllowed, "upstream.profile_bits" =>
                "found {bits} with upstream_channel.bonded; allowed: only without it; use the phy of its channels", bits));
        }
        faults
    }

    /// Checks the table of channels against the plant and the upstream and distance of all groups of homes.
    pub fn check_table<'b>(
        &self,
        homes: impl Iterator<Item = (&'b Upstream, Option<f64>)>,
    ) -> Faults {
        let mut faults = Faults::default();
        let table = &self.upstream_channel.bonded;
        if table.is_empty() {
            return faults;
        }
        if self.cable.specification().is_none() {
            faults.add(fault!(NotAllowed, "upstream_channel.bonded" =>
                "found with cable.timing.kind documents; allowed: only with specification"));
            return faults;
        }
        if self.cable.upstream_noise != Noise::default() {
            faults.add(fault!(NotAllowed, "cable.upstream_noise" =>
                "found with upstream_channel.bonded; allowed: only without it; use the noise of its channels"));
        }
        let on_it: Vec<_> = homes.filter(|(up, _)| up.modem == ModemSpec::SharedChannel).collect();
        let farthest = on_it.iter().map(|(_, km)| self.cable.delay(*km)).max();
        for name in table.keys() {
            let path = words::join("upstream_channel.bonded", name);
            let uses = |group: &[String]| {
                let is_wrong = group.iter().any(|other| !table.contains_key(other));
                is_wrong || group.is_empty() || group.contains(name)
            };
            if !on_it.is_empty() && !on_it.iter().any(|(up, _)| uses(&up.bonding_group)) {
                faults.add(fault!(NotAllowed, &path =>
                    "found a channel that no modem uses; allowed: channels of a bonding_group"));
            }
            let Some((set, least)) = farthest.and_then(|far| self.late_channel(name, far)) else {
                continue;
            };
            let allowed = format!(
                "{least:.1} or more, the sum of the fixed times and of the longest cable, there and back"
            );
            faults.add(Fault::found(words::join(&path, "map_advance_us"), set, &allowed));
        }
        faults
    }

    /// The lookahead that is set for a channel, in us, and the least one, if that is more.
    fn late_channel(&self, name: &str, farthest: Time) -> Option<(f64, f64)> {
        let set_us = self.upstream_channel.bonded[name].map_advance_us?;
        let spec = self.upstream_channel.bonded_channel(name);
        let frame = super::framing::Framing::of(&spec).frame();
        let least: Time = self.timing(farthest).least_advance(frame);
        let least_us = least.secs_f64() * 1e6;
        (set_us + 1e-6 < least_us).then_some((set_us, least_us))
    }
}
