//! Keys that are drawn in all accesses, schedulers, directions and numbers of homes: what warnings say of them is true, and
//! their remedies work.

use serde_json::{Value, json};
use sojourn::engine::rng::Rng;
use sojourn::input::problem::{Code, Warning};
use sojourn::scenario::{Variant, load};

use super::{BESIDE, put, run, tables, take};

/// Settings that are often without effect; `WAY` is a direction.
const SETTINGS: [(&str, &str); 38] = [
    ("WAY.priority", "5"),
    ("WAY.minimum_mbps", "2"),
    ("downstream.weight", "3"),
    ("homes.b.WAY.priority", "3"),
    ("WAY.flows.f", "{ sustained_mbps = 1, priority = 4, match = [{ traffic = 'game' }] }"),
    ("WAY.aqm", "false"),
    ("WAY.queue.ecn", "false"),
    ("WAY.queue.acks", "'prioritised'"),
    ("WAY.queue.limit_bytes", "9_000"),
    ("WAY.queue.limit_bytes", "400_000"),
    ("WAY.queue.limit_packets", "12"),
    ("WAY.queue.limit_packets", "400"),
    ("WAY.queue.law", "{ kind = 'codel' }"),
    ("WAY.queue.law", "{ kind = 'docsis_pie' }"),
    ("WAY.queue.law", "{ kind = 'red', top = 0.2 }"),
    ("WAY.queue.law", "{ kind = 'pie', rate_threshold_bytes = 3000 }"),
    ("WAY.queue.scheduler", "{ kind = 'cake' }"),
    ("WAY.queue.scheduler", "{ kind = 'dualq', time_shift_ms = 9 }"),
    ("WAY.queue.scheduler", "{ kind = 'sfq' }"),
    ("WAY.queue.scheduler", "{ kind = 'low_latency', low_latency_max_us = 2000 }"),
    ("WAY.queue.scheduler", "{ kind = 'low_latency', low_latency_aqm = false, coupling = 3 }"),
    (
        "WAY.queue.scheduler",
        "{ kind = 'low_latency', low_latency_max_us = 9000, queue_protection = false, classic_aqm = false, coupled = false }",
    ),
    (
        "WAY.queue.scheduler",
        "{ kind = 'low_latency', low_latency_range_exponent = 21, critical_delay_us = 900, low_latency_aqm = false }",
    ),
    ("tcp.ecn", "'classic'"),
    ("tcp.ecn", "'accecn'"),
    ("tcp.congestion_control", "{ kind = 'prague' }"),
    ("tcp.transport", "'quic'"),
    ("tcp.ace_bits", "3"),
    ("traffic.up.tcp.ecn", "'classic'"),
    ("traffic.game.ecn", "'ect1'"),
    ("traffic.game.dscp", "46"),
    ("traffic.game.port", "99"),
    ("traffic.game.stop_s", "3"),
    ("traffic.up.stop_s", "1"),
    ("servers.near.ecn", "'bleached'"),
    ("servers.near.queue", "{ law = { kind = 'codel' } }"),
    ("metrics.watch_flows", "3"),
    ("WAY.burst_bytes", "60_000"),
];

const ACCESSES: [&str; 6] = [
    "access.kind = 'fibre'",
    "upstream.modem.kind = 'link'",
    "upstream.modem.kind = 'two_queues'",
    "upstream.modem.kind = 'single_queue'",
    "upstream.modem.kind = 'shared_channel'",
    "upstream.modem.kind = 'shared_channel'\ncmts.channel = { kind = 'rate', rate_mbps = 12 }",
];

/// A network with some of the settings; a load of it may refuse them.
fn drawn(rng: &mut Rng) -> Value {
    let access = ACCESSES[rng.below(ACCESSES.len() as u64) as usize];
    let homes = ["", "homes = { a = {}, b = { count = 2 } }"][rng.below(2) as usize];
    let bulk = [
        "traffic.up = { kind = 'transfer', server = 'near' }",
        "traffic.down = { kind = 'transfer', server = 'near', direction = 'down', connections = 2 }",
    ];
    let bulk: String =
        bulk.into_iter().filter(|_| rng.below(4) > 0).map(|one| format!("{one}\n")).collect();
    let text = format!(
        "duration_s = 1
        upstream.sustained_mbps = 4
        downstream.sustained_mbps = 9
        servers.near.delay_ms = 5
        traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}
        {bulk}
        {homes}
        {access}"
    );
    let mut keys = serde_json::to_value(toml::from_str::<toml::Table>(&text).unwrap()).unwrap();
    for _ in 0..=rng.below(3) {
        let (path, value) = SETTINGS[rng.below(SETTINGS.len() as u64) as usize];
        let way = ["upstream", "downstream"][rng.below(2) as usize];
        let value: toml::Table = toml::from_str(&format!("it = {value}")).unwrap();
        let named = |table: &str| path.starts_with(table) && keys[table].is_null();
        if named("homes") || path.starts_with("traffic.up") && keys["traffic"]["up"].is_null() {
            continue;
        }
        put(&mut keys, &path.replace("WAY", way), json!(value["it"]));
    }
    keys
}

fn variant(keys: &Value, sets: &[String]) -> Option<Variant> {
    let text = toml::to_string(keys).expect("it is a table");
    load(&text, &BESIDE, sets).ok()?.into_iter().next()
}

/// What is said before a run.
fn said(variant: &Variant) -> Vec<Warning> {
    [sojourn::warnings(&variant.scenario), variant.notes.clone()].concat()
}

/// What warnings say of the keys of a network is true, and their remedies are accepted and make the warning go.
fn holds(seed: u64) {
    let keys = drawn(&mut Rng::named(seed, "drawn"));
    let Some(base) = variant(&keys, &[]) else { return };
    let mut before = None;
    for warning in said(&base) {
        let is_of = |other: &Warning| other.code == warning.code && other.path == warning.path;
        if !warning.remedy.is_empty() {
            let sets = warning.remedy.sets();
            let after = variant(&keys, &sets);
            let after = after.unwrap_or_else(|| panic!("{sets:?} is refused: {warning:?} {keys}"));
            assert!(!said(&after).iter().any(is_of), "{sets:?} leaves {warning:?} {keys}");
        }
        let is_idle = warning.code == Code::IdleKey && warning.message.contains("has no effect");
        if is_idle && !warning.message.contains("in the turns") {
            let mut bare = keys.clone();
            take(&mut bare, &warning.path);
            let Some(bare) = variant(&bare, &[]) else { continue };
            let before = before.get_or_insert_with(|| tables(run(&base.scenario)));
            assert!(*before == tables(run(&bare.scenario)), "{warning:?} {keys}");
        }
    }
}

mod at_random {
    use sojourn_testing::rounds;

    #[test]
    fn swarm_drawn_keys_are_said_to_be_idle_where_they_are() {
        rounds(40, super::holds);
    }
}
