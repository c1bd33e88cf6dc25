//! Requests in contention: truncated binary exponential backoff (DOCSIS 3.1 MULPI §7.2.1).
//!
//! A modem that wants to request bandwidth and has no grant to carry the request draws a number
//! below 2^start. It skips as many request opportunities, over several MAPs if necessary. If
//! several modems request in the same opportunity, none is heard. A later MAP answers the requests
//! that were heard; the other modems then double their windows, up to 2^end, and draw again. After
//! 16 tries a modem gives up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::request_region::Region;
use sojourn_engine::rng::Rng;

/// Tries of a request before the modem gives up (MULPI §7.2.1).
const MOST_TRIES: u8 = 16;

/// A service flow that contends.
#[derive(Clone, Copy)]
struct Contender {
    /// Its number among all that have joined.
    turn: u64,
    tries: u8,
    /// Its draw, as a part of the window that the MAP of its next region names.
    draw: f64,
}

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The CMTS heard it.
    Heard,
    /// Another request was sent in the same opportunity, or the channel is not received.
    Collided,
    /// It failed so often that the modem gives up.
    GivenUp,
}

/// What is due at an opportunity or a MAP, in the order in which flows joined: their turns and numbers.
type Agenda = BinaryHeap<Reverse<(u64, u64, u32)>>;

/// All contending service flows. A MAP costs what is due in it, however many wait.
pub(crate) struct Contention {
    /// By service flow.
    contenders: Vec<Option<Contender>>,
    contending: usize,
    joined: u64,
    /// Those that have drawn and do not know their window yet.
    drawn: Vec<(u64, u32)>,
    /// Requests, by opportunities from the start of the run on.
    requests: Agenda,
    /// Collisions that are not known yet, by MAPs from the start of the run on.
    unanswered: Agenda,
    /// Opportunities and MAPs so far.
    opportunities: u64,
    maps: u64,
    /// Of the current MAP, by turn.
    ended: Vec<(u64, u32, Outcome)>,
    /// Is the channel received? If it is not, a modem that is alone learns no more than that nobody has heard it.
    pub is_heard: bool,
    rng: Rng,
}

impl Contention {
    /// No contenders.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            contenders: Vec::new(),
            contending: 0,
            joined: 0,
            drawn: Vec::new(),
            requests: Agenda::new(),
            unanswered: Agenda::new(),
            opportunities: 0,
            maps: 0,
            ended: Vec::new(),
            is_heard: true,
            rng: Rng::named(seed, "upstream channel back-off"),
        }
    }

    /// Is nobody contending?
    pub(crate) fn is_idle(&self) -> bool {
        self.contending == 0
    }

    /// Adds a service flow that contends from the next MAP on.
    pub(crate) fn join(&mut self, flow: u32) {
        let (turn, place) = (self.joined, flow as usize);
        self.joined += 1;
        if place >= self.contenders.len() {
            self.contenders.resize(place + 1, None);
        }
        self.contenders[place] = Some(Contender { turn, tries: 0, draw: self.rng.uniform() });
        self.contending += 1;
        self.drawn.push((turn, flow));
    }

    /// A service flow that contends has nothing left to request.
    pub(crate) fn withdraw(&mut self, flow: u32) {
        self.leave(flow);
    }

    /// Runs the request region of a MAP. Records the outcome of each request, and of each contender
    /// that gives up. The requests are answered `answered_after` MAPs later. Returns the number of
    /// opportunities with one request, and with several.
    pub(crate) fn hold(
        &mut self,
        region: Region,
        answered_after: u64,
        outcomes: &mut Vec<(u32, Outcome)>,
    ) -> (u64, u64) {
        debug_assert!(answered_after > 0, "no MAP answers what is sent in it");
        self.learn();
        self.tell(outcomes);
        self.choose(region);
        let counts = self.send(region, answered_after);
        self.tell(outcomes);
        self.maps += 1;
        self.opportunities += region.opportunities;
        counts
    }

    /// The MAP reveals collisions: who sent then draws again, or gives up.
    fn learn(&mut self) {
        while let Some((_, turn, flow)) = due(&mut self.unanswered, self.maps) {
            let Some(contender) = of_turn(&mut self.contenders, turn, flow) else { continue };
            contender.tries += 1;
            contender.draw = self.rng.uniform();
            if contender.tries < MOST_TRIES {
                self.drawn.push((turn, flow));
            } else {
                self.leave(flow);
                self.ended.push((turn, flow, Outcome::GivenUp));
            }
        }
    }

    /// Who has drawn skips a part of the window of this MAP, which doubles with each try.
    fn choose(&mut self, region: Region) {
        for (turn, flow) in self.drawn.drain(..) {
            let Some(contender) = of_turn(&mut self.contenders, turn, flow) else { continue };
            let exponent = (region.backoff_start + contender.tries).min(region.backoff_end);
            let skip = (contender.draw * f64::from(1 << exponent)) as u64;
            self.requests.push(Reverse((self.opportunities + skip, turn, flow)));
        }
    }

    /// Sends the requests of this MAP.
    fn send(&mut self, region: Region, answered_after: u64) -> (u64, u64) {
        let end = self.opportunities + region.opportunities;
        let (mut heard, mut collided) = (0, 0);
        while let Some((opportunity, turn, flow)) = self.next_request(end) {
            let first = self.ended.len();
            self.ended.push((turn, flow, Outcome::Collided));
            while let Some((_, turn, flow)) = self.next_request(opportunity + 1) {
                self.ended.push((turn, flow, Outcome::Collided));
            }
            if self.is_heard
                && let [(.., outcome)] = &mut self.ended[first..]
            {
                *outcome = Outcome::Heard;
                heard += 1;
                self.leave(flow);
                continue;
            }
            collided += 1;
            for &(turn, flow, _) in &self.ended[first..] {
                self.unanswered.push(Reverse((self.maps + answered_after, turn, flow)));
            }
        }
        (heard, collided)
    }

    /// The next request before an opportunity, of somebody who contends still.
    fn next_request(&mut self, before: u64) -> Option<(u64, u64, u32)> {
        while let Some(next) = due(&mut self.requests, before.checked_sub(1)?) {
            if of_turn(&mut self.contenders, next.1, next.2).is_some() {
                return Some(next);
            }
        }
        None
    }

    fn leave(&mut self, flow: u32) {
        self.contenders[flow as usize] = None;
        self.contending -= 1;
    }

    /// Hands over what ended, in the order in which flows joined.
    fn tell(&mut self, outcomes: &mut Vec<(u32, Outcome)>) {
        self.ended.sort_unstable_by_key(|(turn, ..)| *turn);
        outcomes.extend(self.ended.drain(..).map(|(_, flow, outcome)| (flow, outcome)));
    }
}

/// A contender that has not left since.
fn of_turn(all: &mut [Option<Contender>], turn: u64, flow: u32) -> Option<&mut Contender> {
    all[flow as usize].as_mut().filter(|contender| contender.turn == turn)
}

/// Takes what is due by `at`.
fn due(agenda: &mut Agenda, at: u64) -> Option<(u64, u64, u32)> {
    let Reverse((first, ..)) = agenda.peek()?;
    if *first > at {
        return None;
    }
    agenda.pop().map(|Reverse(next)| next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(backoff_start: u8, backoff_end: u8, opportunities: u64) -> Region {
        Region { opportunities, backoff_start, backoff_end }
    }

    fn outcomes(contention: &mut Contention, region: Region) -> Vec<(u32, Outcome)> {
        let mut outcomes = Vec::new();
        let (heard, collided) = contention.hold(region, 2, &mut outcomes);
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
            let mut collided = 0;
            for round in 0..rounds {
                let mut contention = Contention::new(round.into());
                (0..modems).for_each(|flow| contention.join(flow));
                let of_round = outcomes(&mut contention, region(start, 10, 1 << start));
                assert_eq!(of_round.len() as u32, modems);
                collided += of_round.iter().filter(|(_, o)| *o == Outcome::Collided).count();
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
            contention.contenders.iter().flatten().map(|one| one.tries).collect()
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
        let (mut contention, region) = (Contention::new(1), region(3, 10, 3));
        contention.join(7);
        contention.contenders[7].as_mut().unwrap().draw = 7.0 / 8.0;
        assert!((0..2).all(|_| outcomes(&mut contention, region).is_empty()));
        assert_eq!(outcomes(&mut contention, region), [(7, Outcome::Heard)]);
        assert!(contention.is_idle());
    }

    /// Whoever has left, while it waits for its opportunity or an answer, and joins again draws anew.
    #[test]
    fn who_left_meanwhile_is_forgotten() {
        let (mut contention, region) = (Contention::new(1), region(3, 10, 3));
        contention.join(7);
        contention.contenders[7].as_mut().unwrap().draw = 7.0 / 8.0;
        assert!(outcomes(&mut contention, region).is_empty());
        contention.withdraw(7);
        assert!(contention.is_idle());
        contention.join(7);
        contention.contenders[7].as_mut().unwrap().draw = 6.0 / 8.0;
        assert!((0..2).all(|_| outcomes(&mut contention, region).is_empty()));
        contention.join(8);
        contention.contenders[8].as_mut().unwrap().draw = 0.0;
        let collided = [(7, Outcome::Collided), (8, Outcome::Collided)];
        assert_eq!(outcomes(&mut contention, region), collided);
        contention.withdraw(7);
        let later = (0..99).flat_map(|_| outcomes(&mut contention, region));
        assert_eq!(later.collect::<Vec<_>>(), [(8, Outcome::Heard)]);
        assert!(contention.is_idle());
    }
}
