//! Routers, links of the core and queues before servers, against arithmetic.

use crate::common::{flow, loaded, queue, refused, sentences};
use sojourn::Simulation;
use sojourn::results::metrics::Results;
use sojourn::scenario::to_toml;
use sojourn::scenario::{Scenario, Source};
use std::io;
use std::path::Path;

const LINE: &str = "
    duration_s = 20
    upstream.sustained_mbps = 50
    upstream.modem.kind = 'link'
    downstream.sustained_mbps = 100
    cable = { delay_ms = 0, byte_count = 'ip' }
    servers.near.delay_ms = 5
";

fn line(more: &str) -> Scenario {
    loaded(&format!("{LINE}\n{more}"), &[])
}

fn run(more: &str) -> Results {
    Simulation::run(&line(more))
}

#[track_caller]
fn assert_near(got: Option<f64>, want: f64, error: f64) {
    assert!(got.is_some_and(|got| (got - want).abs() <= error), "{got:?}, not {want} +- {error}");
}

/// A packet of 125 bytes takes 1 ms at 1 Mbps. The hops of the path add up, each way by itself.
#[test]
fn a_packet_alone_takes_what_its_hops_take() {
    let stream =
        "traffic.s = { kind = 'stream', purpose = 'data', direction = 'both', server = 'near',
                                packet_bytes = 125, interval_ms = 50 }";
    let plain = run(stream);
    let hops = run(&format!(
        "{stream}
         router.upstream.rate_mbps = 1
         core.first.upstream = {{ rate_mbps = 2, delay_ms = 3 }}
         core.first.downstream = {{ rate_mbps = 0.5, delay_ms = 7 }}
         core.second.upstream.rate_mbps = 0.25
         servers.near.queue = {{}}"
    ));
    for (way, added_ms) in [("up", 1.0 + 0.5 + 3.0 + 4.0), ("down", 2.0 + 7.0)] {
        let mean = |results: &Results| flow(results, "s", way).latency_mean_ms.unwrap();
        assert_near(Some(mean(&hops) - mean(&plain)), added_ms, 1e-6);
    }
    let names: Vec<_> = hops.queues.iter().map(|row| row.queue.as_str()).collect();
    assert_eq!(
        names[2..],
        [
            "router upstream",
            "core first upstream",
            "core second upstream",
            "server near upstream",
            "core first downstream",
            "server near downstream",
        ]
    );
    let homes: Vec<_> = hops.queues.iter().map(|row| row.homes.as_deref()).collect();
    assert_eq!(homes[2..4], [Some("home"), None]);
}

/// The slowest hop of each direction is where packets wait and what they get.
#[test]
fn packets_wait_at_the_slowest_hop() {
    let bulk = |way: &str| format!("traffic.bulk = {{ kind = 'transfer', direction = '{way}' }}");
    for (hop, way, name) in [
        ("router.upstream", "up", "router upstream"),
        ("router.downstream", "down", "router downstream"),
        ("core.x.upstream", "up", "core x upstream"),
        ("core.x.downstream", "down", "core x downstream"),
    ] {
        let queue_keys = "rate_mbps = 8, queue.limit_bytes = 100_000";
        let results = run(&format!("{}\n{hop} = {{ {queue_keys} }}", bulk(way)));
        // A tenth of a second of queue, and 8 Mbps without what slow start leaves unused.
        let mbps = flow(&results, "bulk", way).throughput_mbps;
        assert!((7.5..=8.0).contains(&mbps), "{name}: {mbps}");
        let row = queue(&results, name);
        assert!(row.dropped_overflow_packets > 0 && row.sojourn_max_ms > Some(95.0), "{name}");
        let others = results.queues.iter().filter(|row| row.direction == way && row.queue != name);
        others.for_each(|row| assert!(row.sojourn_p99_ms < Some(20.0), "{name}: {row:?}"));
    }
    // With CoDel it stays near its target.
    let codel = "queue = { law = { kind = 'codel' }, limit_bytes = 1_000_000 }";
    let results = run(&format!("{}\nrouter.upstream = {{ rate_mbps = 8, {codel} }}", bulk("up")));
    assert!(queue(&results, "router upstream").sojourn_p90_ms < Some(20.0));
}

/// 1 s at 8 Mbps and 1 s at 2 Mbps, in each place that takes a trace: 5 Mbps in the mean.
#[test]
fn rates_follow_a_trace_in_both_directions() {
    let trace = "capacity.steps = [{ for_s = 1, mbps = 8 }, { for_s = 1, mbps = 2 }]";
    for (place, way) in [
        ("upstream", "up"),
        ("downstream", "down"),
        ("router.upstream", "up"),
        ("router.downstream", "down"),
        ("core.x.upstream", "up"),
        ("core.x.downstream", "down"),
    ] {
        let stream = format!(
            "traffic.s = {{ kind = 'stream', purpose = 'data', direction = '{way}', server = 'near',
                            packet_bytes = 1000, interval_ms = 0.8 }}"
        );
        let limit = format!("{place}.queue.limit_bytes = 10_000");
        let results = run(&format!("{stream}\n{place}.{trace}\n{limit}\nmetrics.from_s = 2"));
        // 10 Mbps are sent, and 9 whole cycles count, but for what was sent before or is on its way.
        assert_near(Some(flow(&results, "s", way).throughput_mbps), 5.0, 0.01);
    }
}

/// A group of homes may have a router of its own; the others have the scenario's.
#[test]
fn homes_differ_in_their_routers() {
    let results = run("router.upstream.rate_mbps = 4
         homes.a = {}
         homes.b = { count = 2, router.upstream.rate_mbps = 2 }
         traffic.a = { kind = 'transfer', server = 'near', home = 'a' }
         traffic.b = { kind = 'transfer', server = 'near', home = 'b' }");
    let mbps = |name: &str| Some(flow(&results, name, "up").throughput_mbps);
    assert_near(mbps("a"), 4.0, 0.3);
    assert_near(mbps("b"), 2.0 * 2.0, 0.3);
    let names: Vec<_> = results.queues.iter().map(|row| row.queue.as_str()).collect();
    assert!(names.ends_with(&["router upstream", "b router upstream"]), "{names:?}");
}

/// A modem's queue holds 250 ms at its rate, whatever its manager. Datagrams at twice the rate would fill the memory of
/// Linux' CAKE with seconds. CAKE drops at the head, so those that leave have waited for half of the 250 ms.
#[test]
fn cake_in_a_modem_has_the_buffer_of_other_managers() {
    let flood =
        "traffic.flood = { kind = 'stream', purpose = 'data', server = 'near', direction = 'up',
                                   packet_bytes = 1250, interval_ms = 1 }";
    let longest = |more: &str| {
        let sets = [
            "duration_s=3",
            "upstream.modem.kind=single_queue",
            "upstream.sustained_mbps=5",
            &format!("upstream.queue.scheduler={{ kind = 'cake'{more} }}"),
        ];
        let results = Simulation::run(&loaded(&format!("{LINE}\n{flood}"), &sets));
        let row = queue(&results, "upstream");
        (row.sojourn_max_ms.unwrap(), row.dropped_overflow_packets)
    };
    let (longest_ms, overflows) = longest("");
    assert!((100.0..=250.0).contains(&longest_ms) && overflows > 0, "{longest_ms} {overflows}");
    assert!(longest(", memlimit_bytes = 15_503_360").0 > 1000.0);
}

/// The run warns of a router that is no slower than the service, since packets wait in the modem then.
#[test]
fn a_router_as_fast_as_the_service_has_a_warning() {
    let warnings = |keys: &str| {
        let game = "traffic.g = { kind = 'stream', purpose = 'game', server = 'near' }";
        sentences(sojourn::warnings(&line(&format!("{game}\nrouter.upstream = {{ {keys} }}"))))
    };
    assert!(warnings("rate_mbps = 49").is_empty());
    // CAKE shapes by itself. A full packet of 1522 bytes counts 1462 of them: 49 Mbps are 51.011. Or 1722: 56 are 49.5.
    let cake = |mbps: u32, overhead: i32| {
        warnings(&format!(
            "rate_mbps = 1000, queue.scheduler = {{ kind = 'cake', bandwidth_mbps = {mbps}, overhead_bytes = {overhead} }}"
        ))
    };
    assert!(cake(49, 0).is_empty());
    assert!(cake(56, 200).is_empty());
    assert!(cake(49, -60)[0].starts_with("router.upstream carries 51.011 Mbps, no less than"));
    let warning = "router.upstream carries 50 Mbps, no less than the service (50 Mbps): what waits in \
                   the modem is not managed by the router";
    assert_eq!(warnings("rate_mbps = 50"), [warning]);
}

/// A server's link has no table of its queue, so a warning says what waits there, in each direction and only where TCP fills
/// the service.
#[test]
fn a_server_as_slow_as_the_service_has_a_warning() {
    let warnings = |keys: &str| sentences(sojourn::warnings(&line(keys)));
    let load = "traffic.load = { kind = 'transfer', server = 'near', direction = 'down' }";
    let service = "downstream.sustained_mbps = 1000";
    let of_service = |more: &str| {
        let text = LINE.replace("downstream.sustained_mbps = 100", service);
        sentences(sojourn::warnings(&loaded(&format!("{text}\n{load}\n{more}"), &[])))
    };
    let warning = "servers.near.rate_mbps is 1000, and the service downstream has 1000 Mbps: what of \
                   traffic.load comes faster waits before the server's link, in a queue without limit (server_queue in delay_parts); set \
                   servers.near.rate_mbps to 10000 or more";
    assert_eq!(of_service(""), [warning]);
    for more in [
        "servers.near.rate_mbps = 1001",
        "servers.near.queue.law.kind = 'codel'",
        "router.downstream.rate_mbps = 900",
        "core.c = { downstream = { rate_mbps = 900 } }",
        "dialect = 'ns2'",
    ] {
        assert!(of_service(more).is_empty(), "{more}");
    }
    assert!(warnings(load).is_empty());
    let slow = "servers.near.rate_mbps = 50";
    let up = format!("{slow}\ntraffic.load = {{ kind = 'transfer', server = 'near' }}");
    assert!(warnings(&up)[0].contains("the service upstream has 50 Mbps"));
    let data = "traffic.load = { kind = 'stream', purpose = 'data', server = 'near' }";
    assert!(warnings(&format!("{slow}\n{data}")).is_empty());
}

struct OneFile(&'static str);

impl sojourn::scenario::Files for OneFile {
    fn read(&self, path: &Path, _: u64) -> io::Result<Vec<u8>> {
        assert!(path.ends_with("there/cell.csv"), "{path:?}");
        Ok(self.0.as_bytes().to_vec())
    }
}

/// Traces come from files beside the scenario, whose digest the resolved scenario has.
#[test]
fn traces_from_files() {
    let game = "traffic.g = { kind = 'stream', purpose = 'game', server = 'near' }";
    let text = format!("{LINE}\n{game}\nrouter.upstream.capacity.file = 'cell.csv'");
    let of = |text: &str, file: &'static str| {
        Source::new(text, "there/line.toml")
            .files(&OneFile(file))
            .load()
            .map(|mut variants| variants.remove(0).scenario)
    };
    let scenario = of(&text, "time_s,mbps\n0,8\n1,2\n").unwrap();
    let trace = scenario.router.as_ref().unwrap().upstream.as_ref().unwrap().capacity.as_ref();
    let trace = trace.unwrap();
    assert_eq!((trace.read.len(), trace.mean_mbps()), (2, Some(5.0)));
    let digest = trace.digest.clone().unwrap();
    // The resolved scenario is read without the file, and refuses another one.
    let resolved = to_toml(&scenario);
    assert!(resolved.contains(&digest) && resolved.contains("there/cell.csv"), "{resolved}");
    assert!(Source::new(&resolved, "stored").load_stored().is_ok());
    let changed = of(&resolved, "time_s,mbps\n0,8\n1,3\n").unwrap_err().to_string();
    assert!(changed.contains("router.upstream.capacity.digest: found"), "{changed}");
    let wrong = of(&text, "x\n").unwrap_err().to_string();
    let start =
        "there/line.toml: router.upstream.capacity.file: found \"cell.csv\", whose first line";
    assert!(wrong.starts_with(start), "{wrong}");
}

#[test]
fn contradictions_of_hops() {
    let game = "traffic.g = { kind = 'stream', purpose = 'game', server = 'near' }";
    for (more, fault) in [
        ("router.upstream = {}", "router.upstream: found neither rate_mbps nor capacity"),
        (
            "core.a.downstream = { rate_mbps = 1, capacity.steps = [{ for_s = 1, mbps = 1 }] }",
            "core.a.downstream: found both rate_mbps and capacity",
        ),
        ("router.upstream.capacity = {}", "router.upstream.capacity: found neither steps nor file"),
        (
            "router.upstream.capacity.steps = [{ for_s = 1, mbps = 0 }]",
            "router.upstream.capacity: found no rate above 0",
        ),
        (
            "servers.near.queue.scheduler = { kind = 'drr', weights.x = 2 }",
            "servers.near.queue.scheduler.weights.x: unknown traffic entry",
        ),
        (
            "downstream.channel_mbps = 9\ndownstream.capacity.steps = [{ for_s = 1, mbps = 1 }]",
            "downstream.capacity: found beside channel_mbps",
        ),
        (
            "upstream.modem.kind = 'single_queue'\nupstream.capacity.steps = [{ for_s = 1, mbps = 1 }]",
            "upstream.capacity: found with a modem that requests grants",
        ),
        (
            "cmts = {}\ndownstream.capacity.steps = [{ for_s = 1, mbps = 1 }]",
            "downstream.capacity: found with cmts",
        ),
        (
            "homes.a.router.upstream.rate_mbps = 0",
            "homes.a.router.upstream.rate_mbps: found 0; allowed: a number from 0.001",
        ),
    ] {
        let sets: Vec<_> = more.lines().map(|line| line.replacen(" = ", "=", 1)).collect();
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let found = refused(&format!("{LINE}\n{game}"), &sets);
        assert!(found.contains(fault), "{found}");
    }
}
