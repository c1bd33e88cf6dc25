//! The least of many keys, and its index, kept as a tournament.
//!
//! The keys are the leaves of a complete tree in which four nodes form a group, and each inner node
//! holds the least key of the group below it. So setting a key replays one match in each group on its
//! way to the top. Where a node stays as it is, it can stop: the rest of the way is unchanged too.
//! Whose key the least one is shows on the way down.
//!
//! **Ties: the lower index wins.**

/// The key of an index that does not compete: no key is greater.
pub(crate) const ABSENT: u64 = u64::MAX;

/// Nodes that meet in one match.
const WIDTH: usize = 4;

type Group = [u64; WIDTH];

fn least_of(group: &Group) -> u64 {
    let [a, b, c, d] = *group;
    a.min(b).min(c.min(d))
}

/// Keys by index, and the least of them.
pub(crate) struct Tournament {
    /// The tree from its top: node `n` is in group `n / WIDTH`, and the group below it is `n + 1`.
    groups: Vec<Group>,
    /// The node of index 0; the others follow it.
    first_leaf: usize,
    least: u64,
}

impl Tournament {
    /// Room for at least `entrants`, all of them [`ABSENT`].
    pub(crate) fn new(entrants: usize) -> Self {
        let (mut leaves, mut first_leaf) = (WIDTH, 0);
        while leaves < entrants {
            first_leaf += leaves;
            leaves *= WIDTH;
        }
        let mut tournament = Self { groups: Vec::new(), first_leaf, least: ABSENT };
        tournament.make_room(entrants);
        tournament
    }

    fn make_room(&mut self, entrants: usize) {
        let groups = (self.first_leaf + entrants.max(1)).div_ceil(WIDTH);
        self.groups.resize(groups, [ABSENT; WIDTH]);
    }

    fn leaves(&self) -> &[u64] {
        self.groups[self.first_leaf / WIDTH..].as_flattened()
    }

    /// Makes room for indices below `entrants`; keys already set stay.
    pub(crate) fn grow(&mut self, entrants: usize) {
        // Above a full level of leaves there are 4 + 16 + ... nodes.
        let most = self.first_leaf * (WIDTH - 1) + WIDTH;
        if entrants > most {
            let mut grown = Self::new(entrants);
            for (key, index) in self.leaves().iter().zip(0..) {
                grown.set(index, *key);
            }
            *self = grown;
        } else if entrants > self.leaves().len() {
            self.make_room(entrants);
        }
    }

    /// Sets the key of `index`, replacing the old one.
    #[inline]
    pub(crate) fn set(&mut self, index: u32, mut key: u64) {
        let mut node = self.first_leaf + index as usize;
        loop {
            let group = &mut self.groups[node / WIDTH];
            let held = &mut group[node % WIDTH];
            if *held == key {
                return;
            }
            *held = key;
            key = least_of(group);
            if node < WIDTH {
                self.least = key;
                return;
            }
            node = node / WIDTH - 1;
        }
    }

    /// The key of `index`.
    #[inline]
    pub(crate) fn key(&self, index: u32) -> u64 {
        let leaf = self.first_leaf + index as usize;
        self.groups[leaf / WIDTH][leaf % WIDTH]
    }

    /// The least key.
    #[inline]
    pub(crate) fn least(&self) -> u64 {
        self.least
    }

    /// The index of the least key.
    #[inline]
    pub(crate) fn winner(&self) -> u32 {
        let mut group = 0;
        loop {
            let place = self.groups[group].iter().position(|key| *key == self.least);
            let node = group * WIDTH + place.unwrap_or(0);
            if node >= self.first_leaf {
                return (node - self.first_leaf) as u32;
            }
            group = node + 1;
        }
    }

    /// The index of the least key and the key, if any competes.
    #[inline]
    pub(crate) fn first(&self) -> Option<(usize, u64)> {
        (self.least != ABSENT).then(|| (self.winner() as usize, self.least))
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
        while tournament.least() != ABSENT {
            let index = tournament.winner();
            order.push(index);
            tournament.set(index, ABSENT);
        }
        assert_eq!(order, [1, 4, 3, 0, 2]);
    }

    at_random! {
        256;

        /// Whatever is set, and wherever it grows on the way: the winner is the one a search finds.
        #[test]
        fn the_winner_is_the_least(sets in prop::collection::vec((0_u32..600, 0_u64..6), 1..200)) {
            let mut tournament = Tournament::new(1);
            let mut keys = vec![ABSENT; 600];
            for (index, key) in sets {
                tournament.grow(index as usize + 1);
                let key = if key == 5 { ABSENT } else { key };
                tournament.set(index, key);
                keys[index as usize] = key;
                let least = keys.iter().zip(0..).map(|(key, index)| (*key, index)).min();
                prop_assert_eq!(Some((tournament.least(), tournament.winner())), least);
                prop_assert_eq!(tournament.key(index), key);
            }
        }
    }
}
