//! MAPs that a modem computes in advance, and who requests in an interval without a grant.

use super::*;

/// A modem behind a queue that keeps the rates, which is granted all that 100 Mbps bring in an interval: 25 000 B in 2 ms.
fn unshaped(keys: &str, timing: PlantTiming) -> Run {
    let spec = upstream(&format!("mac.grant_spread_percent = 0\n{keys}"));
    let context = ServiceFlowContext { timing, ..context() };
    let queue = context.queue("upstream", &spec.queue, 1_000_000);
    let modem = Modem::unshaped(queue, &spec, &context);
    Run::of(modem)
}

/// A modem with these keys and the timing of the specification.
fn specified_run(keys: &str, seed: u64) -> Run {
    let lone = ServiceFlowContext::lone(Dialect::Rfc, seed);
    let context = ServiceFlowContext { timing: specified(), ..lone };
    Run::of(Modem::new(&upstream(keys), &context))
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
    let map = |number: u64| US(4050 * number);
    let mut run = unshaped("mac.map_interval_ms = 4", specified());
    run.modem.mac.flow.request(1000, map(1));
    run.put(map(0), 0..3, 1000);
    run.modem.request_at = Time::NEVER; // else the first interval has a request of its own
    run.run(map(1));
    let asked = (map(1), "request", 2000);
    assert!(run.events(&["request"]).contains(&asked));
    assert_eq!((run.modem.coming.total(), run.modem.next_map), (2000, map(3)));
}

/// 50 625 B pass in 4050 us, and the first MAP has no fraction from one before it.
#[test]
fn a_first_map_grants_what_an_interval_brings() {
    let mut run = unshaped("mac.map_interval_ms = 4", specified());
    run.modem.mac.flow.request(60_000, US(4050));
    run.put(MS(0), 0..60, 1000);
    run.run(US(4050));
    assert_eq!(run.events(&["map"])[0], (US(4050), "map", 50_625));
}

/// A proactive grant and one that was requested, both at the start of an interval, are one block for a packet of 1600 B: of the
/// second one 400 B were sent with the first, whose own other 600 had the rest of that grant.
#[test]
fn grants_that_begin_together_are_sent_as_one() {
    let keys = format!(
        "{AGGREGATE}scheduling = {{ kind = 'proactive_grants', guaranteed_grant_rate_mbps = 4 }}"
    );
    let mut run = Run::new(&keys, Dialect::Rfc, 1);
    (0..4).for_each(|n| run.put_low(MS(1), n, 1600));
    run.run(MS(6));
    let seen = run.events(&["grant", "piece"]);
    let of = |wanted: &'static str| seen.iter().filter(move |(_, kind, _)| *kind == wanted);
    let pieces: Vec<_> = of("piece").map(|(.., bytes)| *bytes).collect();
    assert_eq!(pieces, [1000, 600, 400, 1200]);
    // Both begin before any of it is sent.
    assert_eq!(of("grant").filter(|(at, ..)| *at == MS(6)).count(), 2);
    assert_eq!(seen.last(), Some(&(MS(6), "piece", 1200)));
}

/// docsislink.cc: of a peak rate of 2 B per us only what comes since the last MAP counts, 4000 B, however long nothing was
/// requested.
#[test]
fn an_idle_time_saves_up_no_peak_rate() {
    let mut run = Run::new("", Dialect::Ns2, 1);
    run.put(MS(101), 0..7, 1000);
    run.run(MS(102));
    assert_eq!(run.events(&["request"]), [(MS(102), "request", 4000)]);
}

/// A request takes tokens: of 5000 B 1000 are left, and 2000 have come, of the 4000 that the peak rate brings.
#[test]
fn requests_take_the_tokens_of_the_sustained_rate() {
    let mut run = Run::new("", Dialect::Ns2, 1);
    run.put(MS(1), 0..12, 1000);
    run.run(MS(4));
    let requests = [(MS(2), "request", 4000), (MS(4), "request", 3000)];
    assert_eq!(run.events(&["request"]), requests);
}

/// A frame that begins as a packet comes carries its request, if it is that which was drawn.
#[test]
fn a_packet_is_in_time_for_a_frame_that_begins() {
    let at = US(4 * 135);
    let mut at_once = 0;
    for seed in 0..60 {
        let mut run =
            specified_run("mac = { map_interval_ms = 0.945, grant_spread_percent = 0 }", seed);
        run.put(at, 0..1, 1000);
        run.run(at);
        at_once += run.events(&["request"]).len();
    }
    // One of seven: 8.6, give or take four times 2.7.
    assert!((1..20).contains(&at_once), "{at_once}");
}

/// While MAPs come the queue hears of each: 8 Mbps stay the estimate where nothing was left ungranted.
#[test]
fn an_algorithm_hears_of_the_maps_of_a_busy_modem() {
    let mut run = Run::new(TRACKING, Dialect::Rfc, 1);
    let update = run.modem.next_wake();
    run.put(update - MS(3), 0..1, 1000);
    run.run(update);
    assert!(!run.modem.skips_maps());
    run.modem.sample(update);
    assert_eq!(rate_estimate(run.modem.queue()), 8.0);
}

/// A scheduler learns that nothing waits when it is asked once more; ns-2 did not ask.
#[test]
fn a_modem_asks_for_a_packet_more_than_there_is() {
    for (dialect, busy_bins) in [(Dialect::Rfc, 0.0), (Dialect::Ns2, 1.0)] {
        let mut run = Run::new("queue.scheduler.kind = 'sfq'", dialect, 1);
        run.put(MS(1), 0..1, 1000);
        run.run(MS(20));
        assert_eq!(run.sent.len(), 1);
        run.modem.sample(MS(20));
        let mut series = run.modem.queue().series();
        let (_, shown) = series.find(|(_, of)| of.metric == "busy_bins").unwrap();
        assert_eq!(shown.values, [busy_bins], "{dialect:?}");
    }
}

/// A modem that has nothing to piggyback on requests in any of the seven frames of a MAP interval.
#[test]
fn a_request_without_a_grant_is_anywhere_in_the_interval() {
    let mut frames = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let mut run =
            specified_run("mac = { map_interval_ms = 0.945, grant_spread_percent = 0 }", seed);
        run.put(US(944), 0..1, 1000); // after the last frame of its interval has begun
        run.run(US(1889));
        let [(asked, _, 1000)] = run.events(&["request"])[..] else { panic!() };
        frames.insert(asked.since(US(945)).ps() / US(135).ps());
    }
    assert!(frames.into_iter().eq(0..7));
}

/// Tokens of what the low-latency flow leaves of a grant come back before the classic flow sends.
#[test]
fn what_one_flow_leaves_unused_comes_back_at_once() {
    let Run { mut modem, mut recorder, .. } = Run::new(AGGREGATE, Dialect::Rfc, 1);
    modem.accept(MS(1), packet(0, 1000), &mut recorder);
    modem.mac.shaper.take(MS(1), 3000);
    modem.mac.flow.begin(Shares { low: 500, classic: 1000 });
    assert!(matches!(modem.mac.next_piece(MS(1), &mut recorder), Next::Piece(1000)));
    assert_eq!(modem.mac.shaper.sustained.tokens(MS(1)), 2500.0);
}

/// Beside the burst of one flow that extends into an interval the other one requests in a frame of its own.
#[test]
fn a_burst_of_two_intervals_leaves_the_other_flow_its_request() {
    let mut run = specified_run(AGGREGATE, 1);
    run.modem.mac.flow.begin(Shares { low: 900, classic: 0 });
    run.modem.burst_next = US(2100);
    run.modem.on_map(US(2025), &mut run.recorder);
    assert!((US(2025)..US(4050)).contains(&run.modem.request_at));
    assert_eq!(run.modem.request_by, By::Classic);
}

/// What a grant leaves of a request for want of tokens the sustained rate has held back: 1000 + 2000 B conform.
#[test]
fn a_deferred_grant_is_held_back() {
    let keys = format!(
        "{AGGREGATE}congestion.steps = [{{ for_s = 1000, mbps = 100 }}]\ncongestion.grant_spread_percent = 0"
    );
    let mut run = Run::new(&keys, Dialect::Rfc, 1);
    run.put(MS(1), 0..8, 1000);
    run.run(MS(5));
    assert!(!run.modem.mac.shaper.held(&packet(0, 0)));
    run.modem.mac.shaper.sustained.take(MS(5), 5000);
    run.run(MS(6));
    assert!(run.modem.mac.shaper.held(&packet(0, 0)));
    assert_eq!(run.events(&["defer"]), [(MS(6), "defer", 5000)]);
}

/// Of buckets with a debt of 1000 B, and of 5000 B in that of the peak rate, as much conforms as both will have.
#[test]
fn a_debt_is_paid_before_bytes_conform() {
    let mut modem = Run::new("", Dialect::Rfc, 1).modem;
    modem.mac.shaper.sustained.take(MS(1), 6000);
    for (span, others, conform) in [(2, 0, 1000.0), (1, 0, 0.0), (4, 500, 2500.0), (2, 5000, 0.0)] {
        assert_eq!(modem.mac.conforming(MS(1), MS(span), others).sustained, conform);
    }
}

/// Where requests are parts of MAPs both flows of an aggregate request; else that whose burst extends into the interval.
#[test]
fn flows_of_an_aggregate_request_with_what_extends_into_the_interval() {
    for (timing, sends, by) in [
        (PlantTiming::DOCUMENTS, true, By::Both),
        (PlantTiming::DOCUMENTS, false, By::Both),
        (specified(), true, By::Granted),
        (specified(), false, By::Both),
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
    let mut run = specified_run(AGGREGATE, 1);
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
