//! What is wrong with parts from outside, or with the keys of scenarios that choose them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn::engine::aqm::{Aqm, AqmAlgorithm, AqmParameters, Arrival, DrainRate, Verdict, codel};
use sojourn::engine::count::Count;
use sojourn::engine::hop::{HopParameters, Stage};
use sojourn::engine::packet::Packet;
use sojourn::engine::record::Recorder;
use sojourn::engine::rng::{Rng, Seed};
use sojourn::engine::units::Time;
use sojourn::{Parts, Simulation, Source};

use super::{BUSY, load};

#[track_caller]
fn assert_refused(sets: &[&str], want: &str) {
    let problems = load(BUSY, sets).err().unwrap_or_default();
    assert!(problems.contains(want), "{want:?} is not in {problems:?}");
}

/// Keys of parts from outside are checked as those of built-in ones are, also where `--set` gives them.
#[test]
fn keys_from_outside_are_checked() {
    let own = "upstream.queue.law={kind=\"own_codel\",target_ms=0}";
    assert_refused(
        &[own],
        "upstream.queue.law.target_ms: found 0; allowed: a number from 0.01 to 10000",
    );
    let own = "upstream.queue.law={kind=\"own_codel\",target=5}";
    assert_refused(&[own], "upstream.queue.law.target: unknown key; allowed here: ");
    assert_refused(&[own], "write target_ms");
    assert_refused(&["upstream.queue.law.kind=own_code"], "did you mean own_codel?");
    assert_refused(&["router.downstream.hop.kind=wify"], "found \"wify\"; allowed: wifi");
    assert_refused(
        &["router.downstream.hop.kind=wifi", "router.downstream.queue.limit_packets=10"],
        "router.downstream.hop: found a queue and a hop; allowed: one of them",
    );
    // QUIC takes controls from outside that need no share of marks.
    let over_quic =
        |kind| format!("tcp={{transport=\"quic\",congestion_control={{kind=\"{kind}\"}}}}");
    assert_refused(&[&over_quic("prague")], "allowed: tcp, or");
    assert!(load(BUSY, &[&over_quic("own")]).is_ok());
}

/// Without the program's parts its kinds are unknown.
#[test]
fn kinds_from_outside_are_known_only_where_they_are_registered() {
    let sets = ["upstream.queue.law.kind=own_codel".to_owned()];
    let problems = Source::new(BUSY, "own.toml").sets(&sets).load().expect_err("an unknown kind");
    let text = problems.to_string();
    assert!(text.contains("found \"own_codel\"; allowed: none, codel, "), "{text}");
    let sets = ["router.downstream.hop.kind=wifi".to_owned()];
    let problems = Source::new(BUSY, "own.toml").sets(&sets).load().expect_err("an unknown key");
    assert!(problems.to_string().contains("router.downstream.hop: unknown key"), "{problems}");
}

/// A name that is taken would hide one part or the other.
#[test]
fn a_kind_has_a_name_of_its_own() {
    let twice = Parts::default().aqm::<codel::Parameters>("a").aqm::<codel::Parameters>("a");
    for parts in [Parts::default().aqm::<codel::Parameters>("pie"), twice] {
        let problems =
            Source::new(BUSY, "own.toml").parts(&parts).load().expect_err("a taken name");
        assert!(problems.to_string().contains("found a part from outside called"), "{problems}");
    }
}

/// A part that is wrong in one of these ways.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Wrong {
    /// Loses packets, or does not.
    loses: bool,
}

impl HopParameters for Wrong {
    fn start(&self, _seed: Seed) -> Box<dyn Stage + Send> {
        Box::new(WrongHop { loses: self.loses, held: None, now: Time::NEVER })
    }
}

struct WrongHop {
    loses: bool,
    held: Option<Packet>,
    now: Time,
}

impl Stage for WrongHop {
    fn accept(&mut self, now: Time, packet: Packet, _recorder: &mut Recorder) {
        self.now = now;
        self.held = (!self.loses).then_some(packet);
    }

    fn next_wake(&self) -> Time {
        if self.loses { Time::NEVER } else { self.now }
    }

    fn wake(&mut self, _now: Time, _recorder: &mut Recorder) -> Option<Packet> {
        None
    }

    fn inside(&self) -> Count {
        self.held.iter().map(Count::of).sum()
    }
}

/// A hop that loses packets without a word, or that never lets time go on, ends the run.
#[test]
fn a_wrong_hop_gives_no_results() {
    for (loses, want) in [("true", "packets"), ("false", "wants to be woken without end")] {
        let parts = Parts::default().hop::<Wrong>("wrong");
        let sets = [format!("router.downstream.hop={{kind=\"wrong\",loses={loses}}}")];
        let loaded = Source::new(BUSY, "own.toml").sets(&sets).parts(&parts).load();
        let scenario = loaded.expect("it loads").remove(0).scenario;
        let run = catch_unwind(AssertUnwindSafe(|| Simulation::run(&scenario)));
        let panic = run.expect_err("no results");
        let message = panic.downcast_ref::<String>().cloned();
        let message =
            message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        assert!(message.as_ref().is_some_and(|text| text.contains(want)), "{message:?}");
    }
}

/// An algorithm that drops at random from numbers of its own.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Dice {}

struct Thrown(Rng);

impl AqmParameters for Dice {
    fn start(&self, seed: Seed) -> AqmAlgorithm {
        AqmAlgorithm::Outside(Box::new(Thrown(seed.open())))
    }
}

impl Aqm for Thrown {
    fn on_arrival(&mut self, _packet: &Arrival, _outlet: &DrainRate, _rng: &mut Rng) -> Verdict {
        if self.0.uniform() < 0.02 { Verdict::Drop } else { Verdict::Pass }
    }
}

/// The instances of a scheduler's bins draw different numbers, the same ones in each run, and leave those of all
/// others alone.
#[test]
fn each_instance_has_random_numbers_of_its_own() {
    let first = |seed: u64, bin: u64| Seed::named(seed, "queue").numbered(bin).open().bits();
    assert_ne!(first(1, 0), first(1, 1));
    assert_ne!(first(1, 0), first(2, 0));
    let parts = Parts::default().aqm::<Dice>("dice");
    let run = |seed: u64| {
        let sets = [
            format!("seed={seed}"),
            "upstream.queue={scheduler={kind=\"fq\"},law={kind=\"dice\"}}".to_owned(),
        ];
        let loaded = Source::new(BUSY, "own.toml").sets(&sets).parts(&parts).load();
        format!("{:?}", Simulation::run(&loaded.expect("it loads")[0].scenario))
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
