//! What the head of line of an upstream service flow waits for.
//!
//! A packet waits behind others as long as these are sent. From the last piece that is sent before it leaves, it waits
//! for what the head of line waits for, whether it is the head itself or stands behind it: for a chance to request, in
//! contention, for a grant, for tokens. It may leave to be sent, dropped or superseded, or the run may end: a grant that
//! never comes has been waited for. The changes since the last piece are kept until the next one begins.
//!
//! While the modem is silent all packets in it wait for that, as those on the way to a home do.

use super::outages::Outages;
use sojourn_engine::record::Part;
use sojourn_engine::units::Time;

/// The changes since the last piece was sent.
pub(super) struct HeadOfLine {
    since: Time,
    /// What the head waits for, and from when on.
    waits: Vec<(Time, Part)>,
    /// What one waits for for which nothing has been requested.
    first: Part,
    /// When its modem is silent.
    pub silent: Outages,
}

impl HeadOfLine {
    /// At a modem that is silent at these times.
    pub(super) fn new(first: Part, silent: Outages) -> Self {
        Self { since: Time::ZERO, waits: Vec::new(), first, silent }
    }

    /// What one waits for for which nothing has been requested.
    pub(super) fn first(&self) -> Part {
        self.first
    }

    /// The last piece has been sent: the next packet is the head.
    #[inline]
    pub(super) fn restart(&mut self, now: Time) {
        self.since = now;
        self.waits.clear();
    }

    /// From now on the head waits for this.
    #[inline]
    pub(super) fn turn(&mut self, now: Time, part: Part) {
        match self.waits.last_mut() {
            Some((_, last)) if *last == part => {}
            Some((at, last)) if *at >= now => *last = part,
            _ => self.waits.push((now, part)),
        }
    }

    /// When a packet that came at `came` has become the head.
    #[inline]
    fn begins(&self, came: Time) -> Time {
        self.since.max(came)
    }

    /// What a packet that came to the queue at `came` has waited for until now, beside packets before it: while its modem
    /// is silent for that and, from when the last piece was sent, for what the head waits for. `sends` says that another
    /// is being sent.
    pub(super) fn split_queued(
        &self,
        came: Time,
        now: Time,
        sends: bool,
        mut each: impl FnMut(Part, Time),
    ) {
        let begins = if sends { now } else { self.begins(came).min(now) };
        let stalled = self.silent.within(came, begins);
        if stalled > Time::ZERO {
            each(Part::Stall, stalled);
        }
        if begins < now {
            self.split(begins, now, each);
        }
    }

    /// What the head waits for from `from` until `now`.
    pub(super) fn split(&self, from: Time, now: Time, mut each: impl FnMut(Part, Time)) {
        let mut last = (from, self.first);
        for &(at, part) in self.waits.iter().filter(|(at, _)| *at < now) {
            self.split_wait(last, at, &mut each);
            last = (at.max(from), part);
        }
        self.split_wait(last, now, &mut each);
    }

    /// A wait for one thing, without the times in which the modem is silent.
    fn split_wait(
        &self,
        (from, part): (Time, Part),
        until: Time,
        each: &mut impl FnMut(Part, Time),
    ) {
        if self.silent.is_empty() && from < until {
            return each(part, until - from);
        }
        let part = |is_silent: bool| if is_silent { Part::Stall } else { part };
        self.silent.split(from, until, |is_silent, span| each(part(is_silent), span));
    }
}

#[cfg(test)]
mod tests {
    use super::super::for_tests::*;
    use super::*;

    fn split(head: &HeadOfLine, from: u64, until: u64) -> Vec<(Part, u64)> {
        let mut parts = Vec::new();
        head.split(MS(from), MS(until), |part, span| parts.push((part, span.ps() / 1_000_000_000)));
        parts
    }

    /// A request at 4 ms and tokens from 8 ms on; a packet that comes at 6 ms waits for the rest alone. A modem is silent
    /// from 5 to 7 ms.
    #[test]
    fn the_changes_split_the_wait_of_the_head() {
        let stalls = "stalls = [{ start_s = 0.005, length_s = 0.002 }]";
        for (keys, from, want) in [
            ("", 1, vec![(Part::RequestWait, 3), (Part::GrantWait, 4), (Part::Shaping, 2)]),
            ("", 6, vec![(Part::GrantWait, 2), (Part::Shaping, 2)]),
            (stalls, 6, vec![(Part::Stall, 1), (Part::GrantWait, 1), (Part::Shaping, 2)]),
        ] {
            let silent = Outages::new(&upstream(keys).stalls);
            let mut head = HeadOfLine::new(Part::RequestWait, silent);
            head.restart(MS(1));
            for (ms, part) in [
                (1, Part::RequestWait),
                (4, Part::RequestWait),
                (4, Part::GrantWait),
                (6, Part::GrantWait),
                (8, Part::Shaping),
                (20, Part::GrantWait),
            ] {
                head.turn(MS(ms), part);
            }
            assert_eq!(split(&head, from, 10), want, "{keys}");
            assert_eq!((head.begins(MS(0)), head.begins(MS(3))), (MS(1), MS(3)));
            head.restart(MS(10));
            assert_eq!(split(&head, 10, 12), [(Part::RequestWait, 2)]);
        }
    }
}
