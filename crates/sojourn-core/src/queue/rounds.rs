//! Whose turn it is: deficit round robin in its forms.
//!
//! Busy bins take turns; in each a bin may send its quantum of bytes, and what it sends less or more
//! is kept as its deficit (Shreedhar & Varghese 1996). A bin that has just become busy either joins
//! the end of the round (`join_last`) or goes before all that were busy already (`join_first`), as
//! in SFQ-CoDel and FQ-CoDel.
//!
//! The quantum of a turn is given when the turn before it ends, which is the same as at its start.

use std::collections::VecDeque;

#[derive(Clone, Copy)]
struct Turn {
    /// Bytes the bin may still send in this turn.
    deficit: i64,
    /// Bytes it may send in each.
    quantum: i64,
    /// It is in one of the lists.
    scheduled: bool,
}

/// The busy bins, and in which order they are served.
pub struct Rounds {
    turns: Vec<Turn>,
    /// Bins that became busy and have not used up their first quantum: served first.
    fresh: VecDeque<u32>,
    /// The other busy bins, in turn.
    rounds: VecDeque<u32>,
}

impl Rounds {
    /// `count` bins, none of which is busy, of the same quantum.
    pub fn new(count: usize, quantum: i64) -> Self {
        let turn = Turn { deficit: 0, quantum: quantum.max(1), scheduled: false };
        Self { turns: vec![turn; count], fresh: VecDeque::new(), rounds: VecDeque::new() }
    }

    /// Makes it at least `count` bins; the quantum of the new ones is to be set.
    pub fn grow(&mut self, count: usize) {
        if count > self.turns.len() {
            self.turns.resize(count, Turn { deficit: 0, quantum: 1, scheduled: false });
        }
    }

    /// Gives a bin a quantum of this many bytes from its next turn on.
    pub fn set_quantum(&mut self, bin: usize, bytes: f64) {
        self.turns[bin].quantum = (bytes + 0.5).max(1.0) as i64;
    }

    /// Does the bin take part?
    #[inline]
    pub fn is_scheduled(&self, bin: usize) -> bool {
        self.turns[bin].scheduled
    }

    /// Bytes a bin may still send in its turn; negative if it has sent more than it might.
    pub fn deficit(&self, bin: usize) -> i64 {
        self.turns[bin].deficit
    }

    /// How many bins take part.
    pub fn busy(&self) -> usize {
        self.fresh.len() + self.rounds.len()
    }

    /// A bin, if it does not take part, takes part from now on, before those that were busy already.
    #[inline]
    pub fn join_first(&mut self, bin: usize) {
        if self.begin(bin) {
            self.fresh.push_back(bin as u32);
        }
    }

    /// A bin, if it does not take part, takes part from now on, after all others.
    #[inline]
    pub fn join_last(&mut self, bin: usize) {
        if self.begin(bin) {
            self.rounds.push_back(bin as u32);
        }
    }

    fn begin(&mut self, bin: usize) -> bool {
        let turn = &mut self.turns[bin];
        let joins = !turn.scheduled;
        if joins {
            *turn = Turn { deficit: turn.quantum, scheduled: true, ..*turn };
        }
        joins
    }

    /// The bin whose turn it is: the first whose deficit covers what it needs. A bin whose deficit
    /// does not goes to the end of the round with another quantum.
    #[inline]
    pub fn current(&mut self, need: impl Fn(usize) -> i64) -> Option<usize> {
        loop {
            let list = if self.fresh.is_empty() { &mut self.rounds } else { &mut self.fresh };
            let bin = *list.front()?;
            let turn = &mut self.turns[bin as usize];
            if turn.deficit >= need(bin as usize) {
                return Some(bin as usize);
            }
            list.pop_front();
            turn.deficit += turn.quantum;
            self.rounds.push_back(bin);
        }
    }

    /// The bin whose turn it is has sent this many bytes.
    #[inline]
    pub fn charge(&mut self, bin: usize, bytes: i64) {
        self.turns[bin].deficit -= bytes;
    }

    /// The bin whose turn it is takes part no longer.
    pub fn retire_current(&mut self) {
        if let Some(bin) = self.fresh.pop_front().or_else(|| self.rounds.pop_front()) {
            self.turns[bin as usize].scheduled = false;
        }
    }

    /// The bin whose turn it is has nothing to send: it takes part no longer, but if it is one of
    /// those that go first it takes one turn with the others before (RFC 8290 §4.2).
    pub fn age_or_retire_current(&mut self) {
        match self.fresh.pop_front() {
            Some(bin) => self.rounds.push_back(bin),
            None => self.retire_current(),
        }
    }
}
