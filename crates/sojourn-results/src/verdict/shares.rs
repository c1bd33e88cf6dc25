//! Each transfer, torrent and stream of data, and what it gets of its max-min fair part of what the line carries.

use serde::Serialize;

use super::thresholds::Grade;
use crate::metrics::{Row, Rows};
use crate::words::digits;
use sojourn_engine::packet::Direction;
use sojourn_scenario::apps::{AppSpec, Bulk};
use sojourn_scenario::{Scenario, Span, traffic};

/// Light traffic excuses no more of what a link carries.
const EXCUSED: f64 = 0.5;
/// A transfer needs some seconds to reach its rate, and a film to stall.
pub(super) const SHORTEST_S: f64 = 10.0;

/// What a transfer, a torrent or a stream of data gets in the direction of its payload.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Share {
    /// The traffic entry.
    pub traffic: String,
    /// What it is: the name of an application.
    pub application: &'static str,
    /// Its rate while it ran, in Mbps.
    pub mbps: f64,
    /// Its max-min fair part of the line or, if that is less, what it had to send, in Mbps.
    pub part_mbps: f64,
    /// What it gets of that, in percent; `None` if that is not known.
    pub share_percent: Option<f64>,
    /// Its grade over seeds; `None` if its share is not known.
    pub grade: Option<Grade>,
    #[serde(skip)]
    pub(super) way: Direction,
    /// Half of the 95 % interval of the share, with several seeds.
    #[serde(skip)]
    pub(super) half_width: Option<f64>,
    /// The payload of a file that is unfinished at the end, and its size, in MB.
    #[serde(skip)]
    pub(super) unfinished_mb: Option<(f64, f64)>,
    /// Why its share is unknown, if it is.
    #[serde(skip)]
    pub(super) missing: Option<String>,
}

impl Share {
    /// Its rate as a multiple of its part.
    pub(super) fn of_part(&self) -> f64 {
        self.mbps / self.part_mbps
    }
}

/// A bulk entry with what limits it.
struct Flow<'a> {
    entry: &'a traffic::Entry,
    group: usize,
    homes: f64,
    time: Span,
    /// What all its homes together have to send, in Mbps while it runs; endless without a limit.
    demand_mbps: f64,
    got: Share,
}

/// A link with the flows that pass it.
struct Link {
    mbit: f64,
    flows: Vec<usize>,
}

/// All bulk entries that have a share, in the order of the scenario.
pub(super) fn transfers(scenario: &Scenario, rows: &Rows) -> Vec<Share> {
    Direction::BOTH.into_iter().flat_map(|way| of_direction(scenario, rows, way)).collect()
}

fn of_direction(scenario: &Scenario, rows: &Rows, way: Direction) -> Vec<Share> {
    let shared = scenario.traffic.iter().filter(|(_, entry)| entry.app.has_share(way));
    let flows: Vec<Flow<'_>> =
        shared.filter_map(|(name, entry)| flow(scenario, rows, name, entry, way)).collect();
    let parts_mbit = parts_mbit(scenario, rows, &flows, way);
    let share = |(flow, part_mbit): (Flow<'_>, f64)| {
        let line_mbps = part_mbit / (flow.time.end - flow.time.start);
        let part_mbps = line_mbps.min(flow.demand_mbps).max(f64::MIN_POSITIVE);
        let percent = (100.0 * flow.got.mbps / part_mbps).min(100.0);
        let share_percent = Some(percent).filter(|_| flow.got.missing.is_none());
        Share { part_mbps, share_percent, ..flow.got }
    };
    flows.into_iter().zip(parts_mbit).map(share).collect()
}

fn flow<'a>(
    scenario: &'a Scenario,
    rows: &Rows,
    name: &str,
    entry: &'a traffic::Entry,
    way: Direction,
) -> Option<Flow<'a>> {
    let is_own = |row: &&Row| row.direction() == Some(way) && row.traffic() == name;
    let own = rows.flows.iter().find(is_own);
    let number = |column| own.and_then(|row| row.number(column)).unwrap_or_default();
    let group = scenario.group_of(entry);
    let home = scenario.group(group);
    let (homes, loads) = (f64::from(home.count), entry.app.may_load_s());
    let from_s = (loads.start + entry.app.bulk_spread_s()).max(scenario.metrics.from_s);
    let time = from_s..loads.end.min(scenario.duration_s);
    let length_s = Some(time.end - time.start).filter(|length_s| *length_s > 0.0)?;
    // The time in which counted packets could arrive, over which rates are.
    let mbit = number("delivered_bytes") * 8e-6;
    let (rate_mbps, counted_s) = (number("throughput_mbps"), scenario.counted_s());
    let arrival_s = Some(mbit / rate_mbps).filter(|of| of.is_normal()).unwrap_or(counted_s);
    let rate_s = arrival_s.min(length_s);
    let mbps = rate_mbps * arrival_s / rate_s;
    let what = Bulk::of(&entry.app)?.word(way);
    let short = || format!("the {what} is measured for {} s, not {SHORTEST_S}", digits(rate_s));
    let mut missing = (rate_s.round() < SHORTEST_S).then(short);
    let mut unfinished_mb = None;
    let demand_mbps = match &entry.app {
        AppSpec::Transfer(app) => {
            // Nothing is sent any more of a file that was there before counting began.
            let is_earlier = app.file_bytes.is_some() && loads.start < scenario.metrics.from_s;
            if is_earlier && number("sent_bytes") == 0.0 {
                return None;
            }
            let files = f64::from(app.connections) * homes;
            let file_mbit = app.file_bytes.map(|bytes| bytes as f64 * 8e-6 * files);
            let is_done = app.every_s.is_none() && number("transfers_completed") >= files;
            if let (Some(file_mbit), None, false) = (file_mbit, app.every_s, is_done) {
                let done_mbit = number("goodput_mbps") * arrival_s;
                unfinished_mb = Some((done_mbit / 8.0, file_mbit / 8.0));
            }
            missing = missing.filter(|_| !is_done);
            let needed_mbit = if is_done { Some(mbps * rate_s) } else { file_mbit };
            needed_mbit.map_or(f64::INFINITY, |of| of / app.every_s.unwrap_or(rate_s))
        }
        AppSpec::Torrent(app) => app.limit_mbps.map_or(f64::INFINITY, |mbps| mbps * homes),
        _ => number("sent_bytes") * 8e-6 / length_s,
    };
    if !home.has_one_flow(way) {
        let stream = way.stream();
        missing = Some(format!("the home of the {what} has several {stream} service flows"));
    }
    let got = Share {
        traffic: name.to_owned(),
        application: entry.app.share_name(way)?,
        mbps,
        part_mbps: 0.0,
        share_percent: None,
        grade: None,
        way,
        half_width: None,
        unfinished_mb,
        missing,
    };
    Some(Flow { entry, group, homes, time, demand_mbps, got })
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
        let got = |one: usize| flows[one].got.mbps * length_s;
        let (yielding, others): (Vec<usize>, Vec<usize>) =
            runs.iter().partition(|one| scenario.yields(flows[**one].entry));
        for (one, mbit) in max_min(&links, flows, &others, length_s) {
            parts[one] += mbit;
        }
        for one in yielding {
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
                && flows.iter().all(|flow| flow.got.traffic != row.traffic())
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
