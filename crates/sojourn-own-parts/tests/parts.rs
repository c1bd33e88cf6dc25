//! The parts do what they are for.

use sojourn::engine::units::Time;
use sojourn::results::metrics::Results;
use sojourn::{Simulation, Source};
use sojourn_own_parts::{control, hop, law, parts};

/// The results of a home's variants.
fn run(home: &str) -> Vec<Results> {
    let variants = Source::new(home, "home.toml").parts(&parts()).load().unwrap();
    variants.iter().map(|variant| Simulation::run(&variant.scenario)).collect()
}

#[test]
fn the_law_has_the_drops_of_codel() {
    let [built_in, own] = &run(law::HOME)[..] else { panic!("two variants") };
    assert_eq!(built_in.fingerprint, own.fingerprint);
    assert!(own.flows.iter().any(|row| row.dropped_aqm_packets > 0));
}

#[test]
fn the_control_shares_a_line_with_cubic() {
    let results = &run(control::HOME)[0];
    let up = results.flows.iter().filter(|row| row.direction == "up");
    assert!(up.map(|row| row.throughput_mbps).all(|mbps| mbps > 2.0));
}

#[test]
fn the_hop_delays_the_game() {
    let [cable, wifi] = &run(hop::HOME)[..] else { panic!("two variants") };
    assert!(wifi.flows[0].latency_p99_ms > cable.flows[0].latency_p99_ms);
}

/// What the hop shows is observed, and a series of the hop: each 7 ms the same.
#[test]
fn the_gauges_of_the_hop_are_observed_and_series() {
    let (parts, sets) = (parts(), ["metrics.series_interval_ms=7".to_owned()]);
    let source = Source::new(hop::HOME, "home.toml").parts(&parts).sets(&sets);
    let variants = source.load().unwrap();
    let mut simulation = Simulation::new(&variants[1].scenario);
    let mut seen = Vec::new();
    for step in 1..500 {
        simulation.run_until(Time::from_ms(7 * step));
        let observation = simulation.observe();
        let [hop] = &observation.hops[..] else { panic!("one hop, found {observation:?}") };
        let [gauge] = &hop.gauges[..] else { panic!("one gauge, found {hop:?}") };
        assert_eq!(
            (&*hop.name, gauge.metric, gauge.unit),
            ("router upstream", "wifi_waiting", "packets")
        );
        assert_eq!(gauge.value, Some(hop.backlog.packets as f64));
        seen.push(gauge.value.unwrap());
    }
    assert!(seen.iter().any(|waiting| *waiting > 0.0));
    let results = simulation.finish();
    let series = results.series.iter().find(|of| of.series.metric == "wifi_waiting").unwrap();
    assert_eq!(series.subject, "router upstream");
    let kept: Vec<f64> = series.series.values.iter().map(|value| f64::from(*value)).collect();
    assert_eq!(seen, kept[..seen.len()]);
}

/// A program may look at a run between two times, and end it there.
#[test]
fn a_run_goes_on_in_steps() {
    let variants = Source::new(law::HOME, "home.toml").parts(&parts()).load().unwrap();
    let mut simulation = Simulation::new(&variants[1].scenario);
    assert!(simulation.run_until(Time::from_s(7)));
    assert!((6.9..=7.0).contains(&simulation.now().secs_f64()), "{}", simulation.now().secs_f64());
    let sent = simulation.forwarded_packets();
    assert!(simulation.run_until(Time::from_s(9)));
    assert!(simulation.forwarded_packets() > sent);
    assert!(!simulation.run_until(Time::NEVER));
    let whole = Simulation::run(&variants[1].scenario);
    assert_eq!(simulation.finish().fingerprint, whole.fingerprint);
}
