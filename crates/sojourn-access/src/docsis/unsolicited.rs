//! What the CMTS gives a service flow without being asked: grants and polls at regular times
//! (DOCSIS 3.1 MULPI §7.2.3, §C.2.2.8.4-9).
//!
//! The i-th nominal time is t0 + i times the interval, t0 being anywhere in an interval. A grant or
//! poll is up to the tolerated jitter later than nominal, at random.

use super::regularity::{Grid, Regularity};
use super::scheduling_service::SchedulingService;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;

/// Regular times, each late by a random part of the tolerated jitter.
pub(crate) struct OpportunityClock {
    times: Regularity,
    /// Nominal time of the current interval.
    nominal: Time,
    /// How many opportunities of this interval are over.
    done: u32,
    next: Time,
    rng: Rng,
}

impl OpportunityClock {
    /// A clock whose phase is drawn from the random stream.
    pub(crate) fn new(times: Regularity, mut rng: Rng) -> Self {
        let phase = times.interval.scaled(rng.uniform());
        let mut clock = Self { times, nominal: phase, done: 0, next: phase, rng };
        clock.draw();
        clock
    }

    /// The next opportunity.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Nominal interval.
    pub(crate) fn interval(&self) -> Time {
        self.times.interval
    }

    /// Goes on to the opportunity after the next one.
    pub(crate) fn advance(&mut self) {
        self.done += 1;
        if self.done >= self.times.per_interval {
            self.done = 0;
            self.nominal += self.times.interval;
        }
        self.draw();
    }

    /// Begins anew: the first nominal time is `at`.
    pub(crate) fn restart(&mut self, at: Time) {
        (self.nominal, self.done) = (at, 0);
        self.draw();
    }

    /// The opportunities of an interval share the jitter, so that they keep their order.
    fn draw(&mut self) {
        let Regularity { jitter, per_interval, .. } = self.times;
        let part = (f64::from(self.done) + self.rng.uniform()) / f64::from(per_interval);
        self.next = self.nominal + jitter.scaled(part);
    }
}

/// What a service flow may do at such a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opportunity {
    /// Send so many bytes.
    Grant(u64),
    /// Request.
    Poll,
}

/// A service flow's unsolicited grants and polls.
pub(crate) struct Unsolicited {
    grants: Option<(u64, OpportunityClock)>,
    polls: Option<OpportunityClock>,
    /// May a grant carry more than its bytes, up to whole minislots?
    is_filled: bool,
    /// Unused grants in a row after which polls follow; never without activity detection.
    idle_grants: Option<u32>,
    /// Unused grants in a row.
    unused: u32,
    /// Are there grants now, not polls?
    grants_now: bool,
}

impl Unsolicited {
    /// What the service gives on this grid, if anything. `name` is that of the flow's random streams.
    pub(crate) fn of(
        service: &SchedulingService,
        grid: &Grid,
        seed: u64,
        name: &str,
    ) -> Option<Self> {
        let clock = |times, what: &str| {
            OpportunityClock::new(times, Rng::named(seed, &format!("{name} {what}")))
        };
        let proactive = service.proactive();
        let of_proactive = proactive.map(|keys| keys.grants(grid));
        let grants = of_proactive.or_else(|| service.grants());
        let mut grants = grants.map(|(bytes, times)| (bytes, clock(times, "grants")));
        if let Some((_, clock)) = &mut grants
            && proactive.is_some()
            && grid.is_own
        {
            clock.restart(Time::ZERO); // docsis-ns3: from the first frame of a MAP interval on
        }
        let polls = proactive.map_or_else(|| service.polls(), |keys| keys.polls(grid));
        let polls = polls.map(|times| clock(times, "polls"));
        if grants.is_none() && polls.is_none() {
            return None;
        }
        // With activity detection UGS is idle until its first packet.
        let grants_now = polls.is_none() || proactive.is_some();
        let idle_grants = service.idle_grants();
        let is_filled = proactive.is_some();
        Some(Self { grants, polls, is_filled, idle_grants, unused: 0, grants_now })
    }

    /// The next grant or poll.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        match (&self.grants, &self.polls) {
            (Some((_, clock)), _) if self.grants_now => clock.next(),
            (_, Some(clock)) => clock.next(),
            _ => Time::NEVER,
        }
    }

    /// May a grant carry more than its bytes, up to whole minislots? Those of UGS have a size.
    pub(crate) fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// The nominal interval of what comes next.
    pub(crate) fn interval(&self) -> Time {
        match (&self.grants, &self.polls) {
            (Some((_, clock)), _) if self.grants_now => clock.interval(),
            (_, Some(clock)) => clock.interval(),
            _ => Time::ZERO,
        }
    }

    /// What the next one is. Goes on to the one after it.
    pub(crate) fn take(&mut self) -> Opportunity {
        match (&mut self.grants, &mut self.polls) {
            (Some((bytes, clock)), _) if self.grants_now => {
                clock.advance();
                Opportunity::Grant(*bytes)
            }
            (_, polls) => {
                polls.iter_mut().for_each(OpportunityClock::advance);
                Opportunity::Poll
            }
        }
    }

    /// Activity detection: a grant at `now` was used or not.
    pub(crate) fn was_used(&mut self, now: Time, used: bool) {
        self.unused = if used { 0 } else { self.unused + 1 };
        let is_idle = self.idle_grants.is_some_and(|most| self.unused >= most);
        if let Some(polls) = &mut self.polls
            && is_idle
            && self.grants_now
        {
            self.grants_now = false;
            polls.restart(now + polls.interval());
        }
    }

    /// Activity detection: a request came, which is granted from `granted_from` on. Unsolicited
    /// grants follow that grant.
    pub(crate) fn was_requested(&mut self, granted_from: Time) {
        if let Some((_, grants)) = &mut self.grants
            && !self.grants_now
        {
            self.grants_now = true;
            self.unused = 0;
            grants.restart(granted_from + grants.interval());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(interval_us: u64, jitter_us: u64, per_interval: u32) -> Regularity {
        let (interval, jitter) = (Time::from_us(interval_us), Time::from_us(jitter_us));
        Regularity { interval, jitter, per_interval }
    }

    fn clock(times: Regularity) -> OpportunityClock {
        OpportunityClock::new(times, Rng::named(1, "clock"))
    }

    fn ticks(clock: &mut OpportunityClock, count: usize) -> Vec<Time> {
        let tick = |_| {
            let at = clock.next();
            clock.advance();
            at
        };
        (0..count).map(tick).collect()
    }

    #[test]
    fn without_jitter_the_interval_is_constant() {
        let ticks = ticks(&mut clock(times(20_000, 0, 1)), 1000);
        assert!(ticks[0] < Time::from_ms(20));
        assert!(ticks.windows(2).all(|pair| pair[1] - pair[0] == Time::from_ms(20)));
    }

    /// Uniform in the tolerated jitter: of 10 000 draws over 4 ms the mean is off by at most
    /// 4 * 4 / sqrt(12 * 10 000) = 0.05 ms from 2 ms.
    #[test]
    fn a_grant_is_late_by_a_uniform_part_of_the_jitter() {
        let mut clock = clock(times(20_000, 4000, 1));
        clock.restart(Time::ZERO);
        let late: Vec<f64> = (0..10_000)
            .map(|i| (clock.next() - Time::from_ms(20 * i), clock.advance()).0.ms_f64())
            .collect();
        assert!(late.iter().all(|late| (0.0..=4.0).contains(late)));
        let mean = late.iter().sum::<f64>() / 1e4;
        assert!((mean - 2.0).abs() < 0.05, "{mean}");
        assert!(late.iter().any(|late| *late < 0.1) && late.iter().any(|late| *late > 3.9));
    }

    /// Its nominal time is within the first us, and its jitter up to 4 ms.
    #[test]
    fn the_first_grant_has_its_jitter_too() {
        assert!(clock(times(1, 4000, 1)).next() > Time::from_us(2));
    }

    #[test]
    fn grants_of_an_interval_share_its_jitter() {
        let mut clock = clock(times(10_000, 3000, 3));
        clock.restart(Time::ZERO);
        let ticks = ticks(&mut clock, 6);
        for (place, at) in ticks.iter().enumerate() {
            // The third of 1 ms that is this one's, in the first or second interval of 10 ms.
            let from = Time::from_ms(10 * (place as u64 / 3) + place as u64 % 3);
            assert!(*at >= from && *at <= from + Time::from_ms(1), "{place}");
        }
    }

    #[test]
    fn activity_detection_goes_to_polls_and_back() {
        let service = SchedulingService::UgsWithActivityDetection {
            unsolicited_grant_bytes: 228,
            nominal_grant_interval_us: 20_000,
            tolerated_grant_jitter_us: 0,
            grants_per_interval: 1,
            nominal_polling_interval_us: Some(50_000),
            tolerated_poll_jitter_us: 0,
            idle_grants: 3,
        };
        let grid = Grid { map_interval: Time::from_ms(2), frame: None, overhead: 0, is_own: true };
        // Of the second row the third unused one in a row is the seventh, at 240 ms.
        for (used, poll_ms) in
            [(&[false; 3][..], 210), (&[true, false, false, true, false, false, false], 290)]
        {
            let mut flow = Unsolicited::of(&service, &grid, 1, "up").unwrap();
            assert_eq!(flow.take(), Opportunity::Poll);
            flow.was_requested(Time::from_ms(100));
            // The request's own grant is at 100 ms, so that unsolicited ones begin at 120 ms.
            assert_eq!(flow.next(), Time::from_ms(120));
            for used in used {
                let at = flow.next();
                assert_eq!(flow.take(), Opportunity::Grant(228));
                flow.was_used(at, *used);
            }
            assert_eq!((flow.next(), flow.take()), (Time::from_ms(poll_ms), Opportunity::Poll));
        }
    }

    /// Grants of so many bytes, the first of them then.
    impl Unsolicited {
        pub(in super::super) fn grants_from(first: Time, interval: Time, bytes: u64) -> Self {
            let times = Regularity { interval, jitter: Time::ZERO, per_interval: 1 };
            let mut grants = clock(times);
            grants.restart(first);
            let (grants, polls) = (Some((bytes, grants)), None);
            Self { grants, polls, is_filled: false, idle_grants: None, unused: 0, grants_now: true }
        }

        pub(in super::super) fn filled(self) -> Self {
            Self { is_filled: true, ..self }
        }

        pub(in super::super) fn polls_from(first: Time, interval: Time) -> Self {
            let grants = Self::grants_from(first, interval, 0).grants;
            Self {
                polls: grants.map(|(_, clock)| clock),
                grants: None,
                grants_now: false,
                ..Self::grants_from(first, interval, 0)
            }
        }
    }
}
