//! The ACK filter of CAKE: an acknowledgement that a later one makes superfluous leaves (Linux 7.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::{Flags, Packet, SACK_BLOCKS, SackBlock};

/// Which acknowledgements are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AckFilter {
    /// None.
    #[default]
    Off,
    /// The older of two that a new one makes superfluous.
    On,
    /// One alone too, if it is the last before the new one and its echoes of marks are the same.
    Aggressive,
}

/// The place of the one to drop among the packets of a flow, the new one being the last.
pub(super) fn superfluous<'a>(
    filter: AckFilter,
    waiting: impl Iterator<Item = &'a Packet>,
    new: &Packet,
) -> Option<usize> {
    let is_trigger = new.segment.has(Flags::ACK) && !new.segment.has(Flags::SYN);
    if filter == AckFilter::Off || !is_trigger {
        return None;
    }
    let mut first = None;
    let mut count = 0;
    for (place, packet) in waiting.enumerate() {
        count = place + 1;
        if !is_superfluous(packet, new) {
            continue;
        }
        match first {
            None => first = Some((place, echoes(packet))),
            Some((place, _)) => return Some(place),
        }
    }
    let (place, of_first) = first?;
    let is_last = place + 1 == count;
    (filter == AckFilter::Aggressive && is_last && of_first == echoes(new)).then_some(place)
}

/// Is it a bare acknowledgement that reports nothing beyond what the new packet does?
fn is_superfluous(old: &Packet, new: &Packet) -> bool {
    let is_same = (old.flow, old.generation) == (new.flow, new.generation);
    // What reports a duplicate stays, and so does a flag that was once reserved.
    let says_more = || old.segment.own.blocks()[0].is_below() || old.segment.has(Flags::AE);
    if !is_same || !old.is_bare_ack() || old.segment.ack > new.segment.ack || says_more() {
        return false;
    }
    let (of_old, of_new) = (held(old), held(new));
    let tells_less = of_old.iter().all(|(start, end)| {
        *end <= new.segment.ack || of_new.iter().any(|(from, until)| from <= start && end <= until)
    });
    tells_less && (old.segment.ack < new.segment.ack || of_old != of_new)
}

/// The bytes that are held beyond the acknowledgement; unused blocks are empty.
fn held(packet: &Packet) -> [(u64, u64); SACK_BLOCKS] {
    let ack = packet.segment.ack;
    let range = |block: SackBlock| match block.end {
        0 => (0, 0),
        end => (ack + u64::from(block.start), ack + u64::from(end)),
    };
    packet.segment.own.blocks().map(range)
}

fn echoes(packet: &Packet) -> [bool; 2] {
    [Flags::ECE, Flags::CWR].map(|flag| packet.segment.has(flag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Own, Segment};

    fn ack(ack: u64, held: [u32; 2], flags: Flags) -> Packet {
        let [start, end] = held;
        let blocks = [SackBlock { start, end }, SackBlock::default(), SackBlock::default()];
        let own = Own::of_blocks(blocks);
        let segment = Segment { ack, own, flags: Flags::ACK.and(flags), ..Segment::default() };
        Packet { segment, flow: 1, ..Packet::datagram(64) }
    }

    #[test]
    fn the_older_of_two_leaves_and_one_alone_only_where_asked() {
        let none = Flags::default();
        let plain = |number| ack(number, [0, 0], none);
        let dropped =
            |filter, waiting: &[Packet], new: Packet| superfluous(filter, waiting.iter(), &new);
        let two = [plain(1), plain(2)];
        assert_eq!(dropped(AckFilter::Off, &two, plain(3)), None);
        assert_eq!(dropped(AckFilter::On, &two, plain(3)), Some(0));
        assert_eq!(dropped(AckFilter::On, &two[1..], plain(3)), None);
        assert_eq!(dropped(AckFilter::Aggressive, &two[1..], plain(3)), Some(0));
        // Marks would be lost.
        assert_eq!(dropped(AckFilter::Aggressive, &two[1..], ack(3, [0, 0], Flags::ECE)), None);
        // Duplicates count losses, unless the new one holds more.
        assert_eq!(dropped(AckFilter::On, &[plain(3), plain(3)], plain(3)), None);
        let holding = |end| ack(3, [1000, end], none);
        assert_eq!(dropped(AckFilter::On, &[holding(2000), holding(3000)], holding(4000)), Some(0));
        assert_eq!(dropped(AckFilter::On, &[holding(5000), holding(5000)], holding(4000)), None);
    }

    #[test]
    fn only_bare_acknowledgements_leave_and_only_for_later_ones() {
        let none = Flags::default();
        let plain = |number| ack(number, [0, 0], none);
        let dropped = |waiting: &[Packet], new| superfluous(AckFilter::On, waiting.iter(), &new);
        let two = [plain(1), plain(2)];
        // What opens a connection acknowledges too, and what acknowledges nothing reports nothing.
        assert_eq!(dropped(&two, ack(3, [0, 0], Flags::SYN)), None);
        let mut silent = plain(3);
        silent.segment.flags = none;
        assert_eq!(dropped(&two, silent), None);
        // A payload stays, and what came out of order reports more than the new one.
        let mut data = plain(1);
        data.segment.len = 1000;
        assert_eq!(dropped(&[data, plain(2)], plain(3)), None);
        assert_eq!(dropped(&[plain(4), plain(2)], plain(3)), None);
        assert_eq!(dropped(&[Packet { flow: 2, ..plain(1) }, plain(2)], plain(3)), None);
        // Linux drops no packet with the flag AE, which was reserved, but drops for one.
        assert_eq!(dropped(&[ack(1, [0, 0], Flags::AE), plain(2)], plain(3)), None);
        assert_eq!(dropped(&two, ack(3, [0, 0], Flags::AE)), Some(0));
    }

    /// 1000 to 2000 beyond 1 are held: all of that is acknowledged from 2001 on.
    #[test]
    fn what_was_held_is_told_by_an_acknowledgement_of_it_all() {
        let none = Flags::default();
        let holding = |number| ack(number, [1000, 2000], none);
        let dropped = |new| {
            superfluous(AckFilter::On, [holding(1), holding(1)].iter(), &ack(new, [0, 0], none))
        };
        assert_eq!([dropped(2000), dropped(2001)], [None, Some(0)]);
        // What came twice is known to this one alone.
        let [first, second] = [ack(2001, [500, 0], none), holding(1)];
        assert_eq!(
            superfluous(AckFilter::On, [first, second].iter(), &ack(3000, [0, 0], none)),
            None
        );
        // The same bytes are held, from 1001 on.
        let waiting = [holding(1), holding(1)];
        let same = ack(501, [500, 1500], none);
        assert_eq!(superfluous(AckFilter::On, waiting.iter(), &same), Some(0));
        for fewer in [[501, 1500], [500, 1499]] {
            assert_eq!(superfluous(AckFilter::On, waiting.iter(), &ack(501, fewer, none)), None);
        }
    }
}
