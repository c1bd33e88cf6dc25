//! Turns of bins: deficit round robin in its forms.
//!
//! Busy bins take turns. In each turn a bin may send its quantum of bytes; the difference from what
//! it sends is kept as its deficit (Shreedhar & Varghese 1996). A bin that has just become busy
//! joins the end of the round (`join_last`), or goes before all bins that were busy already
//! (`join_first`), as in SFQ-CoDel and FQ-CoDel.
//!
//! The quantum of a turn is granted when the previous turn ends, which is equivalent to its start.

use std::collections::VecDeque;

#[derive(Clone, Copy)]
struct Turn {
    /// Bytes the bin may still send in this turn.
    deficit: i64,
    /// Bytes it may send in each turn.
    quantum: i64,
    /// Is it in one of the lists?
    scheduled: bool,
}

/// The busy bins, in the order of service.
pub(super) struct Rounds {
    turns: Vec<Turn>,
    /// Bins that became busy and have not used up their first quantum; served first.
    fresh: VecDeque<u32>,
    /// The other busy bins, in turn.
    rounds: VecDeque<u32>,
}

impl Rounds {
    /// Creates `count` idle bins with the same quantum.
    pub(super) fn new(count: usize, quantum: i64) -> Self {
        let turn = Turn { deficit: 0, quantum: quantum.max(1), scheduled: false };
        Self { turns: vec![turn; count], fresh: VecDeque::new(), rounds: VecDeque::new() }
    }

    /// Grows to at least `count` bins. The caller sets the quantum of new bins.
    pub(super) fn grow(&mut self, count: usize) {
        let count = count.max(self.turns.len());
        self.turns.resize(count, Turn { deficit: 0, quantum: 1, scheduled: false });
    }

    /// Sets a bin's quantum from its next turn on.
    pub(super) fn set_quantum(&mut self, bin: usize, bytes: f64) {
        self.turns[bin].quantum = (bytes + 0.5).max(1.0) as i64;
    }

    /// Is the bin busy?
    #[inline]
    pub(super) fn is_scheduled(&self, bin: usize) -> bool {
        self.turns[bin].scheduled
    }

    /// Bytes a bin may still send in its turn; negative if it has sent too much.
    pub(super) fn deficit(&self, bin: usize) -> i64 {
        self.turns[bin].deficit
    }

    /// Do any bins wait behind those that have just become busy?
    pub(super) fn has_old(&self) -> bool {
        !self.rounds.is_empty()
    }

    /// Number of busy bins.
    pub(super) fn busy(&self) -> usize {
        self.fresh.len() + self.rounds.len()
    }

    /// Adds a bin, if it is not yet scheduled, before those that were busy already.
    #[inline]
    pub(super) fn join_first(&mut self, bin: usize) {
        if self.begin(bin) {
            self.fresh.push_back(bin as u32);
        }
    }

    /// Adds a bin, if it is not yet scheduled, after all others.
    #[inline]
    pub(super) fn join_last(&mut self, bin: usize) {
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

    /// The bin at the head of the order, whatever its deficit.
    pub(super) fn first(&self) -> Option<usize> {
        self.fresh.front().or_else(|| self.rounds.front()).map(|bin| *bin as usize)
    }

    /// The bin whose turn it is: the first whose deficit covers its `need`. A bin with too small a
    /// deficit gets another quantum and goes to the end of the round.
    #[inline]
    pub(super) fn current(&mut self, need: impl Fn(usize) -> i64) -> Option<usize> {
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

    /// Charges the bin whose turn it is for the bytes it has sent.
    #[inline]
    pub(super) fn charge(&mut self, bin: usize, bytes: i64) {
        self.turns[bin].deficit -= bytes;
    }

    /// Removes the bin whose turn it is.
    pub(super) fn retire_current(&mut self) {
        if let Some(bin) = self.fresh.pop_front().or_else(|| self.rounds.pop_front()) {
            self.turns[bin as usize].scheduled = false;
        }
    }

    /// Removes the bin whose turn it is, since it is empty. A bin that goes first takes one turn
    /// among the others before it leaves (RFC 8290 §4.2).
    pub(super) fn age_or_retire_current(&mut self) {
        match self.fresh.pop_front() {
            Some(bin) => self.rounds.push_back(bin),
            None => self.retire_current(),
        }
    }
}
