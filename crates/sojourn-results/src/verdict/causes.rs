//! Where the time goes of what users notice, by what the run has counted.

use super::thresholds::{APPLICATIONS, SAME};
use crate::metrics::{Row, Rows};
use crate::words::{digits, grouped, joined};
use sojourn_engine::packet::Direction;
use sojourn_engine::record::{Member, Part};
use sojourn_scenario::{Scenario, traffic};

/// The most parts that a sentence names.
const MOST_PARTS: usize = 3;
/// The least share of all the time that a part has which is named.
const LEAST_SHARE: f64 = 0.1;

const MODEM_QUEUE: &str = "in the modem's queue";

/// Where the mean time of a traffic entry's packets goes, over the directions in which its users notice it.
#[derive(Clone, PartialEq, Debug)]
pub struct Cause {
    /// The entry.
    pub traffic: String,
    /// What it is graded as; empty if it is not.
    pub(super) application: &'static str,
    /// The mean time of its packets in each direction.
    pub ways_ms: Vec<(Direction, f64)>,
    /// What they spend it on, the largest part first. What is on the way in both directions has one part.
    pub parts: Vec<CausePart>,
    /// Are so many lost that their times until then count?
    pub(super) has_losses: bool,
}

/// What packets spend time on.
#[derive(Clone, PartialEq, Debug)]
pub struct CausePart {
    /// The part.
    pub part: Part,
    /// In words, as in "10 ms in the modem's queue".
    pub words: &'static str,
    /// The mean time.
    pub ms: f64,
}

impl Cause {
    /// The mean time of its packets, of both ways together.
    pub fn total_ms(&self) -> f64 {
        self.ways_ms.iter().map(|(_, ms)| ms).sum()
    }

    /// The mean time in these parts.
    pub(super) fn ms_of(&self, parts: &[Part]) -> f64 {
        self.parts.iter().filter(|one| parts.contains(&one.part)).map(|one| one.ms).sum()
    }

    /// It in a sentence.
    pub fn sentence(&self) -> String {
        let ways =
            self.ways_ms.iter().map(|(way, ms)| format!("{} ms {}", digits(*ms), way.name()));
        let least_ms = LEAST_SHARE * self.total_ms();
        let named = self.parts.iter().take(MOST_PARTS).filter(|one| one.ms >= least_ms);
        let parts = named.map(|one| format!("{} ms {}", digits(one.ms), one.words));
        let (ways, parts) = (joined(ways), joined(parts));
        let until = if self.has_losses { " until packets arrive or are lost" } else { "" };
        format!("traffic.{} takes {ways} on average{until}: {parts}.", self.traffic)
    }

    /// Adds to a part.
    pub(super) fn add(&mut self, part: Part, words: &'static str, ms: f64) {
        match self.parts.iter_mut().find(|one| one.words == words) {
            Some(one) => one.ms += ms,
            None => self.parts.push(CausePart { part, words, ms }),
        }
    }
}

/// Of each entry whose users notice the delay of its packets.
pub(super) fn causes(scenario: &Scenario, rows: &Rows) -> Vec<Cause> {
    scenario.traffic.iter().filter_map(|(name, entry)| cause(scenario, rows, name, entry)).collect()
}

/// Why algorithms did nothing, in a clause for each, if none of a run dropped or marked a packet, those of neighbours
/// included: by the queue in which packets waited longest.
pub(super) fn idle_laws(scenario: &Scenario, rows: &Rows) -> Vec<String> {
    let queues = rows.queues.iter().filter(|row| row.text("member").is_empty());
    let laws = queues.filter_map(|row| {
        let law = scenario.only_law(row.homes()?, row.direction()?)?;
        let acts = row.number("dropped_aqm_packets")? + row.number("marked_packets")?;
        let (p99_ms, target_ms) = (row.number("sojourn_p99_ms")?, law.parameters().target_ms()?);
        Some((acts, row, ((law.name(), target_ms), (p99_ms, row.text("queue")))))
    });
    let laws: Vec<_> = laws.collect();
    let judged = scenario.metrics.homes.as_deref();
    let is_told = |row: &Row| judged.is_none_or(|homes| row.homes() == Some(homes));
    let told = laws.iter().filter(|(_, row, _)| is_told(row)).map(|(.., law)| *law);
    let clause = |((name, target_ms), waits): ((&str, f64), Vec<(f64, &str)>)| {
        let (p99_ms, queue) = waits.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
        let but = if p99_ms > target_ms { "though" } else { "and" };
        let [p99, target] = [p99_ms, target_ms].map(digits);
        Some(format!(
            "{name} dropped nothing: in {queue}, its longest queue, 99 % of packets wait at most {p99} ms, {but} its \
             target is {target} ms."
        ))
    };
    let has_acted = laws.iter().any(|(acts, ..)| *acts > 0.0);
    grouped(told.filter(|_| !has_acted)).into_iter().filter_map(clause).collect()
}

/// The directions whose low-latency queues carried nothing, each in a clause.
pub(super) fn empty_queues(rows: &Rows) -> Vec<String> {
    let is_empty = |way: &Direction| {
        let is_its = |row: &&Row| {
            row.text("member") == Member::LowLatency.name() && row.direction() == Some(*way)
        };
        let carried = |row: &Row| row.number("departed_packets") != Some(0.0);
        let mut own = rows.queues.iter().filter(is_its).peekable();
        own.peek().is_some() && !own.any(carried)
    };
    let said = |way: Direction| {
        format!(
            "the {} low-latency queue carried nothing: all packets took the classic queue.",
            way.stream()
        )
    };
    Direction::BOTH.into_iter().filter(is_empty).map(said).collect()
}

/// The part of the time that a row of delay parts is of; `None` for all of it.
pub(super) fn part_of(row: &Row) -> Option<Part> {
    Part::ALL.into_iter().find(|part| part.name() == row.text("part"))
}

fn cause(scenario: &Scenario, rows: &Rows, name: &str, entry: &traffic::Entry) -> Option<Cause> {
    let watched = |row: &&Row| {
        row.traffic() == name && row.direction().is_some_and(|way| entry.app.watches(way))
    };
    let flows = || rows.flows.iter().filter(watched);
    let graded = flows().find_map(|row| APPLICATIONS.iter().find(|one| one.is_of(row)));
    let mut cause = Cause {
        traffic: name.to_owned(),
        application: graded.map_or("", |one| one.name),
        ways_ms: Vec::new(),
        parts: Vec::new(),
        has_losses: flows().any(|row| row.number("loss_percent") > Some(100.0 * SAME)),
    };
    for row in rows.delay_parts.iter().filter(watched) {
        if row.is_scarce("sent_packets") {
            return None;
        }
        let (way, ms) = (row.direction()?, row.number("mean_ms")?);
        match part_of(row) {
            Some(part) => cause.add(part, words(scenario, rows, entry, part, way), ms),
            None => cause.ways_ms.push((way, ms)),
        }
    }
    cause.parts.sort_by(|one, other| other.ms.total_cmp(&one.ms));
    (!cause.ways_ms.is_empty()).then_some(cause)
}

/// The queue of a modem in words, with what holds its first packets: all packets of its home stand there in turn.
fn modem_queue(scenario: &Scenario, rows: &Rows, home: usize) -> &'static str {
    let is_of_home = |row: &&Row| {
        let entry = scenario.traffic.get(row.traffic());
        let is_up = row.direction() == Some(Direction::Up);
        is_up && entry.is_some_and(|entry| scenario.group_of(entry) == home)
    };
    let spent_ms = |part: Part| -> f64 {
        let all = rows.delay_parts.iter().filter(is_of_home);
        let own = all.filter(|row| row.text("part") == part.name());
        own.filter_map(|row| Some(row.number("mean_ms")? * row.number("sent_packets")?)).sum()
    };
    let is_shared = scenario.channel_mbps(&scenario.group(home), Direction::Up).is_some();
    let of_first = [
        (Part::Contention, "in the modem's queue, behind packets whose requests collide"),
        (Part::RequestWait, "in the modem's queue, behind packets that wait to request bandwidth"),
        (Part::GrantWait, "in the modem's queue, behind packets that wait for grants"),
        (Part::Shaping, MODEM_QUEUE),
        (Part::Transmission, MODEM_QUEUE),
    ];
    // A modem that shares no channel has the grants that its own rate allows.
    let said = of_first.into_iter().filter(|(part, _)| is_shared || *part != Part::GrantWait);
    let longest = said.max_by(|one, other| spent_ms(one.0).total_cmp(&spent_ms(other.0)));
    longest.map_or(MODEM_QUEUE, |(_, words)| words)
}

/// A part in words, which differ by direction where packets of both would wait in different queues.
fn words(
    scenario: &Scenario,
    rows: &Rows,
    entry: &traffic::Entry,
    part: Part,
    way: Direction,
) -> &'static str {
    let by = |up, down| if way == Direction::Up { up } else { down };
    match part {
        Part::RouterQueue => {
            by("in the router's upstream queue", "in the router's downstream queue")
        }
        Part::ModemQueue if scenario.access.has_plant() => {
            modem_queue(scenario, rows, scenario.group_of(entry))
        }
        Part::ModemQueue => "in the upstream queue",
        Part::CmtsQueue if scenario.access.has_plant() => "in the CMTS's queue",
        Part::CmtsQueue => "in the downstream queue",
        Part::CoreQueue => by("in the core's upstream queues", "in the core's downstream queues"),
        Part::ServerQueue => by("in the queue to the server", "in the queue from the server"),
        Part::RequestWait => "waiting to request bandwidth",
        Part::Contention => "in contention, since requests collide",
        Part::GrantWait => "waiting for grants",
        Part::Shaping => "in rate shaping",
        Part::Stall => "in stalls of the modem",
        Part::Transmission => "of transmission",
        Part::Propagation => "of propagation",
        Part::Jitter => "of jitter on the path",
        Part::Host => "at the server's host",
        Part::Router => "in the router",
        Part::Resequencing => "in resequencing",
    }
}
