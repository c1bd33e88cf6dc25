//! Where the time goes: what a run names as the cause of a delay is its cause, since the delay falls by as
//! much, or nearly so, without it.

use std::collections::BTreeMap;

use crate::common::loaded;
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::engine::record::Part;
use sojourn::engine::rng::Rng;
use sojourn::results::verdict::{Cause, Facts, Rows};

use sojourn_testing::rounds;

/// The delay falls by this share at least of what was said to be due to the cause. What is left of a wait for
/// grants is the time on the link; in the place of a wait behind others comes one for a grant of its own.
const FALLS_BY: f64 = 0.6;
/// Nobody asks for the cause of less.
const LEAST_MS: f64 = 5.0;

/// An entry of a drawn home or its neighbours.
#[derive(Clone)]
struct Traffic {
    keys: &'static str,
    loads: Option<Direction>,
    is_ours: bool,
}

/// A line, of which parts can be taken away.
#[derive(Clone)]
struct Line {
    up_mbps: f64,
    down_mbps: f64,
    law: &'static str,
    modem: &'static str,
    delay_ms: f64,
    km: f64,
    neighbours: u64,
    region: &'static str,
    traffic: Vec<Traffic>,
    seed: u64,
}

const TRAFFIC: [(Option<Direction>, &str); 5] = [
    (Some(Direction::Up), "kind = 'transfer'"),
    (Some(Direction::Down), "kind = 'transfer', direction = 'down'"),
    (
        Some(Direction::Up),
        "kind = 'stream', purpose = 'data', packet_bytes = 1000, interval_ms = 8",
    ),
    (
        Some(Direction::Up),
        "kind = 'stream', purpose = 'data', packet_bytes = 100, interval_ms = 20",
    ),
    (None, "kind = 'web', objects = { kind = 'fixed' }"),
];
const LAWS: [&str; 5] = ["drop_tail", "codel", "pie", "docsis_pie", "red"];
const MODEMS: [&str; 2] = ["single_queue", "shared_channel"];
/// Request regions: all that is idle, and too small a number.
const REGIONS: [&str; 2] = ["", "upstream_channel.request_opportunities = 4"];

impl Line {
    fn drawn(seed: u64) -> Self {
        let mut rng = Rng::named(seed, "line");
        let one_of = |of: &[&'static str], rng: &mut Rng| of[rng.below(of.len() as u64) as usize];
        let mut line = Self {
            up_mbps: [2.0, 5.0, 10.0, 20.0][rng.below(4) as usize],
            down_mbps: [10.0, 20.0, 40.0][rng.below(3) as usize],
            law: one_of(&LAWS, &mut rng),
            modem: one_of(&MODEMS, &mut rng),
            delay_ms: [0.0, 3.0, 10.0, 30.0][rng.below(4) as usize],
            km: [1.0, 20.0, 80.0][rng.below(3) as usize],
            neighbours: 1 + rng.below(80),
            region: "",
            traffic: Vec::new(),
            seed,
        };
        for (loads, keys) in TRAFFIC {
            for is_ours in [true, false] {
                if rng.below(3) == 0 {
                    line.traffic.push(Traffic { keys, loads, is_ours });
                }
            }
        }
        line.region = one_of(&REGIONS, &mut rng);
        line
    }

    /// The cause of the game's delay, and that delay in each direction.
    fn cause(&self) -> (Cause, BTreeMap<String, f64>) {
        let scenario = loaded(&self.text(), &[]);
        let rows = Rows::from(&Simulation::run(&scenario));
        let facts = Facts::of(&scenario, &rows);
        let [cause] = &facts.causes[..] else { panic!("{:?}", facts.causes) };
        // Of all packets, as parts are: those that are lost have taken their time until then.
        let delay = |(way, ms): &(Direction, f64)| (way.name().to_owned(), *ms);
        (cause.clone(), cause.ways_ms.iter().map(delay).collect())
    }

    fn text(&self) -> String {
        let Self { up_mbps, down_mbps, law, modem, region, delay_ms, km, neighbours, seed, .. } =
            self;
        let own = |traffic: &Traffic| if traffic.is_ours { "ours" } else { "theirs" };
        let entries = self.traffic.iter().enumerate().map(|(number, one)| {
            let server = if one.loads.is_some() { "server = 'near'" } else { "servers = ['near']" };
            format!("traffic.t{number} = {{ {}, {server}, home = '{}' }}\n", one.keys, own(one))
        });
        let law = if *law == "drop_tail" {
            String::new()
        } else {
            format!("upstream.queue.law.kind = '{law}'")
        };
        format!(
            "duration_s = 3\nseed = {seed}
             upstream.sustained_mbps = {up_mbps}
             upstream.modem.kind = '{modem}'
             {law}
             {region}
             downstream.sustained_mbps = {down_mbps}
             servers.near.delay_ms = 8
             servers.of_game.delay_ms = {delay_ms}
             homes.ours.distance_km = {km}
             homes.theirs.count = {neighbours}
             traffic.game = {{ kind = 'stream', purpose = 'game', server = 'of_game', home = 'ours' }}
             {}",
            entries.collect::<String>()
        )
    }

    /// This line without the cause.
    fn without(&self, name: &str) -> Self {
        let mut line = self.clone();
        match name {
            "propagation" => line.delay_ms = 0.0,
            "grants" => line.modem = "link",
            "contention" => line.traffic.retain(|one| one.is_ours),
            // Downloads fill the upstream queue with acknowledgements.
            "upstream queue" => line.traffic.clear(),
            _ => line.traffic.retain(|one| one.loads == Some(Direction::Up)),
        }
        line
    }
}

/// The cause that a part is of, and the directions in which it acts.
fn cause_of(part: Part) -> (&'static str, &'static [&'static str]) {
    match part {
        Part::Propagation => ("propagation", &["up", "down"]),
        Part::CmtsQueue => ("downstream queue", &["down"]),
        Part::ModemQueue => ("upstream queue", &["up"]),
        Part::RequestWait | Part::GrantWait => ("grants", &["up"]),
        Part::Contention => ("contention", &["up"]),
        _ => ("another", &[]),
    }
}

/// Waits for requests and grants: a packet that is behind no other has them itself.
fn grants_ms(cause: &Cause) -> f64 {
    let parts = cause.parts.iter();
    parts.filter(|one| cause_of(one.part).0 == "grants").map(|one| one.ms).sum()
}

#[test]
fn without_its_cause_a_delay_falls() {
    let mut seen = BTreeMap::<&str, u32>::new();
    rounds(50, |seed| {
        let line = Line::drawn(seed);
        let (cause, before) = line.cause();
        let longest = &cause.parts[0];
        if longest.ms < LEAST_MS {
            return;
        }
        let (name, ways) = cause_of(longest.part);
        assert!(!ways.is_empty(), "{cause:?}: {}", line.text());
        *seen.entry(name).or_default() += 1;
        let (without, after) = line.without(name).cause();
        let falls_by: f64 = ways.iter().map(|way| before[*way] - after[*way]).sum();
        let own_ms = (grants_ms(&without) - grants_ms(&cause)).max(0.0);
        assert!(
            falls_by + own_ms >= FALLS_BY * longest.ms,
            "{cause:?} falls by {falls_by}: {}",
            line.text()
        );
    });
    if std::env::var_os("FUZZ_SEED").is_none() {
        // Who waits for grants or in contention at the head keeps others behind it, so these are rarely the longest.
        assert!(seen.len() >= 3, "{seen:?}");
    }
}
