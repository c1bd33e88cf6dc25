//! The access network: what stands between the homes and the links to servers.
//!
//! The path knows it by [`AccessNetwork`] alone. It accepts packets from homes and from servers'
//! links, wakes its parts when they want to be woken, and gives packets that have come through.
//!
//! A network is a file or a folder here, a line in [`Access`] and a line in [`AccessSpec`].

mod check;
pub mod classifier;
pub mod context;
pub mod delay_line;
pub mod docsis;
pub mod fibre;
pub mod homes;
pub mod service;
pub mod shaped_link;
pub mod shaper;

use enum_dispatch::enum_dispatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::count::Count;
use crate::dialect::Dialect;
use crate::engine::wake::{StageId, Wake};
use crate::metrics::results::ChannelRow;
use crate::metrics::{Ledger, Series};
use crate::packet::{Direction, Packet};
use crate::queue::Queue;
use crate::units::Time;
use docsis::request_grant::MacCounters;
use homes::Group;

/// What an access network is made for.
pub struct Site<'a> {
    /// All groups of homes, in their order.
    pub groups: Vec<Group<'a>>,
    /// Names of the traffic entries, by the number that packets carry.
    pub traffic: Vec<&'a str>,
    /// Of each measured queue, so many connections are watched one by one.
    pub watch_flows: usize,
    /// Rules that it follows.
    pub dialect: Dialect,
    /// Seed of the run.
    pub seed: u64,
}

/// Where the parts of an access network say when they want to be woken.
///
/// Parts are numbered in each direction from 0. At equal times the one with the lower number is woken
/// first, and those toward the servers before the links to these, those toward the homes after.
pub struct Alarms<'a> {
    wake: &'a mut Wake,
    first: [StageId; 2],
}

impl<'a> Alarms<'a> {
    /// Alarms of parts whose first stages, up and down, have these numbers.
    pub fn new(wake: &'a mut Wake, first: [StageId; 2]) -> Self {
        Self { wake, first }
    }

    /// Sets when a part wants to be woken, in place of when it did.
    #[inline]
    pub fn set(&mut self, direction: Direction, part: u32, at: Time) {
        self.wake.set(self.first[direction as usize] + part, at);
    }
}

/// What the path asks of an access network.
#[enum_dispatch]
pub trait AccessNetwork {
    /// How many parts want to be woken, toward the servers or toward the homes.
    fn parts(&self, direction: Direction) -> u32;
    /// When a part wants to be woken before the first packet.
    fn first_wake(&self, direction: Direction, part: u32) -> Time;
    /// Takes a packet from a home, or from a server's link. Gives it back if it is known at once when
    /// it will have come through, as [`Self::wake`] does.
    fn accept(
        &mut self,
        now: Time,
        packet: Packet,
        alarms: &mut Alarms,
        ledger: &mut Ledger,
    ) -> Option<(Time, Packet)>;
    /// Wakes a part. Gives a packet that has come through, if one has, and when: a packet for a home
    /// is there now, one for a server is at its link now or later, but not before those given earlier.
    fn wake(
        &mut self,
        now: Time,
        direction: Direction,
        part: u32,
        alarms: &mut Alarms,
        ledger: &mut Ledger,
    ) -> Option<(Time, Packet)>;
    /// Samples its queues and channels for their series.
    fn sample(&mut self, now: Time);
    /// Packets and bytes it holds.
    fn inside(&self) -> Count;
    /// The queues that are measured: home by home, the upstream ones first, and then those shared.
    fn queues(&self) -> Vec<&Queue>;
    /// What the MAC of an upstream service flow of a home did, if it has one.
    fn mac_counters(&self, _home: usize, _flow: usize) -> Option<MacCounters> {
        None
    }
    /// What was counted until now of channels that homes share.
    fn channels(&self, _now: Time) -> Vec<ChannelRow> {
        Vec::new()
    }
    /// Series of the upstream channel that modems share, if they do.
    fn channel_series(&self) -> Vec<&Series> {
        Vec::new()
    }
    /// What it takes of the one-way delay of a packet that is sent alone, by propagation.
    fn propagation(&self) -> Time;
    /// What a user must know of it: settings that do nothing, rates that cannot be kept, crowding.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Every access network there is.
#[enum_dispatch(AccessNetwork)]
#[expect(clippy::large_enum_variant, reason = "a run has one")]
pub enum Access {
    /// Cable modems and the CMTS.
    Docsis(docsis::plant::Docsis),
    /// A fibre to each home.
    Fibre(fibre::Fibre),
}

/// The access network, by its `kind`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AccessSpec {
    /// Cable modems on a CMTS, by the keys `cable`, `upstream_channel` and `cmts`.
    #[default]
    Docsis,
    /// A fibre to each home.
    Fibre(fibre::Parameters),
}
