//! Where the grants of a MAP are: unsolicited grants and polls at their times, the others in what
//! they leave free.
//!
//! A requested grant that meets an unsolicited one is split in two, each with its own headers. What
//! does not fit into the MAP interval at its time comes in the next one.

use super::framing::Framing;
use super::unsolicited::{Opportunity, Unsolicited};
use sojourn_engine::units::Time;

/// An unsolicited grant or a poll that is to be placed.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: Time,
    /// It is dropped if it cannot be placed until then.
    until: Time,
    source: u32,
    profile: u8,
    what: Opportunity,
    /// May a grant carry what its minislots hold?
    is_filled: bool,
}

/// An unsolicited grant or a poll in the MAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// First minislot, and their number.
    pub place: u64,
    /// Minislots.
    pub minislots: u64,
    /// Index of the flow's [`Unsolicited`].
    pub source: u32,
    /// What it is.
    pub what: Opportunity,
}

/// A part of a requested grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// First minislot, and their number.
    pub place: u64,
    /// Minislots.
    pub minislots: u64,
    /// Bytes that it carries.
    pub bytes: u64,
}

/// The unsolicited grants and polls of a MAP.
pub(super) struct MapLayout {
    /// Minislots of a poll.
    poll: u64,
    due: Vec<Due>,
    placed: Vec<Placed>,
}

impl MapLayout {
    /// An empty MAP whose polls have so many minislots.
    pub(super) fn new(poll_minislots: u64) -> Self {
        Self { poll: poll_minislots, due: Vec::new(), placed: Vec::new() }
    }

    /// Places what is due in the MAP interval that begins at `map`. Each source has its profile.
    pub(super) fn fill<'a>(
        &mut self,
        map: Time,
        framing: &Framing,
        sources: impl Iterator<Item = (u8, &'a mut Unsolicited)>,
    ) {
        let end = map + framing.map_interval();
        for (source, (profile, unsolicited)) in (0..).zip(sources) {
            while unsolicited.next() < end {
                let at = unsolicited.next();
                let what = unsolicited.take();
                let until = at + unsolicited.interval();
                let is_filled = unsolicited.is_filled();
                self.due.push(Due { at, until, source, profile, what, is_filled });
            }
        }
        self.due.sort_by_key(|due| due.at);
        let minislots = framing.minislots();
        let (mut free_from, poll) = (0, self.poll);
        let placed = &mut self.placed;
        placed.clear();
        self.due.retain(|due| {
            if due.until < map {
                return false;
            }
            let place = framing.minislot_at(due.at.since(map)).max(free_from);
            let length = match due.what {
                Opportunity::Grant(bytes) => framing.minislots_for(due.profile, bytes),
                Opportunity::Poll => poll,
            };
            if place + length > minislots {
                return true;
            }
            free_from = place + length;
            let what = match due.what {
                Opportunity::Grant(bytes) if due.is_filled => {
                    Opportunity::Grant(framing.bytes_in(due.profile, length).max(bytes))
                }
                what => what,
            };
            let source = due.source;
            placed.push(Placed { place, minislots: length, source, what });
            false
        });
    }

    /// What is placed, in order.
    pub(super) fn placed(&self) -> &[Placed] {
        &self.placed
    }

    /// Minislots that are taken.
    pub(super) fn taken(&self) -> u64 {
        self.placed.iter().map(|placed| placed.minislots).sum()
    }

    /// How many runs of taken minislots there are.
    pub(super) fn runs(&self) -> u64 {
        let ends = self.placed.iter().map(|placed| placed.place + placed.minislots);
        let before = std::iter::once(u64::MAX).chain(ends);
        before.zip(&self.placed).filter(|(end, placed)| *end != placed.place).count() as u64
    }

    /// The minislot of this number among the free ones, and how many free ones follow from it on.
    pub(super) fn free(&self, mut number: u64, minislots: u64) -> (u64, u64) {
        let mut from = 0;
        for placed in &self.placed {
            let run = placed.place - from;
            if number < run {
                return (from + number, run - number);
            }
            number -= run;
            from = placed.place + placed.minislots;
        }
        (from + number, minislots.saturating_sub(from + number))
    }

    /// The first part of a grant of `bytes` from the free minislot of this number on. Returns it, if
    /// one fits before the next unsolicited grant, and the number of the free minislot behind it.
    pub(super) fn part(
        &self,
        number: u64,
        bytes: u64,
        profile: u8,
        framing: &Framing,
    ) -> (Option<Part>, u64) {
        let (place, run) = self.free(number, framing.minislots());
        let needed = framing.minislots_for(profile, bytes);
        if needed <= run {
            return (Some(Part { place, minislots: needed, bytes }), number + needed);
        }
        let fits = framing.bytes_in(profile, run);
        let part = (fits > 0).then_some(Part { place, minislots: run, bytes: fits });
        (part, number + run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docsis::upstream_channel::UpstreamChannel;

    /// One single carrier: 160 minislots of 12.5 us in 2 ms, of 48 B. A burst of up to 253 B has
    /// 104 symbols and 28 B around its bytes.
    fn framing() -> Framing {
        Framing::of(&UpstreamChannel { channels: 1, ..UpstreamChannel::default() })
    }

    fn with(placed: &[(u64, u64)]) -> MapLayout {
        let mut layout = MapLayout::new(2);
        layout.placed = placed
            .iter()
            .map(|&(place, minislots)| Placed {
                place,
                minislots,
                source: 0,
                what: Opportunity::Poll,
            })
            .collect();
        layout
    }

    #[test]
    fn free_minislots_skip_those_that_are_taken() {
        let layout = with(&[(0, 2), (10, 5)]);
        assert_eq!((layout.taken(), layout.runs()), (7, 2));
        assert_eq!(with(&[(0, 2), (2, 5)]).runs(), 1);
        assert_eq!(layout.free(0, 160), (2, 8));
        assert_eq!(layout.free(7, 160), (9, 1));
        assert_eq!(layout.free(8, 160), (15, 145));
        assert_eq!(layout.free(153, 160), (160, 0));
    }

    #[test]
    fn a_grant_is_split_where_an_unsolicited_one_is() {
        let (framing, layout) = (framing(), with(&[(10, 5)]));
        // 228 + 8 B of header: 2 codewords, 276 B are 368 symbols of 6 bits, 472 with 104 around
        // them: 8 minislots. They fit from 0 to 2 on, and not from 3.
        let whole = Part { place: 2, minislots: 8, bytes: 228 };
        assert_eq!(layout.part(2, 228, 0, &framing), (Some(whole), 10));
        // 7 minislots are 448 symbols, 344 without what is around them, 258 B. One codeword of 220 B
        // and 20 of parity fits, and a second one, of 1 B and 20, does not: 220 less the header.
        let first = Part { place: 3, minislots: 7, bytes: 212 };
        assert_eq!(layout.part(3, 228, 0, &framing), (Some(first), 10));
        // One minislot carries nothing; the grant begins behind the hole.
        assert_eq!(layout.part(9, 228, 0, &framing), (None, 10));
        let behind = Part { place: 15, minislots: 8, bytes: 228 };
        assert_eq!(layout.part(10, 228, 0, &framing), (Some(behind), 18));
    }

    /// Minislots of 8 B and 2 us, 1000 in an interval of 2 ms.
    fn filled(
        layout: &mut MapLayout,
        map_ms: u64,
        sources: &mut [Unsolicited],
    ) -> Vec<(u64, u64, u32)> {
        let framing = super::super::for_tests::plain_framing();
        let sources = sources.iter_mut().map(|unsolicited| (0, unsolicited));
        layout.fill(Time::from_ms(map_ms), &framing, sources);
        layout
            .placed()
            .iter()
            .map(|placed| (placed.place, placed.minislots, placed.source))
            .collect()
    }

    /// In the order of their times, one behind the other where they meet; polls have two minislots.
    #[test]
    fn unsolicited_grants_are_at_their_times() {
        let (us, interval) = (Time::from_us, Time::from_ms(4));
        let mut sources = [
            Unsolicited::grants_from(us(2100), interval, 80),
            Unsolicited::polls_from(us(2050), interval),
            Unsolicited::grants_from(us(2111), interval, 81),
            Unsolicited::grants_from(us(4001), interval, 8),
        ];
        let mut layout = MapLayout::new(2);
        // Minislots 50 to 60, 25, 56 and so 60 on, and the first of the next interval that begins no earlier.
        assert_eq!(filled(&mut layout, 2, &mut sources), [(25, 2, 1), (50, 10, 0), (60, 11, 2)]);
        assert_eq!(layout.placed()[0].what, Opportunity::Poll);
        assert_eq!(layout.placed()[2].what, Opportunity::Grant(81));
        assert_eq!(filled(&mut layout, 4, &mut sources), [(1, 1, 3)]);
    }

    /// 10 minislots at 3.98 ms fit, and at 3.982 ms they come in the next interval, or never if their own is over by then.
    #[test]
    fn what_does_not_fit_comes_in_the_next_interval() {
        let us = Time::from_us;
        for (first, interval_us, now, next) in [
            (3980, 4000, Some((990, 10, 0)), None),
            (3982, 4000, None, Some((0, 10, 0))),
            (3982, 18, None, Some((0, 10, 0))),
            (3982, 17, None, None),
        ] {
            let mut sources = [Unsolicited::grants_from(us(first), us(interval_us), 80)];
            let mut layout = MapLayout::new(2);
            if interval_us < 100 {
                // One alone, whose interval is short.
                sources = [Unsolicited::grants_from(us(first), Time::from_s(9), 80)];
                let (what, until) = (sources[0].take(), us(first + interval_us));
                let (at, source, profile) = (us(first), 0, 0);
                layout.due.push(Due { at, until, source, profile, what, is_filled: false });
            }
            assert_eq!(filled(&mut layout, 2, &mut sources), Vec::from_iter(now));
            assert_eq!(
                filled(&mut layout, 4, &mut sources).first().copied(),
                next,
                "{first} {interval_us}"
            );
            assert!(layout.due.is_empty(), "what is over is forgotten");
        }
    }

    /// 81 B have 11 minislots of 8 B, which proactive grants fill.
    #[test]
    fn proactive_grants_fill_their_minislots() {
        let mut layout = MapLayout::new(2);
        let (first, interval) = (Time::from_us(2100), Time::from_ms(4));
        let mut sources = [Unsolicited::grants_from(first, interval, 81).filled()];
        assert_eq!(filled(&mut layout, 2, &mut sources), [(50, 11, 0)]);
        assert_eq!(layout.placed()[0].what, Opportunity::Grant(88));
    }
}
