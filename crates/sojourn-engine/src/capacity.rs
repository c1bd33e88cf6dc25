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
    /// File with the rates: CSV with the columns `time_s` and `mbps`, where a rate holds from its time to
    /// the next and the last as long as the one before, or a trace of mahimahi, which has the
    /// millisecond of each chance to send 1500 bytes. The path is relative to the scenario file, or to
    /// the working directory if the scenario does not come from a file. The resolved scenario has the
    /// absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
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
                varying.steps[varying.at].1.unwrap_or(BitRate::from_bps(0))
            }
        }
    }
}

impl From<&Trace> for Capacity {
    fn from(trace: &Trace) -> Self {
        let steps = trace.all().iter().map(|step| {
            let rate = (step.mbps > 0.0).then(|| BitRate::from_mbps(step.mbps));
            (Time::from_secs_f64(step.for_s).max(Time::from_ps(1)), rate)
        });
        let steps: Vec<_> = steps.collect();
        let ends = steps.first().map_or(Time::NEVER, |(length, _)| *length);
        Self::Varying(Box::new(Varying { steps, at: 0, ends }))
    }
}

/// Rates that follow each other, and the one that was looked at last.
pub struct Varying {
    /// Durations with their rates; `None` where nothing can be sent.
    steps: Vec<(Time, Option<BitRate>)>,
    at: usize,
    /// When the present step ends.
    ends: Time,
}

impl Varying {
    fn go_to(&mut self, now: Time) {
        while self.ends <= now {
            self.at = (self.at + 1) % self.steps.len();
            self.ends += self.steps[self.at].0;
        }
    }

    fn done_at(&mut self, start: Time, bytes: u64) -> Time {
        let (mut now, mut left) = (start, bytes as f64);
        loop {
            self.go_to(now);
            if let Some(rate) = self.steps[self.at].1 {
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

/// Rates as a file has them: CSV, or a trace of mahimahi.
///
/// # Errors What is wrong, with its line; it continues a sentence that begins with the file's name.
pub fn parse(text: &str) -> Result<Vec<Step>, String> {
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
    lines.next();
    let names: Vec<_> = first.split(',').map(str::trim).collect();
    let column = |name: &str| names.iter().position(|known| *known == name);
    let (Some(time), Some(rate)) = (column("time_s"), column("mbps")) else {
        return Err(format!("whose first line is {first:?}; {ALLOWED}"));
    };
    of_csv(lines, time, rate)
}

/// The files that are read.
pub const ALLOWED: &str = "allowed: CSV with the columns time_s and mbps, or a trace of mahimahi: whole \
                       milliseconds, one in a line";
/// More lines than these are no trace of a line.
const MOST_LINES: usize = 10_000_000;
/// A day, and a little more.
const MOST_MS: usize = 100_000_000;

fn of_csv<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    time: usize,
    rate: usize,
) -> Result<Vec<Step>, String> {
    let mut rows: Vec<(f64, f64)> = Vec::new();
    for (number, line) in lines {
        let cells: Vec<_> = line.split(',').map(str::trim).collect();
        let cell = |column: usize| cells.get(column).and_then(|cell| cell.parse::<f64>().ok());
        let (Some(time_s), Some(mbps)) = (cell(time), cell(rate)) else {
            return Err(format!("whose line {number} is {line:?}; allowed: two numbers"));
        };
        if !(0.0..=1e6).contains(&mbps) || !(0.0..=1e6).contains(&time_s) {
            return Err(format!(
                "whose line {number} is {line:?}; allowed: times and rates from 0 to 1000000"
            ));
        }
        let earliest_s = rows.last().map_or(0.0, |(before_s, _)| before_s + 1e-6);
        if rows.is_empty() && time_s != 0.0 || time_s < earliest_s {
            let allowed = if rows.is_empty() { "0" } else { "times that ascend by 1 µs or more" };
            return Err(format!("whose line {number} has the time {time_s}; allowed: {allowed}"));
        }
        rows.push((time_s, mbps));
    }
    if rows.len() < 2 {
        return Err("which has fewer than two rates; allowed: two or more".to_owned());
    }
    let ends = rows.iter().skip(1).map(|(time_s, _)| *time_s);
    let last = rows.len() - 1;
    let end_s = 2.0 * rows[last].0 - rows[last - 1].0;
    let steps = rows.iter().zip(ends.chain([end_s]));
    Ok(steps.map(|((from_s, mbps), to_s)| Step { for_s: to_s - from_s, mbps: *mbps }).collect())
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
                _ => steps.push(Step { for_s: 1e-3, mbps }),
            }
        }
    };
    let (mut place, mut chances) = (0, 0);
    for (number, line) in lines {
        let ms = line.parse::<usize>().ok().filter(|ms| *ms <= MOST_MS);
        // The chance at a time is of the millisecond before it, and time 0 is of the first one.
        let Some(next) = ms.map(|ms| ms.saturating_sub(1)).filter(|next| *next >= place) else {
            return Err(format!(
                "whose line {number} is {line:?}; allowed: whole milliseconds that do not descend"
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
        let step = |(for_s, mbps): &(f64, f64)| Step { for_s: *for_s, mbps: *mbps };
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
            let steps = parse(text)?;
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
        assert_eq!(parse("99999999\n").unwrap().capacity(), 4);
        for (text, found) in [
            ("", "which is empty"),
            ("a,b\n1,2", "whose first line is \"a,b\""),
            ("time_s,mbps\n0,x", "whose line 2 is \"0,x\""),
            ("time_s,mbps\n0,1\n0,2", "whose line 3 has the time 0"),
            ("time_s,mbps\n1,1\n2,2", "whose line 2 has the time 1; allowed: 0"),
            ("time_s,mbps\n0,-1\n1,2", "allowed: times and rates from 0"),
            ("time_s,mbps\n0,nan\n1,2", "allowed: times and rates from 0"),
            ("time_s,mbps\n0,1", "which has fewer than two rates"),
            ("5\n4\n", "whose line 2 is \"4\""),
            ("5\nx\n", "whose line 2 is \"x\""),
        ] {
            let reported = of(text).expect_err(text);
            assert!(reported.contains(found) && reported.contains("allowed: "), "{reported}");
        }
    }
}
