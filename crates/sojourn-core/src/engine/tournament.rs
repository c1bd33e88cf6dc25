//! The least of many keys, and whose it is, kept as a tournament.
//!
//! The keys are the leaves of a complete binary tree and each inner node holds the lesser of its two
//! children, so setting a key replays one path of matches and the winner stands at the root. Where a
//! replay leaves a node as it was, the rest of the path is as it was too.
//!
//! **Ties: the lower index wins.**

/// The key of who does not compete: no other is greater.
pub const ABSENT: u64 = u64::MAX;

/// A key above its index in one integer, so that comparing two takes both into account.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    fn new(key: u64, index: u32) -> Self {
        Self(u128::from(key) << 32 | u128::from(index))
    }

    fn key(self) -> u64 {
        (self.0 >> 32) as u64
    }

    fn index(self) -> u32 {
        self.0 as u32
    }
}

/// Keys by index, and the least of them.
pub struct Tournament {
    /// The tree in heap order: the root at 1, the children of `n` at `2n` and `2n + 1`, and the
    /// leaves in the last half.
    nodes: Vec<Entry>,
}

impl Tournament {
    /// Room for at least `entrants`, all of them [`ABSENT`].
    pub fn new(entrants: usize) -> Self {
        let leaves = entrants.max(2).next_power_of_two();
        let mut nodes = vec![Entry::new(ABSENT, 0); leaves];
        nodes.extend((0..leaves).map(|leaf| Entry::new(ABSENT, leaf as u32)));
        let mut tournament = Self { nodes };
        tournament.replay_all();
        tournament
    }

    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    fn replay_all(&mut self) {
        for node in (1..self.leaves()).rev() {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }

    /// Makes room for indices below `entrants`; keys already set stay.
    pub fn grow(&mut self, entrants: usize) {
        if entrants <= self.leaves() {
            return;
        }
        let mut grown = Self::new(entrants);
        let (from, to) = (self.leaves(), grown.leaves());
        grown.nodes[to..to + from].copy_from_slice(&self.nodes[from..]);
        grown.replay_all();
        *self = grown;
    }

    /// Sets the key of `index`, in place of the one it had.
    #[inline]
    pub fn set(&mut self, index: u32, key: u64) {
        let nodes = &mut self.nodes[..];
        let mut node = nodes.len() / 2 + index as usize;
        let mut winner = Entry::new(key, index);
        if nodes[node] == winner {
            return;
        }
        nodes[node] = winner;
        while node > 1 {
            winner = winner.min(nodes[node ^ 1]);
            node /= 2;
            if winner == nodes[node] {
                return;
            }
            nodes[node] = winner;
        }
    }

    /// The key of `index`.
    #[inline]
    pub fn key(&self, index: u32) -> u64 {
        self.nodes[self.leaves() + index as usize].key()
    }

    /// The least key and whose it is.
    #[inline]
    pub fn winner(&self) -> (u64, u32) {
        (self.nodes[1].key(), self.nodes[1].index())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
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
