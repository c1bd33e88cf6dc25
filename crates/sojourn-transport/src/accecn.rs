//! Explicit congestion notification: what two ends agree on in the handshake, and how a receiver reports
//! marks. Classic feedback is one bit (RFC 3168 §6.1); accurate feedback is counters (AccECN, RFC 9768).
//!
//! What an end concludes of a path that rewrites the ECN field is in `ecn_checks.rs`.
//!
//! Left out: the counters of ECT(0) and ECT(1) bytes, by which a sender could see later than in the handshake that a
//! path rewrites the field; the bytes of the AccECN option in packets' sizes; a reaction to marks on SYN and its answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_engine::packet::{Ecn, Flags, Segment};
use sojourn_input::named;

named! {
    /// How a connection uses explicit congestion notification.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum EcnMode {
        /// No ECN: packets are Not-ECT, and queues drop them instead of marking.
        #[default]
        Off = "off",
        /// Data is ECT(0). The receiver echoes a mark until the sender reports that it has reduced its
        /// window (RFC 3168).
        Classic = "classic",
        /// Data is ECT(0), and every acknowledgement counts the marked packets (AccECN, RFC 9768).
        Accecn = "accecn",
        /// Low latency, low loss and scalable throughput: feedback as with `accecn`, and ECT(1) (RFC 9331).
        L4s = "l4s",
    }
}

impl EcnMode {
    /// Does it ask for accurate feedback?
    pub fn is_accurate(self) -> bool {
        matches!(self, Self::Accecn | Self::L4s)
    }

    /// The ECN field of packets that may be marked (RFC 3168 §5, RFC 9331 §4.1).
    pub fn codepoint(self) -> Ecn {
        match self {
            Self::Off => Ecn::NotEct,
            Self::Classic | Self::Accecn => Ecn::Ect0,
            Self::L4s => Ecn::Ect1,
        }
    }
}

/// What both ends support.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Agreed {
    /// No marks.
    #[default]
    Nothing,
    /// One bit of feedback.
    Classic,
    /// Counters.
    Accurate,
}

/// The value of AE, CWR and ECE as a number of three bits, AE the highest.
fn ace(segment: &Segment) -> u8 {
    let bit = |flag, value| if segment.has(flag) { value } else { 0 };
    bit(Flags::AE, 4) | bit(Flags::CWR, 2) | bit(Flags::ECE, 1)
}

/// The flags for such a number; higher bits do not count.
fn ace_flags(value: u8) -> Flags {
    let flag = |flag: Flags, bit: u8| flag.when(value & bit != 0);
    flag(Flags::AE, 4).and(flag(Flags::CWR, 2)).and(flag(Flags::ECE, 1))
}

/// The flags with which a SYN offers what this end supports (RFC 9768 §3.1.1, RFC 3168 §6.1.1).
pub(crate) fn offer(mode: EcnMode) -> Flags {
    match mode {
        EcnMode::Off => Flags::default(),
        EcnMode::Classic => Flags::ECE.and(Flags::CWR),
        EcnMode::Accecn | EcnMode::L4s => Flags::ACE,
    }
}

/// The flags that report the ECN field of a SYN or its answer (RFC 9768 §3.1.1 table 2).
pub(crate) fn reported(ecn: Ecn) -> Flags {
    ace_flags(match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// Does a SYN offer any of it?
pub(crate) fn offers(syn: &Segment) -> bool {
    ace(syn) != 0
}

/// The ECN field of a SYN or its answer that these flags report, if they report one (RFC 9768 §3.1.1 table 2, §3.2.2.1
/// table 4).
pub(crate) fn report(segment: &Segment) -> Option<Ecn> {
    let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
    all.into_iter().find(|ecn| ace_flags(ace(segment)) == reported(*ecn))
}

/// Is the counter of three bits zero?
pub(crate) fn is_zero(segment: &Segment) -> bool {
    ace(segment) == 0
}

/// What an end that supports this agrees to at a SYN. RFC 9768 §3.1.3: what no version has yet is taken for AccECN.
pub(crate) fn accepted(syn: &Segment, mode: EcnMode) -> Agreed {
    match (ace(syn), mode) {
        (_, EcnMode::Off) | (0b000, _) => Agreed::Nothing,
        (0b011, _) | (0b111, EcnMode::Classic) => Agreed::Classic,
        (_, EcnMode::Classic) => Agreed::Nothing,
        _ => Agreed::Accurate,
    }
}

/// The flags of the answer to a SYN that arrived with this ECN field.
pub(crate) fn answer(agreed: Agreed, ecn: Ecn) -> Flags {
    match agreed {
        Agreed::Nothing => Flags::default(),
        Agreed::Classic => Flags::ECE,
        Agreed::Accurate => reported(ecn),
    }
}

/// What an end has agreed on that offered `mode` and received this answer (RFC 9768 §3.1.1 table 2: none
/// of the flags is an end without ECN, all of them one that reflects what it does not know; 0b101 is reserved for a
/// later version of accurate feedback, §3.1.3).
pub(crate) fn concluded(answer: &Segment, mode: EcnMode) -> Agreed {
    match (ace(answer), mode) {
        (_, EcnMode::Off) => Agreed::Nothing,
        (0b001, _) | (0b101, EcnMode::Classic) => Agreed::Classic,
        (_, EcnMode::Classic) | (0b000 | 0b111, _) => Agreed::Nothing,
        _ => Agreed::Accurate,
    }
}

/// RFC 9768 §3.2.2.5.1: an acknowledgement leaves for so many marked packets at the latest.
const MARKS_PER_ACK: u8 = 2;

/// What a receiver counts (RFC 9768 §3.2.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counters {
    /// Marked packets (r.cep).
    packets: u64,
    /// Their payload bytes (r.ceb).
    bytes: u64,
    was_marked: bool,
    /// Marked packets since the last acknowledgement, counted up to the limit.
    unreported: u8,
    /// The ECN field of the answer to this end's SYN, which its next segment reports.
    answer: Option<Ecn>,
}

impl Default for Counters {
    /// RFC 9768 §3.2.1: packets are counted from 5, bytes from 0.
    fn default() -> Self {
        Self { packets: 5, bytes: 0, was_marked: false, unreported: 0, answer: None }
    }
}

impl Counters {
    /// Those of the end that opened the connection: what ends the handshake reports how the answer to
    /// its SYN arrived (RFC 9768 §3.1.1).
    pub(crate) fn after_answer(ecn: Ecn) -> Self {
        Self { answer: Some(ecn), ..Self::default() }
    }

    /// A packet has come with so many payload bytes; says whether it is to be acknowledged at once
    /// (RFC 9768 §3.2.2.5.1): the first marked one after others, and every second.
    pub(crate) fn count(&mut self, is_marked: bool, payload: u16) -> bool {
        let is_first = is_marked && !self.was_marked;
        self.was_marked = is_marked;
        if !is_marked {
            return false;
        }
        self.packets += 1;
        self.bytes += u64::from(payload);
        self.unreported = (self.unreported + 1).min(MARKS_PER_ACK);
        is_first || self.unreported == MARKS_PER_ACK
    }

    /// Writes the counters into a segment that leaves.
    pub(crate) fn write(&mut self, segment: &mut Segment) {
        let [low, ..] = self.packets.to_le_bytes();
        segment.ce_packets = low;
        let [a, b, c, ..] = self.bytes.to_le_bytes();
        segment.ce_bytes = [a, b, c];
        let flags = self.answer.take().map_or(ace_flags(low), reported);
        segment.flags.set(Flags::ACE, false);
        segment.flags = segment.flags.and(flags);
        self.unreported = 0;
    }
}

/// What an acknowledgement says of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NewMarks {
    /// Packets that it newly reports as marked.
    pub packets: u64,
    /// Payload bytes in them.
    pub bytes: u64,
}

/// What acknowledgements newly delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Delivered {
    /// Packets.
    pub packets: u64,
    /// Payload bytes of a full one.
    pub mss: u64,
}

/// What a sender knows of the other end's counters (RFC 9768 §3.2.1: s.cep, s.ceb).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    packets: u8,
    bytes: u32,
    /// Packets that an acknowledgement delivers, on average.
    per_ack: f32,
}

impl Default for Seen {
    fn default() -> Self {
        Self { packets: 5, bytes: 0, per_ack: 0.0 }
    }
}

/// Weight of an acknowledgement in that average, and the average above which it is usual that few
/// acknowledgements arrive, so that one which delivers much says nothing of a wrap (Linux of 2026).
const PER_ACK_GAIN: f32 = 1.0 / 64.0;
const THINNED: f32 = 4.0;

/// The byte counter has 24 bits (RFC 9768 §3.2.3).
const BYTES_MODULO: u32 = 1 << 24;

impl Seen {
    /// The marks that a segment newly reports, with the byte counter or, with `ace_only`, by three bits.
    /// The caller passes on segments in order only: an older one would look like a wrap.
    pub(crate) fn update(
        &mut self,
        segment: &Segment,
        delivered: Delivered,
        ace_only: bool,
    ) -> NewMarks {
        if ace_only {
            let packets = self.by_ace(segment.ce_packets, delivered.packets);
            self.packets = segment.ce_packets;
            return NewMarks { packets, bytes: packets * delivered.mss };
        }
        let [a, b, c] = segment.ce_bytes;
        let bytes = u32::from_le_bytes([a, b, c, 0]);
        let new_bytes = u64::from(bytes.wrapping_sub(self.bytes) % BYTES_MODULO);
        let low = segment.ce_packets.wrapping_sub(self.packets);
        (self.packets, self.bytes) = (segment.ce_packets, bytes);
        NewMarks { packets: by_bytes(low, new_bytes, delivered.mss), bytes: new_bytes }
    }

    /// RFC 9768 §3.2.2.5.2 and appendix A.2.1: without the option, three bits may have gone round as often
    /// as the packets acknowledged allow; the sender takes the most it can be, unless it is used to
    /// acknowledgements of many.
    fn by_ace(&mut self, now: u8, delivered: u64) -> u64 {
        let least = u64::from(now.wrapping_sub(self.packets) & 7);
        self.per_ack += (delivered as f32 - self.per_ack) * PER_ACK_GAIN;
        match delivered.checked_sub(least) {
            Some(others) if self.per_ack <= THINNED => delivered - others % 8,
            _ => least,
        }
    }
}

/// The count whose low byte is `low` and that fits these bytes: at least as many packets as they fill.
fn by_bytes(low: u8, bytes: u64, mss: u64) -> u64 {
    let least = bytes.div_ceil(mss.max(1));
    least + (u64::from(low).wrapping_sub(least) & 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(flags: u8) -> Segment {
        Segment { flags: ace_flags(flags), ..Segment::default() }
    }

    /// RFC 9768 §3.1.1 table 2, the client's offer in the first column, what the server supports in the
    /// second: the flags of the answer to an ECT(0) SYN, and what both ends then do.
    #[test]
    fn the_handshake_is_the_table_of_the_rfc() {
        use EcnMode::{Accecn, Classic, L4s, Off};
        for (client, server, flags, agreed) in [
            (Accecn, Accecn, 0b100, Agreed::Accurate),
            (L4s, L4s, 0b100, Agreed::Accurate),
            (L4s, Classic, 0b001, Agreed::Classic),
            (L4s, Off, 0b000, Agreed::Nothing),
            (Classic, L4s, 0b001, Agreed::Classic),
            (Classic, Classic, 0b001, Agreed::Classic),
            (Classic, Off, 0b000, Agreed::Nothing),
            (Off, L4s, 0b000, Agreed::Nothing),
        ] {
            let syn = Segment { flags: offer(client), ..Segment::default() };
            let at_server = accepted(&syn, server);
            let back = Segment { flags: answer(at_server, Ecn::Ect0), ..Segment::default() };
            assert_eq!(ace(&back), flags, "{client:?} {server:?}");
            let both = (at_server, concluded(&back, client));
            assert_eq!(both, (agreed, agreed), "{client:?} {server:?}");
        }
        // A server that reflects the flags of the SYN knows nothing of them; §3.1.3: a reserved answer is accurate
        // feedback of a later version, and so is a SYN with flags of no version yet.
        assert_eq!(concluded(&with(0b111), L4s), Agreed::Nothing);
        assert_eq!(concluded(&with(0b011), Classic), Agreed::Nothing);
        assert_eq!(concluded(&with(0b101), L4s), Agreed::Accurate);
        assert_eq!(report(&with(0b101)), None);
        for flags in [0b001, 0b010, 0b100, 0b101, 0b110] {
            let at = [L4s, Classic, Off].map(|server| accepted(&with(flags), server));
            assert_eq!(at, [Agreed::Accurate, Agreed::Nothing, Agreed::Nothing], "{flags:b}");
        }
    }

    #[test]
    fn the_answer_reports_the_ecn_field_of_the_syn() {
        for (ecn, flags) in
            [(Ecn::NotEct, 0b010), (Ecn::Ect1, 0b011), (Ecn::Ect0, 0b100), (Ecn::Ce, 0b110)]
        {
            let back = Segment { flags: answer(Agreed::Accurate, ecn), ..Segment::default() };
            assert_eq!(ace(&back), flags);
            assert_eq!(concluded(&back, EcnMode::L4s), Agreed::Accurate);
        }
    }

    /// The first mark after none is acknowledged at once, then every second that has not been reported.
    #[test]
    fn marks_are_counted_from_five_and_acknowledged_every_second() {
        let mut counters = Counters::default();
        assert!(!counters.count(false, 1000));
        let mut reported = Segment::default();
        counters.write(&mut reported);
        assert_eq!((ace(&reported), reported.ce_packets, reported.ce_bytes), (5, 5, [0; 3]));
        let at_once = [true, true, true, false].map(|marked| counters.count(marked, 1000));
        assert_eq!(at_once, [true, true, true, false]);
        // 5 + 3 = 8: the low three bits are 0. 3000 = 11 * 256 + 184.
        counters.write(&mut reported);
        assert_eq!((ace(&reported), reported.ce_packets, reported.ce_bytes), (0, 8, [184, 11, 0]));
        assert!(counters.count(true, 1000));
        counters.write(&mut reported);
        assert!(!counters.count(true, 1000), "the second of a row that was reported");
        assert!(counters.count(true, 1000));
    }

    fn reported(ce_packets: u8, ce_bytes: [u8; 3]) -> Segment {
        Segment { ce_packets, ce_bytes, ..Segment::default() }
    }

    #[test]
    fn counters_are_exact_through_wraps() {
        let delivered = Delivered { packets: 400, mss: 1000 };
        let mut seen = Seen::default();
        let mut marks = |packets, bytes| {
            let new = seen.update(&reported(packets, bytes), delivered, false);
            (new.packets, new.bytes)
        };
        assert_eq!(marks(7, [208, 7, 0]), (2, 2000));
        assert_eq!(marks(7, [208, 7, 0]), (0, 0));
        // 300 more: 307 - 256 = 51; 302 000 = 4 * 65536 + 155 * 256 + 176.
        assert_eq!(marks(51, [176, 155, 4]), (300, 300_000));
        // A marked packet without payload counts as a packet.
        assert_eq!(marks(52, [176, 155, 4]), (1, 0));
        // 16 777 216 - 302 000 = 16 475 216 bytes to the wrap, and 784 beyond it: 16 476 packets, the
        // low byte 16 476 - 64 * 256 = 92, 52 + 92 = 144.
        assert_eq!(marks(144, [16, 3, 0]), (16_476, 16_476_000));
    }

    /// ACE went from 5 to 7 (2 more) with 3, 10, 11 and 18 packets acknowledged: 2, 10, 10 and 18 is the
    /// most of 2, 10, 18 that there can be. From 5 to 4 are 7, which with 3 acknowledged is still 7.
    #[test]
    fn three_bits_wrap_and_the_most_is_taken() {
        for (now, delivered, want) in
            [(7, 3, 2), (7, 10, 10), (7, 11, 10), (7, 18, 18), (5, 7, 0), (5, 8, 8), (4, 3, 7)]
        {
            let delivered = Delivered { packets: delivered, mss: 1000 };
            let new = Seen::default().update(&reported(now, [0; 3]), delivered, true);
            assert_eq!(new, NewMarks { packets: want, bytes: 1000 * want }, "{now}");
        }
    }

    /// The average of 256 acknowledgements of 16 packets each is 16 (1 - (63/64)^256) = 15.7. The first is
    /// taken for two wraps, the last for one mark.
    #[test]
    fn where_acknowledgements_are_thinned_no_wrap_is_assumed() {
        let mut seen = Seen::default();
        let thinned = Delivered { packets: 16, mss: 1000 };
        let first = seen.update(&reported(5, [0; 3]), thinned, true);
        assert_eq!(first.packets, 16);
        for _ in 0..256 {
            seen.update(&reported(5, [0; 3]), thinned, true);
        }
        assert_eq!(seen.update(&reported(6, [0; 3]), thinned, true).packets, 1);
    }
}
