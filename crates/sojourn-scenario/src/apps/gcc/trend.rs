//! Over-use: groups of packets, the line through their delays, and a threshold that adapts.

use std::collections::VecDeque;

use super::Usage;

/// Packets sent within so long are a group, and those that arrive at once after a pause of the line too.
const GROUP_MS: f64 = 5.0;
/// So long may a burst that arrives at once last.
const BURST_MS: f64 = 100.0;
/// Groups through whose delays the line goes.
const WINDOW: usize = 20;
/// What a smoothed delay keeps of the one before.
const SMOOTHING: f64 = 0.9;
/// What the slope counts as in ms of the threshold: this for each group, of so many at most.
const GAIN: f64 = 4.0;
const MOST_GROUPS: u32 = 60;
/// The threshold at first, and its range.
const THRESHOLD_MS: f64 = 12.5;
const RANGE_MS: [f64; 2] = [6.0, 600.0];
/// How fast it follows, in each ms, what is above it and what is below.
const UP: f64 = 0.0087;
const DOWN: f64 = 0.039;
/// It does not follow a spike so far above it, nor for longer than that at once.
const SPIKE_MS: f64 = 15.0;
const MOST_STEP_MS: f64 = 100.0;
/// Over-use lasts longer than this.
const OVER_MS: f64 = 10.0;

/// The time between two groups at the sender and at the receiver, in ms.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Delta {
    pub(super) sent_ms: f64,
    pub(super) arrived_ms: f64,
}

/// A group of packets: when its first and last one were sent and arrived.
#[derive(Clone, Copy)]
struct Group {
    first_sent: f64,
    sent: f64,
    first_arrived: f64,
    arrived: f64,
}

/// Packets in groups (libwebrtc: `inter_arrival_delta.cc`).
#[derive(Default)]
pub(super) struct Groups {
    before: Option<Group>,
    current: Option<Group>,
}

impl Groups {
    /// A packet has arrived. The first one of a new group gives the times between the two groups before.
    pub(super) fn add(&mut self, sent: f64, arrived: f64) -> Option<Delta> {
        let alone = Group { first_sent: sent, sent, first_arrived: arrived, arrived };
        let Some(current) = &mut self.current else {
            self.current = Some(alone);
            return None;
        };
        if sent < current.first_sent {
            return None;
        }
        if current.has(sent, arrived) {
            (current.sent, current.arrived) = (current.sent.max(sent), arrived);
            return None;
        }
        let (last, before) = (*current, self.before.replace(*current));
        self.current = Some(alone);
        let delta = |before: Group| Delta {
            sent_ms: last.sent - before.sent,
            arrived_ms: last.arrived - before.arrived,
        };
        before.map(delta).filter(|delta| delta.arrived_ms >= 0.0)
    }
}

impl Group {
    fn has(&self, sent: f64, arrived: f64) -> bool {
        let after = arrived - self.arrived;
        let is_faster = after - (sent - self.sent) < 0.0;
        let is_burst = is_faster && after <= GROUP_MS && arrived - self.first_arrived < BURST_MS;
        sent == self.sent || is_burst || sent - self.first_sent <= GROUP_MS
    }
}

/// The line through the delays of groups, and what it says (libwebrtc: `trendline_estimator.cc`).
pub(super) struct Trend {
    groups: u32,
    first_arrived_ms: Option<f64>,
    delay_ms: f64,
    smoothed_ms: f64,
    window: VecDeque<(f64, f64)>,
    slope: f64,
    threshold_ms: f64,
    adapted_ms: Option<f64>,
    over_ms: Option<f64>,
    over_groups: u32,
    usage: Usage,
}

impl Default for Trend {
    fn default() -> Self {
        Self {
            groups: 0,
            first_arrived_ms: None,
            delay_ms: 0.0,
            smoothed_ms: 0.0,
            window: VecDeque::with_capacity(WINDOW + 1),
            slope: 0.0,
            threshold_ms: THRESHOLD_MS,
            adapted_ms: None,
            over_ms: None,
            over_groups: 0,
            usage: Usage::Normal,
        }
    }
}

impl Trend {
    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// A group has come so long after the one before it. A packet of the next one arrived now.
    pub(super) fn add(&mut self, delta: Delta, arrived_ms: f64) {
        self.groups += 1;
        let first_ms = *self.first_arrived_ms.get_or_insert(arrived_ms);
        self.delay_ms += delta.arrived_ms - delta.sent_ms;
        self.smoothed_ms = SMOOTHING * self.smoothed_ms + (1.0 - SMOOTHING) * self.delay_ms;
        self.window.push_back((arrived_ms - first_ms, self.smoothed_ms));
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
        let is_full = self.window.len() == WINDOW;
        let slope = if is_full { fit(&self.window).unwrap_or(self.slope) } else { self.slope };
        if self.groups < 2 {
            return;
        }
        let modified_ms = f64::from(self.groups.min(MOST_GROUPS)) * slope * GAIN;
        self.detect(modified_ms, slope, delta.sent_ms);
        self.slope = slope;
        self.adapt(modified_ms.abs(), arrived_ms);
    }

    fn detect(&mut self, modified_ms: f64, slope: f64, sent_ms: f64) {
        if modified_ms <= self.threshold_ms {
            (self.over_ms, self.over_groups) = (None, 0);
            let is_under = modified_ms < -self.threshold_ms;
            self.usage = if is_under { Usage::Under } else { Usage::Normal };
            return;
        }
        // It has begun somewhere since the group before.
        let over_ms = self.over_ms.map_or(sent_ms / 2.0, |over_ms| over_ms + sent_ms);
        self.over_ms = Some(over_ms);
        self.over_groups += 1;
        if over_ms > OVER_MS && self.over_groups > 1 && slope >= self.slope {
            (self.over_ms, self.over_groups) = (Some(0.0), 0);
            self.usage = Usage::Over;
        }
    }

    /// The threshold follows, so that the call is not starved by flows that keep a queue (§5.4).
    fn adapt(&mut self, modified_ms: f64, now_ms: f64) {
        let before_ms = self.adapted_ms.replace(now_ms).unwrap_or(now_ms);
        if modified_ms > self.threshold_ms + SPIKE_MS {
            return;
        }
        let gain = if modified_ms < self.threshold_ms { DOWN } else { UP };
        let step_ms = (now_ms - before_ms).min(MOST_STEP_MS);
        let threshold_ms = self.threshold_ms + gain * (modified_ms - self.threshold_ms) * step_ms;
        self.threshold_ms = threshold_ms.clamp(RANGE_MS[0], RANGE_MS[1]);
    }
}

/// The slope of the line with the least squares through points.
fn fit(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let count = points.len() as f64;
    let (mut sum_x, mut sum_y) = (0.0, 0.0);
    for (x, y) in points {
        sum_x += x;
        sum_y += y;
    }
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (mut above, mut below) = (0.0, 0.0);
    for (x, y) in points {
        above += (x - mean_x) * (y - mean_y);
        below += (x - mean_x) * (x - mean_x);
    }
    (below != 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_within_5_ms_are_a_group_and_so_is_a_burst() {
        let mut groups = Groups::default();
        // Sent at 0 and 4 ms, then at 20 and 22, then at 40 ms: the groups end at 4, 22 and 40 ms.
        let packets = [(0.0, 50.0), (4.0, 55.0), (20.0, 70.0), (22.0, 76.0), (40.0, 90.0)];
        let deltas: Vec<_> = packets.iter().filter_map(|one| groups.add(one.0, one.1)).collect();
        assert_eq!(deltas, [Delta { sent_ms: 22.0 - 4.0, arrived_ms: 76.0 - 55.0 }]);
        // The line stood still: what was sent at 60 ms comes 3 ms after what was sent at 40 ms, at 93 ms.
        assert_eq!(groups.add(60.0, 93.0), None);
        let delta = groups.add(80.0, 130.0).unwrap();
        assert_eq!(delta, Delta { sent_ms: 60.0 - 22.0, arrived_ms: 93.0 - 76.0 });
        // One that was overtaken counts nowhere.
        assert_eq!(groups.add(70.0, 131.0), None);
    }

    /// Sent and arrived every 3 ms: three groups of two, of which the second comes 6 ms after the first.
    #[test]
    fn packets_that_keep_their_distance_are_no_burst() {
        let mut groups = Groups::default();
        let packets = (0..5).map(|number| 3.0 * f64::from(number));
        let deltas: Vec<_> = packets.filter_map(|at| groups.add(at, at + 50.0)).collect();
        assert_eq!(deltas, [Delta { sent_ms: 6.0, arrived_ms: 6.0 }]);
    }

    #[test]
    fn a_slope_counts_four_times_for_each_group() {
        // Groups 20 ms apart, each 1 ms later than the one before it. The smoothed delay of group n is
        // n - 9 + 9 * 0.9^n; through groups 21 to 40 (for the line of the 40th) a line by least squares.
        let mut trend = Trend::default();
        for number in 1..=40 {
            let arrived_ms = f64::from(number) * 21.0;
            trend.add(Delta { sent_ms: 20.0, arrived_ms: 21.0 }, arrived_ms);
        }
        let points = (21..=40).map(|n: i32| {
            let n = f64::from(n);
            (21.0 * n, n - 9.0 + 9.0 * libm::pow(0.9, n))
        });
        let slope = fit(&points.collect()).unwrap();
        assert!((trend.slope - slope).abs() < 1e-12, "{} {slope}", trend.slope);
        // Close to 1 ms in 21 ms: 40 groups * 4 / 21 = 7.6 ms, less than the threshold of 12.5 ms.
        assert!((slope * 21.0 - 1.0).abs() < 0.05, "{slope}");
        assert!(trend.threshold_ms < 12.5);
    }

    #[test]
    fn over_use_lasts_10_ms_and_two_groups_and_grows() {
        let mut trend = Trend { groups: 60, threshold_ms: 12.5, ..Trend::default() };
        // The first group above the threshold counts half of its 8 ms; the second makes 12 ms.
        trend.detect(13.0, 0.1, 8.0);
        assert_eq!((trend.usage, trend.over_ms), (Usage::Normal, Some(4.0)));
        trend.slope = 0.1;
        trend.detect(13.0, 0.1, 8.0);
        assert_eq!((trend.usage, trend.over_ms), (Usage::Over, Some(0.0)));
        trend.detect(12.5, 0.1, 8.0);
        assert_eq!((trend.usage, trend.over_ms), (Usage::Normal, None));
        // A slope that falls is no over-use.
        for _ in 0..3 {
            trend.detect(13.0, 0.05, 20.0);
        }
        assert_eq!(trend.usage, Usage::Normal);
        trend.detect(-12.6, -0.1, 8.0);
        assert_eq!(trend.usage, Usage::Under);
    }

    #[test]
    fn the_threshold_follows_but_no_spike() {
        let mut trend = Trend { adapted_ms: Some(0.0), ..Trend::default() };
        trend.adapt(20.5, 50.0); // 0.0087 * 8 ms * 50 ms = 3.48 ms more
        assert!((trend.threshold_ms - 15.98).abs() < 1e-9, "{}", trend.threshold_ms);
        trend.adapt(31.0, 90.0); // more than 15 ms above
        assert!((trend.threshold_ms - 15.98).abs() < 1e-9);
        trend.adapt(10.98, 100.0); // 0.039 * 5 ms * 10 ms = 1.95 ms less
        assert!((trend.threshold_ms - 14.03).abs() < 1e-9, "{}", trend.threshold_ms);
        trend.adapt(0.0, 5000.0); // 100 ms at most, and no less than 6 ms
        assert_eq!(trend.threshold_ms, 6.0);
    }
}
