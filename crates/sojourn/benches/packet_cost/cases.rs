//! What is measured: scenarios, each with the queue managers that it compares.

use sojourn::scenario::{Scenario, load};

/// A scenario with one of its queue managers.
pub(crate) struct Case {
    pub name: String,
    pub scheme: String,
    pub scenario: Scenario,
    /// The share of the run after which all connections are open and past their slow start.
    pub settled: f64,
    /// The share of the run in which instructions are counted.
    pub counted: f64,
}

impl Case {
    pub(crate) fn full_name(&self) -> String {
        format!("{} {}", self.name, self.scheme)
    }
}

/// Of most runs a twentieth is as the rest.
const A_PART: f64 = 0.05;

/// Modems on one CMTS. What they ask for comes in waves, so all that follows their start is counted.
const MODEMS: [u32; 5] = [1, 10, 100, 500, 5000];
/// Connections of base, each of whose entries has its part.
const FLOWS: [u32; 2] = [110, 1000];
/// Channels of a group that carries the same in all.
const CHANNELS: [u32; 2] = [1, 4];
/// Rates of base in Mbps, with seconds in which so many packets pass.
const RATES: [(u32, u32); 2] = [(1000, 20), (10_000, 10)];

const BASE: &str = include_str!("cases/base.toml");

/// The game and the call of recorded costs send from the home alone.
const STREAM: &str = "kind = \"stream\"";
const ONE_WAY_STREAM: &str = "kind = \"stream\"\ndirection = \"up\"";

/// All cases, in the order of the table.
pub(crate) fn all() -> Vec<Case> {
    let home =
        [include_str!("../../../../scenarios/home.toml"), include_str!("cases/managers.toml")];
    let home = home.concat().replace(STREAM, ONE_WAY_STREAM);
    let mut texts = vec![
        ("base".to_owned(), BASE.to_owned(), 0.05),
        ("Linux base".to_owned(), of_linux(BASE), 0.05),
        ("tiers".to_owned(), include_str!("cases/tiers.toml").to_owned(), 0.25),
        ("Linux home".to_owned(), of_linux(&home), 0.05),
        ("home".to_owned(), home, 0.05),
        ("ledbat".to_owned(), include_str!("cases/ledbat.toml").to_owned(), 0.2),
    ];
    texts.extend(FLOWS.map(|flows| (format!("{flows} flows"), with_flows(flows), 0.05)));
    texts.extend(RATES.map(|(mbps, s)| (format!("{mbps} Mbps"), at_rate(mbps, s), 0.25)));
    texts.extend(MODEMS.map(|modems| (format!("{modems} modems"), cmts(modems), 0.2)));
    texts.extend(CHANNELS.map(|n| (format!("group of {n}"), group_of(n), 0.1)));
    let counted = |name: &str| if name.ends_with(" modems") { 1.0 } else { A_PART };
    let of = |(name, text, settled): &(String, String, f64)| {
        cases(name, text, (*settled, counted(name).min(1.0 - settled)))
    };
    texts.iter().flat_map(of).collect()
}

/// A case in the dialect `linux`, whose default laws and TCP are those of today.
fn of_linux(text: &str) -> String {
    text.replace("dialect = \"ns2\"", "dialect = \"linux\"")
}

/// Base with so many connections, of which each entry has its part.
fn with_flows(flows: u32) -> String {
    let each = flows / 11;
    BASE.replace("start_spread_s = 2", &format!("start_spread_s = 2, connections = {each}"))
}

/// Base through a link of this rate, with as long a queue in time.
fn at_rate(mbps: u32, duration_s: u32) -> String {
    let limit_packets = 2048 * mbps / 38;
    BASE.replace("duration_s = 200", &format!("duration_s = {duration_s}"))
        .replace("mbps = 38", &format!("mbps = {mbps}"))
        .replace("2048", &limit_packets.to_string())
}

fn cases(name: &str, text: &str, (settled, counted): (f64, f64)) -> Vec<Case> {
    let variants = load(text, name, &[]).expect("the cases are valid");
    let case =
        |(scheme, scenario)| Case { name: name.to_owned(), scheme, scenario, settled, counted };
    variants.into_iter().map(|v| (v.name, v.scenario)).map(case).collect()
}

/// So many modems on one CMTS, with two service flows each way. Each has a download, which together
/// fill 1 Gbps, and an upload, which together fill four bonded channels. The request region is that of
/// 0.2.0, so that costs compare: where it adapts, other packets pass.
fn cmts(modems: u32) -> String {
    format!(
        "duration_s = 10
         upstream_channel = {{ channels = 4, request_opportunities = 8, grant_place = 'uniform' }}
         [upstream]
         sustained_mbps = 100
         peak_mbps = 100
         burst_bytes = 10_000
         modem.kind = 'shared_channel'
         queue.limit_bytes = 200_000
         [upstream.flows.voice]
         sustained_mbps = 1
         peak_mbps = 1
         burst_bytes = 3044
         match = [{{ protocol = 'udp' }}]
         [downstream]
         regulator = false
         sustained_mbps = 1000
         peak_mbps = 1000
         burst_bytes = 10_000
         [downstream.flows.voice]
         sustained_mbps = 1
         peak_mbps = 1
         burst_bytes = 3044
         match = [{{ protocol = 'udp' }}]
         [cmts]
         channel = {{ kind = 'rate', rate_mbps = 1000 }}
         queue = {{ limit_bytes = 6_000_000 }}
         [homes.all]
         count = {modems}
         [servers.near]
         delay_ms = 9
         rate_mbps = 10_000
         [traffic.save]
         kind = 'transfer'
         server = 'near'
         start_spread_s = 0.2
         [traffic.load]
         kind = 'transfer'
         server = 'near'
         direction = 'down'
         start_spread_s = 0.2
         [compare.DropTail]
         "
    )
}

/// A modem that fills a group of so many upstream channels, which carry 25 Mbps together, with an upload.
fn group_of(channels: u32) -> String {
    let ksps = 5120 / channels;
    let phy = format!("{{ kind = 'sc_qam', symbol_rate_ksps = {ksps} }}");
    let channel = |number| format!("upstream_channel.bonded.c{number}.phy = {phy}\n");
    let table: String = (1..=channels).map(channel).collect();
    format!(
        "duration_s = 60
         downstream.sustained_mbps = 300
         servers.near = {{ delay_ms = 9, rate_mbps = 10_000 }}
         traffic.save = {{ kind = 'transfer', server = 'near' }}
         {table}
         [upstream]
         sustained_mbps = 300
         modem.kind = 'shared_channel'
         queue.limit_bytes = 500_000
         [compare.DropTail]
         "
    )
}

/// An idle home with four service flows each way on the shared channel, so many times.
pub(crate) fn idle(homes: u64) -> Scenario {
    let flow =
        "sustained_mbps = 1\npeak_mbps = 2\nburst_bytes = 3000\nqueue.law.kind = 'docsis_pie'";
    let mut text = format!(
        "duration_s = 10\nhomes.all = {{ count = {homes} }}\nservers.near = {{ delay_ms = 9 }}
         traffic.save = {{ kind = 'transfer', server = 'near', start_s = 20 }}
         upstream.modem.kind = 'shared_channel'\n"
    );
    for way in ["upstream", "downstream"] {
        for table in ["", ".flows.a", ".flows.b", ".flows.c"] {
            for key in flow.lines() {
                text += &format!("{way}{table}.{key}\n");
            }
        }
    }
    cases("idle", &text, (0.0, A_PART)).swap_remove(0).scenario
}
