//! What controllers of routers do to the shapers of their homes.

use super::Simulation;
use sojourn_engine::packet::Direction;
use sojourn_engine::units::{BitRate, Time};
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::Event;
use sojourn_scenario::controllers::Rates;

/// The rates that a controller has set.
pub(super) struct Shaped([Option<Way>; 2]);

/// Those of a direction, over the time that counts.
struct Way {
    rate: BitRate,
    /// From when on it is set.
    since: Time,
    /// What it would have carried before.
    bits: f64,
    /// From when on it counts.
    from: Time,
    decreases: u64,
}

impl Way {
    fn bits(&self, now: Time) -> f64 {
        self.bits + self.rate.bps() as f64 * now.since(self.since).secs_f64()
    }
}

impl Shaped {
    /// Those of the controller of a group's router.
    pub(super) fn of(scenario: &Scenario, group: usize) -> Self {
        let rates = scenario.router_of(group).map_or(Rates::default(), |router| router.settable());
        Self(Direction::BOTH.map(|way| {
            let rate = BitRate::from_bps(rates.of(way)? as u64);
            Some(Way { rate, since: Time::ZERO, bits: 0.0, from: Time::ZERO, decreases: 0 })
        }))
    }

    /// The rate of a direction; none without a shaper.
    pub(super) fn rate(&self, way: Direction) -> Option<BitRate> {
        Some(self.0[way as usize].as_ref()?.rate)
    }

    /// What was before does not count.
    pub(super) fn begin(&mut self, now: Time) {
        for way in self.0.iter_mut().flatten() {
            (way.since, way.from, way.bits, way.decreases) = (now, now, 0.0, 0);
        }
    }

    /// The mean rate in Mbps, and how often it fell.
    pub(super) fn measures(&self, way: Direction, now: Time) -> Option<(f64, u64)> {
        let way = self.0[way as usize].as_ref()?;
        let counted_s = now.since(way.from).secs_f64();
        (counted_s > 0.0).then(|| (way.bits(now) / counted_s / 1e6, way.decreases))
    }

    fn set(&mut self, way: Direction, rate: BitRate, now: Time) {
        let Some(way) = &mut self.0[way as usize] else { return };
        way.bits = way.bits(now);
        way.since = now;
        way.decreases += u64::from(rate < way.rate);
        way.rate = rate;
    }
}

impl Simulation {
    /// The controller of an app's home reads what its shapers have let pass.
    pub(super) fn read_shapers(&mut self, app: u32) {
        let home = self.instances[app as usize].owner.home;
        let passed = [&self.hops[0], &self.hops[1]].map(|hops| {
            let router = hops.router_of(home)?;
            Some(hops.get(router).hop.passed_bytes())
        });
        self.pending_events.push_back((app, Event::Shapers(passed)));
    }

    /// The controller of an app's home sets a shaper.
    pub(super) fn shape(&mut self, app: u32, way: Direction, bps: u64) {
        let Self { now, instances, hops, wake, .. } = self;
        let instance = &mut instances[app as usize];
        let hops = &mut hops[way as usize];
        let Some(router) = hops.router_of(instance.owner.home) else { return };
        let rate = BitRate::from_bps(bps);
        if let Some(shaped) = &mut instance.shaped {
            shaped.set(way, rate, *now);
        }
        let placed = hops.get_mut(router);
        placed.hop.shape(rate);
        wake.set(placed.stage, placed.hop.next_wake());
    }
}
