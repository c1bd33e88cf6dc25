//! The access network between the homes and the links to servers.
//!
//! The simulation uses it through the trait [`AccessNetwork`] alone. A network accepts packets from
//! homes and from servers' links, wakes its parts when they are due, and hands over packets that
//! have crossed it.
//!
//! To add a network: a file or folder here with its parameters, which answer [`AccessParameters`], a variant of
//! [`Access`] and a variant of [`AccessSpec`].

mod check;
pub(crate) mod classifier;
pub(crate) mod context;
pub(crate) mod delay_line;
pub mod docsis;
pub(crate) mod fibre;
pub(crate) mod flight;
pub(crate) mod homes;
pub mod modem_config;
pub(crate) mod service;
pub(crate) mod shaped_link;
pub(crate) mod shaper;

pub use classifier::{Classifier, Header, Protocol, service_flow};
pub use context::ServiceFlowContext;
pub use fibre::Fibre;
pub use homes::{Base, Group, homes};
pub use service::{
    Buffer, DEFAULT_BURST_BYTES, Downstream, PRIMARY, ServiceFlow, Terms, Upstream, flow_path,
};
pub use shaped_link::ShapedLink;

use enum_dispatch::enum_dispatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use docsis::request_grant::MacCounters;
use docsis::{ByteCount, PlantSpec};
use homes::Home;
use sojourn_engine::count::Count;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::{Direction, Packet};
use sojourn_engine::queue::Queue;
use sojourn_engine::record::{ChannelUse, Definition, Recorder, Series};
use sojourn_engine::units::Time;
use sojourn_engine::wake::{StageId, Wake};
use sojourn_input::problem::{Faults, Warning};

/// Definitions of all series that access networks show beside those of their queues.
pub fn series() -> Vec<Definition> {
    [docsis::map_channel::SERIES, docsis::modem::SERIES].concat()
}

/// Which homes of a site are built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// All.
    Whole,
    /// The first of each group: enough for warnings.
    Samples,
}

/// What an access network is built from.
pub struct Site<'a> {
    /// All groups of homes, in their order.
    pub groups: Vec<Group<'a>>,
    /// Names of the traffic entries, by the number that packets carry.
    pub traffic: Vec<&'a str>,
    /// How many connections each measured queue watches one by one.
    pub watch_flows: usize,
    /// Which of the homes are built.
    pub extent: Extent,
    /// The dialect its parts follow.
    pub dialect: Dialect,
    /// Seed of the run.
    pub seed: u64,
}

impl Site<'_> {
    /// The homes that are built.
    pub fn homes(&self) -> impl Iterator<Item = Home<'_>> {
        let all = self.extent == Extent::Whole;
        homes::homes(&self.groups).filter(move |home| all || home.is_watched())
    }
}

/// Where the parts of an access network set their next wake times.
///
/// Parts are numbered in each direction from 0. At equal times the part with the lower number is
/// woken first. Parts toward the servers are woken before the links to servers, parts toward the
/// homes after them.
pub struct Alarms<'a> {
    wake: &'a mut Wake,
    first: [StageId; 2],
}

impl<'a> Alarms<'a> {
    /// Alarms for parts whose first stages, upstream and downstream, have these numbers.
    pub fn new(wake: &'a mut Wake, first: [StageId; 2]) -> Self {
        Self { wake, first }
    }

    /// Sets when a part is next woken, replacing its earlier time.
    #[inline]
    pub fn set(&mut self, direction: Direction, part: u32, at: Time) {
        self.wake.set(self.first[direction as usize] + part, at);
    }
}

/// A measured queue, and whose packets it holds.
pub struct PlacedQueue<'a> {
    /// The queue.
    pub queue: &'a Queue,
    /// Where its packets go.
    pub direction: Direction,
    /// The number of its home; `None` if homes share it.
    pub home: Option<usize>,
}

/// What the simulation needs from an access network.
#[enum_dispatch]
pub trait AccessNetwork {
    /// How many parts are woken in this direction.
    fn parts(&self, direction: Direction) -> u32;
    /// The number of a part in the order of wake-ups, where service flows that are never woken have
    /// numbers too; behind the last part, how many numbers there are.
    fn number(&self, _direction: Direction, part: u32) -> u32 {
        part
    }
    /// When a part is first woken, before any packet has come.
    fn first_wake(&self, direction: Direction, part: u32) -> Time;
    /// Takes a packet from a home or from a server's link. Returns the packet, as [`Self::wake`]
    /// does, if the time at which it has crossed the network is already known.
    fn accept(
        &mut self,
        now: Time,
        packet: Packet,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) -> Option<(Time, Packet)>;
    /// Wakes a part. Returns a packet that has crossed the network, if there is one, with its time.
    /// A packet for a home arrives now. A packet for a server reaches its link now or later, never
    /// before the packets returned earlier.
    fn wake(
        &mut self,
        now: Time,
        direction: Direction,
        part: u32,
        alarms: &mut Alarms,
        recorder: &mut Recorder,
    ) -> Option<(Time, Packet)>;
    /// From now on the service flows of a home have the rates and the parameters of queues of this group, in one
    /// direction. Returns whether it has such flows.
    fn retune(&mut self, now: Time, home: usize, group: &Group, direction: Direction) -> bool;
    /// Samples queues and channels for their time series.
    fn sample(&mut self, now: Time);
    /// Packets and bytes inside the network.
    fn inside(&self) -> Count;
    /// The run ends: what is in it, but in queues, has spent its time until now.
    fn close(&self, now: Time, recorder: &mut Recorder);
    /// The run ends before a packet that left it comes to its link at `at`: it has not spent its time after now.
    fn take_back(&self, _now: Time, _packet: &Packet, _at: Time, _recorder: &mut Recorder) {}
    /// The measured queues home by home, upstream ones first, then the shared ones.
    fn queues(&self) -> Vec<PlacedQueue<'_>>;
    /// MAC counters of a home's upstream service flow, if it has a MAC.
    fn mac_counters(&self, _home: usize, _flow: usize) -> Option<MacCounters> {
        None
    }
    /// Counters, up to now, of the channels that homes share.
    fn channels(&self, _now: Time) -> Vec<ChannelUse> {
        Vec::new()
    }
    /// Time series of the shared upstream channel, if there is one.
    fn channel_series(&self) -> Vec<(String, &Series)> {
        Vec::new()
    }
    /// The propagation delay between a home and the network's far end, one way.
    fn propagation(&self, home: usize) -> Time;
    /// Warnings for the user: settings without effect, rates that cannot be kept, congestion.
    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }
}

/// What is asked of an access network before it is built.
pub trait AccessParameters {
    /// The network of a site, which carries nothing yet.
    fn start(&self, site: &Site) -> Access;
    /// The one-way propagation delay to a home, whose group may have a distance of its own.
    fn propagation(&self, own_distance_km: Option<f64>) -> Time;
    /// What the sizes of packets count.
    fn byte_count(&self) -> ByteCount;
    /// The time between MAPs for homes with this service; `None` if they request no bandwidth.
    fn map_interval(&self, upstream: &Upstream) -> Option<Time>;
    /// The faults of a group of homes, with their paths below the group's table.
    fn check(&self, group: &Group) -> Faults;
}

/// Every access network.
#[enum_dispatch(AccessNetwork)]
#[expect(clippy::large_enum_variant, reason = "a run has one")]
pub enum Access {
    /// Cable modems and the CMTS.
    Docsis(docsis::plant::Docsis),
    /// A fibre to each home.
    Fibre(fibre::Fibre),
}

/// The access network, chosen by `kind`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AccessSpec {
    /// A cable network: modems and a CMTS, described by `cable`, `upstream_channel` and `cmts`.
    #[default]
    Docsis,
    /// Point-to-point fibre to each home.
    Fibre(fibre::Parameters),
}

impl AccessSpec {
    /// What the network answers; `plant` are the scenario's keys of a cable plant.
    pub fn parameters<'a>(&'a self, plant: PlantSpec<'a>) -> Box<dyn AccessParameters + 'a> {
        match self {
            Self::Docsis => Box::new(plant),
            Self::Fibre(fibre) => Box::new(fibre.clone()),
        }
    }

    /// Do the scenario's keys of a cable plant describe it?
    pub fn has_plant(&self) -> bool {
        match self {
            Self::Docsis => true,
            Self::Fibre(_) => false,
        }
    }
}
