//! A second, lower threshold for marks, beside CoDel (Linux `fq_codel` and `codel`, `ce_threshold`, 7.2): a packet that
//! leaves after a longer wait is marked, whether the algorithm signals or not. With a queue for each flow it is what
//! scalable senders ask for without a coupled queue.

use super::{Aqm, AqmAlgorithm, AqmSpec, Departure, Verdict};
use crate::packet::Ecn;
use crate::record::Gauges;
use crate::units::Time;

/// An algorithm that signals by sojourn times, with a threshold for marks.
pub struct CeThreshold {
    law: Box<AqmAlgorithm>,
    threshold: Time,
    /// Does it mark packets of L4S alone?
    is_of_l4s: bool,
}

impl CeThreshold {
    pub(super) fn new(law: AqmAlgorithm, threshold: Time, is_of_l4s: bool) -> Self {
        Self { law: Box::new(law), threshold, is_of_l4s }
    }

    fn marks(&self, packet: &Departure) -> bool {
        let is_meant = !self.is_of_l4s || packet.ecn == Ecn::Ect1;
        packet.is_markable && is_meant && packet.sojourn > self.threshold
    }
}

impl Aqm for CeThreshold {
    fn on_shed(&mut self) {
        self.law.on_shed();
    }

    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        match self.law.on_departure(packet) {
            Verdict::Pass if self.marks(packet) => Verdict::Signal,
            verdict => verdict,
        }
    }

    fn on_empty(&mut self, now: Time) {
        self.law.on_empty(now);
    }

    fn gauges(&self, out: &mut Gauges) {
        self.law.gauges(out);
    }

    fn retune(&mut self, spec: &AqmSpec) {
        self.law.retune(spec);
        if let AqmSpec::Codel(codel) = spec {
            let threshold_s = codel.ce_threshold_ms.map(|ms| ms / 1e3);
            self.threshold = threshold_s.map_or(self.threshold, Time::from_secs_f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::TailDrop;
    use crate::count::Count;

    #[test]
    fn it_marks_what_waited_longer_and_may_be_marked() {
        let departure = |ecn: Ecn, sojourn_us: u64| Departure {
            now: Time::from_s(1),
            sojourn: Time::from_us(sojourn_us),
            size: 1514,
            left: Count::default(),
            own_left: Count::default(),
            alone: true,
            ecn,
            is_markable: ecn != Ecn::NotEct,
            flow: 0,
        };
        let of = |is_of_l4s| CeThreshold::new(TailDrop.into(), Time::from_ms(1), is_of_l4s);
        for (is_of_l4s, ecn, sojourn_us, want) in [
            (false, Ecn::Ect0, 1001, Verdict::Signal),
            (false, Ecn::Ect0, 1000, Verdict::Pass),
            (false, Ecn::NotEct, 9000, Verdict::Pass),
            (true, Ecn::Ect0, 1001, Verdict::Pass),
            (true, Ecn::Ect1, 1001, Verdict::Signal),
        ] {
            assert_eq!(of(is_of_l4s).on_departure(&departure(ecn, sojourn_us)), want);
        }
    }

    /// Counts what it hears of.
    #[derive(Default)]
    struct Hears {
        shed: f64,
        empty: f64,
    }

    impl Aqm for Hears {
        fn on_shed(&mut self) {
            self.shed += 1.0;
        }

        fn on_empty(&mut self, _now: Time) {
            self.empty += 1.0;
        }

        fn gauges(&self, out: &mut Gauges) {
            out.set("shed", "1", self.shed);
            out.set("empty", "1", self.empty);
        }
    }

    #[test]
    fn the_algorithm_beside_it_hears_of_all() {
        let hears: Box<dyn Aqm + Send> = Box::new(Hears::default());
        let mut law = CeThreshold::new(hears.into(), Time::from_ms(1), false);
        law.on_shed();
        law.on_shed();
        law.on_empty(Time::ZERO);
        let mut gauges = Gauges::default();
        law.gauges(&mut gauges);
        assert_eq!((gauges.get("shed"), gauges.get("empty")), (Some(2.0), Some(1.0)));
    }
}
