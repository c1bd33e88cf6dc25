//! When bulk traffic is under way in each home, for what describes that time alone.

use std::collections::VecDeque;
use std::ops::Range;

use super::Simulation;
use sojourn_engine::packet::Direction;
use sojourn_engine::units::Time;
use sojourn_logs::Load;
use sojourn_scenario::apps::AppSpec;

/// Times that ended so long ago are forgotten: no round trip takes longer.
const REMEMBERED: Time = Time::from_s(60);

/// When the bulk traffic of an app is under way.
pub(super) struct UnderWay {
    /// The directions in which it goes.
    ways: [bool; 2],
    /// From when on time counts.
    from: Time,
    since: Option<Time>,
    /// Former times, the latest last.
    former: VecDeque<Range<Time>>,
    /// How long it was in former times that count.
    sum: Time,
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
        })
    }

    /// Is it from now on?
    pub(super) fn set(&mut self, is_under_way: bool, now: Time) {
        match self.since {
            None if is_under_way => self.since = Some(now),
            Some(since) if !is_under_way => {
                self.sum = self.counted(now);
                let is_old = |time: &Range<Time>| time.end + REMEMBERED < now;
                while self.former.front().is_some_and(is_old) {
                    self.former.pop_front();
                }
                self.former.push_back(since..now);
                self.since = None;
            }
            _ => {}
        }
    }

    fn was(&self, at: Time) -> bool {
        let before = self.former.iter().rev().find(|time| time.start <= at);
        self.since.is_some_and(|since| since <= at) || before.is_some_and(|time| at < time.end)
    }

    /// How long it was until now, of the time that counts.
    fn counted(&self, now: Time) -> Time {
        let counts = |since: Time| now.max(self.from).since(since.max(self.from));
        self.sum + self.since.map_or(Time::ZERO, counts)
    }
}

impl Simulation {
    /// What went in bulk from and to a home.
    pub(super) fn load_at(&self, home: u16, at: Time) -> Load {
        let apps = self.bulk[usize::from(home)].iter().map(|app| &self.instances[*app as usize]);
        let mut loaded = [false; 2];
        for under_way in apps.filter_map(|app| app.under_way.as_ref()).filter(|one| one.was(at)) {
            loaded = [0, 1].map(|way| loaded[way] || under_way.ways[way]);
        }
        Load::of(loaded[Direction::Down as usize], loaded[Direction::Up as usize])
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
        one.set(false, s(80));
        assert_eq!((one.former.len(), one.counted(s(99))), (1, s(74)));
        let game = json!({"kind": "stream", "server": "s", "purpose": "game"});
        assert!(UnderWay::of(&serde_json::from_value(game).unwrap(), 0.0).is_none());
    }
}
