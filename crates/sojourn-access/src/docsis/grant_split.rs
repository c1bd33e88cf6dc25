//! How a MAP's bytes are divided between the low-latency and the classic service flow of an aggregate
//! (after docsis-ns3; MULPI leaves it to the CMTS).

/// Bytes for both flows of an aggregate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shares {
    /// The low-latency flow.
    pub low: u64,
    /// The classic flow.
    pub classic: u64,
}

impl Shares {
    /// Of both.
    pub(super) fn total(self) -> u64 {
        self.low + self.classic
    }
}

/// Divides `available` bytes. The low-latency flow has `weight` of them if it needs so much, and
/// `proactive` bytes in any case; what one flow does not need goes to the other.
pub(super) fn split(available: u64, need: Shares, proactive: u64, weight: f64) -> Shares {
    let need = Shares { low: need.low.max(proactive), ..need };
    let total = available.min(need.total()).max(proactive);
    let of_weight = ((total as f64 * weight) as u64).max(proactive);
    let low = need.low.min(of_weight.max(total.saturating_sub(need.classic)));
    Shares { low, classic: need.classic.min(total - low) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHT: f64 = 230.0 / 256.0;

    fn shares(available: u64, low: u64, classic: u64, proactive: u64) -> (u64, u64) {
        let Shares { low, classic } = split(available, Shares { low, classic }, proactive, WEIGHT);
        (low, classic)
    }

    #[test]
    fn both_have_what_they_need_if_there_is_enough() {
        assert_eq!(shares(10_000, 300, 5000, 0), (300, 5000));
    }

    #[test]
    fn the_weight_divides_what_both_want() {
        // floor(10 000 * 230 / 256) = 8984.
        assert_eq!(shares(10_000, 20_000, 20_000, 0), (8984, 1016));
    }

    #[test]
    fn what_one_does_not_need_goes_to_the_other() {
        assert_eq!(shares(10_000, 2000, 20_000, 0), (2000, 8000));
        assert_eq!(shares(10_000, 20_000, 500, 0), (9500, 500));
    }

    #[test]
    fn proactive_grants_come_in_any_case() {
        // 657 B are granted although nothing is needed, and nothing is available.
        assert_eq!(shares(10_000, 0, 20_000, 657), (657, 9343));
        assert_eq!(shares(0, 0, 20_000, 657), (657, 0));
        // A need beyond the proactive grant is weighed as a whole.
        assert_eq!(shares(10_000, 20_000, 20_000, 657), (8984, 1016));
        assert_eq!(shares(500, 600, 600, 657), (657, 0));
    }
}
