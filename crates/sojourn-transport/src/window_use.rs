//! Whether the window limits a sender, by the rule of Linux (6.18; RFC 7661 §1): a window that is not used says
//! nothing about the path and does not grow.

use super::cc::Window;

/// What was seen of a window of data.
#[derive(Default)]
pub(crate) struct WindowUse {
    is_limited: bool,
    /// The most segments outstanding in it.
    most: u64,
    /// What was sent when it began.
    until: u64,
}

impl WindowUse {
    /// Something was sent, or could not be. The strongest sign of a window of data stays for all of it.
    pub(crate) fn note(&mut self, is_limited: bool, outstanding: u64, una: u64, nxt: u64) {
        let is_new = una >= self.until;
        if is_new || is_limited || (!self.is_limited && outstanding > self.most) {
            *self = Self { is_limited, most: outstanding, until: nxt };
        }
    }

    /// Was the window what held sending back?
    pub(crate) fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// May the window grow? In slow start up to twice what was used of it.
    pub(crate) fn may_grow(&self, window: &Window) -> bool {
        self.is_limited || (window.in_slow_start() && window.cwnd < 2.0 * self.most as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_counts_for_a_window_of_data() {
        let window = Window { cwnd: 10.0, ssthresh: 5.0 };
        let mut used = WindowUse::default();
        used.note(true, 10, 1, 101);
        used.note(false, 8, 50, 120);
        assert!(used.may_grow(&window));
        used.note(false, 8, 101, 130);
        assert!(!used.may_grow(&window));
    }

    #[test]
    fn slow_start_grows_to_twice_what_was_used() {
        let mut used = WindowUse::default();
        used.note(false, 6, 1, 61);
        assert!(used.may_grow(&Window { cwnd: 11.0, ssthresh: 1e9 }));
        assert!(!used.may_grow(&Window { cwnd: 12.0, ssthresh: 1e9 }));
    }
}
