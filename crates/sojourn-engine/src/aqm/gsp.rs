//! GSP, global synchronization protection: a drop-tail queue that drops one packet and then none for about a round trip
//! (Lautenschlaeger & Francini, "Global Synchronization Protection for Bandwidth Sharing TCP Flows in High-Speed Links",
//! IEEE HPSR 2015, arXiv 1602.05333; draft-lauten-aqm-gsp-03).
//!
//! A full buffer drops packets of many flows before the first of their senders has slowed down, so that all slow down
//! together. GSP drops an arrival if and only if the queue is above a threshold and a timer has expired, and then sets
//! the timer again. Adaptive GSP shortens the interval the longer the queue stays above the threshold.
//!
//! Left out: measuring the delay by time stamps, as the authors' Linux prototype does. Delays follow from the backlog
//! and the rate of the shaper.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Aqm, AqmAlgorithm, AqmParameters, AqmSpec, Arrival, Buffer, DrainRate, Threshold, Verdict,
    check_interval,
};
use crate::record::Gauges;
use crate::rng::{Rng, Seed};
use crate::units::{BitRate, Time};
use sojourn_input::compare::at_least;
use sojourn_input::problem::{Faults, Remedy};

crate::series! {
    /// GSP: time after a drop in which no other packet is dropped.
    INTERVAL = "interval", in "ms", from "Lautenschlaeger & Francini 2015";
    /// GSP: weighted time above the threshold less time below it, which shortens the interval.
    ACCUMULATED_TIME = "accumulated_time", in "s", from "Lautenschlaeger & Francini 2015";
}

/// Parameters of GSP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Gsp")]
pub struct Parameters {
    /// Queue delay in ms above which packets are dropped (Lautenschlaeger & Francini 2015, delay-based GSP).
    #[schemars(range(min = 0.01, max = 10_000.0), extend("x-live" = true))]
    pub threshold_ms: f64,
    /// Queue length in bytes above which packets are dropped, in place of `threshold_ms` (Lautenschlaeger & Francini
    /// 2015, basic GSP). Default: unset.
    #[schemars(range(min = 1, max = 1_000_000_000), extend("x-live" = true))]
    pub threshold_bytes: Option<u64>,
    /// Time in ms after a drop in which no other packet is dropped: one to two round trips. With `adaptive` it is the
    /// longest such time (Lautenschlaeger & Francini 2015: presetInt).
    #[schemars(range(min = 0.1, max = 100_000.0), extend("x-live" = true))]
    pub interval_ms: f64,
    /// Shorten the interval while the queue is above the threshold for too long (adaptive GSP).
    pub adaptive: bool,
    /// Time in ms above the threshold, weighted and less that below it, after which the interval is halved: tau, five
    /// times the interval (Lautenschlaeger & Francini 2015). It must not be less than `interval_ms`.
    #[schemars(range(min = 0.1, max = 1_000_000.0), extend("x-live" = true))]
    pub time_constant_ms: f64,
    /// Weight of time above the threshold, against 1 of time below it: alpha (Lautenschlaeger & Francini 2015: not much
    /// more than 1). The queue settles where it is below the threshold so many times as long as above.
    #[schemars(range(min = 1.0, max = 100.0), extend("x-live" = true))]
    pub above_weight: f64,
    /// Most weighted time in s that adds up, which bounds the interval from below: with the defaults 200 ms / (1 + 100 s
    /// / 1 s), about 2 ms.
    #[schemars(range(min = 0.0, max = 1_000_000.0), extend("x-live" = true))]
    pub max_accumulated_s: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            threshold_ms: 20.0,
            threshold_bytes: None,
            interval_ms: 200.0,
            adaptive: true,
            time_constant_ms: 1000.0,
            above_weight: 2.0,
            max_accumulated_s: 100.0,
        }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        Gsp::new(self).into()
    }

    fn check(&self, packet: Time) -> Faults {
        let mut faults = Faults::from(check_interval(self.interval_ms, packet));
        faults.add(at_least(
            ("time_constant_ms", self.time_constant_ms),
            ("interval_ms", self.interval_ms),
        ));
        faults
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.threshold_ms)
    }

    fn threshold(&self, rate: BitRate) -> Option<Threshold> {
        Some(match self.threshold_bytes {
            Some(bytes) => Threshold::of_packets("threshold_bytes", bytes as f64, 1.0, rate),
            None => Threshold::of_delay("threshold_ms", self.threshold_ms, 1.0),
        })
    }

    fn obstacle(&self, buffer: Buffer) -> Option<(String, Remedy)> {
        match self.threshold_bytes {
            Some(bytes) => (buffer.bytes <= bytes).then(|| {
                let held = buffer.bytes;
                let why = format!(
                    "it drops above threshold_bytes = {bytes}, and the buffer holds {held}"
                );
                (why, Remedy::of("law.threshold_bytes", held / 2))
            }),
            None => buffer.too_small_for_delay("threshold_ms", self.threshold_ms),
        }
    }
}

/// What the queue has done since the last overflow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Since {
    /// It has been above the threshold again, or never overflowed.
    Above,
    /// It has not been empty.
    Overflow,
    /// It has been empty, but not above the threshold.
    Empty,
}

/// State of GSP.
pub struct Gsp {
    p: Parameters,
    /// Time above the threshold, weighted, less time below it; in s.
    accumulated_s: f64,
    since: Since,
    /// The last arrival, and by how much the queue was over the threshold just after it.
    last: Time,
    excess_s: f64,
    /// No packet is dropped until after this time.
    expires_at: Option<Time>,
}

impl Gsp {
    /// The algorithm in its initial state.
    pub fn new(p: &Parameters) -> Self {
        Self {
            p: p.clone(),
            accumulated_s: 0.0,
            since: Since::Above,
            last: Time::ZERO,
            excess_s: f64::NEG_INFINITY,
            expires_at: None,
        }
    }

    /// Adds up the time since the last arrival. Meanwhile the queue only drained, so it was above the threshold for as
    /// long as it took to drain what was over it, or all the time if something still is.
    ///
    /// Time below does not count from an overflow until the queue has been empty and then above the threshold: an
    /// overflow makes many flows slow down, and would pass for a low load (Lautenschlaeger & Francini 2015, adaptive
    /// GSP).
    fn accumulate(&mut self, now: Time, excess_s: f64) {
        let span_s = now.since(self.last).secs_f64();
        let above_s = if excess_s > 0.0 { span_s } else { self.excess_s.clamp(0.0, span_s) };
        self.accumulated_s += self.p.above_weight * above_s;
        if self.since == Since::Above {
            self.accumulated_s -= span_s - above_s;
        }
        self.accumulated_s = self.accumulated_s.clamp(0.0, self.p.max_accumulated_s);
    }

    fn follow(&mut self, is_empty: bool, is_above: bool) {
        self.since = match self.since {
            Since::Overflow if is_empty => Since::Empty,
            Since::Empty if is_above => Since::Above,
            since => since,
        };
    }

    fn interval_s(&self) -> f64 {
        let shortened = 1.0 + self.accumulated_s * 1e3 / self.p.time_constant_ms;
        self.p.interval_ms / 1e3 / shortened
    }
}

impl Aqm for Gsp {
    fn on_arrival(&mut self, packet: &Arrival, drain_rate: &DrainRate, _rng: &mut Rng) -> Verdict {
        let of_bytes = |bytes| drain_rate.drain_s(bytes as f64);
        let threshold_s = self.p.threshold_bytes.map_or(self.p.threshold_ms / 1e3, of_bytes);
        let excess_s = of_bytes(packet.backlog.bytes) - threshold_s;
        if self.p.adaptive {
            self.accumulate(packet.now, excess_s);
        }
        self.follow(packet.backlog.packets == 0, excess_s > 0.0);
        self.last = packet.now;
        self.excess_s = of_bytes(packet.backlog.bytes + packet.size) - threshold_s;
        if excess_s <= 0.0 || self.expires_at.is_some_and(|at| packet.now <= at) {
            return Verdict::Pass;
        }
        if !packet.is_markable {
            self.excess_s = excess_s;
        }
        self.expires_at = Some(packet.now + Time::from_secs_f64(self.interval_s()));
        Verdict::Signal
    }

    fn on_overflow(&mut self) {
        self.since = Since::Overflow;
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(INTERVAL, self.interval_s() * 1e3);
        out.show(ACCUMULATED_TIME, self.accumulated_s);
    }

    fn retune(&mut self, spec: &AqmSpec) {
        if let AqmSpec::Gsp(p) = spec {
            self.p = p.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets_for_tests::arrival;
    use super::*;
    use crate::count::Count;

    /// At 8 Mbps 1000 bytes take 1 ms.
    fn arrive(gsp: &mut Gsp, ms: u64, backlog: u64) -> bool {
        let packet = Arrival {
            now: Time::from_ms(ms),
            size: 1000,
            backlog: Count { bytes: backlog, packets: backlog.div_ceil(1000) },
            share: 1.0,
            ecn: crate::packet::Ecn::NotEct,
            is_markable: false,
            flow: 0,
        };
        let line = DrainRate::steady(BitRate::from_mbps(8.0), 1_000_000);
        gsp.on_arrival(&packet, &line, &mut Rng::named(1, "unused")) == Verdict::Signal
    }

    fn drops(gsp: &mut Gsp, backlog: u64, ms: std::ops::Range<u64>) -> Vec<u64> {
        ms.filter(|ms| arrive(gsp, *ms, backlog)).collect()
    }

    fn assert_accumulated(gsp: &Gsp, want_s: f64) {
        assert!((gsp.accumulated_s - want_s).abs() < 1e-9, "{} {want_s}", gsp.accumulated_s);
    }

    #[test]
    fn the_basic_rule_drops_one_packet_and_then_none_for_an_interval() {
        let p = Parameters { adaptive: false, ..Parameters::default() };
        let mut gsp = Gsp::new(&p);
        // 20 000 bytes are 20 ms: at the threshold, not above it. Then at once, and at the first arrival after each
        // 200 ms.
        assert!(drops(&mut gsp, 20_000, 0..50).is_empty());
        assert_eq!(drops(&mut gsp, 20_001, 50..700), [50, 251, 452, 653]);
    }

    #[test]
    fn a_threshold_in_bytes_replaces_the_delay() {
        let p = Parameters { threshold_bytes: Some(5000), ..Parameters::default() };
        let mut gsp = Gsp::new(&p);
        assert!(!arrive(&mut gsp, 0, 5000));
        assert!(arrive(&mut gsp, 1, 5001));
    }

    #[test]
    fn time_above_the_threshold_shortens_the_interval() {
        let mut gsp = Gsp::new(&Parameters::default());
        // Above from 0 on: 2 * 1 s after a second, so 200 / (1 + 2 / 1) = 66.7 ms.
        drops(&mut gsp, 30_000, 0..1001);
        assert_accumulated(&gsp, 2.0);
        assert!((gsp.interval_s() - 0.2 / 3.0).abs() < 1e-9);
        // The last arrival, at 1000, left 31 ms, or 11 over the threshold. An empty queue at 1500: 11 ms above and 489
        // below: 2 + 2 * 0.011 - 0.489 = 1.533.
        arrive(&mut gsp, 1500, 0);
        assert_accumulated(&gsp, 1.533);
        // 0 at least, 100 s at most.
        arrive(&mut gsp, 9000, 0);
        assert_accumulated(&gsp, 0.0);
        arrive(&mut gsp, 10_000, 30_000);
        arrive(&mut gsp, 90_000, 30_000);
        assert_accumulated(&gsp, 100.0);
    }

    #[test]
    fn time_below_does_not_count_after_an_overflow_until_the_queue_was_empty_and_above() {
        let mut gsp = Gsp::new(&Parameters::default());
        drops(&mut gsp, 20_001, 0..1001);
        let at_first = gsp.accumulated_s;
        assert!((at_first - 2.0).abs() < 0.002);
        gsp.on_overflow();
        // Below but not empty, then empty, then below again: it stands still, but for the 1.001 ms at most that the
        // last arrival left over the threshold.
        for (ms, backlog) in [(1100, 1000), (1200, 0), (1300, 1000)] {
            arrive(&mut gsp, ms, backlog);
        }
        let stood = gsp.accumulated_s;
        assert!(stood >= at_first && stood - at_first < 0.0021, "{stood} {at_first}");
        // Above at 1400, where it drops: time below counts again, 290 ms after 10 above.
        arrive(&mut gsp, 1400, 30_000);
        let above = gsp.accumulated_s;
        arrive(&mut gsp, 1700, 0);
        assert_accumulated(&gsp, above + 2.0 * 0.010 - 0.290);
    }

    #[test]
    fn an_interval_above_the_time_constant_is_refused() {
        let faults = |p: Parameters| p.check(Time::from_us(100)).into_iter().count();
        assert_eq!(faults(Parameters { interval_ms: 1001.0, ..Parameters::default() }), 1);
        assert_eq!(faults(Parameters { interval_ms: 0.1, ..Parameters::default() }), 0);
        assert_eq!(Parameters::default().check(Time::from_ms(201)).into_iter().count(), 1);
    }

    #[test]
    fn the_interval_and_the_time_above_are_shown() {
        let gsp = Gsp { accumulated_s: 3.0, ..Gsp::new(&Parameters::default()) };
        let mut gauges = Gauges::default();
        gsp.gauges(&mut gauges);
        // 200 / (1 + 3).
        assert_eq!(
            (gauges.get("interval"), gauges.get("accumulated_time")),
            (Some(50.0), Some(3.0))
        );
    }

    #[test]
    fn a_packet_that_is_marked_stays_in_the_queue() {
        // 30 ms with it are 11 over the threshold where it is marked, and 10 where it is dropped.
        for (is_markable, excess_s) in [(true, 0.011), (false, 0.010)] {
            let mut gsp = Gsp::new(&Parameters::default());
            let line = DrainRate::steady(BitRate::from_mbps(8.0), 1_000_000);
            let packet = Arrival { is_markable, ..arrival(30_000) };
            let found = gsp.on_arrival(&packet, &line, &mut Rng::named(1, "unused"));
            assert_eq!(found, Verdict::Signal);
            assert!((gsp.excess_s - excess_s).abs() < 1e-12, "{}", gsp.excess_s);
        }
    }

    /// The last packet left 11 ms over the threshold, so that the queue was above it for as long, and then below.
    #[test]
    fn a_queue_that_has_drained_to_the_threshold_was_below_it() {
        for (backlog, accumulated_s) in [(20_000, 0.022), (20_001, 1.0)] {
            let mut gsp = Gsp { since: Since::Empty, ..Gsp::new(&Parameters::default()) };
            gsp.excess_s = 0.011;
            arrive(&mut gsp, 500, backlog);
            assert_accumulated(&gsp, accumulated_s);
        }
    }

    #[test]
    fn a_queue_with_a_packet_is_not_empty() {
        let mut gsp = Gsp::new(&Parameters::default());
        gsp.on_overflow();
        for (backlog, since) in [
            (1000, Since::Overflow),
            (30_000, Since::Overflow),
            (0, Since::Empty),
            (1000, Since::Empty),
            (30_000, Since::Above),
            (0, Since::Above),
        ] {
            arrive(&mut gsp, 1, backlog);
            assert!(gsp.since == since, "{backlog}");
        }
    }

    #[test]
    fn a_queue_at_the_threshold_is_not_above_it() {
        for (backlog, is_above) in [(20_000, false), (20_001, true)] {
            let mut gsp = Gsp { since: Since::Empty, ..Gsp::new(&Parameters::default()) };
            arrive(&mut gsp, 0, backlog);
            assert!((gsp.since == Since::Above) == is_above, "{backlog}");
        }
    }
}
