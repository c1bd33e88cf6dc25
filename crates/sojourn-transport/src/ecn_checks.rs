//! What an end with accurate feedback concludes of a path or a peer that treats ECN as no specification has it
//! (RFC 9768 §3.1.4, §3.1.5, §3.2.2.3, §3.2.2.4).
//!
//! Left out: whether the AccECN option is stripped or zeroed (§3.2.3.2: it crosses all paths here; `ace_bits = 3` is a
//! sender without it), trying again later, and what later connections could learn. Classic ECN has no test but that of
//! its SYN (RFC 3168 §6.1.1.1).

use super::accecn;
use super::config::Config;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::{Ecn, Segment};

/// So many rounds in which all is marked are no queue (RFC 9768 §3.2.2.3: three or four).
const MARKED_ROUNDS: u32 = 4;

/// How the checks of an end stand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EcnChecks {
    /// The ECN field of its SYN, or of its answer to one.
    syn: Ecn,
    /// Its packets are Not-ECT from now on.
    has_failed: bool,
    /// Feedback of marks means nothing.
    ignores_marks: bool,
    /// The first counter after the handshake is still to come.
    awaits_counter: bool,
    /// Something that was not marked has arrived.
    saw_unmarked: bool,
    /// Rounds in which all was marked, and the end of what was sent when the last one began.
    marked_rounds: u32,
    round_end: u64,
}

/// Does a SYN offer ECN that was sent so many times before? Some paths drop those that do: RFC 3168 §6.1.1.1 repeats a
/// SYN of classic ECN without the offer, and RFC 9768 §3.1.4.1 one of AccECN at the second time.
pub(crate) fn still_offers(sent_before: u32, config: &Config) -> bool {
    let most = if config.ecn.is_accurate() { 2 } else { 1 };
    config.dialect == Dialect::Ns2 || sent_before < most
}

/// Is it a change that no queue makes (RFC 3168 §18)? Not-ECT and CE never change, and ECT never becomes Not-ECT.
fn is_mangled(sent: Ecn, came: Ecn) -> bool {
    match sent {
        Ecn::NotEct | Ecn::Ce => came != sent,
        Ecn::Ect0 | Ecn::Ect1 => came == Ecn::NotEct,
    }
}

impl EcnChecks {
    /// Its SYN leaves with this field, or its answer to one.
    pub(crate) fn sends_syn(&mut self, ecn: Ecn) {
        self.syn = ecn;
    }

    /// Are its packets Not-ECT, whatever was agreed?
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Feedback of marks means nothing.
    pub(crate) fn ignores_marks(&self) -> bool {
        self.ignores_marks
    }

    /// The answer to its SYN reports how this arrived.
    pub(crate) fn on_answer(&mut self, answer: &Segment) {
        self.awaits_counter = true;
        self.compare(answer);
    }

    /// A further SYN has come, after one that offered accurate feedback.
    pub(crate) fn on_further_syn(&mut self, syn: &Segment) {
        self.has_failed |= !accecn::offers(syn);
    }

    /// What ends the handshake reports how the answer to the SYN arrived. Zero is no report (RFC 9768 §3.2.2.1, note 1).
    pub(crate) fn on_handshake_end(&mut self, segment: &Segment) {
        self.compare(segment);
        if accecn::is_zero(segment) {
            self.give_up();
        }
    }

    fn compare(&mut self, report: &Segment) {
        self.has_failed |= accecn::report(report).is_some_and(|came| is_mangled(self.syn, came));
    }

    fn give_up(&mut self) {
        (self.has_failed, self.ignores_marks) = (true, true);
    }

    /// A counter comes.
    #[inline]
    pub(crate) fn on_counter(&mut self, segment: &Segment, config: &Config) {
        if self.awaits_counter {
            self.awaits_counter = false;
            self.on_first_counter(segment, config);
        }
    }

    /// It is not zero (RFC 9768 §3.2.2.4), unless the bytes of the option say that marks have brought it round, as Linux
    /// asks.
    fn on_first_counter(&mut self, segment: &Segment, config: &Config) {
        let has_bytes = !config.ace_only && segment.ce_bytes != [0; 3];
        if accecn::is_zero(segment) && !has_bytes {
            self.give_up();
        }
    }

    /// So many packets are newly delivered and reported as marked, with this outstanding and that sent. Linux has no
    /// such test: all that a step of L4S delivers may be marked for some rounds.
    pub(crate) fn on_delivered(
        &mut self,
        (packets, marked): (u64, u64),
        (una, nxt): (u64, u64),
        config: &Config,
    ) {
        if packets == 0 || self.saw_unmarked || config.dialect == Dialect::Linux {
            return;
        }
        self.saw_unmarked = marked < packets;
        if una >= self.round_end {
            self.round_end = nxt;
            self.marked_rounds += 1;
        }
        if !self.saw_unmarked && self.marked_rounds > MARKED_ROUNDS {
            self.give_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::accecn::EcnMode;
    use super::*;
    use crate::TcpOptions;
    use sojourn_engine::packet::Flags;

    const FIELDS: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

    fn accecn(dialect: Dialect) -> Config {
        TcpOptions { ecn: Some(EcnMode::Accecn), ..TcpOptions::default() }.resolve(dialect)
    }

    fn reporting(ecn: Ecn) -> Segment {
        Segment { flags: accecn::reported(ecn), ..Segment::default() }
    }

    /// RFC 3168 §18: what was sent in rows, what came in columns (Not-ECT, ECT(1), ECT(0), CE).
    #[test]
    fn fields_that_no_queue_makes_are_mangled() {
        for (sent, want) in [
            (Ecn::NotEct, [false, true, true, true]),
            (Ecn::Ect1, [true, false, false, false]),
            (Ecn::Ect0, [true, false, false, false]),
            (Ecn::Ce, [true, true, true, false]),
        ] {
            let seen = FIELDS.map(|came| {
                let of = |hear: fn(&mut EcnChecks, &Segment)| {
                    let mut checks = EcnChecks::default();
                    checks.sends_syn(sent);
                    hear(&mut checks, &reporting(came));
                    (checks.has_failed(), checks.ignores_marks())
                };
                let client = of(EcnChecks::on_answer);
                assert_eq!(client, of(EcnChecks::on_handshake_end));
                assert!(!client.1, "marks are still believed");
                client.0
            });
            assert_eq!(seen, want, "{sent:?}");
        }
    }

    /// RFC 9768 table 4: 1, 5 and 7 report nothing; 0 switches ECN off at the server.
    #[test]
    fn the_end_of_a_handshake_without_a_report() {
        for (ace, want) in [(0, true), (1, false), (5, false), (7, false)] {
            let bits = [(4, Flags::AE), (2, Flags::CWR), (1, Flags::ECE)];
            let flags = bits
                .iter()
                .fold(Flags::default(), |all, (bit, flag)| all.and(flag.when(ace & bit != 0)));
            let mut checks = EcnChecks::default();
            checks.on_handshake_end(&Segment { flags, ..Segment::default() });
            assert_eq!((checks.has_failed(), checks.ignores_marks()), (want, want), "{ace}");
        }
    }

    /// Five marked packets have not brought the first counter to zero; three of 1000 B have, as the option says.
    #[test]
    fn a_first_counter_of_zero_is_none() {
        let zero = |ce_bytes| Segment { ce_bytes, ..Segment::default() };
        let three_bits = Config { ace_only: true, ..accecn(Dialect::Linux) };
        for (config, bytes, want) in [
            (accecn(Dialect::Linux), [0; 3], true),
            (accecn(Dialect::Linux), [184, 11, 0], false),
            (three_bits, [184, 11, 0], true),
        ] {
            let mut checks = EcnChecks::default();
            checks.on_answer(&reporting(Ecn::NotEct));
            checks.on_counter(&zero(bytes), &config);
            assert_eq!((checks.has_failed(), checks.ignores_marks()), (want, want));
            // Later it may go round.
            let mut checks = EcnChecks::default();
            checks.on_answer(&reporting(Ecn::NotEct));
            checks.on_counter(&reporting(Ecn::Ect0), &config);
            checks.on_counter(&zero([0; 3]), &config);
            assert!(!checks.has_failed());
        }
    }

    /// Rounds of ten packets. The fifth begins after four in which all was marked; one unmarked packet in these ends the test.
    #[test]
    fn four_rounds_of_marks_alone_are_continuous() {
        let after = |unmarked_in: Option<u64>, dialect: Dialect| {
            let (mut checks, config) = (EcnChecks::default(), accecn(dialect));
            let failed = (0..9).find(|round| {
                let marked = if Some(*round) == unmarked_in { 9 } else { 10 };
                let sent = (10 * round, 10 * round + 10);
                checks.on_delivered((10, marked), sent, &config);
                checks.on_delivered((0, 0), sent, &config);
                checks.has_failed()
            });
            assert_eq!(checks.ignores_marks(), failed.is_some());
            failed
        };
        assert_eq!(after(None, Dialect::Rfc), Some(4));
        assert_eq!(after(Some(5), Dialect::Rfc), Some(4));
        assert_eq!(after(Some(3), Dialect::Rfc), None);
        assert_eq!(after(None, Dialect::Linux), None);
    }

    /// RFC 9768 §3.1.5: a server in AccECN mode stays in it, and is Not-ECT after a SYN without an offer.
    #[test]
    fn a_further_syn_without_an_offer_makes_a_server_not_ect() {
        let syn = |mode| Segment { flags: accecn::offer(mode), ..Segment::default() };
        for (mode, want) in [(EcnMode::Accecn, false), (EcnMode::Off, true)] {
            let mut checks = EcnChecks::default();
            checks.on_further_syn(&syn(mode));
            assert_eq!((checks.has_failed(), checks.ignores_marks()), (want, false));
        }
    }

    /// ns-2 offers it for ever.
    #[test]
    fn offers_end_with_the_second_or_third_syn() {
        for (dialect, ecn, most) in [
            (Dialect::Linux, EcnMode::Classic, 1),
            (Dialect::Rfc, EcnMode::Classic, 1),
            (Dialect::Linux, EcnMode::L4s, 2),
            (Dialect::Ns2, EcnMode::Classic, 9),
        ] {
            let config = TcpOptions { ecn: Some(ecn), ..TcpOptions::default() }.resolve(dialect);
            let offers = (0..9).take_while(|before| still_offers(*before, &config)).count();
            assert_eq!(offers, most, "{dialect:?} {ecn:?}");
        }
    }
}
