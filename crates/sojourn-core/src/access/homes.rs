//! Who is on an access network: groups of homes that are all alike.

use super::service::{Downstream, Upstream};

/// A group of homes as a run sees it.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many homes it has.
    pub count: u16,
    /// The upstream of each.
    pub upstream: &'a Upstream,
    /// The downstream of each.
    pub downstream: &'a Downstream,
}

/// A home: its group, and its place in that.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// The group it belongs to.
    pub group: Group<'a>,
    /// Its number within its group, from 1.
    pub number: u16,
}

impl Home<'_> {
    /// What the names of its queues and random streams begin with: nothing, if it is the first of all.
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

/// Of each home, what `what` says of its downstream service flows.
pub fn of_downstream_flows<T: Clone>(
    groups: &[Group],
    what: impl Fn(&Downstream) -> Vec<T>,
) -> Vec<Vec<T>> {
    let of_group = |group: &Group| vec![what(group.downstream); usize::from(group.count)];
    groups.iter().flat_map(of_group).collect()
}
