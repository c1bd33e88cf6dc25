//! What a scenario need not say.

use super::{load_with, only};
use sojourn::scenario::Scenario;
use sojourn::scenario::apps::AppSpec;
use sojourn::scenario::apps::web::Objects;
use sojourn::warnings;

const LEAST: &str = "
    upstream.sustained_mbps = 10
    downstream.sustained_mbps = 50
    servers.near.delay_ms = 9
    servers.far.delay_ms = 24
    traffic.call = { kind = 'stream', purpose = 'voice' }
    traffic.web.kind = 'web'
    traffic.upload.kind = 'transfer'
";

fn bursts(scenario: &Scenario) -> [Option<u64>; 2] {
    [scenario.upstream.burst_bytes, scenario.downstream.burst_bytes]
}

#[test]
fn the_least_scenario_has_a_minute_and_no_boost() {
    let scenario = only(LEAST, &[]);
    assert_eq!(scenario.duration_s, 60.0);
    let peaks = [scenario.upstream.peak_mbps, scenario.downstream.peak_mbps];
    assert_eq!(peaks, [Some(10.0), Some(50.0)]);
    // Upstream 10 Mbps bring 2 x 2500 B in two MAP intervals of 2 ms, and a frame has 1522 B.
    assert_eq!(bursts(&scenario), [Some(6522), Some(3044)]);
}

#[test]
fn entries_without_a_server_have_the_first_or_all() {
    let scenario = only(LEAST, &[]);
    let AppSpec::Stream(call) = &scenario.traffic["call"].app else { panic!() };
    assert_eq!(call.server, "near");
    let AppSpec::Web(web) = &scenario.traffic["web"].app else { panic!() };
    assert_eq!(web.servers, ["near", "far"]);
    assert_eq!(web.objects, Objects::AppendixA { scale: 3.7 });
    let without = LEAST.replace("servers.", "# servers.");
    let problems = load_with(&without, &[]).unwrap_err().to_string();
    for key in ["traffic.call.server", "traffic.web.servers"] {
        let missing = "missing; allowed: a name in the table servers, which is empty";
        assert!(problems.contains(&format!("home.toml: {key}: {missing}")), "{problems}");
    }
}

/// People hear and see what comes back, so calls and games go both ways; data goes up.
#[test]
fn games_and_calls_go_both_ways() {
    use sojourn::scenario::apps::two_way::StreamDirection::{self, Both, Down, Up};
    let direction = |purpose: &str, key: &str| -> StreamDirection {
        let stream = format!("traffic.x = {{ kind = 'stream', purpose = '{purpose}' {key} }}");
        let scenario = only(&format!("{LEAST}\n{stream}"), &[]);
        let AppSpec::Stream(x) = &scenario.traffic["x"].app else { panic!() };
        x.direction.expect("it is filled in")
    };
    assert_eq!(["voice", "game", "data"].map(|purpose| direction(purpose, "")), [Both, Both, Up]);
    assert_eq!(direction("game", ", direction = 'down'"), Down);
}

/// A variant, a group of homes or a `--set` that changes the rate alone changes what follows from it.
#[test]
fn defaults_follow_the_rate() {
    let scenario = only(LEAST, &["upstream.sustained_mbps=100"]);
    assert_eq!(scenario.upstream.peak_mbps, Some(100.0));
    assert_eq!(bursts(&scenario)[0], Some(51_522));
    let scenario = only(LEAST, &["homes.fast.upstream.sustained_mbps=20"]);
    let fast = scenario.homes["fast"].upstream.as_ref().unwrap();
    assert_eq!((fast.peak_mbps, fast.burst_bytes), (Some(20.0), Some(11_522)));
    let flow = "upstream.flows.voice.sustained_mbps=1";
    let scenario = only(LEAST, &[flow]);
    let voice = &scenario.upstream.flows["voice"];
    assert_eq!((voice.peak_mbps, voice.burst_bytes), (Some(1.0), Some(3044)));
}

/// No default holds a flow below its rate: the warning of too small a burst does not come.
#[test]
fn default_bursts_suffice_on_every_modem() {
    for kind in ["single_queue", "two_queues", "shared_channel", "link"] {
        for dialect in ["linux", "ns2"] {
            let sets = [
                format!("upstream.modem.kind={kind}"),
                format!("dialect={dialect}"),
                "upstream.sustained_mbps=50".to_owned(),
                "traffic.upload.tcp.dialect=ns2".to_owned(),
            ];
            let sets: Vec<_> = sets.iter().map(String::as_str).collect();
            let reported = warnings(&only(LEAST, &sets));
            assert!(
                reported.iter().all(|one| !one.message.contains("burst_bytes")),
                "{reported:?}"
            );
        }
    }
}

#[test]
fn a_default_burst_passes_the_largest_packet() {
    let scenario = only(LEAST, &["tcp.mss_bytes=8000", "downstream.queue.limit_bytes=100000"]);
    // 8000, of which the timestamps are 12, + 40 bytes of headers + 18 of Ethernet.
    assert_eq!(bursts(&scenario), [Some(8058), Some(8058)]);
}

#[test]
fn a_shared_downstream_channel_is_ofdm() {
    let scenario = only(LEAST, &["cmts={}"]);
    let rate = scenario.cmts.unwrap().channel.rate_mbps();
    let named = only(LEAST, &["cmts.channel.kind=ofdm"]).cmts.unwrap().channel.rate_mbps();
    assert_eq!(rate, named);
}
