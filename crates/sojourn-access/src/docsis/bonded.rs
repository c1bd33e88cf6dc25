//! Scenario keys of channels that modems bond in groups (`upstream_channel.bonded`, `cmts.bonded`).

use std::collections::{BTreeMap, BTreeSet};

use super::bonding::{RESEQUENCING_MS, is_bonded};
use super::impairments::Noise;
use super::outages;
use super::parameters::{ModemSpec, PlantSpec};
use super::ranging_parameters::RangingSpec;
use super::timing::Specification;
use super::upstream_channel::{BondedChannel, UpstreamChannel};
use crate::service::{Downstream, Upstream, flow_path};
use sojourn_engine::units::Time;
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Faults};
use sojourn_input::words;

/// Different bonding groups that homes may have in a direction.
const MOST_GROUPS: usize = 8;
/// Channels that a modem may receive on.
const MOST_CHANNELS: u32 = 64;

/// The paths of a direction's groups and of its table.
type Paths = (&'static str, &'static str);
const UP: Paths = ("upstream.bonding_group", "upstream_channel.bonded");
const DOWN: Paths = ("downstream.bonding_group", "cmts.bonded");

/// The names of a group are those of channels, each once.
fn check_names<T>(paths: Paths, group: &[String], table: &BTreeMap<String, T>) -> Faults {
    let mut faults = Faults::default();
    for (number, name) in group.iter().enumerate() {
        let path = format!("{}.{number}", paths.0);
        if !table.contains_key(name) {
            let known = table.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let allowed = format!("channels of {}: {known}", paths.1);
            faults.add(Fault::found(&path, format!("{name:?}"), allowed));
        } else if group[..number].contains(name) {
            faults.add(Fault::found(&path, format!("{name:?} again"), "each channel once"));
        }
    }
    faults
}

/// Each channel is of a group, and there are not too many different groups.
fn check_use<T>(paths: Paths, table: &BTreeMap<String, T>, groups: &[&[String]]) -> Faults {
    let mut faults = Faults::default();
    let is_wrong = |group: &[String]| group.iter().any(|name| !table.contains_key(name));
    if groups.is_empty() || groups.iter().any(|group| is_wrong(group)) {
        return faults;
    }
    for name in table.keys() {
        if !groups.iter().any(|group| is_bonded(group, name)) {
            faults.add(fault!(NotAllowed, words::join(paths.1, name) =>
                "found a channel that no modem uses; allowed: channels of a bonding_group"));
        }
    }
    let members = |group: &&[String]| -> Vec<bool> {
        table.keys().map(|name| is_bonded(group, name)).collect()
    };
    let different: BTreeSet<Vec<bool>> = groups.iter().map(members).collect();
    if different.len() > MOST_GROUPS {
        let found = format!("{} different bonding groups", different.len());
        faults.add(Fault::found(paths.1, found, format!("{MOST_GROUPS} at most")));
    }
    faults
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
            ranging: None,
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
            if self.ranging.is_some() {
                faults.add(fault!(NotAllowed, "ranging" =>
                    "found without bonded; allowed: only with a table of channels, of which there may be one"));
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
        let ranging = self.ranging.iter().flat_map(RangingSpec::check);
        faults.add_under("ranging", ranging.collect::<Faults>());
        for (name, own) in &self.bonded {
            let path = words::join("bonded", name);
            faults.add_under(&path, own.check_common());
            faults.add_under(&path, outages::check("signal_losses", &own.signal_losses));
            faults.add_under(&path, self.bonded_channel(name).check());
        }
        faults
    }
}

impl PlantSpec<'_> {
    /// Checks the groups of a home's channels against the tables.
    pub fn check_group(&self, up: &Upstream, down: &Downstream) -> Faults {
        let mut faults = Faults::default();
        let table = &self.upstream_channel.bonded;
        let is_shared = up.modem == ModemSpec::SharedChannel;
        faults.add(self.check_downstream_group(down));
        if !up.bonding_group.is_empty() && (table.is_empty() || !is_shared) {
            faults.add(fault!(NotAllowed, "upstream.bonding_group" =>
                "found without upstream_channel.bonded and a modem of kind shared_channel; allowed: only with both"));
            return faults;
        }
        if table.is_empty() || !is_shared {
            return faults;
        }
        faults.add(check_names(UP, &up.bonding_group, table));
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

    fn check_downstream_group(&self, down: &Downstream) -> Faults {
        let mut faults = Faults::default();
        let table = self.cmts.map(|cmts| &cmts.bonded).filter(|table| !table.is_empty());
        let Some(table) = table else {
            if !down.bonding_group.is_empty() {
                faults.add(fault!(NotAllowed, "downstream.bonding_group" =>
                    "found without cmts.bonded; allowed: only with it"));
            }
            return faults;
        };
        faults.add(check_names(DOWN, &down.bonding_group, table));
        if let Some(bits) = down.profile_bits {
            faults.add(fault!(NotAllowed, "downstream.profile_bits" =>
                "found {bits} with cmts.bonded; allowed: only without it; use the modulation_bits of its channels",
                bits));
        }
        faults
    }

    /// Checks the table of downstream channels against the plant and the downstream of all groups of homes.
    pub fn check_downstream_table<'b>(
        &self,
        homes: impl Iterator<Item = &'b Downstream>,
    ) -> Faults {
        let mut faults = Faults::default();
        let Some(cmts) = self.cmts else { return faults };
        if cmts.bonded.is_empty() {
            if let Some(ms) = cmts.resequencing_ms {
                faults.add(fault!(NotAllowed, "cmts.resequencing_ms" =>
                    "found {ms} without bonded; allowed: only with a table of channels", ms));
            }
            return faults;
        }
        for (name, own) in &cmts.bonded {
            faults.add_under(&words::join("cmts.bonded", name), own.check_common());
        }
        let channels: u32 = cmts.bonded.keys().map(|name| cmts.bonded_channel(name).count()).sum();
        if channels > MOST_CHANNELS {
            let found = format!("{channels} channels");
            faults.add(Fault::found("cmts.bonded", found, format!("{MOST_CHANNELS} at most")));
        }
        if self.cable.downstream_noise != Noise::default() {
            faults.add(fault!(NotAllowed, "cable.downstream_noise" =>
                "found with cmts.bonded; allowed: only without it; use the noise of its channels"));
        }
        let groups: Vec<&[String]> = homes.map(|down| down.bonding_group.as_slice()).collect();
        faults.add(check_use(DOWN, &cmts.bonded, &groups));
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
        let groups: Vec<&[String]> =
            on_it.iter().map(|(up, _)| up.bonding_group.as_slice()).collect();
        faults.add(check_use(UP, table, &groups));
        for name in table.keys() {
            let path = words::join(UP.1, name);
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
