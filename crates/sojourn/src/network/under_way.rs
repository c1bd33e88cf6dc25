//! When bulk traffic is under way in each home, for what describes that time alone.
//!
//! A rate is of the time in which the line carried it: what has been sent when traffic stops is under way until it has
//! arrived. Who pings in that time pings neither an idle line nor one under load: a queue that drains tells of both.

use std::collections::VecDeque;
use std::ops::Range;

use super::Simulation;
use sojourn_engine::packet::{Direction, Packet};
use sojourn_engine::units::Time;
use sojourn_logs::Load;
use sojourn_scenario::apps::AppSpec;

/// Times that ended so long ago are forgotten: no round trip takes longer.
pub(super) const REMEMBERED: Time = Time::from_s(60);

/// What an event changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    None,
    Stops,
    BeginsAgain,
}

/// When the bulk traffic of an app is under way.
pub(super) struct UnderWay {
    /// The directions in which it goes.
    ways: [bool; 2],
    /// From when on time counts.
    from: Time,
    since: Option<Time>,
    /// Former times, the latest last.
    former: VecDeque<Range<Time>>,
    /// How long it was in former times that count, until this one.
    sum: Time,
    counted_until: Time,
}

impl UnderWay {
    /// That of an app before it acts; `None` if it sends nothing in bulk.
    pub(super) fn of(app: &AppSpec, from_s: f64) -> Option<Self> {
        app.is_bulk().then(|| Self {
            ways: Direction::BOTH.map(|way| app.loads(way)),
            from: Time::from_secs_f64(from_s),
            since: None,
            former: VecDeque::new(),
            sum: Time::ZERO,
            counted_until: Time::ZERO,
        })
    }

    /// Is it from now on?
    pub(super) fn set(&mut self, is_under_way: bool, now: Time) -> Turn {
        match self.since {
            None if is_under_way => {
                self.since = Some(now);
                if self.former.is_empty() { Turn::None } else { Turn::BeginsAgain }
            }
            Some(since) if !is_under_way => {
                self.sum = self.counted(now);
                self.counted_until = now;
                let is_old = |time: &Range<Time>| time.end + REMEMBERED < now;
                while self.former.front().is_some_and(is_old) {
                    self.former.pop_front();
                }
                self.former.push_back(since..now);
                self.since = None;
                Turn::Stops
            }
            _ => Turn::None,
        }
    }

    /// Something that it sent arrives. If it has stopped, its time lasts until now.
    fn arrived(&mut self, way: Direction, now: Time) {
        if self.since.is_none() && self.ways[way as usize] {
            self.sum += now.max(self.from).since(self.counted_until.max(self.from));
            self.counted_until = now;
        }
    }

    fn was(&self, at: Time) -> bool {
        let before = self.former.iter().rev().find(|time| time.start <= at);
        self.since.is_some_and(|since| since <= at) || before.is_some_and(|time| at < time.end)
    }

    /// Had it stopped, and not all arrived?
    fn drained(&self, at: Time) -> bool {
        let has_stopped = self.former.back().is_some_and(|last| last.end <= at);
        has_stopped && at < self.counted_until && self.since.is_none_or(|since| at < since)
    }

    /// How long it was until now, of the time that counts.
    fn counted(&self, now: Time) -> Time {
        let counts = |since: Time| now.max(self.from).since(since.max(self.from));
        self.sum + self.since.map_or(Time::ZERO, counts)
    }
}

impl Simulation {
    /// An app has stopped, or begins again.
    pub(super) fn turned(&mut self, traffic: u16, turn: Turn) {
        let stopped = &mut self.stopped[usize::from(traffic)];
        match turn {
            Turn::None => {}
            Turn::Stops => *stopped += 1,
            Turn::BeginsAgain => *stopped -= 1,
        }
    }

    /// A packet arrives of an entry that has stopped in one of its homes.
    #[cold]
    pub(super) fn arrives_late(&mut self, packet: &Packet) {
        let (first, _) = self.app_series[usize::from(packet.traffic)];
        let before = packet.home - self.instances[first as usize].owner.home;
        let app = &mut self.instances[first as usize + usize::from(before)];
        if let Some(under_way) = app.under_way.as_mut().filter(|_| packet.carries_data()) {
            under_way.arrived(packet.direction, self.now);
        }
    }

    /// What went in bulk from and to a home; `None` while a queue drained in a direction that nothing loaded, or where a
    /// program was a load until now.
    pub(super) fn load_at(&self, home: u16, at: Time) -> Option<Load> {
        if self.outside.loads(home, at, self.now) {
            return None;
        }
        let apps = self.bulk[usize::from(home)].iter().map(|app| &self.instances[*app as usize]);
        let (mut loaded, mut drained) = ([false; 2], [false; 2]);
        for under_way in apps.filter_map(|app| app.under_way.as_ref()) {
            let (was, has_drained) = (under_way.was(at), under_way.drained(at));
            for way in Direction::BOTH.map(|way| way as usize) {
                loaded[way] |= was && under_way.ways[way];
                drained[way] |= has_drained && under_way.ways[way];
            }
        }
        let [up, down] = Direction::BOTH.map(|way| loaded[way as usize]);
        let is_known = (0..2).all(|way| loaded[way] || !drained[way]);
        is_known.then(|| Load::of(down, up))
    }

    /// How long bulk traffic of an entry was under way in a direction, in s: the mean of its homes. `None` if it sends
    /// none there.
    pub(super) fn under_way_s(&self, traffic: usize, way: Direction) -> Option<f64> {
        let of_entry =
            self.instances.iter().filter(|app| usize::from(app.owner.traffic) == traffic);
        let own = of_entry.filter_map(|app| app.under_way.as_ref());
        let times = own.filter(|one| one.ways[way as usize]).map(|one| one.counted(self.now));
        let (count, sum_s) =
            times.fold((0.0, 0.0), |(count, sum_s), time| (count + 1.0, sum_s + time.secs_f64()));
        (count > 0.0).then(|| sum_s / count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_under_way_is_known_of_the_last_minute_and_summed_from_when_it_counts() {
        let upload = serde_json::from_value(json!({"kind": "transfer", "server": "s"})).unwrap();
        let mut one = UnderWay::of(&upload, 5.0).unwrap();
        assert_eq!(one.ways, [true, false]);
        let s = Time::from_s;
        for (is, at) in
            [(false, 0), (true, 2), (true, 3), (false, 4), (true, 4), (false, 8), (true, 9)]
        {
            one.set(is, s(at));
        }
        let was = [1, 2, 3, 4, 7, 8, 9, 90].map(|at| one.was(s(at)));
        assert_eq!(was, [false, true, true, true, true, false, true, true]);
        // 5 to 8 and 9 to 10 s.
        assert_eq!((one.counted(s(10)), one.counted(s(9))), (s(4), s(3)));
        assert_eq!(one.set(false, s(80)), Turn::Stops);
        assert_eq!((one.former.len(), one.counted(s(99))), (1, s(74)));
        // What arrives later was under way, but not what goes the other way; then it begins again.
        one.arrived(Direction::Up, s(81));
        one.arrived(Direction::Down, s(82));
        assert_eq!((one.counted(s(99)), one.was(s(79)), one.was(s(80))), (s(75), true, false));
        assert_eq!([79, 80, 81].map(|at| one.drained(s(at))), [false, true, false]);
        assert_eq!((one.set(true, s(90)), one.set(true, s(91))), (Turn::BeginsAgain, Turn::None));
        one.arrived(Direction::Up, s(92));
        assert_eq!(one.counted(s(92)), s(77));
        let game = json!({"kind": "stream", "server": "s", "purpose": "game"});
        assert!(UnderWay::of(&serde_json::from_value(game).unwrap(), 0.0).is_none());
    }
}
