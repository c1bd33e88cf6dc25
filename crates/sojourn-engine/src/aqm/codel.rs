//! CoDel, controlled delay: RFC 8289, and the variants of its ns-2 code.
//!
//! CoDel looks at a packet's sojourn time as the packet leaves. Once that has stayed above `target`
//! for an `interval`, CoDel drops the packet at the head, and further ones at intervals that shrink
//! with the square root of the number of drops, until the sojourn time is below `target` again. A
//! mark instead of a drop counts as a drop (RFC 8290 §4.2 leaves the algorithm unchanged).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ce_threshold::CeThreshold;
use super::codel_linux::{CODEL_COUNT, LinuxCodel};
use super::{Aqm, AqmAlgorithm, AqmParameters, AqmSpec, Departure, Verdict, check_interval};
use crate::record::Gauges;
use crate::rng::Seed;
use crate::units::Time;
use sojourn_input::problem::{Fault, Faults};

/// How the count of drops is resumed when dropping starts again soon after it stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// RFC 8289 §5: resumes with the drops of the last episode, if that ended within 16 intervals.
    #[default]
    Rfc8289,
    /// The ns-2 code of 2012-13: resumes with the old count less two, if the last episode ended
    /// within 8 intervals. The first wait after a recent episode is shortened to
    /// interval/sqrt(count).
    Ns2,
    /// The listing in ACM Queue of 2012 (Nichols & Jacobson, appendix): resumes with the old count
    /// less two, if the last episode ended within 1 interval. Otherwise the first drop comes only
    /// after a second interval above target.
    Acm2012,
    /// Linux 7.2: ticks of 1024 ns, and the inverse square root by one Newton step for each drop.
    Linux,
}

impl Variant {
    /// The number of intervals after the last due drop within which an episode is resumed.
    fn re_entry_intervals(self) -> f64 {
        match self {
            Self::Rfc8289 | Self::Linux => 16.0,
            Self::Ns2 => 8.0,
            Self::Acm2012 => 1.0,
        }
    }
}

/// Parameters of CoDel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Codel")]
pub struct Parameters {
    /// Acceptable standing sojourn time in ms (RFC 8289 §4.3: 5). White & Rice 2013 §3.2 use 10, to
    /// cover the request-grant delay of an upstream cable modem.
    #[schemars(range(min = 0.01, max = 10_000.0), extend("x-live" = true))]
    pub target_ms: f64,
    /// Time in ms within which the sojourn time must fall below the target: about a worst-case
    /// round-trip time (RFC 8289 §4.3: 100; White & Rice 2013 §3.2: 150).
    #[schemars(range(min = 0.1, max = 100_000.0), extend("x-live" = true))]
    pub interval_ms: f64,
    /// Backlog in bytes below which nothing is dropped: one packet of the link's MTU (RFC 8289
    /// §4.4). 0 disables this exemption.
    #[schemars(range(min = 0, max = 65_535), extend("x-live" = true))]
    pub mtu_bytes: u64,
    /// How the count of drops is resumed when dropping starts again.
    pub variant: Variant,
    /// Number of intervals after the last due drop within which dropping resumes with the old
    /// count. Default: 16 in variants `rfc8289` and `linux`, 8 in `ns2`, 1 in `acm2012`.
    #[schemars(range(min = 0.0, max = 1000.0), extend("x-live" = true))]
    pub re_entry_intervals: Option<f64>,
    /// Sojourn time in ms above which each packet that may be marked is, whether CoDel signals or not (Linux
    /// `ce_threshold`; 1 is usual for L4S with a queue for each flow). Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 10_000.0), extend("x-live" = true))]
    pub ce_threshold_ms: Option<f64>,
    /// Whether that is for packets of L4S, ECT(1), alone (Linux `ce_threshold_selector`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ce_threshold_l4s: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            target_ms: 5.0,
            interval_ms: 100.0,
            mtu_bytes: 1514,
            variant: Variant::Rfc8289,
            re_entry_intervals: None,
            ce_threshold_ms: None,
            ce_threshold_l4s: false,
        }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        let codel: AqmAlgorithm = match self.variant {
            Variant::Linux => self.linux().into(),
            _ => Codel::new(self).into(),
        };
        match self.ce_threshold_ms {
            None => codel,
            Some(threshold) => CeThreshold::new(codel, ms(threshold), self.ce_threshold_l4s).into(),
        }
    }

    fn check(&self, packet: Time) -> Faults {
        let Self { target_ms, interval_ms, .. } = self;
        let mut faults = Faults::from(check_interval(*interval_ms, packet));
        if faults.is_empty() && target_ms > interval_ms {
            let allowed = format!("{interval_ms} or less, the value of interval_ms");
            let message = format!("found {target_ms}; allowed: {allowed}");
            faults.add(Fault::new("target_ms", message));
        }
        if self.ce_threshold_l4s && self.ce_threshold_ms.is_none() {
            let message = "found true without ce_threshold_ms; allowed: with it alone";
            faults.add(Fault::new("ce_threshold_l4s", message));
        }
        faults
    }

    fn judges_sojourns(&self) -> bool {
        true
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.target_ms)
    }
}

/// A time in ms.
fn ms(ms: f64) -> Time {
    Time::from_secs_f64(ms / 1e3)
}

impl Parameters {
    /// The algorithm of the variant `linux`.
    pub(super) fn linux(&self) -> LinuxCodel {
        let interval = ms(self.interval_ms);
        let re_entry = interval.scaled(self.re_entry_intervals());
        LinuxCodel::new(ms(self.target_ms), interval, self.mtu_bytes, re_entry)
    }

    fn re_entry_intervals(&self) -> f64 {
        self.re_entry_intervals.unwrap_or(self.variant.re_entry_intervals())
    }
}

/// CoDel's parameters in its own units, and its state.
pub struct Codel {
    target: Time,
    interval: Time,
    mtu_bytes: u64,
    variant: Variant,
    /// An episode that ended less than this ago is resumed.
    re_entry: Time,
    /// When the sojourn time will have been above target for an interval, while it is above target.
    first_above: Option<Time>,
    /// While dropping, when the next packet is to be dropped; afterwards, when it would have been.
    drop_next: Time,
    /// Drops of this episode, including the count carried over from the last one.
    count: u64,
    /// `count` as this episode started with it.
    last_count: u64,
    dropping: bool,
    /// A packet was dropped, and `drop_next` moves on only if the next head is late too.
    drop_pending: bool,
}

impl Codel {
    /// The algorithm in its initial state.
    pub fn new(p: &Parameters) -> Self {
        let interval = Time::from_secs_f64(p.interval_ms / 1e3);
        Self {
            target: Time::from_secs_f64(p.target_ms / 1e3),
            interval,
            mtu_bytes: p.mtu_bytes,
            variant: p.variant,
            re_entry: interval.scaled(p.re_entry_intervals()),
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            drop_pending: false,
        }
    }

    /// `t + interval / sqrt(n)`: the control law (RFC 8289 §5.5, `control_law`).
    fn control_law(&self, t: Time, n: u64) -> Time {
        t + self.interval.scaled(1.0 / (n as f64).sqrt())
    }

    /// Has the sojourn time been above target for an interval (RFC 8289 §5.4, `dodequeue`)?
    fn ok_to_drop(&mut self, packet: &Departure) -> bool {
        // ns-2 queue/sfqcodel.cc: the last packet of a bin is never dropped.
        let spared = self.variant == Variant::Ns2 && packet.alone;
        if packet.sojourn < self.target || packet.left.bytes <= self.mtu_bytes || spared {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            Some(at) => packet.now >= at,
            None => {
                self.first_above = Some(self.first_deadline(packet.now));
                false
            }
        }
    }

    /// Has dropping stopped recently?
    fn is_recent(&self, now: Time) -> bool {
        now.since(self.drop_next) < self.re_entry
    }

    fn first_deadline(&self, now: Time) -> Time {
        match self.variant {
            Variant::Ns2 if self.count > 1 && self.is_recent(now) => {
                self.control_law(now, self.count)
            }
            _ => now + self.interval,
        }
    }

    /// May dropping start, after an interval above target?
    fn may_enter(&self, now: Time) -> bool {
        // ACM Queue 2012, `deque`: immediately only after a recent episode.
        self.variant != Variant::Acm2012
            || self.is_recent(now)
            || self.first_above.is_some_and(|at| now >= at + self.interval)
    }

    /// Where the count starts when dropping starts again.
    fn re_entry_count(&self, now: Time) -> u64 {
        if !self.is_recent(now) {
            return 1;
        }
        let two_less = self.count.saturating_sub(2).max(1);
        match self.variant {
            // RFC 8289 §5.4: the drops of the last episode, if there were more than one.
            Variant::Rfc8289 | Variant::Linux => (self.count - self.last_count).max(1),
            // ns-2 queue/codel.cc: two less, or 126/128 of it when it is large.
            Variant::Ns2 if two_less > 126 => (0.9844 * self.count as f64) as u64,
            Variant::Ns2 | Variant::Acm2012 => two_less,
        }
    }

    fn enter_dropping(&mut self, now: Time) {
        self.dropping = true;
        self.drop_pending = false;
        self.count = self.re_entry_count(now);
        self.last_count = self.count;
        self.drop_next = self.control_law(now, self.count);
    }
}

impl Aqm for Codel {
    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        let ok = self.ok_to_drop(packet);
        if !self.dropping {
            if ok && self.may_enter(packet.now) {
                self.enter_dropping(packet.now);
                return Verdict::Signal;
            }
            return Verdict::Pass;
        }
        if self.drop_pending {
            // The ns-2 code counts the drop only if this head is late as well.
            self.drop_pending = false;
            if ok || self.variant != Variant::Ns2 {
                self.count += 1;
            }
            if ok {
                self.drop_next = self.control_law(self.drop_next, self.count);
            }
        }
        if !ok {
            self.dropping = false;
            return Verdict::Pass;
        }
        if packet.now < self.drop_next {
            return Verdict::Pass;
        }
        self.drop_pending = true;
        Verdict::Signal
    }

    fn on_empty(&mut self, _now: Time) {
        self.first_above = None;
        self.dropping = false;
        if self.drop_pending && self.variant != Variant::Ns2 {
            self.count += 1;
        }
        self.drop_pending = false;
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(CODEL_COUNT, if self.dropping { self.count as f64 } else { 0.0 });
    }

    fn retune(&mut self, spec: &AqmSpec) {
        let AqmSpec::Codel(p) = spec else { return };
        let Self { target, interval, mtu_bytes, re_entry, .. } = Self::new(p);
        *self = Self { target, interval, mtu_bytes, re_entry, ..*self };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Count;

    /// Dequeues a late packet every 100 us for `ms`, behind a deep backlog, and gives the times of
    /// the drops in ms after the first packet. After a drop the next head is judged at once.
    fn drop_times(codel: &mut Codel, from_ms: u64, ms: u64) -> Vec<f64> {
        let mut drops = Vec::new();
        for tick in 0..ms * 10 {
            let now = Time::from_ms(from_ms) + Time::from_us(100 * tick);
            while codel.on_departure(&late(now)) == Verdict::Signal {
                drops.push((now - Time::from_ms(from_ms)).ms_f64());
            }
        }
        drops
    }

    fn late(now: Time) -> Departure {
        Departure {
            now,
            sojourn: Time::from_ms(50),
            size: 1500,
            left: Count { bytes: 100_000, packets: 67 },
            own_left: Count { bytes: 100_000, packets: 67 },
            alone: false,
            ecn: crate::packet::Ecn::NotEct,
            is_markable: false,
            flow: 0,
        }
    }

    fn early(now: Time) -> Departure {
        Departure { sojourn: Time::from_ms(1), ..late(now) }
    }

    #[test]
    fn drops_under_persistent_excess_follow_the_control_law() {
        // First above target at 0, so the first drop at INTERVAL = 100 ms. Then the n-th drop comes
        // 100 * sum_{k=1}^{n-1} 1/sqrt(k) ms after the first: 100, 170.71, 228.45, 278.45, 323.17,
        // 363.99, 401.79, 437.14, 470.48. Packets leave every 0.1 ms, and the drop is at the first
        // departure at or after its time.
        let drops = drop_times(&mut Codel::new(&Parameters::default()), 0, 600);
        let mut expected = vec![100.0];
        let mut sum = 0.0;
        for k in 1..10 {
            sum += 100.0 / f64::from(k).sqrt();
            expected.push(100.0 + (sum * 10.0 - 1e-6).ceil() / 10.0);
        }
        for (got, want) in drops.iter().zip(&expected) {
            assert!((got - want).abs() < 1e-6, "{drops:?} {expected:?}");
        }
        assert!((expected[9] - 100.0 - 470.48).abs() < 0.1);
    }

    #[test]
    fn the_hundredth_drop_comes_after_1849_ms() {
        // 100 * sum_{k=1}^{99} 1/sqrt(k) = 1848.96 ms.
        let drops = drop_times(&mut Codel::new(&Parameters::default()), 0, 2100);
        assert!((drops[99] - drops[0] - 1848.96).abs() < 0.1, "{}", drops[99]);
    }

    #[test]
    fn one_packet_below_target_ends_the_episode() {
        let mut codel = Codel::new(&Parameters::default());
        assert_eq!(drop_times(&mut codel, 0, 180).len(), 1);
        assert_eq!(codel.on_departure(&early(Time::from_ms(181))), Verdict::Pass);
        // Another whole interval above target is needed before the next drop.
        let drops = drop_times(&mut codel, 182, 150);
        assert_eq!(drops, [100.0]);
    }

    #[test]
    fn a_backlog_of_one_packet_is_never_dropped() {
        let mut codel = Codel::new(&Parameters::default());
        for ms in 0..1000 {
            let left = Count { bytes: 1514, packets: 1 };
            let packet = Departure { left, ..late(Time::from_ms(ms)) };
            assert_eq!(codel.on_departure(&packet), Verdict::Pass);
        }
    }

    /// Starts at 10 s, when nothing counts as recent: ten drops, the first after `first_ms`, the last
    /// 470.48 ms later, the next due after another 100/sqrt(10) ms, 502.1 ms after the first. A packet
    /// below target 500 ms after the first, then late ones from `late_ms` after the first on, until the
    /// next drop. The count after that.
    fn count_after_re_entry(p: &Parameters, first_ms: u64, late_ms: u64) -> u64 {
        let mut codel = Codel::new(p);
        let first = 10_000 + first_ms;
        let drops = drop_times(&mut codel, 10_000, first_ms + 480);
        assert_eq!(drops.len(), 10, "{drops:?}");
        codel.on_departure(&early(Time::from_ms(first + 500)));
        let mut now = Time::from_ms(first + late_ms);
        while codel.on_departure(&late(now)) == Verdict::Pass {
            now += Time::from_us(100);
        }
        codel.count
    }

    #[test]
    fn re_entry_takes_up_the_count_as_each_variant_says() {
        // Ten drops: count = 1 at entry and +1 for each of the nine that follow = 10.
        // RFC 8289: delta = count - lastcount = 10 - 1 = 9. ns-2: count - 2 = 8. ACM Queue: late from
        // 501 ms on is above target for an interval at 601, which is within one of 502.1: 8.
        for (variant, first_ms, want) in
            [(Variant::Rfc8289, 100, 9), (Variant::Ns2, 100, 8), (Variant::Acm2012, 200, 8)]
        {
            let p = Parameters { variant, ..Parameters::default() };
            assert_eq!(count_after_re_entry(&p, first_ms, 501), want, "{variant:?}");
        }
    }

    #[test]
    fn the_window_of_re_entry_can_be_chosen() {
        // Late from 520 ms on is above target for an interval at 620, 117.9 ms after 502.1.
        for (variant, intervals, want) in [
            (Variant::Acm2012, None, 1),
            (Variant::Acm2012, Some(8.0), 8),
            (Variant::Rfc8289, Some(1.0), 1),
            (Variant::Rfc8289, Some(1.2), 9),
        ] {
            let p = Parameters { variant, re_entry_intervals: intervals, ..Parameters::default() };
            let first_ms = if variant == Variant::Acm2012 { 200 } else { 100 };
            assert_eq!(count_after_re_entry(&p, first_ms, 520), want, "{variant:?} {intervals:?}");
        }
    }

    #[test]
    fn in_acm_queue_the_first_drop_comes_after_two_intervals() {
        let mut codel =
            Codel::new(&Parameters { variant: Variant::Acm2012, ..Parameters::default() });
        let drops = drop_times(&mut codel, 0, 350);
        assert_eq!(drops[..2], [200.0, 300.0]);
    }

    #[test]
    fn an_old_episode_is_forgotten() {
        let mut codel = Codel::new(&Parameters::default());
        drop_times(&mut codel, 0, 580);
        codel.on_departure(&early(Time::from_ms(600)));
        // 16 intervals after the last drop time (about 600 ms) are over at 2.2 s.
        drop_times(&mut codel, 3000, 101);
        assert_eq!(codel.count, 1);
    }

    #[test]
    fn each_variant_has_its_first_drop_after_an_interval_above_target_or_two() {
        // Ticks of Linux are whole, so that 100 ms are over with the packet after them.
        for (variant, first_ms) in [
            (Variant::Rfc8289, 100),
            (Variant::Ns2, 100),
            (Variant::Acm2012, 200),
            (Variant::Linux, 100),
        ] {
            for (sojourn_us, is_late) in [(4990, false), (5010, true)] {
                let p = Parameters { variant, ..Parameters::default() };
                let mut law = p.start(Seed::named(1, "codel"));
                let first = (1000..2000).find(|ms| {
                    let sojourn = Time::from_us(sojourn_us);
                    let packet = Departure { sojourn, ..late(Time::from_ms(*ms)) };
                    law.on_departure(&packet) == Verdict::Signal
                });
                let first = first.map(|ms: u64| ms - 1000);
                let want = is_late.then_some(first_ms);
                let is_it = first == want || (variant == Variant::Linux && first == Some(101));
                assert!(is_it, "{variant:?} {sojourn_us}: {first:?}");
            }
        }
    }

    #[test]
    fn a_threshold_for_marks_stands_beside_each_variant() {
        for (variant, is_of_l4s) in
            [(Variant::Rfc8289, false), (Variant::Linux, false), (Variant::Linux, true)]
        {
            let p = Parameters {
                variant,
                ce_threshold_ms: Some(1.0),
                ce_threshold_l4s: is_of_l4s,
                ..Parameters::default()
            };
            let mut law = p.start(Seed::named(1, "codel"));
            let mut marks = |us, ecn| {
                let packet = Departure {
                    sojourn: Time::from_us(us),
                    ecn,
                    is_markable: true,
                    ..late(Time::from_s(1))
                };
                law.on_departure(&packet) == Verdict::Signal
            };
            use crate::packet::Ecn::{Ect0, Ect1};
            assert_eq!([marks(1000, Ect1), marks(1001, Ect1)], [false, true]);
            assert_eq!(marks(1001, Ect0), !is_of_l4s);
        }
    }

    #[test]
    fn the_count_at_re_entry_is_that_of_the_variant() {
        let now = Time::from_s(100);
        for (variant, window_ms, count, last_count, want) in [
            (Variant::Rfc8289, 1600, 10, 1, 9),
            (Variant::Rfc8289, 1600, 10, 10, 1),
            (Variant::Ns2, 800, 10, 1, 8),
            (Variant::Ns2, 800, 2, 1, 1),
            (Variant::Ns2, 800, 128, 1, 126),
            // 0.9844 of it.
            (Variant::Ns2, 800, 129, 1, 126),
            (Variant::Ns2, 800, 1000, 1, 984),
            (Variant::Acm2012, 100, 10, 1, 8),
            (Variant::Acm2012, 100, 1000, 1, 998),
        ] {
            let p = Parameters { variant, ..Parameters::default() };
            let window = Time::from_ms(window_ms);
            for (ago, want) in [(window - Time::from_ps(1), want), (window, 1)] {
                let codel = Codel { count, last_count, drop_next: now - ago, ..Codel::new(&p) };
                assert_eq!(codel.re_entry_count(now), want, "{variant:?} {count} {ago:?}");
            }
        }
    }

    #[test]
    fn ns2_waits_less_for_the_first_drop_after_a_recent_episode_of_several() {
        let now = Time::from_s(100);
        for (variant, count, ago_ms, wait_ms) in [
            (Variant::Ns2, 4, 799, 50),
            (Variant::Ns2, 4, 800, 100),
            (Variant::Ns2, 1, 1, 100),
            (Variant::Rfc8289, 4, 1, 100),
            (Variant::Acm2012, 4, 1, 100),
        ] {
            let p = Parameters { variant, ..Parameters::default() };
            let drop_next = now - Time::from_ms(ago_ms);
            let mut codel = Codel { count, drop_next, ..Codel::new(&p) };
            assert!(!codel.ok_to_drop(&late(now)));
            assert_eq!(
                codel.first_above,
                Some(now + Time::from_ms(wait_ms)),
                "{variant:?} {ago_ms}"
            );
        }
    }

    #[test]
    fn a_packet_at_the_target_is_late_and_the_last_one_is_spared_in_ns2_alone() {
        let now = Time::from_s(100);
        let target = Time::from_ms(5);
        let at = |sojourn, alone| Departure { sojourn, alone, ..late(now) };
        for (variant, packet, is_late) in [
            (Variant::Rfc8289, at(target, true), true),
            (Variant::Rfc8289, at(target - Time::from_ps(1), false), false),
            (Variant::Ns2, at(target, false), true),
            (Variant::Ns2, at(target, true), false),
        ] {
            let p = Parameters { variant, ..Parameters::default() };
            let mut codel = Codel { first_above: Some(now), ..Codel::new(&p) };
            assert_eq!(codel.ok_to_drop(&packet), is_late, "{variant:?}");
            assert_eq!(codel.first_above, is_late.then_some(now));
        }
        // One packet of the MTU that is left is no queue, but a byte more is.
        for (bytes, is_late) in [(1514, false), (1515, true)] {
            let mut codel = Codel { first_above: Some(now), ..Codel::new(&Parameters::default()) };
            let left = Count { bytes, packets: 2 };
            assert_eq!(codel.ok_to_drop(&Departure { left, ..late(now) }), is_late);
        }
    }

    #[test]
    fn in_ns2_a_drop_counts_only_if_the_next_head_is_late_too() {
        let now = Time::from_s(100);
        for (variant, is_late, count, moves) in [
            (Variant::Rfc8289, true, 4, true),
            (Variant::Rfc8289, false, 4, false),
            (Variant::Ns2, true, 4, true),
            (Variant::Ns2, false, 3, false),
        ] {
            let p = Parameters { variant, ..Parameters::default() };
            let dropped = || {
                let (first_above, drop_next) = (Some(now - Time::from_ms(50)), now);
                let codel = Codel { first_above, drop_next, count: 3, ..Codel::new(&p) };
                Codel { dropping: true, drop_pending: true, ..codel }
            };
            let mut codel = dropped();
            let next = if is_late { late(now) } else { early(now) };
            assert_eq!(codel.on_departure(&next), Verdict::Pass);
            // 100 / sqrt(4) ms later.
            let want = if moves { now + Time::from_ms(50) } else { now };
            assert_eq!((codel.count, codel.drop_next), (count, want), "{variant:?} {is_late}");
            assert_eq!((codel.dropping, codel.drop_pending), (is_late, false));
            // An empty queue is no late head.
            let mut codel = dropped();
            codel.on_empty(now);
            let want = if variant == Variant::Ns2 { 3 } else { 4 };
            assert_eq!((codel.count, codel.first_above), (want, None), "{variant:?}");
            assert_eq!((codel.dropping, codel.drop_pending), (false, false));
            let mut codel = Codel { drop_pending: false, ..dropped() };
            codel.on_empty(now);
            assert_eq!(codel.count, 3);
        }
    }

    #[test]
    fn the_count_is_shown_while_it_drops() {
        let codel = || Codel { count: 7, ..Codel::new(&Parameters::default()) };
        for (codel, want) in [(codel(), 0.0), (Codel { dropping: true, ..codel() }, 7.0)] {
            let mut gauges = Gauges::default();
            codel.gauges(&mut gauges);
            assert_eq!(gauges.get("codel_count"), Some(want));
        }
        let new = Codel::new(&Parameters::default());
        assert_eq!(
            (new.count, new.last_count, new.dropping, new.drop_pending),
            (0, 0, false, false)
        );
        // An episode begins with no drop to count.
        let mut codel = Codel { drop_pending: true, ..codel() };
        codel.enter_dropping(Time::from_s(100));
        assert_eq!((codel.count, codel.last_count, codel.drop_pending), (1, 1, false));
        assert_eq!(codel.drop_next, Time::from_ms(100_100));
    }
}
