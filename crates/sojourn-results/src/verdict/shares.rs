//! Each transfer, torrent and stream of data, and what it gets of its max-min fair part of what the line carries.

use super::missing::{Missing, SHORTEST_S};
use super::rows::{Row, Rows};
use sojourn_engine::packet::Direction;
use sojourn_scenario::apps::{AppSpec, Bulk};
use sojourn_scenario::{Scenario, Span, traffic};

/// Light traffic excuses no more of what a link carries.
const EXCUSED: f64 = 0.5;

/// What a bulk entry got in the direction of its payload.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Transfer {
    pub name: String,
    pub sort: Bulk,
    pub way: Direction,
    /// Its rate while it ran, in Mbps.
    pub mbps: f64,
    /// Its part of what the line carries meanwhile or, if that is less, what it had to send, in Mbps.
    pub part_mbps: f64,
    /// The payload of a file that is unfinished at the end, and its size, in MB.
    pub unfinished_mb: Option<(f64, f64)>,
    /// Why its share is unknown, if it is.
    pub missing: Option<Missing>,
}

impl Transfer {
    /// What it got of its part, in percent.
    pub(super) fn share_percent(&self) -> f64 {
        (100.0 * self.mbps / self.part_mbps).min(100.0)
    }
}

/// A bulk entry with what limits it.
struct Flow<'a> {
    name: &'a str,
    entry: &'a traffic::Entry,
    sort: Bulk,
    group: usize,
    homes: f64,
    time: Span,
    /// What it gets, in Mbit.
    mbit: f64,
    /// What all its homes together have to send, in Mbps while it runs; endless without a limit.
    demand_mbps: f64,
    /// Does its congestion control leave the line to others (LEDBAT)?
    yields: bool,
    completed: f64,
    goodput_mbit: f64,
}

/// A link with the flows that pass it.
struct Link {
    mbit: f64,
    flows: Vec<usize>,
}

/// All bulk entries that have a share, in the order of the scenario.
pub(super) fn transfers(scenario: &Scenario, rows: &Rows) -> Vec<Transfer> {
    Direction::BOTH.into_iter().flat_map(|way| of_direction(scenario, rows, way)).collect()
}

/// Has an entry a share in a direction? One that pauses at random or between files has none.
pub(super) fn is_shared(app: &AppSpec, way: Direction) -> bool {
    app.loads(way)
        && match app {
            AppSpec::Transfer(transfer) => transfer.pause_s.is_none(),
            AppSpec::Torrent(_) | AppSpec::Stream(_) => true,
            _ => false,
        }
}

fn of_direction(scenario: &Scenario, rows: &Rows, way: Direction) -> Vec<Transfer> {
    let flows: Vec<Flow<'_>> = scenario
        .traffic
        .iter()
        .filter(|(_, entry)| is_shared(&entry.app, way))
        .filter_map(|(name, entry)| flow(scenario, rows, name, entry, way))
        .collect();
    let parts_mbit = parts_mbit(scenario, rows, &flows, way);
    flows.iter().zip(parts_mbit).map(|(flow, mbit)| transfer(scenario, flow, way, mbit)).collect()
}

fn flow<'a>(
    scenario: &'a Scenario,
    rows: &Rows,
    name: &'a str,
    entry: &'a traffic::Entry,
    way: Direction,
) -> Option<Flow<'a>> {
    let is_own = |row: &&Row| row.traffic() == name && row.direction() == Some(way);
    let own: Vec<&Row> = rows.flows.iter().filter(is_own).collect();
    let sum = |column| own.iter().filter_map(|row| row.number(column)).sum::<f64>();
    let (group, counted_s) = (scenario.group_of(entry), scenario.counted_s());
    let homes = f64::from(scenario.group(group).count);
    let (start_s, spread_s, stop_s) = match &entry.app {
        AppSpec::Transfer(app) => (app.start_s, app.start_spread_s, app.stop_s),
        AppSpec::Torrent(app) => (app.start_s, app.start_spread_s, None),
        AppSpec::Stream(app) => (app.start_s.unwrap_or_default(), 0.0, app.stop_s),
        _ => return None,
    };
    let from_s = (start_s + spread_s).max(scenario.metrics.from_s);
    let time = from_s..stop_s.unwrap_or(f64::INFINITY).min(scenario.duration_s);
    let sent_mbps = sum("sent_bytes") * 8e-6 / (time.end - time.start);
    let demand_mbps = match &entry.app {
        AppSpec::Transfer(app) => match (app.file_bytes, app.every_s) {
            (Some(bytes), Some(every_s)) => {
                bytes as f64 * 8e-6 / every_s * f64::from(app.connections) * homes
            }
            _ => f64::INFINITY,
        },
        AppSpec::Torrent(app) => app.limit_mbps.map_or(f64::INFINITY, |mbps| mbps * homes),
        _ => sent_mbps,
    };
    (time.end > time.start).then(|| Flow {
        name,
        entry,
        sort: Bulk::of(&entry.app).unwrap_or(Bulk::Data),
        group,
        homes,
        time,
        mbit: sum("throughput_mbps") * counted_s,
        demand_mbps,
        yields: scenario.yields(entry),
        completed: sum("transfers_completed"),
        goodput_mbit: sum("goodput_mbps") * counted_s,
    })
}

fn transfer(scenario: &Scenario, flow: &Flow<'_>, way: Direction, part_mbit: f64) -> Transfer {
    let length_s = flow.time.end - flow.time.start;
    let mut unfinished_mb = None;
    let mut missing = (length_s < SHORTEST_S).then_some(Missing::TooShort(flow.sort, way));
    let mut offered_mbit = flow.demand_mbps * length_s;
    if let AppSpec::Transfer(app) = &flow.entry.app
        && let (Some(bytes), None) = (app.file_bytes, app.every_s)
    {
        let files = f64::from(app.connections) * flow.homes;
        let file_mb = bytes as f64 * files / 1e6;
        if flow.completed >= files {
            (offered_mbit, missing) = (flow.mbit, None);
        } else {
            unfinished_mb = Some((flow.goodput_mbit / 8.0, file_mb));
        }
    }
    let group = scenario.group(flow.group);
    let has_flows = match way {
        Direction::Up => !group.upstream.flows.is_empty(),
        Direction::Down => !group.downstream.flows.is_empty(),
    };
    if has_flows {
        missing = Some(Missing::SeveralFlows(flow.sort, way));
    }
    Transfer {
        name: flow.name.to_owned(),
        sort: flow.sort,
        way,
        mbps: flow.mbit / length_s,
        part_mbps: (part_mbit.min(offered_mbit) / length_s).max(f64::MIN_POSITIVE),
        unfinished_mb,
        missing,
    }
}

/// The max-min fair part of each flow while it runs, in Mbit: a sum over the times in which the same flows run. One
/// that yields has what the others leave.
fn parts_mbit(scenario: &Scenario, rows: &Rows, flows: &[Flow<'_>], way: Direction) -> Vec<f64> {
    let mut edges: Vec<f64> =
        flows.iter().flat_map(|flow| [flow.time.start, flow.time.end]).collect();
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    let mut parts = vec![0.0; flows.len()];
    for pair in edges.windows(2) {
        let time = pair[0]..pair[1];
        let length_s = time.end - time.start;
        let runs: Vec<usize> = (0..flows.len())
            .filter(|one| flows[*one].time.start <= time.start && time.end <= flows[*one].time.end)
            .collect();
        let links = links(scenario, rows, flows, way, &time, &runs);
        let got = |one: usize| {
            let flow = &flows[one];
            flow.mbit * length_s / (flow.time.end - flow.time.start)
        };
        let others: Vec<usize> = runs.iter().copied().filter(|one| !flows[*one].yields).collect();
        for (one, mbit) in max_min(&links, flows, &others, length_s) {
            parts[one] += mbit;
        }
        for one in runs.iter().copied().filter(|one| flows[*one].yields) {
            let left = |link: &Link| {
                let taken = link.flows.iter().filter(|other| **other != one).map(|o| got(*o));
                link.mbit - taken.sum::<f64>()
            };
            let own = links.iter().filter(|link| link.flows.contains(&one));
            parts[one] += own.map(left).fold(f64::INFINITY, f64::min).max(got(one));
        }
    }
    parts
}

/// What each link carries in a time beside light traffic: the services of the homes, what they share, the core and
/// the servers.
fn links(
    scenario: &Scenario,
    rows: &Rows,
    flows: &[Flow<'_>],
    way: Direction,
    time: &Span,
    runs: &[usize],
) -> Vec<Link> {
    let length_s = time.end - time.start;
    let light_mbit = |of: &dyn Fn(usize) -> bool| {
        let is_light = |row: &&Row| {
            let entry = scenario.traffic.get(row.traffic());
            row.direction() == Some(way)
                && entry.is_some_and(|entry| of(scenario.group_of(entry)))
                && flows.iter().all(|flow| flow.name != row.traffic())
        };
        let light = rows.flows.iter().filter(is_light);
        light.filter_map(|row| row.number("throughput_mbps")).sum::<f64>() * length_s
    };
    let link = |mbit: f64, light_mbit: f64, passes: &dyn Fn(&Flow<'_>) -> bool| Link {
        mbit: (mbit - light_mbit).max(EXCUSED * mbit),
        flows: runs.iter().copied().filter(|one| passes(&flows[*one])).collect(),
    };
    let mut links = Vec::new();
    for (number, group) in (0..).zip(scenario.groups()) {
        let of_group = |flow: &Flow<'_>| flow.group == number;
        let starts_s = flows
            .iter()
            .filter(|flow| of_group(flow))
            .map(|flow| flow.entry.app.start_s().unwrap_or_default());
        let since_s = starts_s.fold(f64::INFINITY, f64::min).min(time.start);
        let each_mbit = scenario.service_mbit(number, way, since_s, time);
        let light = light_mbit(&|other| other == number);
        links.push(link(each_mbit * f64::from(group.count), light, &of_group));
        if let Some(mbps) = scenario.channel_mbps(&group, way) {
            links.push(link(mbps * length_s, light_mbit(&|_| true), &|_| true));
        }
    }
    for mbit in scenario.core_mbit(way, time) {
        links.push(link(mbit, light_mbit(&|_| true), &|_| true));
    }
    for (name, server) in &scenario.servers {
        let is_of = |flow: &Flow<'_>| match flow.entry.app.parameters().servers().as_slice() {
            [(_, only)] => *only == name.as_str(),
            _ => false,
        };
        links.push(link(server.rate_mbps * length_s, 0.0, &is_of));
    }
    links
}

/// Max-min fair parts: all homes' parts grow alike until a link is full or all is sent.
fn max_min(links: &[Link], flows: &[Flow<'_>], runs: &[usize], length_s: f64) -> Vec<(usize, f64)> {
    let (mut open, mut parts) = (runs.to_vec(), Vec::<(usize, f64)>::new());
    while !open.is_empty() {
        let level = |link: &Link| {
            let is_of = |one: &usize| link.flows.contains(one);
            let fixed: f64 = parts.iter().filter(|(one, _)| is_of(one)).map(|(_, mbit)| mbit).sum();
            let homes: f64 =
                open.iter().filter(|one| is_of(one)).map(|one| flows[*one].homes).sum();
            if homes > 0.0 { (link.mbit - fixed).max(0.0) / homes } else { f64::INFINITY }
        };
        let levels: Vec<f64> = links.iter().map(level).collect();
        let low = levels.iter().copied().fold(f64::INFINITY, f64::min);
        let demand = |one: usize| flows[one].demand_mbps * length_s;
        let is_small = |one: &usize| demand(*one) <= low * flows[*one].homes;
        let is_full = |one: &usize| {
            let mut own = links.iter().zip(&levels).filter(|(link, _)| link.flows.contains(one));
            own.any(|(_, level)| *level <= low)
        };
        let any_small = open.iter().any(is_small);
        let is_fixed = |one: &usize| if any_small { is_small(one) } else { is_full(one) };
        let fixed: Vec<usize> = open.iter().copied().filter(is_fixed).collect();
        open.retain(|one| !fixed.contains(one));
        parts.extend(fixed.iter().map(|one| (*one, demand(*one).min(low * flows[*one].homes))));
    }
    parts
}
