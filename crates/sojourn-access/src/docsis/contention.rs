//! Requests in contention: truncated binary exponential backoff (DOCSIS 3.1 MULPI §7.2.1).
//!
//! A modem that wants to request bandwidth and has no grant to carry the request draws a number
//! below 2^start. It skips as many request opportunities, over several MAPs if necessary. If
//! several modems request in the same opportunity, none is heard. A later MAP answers the requests
//! that were heard; the other modems then double their windows, up to 2^end, and draw again. After
//! 16 tries a modem gives up.

use super::request_region::Region;
use sojourn_engine::rng::Rng;

/// Tries of a request before the modem gives up (MULPI §7.2.1).
const MOST_TRIES: u8 = 16;

/// A service flow that contends.
struct Contender {
    flow: u32,
    tries: u8,
    /// Its draw, as a part of the window that the MAP of its next region names.
    draw: f64,
    /// Opportunities still to be skipped, from that region on.
    skip: Option<u64>,
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
    contenders: Vec<Contender>,
    /// Requests by opportunity of the current MAP.
    sent: Vec<u32>,
    rng: Rng,
}

impl Contention {
    /// No contenders.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            contenders: Vec::new(),
            sent: Vec::new(),
            rng: Rng::named(seed, "upstream channel back-off"),
        }
    }

    /// Is nobody contending?
    pub(crate) fn is_idle(&self) -> bool {
        self.contenders.is_empty()
    }

    /// Adds a service flow that contends from the next MAP on.
    pub(crate) fn join(&mut self, flow: u32) {
        let draw = self.rng.uniform();
        self.contenders.push(Contender { flow, tries: 0, draw, skip: None, unanswered: 0 });
    }

    /// Runs the request region of a MAP. Records the outcome of each request, and of each contender
    /// that leaves without one. The requests are answered `answered_after` MAPs later. Returns the number of
    /// opportunities with one request, and with several.
    pub(crate) fn hold(
        &mut self,
        region: Region,
        answered_after: u64,
        wants: impl Fn(u32) -> bool,
        outcomes: &mut Vec<(u32, Outcome)>,
    ) -> (u64, u64) {
        let Self { contenders, sent, rng } = self;
        contenders.retain_mut(|contender| {
            let leaves = if !wants(contender.flow) {
                Outcome::Withdrawn
            } else if contender.goes_on(rng) {
                return true;
            } else {
                Outcome::GivenUp
            };
            outcomes.push((contender.flow, leaves));
            false
        });
        sent.clear();
        sent.resize(region.opportunities as usize, 0);
        let (mut heard, mut collided) = (0, 0);
        for contender in contenders.iter_mut().filter(|contender| contender.unanswered == 0) {
            let skip = contender.skip(region);
            let Some(requests) = sent.get_mut(skip as usize) else { continue };
            *requests += 1;
            match requests {
                1 => heard += 1,
                2 => (heard, collided) = (heard - 1, collided + 1),
                _ => {}
            }
        }
        contenders.retain_mut(|contender| {
            if contender.unanswered > 0 {
                return true;
            }
            let skip = contender.skip.unwrap_or_default();
            let Some(&requests) = sent.get(skip as usize) else {
                contender.skip = Some(skip - region.opportunities);
                return true;
            };
            let outcome = if requests == 1 { Outcome::Heard } else { Outcome::Collided };
            contender.unanswered = answered_after;
            outcomes.push((contender.flow, outcome));
            outcome == Outcome::Collided
        });
        (heard, collided)
    }
}

impl Contender {
    /// Handles a MAP, which may reveal a collision. Returns whether the contender goes on.
    fn goes_on(&mut self, rng: &mut Rng) -> bool {
        if self.unanswered == 0 {
            return true;
        }
        self.unanswered -= 1;
        if self.unanswered > 0 {
            return true;
        }
        self.tries += 1;
        (self.draw, self.skip) = (rng.uniform(), None);
        self.tries < MOST_TRIES
    }

    /// How many opportunities it still skips. Its window doubles with each try.
    fn skip(&mut self, region: Region) -> u64 {
        let exponent = (region.backoff_start + self.tries).min(region.backoff_end);
        let draw = self.draw;
        *self.skip.get_or_insert_with(|| (draw * f64::from(1 << exponent)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(backoff_start: u8, backoff_end: u8, opportunities: u64) -> Region {
        Region { opportunities, backoff_start, backoff_end }
    }

    fn outcomes(contention: &mut Contention, region: Region) -> Vec<(u32, Outcome)> {
        let mut outcomes = Vec::new();
        let (heard, collided) = contention.hold(region, 2, |_| true, &mut outcomes);
        let of = |wanted| outcomes.iter().filter(|(_, o)| *o == wanted).count() as u64;
        assert_eq!(heard, of(Outcome::Heard));
        assert!(2 * collided <= of(Outcome::Collided));
        outcomes
    }

    /// N modems that ask at once for the first time, in 2^s opportunities: one is alone in its own
    /// with probability (1 - 2^-s)^(N-1). Of 20 000 rounds the share is off by at most
    /// 4 * sqrt(0.25 / 20 000) = 1.4 % if its N draws are one, and less since they are N.
    #[test]
    fn a_first_request_collides_as_often_as_it_must() {
        for (start, modems) in [(2, 2), (2, 4), (3, 2), (3, 5), (4, 10)] {
            let rounds = 20_000;
            let mut contention = Contention::new(1);
            let mut collided = 0;
            for _ in 0..rounds {
                (0..modems).for_each(|flow| contention.join(flow));
                let of_round = outcomes(&mut contention, region(start, 10, 1 << start));
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
        let (mut contention, region) = (Contention::new(1), region(0, 10, 1));
        contention.join(0);
        contention.join(1);
        let first = outcomes(&mut contention, region);
        assert_eq!(first, [(0, Outcome::Collided), (1, Outcome::Collided)]);
        assert!(outcomes(&mut contention, region).is_empty());
        let tries = |contention: &Contention| -> Vec<_> {
            contention.contenders.iter().map(|c| c.tries).collect()
        };
        assert_eq!(tries(&contention), [0, 0]);
        outcomes(&mut contention, region); // now they know, and who draws 0 of 0 and 1 requests again
        assert!(tries(&contention).iter().all(|tries| *tries == 1));
    }

    /// Each collision brings new draws, of windows twice as large, so that two modems part sooner or later.
    #[test]
    fn collided_modems_draw_anew() {
        let mut contention = Contention::new(1);
        (0..2).for_each(|flow| contention.join(flow));
        let all = (0..400).flat_map(|_| outcomes(&mut contention, region(0, 10, 1)));
        let heard = all.filter(|(_, outcome)| *outcome == Outcome::Heard).count();
        assert_eq!(heard, 2);
    }

    #[test]
    fn a_modem_gives_up_after_sixteen_tries() {
        // The window stays at 1, so both collide in every second MAP: the 16th request is sent in
        // MAP 30 and known to be lost in MAP 32.
        let mut contention = Contention::new(1);
        contention.join(0);
        contention.join(1);
        let all: Vec<_> = (0..33).map(|_| outcomes(&mut contention, region(0, 0, 1))).collect();
        let collisions = all.iter().flatten().filter(|(_, o)| *o == Outcome::Collided).count();
        assert_eq!(collisions, 2 * 16);
        assert_eq!(all[32], [(0, Outcome::GivenUp), (1, Outcome::GivenUp)]);
        assert!(contention.is_idle());
    }

    #[test]
    fn opportunities_are_skipped_over_maps() {
        let (mut contention, region) = (Contention::new(1), region(0, 10, 3));
        contention.join(7);
        contention.contenders[0].skip = Some(7);
        assert!((0..2).all(|_| outcomes(&mut contention, region).is_empty()));
        assert_eq!(outcomes(&mut contention, region), [(7, Outcome::Heard)]);
        assert!(contention.is_idle());
    }

    #[test]
    fn who_got_a_grant_meanwhile_leaves() {
        let mut contention = Contention::new(1);
        contention.join(7);
        let mut outcomes = Vec::new();
        contention.hold(region(0, 10, 3), 2, |_| false, &mut outcomes);
        assert_eq!(outcomes, [(7, Outcome::Withdrawn)]);
        assert!(contention.is_idle());
    }
}
