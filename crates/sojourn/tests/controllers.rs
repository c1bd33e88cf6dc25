//! Rate controllers of routers: what they see, what they set, and what results say of it.

use std::sync::Mutex;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sojourn::engine::rng::Seed;
use sojourn::engine::units::Time;
use sojourn::results::metrics::Results;
use sojourn::scenario::controllers::{
    Answer, Controller, ControllerParameters, Probing, Rates, Update,
};
use sojourn::scenario::{Scenario, to_toml};
use sojourn::{Parts, Simulation, Source};

use crate::common::{loaded, refused, sentences};

/// What a controller of a test does with both rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Act {
    /// It says nothing.
    #[default]
    Nothing,
    /// It returns the rates as they are.
    Same,
    /// From 1 s on it has half of them.
    Half,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    server: String,
    act: Act,
}

/// What the last controller saw.
static SEEN: Mutex<Vec<Answer>> = Mutex::new(Vec::new());
static PASSED: Mutex<[u64; 2]> = Mutex::new([0; 2]);

struct Acting {
    act: Act,
    passed: [u64; 2],
    answers: Vec<Answer>,
    halved: bool,
}

impl ControllerParameters for Parameters {
    fn start(&self, _rates: Rates, _seed: Seed) -> Box<dyn Controller + Send> {
        let (passed, answers) = ([0; 2], Vec::new());
        Box::new(Acting { act: self.act, passed, answers, halved: false })
    }

    fn probing(&self) -> Probing<'_> {
        let (interval, update) = (Time::from_ms(50), Time::from_ms(100));
        Probing { server: &self.server, interval, bytes: 100, update }
    }

    fn server_mut(&mut self) -> &mut String {
        &mut self.server
    }
}

impl Controller for Acting {
    fn on_probe(&mut self, answer: &Answer) -> Rates {
        self.answers.push(*answer);
        if self.act == Act::Nothing {
            SEEN.lock().unwrap().clone_from(&self.answers);
        }
        let Rates { up_bps, down_bps } = answer.rates;
        match self.act {
            Act::Nothing => Rates::default(),
            Act::Same => answer.rates,
            Act::Half if self.halved || answer.now_us < 1e6 => answer.rates,
            Act::Half => {
                self.halved = true;
                Rates {
                    up_bps: up_bps.map(|bps| bps / 2.0),
                    down_bps: down_bps.map(|bps| bps / 2.0),
                }
            }
        }
    }

    fn on_update(&mut self, update: &Update) -> Rates {
        for (sum, bytes) in self.passed.iter_mut().zip(update.bytes) {
            *sum += bytes.unwrap_or_default();
        }
        if self.act == Act::Nothing {
            *PASSED.lock().unwrap() = self.passed;
        }
        Rates::default()
    }
}

/// A line of 50/10 Mbps behind shapers of 40/8.
const HOME: &str = "
    duration_s = 4
    clock_drift_ppm = 0
    baseline = false
    upstream = { sustained_mbps = 10, modem.kind = 'link' }
    downstream.sustained_mbps = 50
    router.upstream.rate_mbps = 8
    router.downstream.rate_mbps = 40
    servers.near = { delay_ms = 10, host_jitter_us = 0 }
    traffic.up = { kind = 'transfer', direction = 'up' }
    traffic.down = { kind = 'transfer', direction = 'down' }
";

fn acting(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let parts = Parts::default().controller::<Parameters>("acting");
    let loaded = Source::new(HOME, "home.toml").sets(&sets).parts(&parts).load();
    loaded.unwrap_or_else(|problems| panic!("{problems}")).remove(0).scenario
}

fn with(act: &str, sets: &[&str]) -> Results {
    let act = format!("router.controller={{kind='acting', act='{act}'}}");
    Simulation::run(&acting(&[&[&*act], sets].concat()))
}

fn shaped(results: &Results, direction: &str) -> (f64, u64) {
    let rows = results.flows.iter().filter(|row| row.quality == "probes");
    let row = rows.into_iter().find(|row| row.direction == direction).expect("probes");
    (row.shaper_mean_mbps.expect("a rate"), row.shaper_decreases.expect("a count"))
}

/// Tests of one static, one after the other.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn rates_that_stay_change_nothing_beyond_the_probes() {
    for queue in ["law.kind='codel'", "scheduler={kind='cake', bandwidth_mbps=7}"] {
        let queue = format!("router.upstream.queue.{queue}");
        let [none, same] = ["nothing", "same"].map(|act| with(act, &[&queue]));
        assert_eq!(none.fingerprint, same.fingerprint);
        assert_eq!(format!("{none:?}"), format!("{same:?}"));
    }
}

#[test]
fn probes_are_packets_of_their_own() {
    let _turn = TURN.lock().unwrap();
    let results = with("nothing", &["servers.near.loss_percent=5"]);
    let rows: Vec<_> = results.flows.iter().filter(|row| row.quality == "probes").collect();
    let [up, down] = rows[..] else { panic!("two directions") };
    assert_eq!((&*up.traffic, up.direction), ("router controller", "up"));
    // One each 50 ms in 4 s, from the first interval on, of which 5 % are lost.
    assert_eq!((up.sent_packets, up.sent_bytes), (80, 8000));
    assert_eq!(down.sent_packets, up.delivered_packets);
    assert!(up.dropped_link_packets > 0 && down.dropped_link_packets > 0);
    // 10 ms to the server and 10 ms back, 1 ms of cable, and what waits.
    assert!(up.rtt_p50_ms > Some(22.0), "{:?}", up.rtt_p50_ms);
    let seen = SEEN.lock().unwrap();
    assert_eq!(seen.len() as u64, down.delivered_packets);
    let numbers: Vec<u64> = seen.iter().map(|answer| answer.probe).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next) && numbers[numbers.len() - 1] < 80);
    for answer in seen.iter() {
        // Clocks are true here.
        let both_us = answer.up_us + answer.down_us;
        assert!((answer.rtt_us - both_us).abs() < 1e-3, "{answer:?}");
        // 10 ms to the server, 10 ms back and 1 ms of cable.
        assert!(answer.up_us > 11e3 && answer.down_us > 11e3, "{answer:?}");
    }
}

/// Its counters are what has left the shapers: with the last update, all but the last 100 ms.
#[test]
fn a_controller_reads_what_its_shapers_let_pass() {
    let _turn = TURN.lock().unwrap();
    let results = with("nothing", &[]);
    let [up, down] = *PASSED.lock().unwrap();
    let bytes = |way: &str| {
        let rows = results.flows.iter().filter(|row| row.direction == way);
        rows.map(|row| row.delivered_bytes).sum::<u64>() as f64
    };
    for (passed, delivered) in [(up, bytes("up")), (down, bytes("down"))] {
        assert!((passed as f64 / delivered - 1.0).abs() < 0.06, "{passed} and {delivered}");
    }
}

/// 8 and 40 Mbps for 1 s, and half of them for 3 s: 5 and 25 Mbps in the mean.
#[test]
fn rates_are_set_and_measured() {
    let shapers = [
        &[][..],
        &[
            "router.upstream.rate_mbps=1000",
            "router.upstream.queue.scheduler={kind='cake', bandwidth_mbps=8}",
        ],
    ];
    for sets in shapers {
        // The upload alone.
        let sets = &[sets, &["traffic.down.start_s=100"]].concat()[..];
        let results = with("half", sets);
        let [up, down] = ["up", "down"].map(|way| shaped(&results, way));
        assert!((up.0 - 5.0).abs() < 0.1 && (down.0 - 25.0).abs() < 0.5, "{up:?}, {down:?}");
        assert_eq!((up.1, down.1), (1, 1));
        let series = results.series.iter().find(|of| of.series.metric == "shaper_up").unwrap();
        assert_eq!(series.subject, "router controller");
        assert_eq!(
            series.series.values.first().zip(series.series.values.last()),
            Some((&8.0, &4.0))
        );
        let up = results.flows.iter().find(|row| row.traffic == "up" && row.direction == "up");
        let mbps = up.unwrap().throughput_mbps;
        assert!((3.5..5.1).contains(&mbps), "{mbps}");
        // From 2 s on it is half, and has not changed.
        let late = with("half", &[sets, &["metrics.from_s=2"]].concat());
        assert_eq!(shaped(&late, "up"), (4.0, 0));
    }
}

/// Another law of the queue changes no rate that a controller has set, and its rate is not to be set otherwise.
#[test]
fn a_stepped_run_leaves_rates_to_the_controller() {
    let scenario = acting(&[
        "router.controller={kind='acting', act='half'}",
        "router.upstream.queue.law.kind='codel'",
        "traffic.down.start_s=100",
    ]);
    let mut simulation = Simulation::new(&scenario);
    simulation.run_until(Time::from_s(2));
    let keys = simulation.live_keys();
    assert!(keys.paths().all(|key| !key.starts_with("router") || !key.ends_with("_mbps")));
    let key = "router.upstream.queue.law.target_ms".to_owned();
    simulation.set(&[(key, json!(20))]).unwrap();
    simulation.run_until(Time::from_s(4));
    let results = simulation.finish();
    let series =
        results.series.iter().find(|of| of.subject == "up up" && of.series.metric == "throughput");
    let last = series.unwrap().series.values.iter().rev().take(15).sum::<f32>() / 15.0;
    assert!((last - 4.0).abs() < 0.3, "{last}");
}

#[test]
fn each_home_has_a_controller() {
    let scenario = loaded(
        &format!("{HOME}\nhomes.a.count = 2\nhomes.b.router.controller.server = 'far'\nservers.far.delay_ms = 40
            traffic.call = {{ kind = 'stream', purpose = 'voice', home = 'b' }}"),
        &["router.controller.kind='autorate'"],
    );
    let results = Simulation::run(&scenario);
    let row = |name: &str| {
        let rows = results.flows.iter().filter(|row| row.traffic == name && row.direction == "up");
        rows.into_iter().next().expect("probes")
    };
    let [a, b] = ["a router controller", "b router controller"].map(row);
    assert!(a.sent_packets > b.sent_packets * 3 / 2);
    // 40 ms there and back, and a line without load.
    assert!(b.rtt_p50_ms > Some(80.0) && b.rtt_p50_ms < Some(90.0), "{:?}", b.rtt_p50_ms);
}

/// A controller is a key: the complete scenario has it with its defaults, and its probes are none of its traffic.
#[test]
fn the_complete_scenario_has_the_controller() {
    let scenario = loaded(HOME, &["router.controller.kind='autorate'"]);
    let text = to_toml(&scenario);
    for line in
        ["kind = \"autorate\"", "base_up_mbps = 8", "max_down_mbps = 160", "server = \"near\""]
    {
        assert!(text.contains(line), "{line} not in {text}");
    }
    assert!(!text.contains("router controller"), "{text}");
    assert_eq!(loaded(&text, &[]), scenario);
}

#[test]
fn a_controller_that_can_do_nothing_is_named() {
    let of = |sets: &[&str]| {
        let sets = [&["router.controller.kind='autorate'"], sets].concat();
        sentences(Simulation::run(&loaded(HOME, &sets)).warnings)
    };
    let is_there = |all: &[String], start: &str| all.iter().any(|one| one.starts_with(start));
    assert!(!is_there(&of(&[]), "router.controller"));
    let trace = "{capacity.steps=[{for_s=1, mbps=9}]}";
    let idle = of(&[&format!("router.upstream={trace}"), &format!("router.downstream={trace}")]);
    assert!(is_there(&idle, "router.controller has no shaper that it could set"), "{idle:?}");
    let up = of(&[
        "router.downstream={capacity.steps=[{for_s=1, mbps=9}]}",
        "router.controller.min_down_mbps=2",
    ]);
    let key = "router.controller.min_down_mbps has no effect: the router has no shaper downstream";
    assert!(is_there(&up, key), "{up:?}");
    let lost = of(&["servers.near.loss_percent=100"]);
    assert!(is_there(&lost, "none of 80 probes of router.controller was answered"), "{lost:?}");
    let silent = of(&["router.controller.probe_interval_ms=60000"]);
    assert!(is_there(&silent, "router.controller sent nothing"), "{silent:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    for (sets, want) in [
        (&["router.controller.kind='pid'"][..], "router.controller.kind: found \"pid\""),
        (&["router.controller={}"], "router.controller.kind: missing"),
        (
            &["router.controller={kind='autorate', server='there'}"],
            "router.controller.server: found \"there\"",
        ),
        (
            &["router.controller={kind='autorate', min_up_mbps=9}"],
            "router.controller.base_up_mbps: found 8",
        ),
        (&["router.controller={kind='autorate', bloated=7}"], "router.controller.window: found 6"),
        (
            &["router.controller={kind='autorate', update_ms=0}"],
            "router.controller.update_ms: found 0",
        ),
        (&["core.x.controller.kind='autorate'"], "core.x.controller: unknown key"),
        (
            &["router.controller.kind='autorate'", "traffic.'router controller'={kind='torrent'}"],
            "traffic.\"router controller\": found",
        ),
    ] {
        let found = refused(HOME, sets);
        assert!(found.contains(want), "{sets:?}: {found}");
    }
}

/// Two uploads begin at 1 s behind a shaper that the line cannot hold: the rate falls to what it carries, and rises again.
#[test]
fn autorate_finds_the_rate_of_the_line() {
    let text = "
        duration_s = 60
        baseline = false
        upstream = { sustained_mbps = 20, modem.kind = 'link', queue.limit_bytes = 1_000_000,
                     capacity.steps = [{ for_s = 30, mbps = 8 }, { for_s = 30, mbps = 16 }] }
        downstream.sustained_mbps = 100
        router.upstream = { rate_mbps = 12, queue.scheduler.kind = 'cake' }
        router.controller = { kind = 'autorate', max_up_mbps = 30 }
        servers.near.delay_ms = 10
        traffic.up = { kind = 'transfer', direction = 'up', connections = 2 }
        traffic.game = { kind = 'stream', purpose = 'game' }
    ";
    let results = Simulation::run(&loaded(text, &[]));
    let rates = results.series.iter().find(|of| of.series.metric == "shaper_up").unwrap();
    let mean = |from_s: f64, to_s: f64| {
        let [from, to] = [from_s, to_s].map(|s| (s / rates.interval_s) as usize);
        let values = &rates.series.values[from..to];
        values.iter().sum::<f32>() / values.len() as f32
    };
    let [slow, fast] = [mean(15.0, 30.0), mean(45.0, 60.0)];
    assert!((5.0..10.0).contains(&slow) && (11.0..20.0).contains(&fast), "{slow}, {fast}");
}
