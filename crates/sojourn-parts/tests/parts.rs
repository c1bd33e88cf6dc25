//! Programs of plain numbers in whole runs: what they are called with, what they answer, and what goes wrong.

use std::sync::Arc;

use sojourn::engine::aqm::AqmSpec;
use sojourn::results::metrics::Results;
use sojourn::scenario::to_toml;
use sojourn::{Parts, Scenario, Simulation, Source};
use sojourn_parts::{
    Cause, Declaration, Failure, Hook, Instance, Program, Role, Setting, Watch, command, register,
    stand_ins, verdict,
};

type Act = fn(&mut State, Hook, &[f64], &mut Vec<f64>) -> Result<(), Cause>;

/// What an instance of a test has.
struct State {
    parameters: Vec<f64>,
    calls: f64,
}

struct Numbers {
    declaration: Declaration,
    act: Act,
}

impl Program for Numbers {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn start(&self, parameters: &[Setting], _seed: u64) -> Result<Box<dyn Instance>, Cause> {
        let state = State { parameters: Setting::numbers(parameters), calls: 0.0 };
        let Declaration { role, gauges, .. } = &self.declaration;
        Ok(Box::new(Running { state, role: *role, act: self.act, gauges: gauges.len() }))
    }
}

struct Running {
    state: State,
    role: Role,
    act: Act,
    gauges: usize,
}

impl Instance for Running {
    fn call(&mut self, hook: Hook, numbers: &[f64], answers: &mut Vec<f64>) -> Result<(), Cause> {
        assert_eq!(numbers.len(), hook.numbers(self.role).len());
        self.state.calls += 1.0;
        (self.act)(&mut self.state, hook, numbers, answers)
    }

    fn gauges(&mut self, values: &mut Vec<f64>) -> Result<(), Cause> {
        values.extend(std::iter::repeat_n(self.state.calls, self.gauges));
        Ok(())
    }
}

fn parts(declaration: &str, act: Act) -> Parts {
    let declaration: Declaration = serde_json::from_str(declaration).unwrap();
    register(Parts::default(), Arc::new(Numbers { declaration, act })).unwrap()
}

fn say(answers: &mut Vec<f64>, numbers: &[f64]) -> Result<(), Cause> {
    answers.extend(numbers);
    Ok(())
}

const LAW: &str = r#"{ "role": "law", "name": "mine", "hooks": ["on_update"], "update": "update_ms",
    "gauges": [{ "name": "calls" }], "digest": "abc",
    "parameters": [
        { "name": "update_ms", "default": 20, "min": 1, "max": 1000 },
        { "name": "probability", "default": 0.5, "min": 0, "max": 2, "doc": "Of a drop." }
    ] }"#;

const HOME: &str = "
    duration_s = 4
    baseline = false
    upstream = { sustained_mbps = 5, peak_mbps = 5, queue.law = { kind = 'mine' } }
    downstream = { sustained_mbps = 20 }
    servers.near = { delay_ms = 10 }
    traffic.call = { kind = 'stream', purpose = 'voice' }
";

fn load(parts: &Parts, sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let loaded = Source::new(HOME, "home.toml").sets(&sets).parts(parts).load();
    loaded.map(|mut all| all.remove(0).scenario).map_err(|problems| problems.to_string())
}

fn run(parts: &Parts, sets: &[&str]) -> (Results, Option<Failure>) {
    let scenario = load(parts, sets).unwrap_or_else(|problems| panic!("{problems}"));
    let watch = Watch::default();
    let results = watch.within(|| Simulation::run(&scenario));
    (results, watch.failure())
}

fn by_parameter(
    state: &mut State,
    _: Hook,
    _: &[f64],
    answers: &mut Vec<f64>,
) -> Result<(), Cause> {
    answers.push(state.parameters[1]);
    Ok(())
}

#[test]
fn an_update_answers_how_many_arrivals_are_dropped() {
    let parts = parts(LAW, by_parameter);
    let of = |probability: f64| {
        let (results, failure) =
            run(&parts, &[&format!("upstream.queue.law.probability={probability}")]);
        assert!(failure.is_none(), "{failure:?}");
        let queue = results.queues.iter().find(|row| row.direction == "up").unwrap();
        (queue.dropped_aqm_packets, results)
    };
    let (none, results) = of(0.0);
    let (half, _) = of(0.5);
    // 50 packets a second for 4 s, but those of the first 20 ms come before the first update.
    let (all, _) = of(1.0);
    assert_eq!(none, 0);
    assert!((70..130).contains(&half), "{half}");
    assert!((198..=199).contains(&all), "{all}");
    let calls = results.series.iter().find(|row| row.series.metric == "mine_calls").unwrap();
    // One call each 20 ms.
    assert!(calls.series.values.last().is_some_and(|last| (190.0..=200.0).contains(last)));
}

/// One law for all bins of SFQ: beside a flood, packets of a call come to an empty bin, which its probability spares (White 2014
/// section 4.6).
#[test]
fn an_empty_bin_is_immune() {
    let parts = parts(LAW, by_parameter);
    let flood = "traffic.flood={ kind='stream', purpose='data', packet_bytes=1500, interval_ms=1 }";
    let one_law = "upstream.queue.scheduler={ kind='sfq', one_law=true }";
    let (results, failure) = run(&parts, &[flood, one_law]);
    assert!(failure.is_none(), "{failure:?}");
    let dropped = |traffic: &str| {
        let flow = results.flows.iter().find(|row| row.traffic == traffic && row.direction == "up");
        flow.unwrap().dropped_aqm_packets
    };
    assert_eq!(dropped("call"), 0);
    assert!((1700..2200).contains(&dropped("flood")), "{}", dropped("flood"));
}

#[test]
fn its_keys_are_checked_and_shown_like_those_of_built_in_laws() {
    let parts = parts(LAW, by_parameter);
    let schema = parts.file_schema().unwrap().to_string();
    assert!(schema.contains("\"description\":\"Of a drop.\""), "{schema}");
    for (set, reported) in [
        ("probability=3", "found 3; allowed: a number from 0 to 2"),
        ("probability='x'", "found a string"),
        ("probabilty=1", "did you mean"),
        ("digest='abd'", "found abd, of a mine before it changed; allowed: abc"),
    ] {
        let message = load(&parts, &[&format!("upstream.queue.law.{set}")]).unwrap_err();
        assert!(message.contains(reported), "{set}: {message}");
        assert!(message.contains("upstream.queue.law"), "{set}: {message}");
    }
    let scenario = load(&parts, &["upstream.queue.law.update_ms=30"]).unwrap();
    let text = to_toml(&scenario);
    let again = Source::new(&text, "again.toml").parts(&parts).load().unwrap();
    assert_eq!(to_toml(&again[0].scenario), text);
    assert!(text.contains("digest = \"abc\"") && text.contains("update_ms = 30.0"), "{text}");
}

#[test]
fn stored_scenarios_are_read_without_their_parts() {
    let scenario = load(&parts(LAW, by_parameter), &[]).unwrap();
    let text = to_toml(&scenario);
    let table = sojourn::input::text::Document::parse(&text, "").unwrap().into_parts().0;
    let stored = Source::new(&text, "")
        .parts(&stand_ins(&table, &serde_json::Value::Null))
        .load_stored()
        .unwrap();
    assert_eq!(to_toml(&stored), text);
    assert!(matches!(&stored.upstream.queue.law, AqmSpec::Outside(law) if law.kind() == "mine"));
    // It cannot run, and says so.
    let watch = Watch::default();
    watch.within(|| Simulation::run(&stored));
    let reported = watch.failure().unwrap().to_string();
    assert!(reported.contains("stored results name this part"), "{reported}");
}

const FAILING: &str =
    r#"{ "role": "law", "name": "mine", "hooks": ["on_arrival", "on_departure"] }"#;

#[test]
fn what_fails_is_told_once_and_lets_everything_pass() {
    let cases: [(Act, &str); 4] = [
        (|_, _, _, answers| say(answers, &[7.0]), "on_arrival, at 0.0"),
        (|_, _, _, answers| say(answers, &[f64::NAN]), "found NaN as what to do with a packet"),
        (
            |state, _, _, _| if state.calls < 100.0 { Ok(()) } else { Err("my words".into()) },
            "s: my words",
        ),
        (
            |_, hook, numbers, answers| {
                assert!(numbers.iter().all(|number| number.is_finite()));
                let is_marked = hook == Hook::OnDeparture && numbers[3] < 0.0;
                say(answers, &[if is_marked { verdict::MARK } else { verdict::PASS }])
            },
            "",
        ),
    ];
    for (act, reported) in cases {
        let (results, failure) = run(&parts(FAILING, act), &[]);
        let message = failure.map_or(String::new(), |failure| failure.to_string());
        assert_eq!(message.is_empty(), reported.is_empty(), "{message}");
        assert!(message.contains(reported), "{message}");
        let call = &results.flows[0];
        assert!(call.delivered_packets + 3 > call.sent_packets, "{call:?}");
    }
}

#[test]
fn an_update_that_is_no_probability_fails() {
    let parts = parts(LAW, by_parameter);
    let (_, failure) = run(&parts, &["upstream.queue.law.probability=1.5"]);
    let reported = failure.unwrap().to_string();
    assert_eq!(
        reported,
        "part mine: on_update, at 0.020000 s: found 1.5 as probability; allowed: 0 to 1"
    );
}

/// Additive increase, multiplicative decrease.
fn aimd(_: &mut State, hook: Hook, numbers: &[f64], answers: &mut Vec<f64>) -> Result<(), Cause> {
    const MSS: f64 = 1448.0;
    answers.push(match hook {
        Hook::OnAck => numbers[1] + MSS * numbers[3] / numbers[1],
        Hook::OnLoss => numbers[2] / 2.0,
        _ => MSS,
    });
    Ok(())
}

const CONTROL: &str =
    r#"{ "role": "control", "name": "aimd", "hooks": ["on_ack", "on_loss", "on_timeout"] }"#;
const UPLOAD: [&str; 3] = [
    "upstream.queue.law.kind='codel'",
    "traffic.up={ kind='transfer', direction='up', tcp.congestion_control.kind='aimd' }",
    "duration_s=10",
];

#[test]
fn a_control_of_numbers_fills_the_line() {
    let (results, failure) = run(&parts(CONTROL, aimd), &UPLOAD);
    assert!(failure.is_none(), "{failure:?}");
    let up = results.flows.iter().find(|row| row.traffic == "up" && row.direction == "up").unwrap();
    assert!((3.5..5.0).contains(&up.throughput_mbps), "{}", up.throughput_mbps);
}

#[test]
fn windows_and_rates_that_cannot_be_fail() {
    let cases: [(Act, &str); 3] = [
        (
            |_, _, _, answers| say(answers, &[-1.0]),
            "found -1 as window in bytes; allowed: a finite number from 0 on",
        ),
        (|_, _, _, answers| say(answers, &[f64::INFINITY]), "found inf as window"),
        (
            |_, _, _, answers| say(answers, &[1e4, 1e6]),
            "declared as paced; allowed: none, or a class with",
        ),
    ];
    for (act, reported) in cases {
        let message = run(&parts(CONTROL, act), &UPLOAD).1.unwrap().to_string();
        assert!(message.starts_with("part aimd: on_") && message.contains(reported), "{message}");
    }
}

/// Asks for a file of 100 kB each second, and sends a datagram with each.
fn files(
    state: &mut State,
    hook: Hook,
    numbers: &[f64],
    answers: &mut Vec<f64>,
) -> Result<(), Cause> {
    match hook {
        Hook::OnTimer => {
            answers.extend([command::OPEN, state.calls, 0.0, 0.0]);
            answers.extend([command::DATAGRAM, 0.0, 200.0, 0.0]);
            answers.extend([command::WAKE, numbers[0] + 1e6, 0.0, 0.0]);
        }
        Hook::OnOpen => {
            answers.extend([command::EXPECT, numbers[1], 0.0, 1e5]);
            answers.extend([command::SEND, numbers[1], 1.0, 1e5]);
        }
        _ => answers.extend([command::CLOSE, numbers[1], 0.0, 0.0]),
    }
    Ok(())
}

const TRAFFIC: &str =
    r#"{ "role": "traffic", "name": "files", "hooks": ["on_timer", "on_open", "on_received"] }"#;
const FILES: [&str; 2] =
    ["upstream.queue.law.kind='none'", "traffic.files={ kind='files', start_s=0.5, dscp=8 }"];

#[test]
fn traffic_of_numbers_opens_sends_and_closes() {
    let (results, failure) = run(&parts(TRAFFIC, files), &FILES);
    assert!(failure.is_none(), "{failure:?}");
    let of = |direction: &str| {
        let mut rows = results.flows.iter();
        rows.find(|row| row.traffic == "files" && row.direction == direction).unwrap()
    };
    // At 0.5, 1.5, 2.5 and 3.5 s: 400 kB in 4 s, and headers.
    assert_eq!(of("up").connections, 4);
    let mbps = of("down").throughput_mbps;
    assert!((0.8..0.9).contains(&mbps), "{mbps}");
}

#[test]
fn commands_that_cannot_be_fail() {
    let cases: [(Act, &str); 6] = [
        (|_, _, _, answers| say(answers, &[1.0]), "found 1 numbers of commands; allowed: 4"),
        (|_, _, _, answers| say(answers, &[9.0; 4]), "found 9 as a command"),
        (|_, _, _, answers| say(answers, &[command::WAKE, 1.0, 0.0, 0.0]), "time of the timer"),
        (|_, _, _, answers| say(answers, &[command::SEND, 1.0, 0.0, 1.0]), "found 1 as connection"),
        (
            |_, _, _, answers| say(answers, &[command::DATAGRAM, 2.0, 99.0, 0.0]),
            "found 2 as an end",
        ),
        (
            |_, _, _, answers| say(answers, &[command::DATAGRAM, 1.0, 9e9, 0.0]),
            "bytes of a datagram",
        ),
    ];
    for (act, reported) in cases {
        let message = run(&parts(TRAFFIC, act), &FILES).1.unwrap().to_string();
        assert!(
            message.starts_with("part files: on_timer, at 0.5") && message.contains(reported),
            "{message}"
        );
    }
}

#[test]
fn declarations_that_cannot_be_are_refused() {
    for (declaration, reported) in [
        (r#"{ "role": "law", "name": "Mine", "hooks": ["on_empty"] }"#, "found the name \"Mine\""),
        (
            r#"{ "role": "law", "name": "mine", "hooks": [] }"#,
            "found no hook; allowed in a law: on_arrival",
        ),
        (r#"{ "role": "law", "name": "mine", "hooks": ["on_ack"] }"#, "found on_ack in a law"),
        (
            r#"{ "role": "law", "name": "mine", "hooks": ["on_update"] }"#,
            "without the time between updates; allowed: update, in us",
        ),
        (
            r#"{ "role": "law", "name": "mine", "hooks": ["on_update"], "update": 0 }"#,
            "found 0 us between",
        ),
        (
            r#"{ "role": "law", "name": "mine", "hooks": ["on_update"], "update": "x" }"#,
            "found x as time",
        ),
        (r#"{ "role": "control", "name": "mine", "hooks": ["on_ack"] }"#, "found no on_loss"),
        (
            r#"{ "role": "law", "name": "mine", "hooks": ["on_empty"],
                "parameters": [{ "name": "a", "default": 5, "max": 4 }] }"#,
            "a: found the default 5",
        ),
        (
            r#"{ "role": "law", "name": "mine", "hooks": ["on_empty"],
                "parameters": [{ "name": "kind", "default": 5 }] }"#,
            "found the parameter kind, a name that is taken",
        ),
    ] {
        let declaration: Declaration = serde_json::from_str(declaration).unwrap();
        let message = declaration.check().unwrap_err();
        assert!(message.contains(reported), "{message}");
    }
    // A name that a built-in law has.
    let parts = parts(&LAW.replace("mine", "codel"), by_parameter);
    let message = parts.file_schema().unwrap_err().to_string();
    assert!(message.contains("found a part from outside called \"codel\""), "{message}");
}
