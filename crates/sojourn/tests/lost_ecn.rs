//! ECN that fails: paths that rewrite it, peers without it and receivers that report nothing. What ends conclude is
//! tested in `sojourn-transport`; here it is what others on the line have of it, and what is said.

use crate::common::{flow, loaded, queue, sentences};
use sojourn::Simulation;
use sojourn::input::problem::Code;
use sojourn::results::metrics::Results;

/// Two uploads over a link of 20 Mbps with servers of their own, 20 ms away and back. `queue` manages it.
fn uploads(queue: &str, one: &str, other: &str, set: &str) -> Results {
    let text = format!(
        "duration_s = 30
         metrics.from_s = 5
         upstream = {{ sustained_mbps = 20, peak_mbps = 20, burst_bytes = 3000, modem.kind = 'link',
                      queue = {{ {queue} }} }}
         downstream.sustained_mbps = 1000
         servers.near = {{ delay_ms = 9, rate_mbps = 1000 }}
         servers.far = {{ delay_ms = 9, rate_mbps = 1000 }}
         traffic.one = {{ kind = 'transfer', server = 'near', direction = 'up', tcp = {{ {one} }} }}
         traffic.other = {{ kind = 'transfer', server = 'far', direction = 'up', tcp = {{ {other} }} }}"
    );
    let sets: Vec<&str> = if set.is_empty() { vec![] } else { vec![set] };
    Simulation::run(&loaded(&text, &sets))
}

const DUALQ: &str = "scheduler.kind = 'dualq'";
const PRAGUE: &str = "congestion_control.kind = 'prague'";
const CLASSIC: &str = "ecn = 'classic'";

/// RFC 9331 §4.2, §4.3: its SYN's ECT(1) comes as Not-ECT, so Prague is Not-ECT: in the queue of the classic flow, with
/// its delay and with drops instead of marks. Without the path's fault it is in the queue of less than 2 ms.
#[test]
fn prague_over_a_bleaching_path_is_a_classic_flow() {
    let of = |set: &str| {
        let results = uploads(DUALQ, PRAGUE, CLASSIC, set);
        let [prague, classic] = ["one", "other"].map(|name| flow(&results, name, "up").clone());
        let low = queue(&results, "upstream low_latency").departed_packets;
        (prague, classic, low)
    };
    let (prague, classic, low) = of("");
    assert!(prague.marked_packets > 1000 && prague.dropped_aqm_packets == 0);
    assert!(
        low > 20_000 && prague.latency_p50_ms.unwrap() + 10.0 < classic.latency_p50_ms.unwrap()
    );
    let (prague, classic, low) = of("servers.near.ecn = 'bleached'");
    assert!(prague.marked_packets == 0 && prague.dropped_aqm_packets > 10);
    assert!(low < 10, "{low} packets of ECT(1)");
    let delays = [prague.latency_p50_ms.unwrap(), classic.latency_p50_ms.unwrap()];
    assert!((delays[0] / delays[1] - 1.0).abs() < 0.1, "{delays:?}");
    let part = prague.throughput_mbps / classic.throughput_mbps;
    assert!((0.4..2.5).contains(&part), "{part}");
}

/// ECT(1) that comes as ECT(0) is not detected (RFC 9768 §3.2.2.3): in front of a queue Prague gets the few marks of the
/// classic queue, answers them as many of L4S, and takes most of the line.
#[test]
fn prague_that_is_taken_for_classic_takes_most_of_the_line() {
    let router = "router.upstream = { rate_mbps = 1000, ecn = 'ect1_to_ect0' }";
    let results = uploads(DUALQ, PRAGUE, CLASSIC, router);
    let [prague, classic] = ["one", "other"].map(|name| flow(&results, name, "up"));
    assert!(queue(&results, "upstream low_latency").departed_packets < 10);
    assert!(prague.marked_packets > 0);
    assert!(prague.throughput_mbps > 5.0 * classic.throughput_mbps, "{}", classic.throughput_mbps);
}

/// A receiver that reports no marks, and a path that bleaches them behind the queue, which classic ECN does not notice:
/// the neighbour that slows down for marks keeps little of its half. PI2 marks alone, up to its limit.
#[test]
fn who_ignores_marks_takes_what_its_neighbour_gives_up() {
    let of = |one: &str, set: &str| {
        let results = uploads("law.kind = 'pi2'", one, CLASSIC, set);
        ["one", "other"].map(|name| flow(&results, name, "up").throughput_mbps)
    };
    let [one, other] = of(CLASSIC, "");
    assert!((one / other - 1.0).abs() < 0.4, "{one} {other}");
    for [one, other] in [
        of("ecn = 'classic', ecn_feedback = false", ""),
        of(CLASSIC, "servers.near.ecn = 'bleached'"),
        of(CLASSIC, "servers.near.ecn = 'ce_cleared'"),
    ] {
        assert!(one > 17.0 && other < 2.0, "{one} {other}");
    }
}

/// A path that marks all: classic ECN halves each round trip, down to about a window of 2 segments in 20 ms.
#[test]
fn a_path_that_marks_all_leaves_next_to_nothing() {
    let results =
        uploads("limit_packets = 1000", CLASSIC, CLASSIC, "servers.near.ecn = 'ce_always'");
    let [one, other] = ["one", "other"].map(|name| flow(&results, name, "up").throughput_mbps);
    assert!(one < 2.0 && other > 17.0, "{one} {other}");
}

/// A classifier by the ECN field sees what the path has made of it.
#[test]
fn bleached_packets_take_the_service_flow_of_others() {
    let game = |set: &str| {
        let text = "duration_s = 2
             upstream.sustained_mbps = 5
             downstream = { sustained_mbps = 20, flows.marked = { sustained_mbps = 5, match = [{ tos = [1, 1, 3] }] } }
             servers.near.delay_ms = 9
             traffic.game = { kind = 'stream', purpose = 'game', server = 'near', ecn = 'ect1' }";
        let results = Simulation::run(&loaded(text, &[set]));
        let down = |name: &str| {
            let rows = results.service_flows.iter();
            let mut of = rows.filter(|row| row.direction == "down" && row.service_flow == name);
            of.next().map_or(0, |row| row.forwarded_packets)
        };
        [down("primary"), down("marked")].map(|packets| packets > 0)
    };
    assert_eq!(game("servers.near.ecn = 'kept'"), [false, true]);
    assert_eq!(game("servers.near.ecn = 'bleached'"), [true, false]);
}

/// What is said, for each kind of fault.
#[test]
fn lost_ecn_is_named_with_its_key_and_its_remedy() {
    let text = "duration_s = 1
         upstream.sustained_mbps = 5
         downstream.sustained_mbps = 20
         servers = { near.delay_ms = 9, far.delay_ms = 9 }
         traffic.prague = { kind = 'transfer', server = 'near', tcp.congestion_control.kind = 'prague' }
         traffic.game = { kind = 'stream', purpose = 'game', server = 'near', ecn = 'ect1' }
         traffic.plain = { kind = 'transfer', server = 'near' }
         traffic.call = { kind = 'video_call', control = 'scream', server = 'near', ecn = 'ect1' }";
    let said = |set: &str| {
        let results = Simulation::run(&loaded(text, &[set]));
        let all = sentences(results.warnings).into_iter();
        all.filter(|one| one.contains("uses ECN")).collect::<Vec<_>>()
    };
    assert_eq!(said("servers.far.ecn = 'bleached'"), [""; 0]);
    for control in ["none", "gcc"] {
        let deaf = format!(
            "traffic.call uses ECN, and traffic.call.control is {control}: low-latency queues take it and mark its \
             packets, and it does not slow down; set traffic.call.control to \"scream\""
        );
        assert_eq!(said(&format!("traffic.call.control={control}")), [deaf]);
    }
    let key = "servers.near.ecn";
    let remedy = "set servers.near.ecn to \"kept\"";
    let of_datagrams =
        "its packets are Not-ECT behind that link, and marks of queues before it are lost";
    let bleached = [
        ("prague", "its packets are Not-ECT, and queues drop what they would mark"),
        ("game", of_datagrams),
        ("call", of_datagrams),
    ];
    assert_eq!(
        said("servers.near.ecn = 'bleached'"),
        bleached.map(|(name, effect)| format!(
            "traffic.{name} uses ECN, and {key} is bleached: {effect}; {remedy}"
        ))
    );
    for (path, effect) in [
        ("ce_always", "all that it sends with ECN arrives marked"),
        ("ce_cleared", "marks of queues before that link are lost"),
        ("ae_cleared", "its packets are Not-ECT, and queues drop what they would mark"),
        ("ace_cleared", "its packets are Not-ECT, and queues drop what they would mark"),
        ("syn_dropped", "it opens connections after a timeout, and without ECN"),
    ] {
        // The marks of datagrams matter to a control that heeds them; TCP's fields are not theirs.
        let heed = if path.starts_with("ce_") { &["prague", "call"][..] } else { &["prague"] };
        let want = heed.iter().map(|name| {
            format!("traffic.{name} uses ECN, and {key} is {path}: {effect}; {remedy}")
        });
        assert_eq!(said(&format!("{key} = '{path}'")), want.collect::<Vec<_>>());
    }
    let ns2 = format!(
        "dialect = 'ns2'\ntcp.ecn = 'classic'\n{}",
        text.replace(", tcp.congestion_control.kind = 'prague'", "")
    );
    let refused = Simulation::run(&loaded(&ns2, &[&format!("{key} = 'syn_dropped'")]));
    let refused = sentences(refused.warnings).join(" ");
    assert!(
        refused.contains("it opens no connection, as ns-2 offers ECN in each SYN"),
        "{refused}"
    );
    let quic = "traffic.plain.tcp = { transport = 'quic', ecn = 'classic', ecn_feedback = false }";
    assert_eq!(
        said(quic),
        [
            "traffic.plain uses ECN, and traffic.plain.tcp.ecn_feedback is false: its packets are Not-ECT, and queues \
          drop what they would mark; set traffic.plain.tcp.ecn_feedback to true"
        ]
    );
    assert_eq!(
        said("tcp.ecn_server = 'classic'"),
        [
            "traffic.prague uses ECN, and tcp.ecn_server is classic: its packets are Not-ECT, and queues drop what they \
          would mark; set tcp.ecn_server to \"l4s\""
        ]
    );
    assert_eq!(
        said("traffic.prague.tcp.ecn_feedback = false"),
        [
            "traffic.prague uses ECN, and traffic.prague.tcp.ecn_feedback is false: no mark is reported, and it slows \
          down for losses alone; set traffic.prague.tcp.ecn_feedback to true"
        ]
    );
}

/// Of routers, the core and servers, each key once, for the homes whose packets pass it.
#[test]
fn faults_of_a_path_are_named_hop_by_hop() {
    let text = "duration_s = 1
         upstream.sustained_mbps = 5
         downstream.sustained_mbps = 20
         servers.near.delay_ms = 9
         router = { upstream = { rate_mbps = 4, ecn = 'bleached' }, downstream = { rate_mbps = 9, ecn = 'bleached' } }
         core.inner.upstream = { rate_mbps = 400, ecn = 'ce_cleared' }
         servers.near.ecn = 'ce_always'
         homes = { one.count = 1, 'a.b' = { count = 1, router.upstream = { rate_mbps = 4, ecn = 'ce_always' } } }
         traffic.first = { kind = 'transfer', server = 'near', tcp.ecn = 'classic', home = 'one' }
         traffic.other = { kind = 'transfer', server = 'near', tcp.ecn = 'classic', home = 'a.b' }";
    let warnings = Simulation::run(&loaded(text, &[])).warnings;
    let lost = warnings.iter().filter(|one| one.code == Code::EcnLost);
    let keys: Vec<&str> = lost.map(|one| one.path.as_str()).collect();
    let first = [
        "router.upstream.ecn",
        "core.inner.upstream.ecn",
        "servers.near.ecn",
        "router.downstream.ecn",
    ];
    let other = [
        "homes.\"a.b\".router.upstream.ecn",
        "core.inner.upstream.ecn",
        "servers.near.ecn",
        "homes.\"a.b\".router.downstream.ecn",
    ];
    assert_eq!(keys, [&first[..], &other].concat());
}
