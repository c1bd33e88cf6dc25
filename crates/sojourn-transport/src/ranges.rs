//! Ranges of sequence numbers: disjoint, in order, and as few as possible.
//!
//! Both ends keep data that arrived out of order as ranges, so the work per segment depends on the
//! number of holes and not on the size of the window.

/// Disjoint half-open ranges in ascending order.
#[derive(Default, Debug)]
pub(crate) struct Ranges {
    ranges: Vec<(u64, u64)>,
    covered: u64,
}

impl Ranges {
    /// Number of bytes that all ranges cover.
    pub(crate) fn covered(&self) -> u64 {
        self.covered
    }

    /// Is nothing covered?
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Removes all ranges.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
        self.covered = 0;
    }

    /// Adds `[start, end)`. Returns how many bytes of it are new.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        // The ranges that touch or overlap the new one are at [first, last).
        let first = self.ranges.partition_point(|r| r.1 < start);
        let last = first + self.ranges[first..].partition_point(|r| r.0 <= end);
        let before = self.covered;
        if first == last {
            self.ranges.insert(first, (start, end));
            self.covered += end - start;
        } else {
            let old: u64 = self.ranges[first..last].iter().map(|r| r.1 - r.0).sum();
            let merged = (start.min(self.ranges[first].0), end.max(self.ranges[last - 1].1));
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
            self.covered = self.covered - old + (merged.1 - merged.0);
        }
        self.covered - before
    }

    /// Removes everything below `edge`. Returns how many covered bytes that were.
    pub(crate) fn remove_below(&mut self, edge: u64) -> u64 {
        let whole = self.ranges.partition_point(|r| r.1 <= edge);
        let mut removed: u64 = self.ranges[..whole].iter().map(|r| r.1 - r.0).sum();
        self.ranges.drain(..whole);
        if let Some(first) = self.ranges.first_mut().filter(|first| first.0 < edge) {
            removed += edge - first.0;
            first.0 = edge;
        }
        self.covered -= removed;
        removed
    }

    /// The range that contains `at`.
    pub(crate) fn containing(&self, at: u64) -> Option<(u64, u64)> {
        let index = self.ranges.partition_point(|r| r.1 <= at);
        self.ranges.get(index).copied().filter(|r| r.0 <= at)
    }

    /// The first range.
    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.ranges.first().copied()
    }

    /// How many ranges there are.
    pub(crate) fn count(&self) -> usize {
        self.ranges.len()
    }

    /// All ranges.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().copied()
    }

    /// The first hole at or after `from`: its start, and the start of the next range (`u64::MAX` if
    /// there is none).
    pub(crate) fn next_hole(&self, from: u64) -> (u64, u64) {
        let mut index = self.ranges.partition_point(|r| r.1 <= from);
        let mut start = from;
        if let Some(range) = self.ranges.get(index).filter(|range| range.0 <= from) {
            start = range.1;
            index += 1;
        }
        (start, self.ranges.get(index).map_or(u64::MAX, |r| r.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_testing::at_random;
    use sojourn_testing::proptest::prelude::*;

    #[test]
    fn neighbours_merge() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.insert(10, 20), 10);
        assert_eq!(ranges.insert(30, 40), 10);
        assert_eq!(ranges.insert(15, 30), 10);
        assert_eq!(ranges.ranges, [(10, 40)]);
        assert_eq!(ranges.next_hole(10), (40, u64::MAX));
        assert_eq!(ranges.next_hole(5), (5, 10));
    }

    at_random! {
        256;

        #[test]
        fn agrees_with_a_bitmap(
            inserts in prop::collection::vec((0_u64..200, 1_u64..30), 1..40),
            edge in 0_u64..200,
        ) {
            let mut ranges = Ranges::default();
            let mut bitmap = [false; 256];
            for (start, len) in inserts {
                let fresh = bitmap[start as usize..(start + len) as usize].iter().filter(|b| !**b).count();
                prop_assert_eq!(ranges.insert(start, start + len), fresh as u64);
                bitmap[start as usize..(start + len) as usize].fill(true);
            }
            let below = bitmap[..edge as usize].iter().filter(|b| **b).count() as u64;
            let hole = (edge as usize..).find(|&at| at >= 256 || !bitmap[at]).unwrap() as u64;
            prop_assert_eq!(ranges.next_hole(edge).0, hole);
            prop_assert_eq!(ranges.remove_below(edge), below);
            let left = bitmap[edge as usize..].iter().filter(|b| **b).count() as u64;
            prop_assert_eq!(ranges.covered(), left);
            prop_assert!(ranges.ranges.windows(2).all(|w| w[0].1 < w[1].0));
        }
    }
}
