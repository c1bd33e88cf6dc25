//! Counts of whole numbers by cells that grow with the number, as in an HDR histogram of three significant digits.

/// Numbers are known to this relative error, or exactly below twice the cells of a doubling.
pub const RELATIVE_ERROR: f64 = 1e-3;

/// Cells for each doubling of the number: enough for three digits.
const PER_DOUBLING: u64 = 1024;

/// How often numbers came. Memory depends on the greatest of them only.
#[derive(Clone, Default)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

/// A cell in which there are numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    /// Its least number.
    pub first: u64,
    /// Its greatest number.
    pub last: u64,
    /// How many numbers there are.
    pub count: u64,
}

impl Cell {
    /// The number in its middle, rounded up.
    pub(crate) fn middle(&self) -> u64 {
        self.first + (self.last - self.first).div_ceil(2)
    }
}

/// The cell of a number: one for each at first, then [`PER_DOUBLING`] for each doubling.
#[inline]
fn cell_of(number: u64) -> usize {
    let shift = u64::from(53 - (number | (2 * PER_DOUBLING - 1)).leading_zeros());
    (shift * PER_DOUBLING + (number >> shift)) as usize
}

/// The numbers of a cell with this count.
fn cell(index: usize, count: u64) -> Cell {
    let index = index as u64;
    let shift = (index / PER_DOUBLING).saturating_sub(1);
    let first = (index - shift * PER_DOUBLING) << shift;
    Cell { first, last: first + ((1 << shift) - 1), count }
}

impl Histogram {
    /// Counts a number.
    #[inline]
    pub(crate) fn record(&mut self, number: u64) {
        self.total += 1;
        let cell = cell_of(number);
        match self.counts.get_mut(cell) {
            Some(count) => *count += 1,
            None => self.grow(cell),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, cell: usize) {
        self.counts.resize((cell + 1).next_multiple_of(PER_DOUBLING as usize), 0);
        self.counts[cell] += 1;
    }

    /// Counts all numbers of another.
    pub(crate) fn add(&mut self, other: &Self) {
        let cells = self.counts.len().max(other.counts.len());
        self.counts.resize(cells, 0);
        self.total += other.total;
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, more)| *own += more);
    }

    /// What came since it was as `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut later = self.clone();
        later.total -= earlier.total;
        later.counts.iter_mut().zip(&earlier.counts).for_each(|(own, before)| *own -= before);
        later
    }

    /// How many numbers there are.
    pub(crate) fn count(&self) -> u64 {
        self.total
    }

    /// The cells with numbers, ascending.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell> {
        let with_numbers = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        with_numbers.map(|(index, &count)| cell(index, count))
    }

    /// The least and the greatest number, as far as cells tell them.
    pub(crate) fn range(&self) -> Option<(u64, u64)> {
        let last = self.cells().last()?.last;
        Some((self.cells().next()?.first, last))
    }

    /// The number that a share `quantile` does not exceed; 0 if there are none.
    pub(crate) fn at_quantile(&self, quantile: f64) -> u64 {
        let rank = ((quantile * self.total as f64).ceil() as u64).clamp(1, self.total.max(1));
        let mut below = 0;
        let cell = self.cells().find(|cell| {
            below += cell.count;
            below >= rank
        });
        cell.map_or(0, |cell| cell.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram as Hdr;
    use sojourn_testing::at_random;
    use sojourn_testing::proptest::prelude::*;

    #[test]
    fn cells_follow_each_other_without_gaps() {
        let cells: Vec<Cell> =
            (0..50 * PER_DOUBLING as usize).map(|index| cell(index, 1)).collect();
        assert_eq!((cells[0].first, cells[2047].last), (0, 2047));
        for (index, pair) in cells.windows(2).enumerate() {
            assert_eq!(pair[0].last + 1, pair[1].first);
            assert_eq!((cell_of(pair[0].first), cell_of(pair[0].last)), (index, index));
            let width = pair[0].last - pair[0].first;
            assert!(width as f64 <= RELATIVE_ERROR * pair[0].first as f64);
        }
        let greatest = cell(cell_of(u64::MAX), 1);
        assert_eq!(greatest.last, u64::MAX);
    }

    at_random! {
        64;

        /// Another's histogram of three digits counts the same numbers in the same cells.
        #[test]
        fn it_is_an_hdr_histogram(
            numbers in prop::collection::vec(0_u64..1 << 40, 1..300),
            shift in 0_u32..40,
            quantile in 0.001..1.0,
        ) {
            let (mut own, mut hdr) = (Histogram::default(), Hdr::<u64>::new(3).unwrap());
            for number in numbers {
                own.record(number >> shift);
                hdr.record(number >> shift).unwrap();
            }
            let of_hdr: Vec<_> = hdr
                .iter_recorded()
                .map(|value| (value.value_iterated_to(), value.count_at_value()))
                .collect();
            let of_own: Vec<_> = own.cells().map(|cell| (cell.last, cell.count)).collect();
            prop_assert_eq!(of_own, of_hdr);
            prop_assert_eq!(own.at_quantile(quantile), hdr.value_at_quantile(quantile));
            prop_assert_eq!(own.range(), Some((hdr.min(), hdr.max())));
            for cell in own.cells() {
                prop_assert_eq!(cell.middle(), hdr.median_equivalent(cell.last));
            }
        }
    }
}
