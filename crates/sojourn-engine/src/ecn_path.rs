//! Paths that do not leave ECN alone, as measurements have found them: Kühlewind, Neuner & Trammell 2013 and Trammell
//! et al. 2015 (classic ECN), Mandalari et al. 2018 (ECN++ and AccECN on mobile networks).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::{Ecn, Flags, Segment};
use sojourn_input::named;

named! {
    /// What a link does to the ECN field of packets, and to the flags of TCP that negotiate and report it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum EcnPath {
        /// It leaves them alone.
        #[default]
        Kept = "kept",
        /// Clears the field: all packets become Not-ECT, marked ones too.
        Bleached = "bleached",
        /// Makes ECT(0) of ECT(1), so that L4S traffic is taken for classic traffic.
        Ect1ToEct0 = "ect1_to_ect0",
        /// Takes marks back: ECT(0) of CE (RFC 3168 §18.1.2).
        CeCleared = "ce_cleared",
        /// Marks all packets that can be marked.
        CeAlways = "ce_always",
        /// Clears the TCP flag AE, once reserved, so that AccECN is taken for classic ECN.
        AeCleared = "ae_cleared",
        /// Clears the TCP flags AE, CWR and ECE after the handshake, so that nothing is reported.
        AceCleared = "ace_cleared",
        /// Drops SYNs that offer ECN.
        SynDropped = "syn_dropped",
    }
}

impl EcnPath {
    /// A packet passes, with this transport header and this field. Says whether it does.
    pub fn passes(self, segment: &mut Segment, ecn: &mut Ecn) -> bool {
        let is_syn = segment.has(Flags::SYN);
        match (self, *ecn) {
            (Self::Bleached, _) => *ecn = Ecn::NotEct,
            (Self::Ect1ToEct0, Ecn::Ect1) | (Self::CeCleared, Ecn::Ce) => *ecn = Ecn::Ect0,
            (Self::CeAlways, Ecn::Ect0 | Ecn::Ect1) => *ecn = Ecn::Ce,
            (Self::AeCleared, _) => segment.flags.set(Flags::AE, false),
            (Self::AceCleared, _) if !is_syn => segment.flags.set(Flags::ACE, false),
            (Self::SynDropped, _) => {
                return !is_syn || segment.has(Flags::ACK) || !segment.has(Flags::ECE);
            }
            _ => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

    #[test]
    fn fields_change_as_the_names_say() {
        use Ecn::{Ce, Ect0, Ect1, NotEct};
        for (path, want) in [
            (EcnPath::Kept, FIELDS),
            (EcnPath::Bleached, [NotEct; 4]),
            (EcnPath::Ect1ToEct0, [NotEct, Ect0, Ect0, Ce]),
            (EcnPath::CeCleared, [NotEct, Ect1, Ect0, Ect0]),
            (EcnPath::CeAlways, [NotEct, Ce, Ce, Ce]),
            (EcnPath::AceCleared, FIELDS),
        ] {
            let came = FIELDS.map(|mut ecn| {
                assert!(path.passes(&mut Segment::default(), &mut ecn));
                ecn
            });
            assert_eq!(came, want, "{path:?}");
        }
    }

    #[test]
    fn flags_change_in_the_segments_that_the_names_say() {
        let (syn, ack) = (Flags::SYN, Flags::ACK);
        let passed = |path: EcnPath, flags: Flags| {
            let mut segment = Segment { flags, ..Segment::default() };
            path.passes(&mut segment, &mut Ecn::NotEct).then_some(segment.flags)
        };
        let offer = syn.and(Flags::ACE);
        let classic = Flags::CWR.and(Flags::ECE);
        assert_eq!(passed(EcnPath::AeCleared, offer), Some(syn.and(classic)));
        assert_eq!(passed(EcnPath::AceCleared, offer), Some(offer));
        assert_eq!(passed(EcnPath::AceCleared, ack.and(Flags::ACE)), Some(ack));
        assert_eq!(passed(EcnPath::SynDropped, offer), None);
        for passes in [syn, syn.and(ack).and(Flags::ECE), ack.and(Flags::ECE)] {
            assert_eq!(passed(EcnPath::SynDropped, passes), Some(passes));
        }
    }
}
