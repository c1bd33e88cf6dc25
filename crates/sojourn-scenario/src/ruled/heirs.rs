//! Tables of the scenario that others take over, key by key: the services of homes, and TCP options of traffic entries.

use std::collections::BTreeSet;

use serde_json::Value;
use sojourn_access::Group;
use sojourn_access::docsis::ModemSpec;

use super::{of, path_of};
use crate::schema::Scenario;
use crate::traffic::Entry;

/// The scenario's TCP options, and those of an entry.
pub(super) const TCP: &str = "tcp";

/// The option that datagrams heed too.
const OF_ALL: &str = "ip";

/// A table of the scenario, and who takes it over.
pub(super) struct Shared {
    pub base: &'static str,
    pub heirs: Vec<Heir>,
    /// Does the run read the scenario's own table, beside those of the heirs?
    pub is_read: bool,
}

/// A table that takes over keys of another.
pub(super) struct Heir {
    /// The names in its path.
    pub parts: Vec<String>,
    /// The keys that it sets itself, where they are known; else those with other values.
    own: Option<Value>,
}

/// The scenario as a run reads it, with what entries take over of its TCP options, and all tables that are taken over.
pub(super) fn inherited(root: &Value, scenario: &Scenario) -> (Value, Vec<Shared>) {
    let mut whole = root.clone();
    let homes = read_homes(scenario);
    if let Some(all) = whole["homes"].as_object_mut() {
        all.retain(|name, _| homes.contains(&&**name));
    }
    let services = ["upstream", "downstream", "router"].map(|base| {
        let own = homes.iter().filter(|name| root["homes"][**name][base].is_object());
        let heirs: Vec<_> = own
            .map(|name| Heir { parts: ["homes", name, base].map(str::to_owned).into(), own: None })
            .collect();
        let is_read = heirs.is_empty() || heirs.len() < homes.len();
        Shared { base, heirs, is_read }
    });
    let with_tcp = senders(scenario).filter(|(_, entry)| entry.app.parameters().tcp().is_some());
    let heirs = with_tcp.map(|(name, entry)| {
        let config = entry.app.tcp_config(&scenario.tcp, scenario.dialect);
        let own = root["traffic"][name][TCP].clone();
        let mut merged = root[TCP].clone();
        let set = own.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        set.for_each(|(key, value)| merged[key] = value.clone());
        for (key, value) in [
            ("transport", serde_json::to_value(config.transport)),
            ("dialect", serde_json::to_value(config.dialect)),
            ("ack_every_segments", serde_json::to_value(config.ack_every)),
            ("ecn", serde_json::to_value(config.ecn)),
        ] {
            merged[key] = value.unwrap_or_default();
        }
        let mut own = own;
        // The protocol of its pages chooses the transport.
        if entry.app.parameters().transport().is_some() {
            own["transport"] = merged["transport"].clone();
        }
        whole["traffic"][name][TCP] = merged;
        Heir { parts: ["traffic", name, TCP].map(str::to_owned).into(), own: Some(own) }
    });
    let tcp = Shared { base: TCP, heirs: heirs.collect(), is_read: false };
    (whole, services.into_iter().chain([tcp]).collect())
}

/// Entries that start within the run.
pub(super) fn senders(scenario: &Scenario) -> impl Iterator<Item = (&String, &Entry)> {
    let is_late = |start_s: f64| start_s > scenario.duration_s;
    scenario.traffic.iter().filter(move |(_, entry)| !entry.app.start_s().is_some_and(is_late))
}

/// Groups of homes whose service matters: those with traffic, or all where homes share a channel.
fn read_homes(scenario: &Scenario) -> Vec<&str> {
    let used: BTreeSet<usize> =
        senders(scenario).map(|(_, entry)| scenario.group_of(entry)).collect();
    let shares = |group: &Group<'_>| group.upstream.modem == ModemSpec::SharedChannel;
    let is_shared = scenario.cmts.is_some() || scenario.groups().any(|group| shares(&group));
    let names = scenario.homes.keys().map(String::as_str).enumerate();
    names.filter(|(number, _)| is_shared || used.contains(number)).map(|(_, name)| name).collect()
}

impl Heir {
    /// Does it take over this key of the scenario's table?
    pub(super) fn takes_over(&self, base: &str, rest: &[String], whole: &Value) -> bool {
        match (&self.own, rest) {
            (Some(own), [key, ..]) => of_value(own, key).is_null(),
            _ => {
                let theirs = at(whole, &self.parts).and_then(|table| at(table, rest));
                at(&whole[base], rest).is_some_and(|value| Some(value) == theirs)
            }
        }
    }
}

impl Shared {
    /// The paths of the tables that a run reads of it.
    pub(super) fn read(&self) -> Vec<Vec<String>> {
        let own = self.is_read.then(|| vec![self.base.to_owned()]);
        own.into_iter().chain(self.heirs.iter().map(|heir| heir.parts.clone())).collect()
    }

    /// What follows the path of an heir in that of a key, if the heir takes the key over.
    pub(super) fn taken<'a>(&self, parts: &'a [String], whole: &Value) -> Option<&'a [String]> {
        let heir = self.heirs.iter().find(|heir| parts.starts_with(&heir.parts))?;
        let rest = &parts[heir.parts.len()..];
        (!rest.is_empty() && heir.takes_over(self.base, rest, whole)).then_some(rest)
    }

    /// The key of the scenario that gives this one its value, if another does: that of the table that it takes over, or
    /// the one of the same name for all.
    pub(super) fn origin(&self, parts: &[String], whole: &Value) -> Option<Vec<String>> {
        let rest = self.taken(parts, whole)?;
        let of_base = [&[self.base.to_owned()], rest].concat();
        let is_set = |path: &[String]| at(whole, path).is_some_and(|value| !value.is_null());
        if is_set(&of_base) {
            return Some(of_base);
        }
        is_set(rest).then(|| rest.to_vec())
    }

    /// Keys of the scenario's table that every heir overrides, with the first that does, where a run does not read the
    /// table itself.
    pub(super) fn overridden(&self, whole: &Value) -> Vec<(Vec<String>, String)> {
        let mut found = Vec::new();
        if !self.is_read && whole[self.base].is_object() {
            self.overridden_below(&[], whole, &mut found);
        }
        found
    }

    fn overridden_below(
        &self,
        rest: &[String],
        whole: &Value,
        found: &mut Vec<(Vec<String>, String)>,
    ) {
        let Some(table) = at(&whole[self.base], rest).and_then(Value::as_object) else { return };
        for (key, value) in table.iter().filter(|(_, value)| !value.is_null()) {
            let rest = [rest, std::slice::from_ref(key)].concat();
            if self.heirs.iter().any(|heir| heir.takes_over(self.base, &rest, whole))
                || self.base == TCP && key == OF_ALL
            {
                continue;
            }
            let theirs = |heir: &Heir| [&heir.parts[..], &rest].concat();
            let is_alike = |heir: &Heir| {
                at(whole, &theirs(heir))
                    .is_some_and(|own| of_value(own, "kind") == of_value(value, "kind"))
            };
            if value.is_object() && self.base != TCP && self.heirs.iter().any(is_alike) {
                self.overridden_below(&rest, whole, found);
            } else {
                let by = self.heirs.first().map_or_else(String::new, |heir| path_of(&theirs(heir)));
                found.push((rest, by));
            }
        }
    }
}

/// A value by the names in its path.
pub(super) fn at<'a>(value: &'a Value, parts: &[String]) -> Option<&'a Value> {
    parts.iter().try_fold(value, |value, part| match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        table => table.get(part),
    })
}

fn of_value<'a>(value: &'a Value, key: &str) -> &'a Value {
    value.as_object().map_or(&Value::Null, |table| of(table, key))
}
