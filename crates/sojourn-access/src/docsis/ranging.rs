//! Ranging of modems on the channels that they bond, and what a modem does when it fails (DOCSIS 3.1 MULPI §10.2 to 10.3 and
//! Annex B, from memory: not checked).
//!
//! **Station maintenance.** The CMTS gives each modem an opportunity on each of its channels every `interval_s`. The modem sends
//! a ranging request (RNG-REQ) in it, and the CMTS answers. If no answer comes within T3, the CMTS has not heard it, and gives
//! another opportunity after `retry_interval_s`. After `retries` requests without an answer the modem gives the channel up: T3
//! retries exceeded, CM-STATUS event 7.
//!
//! **T4.** Without an opportunity for T4 the modem gives the channel up too (CM-STATUS event 6). That happens where the CMTS
//! makes no MAPs for it.
//!
//! **Partial service.** A modem that has given a channel up goes on with the others, and ranges again on this one as a new modem
//! does: in broadcast opportunities (initial maintenance), of which it skips a random number below 2^start, and twice as many
//! after each request without an answer. With the answer it takes the channel back (CM-STATUS event 8). One that has given up
//! all of its channels is silent until it has ranged on one, and then registers anew.
//!
//! Left out: lowered power and profiles; how many rounds a ranging takes, and the time of an answer; that a modem that registers
//! receives nothing, and loses what waits in it; CM-STATUS messages, so that modem and CMTS give a channel up at once.

use super::contention::{Contention, Outcome};
use super::ranging_parameters::RangingSpec;
use super::request_region::Region;
use sojourn_engine::record::RangingUse;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_engine::wake::Wake;

/// Time between broadcast opportunities (ARRIS, C4 CMTS User Guide 8.3, p. 1532: 40 centiseconds).
const INITIAL_INTERVAL: Time = Time::from_ms(400);
/// Binary logarithms of the first and the greatest window of ranging requests (the same guide, p. 1714: 2-7).
const BACKOFF: (u8, u8) = (2, 7);

/// What a channel is at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// What modems send is received.
    Heard,
    /// It is not.
    Unheard,
    /// There are no MAPs until this time, and so no opportunities.
    NoMaps(Time),
}

/// What ranging changes, of a modem and a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A request was sent in an opportunity.
    Asked(usize),
    /// A modem gives a channel up.
    Lost { modem: usize, channel: usize },
    /// It takes it back.
    Back { modem: usize, channel: usize },
}

/// What a modem on a channel does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Opportunity,
    GiveUp { t4: bool },
    TakeBack,
}

/// A modem on a channel.
struct Station {
    next: Next,
    /// Requests without an answer.
    tries: u32,
    /// When T4 is over.
    deadline: Time,
}

/// Modems that range again on a channel.
struct Initial {
    contention: Contention,
    next: Time,
}

/// What a modem has.
struct Modem {
    /// The channels that it has not given up, a bit for each.
    ranged: u64,
    /// Until when it registers; never, before it has ranged again.
    registers_until: Time,
}

/// All modems on all channels.
pub(super) struct Ranging {
    interval: Time,
    t3: Time,
    t4: Time,
    retry_interval: Time,
    retries: u32,
    registration: Time,
    modems: Vec<Modem>,
    /// By modem, then by channel; those of channels that a modem has not never wake.
    stations: Vec<Station>,
    due: Wake,
    initial: Vec<Initial>,
    rng: Rng,
    outcomes: Vec<(u32, Outcome)>,
    /// By channel.
    pub used: Vec<RangingUse>,
}

impl Ranging {
    pub(super) fn new(spec: &RangingSpec, channels: usize, seed: u64) -> Self {
        let s = Time::from_secs_f64;
        let initial = |channel: usize| Initial {
            contention: Contention::new(
                Rng::named(seed, &format!("initial ranging {channel}")).below(u64::MAX),
            ),
            next: Time::NEVER,
        };
        Self {
            interval: s(spec.interval_s),
            t3: s(spec.t3_ms / 1e3),
            t4: s(spec.t4_s),
            retry_interval: s(spec.retry_interval_s),
            retries: spec.retries,
            registration: s(spec.registration_s),
            modems: Vec::new(),
            stations: Vec::new(),
            due: Wake::new(2),
            initial: (0..channels).map(initial).collect(),
            rng: Rng::named(seed, "ranging"),
            outcomes: Vec::new(),
            used: vec![RangingUse::default(); channels],
        }
    }

    /// Adds a modem with these channels. Its first opportunities are anywhere in an interval.
    pub(super) fn connect(&mut self, group: &[u8]) {
        let channels = self.initial.len();
        let ranged = group.iter().map(|channel| 1 << channel).sum();
        self.modems.push(Modem { ranged, registers_until: Time::ZERO });
        self.due.grow(self.stations.len() + channels);
        for channel in 0..channels {
            let at = self.interval.scaled(self.rng.uniform());
            let deadline = at + (self.t4 - self.interval);
            self.stations.push(Station { next: Next::Opportunity, tries: 0, deadline });
            let is_its = group.contains(&(channel as u8));
            let at = if is_its { at } else { Time::NEVER };
            self.due.set(self.stations.len() as u32 - 1, at);
        }
    }

    /// Has it any channel?
    pub(super) fn has_any(&self, modem: usize) -> bool {
        self.modems[modem].ranged > 0
    }

    /// When something is due.
    pub(super) fn next_wake(&self) -> Time {
        self.initial.iter().fold(self.due.next(), |next, one| next.min(one.next))
    }

    /// The channel of what is due.
    pub(super) fn next_channel(&self, now: Time) -> usize {
        if self.due.next() <= now {
            return self.due.next_stage() as usize % self.initial.len();
        }
        self.initial.iter().position(|one| one.next <= now).unwrap_or_default()
    }

    /// Does what is due on the channel of which this is the signal.
    pub(super) fn wake(&mut self, now: Time, signal: Signal, mut each: impl FnMut(Change)) {
        let channel = self.next_channel(now);
        if self.due.next() > now {
            return self.range_again(now, channel, signal, each);
        }
        let number = self.due.next_stage();
        let modem = number as usize / self.initial.len();
        let at = match self.stations[number as usize].next {
            Next::Opportunity => self.hold_opportunity(now, (number, channel), signal, &mut each),
            Next::GiveUp { t4 } => {
                let used = &mut self.used[channel];
                *(if t4 { &mut used.t4_timeouts } else { &mut used.t3_exceeded }) += 1;
                self.give_up(now, (number, channel));
                each(Change::Lost { modem, channel });
                Time::NEVER
            }
            Next::TakeBack => {
                self.modems[modem].ranged |= 1 << channel;
                let deadline = now + self.t4;
                let next = Next::Opportunity;
                self.stations[number as usize] = Station { next, tries: 0, deadline };
                each(Change::Back { modem, channel });
                now + self.interval
            }
        };
        self.due.set(number, at);
    }

    /// A modem's opportunity. Returns when something is next due for it.
    fn hold_opportunity(
        &mut self,
        now: Time,
        (number, channel): (u32, usize),
        signal: Signal,
        each: &mut impl FnMut(Change),
    ) -> Time {
        let station = &mut self.stations[number as usize];
        if let Signal::NoMaps(until) = signal {
            if until < station.deadline {
                return until;
            }
            station.next = Next::GiveUp { t4: true };
            return station.deadline;
        }
        each(Change::Asked(channel));
        station.deadline = now + self.t4;
        self.used[channel].requests += 1;
        if signal == Signal::Heard {
            station.tries = 0;
            return now + self.interval;
        }
        station.tries += 1;
        self.used[channel].t3_timeouts += 1;
        if station.tries < self.retries {
            return now + self.retry_interval;
        }
        station.next = Next::GiveUp { t4: false };
        now + self.t3
    }

    fn give_up(&mut self, now: Time, (number, channel): (u32, usize)) {
        let modem = &mut self.modems[number as usize / self.initial.len()];
        modem.ranged &= !(1 << channel);
        if modem.ranged == 0 {
            modem.registers_until = Time::NEVER;
        }
        let initial = &mut self.initial[channel];
        initial.contention.join(number);
        if initial.next == Time::NEVER {
            let begun = now.ps() / INITIAL_INTERVAL.ps();
            initial.next = INITIAL_INTERVAL.times(begun + 1);
        }
    }

    /// A broadcast opportunity.
    fn range_again(
        &mut self,
        now: Time,
        channel: usize,
        signal: Signal,
        mut each: impl FnMut(Change),
    ) {
        let channels = self.initial.len();
        let Initial { contention, next } = &mut self.initial[channel];
        if let Signal::NoMaps(until) = signal {
            *next = INITIAL_INTERVAL.times(until.ps().div_ceil(INITIAL_INTERVAL.ps()));
            return;
        }
        let (backoff_start, backoff_end) = BACKOFF;
        let region = Region { opportunities: 1, backoff_start, backoff_end };
        let answered_after = self.t3.ps().div_ceil(INITIAL_INTERVAL.ps()).max(1);
        contention.is_heard = signal == Signal::Heard;
        contention.hold(region, answered_after, &mut self.outcomes);
        while let Some((number, outcome)) = self.outcomes.pop() {
            match outcome {
                Outcome::GivenUp => {
                    contention.join(number);
                    continue;
                }
                Outcome::Collided => self.used[channel].t3_timeouts += 1,
                Outcome::Heard => {
                    let modem = &mut self.modems[number as usize / channels];
                    if modem.registers_until == Time::NEVER {
                        modem.registers_until = now + self.registration;
                    }
                    self.stations[number as usize].next = Next::TakeBack;
                    self.due.set(number, now.max(modem.registers_until));
                }
            }
            self.used[channel].requests += 1;
            each(Change::Asked(channel));
        }
        *next = if contention.is_idle() { Time::NEVER } else { now + INITIAL_INTERVAL };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;

    /// Opportunities every 2 s, T3 of 0.1 s, T4 of 3 s, 4 tries 0.5 s apart, and 5 s to register.
    fn ranging(channels: usize, modems: usize) -> Ranging {
        let spec = RangingSpec {
            interval_s: 2.0,
            t3_ms: 100.0,
            t4_s: 3.0,
            retries: 4,
            retry_interval_s: 0.5,
            registration_s: 5.0,
        };
        assert!(spec.check().is_empty());
        let mut ranging = Ranging::new(&spec, channels, 1);
        let group: Vec<u8> = (0..channels as u8).collect();
        (0..modems).for_each(|_| ranging.connect(&group));
        ranging
    }

    /// Goes on until then. Returns what has changed, with its time.
    fn until(
        ranging: &mut Ranging,
        end: Time,
        signal: impl Fn(usize, Time) -> Signal,
    ) -> Vec<(Time, Change)> {
        let mut changes = Vec::new();
        while ranging.next_wake() < end {
            let now = ranging.next_wake();
            let signal = signal(ranging.next_channel(now), now);
            ranging.wake(now, signal, |change| changes.push((now, change)));
        }
        changes
    }

    fn is_asked(change: &Change) -> bool {
        matches!(change, Change::Asked(_))
    }

    /// In 100 s a modem is asked 50 times on each channel, every 2 s, and nothing else happens.
    #[test]
    fn a_modem_is_asked_in_each_interval() {
        let mut ranging = ranging(2, 3);
        let changes = until(&mut ranging, MS(100_000), |_, _| Signal::Heard);
        assert_eq!(changes.len(), 2 * 3 * 50);
        assert!(changes.iter().all(|(_, change)| is_asked(change)));
        assert_eq!(ranging.used[0].requests, 150);
        assert_eq!((ranging.used[0].t3_timeouts, ranging.used[1].t4_timeouts), (0, 0));
    }

    /// A channel that is not heard from 10 s on is given up with the fourth request and T3: 1.6 s after an opportunity that is up
    /// to 2 s later. Of 400 modems the mean is 10 + 1 + 1.6 s, off by 4 * 0.58 / 20 = 0.12 at most. Without MAPs it is given up
    /// 3 s after the last opportunity, 1 to 3 s later: 12 s in the mean.
    #[test]
    fn a_modem_notices_by_t3_or_t4() {
        for (signal, (least_s, mean_s, most_s)) in [
            (Signal::Unheard, (11.6, 12.6, 13.6)),
            (Signal::NoMaps(MS(99_000)), (11.0, 12.0, 13.0)),
        ] {
            let mut ranging = ranging(1, 400);
            let of = |_, at| if at < MS(10_000) { Signal::Heard } else { signal };
            let changes = until(&mut ranging, MS(15_000), of);
            let lost: Vec<f64> = changes
                .iter()
                .filter(|(_, change)| matches!(change, Change::Lost { .. }))
                .map(|(at, _)| at.secs_f64())
                .collect();
            assert_eq!(lost.len(), 400);
            assert!(lost.iter().all(|at| (least_s..=most_s).contains(at)), "{lost:?}");
            let mean = lost.iter().sum::<f64>() / 400.0;
            assert!((mean - mean_s).abs() < 0.12, "{mean}");
            let used = ranging.used[0];
            let (t3, t4) = (used.t3_exceeded, used.t4_timeouts);
            assert_eq!((t3, t4), if signal == Signal::Unheard { (400, 0) } else { (0, 400) });
            assert!((0..400).all(|modem| !ranging.has_any(modem)));
        }
    }

    /// Requests that are not heard three times in a row are three time-outs, and the channel stays; a gap of MAPs shorter than
    /// T4 less the interval is none.
    #[test]
    fn a_short_failure_costs_nothing() {
        let of = |_, at: Time| match at.ps() / MS(1000).ps() {
            10 if at < MS(11_000) => Signal::Unheard,
            20 => Signal::NoMaps(MS(21_000)),
            _ => Signal::Heard,
        };
        let mut ranging = ranging(1, 50);
        let changes = until(&mut ranging, MS(40_000), of);
        assert!(changes.iter().all(|(_, change)| is_asked(change)));
        let used = ranging.used[0];
        assert!(used.t3_timeouts > 0 && used.t3_timeouts <= 100, "{used:?}");
        assert_eq!((used.t3_exceeded, used.t4_timeouts), (0, 0));
    }

    /// A modem with another channel takes a failed one back with the answer to its request, one without registers for 5 s more.
    /// Alone it skips up to 2^b broadcast opportunities of 0.4 s, b growing to 7 with each request that was not heard: 128 * 0.4 =
    /// 51.2 s at most after the signal is back.
    #[test]
    fn a_modem_ranges_again() {
        for (channels, registers_s) in [(2, 0.0), (1, 5.0)] {
            let mut ranging = ranging(channels, 1);
            let of = |channel, at| {
                let is_out = channel == 0 && (MS(10_000)..MS(20_000)).contains(&at);
                if is_out { Signal::Unheard } else { Signal::Heard }
            };
            let mut changes = until(&mut ranging, MS(100_000), of);
            changes.retain(|(_, change)| !is_asked(change));
            let [(_, lost), (at, back)] = changes[..] else { panic!("{changes:?}") };
            assert_eq!(lost, Change::Lost { modem: 0, channel: 0 });
            assert_eq!(back, Change::Back { modem: 0, channel: 0 });
            let after_s = at.secs_f64() - 20.0 - registers_s;
            assert!((0.0..=51.2).contains(&after_s), "{after_s}");
            assert_eq!(ranging.modems[0].ranged, (1 << channels) - 1);
        }
    }

    /// Two modems that range again at once collide now and then, and both come back.
    #[test]
    fn all_modems_come_back() {
        let mut ranging = ranging(1, 40);
        let of = |_, at| {
            let is_out = (MS(10_000)..MS(20_000)).contains(&at);
            if is_out { Signal::NoMaps(MS(20_000)) } else { Signal::Heard }
        };
        let changes = until(&mut ranging, MS(400_000), of);
        let back = changes.iter().filter(|(_, change)| matches!(change, Change::Back { .. }));
        assert_eq!(back.count(), 40);
        assert!(ranging.used[0].t3_timeouts > 0);
    }
}
