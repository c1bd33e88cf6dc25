//! The largest of recent values, kept with three candidates (K. Nichols' windowed filter, which BBR has in
//! Linux).
//!
//! The second and third candidate are the largest since the one before them, so that one stands ready when
//! the first gets too old. They are renewed after a quarter and a half of the window.

/// A value, and when it was seen, in units of the caller's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen {
    at: u64,
    value: f64,
}

/// The largest value of a window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax {
    best: [Seen; 3],
}

impl WindowedMax {
    /// The largest value.
    pub(super) fn get(&self) -> f64 {
        self.best[0].value
    }

    /// Takes in a value; what is older than `window` is forgotten.
    pub(super) fn take(&mut self, at: u64, value: f64, window: u64) {
        let new = Seen { at, value };
        let [first, second, third] = &mut self.best;
        if value >= first.value || at - third.at > window {
            self.best = [new; 3];
            return;
        }
        if value >= second.value {
            (*second, *third) = (new, new);
        } else if value >= third.value {
            *third = new;
        }
        let age = at - first.at;
        if age > window {
            self.best = [self.best[1], self.best[2], new];
            if at - self.best[0].at > window {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if second.at == first.at && age > window / 4 {
            (*second, *third) = (new, new);
        } else if third.at == second.at && age > window / 2 {
            *third = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_lasts_for_its_window_and_the_next_stands_ready() {
        let mut max = WindowedMax::default();
        let values = [(0, 9.0), (1, 3.0), (3, 8.0), (6, 7.0), (9, 2.0), (10, 1.0)];
        for (at, value) in values {
            max.take(at, value, 10);
            assert_eq!(max.get(), 9.0);
        }
        max.take(11, 1.0, 10); // that of round 0 is 11 rounds old
        assert_eq!(max.get(), 8.0);
        max.take(14, 1.0, 10);
        assert_eq!(max.get(), 7.0);
        max.take(15, 7.5, 10);
        assert_eq!(max.get(), 7.5);
        max.take(26, 0.5, 10); // nothing of the last ten is left
        assert_eq!(max.get(), 0.5);
    }

    /// The second is renewed after a quarter of the window, the third after half of it, if nothing larger has come; equal
    /// values count as newer.
    #[test]
    fn candidates_are_renewed() {
        let places = |values: &[(u64, f64)]| {
            let mut max = WindowedMax::default();
            values.iter().for_each(|&(at, value)| max.take(at, value, 8));
            max.best.map(|seen| (seen.at, seen.value))
        };
        let first = (0, 9.0);
        let (second, third) = ((3, 5.0), (5, 4.0));
        for (later, want) in [
            (vec![(2, 5.0)], [first; 3]),
            (vec![second], [first, second, second]),
            (vec![second, (4, 4.0)], [first, second, second]),
            (vec![second, third], [first, second, third]),
            (vec![second, third, (6, 3.0)], [first, second, third]),
            (vec![second, third, (6, 4.0)], [first, second, (6, 4.0)]),
            (vec![second, third, (6, 5.0)], [first, (6, 5.0), (6, 5.0)]),
            (vec![second, third, (6, 9.0)], [(6, 9.0); 3]),
            (vec![second, third, (8, 1.0)], [first, second, third]),
            (vec![second, third, (9, 1.0)], [second, third, (9, 1.0)]),
            (vec![second, third, (11, 1.0)], [second, third, (11, 1.0)]),
            (vec![second, third, (12, 1.0)], [third, (12, 1.0), (12, 1.0)]),
            (vec![(9, 1.0)], [(9, 1.0); 3]),
        ] {
            let values: Vec<_> = [first].into_iter().chain(later).collect();
            assert_eq!(places(&values), want, "{values:?}");
        }
    }
}
