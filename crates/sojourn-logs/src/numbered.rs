//! Numbered probes: those whose number is missing were lost.

use std::collections::BTreeMap;

use crate::log::{Probe, median};

/// A larger step of the number is a new start.
const MOST_LOST: i64 = 5_000;
/// A log has fewer lost probes; numbers of others are no numbers of probes.
const MOST_LOST_IN_ALL: usize = 1_000_000;
/// Beyond it nothing is a number of a probe.
const LARGEST: f64 = 1e12;
/// Numbers of ICMP have 16 bits.
const AROUND: i64 = 1 << 16;

/// Probes in the order of their numbers, with lost ones where numbers are missing: between those of their neighbours, after
/// the last answer up to numbers that the log calls lost, or up to as many as were `sent`. A second answer to a probe is
/// left out. Probes without numbers stay as they are, where no other has one.
pub(crate) fn with_lost(answers: Vec<(Option<f64>, Probe)>, sent: Option<f64>) -> Vec<Probe> {
    if !answers.iter().any(|(number, _)| is_number(*number)) {
        return answers.into_iter().map(|(_, probe)| probe).collect();
    }
    let mut by_number: BTreeMap<i64, Probe> = BTreeMap::new();
    let mut ends: Option<(i64, i64)> = None;
    let mut rounds = 0;
    let mut last = None;
    for (number, probe) in answers {
        let Some(number) = number.filter(|_| is_number(number)) else { continue };
        let mut number = number as i64 + rounds * AROUND;
        if last.is_some_and(|last: i64| number < last - AROUND / 2) {
            rounds += 1;
            number += AROUND;
        }
        last = Some(number);
        let (low, high) = ends.unwrap_or((number, number));
        ends = Some((low.min(number), high.max(number)));
        if !probe.is_lost() {
            by_number.entry(number).or_insert(probe);
        }
    }
    let (low, high) = ends.expect("one has a number");
    if by_number.len() > 1 {
        let high = sent.map_or(high, |sent| high.max(low.min(1) + (sent as i64).saturating_sub(1)));
        let known: Vec<(i64, f64)> =
            by_number.iter().map(|(number, probe)| (*number, probe.sent_ms)).collect();
        by_number.extend(missing(&known, low, high));
    }
    by_number.into_values().collect()
}

fn is_number(number: Option<f64>) -> bool {
    number.is_some_and(|number| number.abs() < LARGEST)
}

/// Probes of the numbers between those that are known, and up to these ends, a usual interval after each other.
fn missing(known: &[(i64, f64)], low: i64, high: i64) -> Vec<(i64, Probe)> {
    let steps = known.windows(2).map(|two| (two[1].1 - two[0].1) / (two[1].0 - two[0].0) as f64);
    let usual_ms = median(steps).expect("there are two").max(0.0);
    let (first, last) = (known[0], known[known.len() - 1]);
    let at = |(number, ms): (i64, f64), other: i64| ms + (other - number) as f64 * usual_ms;
    let before = (first.0 - low <= MOST_LOST).then_some(low..first.0).into_iter().flatten();
    let after = (high - last.0 <= MOST_LOST).then_some(last.0 + 1..=high).into_iter().flatten();
    let between = known.windows(2).filter(|two| two[1].0 - two[0].0 <= MOST_LOST).flat_map(|two| {
        let ((low, from), (high, to)) = (two[0], two[1]);
        // Where the clock jumps, or the home slept, lost probes follow the one before them.
        let step = ((to - from) / (high - low) as f64).clamp(0.0, 2.0 * usual_ms);
        (low + 1..high).map(move |number| (number, from + (number - low) as f64 * step))
    });
    let numbered = |known| move |number| (number, at(known, number));
    let times = before.map(numbered(first)).chain(between).chain(after.map(numbered(last)));
    times.take(MOST_LOST_IN_ALL).map(|(number, ms)| (number, Probe::lost(ms))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(numbers: &[i64]) -> Vec<(Option<f64>, Probe)> {
        let answer = |n: &i64| (Some((n % AROUND) as f64), Probe::answered(100.0 * *n as f64, 9.0));
        numbers.iter().map(answer).collect()
    }

    fn sent(numbers: &[i64]) -> Vec<Probe> {
        with_lost(answers(numbers), None)
    }

    #[test]
    fn missing_numbers_are_lost_probes() {
        let probes = sent(&[3, 4, 7, 8]);
        assert_eq!(probes.len(), 6);
        assert_eq!(probes[2], Probe::lost(500.0));
        assert_eq!(probes[3], Probe::lost(600.0));
    }

    #[test]
    fn numbers_go_around_and_start_again() {
        assert_eq!(sent(&[AROUND - 1, AROUND + 1]).iter().filter(|one| one.is_lost()).count(), 1);
        assert_eq!(sent(&[1, 2, 30_000]).len(), 3);
        assert_eq!(sent(&[1, 2, 2, 3]).len(), 3);
    }

    /// Probes 1 to 8, of which 1, 6, 7 and 8 were lost: the log says so of 1 and 6.
    #[test]
    fn lost_probes_may_be_the_first_and_the_last() {
        let mut all = answers(&[2, 3, 4, 5]);
        all.insert(0, (Some(1.0), Probe::lost(250.0)));
        all.push((Some(6.0), Probe::lost(550.0)));
        let times: Vec<f64> = with_lost(all, Some(8.0)).iter().map(|one| one.sent_ms).collect();
        assert_eq!(times, [100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 700.0, 800.0]);
    }

    /// A late answer counts though the log has called it lost before.
    #[test]
    fn an_answer_counts_more_than_its_lateness() {
        let mut all = answers(&[1, 2]);
        all.insert(1, (Some(2.0), Probe::lost(150.0)));
        assert!(with_lost(all, None).iter().all(|one| !one.is_lost()));
    }

    /// With an hour between the answers around it, a lost probe is not half an hour away.
    #[test]
    fn a_lost_probe_follows_the_one_before_it() {
        let mut all = answers(&[1, 2, 3, 5, 6]);
        all[3].1.sent_ms += 3.6e6;
        all[4].1.sent_ms += 3.6e6;
        assert_eq!(with_lost(all, None)[3], Probe::lost(500.0));
    }
}
