//! How many request opportunities a MAP has, and from which windows modems draw theirs.
//!
//! Where the scenario names no number the CMTS adapts both. All that grants leave of an interval is for
//! requests, and whatever grants want, a part is kept for as many as are to be expected: at 2.5
//! opportunities for each request 67 % of them are alone in theirs (e^-1/2.5). What is to be expected
//! follows from what the CMTS sees: requests that it hears, and for each opportunity with a collision
//! 2.39 requests, the mean where there are as many requests as opportunities (Schoute 1983, dynamic frame
//! length ALOHA). All modems draw from the whole region, the largest power of two in it, so a request is
//! not put off to another MAP.

use super::upstream_channel::UpstreamChannel;

/// Opportunities for each request that is to be expected.
const FOR_EACH: f64 = 2.5;
/// Requests behind a collision (Schoute 1983).
const BEHIND_COLLISION: f64 = 2.39;
/// Weight of the newest MAP in what is to be expected.
const GAIN: f64 = 0.25;
/// The least number of opportunities of a MAP.
const LEAST: u64 = 2;
/// What is kept for requests takes no more than this part of a MAP interval.
const MOST_SHARE: u64 = 4;
/// Data Backoff Start and End of Motorola's BSR 64000.
const BACKOFF: (u8, u8) = (2, 8);
/// The greatest exponent of a window (MULPI §7.2.1).
const GREATEST_EXPONENT: u32 = 15;

/// The request region of a MAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub opportunities: u64,
    /// Binary logarithms of a modem's first and greatest window (Data Backoff Start and End).
    pub backoff_start: u8,
    pub backoff_end: u8,
}

/// How the CMTS chooses the regions of its MAPs.
pub(super) struct RequestRegion {
    /// Minislots of an opportunity.
    minislots: u64,
    /// A fixed number of opportunities.
    fixed: Option<u64>,
    /// A fixed window.
    backoff: Option<(u8, u8)>,
    /// Requests that are to be expected in a MAP.
    expected: f64,
}

impl UpstreamChannel {
    /// The first and the greatest window, where they are fixed.
    pub(super) fn backoff(&self) -> Option<(u8, u8)> {
        let named = self.backoff_start.is_some() || self.backoff_end.is_some();
        let start = self.backoff_start.unwrap_or(BACKOFF.0);
        let end = self.backoff_end.unwrap_or(BACKOFF.1.max(start));
        (named || self.request_opportunities.is_some()).then_some((start, end))
    }

    /// Minislots that requests have in each MAP whatever is granted.
    pub fn least_region(&self) -> u64 {
        RequestRegion::new(self).least()
    }
}

impl RequestRegion {
    /// By the scenario's keys.
    pub(super) fn new(spec: &UpstreamChannel) -> Self {
        Self {
            minislots: spec.request_minislots.into(),
            fixed: spec.request_opportunities.map(u64::from),
            backoff: spec.backoff(),
            expected: 0.0,
        }
    }

    /// Does it adapt to the load?
    pub(super) fn adapts(&self) -> bool {
        self.fixed.is_none()
    }

    /// Minislots that requests have in each MAP whatever is granted.
    pub(super) fn least(&self) -> u64 {
        self.minislots * self.fixed.unwrap_or(LEAST)
    }

    /// Minislots to be kept of all those of a MAP before grants have theirs.
    pub(super) fn kept(&self, all: u64) -> u64 {
        let most = (all / MOST_SHARE / self.minislots).max(LEAST);
        self.minislots * self.fixed.unwrap_or_else(|| self.wanted().min(most))
    }

    fn wanted(&self) -> u64 {
        ((FOR_EACH * self.expected).ceil() as u64).max(LEAST)
    }

    /// The region of a MAP with so many minislots that nothing else has.
    pub(super) fn open(&self, idle: u64) -> Region {
        let opportunities = self.fixed.unwrap_or_else(|| (idle / self.minislots).max(LEAST));
        // Where more are to be expected than the region is for, they spread over the next ones.
        let all = opportunities.ilog2().max(self.wanted().next_power_of_two().ilog2());
        let all = all.min(GREATEST_EXPONENT) as u8;
        let (backoff_start, backoff_end) = self.backoff.unwrap_or((all, all));
        Region { opportunities, backoff_start, backoff_end }
    }

    /// What the CMTS saw in a region: opportunities with one request, and with several.
    pub(super) fn saw(&mut self, heard: u64, collided: u64) {
        let requests = heard as f64 + BEHIND_COLLISION * collided as f64;
        self.expected += GAIN * (requests - self.expected);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(spec: UpstreamChannel) -> RequestRegion {
        RequestRegion::new(&spec)
    }

    #[test]
    fn named_numbers_stay() {
        let spec = UpstreamChannel { request_opportunities: Some(5), ..UpstreamChannel::default() };
        let mut region = of(spec.clone());
        (0..100).for_each(|_| region.saw(5, 0));
        let fixed = Region { opportunities: 5, backoff_start: 2, backoff_end: 8 };
        assert_eq!((region.kept(640), region.open(600)), (10, fixed));
        let wide = of(UpstreamChannel { backoff_start: Some(9), ..spec });
        assert_eq!(wide.open(0), Region { backoff_start: 9, backoff_end: 9, ..fixed });
        // Opportunities adapt, and windows do not.
        let windows = of(UpstreamChannel { backoff_end: Some(4), ..UpstreamChannel::default() });
        let free = Region { opportunities: 300, backoff_start: 2, backoff_end: 4 };
        assert_eq!(windows.open(600), free);
    }

    #[test]
    fn all_idle_space_is_for_requests_and_never_less_than_two_opportunities() {
        let region = of(UpstreamChannel::default());
        let window =
            |opportunities, all| Region { opportunities, backoff_start: all, backoff_end: all };
        assert_eq!(region.kept(640), 4);
        assert_eq!(region.open(640), window(320, 8));
        assert_eq!(region.open(9), window(4, 2));
        assert_eq!(region.open(0), window(2, 1));
    }

    #[test]
    fn a_full_channel_keeps_opportunities_for_what_is_expected() {
        let mut region = of(UpstreamChannel::default());
        // Ten requests, of which three collide in one opportunity: 7 + 2.39, 2.5 times 9.39 are 23.5.
        (0..100).for_each(|_| region.saw(7, 1));
        assert_eq!(region.kept(640), 2 * 24);
        assert_eq!(region.open(2 * 24).backoff_start, 5);
        // A quarter of 160 minislots are 20 opportunities; the window is for those that are expected.
        assert_eq!(region.kept(160), 40);
        assert_eq!(region.open(40), Region { opportunities: 20, backoff_start: 5, backoff_end: 5 });
    }

    /// A quarter of what is new: of 4 requests in each MAP 1 is expected, then 1.75, then 2.31; 2.5 opportunities for each.
    #[test]
    fn what_is_expected_follows_what_is_seen() {
        let mut region = of(UpstreamChannel::default());
        for kept in [2 * 3, 2 * 5, 2 * 6] {
            region.saw(4, 0);
            assert_eq!(region.kept(640), kept);
        }
        assert!(
            region.adapts()
                && !of(UpstreamChannel {
                    request_opportunities: Some(5),
                    ..UpstreamChannel::default()
                })
                .adapts()
        );
        assert_eq!((region.least(), UpstreamChannel::default().least_region()), (4, 4));
    }
}
