//! Marks of QUIC packets: what an end has received, as its ACK frames count it, and whether the path and the other end
//! keep to it (RFC 9000 §13.4, appendix A.4).
//!
//! Left out: the test of a path that drops what is ECT, and further tests after one has failed.

use sojourn_engine::packet::Ecn;

use super::sizes;

/// Packets that are sent as ECT(0) before any feedback (RFC 9000 §13.4.2).
const TESTED: u64 = 10;

/// What an end knows of ECN on the path to the other end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Path {
    /// The first packets are ECT(0).
    #[default]
    Testing,
    /// They have left, and nothing is known of them.
    Unknown,
    /// They were counted right.
    Capable,
    /// They were not.
    Failed,
}

/// How packets arrived that an ACK frame is the first to report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reported {
    /// Those that had left as ECT(0).
    sent_ect: u64,
    /// Those that the frame counts as ECT(0), as ECT(1) and as CE.
    ect0: u64,
    ect1: u64,
    ce: u64,
}

/// Marks at one end.
#[derive(Default)]
pub(super) struct Marks {
    path: Path,
    /// Packets from this number on are not of the test.
    tested: u64,
    /// Packets of these numbers left as ECT(0) after it.
    since: Option<u64>,
    until: Option<u64>,
    /// Of what has arrived: ECT(0), ECT(1) and CE.
    arrived: [u64; 3],
}

impl Marks {
    /// A packet has arrived with this field.
    pub(super) fn count(&mut self, ecn: Ecn) {
        let place = match ecn {
            Ecn::NotEct => return,
            Ecn::Ect0 => 0,
            Ecn::Ect1 => 1,
            Ecn::Ce => 2,
        };
        self.arrived[place] += 1;
    }

    /// Bytes of the counts in an ACK frame, which has them if there is anything to count (RFC 9000 §19.3.2).
    pub(super) fn frame_bytes(&self) -> u64 {
        match self.arrived {
            [0, 0, 0] => 0,
            counts => counts.into_iter().map(sizes::varint).sum(),
        }
    }

    /// The field of the packet of this number, which leaves now.
    pub(super) fn field(&mut self, number: u64) -> Ecn {
        if self.path == Path::Testing && number >= TESTED {
            self.path = Path::Unknown;
        }
        match self.path {
            Path::Testing => {
                self.tested = number + 1;
                Ecn::Ect0
            }
            Path::Capable => Ecn::Ect0,
            Path::Unknown | Path::Failed => Ecn::NotEct,
        }
    }

    /// A frame reports a packet that arrived with this field.
    pub(super) fn report(&self, number: u64, came: Ecn, reported: &mut Reported) {
        let is_later = self.since.is_some_and(|since| number >= since);
        let was_ect = number < self.tested || is_later && self.until.is_none_or(|end| number < end);
        reported.sent_ect += u64::from(was_ect);
        match came {
            Ecn::NotEct => {}
            Ecn::Ect0 => reported.ect0 += 1,
            Ecn::Ect1 => reported.ect1 += 1,
            Ecn::Ce => reported.ce += 1,
        }
    }

    /// A frame was read, when `next` is the number of the packet to leave next. RFC 9000 §13.4.2.1: as many must be
    /// counted as ECT(0) or CE as left as ECT(0), and none as what was not sent. Says whether new marks are reported.
    pub(super) fn validate(&mut self, reported: &Reported, next: u64) -> bool {
        let Reported { sent_ect, ect0, ect1, ce } = *reported;
        if ect0 + ce < sent_ect || ect0 > sent_ect || ect1 > 0 {
            self.path = Path::Failed;
            self.until.get_or_insert(next);
        } else if sent_ect > 0 && matches!(self.path, Path::Testing | Path::Unknown) {
            self.path = Path::Capable;
            self.since = Some(next);
        }
        ce > 0 && self.path == Path::Capable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 0 to 9 are ECT(0), later ones are not until the first are counted.
    #[test]
    fn ten_packets_test_the_path() {
        let mut marks = Marks::default();
        let sent: Vec<Ecn> = (0..12).map(|number| marks.field(number)).collect();
        assert_eq!(sent, [[Ecn::Ect0; 10].as_slice(), &[Ecn::NotEct; 2]].concat());
        let mut reported = Reported::default();
        marks.report(0, Ecn::Ect0, &mut reported);
        marks.report(10, Ecn::NotEct, &mut reported);
        assert!(!marks.validate(&reported, 12));
        assert_eq!(marks.field(12), Ecn::Ect0);
        let mut reported = Reported::default();
        marks.report(11, Ecn::NotEct, &mut reported);
        marks.report(12, Ecn::Ce, &mut reported);
        assert!(marks.validate(&reported, 13), "a mark of one that left as ECT(0)");
        assert_eq!(marks.field(13), Ecn::Ect0);
    }

    /// Of two packets that left as ECT(0): how they came, and whether ECN goes on.
    #[test]
    fn counts_that_do_not_add_up_end_it() {
        use Ecn::{Ce, Ect0, Ect1, NotEct};
        for (came, goes_on) in [
            ([Ect0, Ect0], true),
            ([Ect0, Ce], true),
            ([Ce, Ce], true),
            ([Ect0, NotEct], false),
            ([NotEct, NotEct], false),
            ([Ect0, Ect1], false),
            ([NotEct, Ce], false),
        ] {
            let mut marks = Marks::default();
            (0..2).for_each(|number| assert_eq!(marks.field(number), Ect0));
            let mut reported = Reported::default();
            (0..2).for_each(|n| marks.report(n, came[n as usize], &mut reported));
            let is_marked = marks.validate(&reported, 2);
            assert_eq!(is_marked, goes_on && came.contains(&Ce), "{came:?}");
            assert_eq!(marks.field(2) == Ect0, goes_on, "{came:?}");
            // What leaves after a failure is not expected to be counted.
            if !goes_on {
                let mut reported = Reported::default();
                marks.report(2, NotEct, &mut reported);
                assert_eq!(reported.sent_ect, 0, "{came:?}");
            }
        }
        // A packet that was not sent as ECT(0) and comes so.
        let mut marks = Marks::default();
        (0..11).for_each(|number| _ = marks.field(number));
        let mut reported = Reported::default();
        marks.report(10, Ect0, &mut reported);
        marks.validate(&reported, 11);
        assert_eq!(marks.field(11), NotEct);
    }

    /// Three integers: 2 of one byte and 100 in two.
    #[test]
    fn a_frame_has_counts_if_there_are_any() {
        let mut marks = Marks::default();
        marks.count(Ecn::NotEct);
        assert_eq!(marks.frame_bytes(), 0);
        (0..100).for_each(|_| marks.count(Ecn::Ect0));
        marks.count(Ecn::Ce);
        assert_eq!(marks.frame_bytes(), 2 + 1 + 1);
        (0..64).for_each(|_| marks.count(Ecn::Ect1));
        assert_eq!(marks.frame_bytes(), 2 + 2 + 1);
    }
}
