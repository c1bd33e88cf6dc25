//! Lists of flows in which each flow is in one place at most, so that it leaves from anywhere at once.

const NONE: u32 = u32::MAX;

/// The ends of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl List {
    /// Its first flow.
    pub(super) fn first(&self) -> Option<usize> {
        (self.head != NONE).then_some(self.head as usize)
    }
}

/// Who is before and behind each flow in its list.
pub(super) struct Links(Vec<[u32; 2]>);

impl Links {
    /// Flows that are in no list.
    pub(super) fn new(count: usize) -> Self {
        Self(vec![[NONE; 2]; count])
    }

    /// Appends a flow that is in no list.
    pub(super) fn append(&mut self, list: &mut List, flow: usize) {
        self.0[flow] = [list.tail, NONE];
        match list.tail {
            NONE => list.head = flow as u32,
            tail => self.0[tail as usize][1] = flow as u32,
        }
        list.tail = flow as u32;
    }

    /// Takes a flow out of the list that it is in.
    pub(super) fn remove(&mut self, list: &mut List, flow: usize) {
        let [before, behind] = self.0[flow];
        match before {
            NONE => list.head = behind,
            before => self.0[before as usize][1] = behind,
        }
        match behind {
            NONE => list.tail = before,
            behind => self.0[behind as usize][0] = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_leave_from_anywhere() {
        let (mut links, mut list) = (Links::new(4), List::default());
        (0..4).for_each(|flow| links.append(&mut list, flow));
        for (flow, first) in [(1, Some(0)), (0, Some(2)), (3, Some(2)), (2, None)] {
            links.remove(&mut list, flow);
            assert_eq!(list.first(), first);
        }
        links.append(&mut list, 1);
        assert_eq!(list.first(), Some(1));
    }
}
