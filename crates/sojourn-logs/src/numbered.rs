//! Numbered probes: those whose number is missing were lost.

use std::collections::BTreeMap;

use crate::log::Probe;

/// A larger step of the number is a new start.
const MOST_LOST: i64 = 5_000;
/// Probes that overtake each other are closer, in ms.
const OVERTAKING_MS: f64 = 1_000.0;
/// Beyond it nothing is a number of a probe.
const LARGEST: f64 = 1e12;
/// Numbers of ICMP have 16 bits.
const AROUND: i64 = 1 << 16;

/// Answered probes, in the order of the file, and lost ones where numbers are missing between them: at times between
/// those of their neighbours. A second answer to a probe is left out.
pub(crate) fn with_lost(answers: Vec<(Option<f64>, Probe)>) -> Vec<Probe> {
    let mut probes: Vec<Probe> = Vec::with_capacity(answers.len());
    let mut by_number: BTreeMap<i64, f64> = BTreeMap::new();
    let mut rounds = 0;
    let mut last = None;
    for (number, probe) in answers {
        if let Some(number) = number.filter(|number| number.abs() < LARGEST) {
            let mut number = number as i64 + rounds * AROUND;
            if last.is_some_and(|last: i64| number < last - AROUND / 2) {
                rounds += 1;
                number += AROUND;
            }
            last = Some(number);
            if by_number.insert(number, probe.sent_ms).is_some() {
                continue;
            }
        }
        probes.push(probe);
    }
    if probes.windows(2).any(|two| two[1].sent_ms < two[0].sent_ms - OVERTAKING_MS) {
        return probes; // a clock was set, so there are no times between
    }
    let numbers: Vec<(i64, f64)> = by_number.into_iter().collect();
    let mut lost = Vec::new();
    for two in numbers.windows(2) {
        let ((low, from), (high, to)) = (two[0], two[1]);
        if high - low <= MOST_LOST {
            let part = |number: i64| (number - low) as f64 / (high - low) as f64;
            lost.extend((low + 1..high).map(|n| Probe::lost(from + part(n) * (to - from))));
        }
    }
    if !lost.is_empty() {
        probes.extend(lost);
        probes.sort_by(|one, other| one.sent_ms.total_cmp(&other.sent_ms));
    }
    probes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(numbers: &[i64]) -> Vec<Probe> {
        let answer = |n: &i64| (Some((n % AROUND) as f64), Probe::answered(100.0 * *n as f64, 9.0));
        with_lost(numbers.iter().map(answer).collect())
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
}
