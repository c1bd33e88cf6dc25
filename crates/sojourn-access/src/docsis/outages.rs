//! Times in which something does not work: a modem that has lost its ranging or whose processor stalls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_engine::units::Time;
use sojourn_input::problem::{Fault, Faults};

/// A time without service.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// When it begins, in s from the start of the run.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// How long it lasts, in s.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub length_s: f64,
    /// After how many s it comes again, from start to start. Default: it comes once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub every_s: Option<f64>,
}

impl Outage {
    /// How long it lasts between two times, in s.
    pub fn within_s(&self, from_s: f64, until_s: f64) -> f64 {
        let until = |time_s: f64| {
            let since_s = (time_s - self.start_s).max(0.0);
            let every_s = self.every_s.unwrap_or(f64::INFINITY);
            let whole = (since_s / every_s).floor();
            let rest_s = if whole > 0.0 { since_s - whole * every_s } else { since_s };
            whole * self.length_s + rest_s.min(self.length_s)
        };
        until(until_s) - until(from_s)
    }

    /// Its start, and its end if it comes once.
    pub fn span(&self) -> (Time, Option<Time>) {
        let end = || Time::from_secs_f64(self.start_s + self.length_s);
        (Time::from_secs_f64(self.start_s), self.every_s.is_none().then(end))
    }

    /// One that comes again has an end before.
    fn check(&self) -> Result<(), Fault> {
        let Some(every_s) = self.every_s.filter(|every_s| *every_s <= self.length_s) else {
            return Ok(());
        };
        let message =
            format!("found {every_s}; allowed: more than {}, the value of length_s", self.length_s);
        Err(Fault::new("every_s", message))
    }
}

/// Checks the outages of a key.
pub(crate) fn check(key: &str, outages: &[Outage]) -> Faults {
    let mut faults = Faults::default();
    for (number, outage) in outages.iter().enumerate() {
        faults.add_under(&format!("{key}.{number}"), outage.check());
    }
    faults
}

/// One outage, or those that repeat.
#[derive(Clone, Copy, Debug)]
struct Times {
    from: Time,
    length: Time,
    every: Time,
}

impl Times {
    /// When the outage at this time ends, if there is one.
    fn end(&self, at: Time) -> Option<Time> {
        let since = (at >= self.from).then(|| at - self.from)?;
        let number = if self.every == Time::NEVER { 0 } else { since.ps() / self.every.ps() };
        let start = self.from + self.every.times(number);
        (at < start + self.length).then(|| start + self.length)
    }
}

impl Times {
    /// The next start after this time.
    fn next(&self, at: Time) -> Time {
        if at < self.from {
            return self.from;
        }
        let begun = (at - self.from).ps() / self.every.ps();
        if self.every == Time::NEVER {
            Time::NEVER
        } else {
            self.from + self.every.times(begun + 1)
        }
    }
}

/// Outages, of which there are few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outages(Vec<Times>);

impl Outages {
    /// Those of a scenario.
    pub(crate) fn new<'a>(outages: impl IntoIterator<Item = &'a Outage>) -> Self {
        let times = |outage: &Outage| Times {
            from: Time::from_secs_f64(outage.start_s),
            length: Time::from_secs_f64(outage.length_s),
            every: outage.every_s.map_or(Time::NEVER, Time::from_secs_f64),
        };
        Self(outages.into_iter().map(times).collect())
    }

    /// Is there one now?
    #[inline]
    pub(crate) fn at(&self, now: Time) -> bool {
        self.0.iter().any(|times| times.end(now).is_some())
    }

    /// Are there none?
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One begins now that has no end yet.
    pub(super) fn begin(&mut self, now: Time) {
        self.0.push(Times { from: now, length: Time::NEVER, every: Time::NEVER });
    }

    /// The one that began last ends.
    pub(super) fn end(&mut self, now: Time) {
        if let Some(times) = self.0.last_mut().filter(|times| times.length == Time::NEVER) {
            times.length = now - times.from;
        }
    }

    /// When the next one begins after `at`.
    pub(crate) fn next(&self, at: Time) -> Time {
        self.0.iter().map(|times| times.next(at)).min().unwrap_or(Time::NEVER)
    }

    /// The times from `from` to `until`, in order: does it lie in an outage, and how long is it?
    pub(super) fn split(&self, from: Time, until: Time, mut each: impl FnMut(bool, Time)) {
        let mut at = from;
        while at < until {
            let passes = self.after(at).min(until);
            if passes > at {
                each(true, passes - at);
            }
            at = self.next(passes).min(until);
            if at > passes {
                each(false, at - passes);
            }
        }
    }

    /// How much of the time from `from` to `until` lies in outages.
    pub(super) fn within(&self, from: Time, until: Time) -> Time {
        let mut sum = Time::ZERO;
        if !self.is_empty() {
            self.split(from, until, |is_out, span| sum += if is_out { span } else { Time::ZERO });
        }
        sum
    }

    /// When what is due at this time can happen: after the outages that it is in.
    pub(crate) fn after(&self, mut at: Time) -> Time {
        while let Some(end) = self.0.iter().find_map(|times| times.end(at)) {
            at = end;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outages_come_once_or_again() {
        let once = Outage { start_s: 2.0, length_s: 1.0, every_s: None };
        let often = Outage { start_s: 1.0, length_s: 0.15, every_s: Some(1.9) };
        let outages = Outages::new(&[once, often]);
        let ms = Time::from_ms;
        for (at, ends) in
            [(999, 999), (1000, 1150), (1150, 1150), (2000, 3050), (2950, 3050), (4800, 4950)]
        {
            assert_eq!(outages.after(ms(at)), ms(ends), "{at}");
            assert_eq!(outages.at(ms(at)), at != ends, "{at}");
        }
        for (at, next) in [(0, 1000), (999, 1000), (1000, 2000), (2000, 2900), (2900, 4800)] {
            assert_eq!(outages.next(ms(at)), ms(next), "{at}");
        }
        assert_eq!(Outages::new(&[once]).next(ms(2000)), Time::NEVER);
        // 1000 to 1150, 2000 to 3000, to 3050 by the one from 2900, and 150 from 4800, 6700 and 8600.
        for (from, until, within) in [
            (0, 1000, 0),
            (900, 1100, 100),
            (1100, 2500, 550),
            (2999, 9999, 51 + 3 * 150),
            (9, 9, 0),
        ] {
            assert_eq!(outages.within(ms(from), ms(until)), ms(within), "{from}");
        }
        let endless = Outage { every_s: Some(0.1), ..often };
        assert_eq!(
            [once, often, endless].map(|outage| outage.check().is_ok()),
            [true, true, false]
        );
    }

    /// One that begins at 4 s has no end until it is known: 6 s.
    #[test]
    fn an_outage_may_end_when_it_will() {
        let mut outages = Outages::default();
        let s = Time::from_s;
        outages.end(s(3));
        outages.begin(s(4));
        assert_eq!(
            (outages.at(s(3)), outages.at(s(99)), outages.after(s(5))),
            (false, true, Time::NEVER)
        );
        assert_eq!(outages.within(s(1), s(9)), s(5));
        outages.end(s(6));
        assert_eq!(
            (outages.at(s(6)), outages.after(s(5)), outages.within(s(1), s(9))),
            (false, s(6), s(2))
        );
    }

    #[test]
    fn what_comes_once_has_an_end() {
        let once = Outage { start_s: 2.0, length_s: 1.5, every_s: None };
        assert_eq!(once.span(), (Time::from_ms(2000), Some(Time::from_ms(3500))));
        let often = Outage { every_s: Some(3.0), ..once };
        assert_eq!(often.span(), (Time::from_ms(2000), None));
    }

    #[test]
    fn an_outage_has_a_span_and_ends_before_the_next() {
        let once = Outage { start_s: 2.0, length_s: 1.0, every_s: None };
        assert_eq!(once.span(), (Time::from_s(2), Some(Time::from_s(3))));
        let often = Outage { every_s: Some(1.5), ..once };
        assert_eq!(often.span(), (Time::from_s(2), None));
        let all = [once, often, Outage { every_s: Some(1.0), ..once }];
        let paths: Vec<_> = check("stalls", &all).into_iter().map(|fault| fault.path).collect();
        assert_eq!(paths, ["stalls.2.every_s"]);
    }
}
