//! Rates of single transfers as those of a direction, and when it was loaded.

use crate::log::{Rate, Way, joined, median};

const BIN_MS: f64 = 500.0;
const MOST_BINS: f64 = 100_000.0;
/// A test starts far fewer.
const MOST_TRANSFERS: usize = 1024;
/// A direction is loaded where it has this part of what it has in its fastest tenth.
const LOADED: f64 = 0.5;
/// Acknowledgements are less of the other direction's rate.
const ACKNOWLEDGEMENTS: f64 = 0.05;

/// The time before the first rate that it counts: the usual distance of two.
fn usual_step(rates: &[Rate]) -> f64 {
    let steps = rates.windows(2).map(|two| two[1].at_ms - two[0].at_ms);
    median(steps.filter(|step| *step > 0.0)).unwrap_or(BIN_MS)
}

/// The rate of all transfers together, in bins; it is loaded from the first to the last of each.
pub(crate) fn together(mut transfers: Vec<Vec<Rate>>) -> Way {
    for rates in &mut transfers {
        rates.sort_by(|one, other| one.at_ms.total_cmp(&other.at_ms));
    }
    transfers.retain(|rates| !rates.is_empty());
    transfers.truncate(MOST_TRANSFERS);
    let starts: Vec<f64> =
        transfers.iter().map(|rates| rates[0].at_ms - usual_step(rates)).collect();
    let end = |rates: &Vec<Rate>| rates[rates.len() - 1].at_ms;
    let loaded_ms =
        joined(starts.iter().copied().zip(transfers.iter().map(end)).collect::<Vec<_>>());
    let first = starts.iter().copied().fold(f64::INFINITY, f64::min);
    let last = transfers.iter().map(end).fold(f64::NEG_INFINITY, f64::max);
    if transfers.is_empty() {
        return Way::default();
    }
    let width = BIN_MS.max((last - first) / MOST_BINS);
    let place = |at: f64| ((at - first) / width).max(0.0) as usize;
    let mut bins = vec![0.0; place(last) + 1];
    for (rates, start) in transfers.iter().zip(starts) {
        let mut from = start;
        for rate in rates {
            for (bin, sum) in
                bins.iter_mut().enumerate().take(place(rate.at_ms) + 1).skip(place(from))
            {
                let low = from.max(first + bin as f64 * width);
                let high = rate.at_ms.min(first + (bin + 1) as f64 * width);
                *sum += rate.mbps * (high - low).max(0.0) / width;
            }
            from = rate.at_ms;
        }
    }
    // The last bin may be cut.
    let whole = ((last - first) / width).round().max(1.0) as usize;
    let rates = bins.iter().take(whole).enumerate();
    let rates =
        rates.map(|(bin, mbps)| Rate { at_ms: first + (bin + 1) as f64 * width, mbps: *mbps });
    Way { rates: rates.collect(), loaded_ms, ..Way::default() }
}

/// When rates of both directions, given at the same times, show a load.
pub(crate) fn loaded(own: &[Rate], other: &[Rate]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> = own.iter().map(|rate| rate.mbps).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(high) = sorted.get(sorted.len() * 9 / 10).filter(|high| **high > 0.0) else {
        return Vec::new();
    };
    let step = usual_step(own);
    let spans = own.iter().enumerate().filter(|(at, rate)| {
        let back = other.get(*at).map_or(0.0, |rate| rate.mbps);
        rate.mbps >= LOADED * high && rate.mbps > ACKNOWLEDGEMENTS * back
    });
    joined(spans.map(|(_, rate)| (rate.at_ms - step, rate.at_ms)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(values: &[(f64, f64)]) -> Vec<Rate> {
        values.iter().map(|(at_ms, mbps)| Rate { at_ms: *at_ms, mbps: *mbps }).collect()
    }

    /// Two transfers of 4 and 6 Mbps, of which the second runs half as long: 10, then 4 Mbps.
    #[test]
    fn rates_of_transfers_add_up() {
        let long = rates(&[(1_000.0, 4.0), (2_000.0, 4.0)]);
        let short = rates(&[(500.0, 6.0), (1_000.0, 6.0)]);
        let way = together(vec![long, short, Vec::new()]);
        let expected = [(500.0, 10.0), (1_000.0, 10.0), (1_500.0, 4.0), (2_000.0, 4.0)];
        assert_eq!(way.rates, rates(&expected));
        assert_eq!(way.loaded_ms, [(0.0, 2_000.0)]);
    }

    /// 100 Mbps down need 3 Mbps of acknowledgements, which are no upload; 20 Mbps up are one.
    #[test]
    fn acknowledgements_are_no_upload() {
        let at = |s: usize| 1_000.0 * (s + 1) as f64;
        let down: Vec<_> = (0..30).map(|s| (at(s), if s < 15 { 100.0 } else { 1.0 })).collect();
        let up: Vec<_> = (0..30).map(|s| (at(s), if s < 20 { 3.0 } else { 20.0 })).collect();
        let (down, up) = (rates(&down), rates(&up));
        assert_eq!(loaded(&down, &up), [(0.0, 15_000.0)]);
        assert_eq!(loaded(&up, &down), [(20_000.0, 30_000.0)]);
        assert_eq!(loaded(&rates(&[(0.0, 0.0)]), &down), []);
    }
}
