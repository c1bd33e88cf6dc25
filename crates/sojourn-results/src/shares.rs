//! Each transfer, torrent and stream of data, and what it gets of its max-min fair part of what the line carries; and what
//! films and calls, whose rates follow the line, make of theirs.

use serde::Serialize;

use crate::metrics::{Row, Rows};
use crate::over_seeds::{Value, over_seeds};
use sojourn_engine::fairness::{Demand, Link, max_min_of_links};
use sojourn_engine::packet::Direction;
use sojourn_scenario::apps::AppSpec;
use sojourn_scenario::apps::outside::LITTLE;
use sojourn_scenario::{Scenario, Span, traffic};

/// Light traffic excuses no more of what a link carries.
const EXCUSED: f64 = 0.5;
/// What has less of its part lacks what another one takes.
const STARVED: f64 = 0.5;
/// A lesser part is none.
const LEAST_MBPS: f64 = 1e-6;
/// A transfer needs some seconds to reach its rate, and a film to stall.
pub(crate) const SHORTEST_S: f64 = 10.0;

/// Why a share is unknown.
const SHORT: &str = "less than 10 s are measured of";
const YIELDS: &str = "endless traffic leaves no part for";
const NO_LINE: &str = "the line carries nothing in the time of";
pub(crate) const UNKNOWN_LOAD: &str = "a real program takes an unknown part of the line beside";

/// What a transfer, a torrent or a stream of data gets in the direction of its payload.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Share {
    /// The traffic entry.
    pub traffic: String,
    /// What it is: the name of an application.
    pub application: &'static str,
    /// Its rate while it was under way, in Mbps.
    pub mbps: f64,
    /// Its max-min fair part of the line or, if that is less, what it had to send, in Mbps; 0 if it yields to traffic that
    /// may take the whole line, if that carries nothing, or if it is not known beside a real program.
    pub part_mbps: f64,
    /// What it gets of that, in percent; `None` if that is not known.
    pub share_percent: Option<f64>,
    #[serde(skip)]
    pub(crate) way: Direction,
    /// Its low-latency mark.
    #[serde(skip)]
    pub(crate) mark: Option<&'static str>,
    /// Half of the 95 % interval of the share, with several seeds.
    #[serde(skip)]
    pub(crate) half_width: Option<f64>,
    /// The payload of a file that is unfinished at the end, and its size, in MB.
    #[serde(skip)]
    pub(crate) unfinished_mb: Option<(f64, f64)>,
    /// Why its share is unknown, if it is, in words that its name follows.
    #[serde(skip)]
    pub(crate) missing: Option<&'static str>,
}

impl Share {
    /// One whose part is not known yet.
    fn of(traffic: &str, application: &'static str, way: Direction, mbps: f64) -> Self {
        Self {
            traffic: traffic.to_owned(),
            application,
            mbps,
            part_mbps: 0.0,
            share_percent: None,
            way,
            mark: None,
            half_width: None,
            unfinished_mb: None,
            missing: None,
        }
    }

    /// It over runs that differ in their seed, of which these are the shares.
    pub(crate) fn over_seeds<'a>(&self, all: impl Iterator<Item = &'a Self>) -> Self {
        let is_it = |other: &&Self| (&other.traffic, other.way) == (&self.traffic, self.way);
        let all: Vec<_> = all.filter(is_it).collect();
        let over = |of: &dyn Fn(&Self) -> Option<f64>| {
            over_seeds(&all.iter().map(|one| of(one)).collect::<Vec<_>>())
        };
        let missing = all.iter().find_map(|one| one.missing);
        let Value { mean, half_width } = over(&|one| one.share_percent);
        Self {
            mbps: over(&|one| Some(one.mbps)).mean.unwrap_or_default(),
            part_mbps: over(&|one| Some(one.part_mbps)).mean.unwrap_or_default(),
            share_percent: mean.filter(|_| missing.is_none()),
            half_width,
            unfinished_mb: all.iter().find_map(|one| one.unfinished_mb),
            missing,
            ..self.clone()
        }
    }

    /// Its rate as a multiple of its part.
    pub(crate) fn of_part(&self) -> f64 {
        self.mbps / self.part_mbps
    }

    /// Does it lack what another one takes?
    pub(crate) fn is_starved(&self) -> bool {
        self.of_part() < STARVED
    }

    /// Is its part not known, since a real program loads the line?
    pub(crate) fn is_beside_program(&self) -> bool {
        self.missing == Some(UNKNOWN_LOAD)
    }

    /// Is it due nothing, since it leaves the line to others?
    pub(crate) fn yields(&self) -> bool {
        self.missing == Some(YIELDS)
    }
}

/// A bulk entry with what limits it.
struct Flow<'a> {
    entry: &'a traffic::Entry,
    /// The numbers of its group and of its service flow.
    place: (usize, u8),
    homes: f64,
    time: Span,
    /// How long it was under way in this time, in s.
    under_way_s: f64,
    /// What all its homes together have to send, in Mbps while it is under way; endless without a limit.
    demand_mbps: f64,
    got: Share,
}

impl Flow<'_> {
    /// Its mean rate from start to end, pauses included.
    fn mean_mbps(&self) -> f64 {
        self.got.mbps * self.under_way_s / (self.time.end - self.time.start)
    }

    /// What it has to send in a time that it shares with another flow. What pauses leaves it the line then.
    fn beside_mbps(&self) -> f64 {
        if self.entry.app.pauses() { self.mean_mbps() } else { self.demand_mbps }
    }

    /// What it has to send before one that yields: of files all their bytes, however long they take.
    fn first_mbps(&self) -> f64 {
        match self.got.unfinished_mb {
            Some((done_mb, all_mb)) if done_mb > 0.0 => self.mean_mbps() * all_mb / done_mb,
            None if self.entry.app.ends_by_itself() => self.mean_mbps(),
            _ => self.beside_mbps(),
        }
    }
}

/// All bulk entries that have a share, in the order of the scenario.
pub(crate) fn transfers(scenario: &Scenario, rows: &Rows) -> Vec<Share> {
    Direction::BOTH.into_iter().flat_map(|way| of_direction(scenario, rows, way)).collect()
}

fn of_direction(scenario: &Scenario, rows: &Rows, way: Direction) -> Vec<Share> {
    let shared = scenario.traffic.iter().filter(|(_, entry)| entry.app.has_share(way));
    let flows: Vec<Flow<'_>> =
        shared.filter_map(|(name, entry)| flow(scenario, rows, name, entry, way)).collect();
    let parts = parts(scenario, rows, &flows, way);
    let share = |(flow, part): (Flow<'_>, Part)| {
        let line_mbps = part.mbit / (flow.time.end - flow.time.start);
        let line_mbps = scenario.with_start_up_mbps(flow.entry, line_mbps);
        let is_due = part.is_known && line_mbps > LEAST_MBPS;
        let part_mbps = line_mbps.min(flow.demand_mbps).max(f64::MIN_POSITIVE);
        // What takes turns with others has had a rate that the line carried.
        let least_mbps = if scenario.takes_turns(flow.entry) { flow.got.mbps } else { 0.0 };
        let part_mbps = if is_due { part_mbps.max(least_mbps) } else { 0.0 };
        let nothing = match part.is_known {
            false => UNKNOWN_LOAD,
            true if scenario.yields(flow.entry) => YIELDS,
            true => NO_LINE,
        };
        let missing = (!is_due).then_some(nothing).or(flow.got.missing);
        let percent = (100.0 * flow.got.mbps / part_mbps).min(100.0);
        let share_percent = Some(percent).filter(|_| missing.is_none());
        Share { part_mbps, share_percent, missing, ..flow.got }
    };
    flows.into_iter().zip(parts).map(share).collect()
}

/// What each film and each call with a control gets of the rate that its part of the line without bulk traffic makes of it, in
/// percent: no choice of the household lowers what it is due. `None` if that is not known beside a real program.
pub(crate) fn kept_percent(
    scenario: &Scenario,
    rows: &Rows,
    way: Direction,
) -> Vec<(String, Option<f64>)> {
    let is_light = |row: &&Row| {
        let entry = scenario.traffic.get(row.traffic());
        entry.is_none_or(|entry| !entry.app.is_bulk())
    };
    let all = scenario.traffic.iter();
    let adapting = all.filter_map(|(name, entry)| adapting(scenario, rows, name, entry, way));
    let (counts, flows): (Vec<f64>, Vec<Flow<'_>>) = adapting.unzip();
    if flows.is_empty() {
        return Vec::new();
    }
    let light = rows.flows.iter().filter(is_light).cloned().collect();
    let light = Rows { flows: light, ..Rows::default() };
    let parts = parts(scenario, &light, &flows, way);
    let kept = |((flow, count), part): ((Flow<'_>, f64), Part)| {
        let due_mbps = scenario.adapted_mbps(flow.entry, part.mbit / flow.under_way_s / count);
        let percent = (100.0 * flow.got.mbps / due_mbps).min(100.0);
        let percent = part.is_known.then_some(percent);
        (due_mbps > LEAST_MBPS || !part.is_known).then_some((flow.got.traffic, percent))
    };
    flows.into_iter().zip(counts).zip(parts).filter_map(kept).collect()
}

/// Films or calls of an entry and how many they are, if their rates follow the line in this direction. Their own is that of
/// one of them.
fn adapting<'a>(
    scenario: &'a Scenario,
    rows: &Rows,
    name: &str,
    entry: &'a traffic::Entry,
    way: Direction,
) -> Option<(f64, Flow<'a>)> {
    let (count, most_mbps) = scenario.adapting(entry, way)?;
    let from_s = entry.app.start_s().unwrap_or_default().max(scenario.metrics.from_s);
    let time = from_s..scenario.duration_s;
    let own = own_row(rows, name, way)?;
    let each_mbps = match &entry.app {
        AppSpec::Video(_) => own.number("video_rate_mbps"),
        // Without a picture nothing of it is seen.
        _ => {
            let all_mbps = own.number("picture_height_percent").and(own.number("throughput_mbps"));
            all_mbps.map(|all_mbps| all_mbps / count)
        }
    };
    let got = Share::of(name, "", way, each_mbps.unwrap_or_default());
    let place = scenario.service_flow(name, entry, way);
    let homes = f64::from(scenario.group(place.0).count);
    let (under_way_s, demand_mbps) = (time.end - time.start, count * most_mbps);
    let flow = Flow { entry, place, homes, time, under_way_s, demand_mbps, got };
    (under_way_s > 0.0).then_some((count, flow))
}

fn own_row<'r>(rows: &'r Rows, name: &str, way: Direction) -> Option<&'r Row> {
    rows.flows.iter().find(|row| row.direction() == Some(way) && row.traffic() == name)
}

fn flow<'a>(
    scenario: &'a Scenario,
    rows: &Rows,
    name: &str,
    entry: &'a traffic::Entry,
    way: Direction,
) -> Option<Flow<'a>> {
    let own = own_row(rows, name, way).cloned().unwrap_or_default();
    let number = |column| own.number(column).unwrap_or_default();
    let place = scenario.service_flow(name, entry, way);
    let homes = f64::from(scenario.group(place.0).count);
    let (time, under_way_s) = scenario.under_way(entry, own.number("under_way_s"))?;
    let is_short = under_way_s.round() < SHORTEST_S && own.number("transfer_time_mean_s").is_none();
    let missing = is_short.then_some(SHORT);
    let mut unfinished_mb = None;
    let demand_mbps = match &entry.app {
        AppSpec::Transfer(app) => {
            // Nothing is sent any more of a file that was there before counting began.
            let is_earlier = entry.app.may_load_s().start < scenario.metrics.from_s;
            if app.file_bytes.is_some() && is_earlier && number("sent_bytes") == 0.0 {
                return None;
            }
            let files = f64::from(app.connections) * homes;
            let is_done = app.pauses() || number("transfers_completed") >= files;
            let payload = number("goodput_mbps") / number("throughput_mbps");
            let done_mb = (payload * number("delivered_bytes") * 1e-6).max(0.0);
            let all_mb =
                app.file_bytes.filter(|_| !is_done).map(|bytes| bytes as f64 * 1e-6 * files);
            unfinished_mb = all_mb.map(|all_mb| (done_mb, all_mb));
            f64::INFINITY
        }
        AppSpec::Torrent(_) => f64::INFINITY,
        _ => number("sent_bytes") * 8e-6 / under_way_s,
    };
    let got = Share::of(name, entry.app.share_name(way)?, way, number("rate_mbps"));
    let mark = scenario.low_latency_mark(name, entry);
    let got = Share { mark, unfinished_mb, missing, ..got };
    Some(Flow { entry, place, homes, time, under_way_s, demand_mbps, got })
}

/// The part of a flow.
#[derive(Clone)]
struct Part {
    mbit: f64,
    /// Is there no load on its links whose demand nobody knows?
    is_known: bool,
}

/// The max-min fair part of each flow while it runs: a sum over the times in which the same flows run. Those that
/// yield divide what the others need not have, whatever these get.
fn parts(scenario: &Scenario, rows: &Rows, flows: &[Flow<'_>], way: Direction) -> Vec<Part> {
    let mut edges: Vec<f64> =
        flows.iter().flat_map(|flow| [flow.time.start, flow.time.end]).collect();
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    let mut parts = vec![Part { mbit: 0.0, is_known: true }; flows.len()];
    for pair in edges.windows(2) {
        let time = pair[0]..pair[1];
        let length_s = time.end - time.start;
        let runs: Vec<usize> = (0..flows.len())
            .filter(|one| flows[*one].time.start <= time.start && time.end <= flows[*one].time.end)
            .collect();
        let (links, unknown) = links(scenario, rows, flows, way, &time, &runs);
        unknown.into_iter().for_each(|one| parts[one].is_known = false);
        let divided = |links: &[Link], among: &[usize], mbps: &dyn Fn(usize) -> f64| {
            let of = |number| if among.contains(&number) { mbps(number) * length_s } else { 0.0 };
            let demand = |(number, flow): (usize, &Flow<'_>)| Demand::new(of(number), flow.homes);
            let demands: Vec<Demand> = flows.iter().enumerate().map(demand).collect();
            max_min_of_links(links, &demands)
        };
        let (yielding, others): (Vec<usize>, Vec<usize>) =
            runs.iter().partition(|one| scenario.yields(flows[**one].entry));
        let first_mbit = divided(&links, &others, &|one| flows[one].first_mbps());
        let left = |link: &Link| Link {
            capacity: link.capacity - link.flows.iter().map(|one| first_mbit[*one]).sum::<f64>(),
            flows: link.flows.clone(),
        };
        let left: Vec<Link> = links.iter().map(left).collect();
        for (links, among) in [(&links, &others), (&left, &yielding)] {
            for one in among.iter().copied() {
                let mbps = |other: usize| match other == one {
                    true => flows[other].demand_mbps,
                    false => flows[other].beside_mbps(),
                };
                parts[one].mbit += divided(links, among, &mbps)[one];
            }
        }
    }
    parts
}

/// What each link carries in a time beside light traffic: the services of the homes, what they share, the core and
/// the servers. And the flows on links of which real programs take more than a little: they might have taken more.
fn links(
    scenario: &Scenario,
    rows: &Rows,
    flows: &[Flow<'_>],
    way: Direction,
    time: &Span,
    runs: &[usize],
) -> (Vec<Link>, Vec<usize>) {
    let length_s = time.end - time.start;
    let light_mbit = |of: &dyn Fn((usize, u8)) -> bool| {
        let is_light = |row: &&Row| {
            let entry = scenario.traffic.get(row.traffic());
            row.direction() == Some(way)
                && entry.is_some_and(|entry| of(scenario.service_flow(row.traffic(), entry, way)))
                && flows.iter().all(|flow| flow.got.traffic != row.traffic())
        };
        let light = rows.flows.iter().filter(is_light);
        light.filter_map(|row| row.number("throughput_mbps")).sum::<f64>() * length_s
    };
    let on_it = |passes: &dyn Fn(&Flow<'_>) -> bool| {
        runs.iter().copied().filter(|one| passes(&flows[*one])).collect::<Vec<_>>()
    };
    let mut unknown = Vec::new();
    let mut link = |mbit: f64, of: &dyn Fn((usize, u8)) -> bool| {
        let flows = on_it(&|flow| of(flow.place));
        let is_of =
            |name: &str, entry: &traffic::Entry| of(scenario.service_flow(name, entry, way));
        if real_mbps(scenario, rows, way, is_of) * length_s > LITTLE * mbit {
            unknown.extend(&flows);
        }
        Link { capacity: (mbit - light_mbit(of)).max(EXCUSED * mbit), flows }
    };
    let channels: Vec<Option<f64>> =
        scenario.groups().map(|group| scenario.channel_mbit(&group, way, time)).collect();
    let mut links = Vec::new();
    for (number, flow) in scenario.all_service_flows(way) {
        let group = scenario.group(number);
        let is_its = |place| place == (number, flow);
        let own = flows.iter().filter(|one| is_its(one.place));
        let starts_s = own.map(|flow| flow.entry.app.start_s().unwrap_or_default());
        let since_s = starts_s.fold(f64::INFINITY, f64::min).min(time.start);
        let each_mbit = scenario.service_mbit(number, (way, flow), since_s, time);
        let mbit = (each_mbit * f64::from(group.count)).min(channels[number].unwrap_or(f64::MAX));
        links.push(link(mbit, &is_its));
    }
    let sending: Vec<_> = runs.iter().map(|one| (flows[*one].place.0, flows[*one].homes)).collect();
    for (groups, mbit) in scenario.shared_mbit(way, time, &sending) {
        let is_on = |of: (usize, u8)| groups.contains(&of.0) && channels[of.0].is_some();
        links.push(link(mbit, &is_on));
    }
    for mbit in scenario.core_mbit(way, time) {
        links.push(link(mbit, &|_| true));
    }
    for (name, server) in &scenario.servers {
        let is_of = |entry: &traffic::Entry| match entry.app.parameters().servers().as_slice() {
            [(_, only)] => *only == name.as_str(),
            _ => false,
        };
        let flows = on_it(&|flow| is_of(flow.entry));
        if real_mbps(scenario, rows, way, |_, entry| is_of(entry)) > LITTLE * server.rate_mbps {
            unknown.extend(&flows);
        }
        links.push(Link { capacity: server.rate_mbps * length_s, flows });
    }
    (links, unknown)
}

/// What the real programs of these entries take.
fn real_mbps(
    scenario: &Scenario,
    rows: &Rows,
    way: Direction,
    is_of: impl Fn(&str, &traffic::Entry) -> bool,
) -> f64 {
    let real = scenario.traffic.iter().filter(|(_, one)| matches!(one.app, AppSpec::Real(_)));
    let own = real.filter(|(name, entry)| is_of(name, entry));
    own.filter_map(|(name, _)| own_row(rows, name, way)?.number("throughput_mbps")).sum()
}
