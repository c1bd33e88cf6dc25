//! Round trips per minute: what a responsiveness test makes of the times of its probes (draft-ietf-ippm-responsiveness-09).

use std::collections::VecDeque;

use super::done::{Confidence, Mean, Responded};

/// Round trips in a minute that take so many ms.
fn per_minute(ms: f64) -> f64 {
    60_000.0 / ms
}

/// The times of probes that were answered, in ms.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// On connections of their own: the handshakes of TCP and of TLS, the request and its answer.
    pub foreign: [Vec<f64>; 3],
    /// On connections that load the line: the request and its answer.
    pub loaded: Vec<f64>,
}

/// Means of these times in ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Means {
    pub foreign: [f64; 3],
    pub loaded: f64,
}

impl Means {
    fn foreign_ms(&self) -> f64 {
        self.foreign.iter().sum::<f64>() / 3.0
    }

    /// §5.3.1: the mean of the rate on connections of their own and of that on loaded ones.
    pub(super) fn rpm(&self) -> f64 {
        (per_minute(self.foreign_ms()) + per_minute(self.loaded)) / 2.0
    }

    /// The rule of the drafts until 2024, and of goresponsiveness: the rate of the mean of both times.
    pub(super) fn rpm_of_mean(&self) -> f64 {
        per_minute((self.foreign_ms() + self.loaded) / 2.0)
    }
}

/// The mean of times without the longest ones: the share of them that is kept counts (TMP). `None` of none.
fn trimmed_mean<'a>(times: impl Iterator<Item = &'a f64>, kept: f64) -> Option<f64> {
    let mut times: Vec<f64> = times.copied().collect();
    times.sort_unstable_by(f64::total_cmp);
    let count = ((times.len() as f64 * kept).floor() as usize).max(1);
    let kept = times.get(..count)?;
    Some(kept.iter().sum::<f64>() / count as f64)
}

/// Rates of times on idle lines: of connections of their own alone.
pub(super) fn rpm_before_load(times: &Times, kept: f64) -> Option<f64> {
    let sum_ms: Option<f64> = times.foreign.iter().map(|of| trimmed_mean(of.iter(), kept)).sum();
    sum_ms.map(|ms| per_minute(ms / 3.0))
}

/// Values of the last intervals, of which a moving average has so many (MAD).
#[derive(Clone, Debug)]
pub(super) struct Window<T> {
    pub last: VecDeque<T>,
    most: usize,
}

impl<T> Window<T> {
    pub(super) fn of(most: usize) -> Self {
        Self { last: VecDeque::new(), most }
    }

    pub(super) fn push(&mut self, value: T) {
        if self.last.len() == self.most {
            self.last.pop_front();
        }
        self.last.push_back(value);
    }

    pub(super) fn is_full(&self) -> bool {
        self.last.len() == self.most
    }
}

impl Window<f64> {
    pub(super) fn mean(&self) -> f64 {
        self.last.iter().sum::<f64>() / self.last.len().max(1) as f64
    }

    /// Is the standard deviation of all of them less than this share of the newest (SDT)?
    pub(super) fn is_stable(&self, tolerance: f64) -> bool {
        let mean = self.mean();
        let squares: f64 = self.last.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / self.last.len().max(1) as f64).sqrt();
        self.is_full() && self.last.back().is_some_and(|newest| deviation < tolerance * newest)
    }
}

/// What is known after each interval.
#[derive(Clone, Debug)]
pub(super) struct Tracked {
    tolerance: f64,
    kept: f64,
    /// Probes that were answered in each of the last intervals.
    pub times: Window<Times>,
    /// Mbps of each of these, up and down, and their moving averages.
    mbps: [Window<f64>; 2],
    averages: [Window<f64>; 2],
    rpm: Window<f64>,
    /// Intervals with probes.
    probed: usize,
    has_goodput: bool,
    is_stable: bool,
}

impl Tracked {
    pub(super) fn new(intervals: usize, tolerance: f64, kept: f64) -> Self {
        let values = || Window::of(intervals);
        Self {
            tolerance,
            kept,
            times: Window::of(intervals),
            mbps: [values(), values()],
            averages: [values(), values()],
            rpm: values(),
            probed: 0,
            has_goodput: false,
            is_stable: false,
        }
    }

    /// The mean goodput of a direction over the last intervals.
    pub(super) fn goodput_mbps(&self, way: usize) -> f64 {
        self.mbps[way].mean()
    }

    /// An interval is over in which the load had so many Mbps in the directions that have one. Says whether the test is over:
    /// first goodput must be stable, then responsiveness.
    pub(super) fn interval(&mut self, mbps: [Option<f64>; 2], times: Times) -> bool {
        self.probed += usize::from(!times.loaded.is_empty());
        self.times.push(times);
        let ways = [0, 1].into_iter().filter(|way| mbps[*way].is_some());
        for (way, mbps) in (0..2).zip(mbps).filter_map(|(way, mbps)| Some((way, mbps?))) {
            self.mbps[way].push(mbps);
            let average = self.mbps[way].mean();
            self.averages[way].push(average);
        }
        if self.has_goodput {
            if let Some(means) = self.means(None) {
                self.rpm.push(means.rpm());
            }
            self.is_stable = self.rpm.is_stable(self.tolerance);
        } else {
            self.has_goodput =
                ways.into_iter().all(|way| self.averages[way].is_stable(self.tolerance));
        }
        self.is_stable
    }

    /// The means over the last intervals, with what is known of another one.
    fn means(&self, more: Option<&Times>) -> Option<Means> {
        let all = || self.times.last.iter().chain(more);
        let foreign = [0, 1, 2]
            .map(|part| trimmed_mean(all().flat_map(move |times| &times.foreign[part]), self.kept));
        let [Some(tcp), Some(tls), Some(http)] = foreign else { return None };
        let loaded = trimmed_mean(all().flat_map(|times| &times.loaded), self.kept)?;
        Some(Means { foreign: [tcp, tls, http], loaded })
    }

    /// The result with what is known of the interval that is under way.
    pub(super) fn result(&self, current: Option<&Times>) -> Responded {
        let Some(means) = self.means(current) else { return Responded::default() };
        let of = |value: f64| Mean { count: 1.0, sum: value };
        let [tcp, tls, http] = means.foreign.map(of);
        let confidence = match (self.is_stable, self.probed >= self.times.most) {
            (true, _) => Confidence::High,
            (_, true) => Confidence::Medium,
            _ => Confidence::Low,
        };
        Responded {
            parts_ms: [tcp, tls, http, of(means.loaded)],
            rpm: of(means.rpm()),
            rpm_of_mean: of(means.rpm_of_mean()),
            confidence: Some(confidence),
            ..Responded::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The draft's example: connections of their own pass the queue of a flow that fills it. 60 000 / 40 = 1500 and
    /// 60 000 / 400 = 150 have the mean 825; the mean of 40 and 400 is 220 ms, of which a minute has 273.
    #[test]
    fn fair_queueing_looks_three_times_better_by_the_mean_of_rates() {
        let means = Means { foreign: [30.0, 50.0, 40.0], loaded: 400.0 };
        assert_eq!(means.rpm(), 825.0);
        assert_eq!(means.rpm_of_mean().round(), 273.0);
        let alike = Means { foreign: [40.0; 3], loaded: 40.0 };
        assert_eq!((alike.rpm(), alike.rpm_of_mean()), (1500.0, 1500.0));
    }

    #[test]
    fn a_trimmed_mean_leaves_out_the_longest() {
        // 19 of 20 are kept: 19 times 10 ms, without the one of 1 s. Of three times 2.85 are: two.
        let mut times = [10.0; 20];
        times[3] = 1000.0;
        assert_eq!(trimmed_mean(times.iter(), 0.95), Some(10.0));
        assert_eq!(trimmed_mean([30.0, 10.0, 20.0].iter(), 0.95), Some(15.0));
        assert_eq!(trimmed_mean([30.0].iter(), 0.1), Some(30.0));
        assert_eq!(trimmed_mean([].iter(), 0.95), None);
    }

    #[test]
    fn goodput_is_stable_before_responsiveness_is() {
        let mut tracked = Tracked::new(4, 0.05, 0.95);
        let times =
            |ms: f64| Times { foreign: std::array::from_fn(|_| vec![ms]), loaded: vec![ms] };
        let over: Vec<bool> =
            (0..8).map(|_| tracked.interval([None, Some(50.0)], times(100.0))).collect();
        // Four averages are alike after four intervals, four rates of round trips after four more.
        assert_eq!(over, [[false; 7].as_slice(), &[true]].concat());
        assert_eq!(tracked.result(None).confidence, Some(Confidence::High));
        let mut rising = Tracked::new(4, 0.05, 0.95);
        for number in 0..9 {
            let confidence = rising.result(None).confidence;
            let expected = [None, Some(Confidence::Low), Some(Confidence::Medium)];
            assert_eq!(confidence, expected[usize::from(number > 0) + usize::from(number > 3)]);
            assert!(!rising.interval([Some(2f64.powi(number)), None], times(100.0)));
        }
    }

    #[test]
    fn a_window_is_stable_within_its_tolerance() {
        // The mean of 96, 104, 96 and 104 is 100, the deviation 4: less than 5 % of 104, and no less than 3 %.
        let mut window = Window::of(4);
        [10.0, 96.0, 104.0, 96.0, 104.0].into_iter().for_each(|value| window.push(value));
        assert_eq!(
            (window.mean(), window.is_stable(0.05), window.is_stable(0.03)),
            (100.0, true, false)
        );
    }
}
