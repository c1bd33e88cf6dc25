//! The homes on an access network, in groups of identical homes.

use indexmap::IndexMap;
use serde::Serialize;

use super::service::{Downstream, ServiceFlow, Terms, Upstream};
use sojourn_engine::hop::Bottleneck;
use sojourn_engine::packet::Direction;
use sojourn_input::problem::Warning;
use sojourn_input::words;

/// A group of identical homes.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many homes it has.
    pub count: u16,
    /// Upstream service of each home.
    pub upstream: &'a Upstream,
    /// Downstream service of each home.
    pub downstream: &'a Downstream,
    /// Length of the cable to each home in km, if it differs from that of the plant.
    pub distance_km: Option<f64>,
    /// The router before the modem, if there is one.
    pub router: Option<&'a Bottleneck>,
    /// What it takes its keys over from, if it has tables of its own.
    pub base: Option<Base<'a>>,
}

/// The scenario's tables, from which groups of homes take keys over.
#[derive(Clone, Copy, Debug)]
pub struct Base<'a> {
    /// The upstream service.
    pub upstream: &'a Upstream,
    /// The downstream service.
    pub downstream: &'a Downstream,
    /// Has the group a router of its own?
    pub has_own_router: bool,
}

impl Group<'_> {
    /// The rates of its service in a direction.
    pub fn terms(&self, direction: Direction) -> Terms {
        direction.pick(self.upstream.terms(), self.downstream.terms())
    }

    /// Those of one of its service flows: 0 is the primary one.
    pub fn terms_of(&self, direction: Direction, flow: u8) -> Terms {
        let place = usize::from(flow).checked_sub(1);
        let further = place.and_then(|place| self.further(direction).get_index(place));
        further.map_or_else(|| self.terms(direction), |(_, flow)| flow.terms())
    }

    /// Its service flows beside the primary one.
    pub fn further(&self, direction: Direction) -> &IndexMap<String, ServiceFlow> {
        direction.pick(&self.upstream.flows, &self.downstream.flows)
    }

    /// Is all that goes in a direction of one service flow?
    pub fn has_one_flow(&self, direction: Direction) -> bool {
        self.further(direction).is_empty()
    }

    /// The path of a key of its service or router where a reader finds it: in the group's table if it differs from the
    /// scenario's.
    pub fn path_of(&self, key: &str) -> String {
        let Some(base) = self.base else { return key.to_owned() };
        let is_own = match key.split_once('.') {
            Some(("upstream", rest)) => differ(self.upstream, base.upstream, rest),
            Some(("downstream", rest)) => differ(self.downstream, base.downstream, rest),
            Some(("router", _)) => base.has_own_router,
            _ => false,
        };
        match is_own {
            true => format!("{}.{key}", words::join("homes", self.name)),
            false => key.to_owned(),
        }
    }

    /// A warning of this group, with the paths of keys where a reader finds them.
    pub fn own(&self, warning: Warning) -> Warning {
        warning.with_keys(&|key| self.path_of(key))
    }
}

/// Do tables differ in a key?
fn differ<T: Serialize>(one: &T, other: &T, key: &str) -> bool {
    let pointer = format!("/{}", key.replace('.', "/"));
    let [one, other] = [one, other].map(|table| serde_json::to_value(table).unwrap_or_default());
    one.pointer(&pointer) != other.pointer(&pointer)
}

/// A home: its group and its number in it.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// The group it belongs to.
    pub group: Group<'a>,
    /// Its number within its group, from 1.
    pub number: u16,
}

impl Home<'_> {
    /// Prefix of the names of its queues and random streams; empty for the very first home.
    pub fn name(&self, is_first: bool) -> String {
        match (is_first, self.number) {
            (true, _) => String::new(),
            (false, 1) => self.group.name.to_owned(),
            (false, number) => format!("{} {number}", self.group.name),
        }
    }

    /// The first home of each group is watched: its queues are measured.
    pub fn is_watched(&self) -> bool {
        self.number == 1
    }
}

/// All homes of these groups, group by group.
pub fn homes<'a>(groups: &'a [Group<'a>]) -> impl Iterator<Item = Home<'a>> {
    groups.iter().flat_map(|group| (1..=group.count).map(|number| Home { group: *group, number }))
}

/// For each home, what `what` returns for its downstream service flows.
pub(crate) fn of_downstream_flows<T: Clone>(
    groups: &[Group],
    what: impl Fn(&Downstream) -> Vec<T>,
) -> Vec<Vec<T>> {
    let of_group = |group: &Group| vec![what(group.downstream); usize::from(group.count)];
    groups.iter().flat_map(of_group).collect()
}

/// For each home, what `what` returns for its downstream service.
pub(crate) fn of_homes<T: Clone>(groups: &[Group], what: impl Fn(&Downstream) -> T) -> Vec<T> {
    let of_group = |group: &Group| vec![what(group.downstream); usize::from(group.count)];
    groups.iter().flat_map(of_group).collect()
}
