//! Counts of packets by the queue latency that was estimated when they came, as modems report them
//! (TLV 24.40.6; DOCSIS 3.1 MULPI §C.2.2.7.15.6).

use super::queue_meter::Member;
use crate::units::Time;

/// Counters of both members of an aggregate.
#[derive(Clone)]
pub struct LatencyHistogram {
    /// Greatest latency of each bin but the last.
    edges: Vec<Time>,
    members: [Bins; 2],
}

/// Counters of a member.
#[derive(Clone)]
pub struct Bins {
    /// Packets in each bin.
    pub packets: Vec<u64>,
    /// The greatest latency.
    pub greatest: Time,
}

impl LatencyHistogram {
    /// Empty bins with these edges in ms, ascending. There are none without edges.
    pub fn of(edges_ms: &[f64]) -> Option<Self> {
        if edges_ms.is_empty() {
            return None;
        }
        let edges: Vec<_> = edges_ms.iter().map(|ms| Time::from_secs_f64(ms / 1e3)).collect();
        let bins = Bins { packets: vec![0; edges.len() + 1], greatest: Time::ZERO };
        Some(Self { edges, members: [bins.clone(), bins] })
    }

    /// Counts a packet of a member.
    pub fn count(&mut self, member: Member, latency: Time) {
        let bin = self.edges.partition_point(|edge| *edge < latency);
        let bins = &mut self.members[member as usize];
        bins.packets[bin] += 1;
        bins.greatest = bins.greatest.max(latency);
    }

    /// Greatest latency of each bin but the last, in ms.
    pub fn edges_ms(&self) -> impl Iterator<Item = f64> {
        self.edges.iter().map(|edge| edge.ms_f64())
    }

    /// The counters of a member.
    pub fn of_member(&self, member: Member) -> &Bins {
        &self.members[member as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_counts_in_the_bin_whose_edge_it_does_not_exceed() {
        let mut histogram = LatencyHistogram::of(&[1.0, 5.0]).unwrap();
        for us in [0, 1000, 1001, 5000, 5001, 90_000] {
            histogram.count(Member::LowLatency, Time::from_us(us));
        }
        let [low, classic] = Member::ALL.map(|member| histogram.of_member(member));
        assert_eq!((&*low.packets, low.greatest), (&[2, 2, 2][..], Time::from_ms(90)));
        assert_eq!((&*classic.packets, classic.greatest), (&[0, 0, 0][..], Time::ZERO));
        assert!(LatencyHistogram::of(&[]).is_none());
    }
}
