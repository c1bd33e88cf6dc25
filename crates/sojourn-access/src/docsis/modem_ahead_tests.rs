//! MAPs that a modem computes in advance, and who requests in an interval without a grant.

use super::*;

/// A modem behind a queue that keeps the rates, which is granted all that 100 Mbps bring in an interval: 25 000 B in 2 ms.
fn unshaped(keys: &str, timing: PlantTiming) -> Run {
    let spec = upstream(&format!("mac.grant_spread_percent = 0\n{keys}"));
    let context = ServiceFlowContext { timing, ..context() };
    let queue = context.queue("upstream", &spec.queue, 1_000_000);
    let modem = Modem::unshaped(queue, &spec, &context);
    Run { modem, recorder: tracing(), sent: Vec::new() }
}

/// A burst that ends where the next MAP begins cannot change that MAP, and one that is longer by a byte may.
#[test]
fn a_map_is_computed_ahead_of_a_burst_that_ends_by_then() {
    let more = "congestion.steps = [{ for_s = 1000, mbps = 100.004 }]\ncongestion.grant_spread_percent = 0";
    for (keys, coming, next_map) in [("", 25_000, MS(10)), (more, 0, MS(8))] {
        let mut run = unshaped(keys, PlantTiming::DOCUMENTS);
        run.put(MS(1), 0..60, 1000);
        run.run(MS(6));
        assert_eq!((run.modem.coming.total(), run.modem.next_map), (coming, next_map));
        assert!(run.modem.mac.flow.at_cmts() > 0);
        run.run(MS(11));
        let maps: Vec<_> = run.events(&["map"]).iter().map(|(at, ..)| *at).collect();
        assert_eq!(maps, [2, 4, 6, 8, 10].map(MS));
    }
}

/// With MAPs every 30 frames, 4050 us, a request at the start of an interval is granted by the next MAP, which is known then.
#[test]
fn a_map_that_grants_the_request_of_the_burst_is_computed_ahead() {
    let spec = Specification::default();
    let timing = PlantTiming { spec: Some(&spec), ..PlantTiming::DOCUMENTS };
    let map = |number: u64| US(4050 * number);
    let mut run = unshaped("mac.map_interval_ms = 4", timing);
    run.modem.mac.flow.request(1000, map(1));
    run.put(map(0), 0..3, 1000);
    run.modem.request_at = Time::NEVER; // else the first interval has a request of its own
    run.run(map(1));
    let asked = (map(1), "request", 2000);
    assert!(run.events(&["request"]).contains(&asked));
    assert_eq!((run.modem.coming.total(), run.modem.next_map), (2000, map(3)));
}

/// Where requests are parts of MAPs both flows of an aggregate request; else that whose burst extends into the interval.
#[test]
fn flows_of_an_aggregate_request_with_what_extends_into_the_interval() {
    let spec = Specification::default();
    for (timing, sends, by) in [
        (PlantTiming::DOCUMENTS, true, By::Both),
        (PlantTiming::DOCUMENTS, false, By::Both),
        (PlantTiming { spec: Some(&spec), ..PlantTiming::DOCUMENTS }, true, By::Granted),
        (PlantTiming { spec: Some(&spec), ..PlantTiming::DOCUMENTS }, false, By::Both),
    ] {
        let context = ServiceFlowContext { timing, ..context() };
        let modem = Modem::new(&upstream(AGGREGATE), &context);
        assert_eq!(modem.piggybacked(sends), by, "{sends}");
    }
}

/// Beside a burst of its low-latency flow an aggregate's classic flow requests in a frame of its own; in an interval without a
/// grant both do.
#[test]
fn who_requests_by_itself_is_said_for_each_interval() {
    let spec = Specification::default();
    let timing = PlantTiming { spec: Some(&spec), ..PlantTiming::DOCUMENTS };
    let context = ServiceFlowContext { timing, ..context() };
    let modem = Modem::new(&upstream(AGGREGATE), &context);
    let mut run = Run { modem, recorder: tracing(), sent: Vec::new() };
    for (granted, by, is_placed) in [
        (Shares { low: 9, classic: 0 }, By::Classic, true),
        (Shares { low: 0, classic: 9 }, By::Low, true),
        (Shares { low: 9, classic: 9 }, By::Low, false),
        (Shares { low: 0, classic: 0 }, By::Both, true),
    ] {
        run.modem.request_at = Time::NEVER;
        run.modem.mac.flow.begin(granted);
        run.modem.request_beside_burst(US(2025), &mut run.recorder);
        assert_eq!((run.modem.request_by, run.modem.request_at < US(4050)), (by, is_placed));
        run.modem.mac.waste_grant(US(2025), &mut run.recorder);
    }
    run.modem.request_by = By::Low;
    run.modem.place_request(US(4050));
    assert_eq!(run.modem.request_by, By::Both);
}
