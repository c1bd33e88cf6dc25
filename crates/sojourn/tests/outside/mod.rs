//! Parts from outside: those of the examples, which use only published faces.

#[path = "../../../sojourn-own-parts/src/law.rs"]
#[allow(dead_code, reason = "some examples have a main of their own")]
mod own_aqm;
#[path = "../../../sojourn-own-parts/src/control.rs"]
#[allow(dead_code, reason = "as above")]
mod own_congestion_control;
#[path = "../../../sojourn-own-parts/src/controller.rs"]
#[allow(dead_code, reason = "as above")]
mod own_controller;
#[path = "../../../sojourn-own-parts/src/hop.rs"]
#[allow(dead_code, reason = "as above")]
mod own_hop;
#[path = "../../examples/own_scheduler.rs"]
#[allow(dead_code, reason = "as above")]
mod own_scheduler;
#[path = "../../examples/own_traffic.rs"]
#[allow(dead_code, reason = "as above")]
mod own_traffic;
#[path = "../../examples/two_hops.rs"]
#[allow(dead_code, reason = "as above")]
mod two_hops;

mod faults;

use sojourn::results::metrics::Results;
use sojourn::scenario::to_toml;
use sojourn::{Parts, Scenario, Simulation, Source};

/// All parts of the examples.
fn parts() -> Parts {
    Parts::default()
        .aqm::<own_aqm::Parameters>("own_codel")
        .congestion_control::<own_congestion_control::Parameters>("own")
        .controller::<own_controller::Parameters>("additive")
        .hop::<own_hop::Parameters>("wifi")
        .scheduler::<own_scheduler::Parameters>("small_first")
        .traffic::<own_traffic::Parameters>("sensor")
}

fn load(text: &str, sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let loaded = Source::new(text, "own.toml").sets(&sets).parts(&parts()).load();
    loaded.map(|mut variants| variants.remove(0).scenario).map_err(|problems| problems.to_string())
}

fn run(text: &str, sets: &[&str]) -> Results {
    Simulation::run(&load(text, sets).unwrap_or_else(|problems| panic!("{problems}")))
}

const BUSY: &str = "
    duration_s = 10
    upstream = { sustained_mbps = 5, peak_mbps = 10, burst_bytes = 100_000 }
    downstream = { sustained_mbps = 20, peak_mbps = 30, burst_bytes = 100_000 }
    router.downstream.rate_mbps = 18
    servers.near = { delay_ms = 10, queue = {} }

    [traffic]
    game = { kind = 'stream', purpose = 'game' }
    up = { kind = 'transfer', direction = 'up', connections = 3 }
    down = { kind = 'transfer', direction = 'down', connections = 3 }
    pages = { kind = 'web', users = 2 }
";

/// CoDel as a user writes it is CoDel: in one queue, in many bins that come as flows do, and beside them.
#[test]
fn codel_from_outside_gives_the_results_of_codel() {
    for scheduler in ["fifo", "fq", "drr", "sfq"] {
        let with = |law: &str| {
            let places = [
                "upstream.queue",
                "downstream.queue",
                "router.downstream.queue",
                "servers.near.queue",
            ];
            let keys = places.map(|place| {
                [format!("{place}.scheduler.kind={scheduler}"), format!("{place}.law.kind={law}")]
            });
            let keys: Vec<&str> = keys.iter().flatten().map(String::as_str).collect();
            let results = run(BUSY, &[&*keys, &["upstream.queue.law.target_ms=15"]].concat());
            format!("{results:?}")
        };
        assert_eq!(with("codel"), with("own_codel").replace("own_codel", "codel"), "{scheduler}");
    }
}

/// The complete scenario has the kind and all keys of parts from outside, and reads to the same scenario again.
#[test]
fn the_complete_scenario_has_parts_from_outside() {
    for home in [
        own_congestion_control::HOME,
        own_controller::HOME,
        own_scheduler::HOME,
        own_traffic::HOME,
        own_hop::HOME,
    ] {
        for variant in Source::new(home, "own.toml").parts(&parts()).load().expect("it loads") {
            let text = to_toml(&variant.scenario);
            assert_eq!(load(&text, &[]).as_ref(), Ok(&variant.scenario), "{text}");
        }
    }
    let text = to_toml(&load(own_traffic::HOME, &[]).expect("it loads"));
    // The kind, a default, a filled-in server and a label.
    for line in ["kind = \"sensor\"", "report_bytes = 200", "server = \"near\"", "dscp = 8"] {
        assert!(text.contains(line), "{line} not in {text}");
    }
}

/// 1250 bytes take 0.1 ms on the first hop and 1 ms on the second, and each delays by 5 ms.
#[test]
fn packets_cross_two_hops_in_a_loop_of_a_programs_own() {
    let delays: Vec<f64> = two_hops::delays().iter().map(|delay| delay.ms_f64()).collect();
    assert_eq!(delays.len(), 100);
    for (number, delay) in delays.iter().enumerate() {
        assert!((delay - (11.1 + number as f64)).abs() < 1e-9, "{number}: {delay}");
    }
}

/// 0.05 s between reports are 1200 in a minute; the deviation of a Poisson number is its root, 35.
#[test]
fn traffic_from_outside_sends_what_it_says() {
    let results = run(own_traffic::HOME, &[]);
    let sensor = &results.flows[0];
    assert_eq!(
        (&*sensor.traffic, sensor.direction, sensor.quality),
        ("sensor", "up", "throughput")
    );
    assert!((1200 - 140..1200 + 140).contains(&sensor.sent_packets), "{}", sensor.sent_packets);
    assert_eq!(sensor.delivered_bytes, 200 * sensor.delivered_packets);
}

/// Each packet of a game alone waits for one access of the medium, whose times are exponential.
#[test]
fn a_hop_from_outside_delays_as_it_says() {
    let mean = |kind: &str| {
        let text = own_hop::HOME.replace("Wi-Fi =", "Radio =");
        let loaded = Source::new(&text, "own.toml").parts(&parts()).load().expect("it loads");
        let variant = loaded.into_iter().find(|variant| variant.name == kind).expect("a variant");
        Simulation::run(&variant.scenario).flows[0].latency_mean_ms.expect("packets")
    };
    let added = mean("Radio") - mean("cable");
    // 3 ms in the mean, of about 1200 packets: the error of the mean is 3/35. Some share an access, and wait
    // for less.
    assert!((2.4..3.3).contains(&added), "{added}");
}

/// Small packets pass large ones: the game no longer waits for the upload.
#[test]
fn a_scheduler_from_outside_orders_packets() {
    let p99 = |kind: &str| {
        let sets = [&*format!("upstream.queue.scheduler.kind={kind}")];
        run(own_scheduler::HOME.split("[compare]").next().unwrap_or_default(), &sets).flows[0]
            .latency_p99_ms
    };
    assert!(p99("small_first") < p99("fifo").map(|ms| ms / 5.0));
}

/// Each connection draws numbers of its own, and the same ones in the same run.
#[test]
fn congestion_controls_from_outside_have_random_numbers_of_their_own() {
    let rates = |seed: &str| {
        let text = own_congestion_control::HOME.replace("kind = 'cubic'", "kind = 'own'");
        let results = run(&text, &[seed, "tcp.dialect=rfc"]);
        [0, 2].map(|row| results.flows[row].throughput_mbps)
    };
    let first = rates("seed=1");
    assert_eq!(first, rates("seed=1"));
    assert_ne!(first, rates("seed=2"));
    assert_ne!(first[0], first[1]);
}

/// A line of 10 Mbps that has 5 in 10 s of 20: a shaper of 9 lets packets wait in the modem then, and the controller does not.
#[test]
fn a_controller_from_outside_follows_the_line() {
    let loaded = Source::new(own_controller::HOME, "own.toml").parts(&parts()).load();
    let p90 = |results: &Results| {
        let game = results.flows.iter().find(|row| row.traffic == "game" && row.direction == "up");
        game.and_then(|row| row.latency_p90_ms).expect("packets")
    };
    let runs = loaded.expect("it loads").into_iter().map(|one| Simulation::run(&one.scenario));
    let [fixed, own] = runs.collect::<Vec<_>>().try_into().expect("two variants");
    assert!(p90(&own) < p90(&fixed) / 3.0, "{} and {}", p90(&own), p90(&fixed));
    let probes = own.flows.iter().find(|row| row.quality == "probes").expect("probes");
    // It begins with 9 Mbps, and the line has 7.5 in the mean.
    let mean_mbps = probes.shaper_mean_mbps.expect("a rate");
    assert!((4.0..9.0).contains(&mean_mbps), "{mean_mbps}");
    assert!(probes.shaper_decreases > Some(3));
}
