//! PIE as Linux' queue disciplines have it (7.2, `pie` and `fq_pie`), which is not RFC 8033's in [`super::pie`].
//!
//! Queue delay is the sojourn time of the last packet that left, zero once the queue is empty. The probability is not
//! limited to 1, grows by 2 % more an update while the delay exceeds 250 ms, decays by 1/64 only at no delay, and the
//! controller runs through the burst allowance, which departures use up. It never rests, and its first update comes half
//! a second after the start. All is counted in integers: times in ticks of 64 ns, probabilities in 2^-56.
//!
//! Left out: the departure rate (`dq_rate_estimator`) and `bytemode`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pie_parts::DROP_PROBABILITY;
use super::{Aqm, AqmAlgorithm, AqmParameters, AqmSpec, Arrival, Departure, DrainRate, Verdict};
use crate::count::Count;
use crate::record::Gauges;
use crate::rng::{Rng, Seed};
use crate::units::Time;

/// A probability of 1.
const ONE: u64 = u64::MAX >> 8;
/// A tick is 2^6 ns.
const NS_PER_TICK: u64 = 1 << 6;
const TICKS_PER_S: u64 = 1_000_000_000 / NS_PER_TICK;
/// Below two of these nothing is dropped.
const MTU_BYTES: u64 = 1514;
/// The gains are counted in sixteenths.
const SIXTEENTHS: f64 = 16.0;

fn ticks(time: Time) -> u64 {
    time.ps() / 1000 / NS_PER_TICK
}

/// Parameters of Linux' PIE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "PieLinux")]
pub struct Parameters {
    /// Target queue delay in ms (tc-pie(8), `target`: 15).
    #[schemars(range(min = 0.1, max = 10_000.0), extend("x-live" = true))]
    pub target_ms: f64,
    /// Time between updates of the drop probability in ms (tc-pie(8), `tupdate`: 15).
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub update_ms: f64,
    /// Gain of the queue delay's distance from the target, in 1/s (tc-pie(8), `alpha`: 2 sixteenths).
    #[schemars(range(min = 1e-6, max = 1000.0), extend("x-live" = true))]
    pub alpha_hz: f64,
    /// Gain of the queue delay's change, in 1/s (tc-pie(8), `beta`: 20 sixteenths).
    #[schemars(range(min = 0.0, max = 1000.0), extend("x-live" = true))]
    pub beta_hz: f64,
    /// Burst allowance in ms: how long a new burst passes without drops (sch_pie: 150).
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub max_burst_ms: f64,
    /// Drop probability above which packets of ECN transports are dropped instead of marked (sch_pie: 0.1).
    #[schemars(range(min = 0.0, max = 1.0), extend("x-live" = true))]
    pub max_mark_probability: f64,
    /// When the first update comes, in ms. The kernel's comes half a second after the start.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub first_update_ms: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            target_ms: 15.0,
            update_ms: 15.0,
            alpha_hz: 0.125,
            beta_hz: 1.25,
            max_burst_ms: 150.0,
            max_mark_probability: 0.1,
            first_update_ms: 500.0,
        }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        LinuxPie::new(self).into()
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.target_ms)
    }
}

/// PIE of Linux.
pub struct LinuxPie {
    target: u64,
    interval: Time,
    alpha: u64,
    beta: u64,
    max_burst: u64,
    most_marked: u64,
    /// Updates before the first one that counts.
    idle_updates: u64,
    probability: u64,
    accumulated: u64,
    burst: u64,
    delay: u64,
    delay_old: u64,
    /// When the last packet left.
    left_at: Option<u64>,
}

impl LinuxPie {
    /// The algorithm in its initial state.
    pub(super) fn new(p: &Parameters) -> Self {
        let time = |ms: f64| Time::from_secs_f64(ms / 1e3);
        let gain = |hz: f64| ((hz * SIXTEENTHS).round() as u64 * (ONE / TICKS_PER_S)) >> 4;
        let (interval, max_burst) = (time(p.update_ms), ticks(time(p.max_burst_ms)));
        let updates = time(p.first_update_ms).ps().div_ceil(interval.ps());
        // Hundredths, as the kernel counts this probability.
        let most_marked = ONE / 100 * (p.max_mark_probability * 100.0).round() as u64;
        Self {
            target: ticks(time(p.target_ms)),
            interval,
            alpha: gain(p.alpha_hz),
            beta: gain(p.beta_hz),
            max_burst,
            most_marked,
            idle_updates: updates.saturating_sub(1),
            probability: 0,
            accumulated: 0,
            burst: max_burst,
            delay: 0,
            delay_old: 0,
            left_at: None,
        }
    }

    fn drops_early(&mut self, packet: &Arrival, rng: &mut Rng) -> bool {
        let is_low = self.delay < self.target / 2 && self.probability < ONE / 5;
        if self.burst > 0 || is_low || packet.backlog.bytes < 2 * MTU_BYTES {
            return false;
        }
        self.accumulated =
            if self.probability == 0 { 0 } else { self.accumulated.wrapping_add(self.probability) };
        if self.accumulated < ONE / 100 * 85 {
            return false;
        }
        if self.accumulated >= ONE / 2 * 17 {
            return true;
        }
        let drops = rng.bits() >> 8 < self.probability;
        if drops {
            self.accumulated = 0;
        }
        drops
    }

    /// The step of the controller, smaller where the probability is small.
    fn step(&self) -> i64 {
        let (mut alpha, mut beta) = (self.alpha, self.beta);
        if self.probability < ONE / 10 {
            (alpha, beta) = (alpha >> 1, beta >> 1);
            let mut power = 100;
            while power <= 1_000_000 && self.probability < ONE / power {
                (alpha, beta, power) = (alpha >> 2, beta >> 2, power * 10);
            }
        }
        let part = |gain: u64, from: u64| gain.wrapping_mul(self.delay.wrapping_sub(from)) as i64;
        let mut step = part(alpha, self.target).wrapping_add(part(beta, self.delay_old));
        if step > (ONE / 50) as i64 && self.probability >= ONE / 10 {
            step = (ONE / 100 * 2) as i64;
        }
        if self.delay > ticks(Time::from_ms(250)) {
            step = step.wrapping_add((ONE / 50) as i64);
        }
        step
    }

    fn control(&mut self, backlog: Count) {
        let mut may_decay = backlog.bytes == 0;
        let step = self.step();
        match self.probability.checked_add_signed(step) {
            Some(sum) => self.probability = sum,
            None if step.is_positive() => (self.probability, may_decay) = (ONE, false),
            None => self.probability = 0,
        }
        if self.delay == 0 && self.delay_old == 0 && may_decay {
            self.probability -= self.probability / 64;
        }
        let half = self.target / 2;
        if self.delay < half && self.delay_old < half && self.probability == 0 {
            (self.burst, self.left_at, self.accumulated) = (self.max_burst, None, 0);
        }
        self.delay_old = self.delay;
    }

    fn state(&self) -> (u64, u64, u64, u64, Option<u64>) {
        (self.probability, self.accumulated, self.burst, self.delay_old, self.left_at)
    }
}

impl Aqm for LinuxPie {
    fn on_arrival(&mut self, packet: &Arrival, _outlet: &DrainRate, rng: &mut Rng) -> Verdict {
        if !self.drops_early(packet, rng) {
            return Verdict::Pass;
        }
        let marks = packet.is_markable && self.probability <= self.most_marked;
        if !marks {
            self.accumulated = 0;
        }
        if marks { Verdict::Signal } else { Verdict::Drop }
    }

    fn on_overflow(&mut self) {
        self.accumulated = 0;
    }

    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        let now = ticks(packet.now);
        self.delay = now - ticks(packet.now.since(packet.sojourn));
        if packet.own_left.bytes == 0 {
            self.delay = 0;
        }
        let since = self.left_at.replace(now).map_or(0, |at| now - at);
        self.burst = self.burst.saturating_sub(since);
        Verdict::Pass
    }

    fn update_interval(&self) -> Time {
        self.interval
    }

    fn update(&mut self, _now: Time, backlog: Count, _outlet: &DrainRate) -> bool {
        if self.idle_updates > 0 {
            self.idle_updates -= 1;
            return true;
        }
        let before = self.state();
        self.control(backlog);
        self.state() != before
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(DROP_PROBABILITY, self.probability as f64 / ONE as f64);
    }

    fn retune(&mut self, spec: &AqmSpec) {
        let AqmSpec::PieLinux(p) = spec else { return };
        let Self { target, alpha, beta, most_marked, .. } = Self::new(p);
        (self.target, self.alpha, self.beta) = (target, alpha, beta);
        self.most_marked = most_marked;
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets_for_tests::{arrival, departure};
    use super::*;
    use crate::units::BitRate;

    /// The kernel's defaults: 15 ms are 234 375 ticks of 64 ns, and 150 ms ten times as many.
    fn pie() -> LinuxPie {
        LinuxPie::new(&Parameters::default())
    }

    /// It with these delays, in ticks, and this probability.
    fn at(probability: u64, delay: u64, delay_old: u64) -> LinuxPie {
        LinuxPie { probability, delay, delay_old, ..pie() }
    }

    const MS: u64 = 15_625;

    #[test]
    fn terms_are_counted_in_ticks_and_in_parts_of_2_to_the_56() {
        // A gain of 1 is 2^56 / 15 625 000 = 4 611 686 018 a tick: 2 and 20 sixteenths of it.
        let pie = pie();
        assert_eq!((pie.alpha, pie.beta), (576_460_752, 5_764_607_522));
        assert_eq!((pie.target, pie.max_burst, pie.burst), (15 * MS, 150 * MS, 150 * MS));
        // Ten hundredths, each 720 575 940 379 279.
        assert_eq!(pie.most_marked, 7_205_759_403_792_790);
        // The kernel's first update comes after half a second, 33.3 intervals.
        assert_eq!(pie.idle_updates, 33);
        assert_eq!([pie.probability, pie.accumulated, pie.delay, pie.delay_old], [0; 4]);
        assert_eq!(pie.update_interval(), Time::from_ms(15));
    }

    /// The first draw of SplitMix64 from 1 has 0x910a2dec89025c in its upper 56 bits.
    #[test]
    fn it_drops_where_a_draw_is_below_its_probability() {
        for (probability, drops) in [(0x91_0a2d_ec89_025c, false), (0x91_0a2d_ec89_025d, true)] {
            let mut pie =
                LinuxPie { burst: 0, accumulated: ONE / 2, ..at(probability, 99 * MS, 0) };
            let found = pie.drops_early(&arrival(9000), &mut Rng::split_mix(1));
            assert_eq!((found, pie.accumulated == 0), (drops, drops));
        }
    }

    #[test]
    fn the_step_is_smaller_where_the_probability_is_small() {
        // At 30 ms, 15 above the target and unchanged: 0.125 * 0.015 = 0.001875.
        for (part, divisor) in
            [(10, 2), (100, 8), (1000, 32), (10_000, 128), (100_000, 512), (1_000_000, 2048)]
        {
            let step = |probability| {
                at(probability, 30 * MS, 30 * MS).step() as f64 / ONE as f64 * f64::from(divisor)
            };
            let (at_part, below) = (step(ONE / part), step(ONE / part - 1));
            assert!((below / 0.001_875 - 1.0).abs() < 1e-5, "1/{part}: {below}");
            // From the bound on, that of the next larger probability.
            assert!(at_part > 1.9 * 0.001_875, "1/{part}: {at_part}");
        }
        let unscaled = at(ONE / 10, 30 * MS, 30 * MS).step() as f64 / ONE as f64;
        assert!((unscaled / 0.001_875 - 1.0).abs() < 1e-8, "{unscaled}");
    }

    #[test]
    fn a_large_step_is_limited_and_a_long_delay_adds_to_it() {
        for (probability, delay, delay_old, want) in [
            // 0.125 * 0.015 + 1.25 * 0.010; half of it below 0.1.
            (0.5, 30 * MS, 20 * MS, 0.014_375),
            (0.05, 30 * MS, 20 * MS, 0.007_187_5),
            // 0.125 * 0.015 + 1.25 * 0.020 is limited from 0.1 on, and below halved alone.
            (0.5, 30 * MS, 10 * MS, 0.02),
            (0.05, 30 * MS, 10 * MS, 0.013_437_5),
            // 0.125 * 0.235 is limited too; beyond 250 ms comes as much again.
            (0.5, 250 * MS, 250 * MS, 0.02),
            (0.5, 250 * MS + 1, 250 * MS, 0.04),
            // It falls without a limit: -0.125 * 0.015 - 1.25 * 0.040.
            (0.5, 0, 40 * MS, -0.051_875),
        ] {
            let pie = at((probability * ONE as f64) as u64, delay, delay_old);
            let step = pie.step() as f64 / ONE as f64;
            assert!((step - want).abs() < 1e-7, "{probability} {delay} {delay_old}: {step}");
        }
    }

    #[test]
    fn the_probability_stays_above_zero_and_wraps_to_one() {
        let after = |mut pie: LinuxPie| {
            pie.control(Count { bytes: 9000, packets: 9 });
            assert_eq!(pie.delay_old, pie.delay);
            pie.probability
        };
        // 0.5 and a step of 0.001875.
        let half = after(at(ONE / 2, 30 * MS, 30 * MS)) as f64 / ONE as f64;
        assert!((half - 0.501_875).abs() < 1e-8, "{half}");
        assert_eq!(after(at(1, 0, 0)), 0);
        assert_eq!(after(at(1, 5 * MS, 5 * MS)), 0);
        assert_eq!(after(at(u64::MAX, 30 * MS, 30 * MS)), ONE);
        // It is not limited to 1: 1 and a step of 0.02.
        assert!(after(at(ONE, 100 * MS, 0)) > ONE);
        // The product of an absurd gain wraps; the probability that wraps with it does not decay at once.
        let mut absurd = LinuxPie { alpha: 1 << 62, target: 3, ..at(u64::MAX, 0, 0) };
        absurd.control(Count::default());
        assert_eq!(absurd.probability, ONE);
    }

    #[test]
    fn it_decays_by_a_64th_while_no_packet_waits() {
        // The step at no delay is -0.125 * 0.015 = -0.001875 from 0.5 on.
        for (delay, delay_old, bytes, decays) in
            [(0, 0, 0, true), (0, 0, 1000, false), (1, 0, 0, false), (0, 1, 0, false)]
        {
            let mut pie = at(ONE / 2, delay, delay_old);
            pie.control(Count { bytes, packets: bytes / 1000 });
            let want = if decays { 0.498_125 * 63.0 / 64.0 } else { 0.498_125 };
            let found = pie.probability as f64 / ONE as f64;
            assert!((found - want).abs() < 1e-6, "{delay} {delay_old} {bytes}: {found}");
        }
    }

    #[test]
    fn what_is_left_of_a_burst_comes_back_with_short_delays_and_no_probability() {
        // Half of the target is 117 187 ticks. What was 0 stays 0 at these delays, or falls to it.
        for (delay, delay_old, probability, comes_back) in [
            (117_186, 117_186, 0, true),
            (117_186, 117_186, ONE / 2, false),
            (117_187, 117_186, 0, false),
            (117_186, 117_187, 0, false),
        ] {
            let mut pie = at(probability, delay, delay_old);
            (pie.burst, pie.accumulated, pie.left_at) = (7, 8, Some(9));
            pie.control(Count::default());
            let found = (pie.burst, pie.accumulated, pie.left_at);
            let want = if comes_back { (150 * MS, 0, None) } else { (7, 8, Some(9)) };
            assert_eq!(found, want, "{delay} {delay_old} {probability}");
        }
    }

    #[test]
    fn the_first_half_second_changes_nothing() {
        let mut pie = at(0, 30 * MS, 30 * MS);
        let line = DrainRate::steady(BitRate::from_mbps(8.0), 1_000_000);
        let backlog = Count { bytes: 9000, packets: 9 };
        for _ in 0..33 {
            assert!(pie.update(Time::ZERO, backlog, &line));
            assert_eq!(pie.probability, 0);
        }
        assert!(pie.update(Time::ZERO, backlog, &line));
        assert!(pie.probability > 0);
        // Nothing changes any more once all is 0, and the allowance is whole.
        let mut rests = LinuxPie { idle_updates: 0, ..at(0, 0, 0) };
        assert!(!rests.update(Time::ZERO, Count::default(), &line));
        rests.probability = ONE / 2;
        assert!(rests.update(Time::ZERO, Count::default(), &line));
    }

    #[test]
    fn departures_tell_the_delay_and_use_up_the_burst() {
        let mut pie = pie();
        pie.on_departure(&departure(Time::from_ms(40), Time::from_ms(12), 3000));
        assert_eq!((pie.delay, pie.burst), (12 * MS, 150 * MS));
        pie.on_departure(&departure(Time::from_ms(44), Time::from_ms(13), 1000));
        assert_eq!((pie.delay, pie.burst), (13 * MS, 146 * MS));
        // The last packet leaves an empty queue, which has no delay; the allowance does not fall below 0.
        pie.on_departure(&departure(Time::from_ms(444), Time::from_ms(13), 0));
        assert_eq!((pie.delay, pie.burst), (0, 0));
    }

    /// What becomes of an arrival, and the sum of probabilities after it.
    fn arrive(mut pie: LinuxPie, bytes: u64, is_markable: bool) -> (Verdict, u64) {
        let line = DrainRate::steady(BitRate::from_mbps(8.0), 1_000_000);
        let packet = Arrival { is_markable, ..arrival(bytes) };
        let verdict = pie.on_arrival(&packet, &line, &mut Rng::named(1, "pie"));
        (verdict, pie.accumulated)
    }

    /// It without an allowance, at 20 ms of delay.
    fn spent(probability: u64, accumulated: u64) -> LinuxPie {
        LinuxPie { burst: 0, accumulated, ..at(probability, 20 * MS, 20 * MS) }
    }

    /// More than 8.5, at which a drop is certain.
    const SURE: u64 = 9 * ONE;

    #[test]
    fn bursts_short_delays_and_short_queues_pass() {
        let sure = || spent(ONE / 100, SURE);
        let pass = (Verdict::Pass, SURE);
        assert_eq!(arrive(sure(), 3028, false), (Verdict::Drop, 0));
        assert_eq!(arrive(sure(), 3027, false), pass);
        assert_eq!(arrive(LinuxPie { burst: 1, ..sure() }, 9000, false), pass);
        // Below half of the target up to a probability of a fifth.
        let short = |delay, probability| LinuxPie { delay, ..spent(probability, SURE) };
        assert_eq!(arrive(short(117_186, ONE / 5 - 1), 9000, false), pass);
        assert_eq!(arrive(short(117_187, ONE / 5 - 1), 9000, false), (Verdict::Drop, 0));
        assert_eq!(arrive(short(117_186, ONE / 5), 9000, false), (Verdict::Drop, 0));
    }

    #[test]
    fn the_sum_of_probabilities_spaces_drops() {
        // Certain by its probability alone, but not before the sum is 0.85: hundredths of 720 575 940 379 279.
        let low = 61_248_954_932_238_715;
        let at_sum = |sum: u64| arrive(spent(ONE, sum.wrapping_sub(ONE)), 9000, false);
        assert_eq!(at_sum(low - 1), (Verdict::Pass, low - 1));
        assert_eq!(at_sum(low), (Verdict::Drop, 0));
        // Next to impossible by its probability, but certain from 8.5 on: 17 halves of 36 028 797 018 963 967.
        let high = 612_489_549_322_387_439;
        assert_eq!(arrive(spent(1, high - 1), 9000, false), (Verdict::Drop, 0));
        assert_eq!(arrive(spent(1, high - 2), 9000, false), (Verdict::Pass, high - 1));
        // Without a probability there is no sum.
        assert_eq!(arrive(spent(0, SURE), 9000, false), (Verdict::Pass, 0));
        let mut pie = spent(1, SURE);
        pie.on_overflow();
        assert_eq!(pie.accumulated, 0);
    }

    #[test]
    fn marks_end_at_their_probability_and_a_certain_one_leaves_the_sum() {
        let most = pie().most_marked;
        assert_eq!(arrive(spent(most, SURE), 9000, true), (Verdict::Signal, SURE + most));
        assert_eq!(arrive(spent(most + 1, SURE), 9000, true), (Verdict::Drop, 0));
        assert_eq!(arrive(spent(most, SURE), 9000, false), (Verdict::Drop, 0));
        // One by the draw takes the sum too.
        let drawn = LinuxPie { most_marked: ONE, ..spent(ONE, ONE) };
        assert_eq!(arrive(drawn, 9000, true), (Verdict::Signal, 0));
        let mut gauges = Gauges::default();
        spent(ONE / 4, 0).gauges(&mut gauges);
        assert!((gauges.get("drop_probability").unwrap() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_draw_drops_with_the_probability() {
        // Of 10 000 at 0.3 four deviations are 4 * sqrt(10 000 * 0.21) = 183.
        let mut rng = Rng::named(1, "pie");
        let three = ONE / 10 * 3;
        let drops = (0..10_000).filter(|_| spent(three, ONE).drops_early(&arrival(9000), &mut rng));
        assert!(drops.count().abs_diff(3000) < 183);
    }
}
