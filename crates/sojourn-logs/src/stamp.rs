//! Times before the lines of a log: of ping and fping themselves (`-D`), `ts`, `date`, and the like.

use crate::numeral::number;

const DAY_MS: f64 = 86_400_000.0;
/// Smaller numbers at the beginning of a line are no times since 1970 in s.
const FIRST_EPOCH_S: f64 = 1e8;
/// Larger ones are ms.
const LAST_EPOCH_S: f64 = 1e11;
/// A date and its time have no more words: `Sat 29 Nov 2026 03:00:01 PM`.
const MOST_WORDS: usize = 6;
const LONGEST_WORD: usize = 12;

/// When a reply came, in ms.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Came {
    At(f64),
    TimeOfDay(f64),
}

/// The time at the beginning of a line, and the rest of it. Behind the time of another program, that of `-D` counts.
pub(crate) fn stamp(line: &str) -> (Option<Came>, &str) {
    let found = in_brackets(line).or_else(|| since_1970(line)).or_else(|| date_and_time(line));
    let found = found.map(|(came, rest)| in_brackets(rest.trim_start()).unwrap_or((came, rest)));
    found.map_or((None, line), |(came, rest)| (Some(came), rest))
}

/// `[1700000000.5] `, as `-D` prints it.
fn in_brackets(line: &str) -> Option<(Came, &str)> {
    let (text, rest) = line.strip_prefix('[')?.split_once("] ")?;
    Some((Came::At(number(text.trim())? * 1e3), rest))
}

/// `1700000000.5 `, as `ts %.s` and `date +%s` print it.
fn since_1970(line: &str) -> Option<(Came, &str)> {
    let (text, rest) = line.split_once(char::is_whitespace)?;
    let value = number(text.trim_end_matches([':', ',', ';', '|']))?;
    let ms = if value < LAST_EPOCH_S { value * 1e3 } else { value };
    (value >= FIRST_EPOCH_S).then_some((Came::At(ms), rest))
}

/// `Nov 29 15:00:01 `, `2026-11-29T15:00:01.5+01:00 ` or `15:00:01 `. Of dates in other forms the time alone counts.
fn date_and_time(line: &str) -> Option<(Came, &str)> {
    let mut date = None;
    let mut rest = line;
    for _ in 0..MOST_WORDS {
        rest = rest.trim_start_matches([' ', '\t', '[', '(', '"']);
        let end = rest.find([' ', '\t', ']', ')', '"']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let (day, time) = match word.split_once('T') {
            Some((day, time)) if days(day).is_some() => (days(day), time),
            _ => (date, word),
        };
        if let Some((ms, zone)) = time_of_day(time.trim_end_matches([':', ',', ';', '|'])) {
            let after = after.get(1..).unwrap_or_default();
            let is_evening = after.starts_with("PM") && ms < DAY_MS / 2.0;
            let ms = if is_evening { ms + DAY_MS / 2.0 } else { ms };
            let at = |days: f64| Came::At(days * DAY_MS + ms - zone);
            return Some((day.map_or(Came::TimeOfDay(ms), at), after));
        }
        if word.len() > LONGEST_WORD || word.contains('=') {
            return None;
        }
        (date, rest) = (days(word), after);
    }
    None
}

/// `2026-11-29` or `2026/11/29`, in days since 1970.
fn days(text: &str) -> Option<f64> {
    let mut parts = text.split(['-', '/']).map(|part| part.parse::<i64>().ok());
    let mut next = || parts.next().flatten();
    let (year, month, day) = (next()?, next()?, next()?);
    let is_date =
        (1970..2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    // Years that begin in March have their leap day at the end.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = years / 4 - years / 100 + years / 400;
    is_date.then(|| (365 * years + leap_days + (153 * months + 2) / 5 + day - 719_469) as f64)
}

/// `15:00:01.5`, maybe with a zone such as `Z` or `+01:00`: ms since midnight there, and how far that is ahead of UTC.
fn time_of_day(text: &str) -> Option<(f64, f64)> {
    let end = text.find(['Z', '+', '-']).unwrap_or(text.len());
    let (text, zone) = text.split_at(end);
    let mut parts = text.splitn(3, ':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let is_time = hours.len() <= 2 && minutes.len() == 2 && seconds.len() >= 2;
    let ms = (number(hours)? * 3600.0 + number(minutes)? * 60.0 + number(seconds)?) * 1e3;
    (is_time && ms <= DAY_MS + 1e3).then(|| (ms, zone_ms(zone)))
}

fn zone_ms(zone: &str) -> f64 {
    let sign = if zone.starts_with('-') { -1.0 } else { 1.0 };
    let digits: String = zone.chars().filter(char::is_ascii_digit).take(4).collect();
    let value: f64 = format!("{digits:0<4}").parse().unwrap_or(0.0);
    sign * ((value / 100.0).floor() * 60.0 + value % 100.0) * 60_000.0
}

/// All of a cell as a time: `2026-11-29 15:00:01.5`.
pub(crate) fn whole(text: &str) -> Option<Came> {
    date_and_time(text).filter(|(_, rest)| rest.is_empty()).map(|(came, _)| came)
}

/// Times in ms, of which those of a day go on after midnight.
#[derive(Default)]
pub(crate) struct Timeline {
    day_ms: f64,
    last_ms: Option<f64>,
}

impl Timeline {
    pub(crate) fn ms(&mut self, came: Came) -> f64 {
        match came {
            Came::At(ms) => ms,
            Came::TimeOfDay(ms) => {
                if self.last_ms.is_some_and(|last| ms + self.day_ms < last - DAY_MS / 2.0) {
                    self.day_ms += DAY_MS;
                }
                *self.last_ms.insert(ms + self.day_ms)
            }
        }
    }
}

/// A second.
pub(crate) const COARSE_MS: f64 = 1e3;

/// Spreads times of whole seconds, where several have the same one, over it. Were they such?
pub(crate) fn spread(times_ms: &mut [f64]) -> bool {
    let are_whole = times_ms.iter().all(|ms| ms % COARSE_MS == 0.0);
    if !are_whole || times_ms.windows(2).all(|two| two[0] != two[1]) {
        return false;
    }
    for same in times_ms.chunk_by_mut(|one, other| one == other) {
        let step = COARSE_MS / same.len() as f64;
        same.iter_mut().enumerate().for_each(|(place, ms)| *ms += place as f64 * step);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 29 November 2026 began 1 795 910 400 s after 1970.
    const MIDNIGHT_MS: f64 = 1_795_910_400_000.0;
    const AT_MS: f64 = 15.0 * 3_600_000.0 + 1_000.0;

    #[test]
    fn times_before_lines_have_many_forms() {
        let at = |ms| Some(Came::At(ms));
        for (text, came) in [
            ("[1795964401.5]", at(MIDNIGHT_MS + AT_MS + 500.0)),
            ("1795964401.5", at(MIDNIGHT_MS + AT_MS + 500.0)),
            ("1795964401500:", at(MIDNIGHT_MS + AT_MS + 500.0)),
            ("2026-11-29T15:00:01Z", at(MIDNIGHT_MS + AT_MS)),
            ("2026-11-29T16:00:01.250+01:00", at(MIDNIGHT_MS + AT_MS + 250.0)),
            ("2026-11-29 13:00:01,5-0200:", at(MIDNIGHT_MS + AT_MS + 500.0)),
            ("[2026/11/29 15:00:01]", at(MIDNIGHT_MS + AT_MS)),
            ("Nov 29 15:00:01", Some(Came::TimeOfDay(AT_MS))),
            ("Sun Nov 29 15:00:01", Some(Came::TimeOfDay(AT_MS))),
            ("15:00:01.5", Some(Came::TimeOfDay(AT_MS + 500.0))),
            ("11/29/2026 3:00:01 PM", Some(Came::TimeOfDay(AT_MS))),
            ("29.11.2026 15:00:01 -", Some(Came::TimeOfDay(AT_MS))),
            ("", None),
        ] {
            let line = format!("{text} 64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=12.5 ms");
            assert_eq!(stamp(&line).0, came, "{text}");
        }
        assert_eq!(stamp("64 bytes from 2001:db8::1: icmp_seq=1 time=12.5 ms").0, None);
        assert_eq!(whole("2026-11-29 15:00:01"), at(MIDNIGHT_MS + AT_MS));
    }

    #[test]
    fn times_of_one_second_are_spread_over_it() {
        let mut times = [1e3, 1e3, 2e3, 2e3, 2e3, 2e3];
        assert!(spread(&mut times));
        assert_eq!(times, [1000.0, 1500.0, 2000.0, 2250.0, 2500.0, 2750.0]);
        assert!(!spread(&mut [1e3, 2e3]) && !spread(&mut [1.0, 1.0]));
    }
}
