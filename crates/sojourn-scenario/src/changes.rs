//! Defaults that are others than in the last release, and which of them a scenario relies on.
//!
//! The table here is the only one: `sojourn validate`, `sojourn.changes` and the changelog show it. To add a
//! change is to add a line, with its condition.

use serde_json::Value;

use sojourn_input::problem::{Code, Remedy, Warning};
use sojourn_input::{text, words};

/// The release with the former defaults.
pub const SINCE: &str = "0.2.0";

/// A default that is another one now.
#[derive(Debug)]
pub struct Change {
    /// The key, where `*` is any name and `**` any path.
    pub key: &'static str,
    /// Where it has the default.
    pub condition: &'static str,
    /// The former default.
    pub before: &'static str,
    /// The default now.
    pub now: &'static str,
    /// What gives the former default back, as TOML in the key's table.
    pub restore: &'static str,
    /// Why it changed.
    pub why: &'static str,
    /// Does a table of a scenario that lacks the key have the default?
    applies: fn(&Value, &Value) -> bool,
}

macro_rules! changes {
    ($($key:literal, $condition:literal, $applies:expr, $before:literal => $now:literal, $restore:literal, $why:literal;)*) => {
        /// All of them.
        pub static CHANGES: &[Change] = &[$(Change {
            key: $key,
            condition: $condition,
            before: $before,
            now: $now,
            restore: $restore,
            why: $why,
            applies: $applies,
        }),*];
    };
}

#[rustfmt::skip]
changes! {
    "traffic.*.direction", "`stream` with purpose `game` or `voice`", |_, entry| is(entry, "kind", &["stream"]) && is(entry, "purpose", &["game", "voice"]),
        r#""up""# => r#""both""#, r#"direction = "up""#, "users notice what comes back";
    "traffic.*.direction", "`replay` of a capture with addresses", |_, entry| is(entry, "kind", &["replay"]) && !has(entry, "home_address"),
        r#""up""# => "that of each packet, by `home_address`", r#"direction = "up""#, "captures hold both directions";
    "traffic.*.ladder", "`video` without `ladder_mbps`", |_, entry| is(entry, "kind", &["video"]) && !has(entry, "ladder_mbps"),
        r#""hong2015""# => r#""apple_hls""#, r#"ladder = "hong2015""#, "videos of today have up to 16.8 Mbps";
    "upstream_channel.request_opportunities", "a modem of kind `shared_channel`", |scenario, _| modems(scenario, "shared_channel") > 0,
        "8" => "all that grants leave", "request_opportunities = 8", "a CMTS gives idle space to requests";
    "upstream_channel.backoff_start", "without `request_opportunities` and `backoff_end`", |scenario, channel| modems(scenario, "shared_channel") > 0 && !names_region(channel),
        "2" => "the whole request region", "backoff_start = 2", "the window follows the region";
    "upstream_channel.backoff_end", "without `request_opportunities` and `backoff_start`", |scenario, channel| modems(scenario, "shared_channel") > 0 && !names_region(channel),
        "8" => "the whole request region", "backoff_end = 8", "the window follows the region";
    "upstream_channel.grant_place", "two modems or more of kind `shared_channel`", |scenario, _| modems(scenario, "shared_channel") > 1,
        r#""uniform""# => r#""start""#, r#"grant_place = "uniform""#, "measured CMTSs pack grants";
    "**.scheduler.rate_estimate", "`low_latency`", |_, scheduler| is(scheduler, "kind", &["low_latency"]),
        r#""raw""# => r#""mean""#, r#"rate_estimate = "raw""#, "a swinging estimate keeps the classic flow from its target";
    "servers.*.host_jitter_us", "`upstream.modem.kind = \"link\"` in dialect `linux` or `rfc`", |scenario, _| modems(scenario, "link") > 0 && !is(scenario, "dialect", &["ns2"]),
        "0" => "50", "host_jitter_us = 0", "hosts are not clocked to the picosecond, and ties decided shares";
    "tcp.interrupt_interval_us", "downloads and uploads in dialect `linux`", |scenario, _| has_tcp(scenario) && !is(scenario, "dialect", &["ns2", "rfc"]),
        "0" => "250", "interrupt_interval_us = 0", "hosts merge what one interrupt brings, and acknowledge it once";
    "clock_drift_ppm", "dialect `linux` or `rfc`", |scenario, _| !is(scenario, "dialect", &["ns2"]),
        "0" => "50", "clock_drift_ppm = 0", "clocks are not alike, and a game kept its place within the MAP interval";
}

fn is(table: &Value, key: &str, values: &[&str]) -> bool {
    table[key].as_str().is_some_and(|value| values.contains(&value))
}

fn has(table: &Value, key: &str) -> bool {
    table.get(key).is_some()
}

/// How many modems are of a kind? A group of homes has the modem of all, unless it names one.
fn modems(scenario: &Value, kind: &str) -> u64 {
    let has_it = |home: &Value| {
        let found =
            [home, scenario].into_iter().find_map(|of| of["upstream"]["modem"]["kind"].as_str());
        found == Some(kind)
    };
    let Some(groups) = scenario["homes"].as_object() else { return has_it(scenario).into() };
    let count = |group: &Value| group["count"].as_u64().unwrap_or(1);
    groups.values().filter(|group| has_it(group)).map(count).sum()
}

/// Does anything acknowledge?
fn has_tcp(scenario: &Value) -> bool {
    let mut entries = scenario["traffic"].as_object().into_iter().flatten();
    entries.any(|(_, entry)| !is(entry, "kind", &["stream", "replay", "video_call", "cloud_game"]))
}

/// Does it name one of the keys that keep the others of the request region at their former defaults?
fn names_region(channel: &Value) -> bool {
    ["request_opportunities", "backoff_start", "backoff_end"].iter().any(|key| has(channel, key))
}

/// A changed default that a scenario relies on.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The change.
    pub change: &'static Change,
    /// The key in the scenario.
    pub path: String,
}

impl Changed {
    /// What is said of it.
    pub fn warning(&self) -> Warning {
        let (Change { now, restore, .. }, path) = (self.change, &self.path);
        let (key, value) = restore.split_once(" = ").expect("a test holds them to settings");
        let value = text::value(value, key).expect("a test holds them to TOML");
        let table = path.rsplit_once('.').map_or("", |(table, _)| table);
        let remedy = Remedy::of(key, value);
        let text = format!("{path}: default is now {now}; {remedy} restores {SINCE}");
        let warning = Warning::of_code(Code::ChangedDefault, path, text).with("now", now);
        warning.remedied(remedy.under(table))
    }
}

impl PartialEq for Changed {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && std::ptr::eq(self.change, other.change)
    }
}

impl Change {
    /// The keys of a scenario, as it is written, that have the default because it does not name them.
    fn in_scenario(&self, scenario: &Value) -> Vec<String> {
        let (tables, key) = self.key.rsplit_once('.').unwrap_or(("", self.key));
        let mut places = vec![(String::new(), scenario)];
        for step in tables.split('.').filter(|step| !step.is_empty()) {
            places = places.iter().flat_map(|place| below(place, step)).collect();
        }
        let lacks =
            |(_, table): &(String, &Value)| !has(table, key) && (self.applies)(scenario, table);
        places.into_iter().filter(lacks).map(|(path, _)| words::join(&path, key)).collect()
    }
}

/// The tables one step below, with their paths. A table that is missing has no keys.
fn below<'a>((path, table): &(String, &'a Value), step: &str) -> Vec<(String, &'a Value)> {
    let tables = || {
        let tables = table.as_object().into_iter().flatten();
        tables.map(|(name, table)| (words::join(path, name), table))
    };
    match step {
        "*" => tables().collect(),
        "**" => {
            let here = std::iter::once((path.clone(), *table));
            here.chain(tables().flat_map(|table| below(&table, "**"))).collect()
        }
        name => vec![(words::join(path, name), &table[name])],
    }
}

/// The changed defaults that a scenario relies on, as it is written.
pub(super) fn relied_on(scenario: &Value) -> Vec<Changed> {
    let keys = |change: &'static Change| {
        let paths = change.in_scenario(scenario).into_iter();
        paths.map(move |path| Changed { change, path })
    };
    CHANGES.iter().flat_map(keys).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(scenario: &Value) -> Vec<String> {
        relied_on(scenario).iter().map(|changed| changed.warning().message).collect()
    }

    #[test]
    fn a_default_counts_where_the_scenario_does_not_name_the_key() {
        let tcp = json!({ "interrupt_interval_us": 0 });
        let entry =
            |keys: Value| json!({ "traffic": { "a b": keys }, "tcp": tcp, "clock_drift_ppm": 0 });
        let game = json!({ "kind": "stream", "purpose": "game" });
        assert_eq!(
            said(&entry(game)),
            [r#"traffic."a b".direction: default is now "both"; direction = "up" restores 0.2.0"#]
        );
        let film = json!({ "kind": "video" });
        assert_eq!(
            said(&entry(film)),
            [
                r#"traffic."a b".ladder: default is now "apple_hls"; ladder = "hong2015" restores 0.2.0"#
            ]
        );
        for other in [
            json!({ "kind": "stream", "purpose": "game", "direction": "both" }),
            json!({ "kind": "stream", "purpose": "data" }),
            json!({ "kind": "video", "ladder_mbps": [1] }),
            json!({ "kind": "video", "ladder": "apple_hls" }),
            json!({ "kind": "replay", "home_address": "10.0.0.1" }),
            json!({ "kind": "web" }),
        ] {
            assert_eq!(said(&entry(other.clone())), Vec::<String>::new(), "{other}");
        }
        let clocks = "clock_drift_ppm: default is now 50; clock_drift_ppm = 0 restores 0.2.0";
        assert_eq!(said(&json!({})), [clocks]);
        assert_eq!(said(&json!({ "dialect": "ns2" })), Vec::<String>::new());
    }

    #[test]
    fn a_shared_channel_is_relied_on_where_a_modem_is_on_it() {
        let shared = json!({ "modem": { "kind": "shared_channel" } });
        let scenario = |channel: Value| {
            let far = json!({ "upstream": shared, "count": 2 });
            json!({ "homes": { "near": {}, "far": far }, "upstream_channel": channel, "clock_drift_ppm": 0 })
        };
        assert_eq!(relied_on(&scenario(json!({}))).len(), 4);
        let named = json!({ "request_opportunities": 8, "grant_place": "start" });
        assert_eq!(relied_on(&scenario(named)), []);
        // Another window is as it was where one key of it is named, and so is the place of a lone modem's grants.
        let keys = |scenario: &Value| -> Vec<_> {
            relied_on(scenario).iter().map(|changed| changed.path.clone()).collect()
        };
        let of = |key: &str| format!("upstream_channel.{key}");
        let window = scenario(json!({ "backoff_start": 4 }));
        assert_eq!(keys(&window), ["request_opportunities", "grant_place"].map(of));
        let lone = json!({ "upstream": shared, "clock_drift_ppm": 0 });
        assert_eq!(keys(&lone), ["request_opportunities", "backoff_start", "backoff_end"].map(of));
        let alone =
            json!({ "upstream": { "modem": { "kind": "single_queue" } }, "clock_drift_ppm": 0 });
        assert_eq!(relied_on(&alone), []);
    }

    #[test]
    fn a_scheduler_is_found_wherever_it_is() {
        let queue = json!({ "queue": { "scheduler": { "kind": "low_latency" } } });
        let homes = json!({ "far": { "downstream": queue } });
        let scenario = json!({ "upstream": queue, "homes": homes, "clock_drift_ppm": 0 });
        let mut paths: Vec<_> =
            relied_on(&scenario).into_iter().map(|changed| changed.path).collect();
        paths.sort();
        let of = |line: &str| format!("{line}.queue.scheduler.rate_estimate");
        assert_eq!(paths, [of("homes.far.downstream"), of("upstream")]);
        let other = json!({ "queue": { "scheduler": { "kind": "fq" } }, "clock_drift_ppm": 0 });
        assert!(relied_on(&other).is_empty());
    }
}
