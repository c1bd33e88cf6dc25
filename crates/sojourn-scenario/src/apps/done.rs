//! What apps achieved, for the results.

use std::ops::{Add as _, Sub as _};

use sojourn_engine::clock::Clock;
use sojourn_engine::units::Time;

/// A page that was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedPage {
    /// When it was requested.
    pub start: Time,
    /// How long it took.
    pub took: Time,
    /// How long it took until what is seen first was there, where that is known.
    pub first_render: Option<Time>,
}

impl LoadedPage {
    /// One of which no more is known.
    pub fn new(start: Time, took: Time) -> Self {
        Self { start, took, first_render: None }
    }
}

/// What an app achieved, for the results.
#[derive(Default)]
pub struct Done {
    /// Pages loaded.
    pub pages: Vec<LoadedPage>,
    /// Completed transfers of known size.
    pub transfers_completed: Option<u64>,
    /// What these took together, in s, where each is timed.
    pub transfers_s: Option<f64>,
    /// Objects of web sessions: when each was requested, and its response time.
    pub responses: Vec<(Time, Time)>,
    /// Viewing statistics of videos.
    pub viewing: Option<Viewing>,
    /// What a part scores by a scale of its own.
    pub own: Option<OwnScore>,
    /// Pictures of calls whose rate is controlled, up and down: their heights as shares of the largest one's.
    pub filmed: [Option<Mean>; 2],
    /// What a test of responsiveness found.
    pub responded: Option<Responded>,
}

/// How well a test of responsiveness knows its result (draft-ietf-ippm-responsiveness-09, section 5.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It had too few intervals for an average.
    Low,
    /// The result is not stable.
    Medium,
    /// It is.
    High,
}

impl Confidence {
    /// It in a word.
    pub const fn word(self) -> &'static str {
        ["low", "medium", "high"][self as usize]
    }
}

/// What tests of responsiveness found, one in each home.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Responded {
    /// Times in ms of the handshakes of TCP and TLS and of a request on connections of their own, and of a request on a loaded
    /// one.
    pub parts_ms: [Mean; 4],
    /// Round trips per minute: the mean of two rates.
    pub rpm: Mean,
    /// By the older rule: the rate of the mean time.
    pub rpm_of_mean: Mean,
    /// Without the load.
    pub rpm_before_load: Mean,
    /// Goodput of the load up and down.
    pub mbps: [Mean; 2],
    /// Connections that loaded a direction.
    pub connections: Mean,
    /// The least of them; `None` if there is no result.
    pub confidence: Option<Confidence>,
}

impl Responded {
    fn and(self, other: Self) -> Self {
        let sum = |one: Mean, other: Mean| one.each(other, f64::add);
        let of_parts = |part| sum(self.parts_ms[part], other.parts_ms[part]);
        Self {
            parts_ms: [0, 1, 2, 3].map(of_parts),
            rpm: sum(self.rpm, other.rpm),
            rpm_of_mean: sum(self.rpm_of_mean, other.rpm_of_mean),
            rpm_before_load: sum(self.rpm_before_load, other.rpm_before_load),
            mbps: [0, 1].map(|way| sum(self.mbps[way], other.mbps[way])),
            connections: sum(self.connections, other.connections),
            confidence: either(self.confidence, other.confidence, Ord::min),
        }
    }

    /// The same where a second of the clock that measured it takes so many.
    fn by(&mut self, seconds: f64) {
        self.parts_ms.iter_mut().for_each(|of| of.sum *= seconds);
        let rates = [&mut self.rpm, &mut self.rpm_of_mean, &mut self.rpm_before_load];
        rates.into_iter().chain(&mut self.mbps).for_each(|of| of.sum /= seconds);
    }
}

/// What was counted, each with a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    /// How many.
    pub count: f64,
    /// The sum of their values.
    pub sum: f64,
}

impl Mean {
    pub(super) fn add(&mut self, value: f64) {
        *self = self.each(Self { count: 1.0, sum: value }, f64::add);
    }

    fn each(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self { count: of(self.count, other.count), sum: of(self.sum, other.sum) }
    }

    /// The mean value; `None` if nothing was counted.
    pub fn value(self) -> Option<f64> {
        ratio(self.sum, self.count)
    }

    /// The mean of shares in percent.
    pub fn percent(self) -> Option<f64> {
        ratio(100.0 * self.sum, self.count)
    }
}

/// What both directions have together.
fn of_both(
    [up, down]: [Option<Mean>; 2],
    [other_up, other_down]: [Option<Mean>; 2],
    of: impl Fn(f64, f64) -> f64 + Copy,
) -> [Option<Mean>; 2] {
    [(up, other_up), (down, other_down)]
        .map(|(one, other)| either(one, other, |one, other| one.each(other, of)))
}

/// A score by a scale of a part's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnScore {
    /// The series of the gauge of which it is a value.
    pub metric: &'static str,
    /// The score.
    pub value: f64,
    /// Where it is on the scale: 1 is the bound of good, 2 of fair and 3 of poor.
    pub level: f64,
}

impl OwnScore {
    fn worse(self, other: Self) -> Self {
        if other.level > self.level { other } else { self }
    }
}

impl Done {
    /// The same in simulated time, where a device's clock measured it.
    pub fn by(mut self, clock: Clock) -> Self {
        for page in &mut self.pages {
            page.start = clock.instant(page.start);
            page.took = clock.span(page.took);
            page.first_render = page.first_render.map(|took| clock.span(took));
        }
        for (start, took) in &mut self.responses {
            *start = clock.instant(*start);
            *took = clock.span(*took);
        }
        let seconds = clock.span(Time::from_s(1)).secs_f64();
        self.transfers_s = self.transfers_s.map(|took_s| took_s * seconds);
        if let Some(responded) = &mut self.responded {
            responded.by(seconds);
        }
        if let Some(viewing) = &mut self.viewing {
            for span_s in [
                &mut viewing.watched_s,
                &mut viewing.rising_s,
                &mut viewing.playing_s,
                &mut viewing.stalled_s,
            ] {
                *span_s *= seconds;
            }
        }
        self
    }

    /// The sum of the same app in two homes.
    pub fn and(mut self, other: Self) -> Self {
        self.pages.extend(other.pages);
        self.responses.extend(other.responses);
        Self {
            transfers_completed: either(
                self.transfers_completed,
                other.transfers_completed,
                u64::add,
            ),
            transfers_s: either(self.transfers_s, other.transfers_s, f64::add),
            viewing: either(self.viewing, other.viewing, Viewing::plus),
            own: either(self.own, other.own, OwnScore::worse),
            filmed: of_both(self.filmed, other.filmed, f64::add),
            responded: either(self.responded, other.responded, Responded::and),
            ..self
        }
    }

    /// What it achieved since it was as `earlier`, of what was requested at `from` or later.
    pub fn since(mut self, earlier: &Self, from: Time) -> Self {
        self.pages.retain(|page| page.start >= from);
        self.responses.retain(|(start, _)| *start >= from);
        Self {
            transfers_completed: either(
                self.transfers_completed,
                earlier.transfers_completed,
                u64::sub,
            ),
            transfers_s: either(self.transfers_s, earlier.transfers_s, f64::sub),
            viewing: either(self.viewing, earlier.viewing, Viewing::minus),
            filmed: of_both(self.filmed, earlier.filmed, f64::sub),
            ..self
        }
    }
}

/// Combines both, or returns the one that is there.
fn either<T>(one: Option<T>, other: Option<T>, together: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(together(one, other)),
        (one, other) => one.or(other),
    }
}

/// Viewing statistics, summed over viewers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Viewing {
    /// Segments played, with their rates in Mbps.
    pub played: Mean,
    /// Those of them that were requested since their viewer's level has risen.
    pub played_settled: Mean,
    /// Changes of the quality level.
    pub adaptations: f64,
    /// Viewers who began.
    pub viewers: f64,
    /// Viewers whose level has risen.
    pub settled: f64,
    /// Time since each viewer began, in s.
    pub watched_s: f64,
    /// Time in which the level of each viewer rose, in s.
    pub rising_s: f64,
    /// Time since playback first began, in s.
    pub playing_s: f64,
    /// Time of that during which playback stalled, in s.
    pub stalled_s: f64,
}

impl Viewing {
    /// Mean rate of the video that was played since its level has risen, in Mbps; `None` while that of a viewer rises.
    pub fn rate_mbps(&self) -> Option<f64> {
        self.have_all_settled().then(|| self.played_settled.value())?
    }

    /// Mean rate of all video that was played, in Mbps; `None` if nothing was played.
    pub fn whole_rate_mbps(&self) -> Option<f64> {
        self.played.value()
    }

    /// The mean time in which the level of a viewer rose, in s; `None` while one does.
    pub fn rise_s(&self) -> Option<f64> {
        self.have_all_settled().then(|| ratio(self.rising_s, self.viewers))?
    }

    fn have_all_settled(&self) -> bool {
        self.settled == self.viewers
    }

    /// Changes of the quality level per viewer and hour.
    pub fn adaptations_per_hour(&self) -> Option<f64> {
        ratio(self.adaptations, self.watched_s / 3600.0)
    }

    /// The mean time that viewers waited for playback to begin first, in s; `None` if none of them plays.
    pub fn start_wait_s(&self) -> Option<f64> {
        (self.playing_s > 0.0).then(|| ratio(self.watched_s - self.playing_s, self.viewers))?
    }

    /// Share of the time since playback first began during which it stalled, in percent.
    pub fn stalled_percent(&self) -> Option<f64> {
        ratio(100.0 * self.stalled_s, self.playing_s)
    }

    fn plus(self, other: Self) -> Self {
        self.each(other, f64::add)
    }

    /// What was added since; viewers who have begun or settled stay counted.
    fn minus(self, earlier: Self) -> Self {
        let Self { viewers, settled, .. } = self;
        Self { viewers, settled, ..self.each(earlier, f64::sub) }
    }

    fn each(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            played: self.played.each(other.played, &of),
            played_settled: self.played_settled.each(other.played_settled, &of),
            adaptations: of(self.adaptations, other.adaptations),
            viewers: of(self.viewers, other.viewers),
            settled: of(self.settled, other.settled),
            watched_s: of(self.watched_s, other.watched_s),
            rising_s: of(self.rising_s, other.rising_s),
            playing_s: of(self.playing_s, other.playing_s),
            stalled_s: of(self.stalled_s, other.stalled_s),
        }
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
