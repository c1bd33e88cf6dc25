//! Requests in contention: truncated binary exponential backoff (DOCSIS 3.1 MULPI §7.2.1).
//!
//! A modem that wants to request bandwidth and has no grant to carry the request draws a number
//! below 2^start. It skips as many request opportunities, over several MAPs if necessary. If
//! several modems request in the same opportunity, none is heard. A later MAP answers the requests
//! that were heard; the other modems then double their windows, up to 2^end, and draw again. After
//! 16 tries a modem gives up.

use crate::docsis::upstream_channel::UpstreamChannel;
use sojourn_engine::rng::Rng;

/// Tries of a request before the modem gives up (MULPI §7.2.1).
const MOST_TRIES: u8 = 16;

/// A service flow that contends.
struct Contender {
    flow: u32,
    tries: u8,
    /// Binary logarithm of its window.
    exponent: u8,
    /// Opportunities still to be skipped.
    skip: u32,
    /// MAPs until it learns of a collision.
    unanswered: u64,
}

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The CMTS heard it.
    Heard,
    /// Another request was sent in the same opportunity.
    Collided,
    /// It failed so often that the modem gives up.
    GivenUp,
    /// Nothing is left to request.
    Withdrawn,
}

/// All contending service flows.
pub(crate) struct Contention {
    opportunities: u32,
    start: u8,
    end: u8,
    contenders: Vec<Contender>,
    /// Requests by opportunity of the current MAP.
    sent: Vec<u32>,
    rng: Rng,
}

impl Contention {
    /// No contenders.
    pub(crate) fn new(spec: &UpstreamChannel, seed: u64) -> Self {
        Self {
            opportunities: spec.request_opportunities,
            start: spec.backoff_start,
            end: spec.backoff_end,
            contenders: Vec::new(),
            sent: vec![0; spec.request_opportunities as usize],
            rng: Rng::named(seed, "upstream channel back-off"),
        }
    }

    /// Is nobody contending?
    pub(crate) fn is_idle(&self) -> bool {
        self.contenders.is_empty()
    }

    /// Adds a service flow that contends from the next MAP on.
    pub(crate) fn join(&mut self, flow: u32) {
        let skip = draw(&mut self.rng, self.start);
        self.contenders.push(Contender {
            flow,
            tries: 0,
            exponent: self.start,
            skip,
            unanswered: 0,
        });
    }

    /// Runs the request region of a MAP. Records the outcome of each request, and of each contender
    /// that leaves without one. The requests are answered `answered_after` MAPs later.
    pub(crate) fn hold(
        &mut self,
        answered_after: u64,
        wants: impl Fn(u32) -> bool,
        outcomes: &mut Vec<(u32, Outcome)>,
    ) {
        let Self { opportunities, end, contenders, sent, rng, .. } = self;
        contenders.retain_mut(|contender| {
            let leaves = if !wants(contender.flow) {
                Outcome::Withdrawn
            } else if contender.goes_on(*end, rng) {
                return true;
            } else {
                Outcome::GivenUp
            };
            outcomes.push((contender.flow, leaves));
            false
        });
        sent.fill(0);
        for contender in contenders.iter().filter(|contender| contender.unanswered == 0) {
            if let Some(requests) = sent.get_mut(contender.skip as usize) {
                *requests += 1;
            }
        }
        contenders.retain_mut(|contender| {
            if contender.unanswered > 0 {
                return true;
            }
            let Some(&requests) = sent.get(contender.skip as usize) else {
                contender.skip -= *opportunities;
                return true;
            };
            let outcome = if requests == 1 { Outcome::Heard } else { Outcome::Collided };
            contender.unanswered = answered_after;
            outcomes.push((contender.flow, outcome));
            outcome == Outcome::Collided
        });
    }
}

impl Contender {
    /// Handles a MAP, which may reveal a collision. Returns whether the contender goes on.
    fn goes_on(&mut self, end: u8, rng: &mut Rng) -> bool {
        if self.unanswered == 0 {
            return true;
        }
        self.unanswered -= 1;
        if self.unanswered > 0 {
            return true;
        }
        self.tries += 1;
        self.exponent = (self.exponent + 1).min(end);
        self.skip = draw(rng, self.exponent);
        self.tries < MOST_TRIES
    }
}

fn draw(rng: &mut Rng, exponent: u8) -> u32 {
    rng.below(1 << exponent) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(start: u8, end: u8, opportunities: u32, seed: u64) -> Contention {
        let spec = UpstreamChannel {
            backoff_start: start,
            backoff_end: end,
            request_opportunities: opportunities,
            ..UpstreamChannel::default()
        };
        Contention::new(&spec, seed)
    }

    fn outcomes(contention: &mut Contention) -> Vec<(u32, Outcome)> {
        let mut outcomes = Vec::new();
        contention.hold(2, |_| true, &mut outcomes);
        outcomes
    }

    /// N modems that ask at once for the first time, in 2^s opportunities: one is alone in its own
    /// with probability (1 - 2^-s)^(N-1). Of 20 000 rounds the share is off by at most
    /// 4 * sqrt(0.25 / 20 000) = 1.4 % if its N draws are one, and less since they are N.
    #[test]
    fn a_first_request_collides_as_often_as_it_must() {
        for (start, modems) in [(2, 2), (2, 4), (3, 2), (3, 5), (4, 10)] {
            let rounds = 20_000;
            let mut contention = of(start, 10, 1 << start, 1);
            let mut collided = 0;
            for _ in 0..rounds {
                (0..modems).for_each(|flow| contention.join(flow));
                let of_round = outcomes(&mut contention);
                assert_eq!(of_round.len() as u32, modems);
                collided += of_round.iter().filter(|(_, o)| *o == Outcome::Collided).count();
                contention.contenders.clear();
            }
            let share = collided as f64 / f64::from(rounds * modems);
            let free = 1.0 - 0.5_f64.powi(start.into());
            let want = 1.0 - free.powi(modems as i32 - 1);
            println!("{modems} modems, window 2^{start}: {share:.4}, expected {want:.4}");
            assert!((share - want).abs() < 0.014, "{share} and {want}");
        }
    }

    #[test]
    fn a_collision_is_known_two_maps_later() {
        // A window of 1 and one opportunity: two modems always collide, then draw from 2, 4, ...
        let mut contention = of(0, 10, 1, 1);
        contention.join(0);
        contention.join(1);
        let first = outcomes(&mut contention);
        assert_eq!(first, [(0, Outcome::Collided), (1, Outcome::Collided)]);
        assert!(outcomes(&mut contention).is_empty());
        let windows: Vec<_> = contention.contenders.iter().map(|c| c.exponent).collect();
        assert_eq!(windows, [0, 0]);
        outcomes(&mut contention);
        assert!(contention.contenders.iter().all(|c| c.exponent == 1 && c.tries == 1));
    }

    #[test]
    fn a_modem_gives_up_after_sixteen_tries() {
        // The window stays at 1, so both collide in every second MAP: the 16th request is sent in
        // MAP 30 and known to be lost in MAP 32.
        let mut contention = of(0, 0, 1, 1);
        contention.join(0);
        contention.join(1);
        let all: Vec<_> = (0..33).map(|_| outcomes(&mut contention)).collect();
        let collisions = all.iter().flatten().filter(|(_, o)| *o == Outcome::Collided).count();
        assert_eq!(collisions, 2 * 16);
        assert_eq!(all[32], [(0, Outcome::GivenUp), (1, Outcome::GivenUp)]);
        assert!(contention.is_idle());
    }

    #[test]
    fn opportunities_are_skipped_over_maps() {
        let mut contention = of(0, 10, 3, 1);
        contention.join(7);
        contention.contenders[0].skip = 7;
        assert!(outcomes(&mut contention).is_empty() && outcomes(&mut contention).is_empty());
        assert_eq!(outcomes(&mut contention), [(7, Outcome::Heard)]);
        assert!(contention.is_idle());
    }

    #[test]
    fn who_got_a_grant_meanwhile_leaves() {
        let mut contention = of(0, 10, 3, 1);
        contention.join(7);
        let mut outcomes = Vec::new();
        contention.hold(2, |_| false, &mut outcomes);
        assert_eq!(outcomes, [(7, Outcome::Withdrawn)]);
        assert!(contention.is_idle());
    }
}
