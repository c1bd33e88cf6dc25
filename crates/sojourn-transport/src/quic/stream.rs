//! A stream of bytes: what of it is sent, lost and acknowledged, and what has come. The end of a stream
//! takes one number after its last byte.

use crate::ranges::Ranges;

/// A piece of a stream to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    /// Its first byte.
    pub offset: u64,
    /// Its bytes, with the end of the stream counted for one.
    pub len: u64,
    /// It was sent before.
    pub again: bool,
}

/// The sending side.
#[derive(Default)]
pub(super) struct Outgoing {
    /// The first byte that is not acknowledged.
    una: u64,
    /// One past the highest byte sent.
    nxt: u64,
    /// One past the last byte to send.
    end: u64,
    has_fin: bool,
    /// Acknowledged beyond `una`.
    acknowledged: Ranges,
    /// To be sent again.
    lost: Ranges,
}

impl Outgoing {
    /// Adds data to send; `u64::MAX` for data without end.
    pub(super) fn append(&mut self, bytes: u64) {
        self.end = self.end.saturating_add(bytes);
    }

    /// The stream ends after the data.
    pub(super) fn close(&mut self) {
        self.has_fin = true;
    }

    /// Is all data acknowledged, whatever of the end?
    pub(super) fn all_data_acknowledged(&self) -> bool {
        self.end > 0 && self.una >= self.end
    }

    /// Is the end acknowledged?
    pub(super) fn fin_acknowledged(&self) -> bool {
        self.has_fin && self.una > self.end
    }

    /// Is there something to send?
    pub(super) fn has_more(&self) -> bool {
        self.nxt < self.limit() || !self.lost.is_empty()
    }

    /// Bytes to send that a packet could take now, as far as they are known.
    pub(super) fn waiting(&self) -> u64 {
        self.lost.covered().saturating_add(self.limit() - self.nxt)
    }

    /// Bytes of data that have not been sent.
    pub(super) fn unsent(&self) -> u64 {
        self.end.saturating_sub(self.nxt)
    }

    fn limit(&self) -> u64 {
        self.end.saturating_add(u64::from(self.has_fin))
    }

    /// Payload of a piece, and whether the stream ends with it.
    pub(super) fn payload(&self, piece: &Piece) -> (u64, bool) {
        let is_end = piece.offset + piece.len > self.end;
        (piece.len - u64::from(is_end), is_end)
    }

    /// A piece from `offset` up to `until`, which has at most `most` bytes; the end goes along.
    fn piece(&self, offset: u64, until: u64, most: u64, again: bool) -> Piece {
        let stop = until.min(offset.saturating_add(most));
        let takes_end = self.has_fin && stop == self.end && until > self.end;
        Piece { offset, len: stop + u64::from(takes_end) - offset, again }
    }

    /// What is to be sent next: what was lost, then new data that ends below `reach`. `most` gives the
    /// payload of a packet by its offset.
    pub(super) fn next(&mut self, reach: u64, most: impl Fn(u64) -> u64) -> Option<Piece> {
        if let Some(piece) = self.next_lost(&most) {
            return Some(piece);
        }
        let until = self.limit().min(self.una.saturating_add(reach));
        (self.nxt < until).then(|| self.piece(self.nxt, until, most(self.nxt), false))
    }

    fn next_lost(&mut self, most: impl Fn(u64) -> u64) -> Option<Piece> {
        while let Some((start, end)) = self.lost.first() {
            let (from, until) = self.acknowledged.next_hole(start.max(self.una));
            if from < end {
                return Some(self.piece(from, until.min(end), most(from), true));
            }
            self.lost.remove_below(end);
        }
        None
    }

    /// What is not acknowledged from `from` on, or else from the start: for a probe.
    pub(super) fn unacknowledged(&self, from: u64, most: impl Fn(u64) -> u64) -> Option<Piece> {
        let find = |from: u64| {
            let (offset, until) = self.acknowledged.next_hole(from);
            let until = until.min(self.nxt);
            (offset < until).then(|| self.piece(offset, until, most(offset), true))
        };
        find(from.max(self.una)).or_else(|| find(self.una))
    }

    /// A piece leaves.
    pub(super) fn sent(&mut self, piece: &Piece) {
        let end = piece.offset + piece.len;
        self.nxt = self.nxt.max(end);
        if piece.again {
            self.lost.remove_below(end); // the lowest that is lost always goes first
        }
    }

    /// A piece has arrived.
    pub(super) fn acknowledge(&mut self, offset: u64, len: u64) {
        if offset + len <= self.una {
            return;
        }
        if offset <= self.una && self.acknowledged.is_empty() {
            self.una = offset + len;
        } else {
            self.acknowledged.insert(offset.max(self.una), offset + len);
            if let Some((_, end)) = self.acknowledged.containing(self.una) {
                self.una = end;
                self.acknowledged.remove_below(end);
            }
        }
        self.lost.remove_below(self.una);
    }

    /// A piece was lost, and is to be sent again as far as no other copy of it has arrived.
    pub(super) fn lose(&mut self, offset: u64, len: u64) {
        self.lost.insert(offset.max(self.una), (offset + len).max(self.una));
    }
}

/// The receiving side.
#[derive(Default)]
pub(super) struct Incoming {
    next: u64,
    held: Ranges,
    /// One past the number of the end.
    fin_end: Option<u64>,
}

impl Incoming {
    /// Bytes received in order.
    pub(super) fn bytes(&self) -> u64 {
        self.next - u64::from(self.is_complete())
    }

    /// Has all come, up to the end?
    pub(super) fn is_complete(&self) -> bool {
        self.fin_end == Some(self.next)
    }

    /// Bytes that have come in order.
    pub(super) fn received(&self) -> u64 {
        self.next
    }

    /// Have all of these bytes come, in whatever order?
    pub(super) fn has(&self, from: u64, to: u64) -> bool {
        to <= self.next
            || self.held.containing(from.max(self.next)).is_some_and(|(_, end)| end >= to)
    }

    /// A piece has come.
    pub(super) fn on_data(&mut self, offset: u64, len: u64, fin: bool) {
        let end = offset + len + u64::from(fin);
        if fin {
            self.fin_end = Some(end);
        }
        if end <= self.next {
            return;
        }
        if offset <= self.next && self.held.is_empty() {
            self.next = end;
            return;
        }
        self.held.insert(offset.max(self.next), end);
        if let Some((_, until)) = self.held.containing(self.next) {
            self.next = until;
            self.held.remove_below(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(stream: &mut Outgoing) -> Option<(u64, u64, bool)> {
        let piece = stream.next(u64::MAX, |_| 100)?;
        stream.sent(&piece);
        Some((piece.offset, piece.len, piece.again))
    }

    #[test]
    fn what_is_lost_goes_first_and_not_where_a_copy_has_arrived() {
        let mut stream = Outgoing::default();
        stream.append(350);
        stream.close();
        let sent: Vec<_> = std::iter::from_fn(|| next(&mut stream)).collect();
        assert_eq!(sent, [(0, 100, false), (100, 100, false), (200, 100, false), (300, 51, false)]);
        stream.lose(0, 200);
        stream.lose(300, 51);
        stream.acknowledge(50, 100);
        let again: Vec<_> = std::iter::from_fn(|| next(&mut stream)).collect();
        assert_eq!(again, [(0, 50, true), (150, 50, true), (300, 51, true)]);
        stream.acknowledge(0, 50);
        stream.acknowledge(150, 201);
        assert!(stream.fin_acknowledged() && !stream.has_more());
    }

    #[test]
    fn a_probe_goes_on_where_the_last_one_ended() {
        let mut stream = Outgoing::default();
        stream.append(250);
        while next(&mut stream).is_some() {}
        let probe = |from| stream.unacknowledged(from, |_| 100).map(|p| (p.offset, p.len));
        assert_eq!([probe(0), probe(100), probe(250)], [(0, 100), (100, 100), (0, 100)].map(Some));
    }

    #[test]
    fn what_comes_early_waits_for_the_hole() {
        let mut stream = Incoming::default();
        for (offset, len, fin, bytes) in
            [(100, 50, false, 0), (200, 50, true, 0), (0, 120, false, 150), (140, 60, false, 250)]
        {
            stream.on_data(offset, len, fin);
            assert_eq!(stream.bytes(), bytes, "{offset}");
        }
        assert!(stream.is_complete());
    }
}
