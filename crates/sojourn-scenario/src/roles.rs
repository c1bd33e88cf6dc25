//! What keys stand for in a comparison, as the schema marks them (`x-role`): a load, the line, or a choice of the
//! household or its operator. A mark holds for all keys below it that have none of their own.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::node::{Node, definition};
use super::schema::Scenario;
use sojourn_input::words;

/// The keyword of the mark.
const MARK: &str = "x-role";

/// Digests of a scenario's keys and values, by what they stand for: equal digests are equal settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// What users want of the network. Other loads are no answer to the same question.
    pub load: u64,
    /// What carries it.
    pub line: u64,
    /// What one may choose.
    pub choice: u64,
}

impl Roles {
    /// The roles of a scenario's keys.
    pub fn of(scenario: &Scenario) -> Self {
        let mut digests = ["load", "line", "choice"].map(|role| (role, DefaultHasher::default()));
        for RoleKey { role, path, value } in keys(scenario) {
            let digest = digests.iter_mut().find(|(known, _)| *known == role);
            digest.into_iter().for_each(|(_, digest)| format!("{path}={value}").hash(digest));
        }
        let [load, line, choice] = digests.map(|(_, digest)| digest.finish());
        Self { load, line, choice }
    }
}

/// A key and what it stands for.
pub(crate) struct RoleKey {
    pub role: &'static str,
    pub path: String,
    pub value: Value,
}

/// All keys of a scenario, with what its groups of homes may leave out.
pub(crate) fn keys(scenario: &Scenario) -> Vec<RoleKey> {
    let mut found = Vec::new();
    let value = serde_json::to_value(scenario.with_all_homes()).unwrap_or_default();
    add_table(value, &Node::root(), "note", "", &mut found);
    found
}

/// Adds what a table has; `role` is that of its keys without a mark.
fn add_table(value: Value, node: &Node, role: &'static str, path: &str, found: &mut Vec<RoleKey>) {
    let Value::Object(table) = value else { return };
    for (key, value) in table {
        let schema = node.below(&key).unwrap_or(&Value::Null);
        add(value, schema, role, words::join(path, &key), found);
    }
}

fn add(
    value: Value,
    schema: &'static Value,
    role: &'static str,
    path: String,
    found: &mut Vec<RoleKey>,
) {
    let node = Node::of(schema, &value);
    let definition = definition(schema).map(|(_, definition)| definition);
    let marked = [node.as_ref().map(|node| node.schema), definition, Some(schema)];
    let role = marked.into_iter().flatten().find_map(mark).unwrap_or(role);
    match node {
        Some(node) if value.is_object() => add_table(value, &node, role, &path, found),
        _ => found.push(RoleKey { role, path, value }),
    }
}

/// The mark of a part of the schema.
fn mark(schema: &Value) -> Option<&str> {
    schema[MARK].as_str()
}

#[cfg(test)]
mod tests {
    use super::super::node::SCHEMA;
    use super::*;
    use crate::load;
    use sojourn_input::shape::kinds;
    use std::collections::BTreeSet;

    /// Every key has a role: those at the top are marked, and the others are below them.
    #[test]
    fn each_key_at_the_top_has_a_role_and_no_mark_is_another_word() {
        for (key, schema) in SCHEMA["properties"].as_object().unwrap() {
            let mark = schema.get(MARK).and_then(Value::as_str);
            assert!(mark.is_some(), "{key} has no {MARK}");
        }
        fn marks(schema: &Value, found: &mut BTreeSet<String>) {
            match schema {
                Value::Object(table) => {
                    found.extend(table.get(MARK).map(|mark| mark.as_str().unwrap().to_owned()));
                    table.values().for_each(|inner| marks(inner, found));
                }
                Value::Array(items) => items.iter().for_each(|inner| marks(inner, found)),
                _ => {}
            }
        }
        let mut found = BTreeSet::new();
        marks(&SCHEMA, &mut found);
        let words = ["choice", "line", "load", "note"].map(str::to_owned);
        assert_eq!(found, BTreeSet::from(words));
    }

    /// Adds the tables that a scenario may have or not, by their paths; `*` is any name.
    fn add_optional(schema: &'static Value, path: &str, found: &mut BTreeSet<String>) {
        for (key, part) in schema["properties"].as_object().into_iter().flatten() {
            let of_names = &part["additionalProperties"];
            let (part, path, is_optional) = match of_names.is_object() {
                true => (of_names, format!("{path}{key}.*"), true),
                false => (part, format!("{path}{key}"), part["anyOf"].is_array()),
            };
            let Some((_, definition)) = definition(part) else { continue };
            let is_table = definition["properties"].is_object() || kinds(definition).is_some();
            if is_optional && is_table {
                found.insert(path.clone());
            }
            add_optional(definition, &format!("{path}."), found);
        }
    }

    /// A variant may add a table, or drop it: that is of the role of the table and of its keys, and of no other.
    #[test]
    fn a_table_that_is_added_is_of_its_role() {
        let base = "
            duration_s = 10
            upstream.sustained_mbps = 5
            upstream.burst_bytes = 9000
            downstream.sustained_mbps = 20
            servers.near.delay_ms = 9
            traffic.up = { kind = 'transfer', server = 'near', file_bytes = 9000 }
        ";
        let of = |added: &str| {
            let variants = load(&format!("{base}\n{added}"), "home.toml", &[]).expect(added);
            let Roles { load, line, choice } = Roles::of(&variants[0].scenario);
            [("load", load), ("line", line), ("choice", choice)]
        };
        let steps = "steps = [{ for_s = 1, mbps = 4 }]";
        let flow = "{ sustained_mbps = 1, burst_bytes = 9000, match = [{ traffic = 'up' }] }";
        let shaper = "rate_mbps = 4";
        let added = [
            ("cable.timing", "cable.timing.kind = 'documents'".to_owned(), "line"),
            (
                "upstream.capacity",
                format!("upstream.modem.kind = 'link'\nupstream.capacity.{steps}"),
                "line choice",
            ),
            (
                "upstream.congestion",
                "upstream.congestion.levels_mbps = [1, 2, 3, 4]".to_owned(),
                "line",
            ),
            ("upstream.flows.*", format!("upstream.flows.a = {flow}"), "choice"),
            ("downstream.capacity", format!("downstream.capacity.{steps}"), "line"),
            ("downstream.flows.*", format!("downstream.flows.a = {flow}"), "choice"),
            ("cmts", "cmts = {}".to_owned(), "line choice"),
            (
                "provisioning.service_classes.*",
                "provisioning.service_classes.a.max_sustained_rate = 1".to_owned(),
                "line",
            ),
            (
                "provisioning.aggregate_profiles.*",
                "provisioning.aggregate_profiles.a.max_sustained_rate = 1".to_owned(),
                "line",
            ),
            ("homes.*", "homes.home = {}".to_owned(), ""),
            ("homes.*", "homes.home.router.upstream.rate_mbps = 4".to_owned(), "choice"),
            ("homes.*", "homes.home.upstream.queue.law.kind = 'codel'".to_owned(), "choice"),
            ("homes.*", "homes.home.distance_km = 3".to_owned(), "line"),
            ("homes.*.activity", "homes.home.activity.time_constant_s = 9".to_owned(), "load"),
            ("router", "router = {}".to_owned(), ""),
            ("router.controller", "router.controller.kind = 'autorate'".to_owned(), "choice"),
            ("router.upstream", format!("router.upstream.{shaper}"), "choice"),
            ("router.upstream.capacity", format!("router.upstream.capacity.{steps}"), "choice"),
            ("router.downstream", format!("router.downstream.{shaper}"), "choice"),
            ("router.downstream.capacity", format!("router.downstream.capacity.{steps}"), "choice"),
            ("core.*", format!("core.x.upstream.{shaper}"), "line choice"),
            ("core.*.upstream", format!("core.x.upstream.{shaper}"), "line choice"),
            (
                "core.*.upstream.capacity",
                format!("core.x.upstream.capacity.{steps}"),
                "line choice",
            ),
            ("core.*.downstream", format!("core.x.downstream.{shaper}"), "line choice"),
            (
                "core.*.downstream.capacity",
                format!("core.x.downstream.capacity.{steps}"),
                "line choice",
            ),
            (
                "upstream_channel.bonded.*",
                "upstream_channel.bonded.a.extra_delay_ms = 1".to_owned(),
                "line choice",
            ),
            (
                "upstream_channel.bonded.*.phy",
                "upstream_channel.bonded.a.phy.kind = 'ofdma'".to_owned(),
                "line choice",
            ),
            (
                "upstream_channel.ranging",
                "upstream_channel.bonded.a.extra_delay_ms = 1\nupstream_channel.ranging.interval_s = 9"
                    .to_owned(),
                "line choice",
            ),
            ("cmts.bonded.*", "cmts.bonded.a.extra_delay_ms = 1".to_owned(), "line choice"),
            (
                "cmts.bonded.*.channel",
                "cmts.bonded.a.channel.kind = 'ofdm'".to_owned(),
                "line choice",
            ),
            ("servers.*", "servers.far.delay_ms = 9".to_owned(), "line"),
            ("servers.*.queue", "servers.near.queue.limit_packets = 9".to_owned(), "choice"),
            ("tcp.congestion_control", "tcp.congestion_control.kind = 'reno'".to_owned(), "choice"),
            ("traffic.*", "traffic.g.kind = 'torrent'".to_owned(), "load line choice"),
        ];
        let found = added.each_ref().map(|(_, text, _)| {
            let changed =
                of("").into_iter().zip(of(text)).filter(|(before, after)| before != after);
            changed.map(|((role, _), _)| role).collect::<Vec<&str>>().join(" ")
        });
        let differ = added.iter().zip(&found).filter(|((.., roles), found)| roles != found);
        assert_eq!(differ.collect::<Vec<_>>(), []);
        let mut optional = BTreeSet::new();
        add_optional(&SCHEMA, "", &mut optional);
        let tried: BTreeSet<String> = added.iter().map(|(path, ..)| (*path).to_owned()).collect();
        assert_eq!(tried, optional);
    }

    #[test]
    fn a_change_is_of_the_role_of_its_key() {
        let text = "
            duration_s = 10
            # The burst's default follows the MAP interval.
            upstream = { sustained_mbps = 5, burst_bytes = 9000 }
            downstream = { sustained_mbps = 20 }
            servers.near.delay_ms = 9
            homes.ours.count = 2
            traffic.up = { kind = 'transfer', server = 'near' }
            traffic.t = { kind = 'torrent' }
        ";
        let of = |set: &str| {
            let sets: Vec<String> = if set.is_empty() { vec![] } else { vec![set.to_owned()] };
            Roles::of(&load(text, "home.toml", &sets).unwrap()[0].scenario)
        };
        let before = of("");
        for (set, want) in [
            ("duration_s=20", "load"),
            ("homes.ours.count=3", "load"),
            ("traffic.up.connections=4", "load"),
            ("upstream.sustained_mbps=6", "line"),
            ("homes.ours.upstream.sustained_mbps=6", "line"),
            ("servers.near.delay_ms=10", "line"),
            ("upstream.stalls=[{start_s=1,length_s=1}]", "line"),
            ("upstream.queue.law.kind=codel", "choice"),
            ("homes.ours.downstream.queue.law.kind=pie", "choice"),
            ("servers.near.queue.limit_packets=10", "choice"),
            ("upstream.buffer.target_bytes=50000", "choice"),
            ("upstream.mac.map_interval_ms=1", "choice"),
            ("router.upstream.rate_mbps=4", "choice"),
            ("homes.ours.router.upstream.rate_mbps=4", "choice"),
            ("traffic.up.tcp.congestion_control.kind=reno", "choice"),
            ("traffic.t.limit_mbps=1", "choice"),
            ("tcp.ecn=classic", "choice"),
            ("seed=2", "note"),
            ("metrics.connections=1", "note"),
        ] {
            let after = of(set);
            let changed = [
                (after.load != before.load, "load"),
                (after.line != before.line, "line"),
                (after.choice != before.choice, "choice"),
            ];
            let changed: Vec<_> = changed.iter().filter(|(is, _)| *is).map(|(_, r)| *r).collect();
            let want = if want == "note" { vec![] } else { vec![want] };
            assert_eq!(changed, want, "{set}");
        }
    }
}
