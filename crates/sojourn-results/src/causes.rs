//! Where the time goes of what users notice, by what the run has counted.

use crate::metrics::{Row, Rows};
use crate::words::{digits, joined};
use sojourn_engine::packet::Direction;
use sojourn_engine::record::Part;
use sojourn_scenario::{Scenario, traffic};

/// The most parts that a sentence names.
const MOST_PARTS: usize = 3;
/// The least share of all the time that a part has which is named.
const LEAST_SHARE: f64 = 0.1;

/// Where more is lost, times until then are named.
const NAMED_LOSS_PERCENT: f64 = 2.0;

const MODEM_QUEUE: &str = "in the modem's queue";

/// Where the mean time of a traffic entry's packets goes, over the directions in which its users notice it.
#[derive(Clone, PartialEq, Debug)]
pub struct Cause {
    /// The entry.
    pub traffic: String,
    /// The mean time of its packets in each direction.
    pub ways_ms: Vec<(Direction, f64)>,
    /// What they spend it on, the largest part first. What is on the way in both directions has one part.
    pub parts: Vec<CausePart>,
    /// Are so many lost that their times until then count?
    pub(crate) has_losses: bool,
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
    pub(crate) fn ms_of(&self, parts: &[Part]) -> f64 {
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
    pub(crate) fn add(&mut self, part: Part, words: &'static str, ms: f64) {
        match self.parts.iter_mut().find(|one| one.words == words) {
            Some(one) => one.ms += ms,
            None => self.parts.push(CausePart { part, words, ms }),
        }
    }
}

/// Of each entry whose users notice the delay of its packets.
pub(crate) fn causes(scenario: &Scenario, rows: &Rows) -> Vec<Cause> {
    scenario.traffic.iter().filter_map(|(name, entry)| cause(scenario, rows, name, entry)).collect()
}

fn cause(scenario: &Scenario, rows: &Rows, name: &str, entry: &traffic::Entry) -> Option<Cause> {
    let watched = |row: &&Row| {
        row.traffic() == name && row.direction().is_some_and(|way| entry.app.watches(way))
    };
    let flows = || rows.flows.iter().filter(watched);
    let mut cause = Cause {
        traffic: name.to_owned(),
        ways_ms: Vec::new(),
        parts: Vec::new(),
        has_losses: flows().any(|row| row.number("loss_percent") > Some(NAMED_LOSS_PERCENT)),
    };
    for row in rows.delay_parts.iter().filter(watched) {
        if row.is_scarce("sent_packets") {
            return None;
        }
        let (way, ms) = (row.direction()?, row.number("mean_ms")?);
        match row.part() {
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
