//! Growth in whole segments, as Linux counts: a window is an integer, and what does not make a whole
//! segment yet is kept for later.

use super::Window;

/// Slow start: the window grows by all that is delivered, up to the threshold (RFC 3465 without its
/// limit). Gives what is left for congestion avoidance.
pub(super) fn slow_start(window: &mut Window, delivered: u64, max_window: f64) -> u64 {
    if !window.in_slow_start() {
        return delivered;
    }
    let grown = (window.cwnd + delivered as f64).min(window.ssthresh);
    let used = (grown - window.cwnd) as u64;
    window.cwnd = grown.min(max_window);
    delivered - used
}

/// Segments delivered that have not made the window grow yet.
#[derive(Default)]
pub(super) struct Avoidance {
    count: u64,
}

impl Avoidance {
    /// One segment of growth for each `per_segment` delivered.
    pub(super) fn grow(
        &mut self,
        window: &mut Window,
        delivered: u64,
        per_segment: u64,
        max_window: f64,
    ) {
        let per_segment = per_segment.max(1);
        let mut grown = window.cwnd;
        // A count that was enough for an earlier, larger divisor gives one segment and no more.
        if self.count >= per_segment {
            self.count = 0;
            grown += 1.0;
        }
        self.count += delivered;
        grown += (self.count / per_segment) as f64;
        self.count %= per_segment;
        window.cwnd = grown.min(max_window);
    }

    /// Forgets what was counted.
    pub(super) fn reset(&mut self) {
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_counts_all_that_is_delivered_and_leaves_the_rest_at_the_threshold() {
        let mut window = Window { cwnd: 10.0, ssthresh: 1e9 };
        assert_eq!(slow_start(&mut window, 7, 1e9), 0);
        assert_eq!(window.cwnd, 17.0);
        // 20 - 17 = 3 of 5 are for slow start.
        window.ssthresh = 20.0;
        assert_eq!(slow_start(&mut window, 5, 1e9), 2);
        assert_eq!(window.cwnd, 20.0);
        assert_eq!(slow_start(&mut window, 5, 1e9), 5);
    }

    #[test]
    fn avoidance_keeps_the_remainder() {
        let (mut avoidance, mut window) =
            (Avoidance::default(), Window { cwnd: 10.0, ssthresh: 1.0 });
        // 4 + 4 = 8 < 10; 12 makes one segment and leaves 2; at 11, 2 + 9 = 11 makes another.
        for (delivered, want) in [(4, 10.0), (4, 10.0), (4, 11.0), (9, 12.0)] {
            let per_segment = window.cwnd as u64;
            avoidance.grow(&mut window, delivered, per_segment, 1e9);
            assert_eq!(window.cwnd, want);
        }
    }

    #[test]
    fn growth_ends_at_the_receivers_window() {
        let mut window = Window { cwnd: 10.0, ssthresh: 1e9 };
        assert_eq!(slow_start(&mut window, 7, 12.0), 0);
        assert_eq!(window.cwnd, 12.0);
        Avoidance::default().grow(&mut window, 48, 12, 14.0);
        assert_eq!(window.cwnd, 14.0);
        // Nothing divides by zero.
        Avoidance::default().grow(&mut window, 3, 0, 99.0);
        assert_eq!(window.cwnd, 17.0);
    }

    /// Nine of ten are counted when five are enough: one segment, and the three that come are counted anew.
    #[test]
    fn a_count_of_an_earlier_divisor_is_one_segment() {
        let (mut avoidance, mut window) =
            (Avoidance::default(), Window { cwnd: 10.0, ssthresh: 1.0 });
        for (delivered, per_segment, want) in
            [(9, 10, 10.0), (3, 5, 11.0), (2, 5, 12.0), (5, 6, 12.0), (0, 5, 13.0), (4, 5, 13.0)]
        {
            avoidance.grow(&mut window, delivered, per_segment, 1e9);
            assert_eq!(window.cwnd, want);
        }
        avoidance.reset();
        avoidance.grow(&mut window, 4, 5, 1e9);
        assert_eq!(window.cwnd, 13.0);
    }
}
