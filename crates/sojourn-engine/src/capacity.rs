//! What a link carries over time: a constant rate, or a trace of rates.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{BitRate, Pace, Time};
use sojourn_input::problem::{Fault, Faults};

/// Rates of a link over time, as `steps` or from a `file`: a capacity trace. After the last rate the first one
/// follows again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Trace {
    /// The rates, each with its duration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1_000_000))]
    pub steps: Vec<Step>,
    /// File with the rates. CSV with the columns `time_s` and `mbps`, and `delay_ms` if it likes: a rate holds
    /// from its time to the next and the last as long as the one before; the trace begins at its first time. A trace of
    /// mahimahi: the millisecond of each chance to send 1500 bytes. A trace of Pensieve: two columns, times in s and rates in
    /// Mbps, where a rate holds from the time of the line before to its own, and the first from 0, or not at all where times
    /// are those of a clock, above 1 000 000 s. The path is relative to the scenario file, or to
    /// the working directory if the scenario does not come from a file. The resolved scenario has the
    /// absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What the line does where the file's CSV has a time without a rate. Default: such a file is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaps: Option<Gaps>,
    /// Digest of the file's rates, 16 hexadecimal digits. It is filled in when the scenario is loaded. If it
    /// is set, a file with other rates is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The rates of the file, once it has been read.
    #[serde(skip)]
    pub read: Arc<[Step]>,
}

/// A time of constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Duration in s.
    #[schemars(range(min = 0.000_001, max = 1_000_000.0))]
    pub for_s: f64,
    /// Rate in Mbps; 0 where nothing can be sent.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub mbps: f64,
    /// One-way delay in ms beyond that of the link, of what has been sent by then. Packets keep their order. Only
    /// links of routers and of the core have it.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub delay_ms: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl Step {
    /// A rate for some time.
    pub fn new(for_s: f64, mbps: f64) -> Self {
        Self { for_s, mbps, delay_ms: 0.0 }
    }
}

/// What a line does while its rate is not known.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// It keeps the rate and the delay from before.
    Hold,
    /// Nothing can be sent.
    Outage,
}

impl Trace {
    /// Checks that there are either steps or a file, and that something can be sent.
    pub fn check(&self) -> Faults {
        // What a stored scenario names has been read once, and need not be there any more.
        let can_send = self.all().is_empty() || self.all().iter().any(|step| step.mbps > 0.0);
        let message = match (self.steps.is_empty(), self.file.is_none()) {
            (true, true) => "found neither steps nor file; allowed: one of them",
            (false, false) => "found both steps and file; allowed: one of them",
            _ if can_send => return Faults::default(),
            _ => "found no rate above 0; allowed: one or more",
        };
        Fault::new("", message).into()
    }

    /// Checks a trace of something that is no link of a router or of the core: it has no delays.
    pub fn check_rates(&self) -> Faults {
        let delays = self.all().iter().any(|step| step.delay_ms > 0.0);
        let message = "found delay_ms; allowed: only for links of routers and of the core";
        let mut faults = self.check();
        faults.add(delays.then(|| Fault::new("", message)).map_or(Ok(()), Err));
        faults
    }

    /// The rates, wherever they are from.
    pub fn all(&self) -> &[Step] {
        if self.steps.is_empty() { &self.read } else { &self.steps }
    }

    /// The mean rate over a cycle, in Mbps; `None` if its file was not read.
    pub fn mean_mbps(&self) -> Option<f64> {
        let sum = |of: fn(&Step) -> f64| self.all().iter().map(of).sum::<f64>();
        (!self.all().is_empty())
            .then(|| sum(|step| step.for_s * step.mbps) / sum(|step| step.for_s))
    }

    /// What it carries from one time to another in Mbit, at no more than `most_mbps`; `None` if its file was
    /// not read.
    pub fn mbit(&self, from_s: f64, until_s: f64, most_mbps: f64) -> Option<f64> {
        let until = |time_s: f64| {
            let (mut left_s, mut mbit) = (time_s, 0.0);
            let cycle_s: f64 = self.all().iter().map(|step| step.for_s).sum();
            let of = |step: &Step, for_s: f64| for_s * step.mbps.min(most_mbps);
            let whole = (time_s / cycle_s).floor();
            mbit += whole * self.all().iter().map(|step| of(step, step.for_s)).sum::<f64>();
            left_s -= whole * cycle_s;
            for step in self.all() {
                let for_s = step.for_s.min(left_s.max(0.0));
                mbit += of(step, for_s);
                left_s -= for_s;
            }
            mbit
        };
        (!self.all().is_empty()).then(|| until(until_s) - until(from_s))
    }
}

/// What a link carries.
pub enum Capacity {
    /// Always the same.
    Steady(Pace),
    /// A trace.
    Varying(Box<Varying>),
}

impl Capacity {
    /// That of a trace, or else of a constant rate.
    pub fn of(trace: Option<&Trace>, rate: BitRate) -> Self {
        let read = trace.filter(|trace| !trace.all().is_empty());
        read.map_or_else(|| Self::steady(rate), Self::from)
    }

    /// A constant rate.
    pub fn steady(rate: BitRate) -> Self {
        Self::Steady(Pace::new(rate))
    }

    /// When a transmission of `bytes` ends that begins at `start`, no earlier than the ones before.
    #[inline]
    pub fn done_at(&mut self, start: Time, bytes: u64) -> Time {
        match self {
            Self::Steady(pace) => start + pace.time_for(bytes),
            Self::Varying(varying) => varying.done_at(start, bytes),
        }
    }

    /// The rate at `now`, no earlier than before; where nothing can be sent, the least that there is.
    pub fn rate(&mut self, now: Time) -> BitRate {
        match self {
            Self::Steady(pace) => pace.rate(),
            Self::Varying(varying) => {
                varying.go_to(now);
                varying.now().rate.unwrap_or(BitRate::from_bps(0))
            }
        }
    }

    /// Does it have delays?
    pub fn has_delays(&self) -> bool {
        matches!(self, Self::Varying(varying) if varying.steps.iter().any(|one| one.delay > Time::ZERO))
    }

    /// The delay of what has been sent last, beyond that of the link.
    #[inline]
    pub fn delay(&self) -> Time {
        match self {
            Self::Steady(_) => Time::ZERO,
            Self::Varying(varying) => varying.now().delay,
        }
    }
}

impl From<&Trace> for Capacity {
    fn from(trace: &Trace) -> Self {
        let steps = trace.all().iter().map(|step| Phase {
            length: Time::from_secs_f64(step.for_s).max(Time::from_ps(1)),
            rate: (step.mbps > 0.0).then(|| BitRate::from_mbps(step.mbps)),
            delay: Time::from_secs_f64(step.delay_ms * 1e-3),
        });
        let steps: Vec<_> = steps.collect();
        let ends = steps.first().map_or(Time::NEVER, |first| first.length);
        Self::Varying(Box::new(Varying { steps, at: 0, ends }))
    }
}

/// A time in which nothing changes.
struct Phase {
    length: Time,
    /// `None` where nothing can be sent.
    rate: Option<BitRate>,
    /// Beyond that of the link.
    delay: Time,
}

/// Rates that follow each other, and the one that was looked at last.
pub struct Varying {
    steps: Vec<Phase>,
    at: usize,
    /// When the present step ends.
    ends: Time,
}

impl Varying {
    fn now(&self) -> &Phase {
        &self.steps[self.at]
    }

    fn go_to(&mut self, now: Time) {
        while self.ends <= now {
            self.at = (self.at + 1) % self.steps.len();
            self.ends += self.now().length;
        }
    }

    fn done_at(&mut self, start: Time, bytes: u64) -> Time {
        let (mut now, mut left) = (start, bytes as f64);
        loop {
            self.go_to(now);
            if let Some(rate) = self.now().rate {
                let here = rate.bytes_in(self.ends - now);
                if left <= here {
                    return (now + rate.time_for_part(left)).min(self.ends);
                }
                left -= here;
            }
            now = self.ends;
        }
    }
}

/// Rates as a file has them: CSV, or a trace of mahimahi or Pensieve.
///
/// # Errors What is wrong, with its line; it continues a sentence that begins with the file's name.
pub fn parse(text: &str, gaps: Option<Gaps>) -> Result<Vec<Step>, String> {
    let text = text.trim_start_matches('\u{feff}'); // the byte-order mark
    if text.lines().nth(MOST_LINES).is_some() {
        return Err(format!("which has more lines; allowed: {MOST_LINES} or fewer"));
    }
    let mut lines = (1..).zip(text.lines().map(str::trim)).filter(|(_, line)| !line.is_empty());
    let Some((_, first)) = lines.clone().next() else {
        return Err(format!("which is empty; {ALLOWED}"));
    };
    if first.bytes().all(|byte| byte.is_ascii_digit()) {
        return of_mahimahi(lines);
    }
    if two_numbers(first).is_some() {
        return of_pensieve(lines);
    }
    lines.next();
    let names: Vec<_> = first.split(',').map(str::trim).collect();
    let column = |name: &str| names.iter().position(|known| *known == name);
    let (Some(time), Some(rate)) = (column("time_s"), column("mbps")) else {
        return Err(format!("whose first line is {first:?}; {ALLOWED}"));
    };
    of_csv(lines, Columns { time, rate, delay: column("delay_ms"), gaps })
}

/// The files that are read.
pub const ALLOWED: &str = "allowed: CSV with the columns time_s and mbps, and delay_ms if there are delays; a trace of \
                       mahimahi: whole milliseconds, one in a line; or a trace of Pensieve: two numbers in a line, a \
                       time in s and a rate in Mbps";
/// More lines than these are no trace of a line.
const MOST_LINES: usize = 10_000_000;
/// A day, and a little more.
const MOST_MS: usize = 100_000_000;
/// The largest times, rates and delays.
const MOST: f64 = 1e6;
const MOST_DELAY_MS: f64 = 1e5;
/// Times are apart by this much.
const LEAST_S: f64 = 1e-6;

/// Where a file of CSV has what, and what it means where it has nothing.
struct Columns {
    time: usize,
    rate: usize,
    delay: Option<usize>,
    gaps: Option<Gaps>,
}

impl Columns {
    /// The time of a line, and what begins then.
    fn read(
        &self,
        (number, line): (usize, &str),
        before: Option<Step>,
    ) -> Result<(f64, Step), String> {
        let cells: Vec<_> = line.split(',').map(str::trim).collect();
        let cell = |column: usize| cells.get(column).and_then(|cell| cell.parse::<f64>().ok());
        let Some(time_s) = cell(self.time) else {
            return Err(format!("whose line {number} is {line:?}; allowed: numbers"));
        };
        let step = if cells.get(self.rate).is_some_and(|cell| cell.is_empty()) {
            match (self.gaps, before) {
                (Some(Gaps::Hold), Some(before)) => before,
                (Some(Gaps::Outage), _) => {
                    Step { mbps: 0.0, ..before.unwrap_or(Step::new(0.0, 0.0)) }
                }
                (Some(Gaps::Hold), None) => {
                    return Err(format!(
                        "whose line {number} has no rate to hold; allowed: a rate"
                    ));
                }
                (None, _) => {
                    return Err(format!(
                        "whose line {number} has a time without a rate; allowed: a rate, or gaps = \"hold\" or \
                         gaps = \"outage\" beside file"
                    ));
                }
            }
        } else {
            let delay = self.delay.map_or(Some(0.0), cell);
            let (Some(mbps), Some(delay_ms)) = (cell(self.rate), delay) else {
                return Err(format!("whose line {number} is {line:?}; allowed: numbers"));
            };
            Step { for_s: 0.0, mbps, delay_ms }
        };
        let in_range = (0.0..=MOST).contains(&step.mbps)
            && time_s >= 0.0
            && (0.0..=MOST_DELAY_MS).contains(&step.delay_ms);
        match in_range {
            true => Ok((time_s, step)),
            false => Err(format!(
                "whose line {number} is {line:?}; allowed: times from 0, rates from 0 to 1000000, delays to 100000"
            )),
        }
    }
}

fn of_csv<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    columns: Columns,
) -> Result<Vec<Step>, String> {
    let (mut steps, mut times): (Vec<Step>, Vec<f64>) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let (time_s, step) = columns.read((number, line), steps.last().copied())?;
        let follows = times.last().is_none_or(|before_s| time_s >= before_s + LEAST_S);
        if !follows || time_s - times.first().unwrap_or(&time_s) > MOST {
            return Err(format!(
                "whose line {number} has the time {time_s}; allowed: times that ascend by 1 µs or more, to 1000000 s after \
                 the first"
            ));
        }
        times.push(time_s);
        steps.push(step);
    }
    let [.., before_s, last_s] = times[..] else {
        return Err("which has fewer than two rates; allowed: two or more".to_owned());
    };
    times.push(2.0 * last_s - before_s);
    for (step, ends) in steps.iter_mut().zip(times.windows(2)) {
        step.for_s = ends[1] - ends[0];
    }
    Ok(steps)
}

fn two_numbers(line: &str) -> Option<(f64, f64)> {
    let mut cells =
        line.split(|c: char| c.is_whitespace() || c == ',').filter(|cell| !cell.is_empty());
    let mut number = || cells.next()?.parse::<f64>().ok().filter(|value| *value >= 0.0);
    let two = (number()?, number()?);
    (cells.next().is_none() && two.1 <= MOST).then_some(two)
}

/// A rate holds until the time of its line (`hongzimao/pensieve`, `sim/env.py`), that of the first line from 0 on. Where that
/// is the time of a clock, the trace begins at it.
fn of_pensieve<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Vec<Step>, String> {
    let (mut steps, mut times): (Vec<Step>, Vec<f64>) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let found = two_numbers(line).filter(|(time_s, _)| {
            let first_s = times.first().copied().unwrap_or(*time_s);
            let follows = times.last().is_none_or(|before_s| *time_s >= before_s + LEAST_S);
            follows && time_s - first_s <= MOST
        });
        let Some((time_s, mbps)) = found else {
            return Err(format!(
                "whose line {number} is {line:?}; allowed: two numbers, times in s that ascend and rates to 1000000"
            ));
        };
        let from_s = times.last().copied().unwrap_or(if time_s > MOST { time_s } else { 0.0 });
        if !times.is_empty() || time_s - from_s >= LEAST_S {
            steps.push(Step::new(time_s - from_s, mbps));
        }
        times.push(time_s);
    }
    match times.len() {
        0 | 1 => Err("which has fewer than two lines; allowed: two or more".to_owned()),
        _ => Ok(steps),
    }
}

/// Chances to send 1500 bytes within a millisecond are a rate in it.
fn of_mahimahi<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Vec<Step>, String> {
    const MBPS: f64 = 1500.0 * 8.0 / 1e3;
    let mut steps: Vec<Step> = Vec::new();
    let mut add_ms = |count: usize, chances: u32| {
        let mbps = f64::from(chances) * MBPS;
        for _ in 0..count {
            match steps.last_mut() {
                Some(last) if last.mbps == mbps => last.for_s += 1e-3,
                _ => steps.push(Step::new(1e-3, mbps)),
            }
        }
    };
    let (mut place, mut chances) = (0, 0);
    for (number, line) in lines {
        let ms = line.parse::<usize>().ok().filter(|ms| *ms <= MOST_MS);
        // The chance at a time is of the millisecond before it, and time 0 is of the first one.
        let Some(next) = ms.map(|ms| ms.saturating_sub(1)).filter(|next| *next >= place) else {
            return Err(format!(
                "whose line {number} is {line:?}; allowed: whole milliseconds since the trace began, to {MOST_MS}, that do \
                 not descend"
            ));
        };
        if next > place {
            add_ms(1, chances);
            add_ms(next - place - 1, 0);
            (place, chances) = (next, 0);
        }
        chances += 1;
    }
    add_ms(1, chances);
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(all: &[(f64, f64)]) -> Trace {
        let step = |(for_s, mbps): &(f64, f64)| Step::new(*for_s, *mbps);
        Trace { steps: all.iter().map(step).collect(), ..Trace::default() }
    }

    #[test]
    fn a_transmission_lasts_until_its_bytes_have_passed() {
        // 8 Mbps are 1000 bytes in a ms, 4 Mbps 500; a cycle of 3 ms with a pause in the middle.
        let mut capacity = Capacity::from(&steps(&[(1e-3, 8.0), (1e-3, 0.0), (1e-3, 4.0)]));
        for (start_us, bytes, end_us) in [
            (0, 500, 500),
            (500, 500, 1000),
            (600, 400, 1000),
            (700, 500, 2400), // 300 bytes, a pause, 200 bytes
            (2400, 300, 3000),
            (4500, 1, 5002),          // begins in a pause
            (6000, 150_000, 306_000), // 1500 bytes in a cycle
        ] {
            assert_eq!(
                capacity.done_at(Time::from_us(start_us), bytes),
                Time::from_us(end_us),
                "{start_us}"
            );
        }
        assert_eq!(steps(&[(1.0, 8.0), (1.0, 0.0), (2.0, 4.0)]).mean_mbps(), Some(4.0));
    }

    #[test]
    fn files_of_rates() {
        let of = |text: &str| {
            let steps = parse(text, None)?;
            Ok::<_, String>(steps.iter().map(|s| (s.for_s, s.mbps)).collect::<Vec<_>>())
        };
        let csv = "time_s,mbps\n0,10\n1.5,0\n\n2,4\n";
        assert_eq!(of(csv), Ok(vec![(1.5, 10.0), (0.5, 0.0), (0.5, 4.0)]));
        assert_eq!(of("x,mbps,time_s\r\na,1,0\r\nb,2,3"), Ok(vec![(3.0, 1.0), (3.0, 2.0)]));
        // Two chances in the first ms, none in the second, one in the third: 24, 0, 12 Mbps.
        assert_eq!(of("1\n1\n3\n"), Ok(vec![(1e-3, 24.0), (1e-3, 0.0), (1e-3, 12.0)]));
        assert_eq!(of("0\n1\n"), Ok(vec![(1e-3, 24.0)]));
        assert_eq!(of("4\n"), Ok(vec![(1e-3 + 1e-3 + 1e-3, 0.0), (1e-3, 12.0)]));
        // A pause of a day takes no more memory than one of a millisecond.
        assert_eq!(parse("99999999\n", None).unwrap().capacity(), 4);
        // Pensieve: the rate of a line holds until its time, in its own files, which begin at 0, that of the first for no time.
        assert_eq!(of("0.5 9\n1.5\t4\n3.5, 2"), Ok(vec![(0.5, 9.0), (1.0, 4.0), (2.0, 2.0)]));
        assert_eq!(of("0.0 9\n1.5\t4\n3.5, 2"), Ok(vec![(1.5, 4.0), (2.0, 2.0)]));
        // The time of a clock: the trace begins at the first line.
        let clock = "1764500000 9\n1764500001.5 4\n1764500003.5 2\n";
        assert_eq!(of(clock), Ok(vec![(1.5, 4.0), (2.0, 2.0)]));
        let clock = "time_s,mbps\n1764500000,10\n1764500001.5,0\n1764500002,4\n";
        assert_eq!(of(clock), Ok(vec![(1.5, 10.0), (0.5, 0.0), (0.5, 4.0)]));
        assert_eq!(of("time_s,mbps\n7,1\n8,2"), Ok(vec![(1.0, 1.0), (1.0, 2.0)]));
        // Editors begin text with a byte-order mark.
        for text in [csv, "1\n1\n3\n", "0 9\n1 4"] {
            assert_eq!(of(&format!("\u{feff}{text}")), of(text));
        }
        for (text, found) in [
            ("0.5 9", "which has fewer than two lines"),
            ("0.5 9\n0.5 8", "whose line 2 is \"0.5 8\""),
            ("0.5 9\n1 8 7", "whose line 2 is \"1 8 7\""),
            ("time_s,mbps\n0,\n1,2", "a time without a rate; allowed: a rate, or gaps = \"hold\""),
            ("time_s,mbps,delay_ms\n0,1,-1\n1,2,3", "delays to 100000"),
            ("time_s,mbps,delay_ms\n0,1,\n1,2,3", "whose line 2 is \"0,1,\""),
            ("", "which is empty"),
            ("a,b\n1,2", "whose first line is \"a,b\""),
            ("time_s,mbps\n0,x", "whose line 2 is \"0,x\""),
            ("time_s,mbps\n0,1\n0,2", "whose line 3 has the time 0"),
            ("time_s,mbps\n5,1\n1000006,2", "has the time 1000006; allowed: times that ascend"),
            ("5 1\n1000006 2", "whose line 2 is \"1000006 2\""),
            ("1764500000123\n1764500000124", "since the trace began, to 100000000"),
            ("time_s,mbps\n0,-1\n1,2", "allowed: times from 0, rates from 0"),
            ("time_s,mbps\n0,nan\n1,2", "allowed: times from 0, rates from 0"),
            ("time_s,mbps\nnan,1\n1,2", "allowed: times from 0, rates from 0"),
            ("time_s,mbps\n0,1\ninf,2", "has the time inf"),
            ("time_s,mbps\n0,1", "which has fewer than two rates"),
            ("5\n4\n", "whose line 2 is \"4\""),
            ("5\nx\n", "whose line 2 is \"x\""),
        ] {
            let reported = of(text).expect_err(text);
            assert!(reported.contains(found) && reported.contains("allowed: "), "{reported}");
        }
    }

    #[test]
    fn gaps_are_what_the_file_means() {
        let text = "time_s,mbps,delay_ms\n0,10,5\n1,,\n3,4,0\n4,,\n";
        let of = |gaps| {
            let steps = parse(text, Some(gaps)).unwrap();
            steps.iter().map(|s| (s.for_s, s.mbps, s.delay_ms)).collect::<Vec<_>>()
        };
        let held = [(1.0, 10.0, 5.0), (2.0, 10.0, 5.0), (1.0, 4.0, 0.0), (1.0, 4.0, 0.0)];
        assert_eq!(of(Gaps::Hold), held);
        let out = [(1.0, 10.0, 5.0), (2.0, 0.0, 5.0), (1.0, 4.0, 0.0), (1.0, 0.0, 0.0)];
        assert_eq!(of(Gaps::Outage), out);
    }
}
