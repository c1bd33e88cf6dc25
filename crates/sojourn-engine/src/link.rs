//! Links that only delay: transmission at the rate of their capacity, then a fixed delay. They may lose
//! packets at random, and a path's other traffic or the host at their end may take some time for one. They may
//! hold some back at random, which later ones pass.

use std::collections::VecDeque;

use crate::capacity::Capacity;
use crate::count::Count;
use crate::ecn_path::EcnPath;
use crate::packet::{DropReason, Packet};
use crate::record::{Legs, Part, Place, Recorder};
use crate::rng::Rng;
use crate::units::{BitRate, Time};

/// A link whose packets arrive in the order they were sent, except those that it holds back. The time of arrival is
/// known when a packet is sent, so packets in transit are a queue of which only the first is scheduled. Those that
/// are held back, all for the same time, are a second such queue.
///
/// Left out: a limit to what may wait for the link. Servers' links are usually much faster than the access
/// network, so at most a burst of one window waits there; where more is sent, the estimate of a run's memory
/// counts it.
pub struct Link {
    capacity: Capacity,
    delay: Time,
    busy_until: Time,
    under_way: VecDeque<Transit>,
    place: Place,
    /// Probability of losing a packet, and its random numbers.
    loss: Option<(f64, Rng)>,
    /// What it does to ECN, unless it leaves it alone.
    ecn: Option<EcnPath>,
    /// The time that a packet takes beyond the fixed delay, and its random numbers.
    jitter: Option<(Jitter, Rng)>,
    /// May packets take longer than the fixed delay, as that of the trace or the jitter has it?
    varies: bool,
    /// What it holds back.
    reordering: Option<Box<Reordering>>,
}

/// Packets that arrive a fixed time late, with this probability, so that others pass them: as netem with
/// `delay HOLD reorder P%`, of which 1 - P are held back (tc-netem(8)).
struct Reordering {
    chance: f64,
    hold: Time,
    rng: Rng,
    held: VecDeque<Transit>,
}

impl Reordering {
    fn draws(&mut self) -> bool {
        self.rng.uniform() < self.chance
    }

    fn next_wake(&self) -> Time {
        self.held.front().map_or(Time::NEVER, |first| first.arrives)
    }

    /// When the last of them would have arrived without being held back.
    fn last(&self) -> Time {
        self.held.back().map_or(Time::ZERO, |last| last.arrives.since(self.hold))
    }
}

/// A packet on a link.
struct Transit {
    arrives: Time,
    /// When it came to the link, and when it has been sent.
    came: Time,
    sent: Time,
    packet: Packet,
}

/// A random time that each packet takes beyond a link's delay.
#[derive(Clone, Copy, Debug)]
pub enum Jitter {
    /// Uniform from 0 to this: a host handles packets when it comes to it.
    Uniform(Time),
    /// Exponential with this mean: packets wait for those of others on the path, as the tail of a wait in any
    /// queue of random arrivals is (Kleinrock 1975, Queueing Systems I, 5.7, for M/M/1).
    Exponential(Time),
}

impl Jitter {
    fn draw(self, rng: &mut Rng) -> Time {
        match self {
            Self::Uniform(most) => most.scaled(rng.uniform()),
            Self::Exponential(mean) => mean.scaled(rng.exponential(1.0)),
        }
    }

    fn part(self) -> Part {
        match self {
            Self::Uniform(_) => Part::Host,
            Self::Exponential(_) => Part::Jitter,
        }
    }

    fn is_none(self) -> bool {
        let (Self::Uniform(time) | Self::Exponential(time)) = self;
        time == Time::ZERO
    }
}

impl Link {
    /// Memory that a packet in transit takes.
    pub const PACKET_BYTES: usize = size_of::<Transit>();

    /// A link of this capacity and one-way delay, at a server.
    pub fn new(capacity: Capacity, delay: Time) -> Self {
        let (busy_until, under_way, place) = (Time::ZERO, VecDeque::new(), Place::Server);
        let (loss, ecn, jitter, reordering) = (None, None, None, None);
        let varies = capacity.has_delays();
        Self {
            capacity,
            delay,
            busy_until,
            under_way,
            place,
            loss,
            ecn,
            jitter,
            varies,
            reordering,
        }
    }

    /// This link, at another place.
    pub fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// This link, losing each packet with probability `chance`.
    pub fn losing(mut self, chance: f64, rng: Rng) -> Self {
        self.loss = (chance > 0.0).then_some((chance, rng));
        self
    }

    /// This link, treating ECN so.
    pub fn treating_ecn(mut self, path: EcnPath) -> Self {
        self.ecn = (path != EcnPath::Kept).then_some(path);
        self
    }

    /// This link, on which each packet takes a random time more; packets keep their order.
    pub fn jittery(mut self, jitter: Jitter, rng: Rng) -> Self {
        self.jitter = (!jitter.is_none()).then_some((jitter, rng));
        self.varies |= self.jitter.is_some();
        self
    }

    /// This link, holding each packet back for the time `hold` with probability `chance`.
    pub fn reordering(mut self, chance: f64, hold: Time, rng: Rng) -> Self {
        let reordering = || Box::new(Reordering { chance, hold, rng, held: VecDeque::new() });
        self.reordering = (chance > 0.0 && hold > Time::ZERO).then(reordering);
        self
    }

    /// Takes a packet that reaches the sending end at `now`, no earlier than the packet before it.
    /// A lost packet takes no time on the link. Returns whether it is the next to arrive.
    #[inline(always)]
    pub fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) -> bool {
        if let Some((chance, rng)) = &mut self.loss
            && rng.uniform() < *chance
        {
            recorder.lost(now, &packet, DropReason::Link, (now, []));
            return false;
        }
        if self.ecn.is_some() || self.reordering.is_some() {
            return self.accept_on_faulty(now, packet, recorder);
        }
        let is_first = self.under_way.is_empty();
        let (sent, arrives) = self.send(now, &packet, recorder);
        self.under_way.push_back(Transit { arrives, came: now, sent, packet });
        is_first
    }

    /// As [`Self::accept`], on a path that rewrites ECN or changes the order. It is apart, so that other paths do not pay
    /// for a packet that may change.
    #[cold]
    fn accept_on_faulty(&mut self, now: Time, mut packet: Packet, recorder: &mut Recorder) -> bool {
        if let Some(path) = self.ecn
            && !path.passes(&mut packet.segment, &mut packet.ecn)
        {
            recorder.lost(now, &packet, DropReason::Link, (now, []));
            return false;
        }
        let is_first = self.under_way.is_empty();
        let (sent, due) = self.send(now, &packet, recorder);
        if let Some(reordering) = &mut self.reordering
            && reordering.draws()
        {
            let arrives = due + reordering.hold;
            recorder.delays.spends(&packet, due, [(Part::Jitter, arrives)]);
            reordering.held.push_back(Transit { arrives, came: now, sent, packet });
        } else {
            self.under_way.push_back(Transit { arrives: due, came: now, sent, packet });
        }
        is_first
    }

    /// Sends a packet: when it has been sent, and when it arrives if it is not held back.
    #[inline(always)]
    fn send(&mut self, now: Time, packet: &Packet, recorder: &mut Recorder) -> (Time, Time) {
        let begins = self.busy_until.max(now);
        let sent = self.capacity.done_at(begins, packet.size.into());
        self.busy_until = sent;
        let arrival = sent + self.delay;
        let arrives = if self.varies { self.later(arrival) } else { arrival };
        if begins > now {
            recorder.delays.spends(packet, now, [(self.place.queue(), begins)]);
        }
        recorder.delays.spends(packet, begins, self.legs(sent));
        if self.varies {
            recorder.delays.spends(packet, arrival, self.late(arrives));
        }
        (sent, arrives)
    }

    /// When the packet that has been sent last arrives, in order, with the delay of its time and jitter.
    fn later(&mut self, arrival: Time) -> Time {
        let last = self.under_way.back().map_or(Time::ZERO, |last| last.arrives);
        let last_held = self.reordering.as_ref().map_or(Time::ZERO, |of| of.last());
        let drawn = self.jitter.as_mut().map_or(Time::ZERO, |(jitter, rng)| jitter.draw(rng));
        last.max(last_held).max(arrival + self.capacity.delay() + drawn)
    }

    /// Where it is.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// When the last packet has been sent.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// From now on packets are sent at another rate; those whose sending has been fixed keep the old one.
    pub(crate) fn set_rate(&mut self, rate: BitRate) {
        self.capacity = Capacity::steady(rate);
    }

    /// The rate at which it sends now.
    pub fn rate(&mut self, now: Time) -> BitRate {
        self.capacity.rate(now)
    }

    /// When the next packet arrives.
    #[inline]
    pub fn next_wake(&self) -> Time {
        let first = self.under_way.front().map_or(Time::NEVER, |first| first.arrives);
        match &self.reordering {
            None => first,
            Some(reordering) => first.min(reordering.next_wake()),
        }
    }

    /// The packet that arrives now, with its time.
    #[inline(always)]
    pub fn wake(&mut self) -> Option<(Time, Packet)> {
        if self.reordering.is_some() {
            return self.wake_reordered();
        }
        self.under_way.pop_front().map(|transit| (transit.arrives, transit.packet))
    }

    #[cold]
    fn wake_reordered(&mut self) -> Option<(Time, Packet)> {
        let first = self.under_way.front().map_or(Time::NEVER, |first| first.arrives);
        let packets = match &mut self.reordering {
            Some(reordering) if reordering.next_wake() < first => &mut reordering.held,
            _ => &mut self.under_way,
        };
        packets.pop_front().map(|transit| (transit.arrives, transit.packet))
    }

    /// What a packet spends its time on from when it begins to be sent.
    #[inline(always)]
    fn legs(&self, sent: Time) -> Legs<2> {
        [(Part::Transmission, sent), (self.place.delay(), sent + self.delay)]
    }

    /// And from then on.
    fn late(&self, arrives: Time) -> Legs<1> {
        [(self.jitter.as_ref().map_or(Part::Jitter, |(jitter, _)| jitter.part()), arrives)]
    }

    /// The run ends: what packets in transit would spend after now is not counted. Those that will only come to the
    /// link are shown with when.
    pub fn close(
        &self,
        now: Time,
        recorder: &mut Recorder,
        mut comes: impl FnMut(&mut Recorder, &Packet, Time),
    ) {
        let mut free = Time::ZERO;
        for (Transit { arrives, came, sent, packet }, hold) in self.in_transit() {
            let (begins, due) = (free.max(*came), arrives.since(hold));
            recorder.delays.takes_back(now, packet, *came, [(self.place.queue(), begins)]);
            recorder.delays.takes_back(now, packet, begins, self.legs(*sent));
            recorder.delays.takes_back(now, packet, *sent + self.delay, self.late(due));
            recorder.delays.takes_back(now, packet, due, [(Part::Jitter, *arrives)]);
            free = *sent;
            if *came > now {
                comes(recorder, packet, *came);
            }
        }
    }

    /// What is in transit in the order of sending, with the time for which it is held back.
    fn in_transit(&self) -> impl Iterator<Item = (&Transit, Time)> {
        let held = self.reordering.iter().flat_map(|of| of.held.iter().map(|one| (one, of.hold)));
        let mut held = held.peekable();
        let mut others = self.under_way.iter().map(|one| (one, Time::ZERO)).peekable();
        std::iter::from_fn(move || match (held.peek(), others.peek()) {
            (Some((one, _)), Some((other, _))) if one.sent < other.sent => held.next(),
            (Some(_), None) => held.next(),
            _ => others.next(),
        })
    }

    /// Packets and bytes in transit.
    pub fn inside(&self) -> Count {
        self.in_transit().map(|(transit, _)| Count::of(&transit.packet)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::{Step, Trace};
    use crate::packet::Packet;

    /// 8 Mbps carry 1000 bytes in a ms. In the first ms packets take 10 ms more than the 1 ms of the link, then 2: the second
    /// waits for the first.
    #[test]
    fn delays_of_a_trace_keep_the_order() {
        let step = |delay_ms| Step { delay_ms, ..Step::new(1e-3, 8.0) };
        let steps = vec![step(10.0), step(2.0), Step::new(1.0, 8.0)];
        let trace = Trace { steps, ..Trace::default() };
        let mut link = Link::new(Capacity::from(&trace), Time::from_ms(1));
        let mut recorder = Recorder::default();
        for at_us in [0, 1100, 20_000] {
            link.accept(Time::from_us(at_us), Packet::datagram(500), &mut recorder);
        }
        let arrived: Vec<_> = std::iter::from_fn(|| link.wake()).map(|(at, _)| at).collect();
        assert_eq!(arrived, [11_500, 11_500, 21_500].map(Time::from_us));
    }

    /// Packets 12 us apart to a host that handles them up to 50 us late: in their order, none early, none later
    /// than that, and not all alike.
    #[test]
    fn a_host_keeps_the_order_of_what_it_handles_late() {
        let capacity = || Capacity::steady(BitRate::from_mbps(1000.0));
        let (delay, most) = (Time::from_ms(1), Time::from_us(50));
        let mut exact = Link::new(capacity(), delay);
        let mut late =
            Link::new(capacity(), delay).jittery(Jitter::Uniform(most), Rng::named(1, "host"));
        let mut recorder = Recorder::default();
        for n in 0..1000 {
            exact.accept(Time::from_us(12 * n), Packet::datagram(1500), &mut recorder);
            late.accept(Time::from_us(12 * n), Packet::datagram(1500), &mut recorder);
        }
        let of = |link: Link| link.under_way.into_iter().map(|of| of.arrives).collect::<Vec<_>>();
        let (exact, late) = (of(exact), of(late));
        assert!(late.is_sorted());
        assert!(
            exact.iter().zip(&late).all(|(exact, late)| late >= exact && *late <= *exact + most)
        );
        assert!(late.windows(2).any(|pair| pair[1].since(pair[0]) > Time::from_us(20)));
    }

    /// Of packets a millisecond apart a tenth comes 2.5 ms late, behind the two after it, and all others in time.
    #[test]
    fn what_is_held_back_is_passed_by_later_ones() {
        let capacity = Capacity::steady(BitRate::from_mbps(1_000_000.0));
        let (delay, hold) = (Time::from_ms(10), Time::from_us(2500));
        let rng = Rng::named(1, "reordering");
        let mut link = Link::new(capacity, delay).reordering(0.1, hold, rng);
        for n in 0..2000 {
            let packet = Packet { sent_at: Time::from_ms(n), ..Packet::datagram(125) };
            link.accept(Time::from_ms(n), packet, &mut Recorder::default());
        }
        assert_eq!(link.inside().packets, 2000);
        let (mut last, mut held, mut passed) = (Time::ZERO, 0, 0);
        let mut sent: Vec<Time> = Vec::new();
        while link.next_wake() < Time::NEVER {
            let (at, packet) = link.wake().unwrap();
            let late = at.since(packet.sent_at + delay);
            assert!(at >= last && (late.since(hold) < Time::from_us(1)), "{late:?}");
            held += u32::from(late >= hold);
            passed += sent.iter().filter(|other| **other > packet.sent_at).count();
            last = at;
            sent.push(packet.sent_at);
        }
        // 200 and three times their deviation of 13.4.
        assert!((160..240).contains(&held), "{held}");
        // Those that are held back themselves pass none: 2 * 0.9 for each.
        assert!((passed as f64 / f64::from(held) - 1.8).abs() < 0.1, "{passed} {held}");
        assert_eq!((sent.len(), link.inside().packets), (2000, 0));
    }

    /// Packets 10 ms apart, so that none keeps another back: the mean and the 99th percentile, ln 100 means,
    /// of an exponential time of 0.25 ms.
    #[test]
    fn a_path_adds_exponential_times() {
        let capacity = Capacity::steady(BitRate::from_mbps(1_000_000.0));
        let jitter = Jitter::Exponential(Time::from_us(250));
        let mut link = Link::new(capacity, Time::ZERO).jittery(jitter, Rng::named(1, "path"));
        let mut recorder = Recorder::default();
        for n in 0..20_000 {
            link.accept(Time::from_ms(10 * n), Packet::datagram(125), &mut recorder);
        }
        let times = link.under_way.iter().enumerate();
        let mut late_ms: Vec<f64> = times
            .map(|(n, of)| of.arrives.since(Time::from_ms(10 * n as u64)).secs_f64() * 1e3)
            .collect();
        late_ms.sort_by(f64::total_cmp);
        let mean_ms = late_ms.iter().sum::<f64>() / late_ms.len() as f64;
        assert!((mean_ms - 0.251).abs() < 0.005, "{mean_ms}");
        assert!((late_ms[19_800] - 0.25 * 100f64.ln()).abs() < 0.06, "{}", late_ms[19_800]);
    }
}
