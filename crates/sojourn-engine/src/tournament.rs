//! The least of many keys, and its index, kept as a tournament.
//!
//! The keys are the leaves of a complete binary tree, and each inner node holds the lesser of its
//! two children. So setting a key replays one path of matches, and the winner is at the root. If a
//! replay leaves a node unchanged, it can stop: the rest of the path is unchanged too.
//!
//! **Ties: the lower index wins.**

/// The key of an index that does not compete: no key is greater.
pub(crate) const ABSENT: u64 = u64::MAX;

/// A key and its index.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    key: u64,
    index: u32,
}

/// Two entries that meet. All indices of the first are lower, so it wins ties.
type Pair = [Entry; 2];

fn winner_of(pair: &Pair) -> Entry {
    if pair[1].key < pair[0].key { pair[1] } else { pair[0] }
}

/// Keys by index, and the least of them.
pub(crate) struct Tournament {
    /// The tree in heap order: the root is node 1, the children of `n` are `2n` and `2n + 1`, and
    /// the leaves are the last half. Nodes that meet are stored together: `n` is in pair `n / 2`.
    pairs: Vec<Pair>,
}

impl Tournament {
    /// Room for at least `entrants`, all of them [`ABSENT`].
    pub(crate) fn new(entrants: usize) -> Self {
        let leaves = entrants.max(2).next_power_of_two();
        let absent = |index| Entry { key: ABSENT, index };
        let mut pairs = vec![[absent(0); 2]; leaves / 2];
        pairs.extend((0..leaves as u32 / 2).map(|pair| [absent(2 * pair), absent(2 * pair + 1)]));
        let mut tournament = Self { pairs };
        tournament.replay_all();
        tournament
    }

    fn leaves(&self) -> usize {
        self.pairs.len()
    }

    fn replay_all(&mut self) {
        for node in (1..self.leaves()).rev() {
            self.pairs[node / 2][node % 2] = winner_of(&self.pairs[node]);
        }
    }

    /// Makes room for indices below `entrants`; keys already set stay.
    pub(crate) fn grow(&mut self, entrants: usize) {
        if entrants <= self.leaves() {
            return;
        }
        let mut grown = Self::new(entrants);
        let (from, to) = (self.leaves() / 2, grown.leaves() / 2);
        grown.pairs[to..to + from].copy_from_slice(&self.pairs[from..]);
        grown.replay_all();
        *self = grown;
    }

    /// Sets the key of `index`, replacing the old one.
    #[inline]
    pub(crate) fn set(&mut self, index: u32, key: u64) {
        let mut node = self.leaves() + index as usize;
        let mut entry = Entry { key, index };
        while node > 1 {
            let pair = &mut self.pairs[node / 2];
            if pair[node % 2] == entry {
                return;
            }
            pair[node % 2] = entry;
            entry = winner_of(pair);
            node /= 2;
        }
        self.pairs[0][1] = entry;
    }

    /// The key of `index`.
    #[inline]
    pub(crate) fn key(&self, index: u32) -> u64 {
        let leaf = self.leaves() + index as usize;
        self.pairs[leaf / 2][leaf % 2].key
    }

    /// The least key and its index.
    #[inline]
    pub(crate) fn winner(&self) -> (u64, u32) {
        let Entry { key, index } = self.pairs[0][1];
        (key, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_testing::at_random;
    use sojourn_testing::proptest::prelude::*;

    #[test]
    fn ties_go_to_the_lower_index() {
        let mut tournament = Tournament::new(5);
        for (index, key) in [(4, 10), (2, 30), (0, 30), (3, 20), (1, 10)] {
            tournament.set(index, key);
        }
        let mut order = Vec::new();
        while tournament.winner().0 != ABSENT {
            let (_, index) = tournament.winner();
            order.push(index);
            tournament.set(index, ABSENT);
        }
        assert_eq!(order, [1, 4, 3, 0, 2]);
    }

    at_random! {
        256;

        /// Whatever is set, and wherever it grows on the way: the winner is the one a search finds.
        #[test]
        fn the_winner_is_the_least(sets in prop::collection::vec((0_u32..40, 0_u64..6), 1..200)) {
            let mut tournament = Tournament::new(1);
            let mut keys = vec![ABSENT; 40];
            for (index, key) in sets {
                tournament.grow(index as usize + 1);
                let key = if key == 5 { ABSENT } else { key };
                tournament.set(index, key);
                keys[index as usize] = key;
                let least = keys.iter().zip(0..).map(|(key, index)| (*key, index)).min();
                prop_assert_eq!(Some(tournament.winner()), least);
                prop_assert_eq!(tournament.key(index), key);
            }
        }
    }
}
