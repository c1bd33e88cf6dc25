//! Point-to-point fibre to each home: in each direction a queue, the token buckets of the service,
//! a line, and propagation delay.
//!
//! This is the simplest access network: a baseline for comparison with DOCSIS and a starting point
//! for further networks. Homes share nothing. Contention on a passive optical network and service
//! flows besides the primary one are left out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::ServiceFlowContext;
use super::docsis::ByteCount;
use super::flight::{Medium, Way};
use super::homes::Group;
use super::service::Upstream;
use super::shaped_link::ShapedLink;
use super::{Access, AccessNetwork, AccessParameters, Alarms, PlacedQueue, Site};
use sojourn_engine::capacity::Capacity;
use sojourn_engine::count::Count;
use sojourn_engine::packet::{Direction, Packet};
use sojourn_engine::record::Recorder;
use sojourn_engine::units::{BitRate, Time};
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Faults};

/// A fibre line to each home, the same in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Fibre")]
pub struct Parameters {
    /// Rate of the line in Mbps (IEEE 802.3 clause 59, 1000BASE-BX10: 1000).
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    pub line_mbps: f64,
    /// Length of the line in km. 1000BASE-BX10 reaches 10 km. Propagation takes 4.9 us per km, for
    /// a group index of 1.468 (ITU-T G.652, appendix I).
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub length_km: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { line_mbps: 1000.0, length_km: 10.0 }
    }
}

/// Speed of light in km per second (SI).
const LIGHT_KM_PER_S: f64 = 299_792.458;
/// Group index of the fibre at 1310 nm (ITU-T G.652, appendix I).
const GROUP_INDEX: f64 = 1.468;

impl AccessParameters for Parameters {
    fn start(&self, site: &Site) -> Access {
        Fibre::new(self, site).into()
    }

    fn propagation(&self, own_distance_km: Option<f64>) -> Time {
        let km = own_distance_km.unwrap_or(self.length_km);
        Time::from_secs_f64(km * GROUP_INDEX / LIGHT_KM_PER_S)
    }

    /// The IP packet: the line has no framing of its own here.
    fn byte_count(&self) -> ByteCount {
        ByteCount::Ip
    }

    fn map_interval(&self, _upstream: &Upstream) -> Option<Time> {
        None
    }

    /// Rejects keys that only a cable has, and rates above the line's.
    fn check(&self, group: &Group) -> Faults {
        let mut faults = Faults::default();
        let up = group.upstream;
        let down = group.downstream;
        for (way, peak_mbps, flows, has_capacity) in [
            ("upstream", up.terms().peak_mbps, &up.flows, up.capacity.is_some()),
            ("downstream", down.terms().peak_mbps, &down.flows, down.capacity.is_some()),
        ] {
            if peak_mbps > self.line_mbps {
                let allowed = format!("{} or less, the value of access.line_mbps", self.line_mbps);
                faults.add(Fault::found(format!("{way}.peak_mbps"), peak_mbps, allowed));
            }
            if has_capacity {
                faults.add(fault!(NotAllowed, format!("{way}.capacity") =>
                    "found with access kind fibre; allowed: unset, since access.line_mbps says it"));
            }
            if let Some(name) = flows.keys().next() {
                faults.add(Fault::found(
                    format!("{way}.flows"),
                    name,
                    "none with access kind fibre",
                ));
            }
        }
        let stalls = (!down.stalls.is_empty()).then_some("stalls");
        for (way, key) in [("upstream", up.cable_key()), ("downstream", stalls)] {
            let Some(key) = key else { continue };
            faults.add(fault!(NotAllowed, format!("{way}.{key}") =>
                "found with access kind fibre; allowed: only with kind docsis"));
        }
        faults
    }
}

/// The lines of all homes.
pub struct Fibre {
    /// Upstream and downstream lines, home by home.
    lines: [Vec<ShapedLink>; 2],
    /// Packets in propagation, upstream and downstream.
    glass: [Medium; 2],
    /// Propagation to each home.
    propagation: Vec<Time>,
    watched: Vec<usize>,
}

impl Fibre {
    /// Lines that carry nothing yet.
    pub fn new(spec: &Parameters, site: &Site) -> Self {
        let rate = BitRate::from_mbps(spec.line_mbps);
        let mut propagation = Vec::new();
        let mut lines = [Vec::new(), Vec::new()];
        let mut watched = Vec::new();
        for (index, home) in site.homes().enumerate() {
            let name = home.name(index == 0);
            let context = ServiceFlowContext::new(site, &name, "", home.is_watched());
            let [up, down] = &mut lines;
            let (upstream, downstream) =
                (home.group.upstream.primary(), home.group.downstream.primary());
            up.push(ShapedLink::upstream_at(Capacity::steady(rate), &upstream, &context));
            down.push(ShapedLink::downstream_at(Capacity::steady(rate), &downstream, &context));
            propagation.push(spec.propagation(home.group.distance_km));
            watched.extend(home.is_watched().then_some(index));
        }
        let glass = [Medium::new(false), Medium::new(false)];
        Self { lines, glass, propagation, watched }
    }

    /// Puts the packet that a line sends, if any, on the glass.
    fn onto_glass(
        &mut self,
        (now, direction, home): (Time, Direction, usize),
        sent: Option<Packet>,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) {
        let way = direction as usize;
        let line = &self.lines[way][home];
        alarms.set(direction, home as u32, line.next_wake());
        if let Some(packet) = sent {
            let at = line.sent_at();
            recorder.forwarded(at, &packet);
            let arrives = at + self.propagation[home];
            let way_of_packet = Way::sent(now, line.began_at(), at).arriving(arrives);
            if self.glass[way].accept(packet, way_of_packet, recorder) {
                alarms.set(direction, self.lines[way].len() as u32, self.glass[way].next_wake());
            }
        }
    }
}

impl AccessNetwork for Fibre {
    fn parts(&self, direction: Direction) -> u32 {
        self.lines[direction as usize].len() as u32 + 1
    }

    fn first_wake(&self, direction: Direction, part: u32) -> Time {
        let line = self.lines[direction as usize].get(part as usize);
        line.map_or(Time::NEVER, ShapedLink::next_wake)
    }

    fn accept(
        &mut self,
        now: Time,
        packet: Packet,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) -> Option<(Time, Packet)> {
        let (direction, home) = (packet.direction, usize::from(packet.home));
        if direction == Direction::Down {
            recorder.reached_access(now, &packet);
        }
        let sent = self.lines[direction as usize][home].accept(now, packet, recorder);
        self.onto_glass((now, direction, home), sent, alarms, recorder);
        None
    }

    fn wake(
        &mut self,
        now: Time,
        direction: Direction,
        part: u32,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) -> Option<(Time, Packet)> {
        let (way, home) = (direction as usize, part as usize);
        if let Some(line) = self.lines[way].get_mut(home) {
            let sent = line.wake(now, recorder);
            self.onto_glass((now, direction, home), sent, alarms, recorder);
            return None;
        }
        let arrived = self.glass[way].wake();
        alarms.set(direction, part, self.glass[way].next_wake());
        arrived
    }

    fn retune(&mut self, now: Time, home: usize, group: &Group, direction: Direction) -> bool {
        let line = &mut self.lines[direction as usize][home];
        match direction {
            Direction::Up => {
                let spec = group.upstream.primary();
                line.retune(now, (spec.terms(), &spec.queue), None);
            }
            Direction::Down => {
                let spec = group.downstream.primary();
                line.retune(now, (spec.terms(), &spec.queue), None);
            }
        }
        true
    }

    fn sample(&mut self, _now: Time) {
        let watched = &self.watched;
        for lines in &mut self.lines {
            watched.iter().for_each(|home| lines[*home].sample());
        }
    }

    fn inside(&self) -> Count {
        let lines = self.lines.iter().flatten().map(ShapedLink::inside);
        let glass = self.glass.iter().flat_map(Medium::items).map(Count::of);
        lines.chain(glass).sum()
    }

    fn close(&self, now: Time, recorder: &mut Recorder) {
        for (lines, glass) in self.lines.iter().zip(&self.glass) {
            glass.close(now, recorder, |packet, at| {
                let home = usize::from(packet.home);
                let (line, sent) = (&lines[home], at - self.propagation[home]);
                Way::sent(Time::ZERO, line.began_at().min(sent), sent).arriving(at)
            });
        }
    }

    fn queues(&self) -> Vec<PlacedQueue<'_>> {
        let of_home = |home: &usize| {
            let home = *home;
            Direction::BOTH.map(|direction| {
                let queue = self.lines[direction as usize][home].queue();
                PlacedQueue { queue, direction, home: Some(home) }
            })
        };
        self.watched.iter().flat_map(of_home).collect()
    }

    fn propagation(&self, home: usize) -> Time {
        self.propagation[home]
    }
}
