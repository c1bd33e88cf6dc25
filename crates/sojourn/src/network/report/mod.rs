//! From a finished run to its results.

mod burst;
mod controllers;
mod delay_parts;
pub(super) mod early_tail;
mod flows;
mod idle_laws;
mod lapses;
mod lost_ecn;
mod queue_keys;
pub(super) mod service_flows;
mod slow_servers;
mod starved;
mod traffic_classes;

use std::collections::BTreeMap;

use super::Simulation;
use super::hops::Hops;
use super::ledger::connections::ConnectionAccount;
use super::reading::Reading;
use sojourn_access::{Access, AccessNetwork, Group, PlacedQueue};
use sojourn_engine::capacity::Trace;
use sojourn_engine::packet::{Direction, NQB};
use sojourn_engine::queue::Queue;
use sojourn_engine::record::ChannelUse;
use sojourn_engine::record::{Delay, ModemEvent, PacketRecord};
use sojourn_engine::record::{Latency, Member, MemberCounts, QueueCounts, Series};
use sojourn_engine::units::Time;
use sojourn_input::fault;
use sojourn_input::problem::Warning;
use sojourn_input::words;
use sojourn_results::metrics::rows::{
    ChannelRow, FirstHalfRow, FlowRow, LatencyHistogramRow, PageRow, QueueRow,
};
use sojourn_results::metrics::{LatencyCells, Results, SeriesRow};
use sojourn_results::scores::qoe;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::outside::LITTLE;
use sojourn_scenario::apps::{Done, Quality};
use sojourn_scenario::traffic::Entry;
use sojourn_scenario::{Idle, Unwatched, idle_keys};

/// The results of a run that has come to its end.
pub(super) fn results(
    run: &Simulation,
    packets: Vec<PacketRecord>,
    modem_events: Vec<ModemEvent>,
    delays: Vec<Delay>,
) -> Results {
    let names: Vec<String> = run.scenario.traffic.keys().cloned().collect();
    let Reading { channels, macs, done, lapses } = counted(run);
    let placed = run.queues();
    let mut results = Results {
        version: crate::VERSION,
        duration_s: run.scenario.duration_s,
        events: run.events,
        forwarded_packets: run.forwarded_packets(),
        fingerprint: run.fingerprint,
        planned_s: None,
        changes: Vec::new(),
        warnings: warnings(run, &done),
        flows: Vec::new(),
        traffic_classes: Vec::new(),
        connections: Vec::new(),
        service_flows: service_flows::rows(run, &macs),
        channels: channels.iter().map(channel_row).collect(),
        queues: placed.iter().flat_map(|placed| queue_rows(run, placed)).collect(),
        latency_histogram: placed.iter().flat_map(|placed| histogram_rows(placed.queue)).collect(),
        pages: names.iter().zip(&done).flat_map(|(name, done)| page_rows(name, done)).collect(),
        latencies: Vec::new(),
        series: placed
            .iter()
            .flat_map(|placed| queue_series(run, placed.queue))
            .chain(channel_series(run))
            .chain(hop_series(run))
            .chain(app_series(run, &names))
            .collect(),
        packets,
        modem_events,
        delay_parts: delay_parts::rows(run, &delays),
        first_half: run.first_half.clone(),
        delays,
        ports: run.scenario.traffic.values().map(Entry::port).collect(),
        timestamps: run.configs.iter().map(|config| config.timestamps).collect(),
        servers: run.scenario.servers.keys().cloned().collect(),
        traffic: names,
    };
    for (index, done) in done.iter().enumerate() {
        for direction in Direction::BOTH {
            add_flow(&mut results, run, index, direction, done);
        }
    }
    for account in run.ledger.connections().accounts() {
        for direction in Direction::BOTH {
            add_connection(&mut results, run, account, direction);
        }
    }
    results.traffic_classes = traffic_classes::rows(run, &results.flows, &done);
    results.warnings.extend(service_flows::unused(&run.scenario, &results.service_flows));
    results.warnings.extend(service_flows::passed_by(&run.scenario, &results.service_flows));
    results.warnings.extend(unused_low_latency(&run.scenario, &results.queues));
    results.warnings.extend(idle_laws::warnings(&run.scenario, &placed, &lapses));
    let brought = |traffic: &str, way: Direction| {
        let is_of = |row: &&FlowRow| row.traffic == traffic && row.direction == way.name();
        results.flows.iter().filter(is_of).any(|row| row.goodput_mbps > 0.0)
    };
    let unwatched = run.scenario.unwatched(brought);
    results.warnings.extend(unwatched.iter().map(Unwatched::warning));
    results
}

/// What grades read of the first half of the time that counts.
pub(super) type FirstHalf = Vec<FirstHalfRow>;

/// What grades read of flows and queues, of a run that ends now.
pub(super) fn first_half(run: &Simulation) -> FirstHalf {
    let (done, placed) = (counted(run).done, run.queues());
    let ways = (0..).zip(&done).flat_map(|one| Direction::BOTH.map(|way| (one, way)));
    let has_sent = |((index, _), way): &((usize, &Done), Direction)| {
        run.ledger.account(*index, *way).sent.packets > 0
    };
    let flows =
        ways.filter(has_sent).map(|((index, done), way)| flows::flow_row(run, index, way, done));
    let queues = placed.iter().flat_map(|placed| queue_rows(run, placed));
    FirstHalfRow::of(&flows.collect::<Vec<_>>(), &queues.collect::<Vec<_>>())
}

/// What counts of the counters' readings now.
fn counted(run: &Simulation) -> Reading {
    let whole = Reading::of(run);
    match &run.before_counting {
        Some(before) => whole.since(before, run.counts_from),
        None => whole,
    }
}

/// What an entry of the traffic list sent in a direction, if it sent anything.
fn add_flow(
    results: &mut Results,
    run: &Simulation,
    index: usize,
    direction: Direction,
    done: &Done,
) {
    let account = run.ledger.account(index, direction);
    if account.first_sent.is_none() {
        return;
    }
    let name = &results.traffic[index];
    let subject = format!("{name} {}", direction.name());
    if !account.round_trips.is_empty() {
        results.series.push(series_row(run, subject.clone(), account.round_trips.series()));
    }
    results.series.push(series_row(run, subject, &account.throughput));
    if account.sent.packets == 0 {
        return;
    }
    results.latencies.push(LatencyCells {
        traffic: name.clone(),
        direction: direction.name(),
        cells: account.latency.cells(),
    });
    results.flows.push(flows::flow_row(run, index, direction, done));
}

/// What was delivered of a connection in a direction, if anything was; over time only where there was
/// payload, while the connection was open.
fn add_connection(
    results: &mut Results,
    run: &Simulation,
    account: &ConnectionAccount,
    direction: Direction,
) {
    let way = &account.ways[direction as usize];
    let name = &results.traffic[usize::from(account.traffic)];
    if way.carried_payload() {
        let subject = format!("{name} {} {}", direction.name(), account.number);
        let series = std::iter::once(&way.throughput).chain(way.sender.iter());
        let rows =
            series.map(|series| while_open(series_row(run, subject.clone(), series), account));
        results.series.extend(rows);
    }
    if way.delivered.packets + way.dropped_packets > 0 {
        results.connections.push(flows::connection_row(name, account, direction));
    }
}

/// The values of the time in which a connection was open.
fn while_open(mut row: SeriesRow, account: &ConnectionAccount) -> SeriesRow {
    let interval_of = |s: f64| (s / row.interval_s) as usize;
    row.offset = interval_of(account.start.secs_f64());
    if let Some(end) = account.end {
        row.series.values.truncate(interval_of(end.secs_f64()) + 1);
    }
    row.series.values.drain(..row.offset.min(row.series.values.len()));
    row
}

fn page_rows(name: &str, done: &Done) -> impl Iterator<Item = PageRow> {
    let shares = qoe::shares_up_to(&flows::load_times_s(done));
    done.pages.iter().zip(shares).map(|(page, share)| PageRow {
        traffic: name.to_owned(),
        start_s: page.start.secs_f64(),
        load_time_s: page.took.secs_f64(),
        first_render_s: page.first_render.map(|took| took.secs_f64()),
        cdf_percent: share,
    })
}

/// The row of a queue, and of its members if it has any.
fn queue_rows(run: &Simulation, placed: &PlacedQueue<'_>) -> Vec<QueueRow> {
    let PlacedQueue { queue, direction, home } = placed;
    let Some(meter) = queue.meter() else { return Vec::new() };
    let (name, counts) = (meter.name(), queue.counts().counted);
    let members = queue.members().map(|both| both.map(|member| member.counted));
    let homes = home.map(|home| run.scenario.group_of_home(home).name.to_owned());
    let row = |member: Option<Member>, sojourn, counts, causes| QueueRow {
        queue: member.map_or(name.to_owned(), |of| format!("{name} {}", of.name())),
        direction: direction.name(),
        homes: homes.clone(),
        member: member.map(Member::name),
        ..queue_row(sojourn, counts, causes)
    };
    let both = members.map(|[low, classic]| low.plus(classic));
    let whole = row(None, meter.sojourn(), counts, both.as_ref());
    let members = Member::ALL.into_iter().zip(members.iter().flatten());
    let members = members.filter_map(|(member, causes)| {
        Some(row(Some(member), meter.sojourn_of(member)?, causes.counts(), Some(causes)))
    });
    std::iter::once(whole).chain(members).collect()
}

/// What was measured of a queue or of a member of it.
fn queue_row(sojourn: &Latency, counts: QueueCounts, causes: Option<&MemberCounts>) -> QueueRow {
    QueueRow {
        departed_packets: sojourn.count(),
        sojourn_mean_ms: sojourn.mean_ms(),
        sojourn_p50_ms: sojourn.quantile_ms(0.5),
        sojourn_p90_ms: sojourn.quantile_ms(0.9),
        sojourn_p99_ms: sojourn.quantile_ms(0.99),
        sojourn_p999_ms: sojourn.quantile_ms(0.999),
        sojourn_p9999_ms: sojourn.quantile_ms(0.9999),
        sojourn_max_ms: sojourn.max_ms(),
        marked_packets: counts.marked,
        native_marked_packets: causes.map(|causes| causes.native_marks),
        coupled_marked_packets: causes.map(|causes| causes.coupled_marks),
        overload_marked_packets: causes.map(|causes| causes.overload_marks),
        dropped_overflow_packets: counts.dropped_overflow,
        dropped_aqm_packets: counts.dropped_aqm,
        sanctioned_packets: causes.map(|causes| causes.sanctioned),
        ..QueueRow::default()
    }
}

/// The rows of a queue's latency histogram, if it keeps one.
fn histogram_rows(queue: &Queue) -> Vec<LatencyHistogramRow> {
    let (Some(meter), Some(histogram)) = (queue.meter(), queue.latency_histogram()) else {
        return Vec::new();
    };
    let rows = Member::ALL.into_iter().flat_map(|member| {
        let bins = histogram.of_member(member);
        let edges_ms = histogram.edges_ms().map(Some).chain([None]);
        edges_ms.zip(&bins.packets).map(move |(up_to_ms, packets)| LatencyHistogramRow {
            queue: meter.name().to_owned(),
            member: member.name(),
            up_to_ms,
            packets: *packets,
            greatest_ms: Some(bins.greatest.ms_f64()),
        })
    });
    rows.collect()
}

/// The row of a channel.
fn channel_row(used: &ChannelUse) -> ChannelRow {
    let share = used.used.0 / used.used.1;
    let requests = used.requests.as_ref();
    ChannelRow {
        channel: used.name.clone(),
        granted_minislots: requests.map(|of| of.granted_minislots),
        utilisation_percent: 100.0 * share.min(1.0), // what was sent last may end after the run
        request_opportunities: requests.map(|of| of.request_opportunities),
        contention_requests: requests.map(|of| of.contention_requests),
        collisions: requests.map(|of| of.collisions),
        segments: used.segments.map(|of| of.sent),
        lost_segments: used.segments.map(|of| of.lost),
        given_up_segments: used.segments.map(|of| of.given_up),
        ranging_requests: used.ranging.map(|of| of.requests),
        t3_timeouts: used.ranging.map(|of| of.t3_timeouts),
        t3_exceeded: used.ranging.map(|of| of.t3_exceeded),
        t4_timeouts: used.ranging.map(|of| of.t4_timeouts),
    }
}

fn queue_series(run: &Simulation, queue: &Queue) -> Vec<SeriesRow> {
    queue.series().map(|(subject, series)| series_row(run, subject, series)).collect()
}

fn channel_series(run: &Simulation) -> impl Iterator<Item = SeriesRow> {
    let series = run.access.channel_series().into_iter();
    series.map(|(subject, series)| series_row(run, subject, series))
}

/// Series of hops from outside.
fn hop_series(run: &Simulation) -> impl Iterator<Item = SeriesRow> {
    let own = run.hops.iter().flat_map(Hops::all).filter_map(|placed| placed.hop.own());
    own.flat_map(move |own| {
        own.series().map(move |series| series_row(run, own.name().to_owned(), series))
    })
}

/// What apps show; parts of one's own do.
fn app_series<'a>(
    run: &'a Simulation,
    names: &'a [String],
) -> impl Iterator<Item = SeriesRow> + 'a {
    let of = names.iter().zip(&run.app_series);
    of.flat_map(move |(name, (_, all))| {
        all.iter().map(|series| series_row(run, name.clone(), series))
    })
}

fn series_row(run: &Simulation, subject: String, series: &Series) -> SeriesRow {
    let interval_s = run.sample_interval.secs_f64() * f64::from(series.stride);
    SeriesRow { subject, series: series.clone(), offset: 0, interval_s }
}

/// What a user must know of the network.
pub(super) fn warnings_of_network(access: &Access, scenario: &Scenario) -> Vec<Warning> {
    let mut warnings = access.warnings();
    warnings.extend(service_flows::strange_addresses(scenario));
    warnings.extend(starved::warnings(scenario));
    warnings.extend(routers_with_nothing_to_do(scenario));
    warnings.extend(distinct(controllers::idle(scenario)));
    warnings.extend(distinct(scenario.groups().flat_map(|group| idle_capacities(&group))));
    warnings
        .extend(distinct(scenario.groups().flat_map(|group| beyond_channels(scenario, &group))));
    warnings.extend(slow_servers::warnings(scenario));
    warnings.extend(queue_keys::warnings(scenario));
    warnings.extend(lost_ecn::warnings(scenario));
    warnings.extend(idle_keys(scenario).into_iter().map(Idle::warning));
    warnings.extend(scenario.traffic.iter().filter_map(|(name, entry)| {
        let start_s = late_start_s(entry, scenario)?;
        Some(fault!(LateTraffic, words::join("traffic", name) =>
            "traffic.{name} sends nothing: it starts at {start_s} s, and the run ends at {end_s} s",
            start_s, end_s = scenario.duration_s))
    }));
    warnings
}

/// These warnings, each once, in the order of their sentences.
fn distinct(warnings: impl IntoIterator<Item = Warning>) -> Vec<Warning> {
    let by_sentence = warnings.into_iter().map(|warning| (warning.message.clone(), warning));
    by_sentence.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// A router helps where it is slower than the service, so that packets wait in it.
fn routers_with_nothing_to_do(scenario: &Scenario) -> Vec<Warning> {
    let groups = (0..).zip(scenario.groups());
    let ways = groups.flat_map(|group| Direction::BOTH.map(|way| (group, way)));
    let idle = ways.filter_map(|((number, group), way)| {
        let router = scenario.router_of(number)?;
        let shaper = router.of(way)?;
        // What a controller sets, it sets by what it measures.
        let is_set = router.controller.is_some() && shaper.settable_mbps().is_some();
        let router_mbps = if is_set { None } else { Some(shaper.least_mbps()) }?;
        let service_mbps = group.terms(way).sustained_mbps;
        let path = group.path_of(&words::join("router", way.stream()));
        let elsewhere = if way == Direction::Up { "the modem" } else { "the CMTS" };
        (router_mbps >= service_mbps).then(|| {
            let router_mbps = (router_mbps * 1e3).round() / 1e3;
            fault!(IdleRouter, &path =>
                "{path} carries {router_mbps} Mbps, no less than the service ({service_mbps} Mbps): what waits in \
                 {elsewhere} is not managed by the router", router_mbps, service_mbps)
        })
    });
    distinct(idle)
}

/// What a link carries over time matters where it is less than the service.
fn idle_capacities(group: &Group<'_>) -> Vec<Warning> {
    let both = [
        (Direction::Up, &group.upstream.capacity, group.upstream.terms()),
        (Direction::Down, &group.downstream.capacity, group.downstream.terms()),
    ];
    let idle = both.into_iter().filter_map(|(way, trace, terms)| {
        let least_mbps = trace.iter().flat_map(Trace::all).map(|step| step.mbps);
        let least_mbps = least_mbps.reduce(f64::min)?;
        let (way, peak_mbps) = (way.stream(), terms.peak_mbps);
        (least_mbps >= peak_mbps).then(|| {
            group.own(fault!(IdleKey, format!("{way}.capacity") =>
                "{way}.capacity is never less than {way}.peak_mbps = {peak_mbps}: the token buckets are the limit, \
                 and it has next to no effect; it has one with steps of less", way, peak_mbps))
        })
    });
    idle.collect()
}

/// A service may have so much more than its channel by rounding.
const BEYOND: f64 = 1.05;

/// A service has no more than the channel that it shares.
fn beyond_channels(scenario: &Scenario, group: &Group<'_>) -> Vec<Warning> {
    let beyond = Direction::BOTH.into_iter().filter_map(|way| {
        let channel_mbps = scenario.channel_mbps(group, way)?;
        let mbps = group.terms(way).sustained_mbps;
        let key = format!("{}.sustained_mbps", way.stream());
        (mbps > BEYOND * channel_mbps).then(|| {
            group.own(fault!(BeyondChannel, &key =>
                "{key} is {mbps}, and the channel that homes share carries {channel_mbps:.1} Mbps: the channel is the \
                 limit", mbps, channel_mbps))
        })
    });
    beyond.collect()
}

/// When an entry starts, if that is after the end of the run.
fn late_start_s(entry: &Entry, scenario: &Scenario) -> Option<f64> {
    entry.app.start_s().filter(|start_s| *start_s > scenario.duration_s)
}

/// What a user must know before trusting the results.
fn warnings(run: &Simulation, done: &[Done]) -> Vec<Warning> {
    let mut warnings = warnings_of_network(&run.access, &run.scenario);
    for (index, (name, entry)) in run.scenario.traffic.iter().enumerate() {
        let path = run.scenario.path_of(name, entry);
        let accounts = Direction::BOTH.map(|way| run.ledger.account(index, way));
        if accounts.iter().all(|account| account.first_sent.is_none()) {
            if late_start_s(entry, &run.scenario).is_none() {
                warnings.push(fault!(SilentTraffic, &path => "{path} sent nothing within the run"));
            }
        } else if accounts.iter().all(|account| account.sent.packets == 0) {
            let from_s = run.scenario.metrics.from_s;
            warnings.push(fault!(UncountedTraffic, &path =>
                "{path} sent nothing from metrics.from_s = {from_s} s on, so it is in no table", from_s));
        } else if entry.app.parameters().quality() == Quality::Pages && done[index].pages.is_empty()
        {
            let of = match run.scenario.metrics.from_s {
                0.0 => String::new(),
                from_s => format!(" of those requested from metrics.from_s = {from_s} s on"),
            };
            warnings.push(
                fault!(NoPageLoaded, &path => "{path} did not finish loading a single page{of}"),
            );
        }
        warnings.extend(controllers::unanswered(run, index, &path, entry));
        warnings.extend(too_fast_for_nqb(run, index, name, entry));
    }
    warnings.extend(burst::warnings(run));
    warnings.extend(still_under_way(run));
    warnings.extend(program_loads(run));
    warnings.extend(run.early.as_ref().and_then(|early| early.warning(run)));
    warnings
}

/// Packets that are still waiting at the end are neither late nor lost, so a line that stopped would look good.
fn still_under_way(run: &Simulation) -> Option<Warning> {
    let entries = (0..)
        .zip(&run.scenario.traffic)
        .filter(|(_, (_, entry))| entry.app.parameters().tcp().is_none());
    let reported: Vec<String> = entries
        .map(|(index, (name, entry))| (index, run.scenario.path_of(name, entry)))
        .flat_map(|(index, path)| Direction::BOTH.map(|way| (index, path.clone(), way)))
        .filter_map(|(index, path, way)| {
            let account = run.ledger.account(index, way);
            let dropped: u64 = account.dropped.iter().map(|count| count.packets).sum();
            let sent = account.sent.packets;
            let waiting = sent.saturating_sub(account.delivered.packets + dropped);
            (waiting >= LEAST_UNDER_WAY && waiting * 20 >= sent)
                .then(|| format!("{waiting} of {sent} packets of {path} {}", way.stream()))
        })
        .collect();
    let reported = reported.join(", ");
    (!reported.is_empty()).then(|| {
        fault!(UnderWay, "traffic" => "at the end had not arrived, and are neither late nor lost in tables; grades count as lost what has waited for more than 0.4 s: {reported}")
    })
}

/// Nobody knows beforehand what a program sends: it is neither the idle line nor the scenario's load.
fn program_loads(run: &Simulation) -> Option<Warning> {
    let count = run.outside.unjudged_round_trips;
    let loads = run.scenario.traffic.iter().enumerate().map(|(number, (name, entry))| {
        (run.scenario.path_of(name, entry), run.outside.loaded(number))
    });
    let loads = loads.filter(|(_, length)| *length > Time::ZERO);
    let loads = loads.map(|(path, length)| format!("{path} for {:.1} s", length.secs_f64()));
    let programs = loads.collect::<Vec<_>>().join(", ");
    let percent = (100.0 * LITTLE).round();
    (count > 0).then(|| {
        fault!(ProgramLoad, "traffic" => "real packets were more than {percent} % of what the line carries ({programs}): {count} round trips measured meanwhile count neither as idle nor as under the scenario's load", percent, programs, count)
    })
}

/// Fewer packets may be under way at the end of any run.
const LEAST_UNDER_WAY: u64 = 50;

/// Warns if there are low-latency flows in the homes that are judged, and no packet took one. What is fast must answer
/// marks there, or it makes the queue that it flees (RFC 9956 §4).
fn unused_low_latency(scenario: &Scenario, queues: &[QueueRow]) -> Option<Warning> {
    let judged = scenario.metrics.homes.as_deref();
    let is_judged =
        |row: &&QueueRow| judged.is_none_or(|homes| row.homes.as_deref() == Some(homes));
    let is_member = |row: &&QueueRow| row.member == Some(Member::LowLatency.name());
    let mut members = queues.iter().filter(is_member).filter(is_judged).peekable();
    let is_unused = members.peek().is_some() && members.all(|row| row.departed_packets == 0);
    let slow = |dscp| {
        format!("give what sends 500 kbps or less, such as games and voice calls, dscp = {dscp}")
    };
    let how = match scenario.low_latency_dscp() {
        Some(&[dscp, ..]) => format!("{}, and what is faster L4S", slow(dscp)),
        Some([]) => format!("its list `dscp` is empty: leave it out, and {}", slow(NQB)),
        None => "it takes L4S alone here, and no code point".to_owned(),
    };
    is_unused.then(|| {
        fault!(UnusedLowLatency, "" => "no packet took a low-latency flow: {how} (TCP: \
             tcp.congestion_control.kind = \"prague\"; video calls: control = \"scream\", ecn = \"ect1\")")
    })
}

/// RFC 9956 §4: senders of the NQB code point are slow and smooth.
fn too_fast_for_nqb(run: &Simulation, index: usize, name: &str, entry: &Entry) -> Option<Warning> {
    let homes = f64::from(run.scenario.group(run.scenario.group_of(entry)).count);
    let complaint = Direction::BOTH.into_iter().find_map(|direction| {
        let account = run.ledger.account(index, direction);
        let kbps = account.sent.bytes as f64 * 8e-3 / run.scenario.counted_s() / homes;
        account.nqb.as_ref()?.complaint(kbps)
    })?;
    Some(fault!(NqbTooFast, words::join("traffic", name) =>
        "traffic.{name} has dscp 45 (NQB) and {complaint}: RFC 9956 asks such senders to stay below 500 kbps and \
         to send smoothly, or else to be capable of L4S"))
}
