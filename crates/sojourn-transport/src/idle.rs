//! The window after an idle time, as Linux has it (6.18; RFC 2861 §2): half for each timeout that
//! passed, the initial window at least, and the threshold remembers three quarters of it.

use super::cc::Window;
use sojourn_engine::units::Time;

/// Shrinks a window that was not used for `idle`.
pub(crate) fn shrink(window: &mut Window, idle: Time, timeout: Time, initial_window: f64) {
    if idle <= timeout {
        return;
    }
    window.ssthresh = window.ssthresh.max((window.cwnd * 0.75).floor());
    let least = initial_window.min(window.cwnd);
    let mut left = idle.since(timeout);
    while left > Time::ZERO && window.cwnd > least {
        window.cwnd = (window.cwnd / 2.0).floor();
        left = left.since(timeout);
    }
    window.cwnd = window.cwnd.max(least);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_for_each_timeout_down_to_the_initial_window() {
        let after = |idle_ms| {
            let mut window = Window { cwnd: 101.0, ssthresh: 60.0 };
            shrink(&mut window, Time::from_ms(idle_ms), Time::from_ms(200), 10.0);
            (window.cwnd, window.ssthresh)
        };
        // 101 * 3/4 = 75.75; after one timeout of waiting 50, two 25, three 12, then 10.
        assert_eq!(after(200), (101.0, 60.0));
        assert_eq!(after(300), (50.0, 75.0));
        assert_eq!(after(500), (25.0, 75.0));
        assert_eq!(after(5000), (10.0, 75.0));
    }
}
