//! What parameters of the algorithms say of themselves: faults, remarks, obstacles and thresholds.

use super::*;

fn line(mbps: f64) -> BitRate {
    BitRate::from_mbps(mbps)
}

fn keys(faults: Faults) -> Vec<String> {
    faults.into_iter().map(|fault| fault.path).collect()
}

fn reported(faults: Faults) -> Vec<String> {
    faults.into_iter().map(|fault| format!("{} {}", fault.path, fault.message)).collect()
}

fn red() -> red::Parameters {
    red::Parameters::default()
}

#[test]
fn a_delay_of_red_that_its_least_threshold_exceeds_is_named() {
    use red::Parameters;
    // Five packets of 500 B take 2 ms at 10 Mbps, which is not more than twice half of a target of 2 ms; of 1522 B
    // they take 6.088 ms.
    let short = Parameters { target_delay_ms: 1.99, ..red() };
    assert_eq!(
        reported(short.remarks(line(10.0))),
        [
            "target_delay_ms is 1.99, but the lower threshold is 5 packets of 500 bytes at least, which take 2 ms at 10 \
             Mbps; set min_threshold_packets to 2 for a lower one"
        ]
    );
    let in_packets = Parameters { in_bytes: false, ..red() };
    for (p, is_named) in [
        (Parameters { target_delay_ms: 2.0, ..red() }, false),
        (Parameters { target_delay_ms: 6.09, ..in_packets.clone() }, false),
        (Parameters { target_delay_ms: 6.08, ..in_packets.clone() }, true),
    ] {
        let keys = keys(p.remarks(line(10.0)));
        assert_eq!(keys.contains(&"target_delay_ms".to_owned()), is_named, "{p:?}");
    }
}

/// A lower threshold of one packet leaves tc's average where it is, unless a weight is stated.
#[test]
fn a_threshold_of_linux_red_that_stops_its_average_is_named() {
    use red_linux::Parameters;
    let one = Parameters { min_threshold_packets: Some(1.0), ..Parameters::default() };
    let named = reported(one.remarks(line(10.0)));
    assert_eq!(named.len(), 1);
    assert!(named[0].starts_with("min_threshold_packets gives the average"), "{named:?}");
    assert!(named[0].ends_with("set min_threshold_packets to 2 or more"), "{named:?}");
    for p in [
        Parameters::default(),
        Parameters { weight: Some(0.002), ..one.clone() },
        Parameters { min_threshold_packets: Some(2.0), ..one },
    ] {
        assert_eq!(keys(p.remarks(line(10.0))), [""; 0], "{p:?}");
    }
    let late = Parameters { max_threshold_packets: Some(9.0), ..Parameters::default() };
    assert_eq!(keys(late.check(Time::ZERO)), ["max_threshold_packets"]);
}

#[test]
fn keys_of_red_that_contradict_each_other_are_refused() {
    use red::Parameters;
    for (p, want) in [
        (red(), &[][..]),
        (Parameters { top: 0.01, ..red() }, &[]),
        (Parameters { top: 0.009, ..red() }, &["top"]),
        (Parameters { adaptive: true, ..red() }, &[]),
        (Parameters { max_threshold_packets: Some(9.0), ..red() }, &["max_threshold_packets"]),
    ] {
        assert_eq!(keys(p.check(Time::ZERO)), want, "{p:?}");
    }
    let of = |min, max| {
        let p = Parameters {
            min_threshold_packets: Some(min),
            max_threshold_packets: Some(max),
            ..red()
        };
        keys(p.check(Time::ZERO))
    };
    assert_eq!(of(9.0, 9.0), [""; 0]);
    assert_eq!(of(9.1, 9.0), ["max_threshold_packets"]);
}

#[test]
fn what_keeps_an_algorithm_from_acting_is_named_with_the_key_that_helps() {
    use pie::{Estimate, Parameters};
    let (draft, awake) = (
        Parameters { estimate: Estimate::DraftDepartureRate, ..Parameters::default() },
        Parameters { rests: false, ..Parameters::default() },
    );
    let awake_draft = Parameters { rests: false, ..draft.clone() };
    let docsis = docsis_pie::Parameters::default();
    let in_bytes = gsp::Parameters { threshold_bytes: Some(9000), ..Default::default() };
    let none: &dyn AqmParameters = &NoParameters {};
    let cases: [(&dyn AqmParameters, u64, bool, Option<&str>); 19] = [
        (none, 1000, true, None),
        // The buffer holds less than the 2^14 bytes over which the rate is measured, or as much.
        (&draft, 16_383, false, Some("rate_threshold_bytes = 16384, and the buffer holds 16383")),
        (&draft, 16_384, true, Some("rests until a third of the buffer is full")),
        (&awake_draft, 16_384, true, None),
        (
            &Parameters::default(),
            1000,
            true,
            Some("a third of the buffer is full; law.rests = false"),
        ),
        // It does not rest when the buffer is full.
        (&Parameters::default(), 1000, false, None),
        (&awake, 1000, true, None),
        (&pie_linux::Parameters::default(), 1000, false, None),
        (
            &pie_early::Parameters::default(),
            9999,
            false,
            Some(
                "over rate_threshold_bytes = 10000, and the buffer holds 9999; limit_bytes = 250000",
            ),
        ),
        (&pie_early::Parameters::default(), 10_000, false, None),
        (&codel_dt::Parameters::default(), 9999, true, Some("rate_threshold_bytes = 10000")),
        (&codel_dt::Parameters::default(), 10_000, true, None),
        (
            &docsis,
            9000,
            true,
            Some("a third of the buffer is full, 3000 bytes; limit_bytes = 30000"),
        ),
        (&docsis, 9000, false, None),
        (
            &in_bytes,
            9000,
            false,
            Some(
                "above threshold_bytes = 9000, and the buffer holds 9000; law.threshold_bytes = 4500",
            ),
        ),
        (&in_bytes, 9001, false, None),
        (&gsp::Parameters::default(), 9000, true, None),
        (
            &gsp::Parameters::default(),
            9000,
            false,
            Some(
                "acts above threshold_ms = 20, which the 9000 bytes of the buffer may not reach; law.threshold_ms = 4.5",
            ),
        ),
        (&afd::Parameters::default(), 9000, false, Some("acts above target_ms = 15")),
    ];
    for (p, buffer_bytes, is_low, want) in cases {
        // At 8 Mbps a byte takes 1 us.
        let buffer = Buffer {
            bytes: buffer_bytes,
            is_low,
            rate: BitRate::from_mbps(8.0),
            in_packets: false,
        };
        let found = p.obstacle(buffer).map(|(why, remedy)| format!("{why}; {remedy}"));
        let is_it = match (&found, want) {
            (Some(found), Some(want)) => found.contains(want),
            (found, want) => found.is_none() && want.is_none(),
        };
        assert!(is_it, "{found:?} {want:?}");
    }
}

#[test]
fn thresholds_are_delays_at_the_rate_of_the_line() {
    // 6.25 packets of 500 B are 2.5 ms at 10 Mbps, and the least, five of them, 20 ms at 1 Mbps. 30 packets are 12 ms,
    // or with 1522 B 36.528 ms.
    let stated = red::Parameters { min_threshold_packets: Some(30.0), ..red() };
    let in_packets = red::Parameters { in_bytes: false, ..stated.clone() };
    let in_bytes = gsp::Parameters { threshold_bytes: Some(50_000), ..Default::default() };
    let cases: [(&dyn AqmParameters, f64, &str, [f64; 3]); 8] = [
        (&red(), 10.0, "target_delay_ms", [5.0, 2.5, 2.0]),
        (&red(), 1.0, "target_delay_ms", [5.0, 20.0, 2.0]),
        (&stated, 10.0, "min_threshold_packets", [30.0, 12.0, 2.5]),
        (&in_packets, 10.0, "min_threshold_packets", [30.0, 36.528, 30.0 / 36.528]),
        (&in_bytes, 8.0, "threshold_bytes", [50_000.0, 50.0, 1000.0]),
        (&gsp::Parameters::default(), 8.0, "threshold_ms", [20.0, 20.0, 1.0]),
        (&afd::Parameters::default(), 8.0, "target_ms", [15.0, 15.0, 1.0]),
        (&blue::Parameters::default(), 8.0, "threshold_ms", [20.0, 20.0, 1.0]),
    ];
    for (p, mbps, key, want) in cases {
        let found = p.threshold(line(mbps)).unwrap();
        assert_eq!(found.key, key);
        for (found, want) in [found.value, found.ms, found.per_ms].into_iter().zip(want) {
            assert!((found / want - 1.0).abs() < 1e-9, "{key}: {found} {want}");
        }
    }
    assert!(NoParameters {}.threshold(line(1.0)).is_none());
    assert!(pie::Parameters::default().threshold(line(1.0)).is_none());
}

#[test]
fn a_value_that_is_enough_is_the_next_one_of_the_first_digit() {
    for (value, per_ms, ms, want) in
        [(5.0, 2.0, 12.3, 25.0), (30.0, 2.5, 12.0, 40.0), (0.05, 1.0, 0.234, 0.24)]
    {
        let found = Threshold::of_delay("key", value, per_ms).enough(ms);
        assert!((found - want).abs() < 1e-9, "{found} {want}");
    }
}

#[test]
fn an_interval_covers_a_packet_and_a_target_lies_within_it() {
    use codel::Parameters;
    let of = |interval_ms, target_ms| Parameters { interval_ms, target_ms, ..Default::default() };
    let packet = Time::from_ms(12);
    for (p, want) in [
        (of(12.0, 12.0), &[][..]),
        (of(12.0, 12.1), &["target_ms"]),
        (of(11.9, 5.0), &["interval_ms"]),
        // One fault at a time.
        (of(11.9, 50.0), &["interval_ms"]),
        (Parameters { ce_threshold_l4s: true, ..of(100.0, 5.0) }, &["ce_threshold_l4s"]),
        (Parameters { ce_threshold_ms: Some(1.0), ..of(100.0, 5.0) }, &[]),
        (Parameters { ce_threshold_l4s: true, ce_threshold_ms: Some(1.0), ..of(100.0, 5.0) }, &[]),
    ] {
        assert_eq!(keys(p.check(packet)), want, "{p:?}");
    }
    let allowance = |mac_allowance_ms| {
        let p = codel_dt::Parameters { mac_allowance_ms, ..Default::default() };
        keys(p.check(packet))
    };
    assert_eq!(allowance(19.9), [""; 0]);
    assert_eq!(allowance(20.0), ["mac_allowance_ms"]);
    let p = codel_dt::Parameters { interval_ms: 11.0, ..Default::default() };
    assert_eq!(keys(p.check(packet)), ["interval_ms"]);
}

#[test]
fn only_codel_judges_packets_by_their_own_wait() {
    let cases: [(&dyn AqmParameters, bool, Option<f64>); 11] = [
        (&NoParameters {}, false, None),
        (&codel::Parameters::default(), true, Some(5.0)),
        (&docsis_pie::Parameters::default(), false, Some(10.0)),
        (&pie::Parameters::default(), false, Some(15.0)),
        (&pi2::Parameters::default(), false, Some(15.0)),
        (&codel_dt::Parameters::default(), false, Some(20.0)),
        (&pie_early::Parameters::default(), false, Some(20.0)),
        (&red(), false, Some(5.0)),
        (&blue::Parameters::default(), false, Some(20.0)),
        (&gsp::Parameters::default(), false, Some(20.0)),
        (&afd::Parameters::default(), false, Some(15.0)),
    ];
    for (p, judges, target_ms) in cases {
        assert_eq!((p.judges_sojourns(), p.target_ms()), (judges, target_ms));
    }
}

/// Defaults have their sources beside them; those of times are seen in their hooks.
#[test]
fn updates_come_at_their_intervals_and_only_docsis_pie_follows_maps() {
    let cases: [(&dyn AqmParameters, Time, bool); 12] = [
        (&NoParameters {}, Time::NEVER, false),
        (&codel::Parameters::default(), Time::NEVER, false),
        (&docsis_pie::Parameters::default(), Time::from_ms(16), false),
        (
            &docsis_pie::Parameters { track_rate: true, ..Default::default() },
            Time::from_ms(16),
            true,
        ),
        (&pie::Parameters::default(), Time::from_ms(15), false),
        (&pie_linux::Parameters::default(), Time::from_ms(15), false),
        (&pi2::Parameters::default(), Time::from_ms(16), false),
        (&pie_early::Parameters::default(), Time::from_ms(30), false),
        (&red(), Time::NEVER, false),
        (&blue::Parameters::default(), Time::NEVER, false),
        (&gsp::Parameters::default(), Time::NEVER, false),
        (&afd::Parameters::default(), Time::from_us(6250), false),
    ];
    for (p, interval, follows) in cases {
        let law = p.start(Seed::named(1, "law"));
        assert_eq!((law.update_interval(), law.follows_maps()), (interval, follows));
    }
    let mut none = NoParameters {}.start(Seed::named(1, "law"));
    let steady = DrainRate::steady(line(10.0), 0);
    assert!(!none.update(Time::ZERO, Count::default(), &steady));
}

#[test]
fn defaults_are_those_of_their_sources() {
    let of = |spec: AqmSpec| serde_json::to_value(spec).unwrap();
    for (spec, want) in [
        (
            AqmSpec::Codel(codel::Parameters::default()),
            serde_json::json!({"kind": "codel", "target_ms": 5.0, "interval_ms": 100.0,
                "mtu_bytes": 1514, "variant": "rfc8289", "re_entry_intervals": null}),
        ),
        (
            AqmSpec::DocsisPie(docsis_pie::Parameters::default()),
            serde_json::json!({"kind": "docsis_pie", "target_ms": 10.0, "track_rate": false}),
        ),
        (
            AqmSpec::Pie(pie::Parameters::default()),
            serde_json::json!({"kind": "pie", "target_ms": 15.0, "update_ms": 15.0, "alpha_hz": 0.125,
                "beta_hz": 1.25, "max_burst_ms": 150.0, "estimate": "departure_rate",
                "rate_threshold_bytes": 16_384, "max_mark_probability": 0.1, "rests": true}),
        ),
        (
            AqmSpec::PieLinux(pie_linux::Parameters::default()),
            serde_json::json!({"kind": "pie_linux", "target_ms": 15.0, "update_ms": 15.0,
                "alpha_hz": 0.125, "beta_hz": 1.25, "max_burst_ms": 150.0,
                "max_mark_probability": 0.1, "first_update_ms": 500.0}),
        ),
        (
            AqmSpec::Pi2(pi2::Parameters::default()),
            serde_json::json!({"kind": "pi2", "target_ms": 15.0, "update_ms": 16.0, "alpha_hz": 0.16,
                "beta_hz": 3.2, "coupling": 2.0, "max_mark_probability": 0.25}),
        ),
        (
            AqmSpec::CodelDt(codel_dt::Parameters::default()),
            serde_json::json!({"kind": "codel_dt", "target_ms": 20.0, "interval_ms": 150.0,
                "mac_allowance_ms": 6.0, "prediction": "shaper", "rate_threshold_bytes": 10_000}),
        ),
        (
            AqmSpec::PieEarly(pie_early::Parameters::default()),
            serde_json::json!({"kind": "pie_early", "target_ms": 20.0, "update_ms": 30.0,
                "alpha_hz": 0.125, "beta_hz": 1.25, "max_burst_ms": 100.0,
                "rate_threshold_bytes": 10_000, "mean_packet_bytes": 1000, "by_size": true,
                "linux_extras": false, "max_mark_probability": 0.1}),
        ),
        (
            AqmSpec::Red(red()),
            serde_json::json!({"kind": "red", "min_threshold_packets": null,
                "max_threshold_packets": null, "weight": null, "max_p": 0.1, "gentle": true,
                "wait": true, "in_bytes": true, "by_size": true, "mean_packet_bytes": 500,
                "adaptive": false, "interval_s": 0.5, "bottom": 0.01, "top": 0.5,
                "target_delay_ms": 5.0}),
        ),
        (
            AqmSpec::RedLinux(red_linux::Parameters::default()),
            serde_json::json!({"kind": "red_linux", "min_threshold_packets": null,
                "max_threshold_packets": null, "weight": null, "max_p": 0.1,
                "mean_packet_bytes": 500, "target_delay_ms": 5.0}),
        ),
        (
            AqmSpec::Blue(blue::Parameters::default()),
            serde_json::json!({"kind": "blue", "increment": 0.0025, "decrement": 0.000_25,
                "freeze_ms": 100.0, "threshold_ms": 20.0}),
        ),
        (
            AqmSpec::Gsp(gsp::Parameters::default()),
            serde_json::json!({"kind": "gsp", "threshold_ms": 20.0, "threshold_bytes": null,
                "interval_ms": 200.0, "adaptive": true, "time_constant_ms": 1000.0,
                "above_weight": 2.0, "max_accumulated_s": 100.0}),
        ),
        (
            AqmSpec::Afd(afd::Parameters::default()),
            serde_json::json!({"kind": "afd", "target_ms": 15.0, "update_ms": 6.25,
                "present_gain": 1.8, "previous_gain": 1.7, "packet_ms": 1.0, "shadow_packets": 1000,
                "history_s": 2.0, "sample_every": null, "flow_counts": 1024}),
        ),
        (AqmSpec::default(), serde_json::json!({"kind": "none"})),
    ] {
        assert_eq!(want["kind"].as_str(), Some(spec.name()));
        assert_eq!(of(spec), want);
    }
}
