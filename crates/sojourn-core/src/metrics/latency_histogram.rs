//! Counts of packets by the queue latency that was estimated when they came, as modems report them
//! (TLV 24.40.6; DOCSIS 3.1 MULPI §C.2.2.7.15.6).

use super::queue_meter::Member;
use super::rows::LatencyHistogramRow;
use crate::units::Time;

/// Counters of both members of an aggregate.
pub struct LatencyHistogram {
    /// Greatest latency of each bin but the last.
    edges: Vec<Time>,
    /// Packets in each bin, and the greatest latency, of each member.
    members: [(Vec<u64>, Time); 2],
}

impl LatencyHistogram {
    /// Empty bins with these edges in ms, ascending. There are none without edges.
    pub fn of(edges_ms: &[f64]) -> Option<Self> {
        if edges_ms.is_empty() {
            return None;
        }
        let edges: Vec<_> = edges_ms.iter().map(|ms| Time::from_secs_f64(ms / 1e3)).collect();
        let bins = vec![0; edges.len() + 1];
        Some(Self { edges, members: [(bins.clone(), Time::ZERO), (bins, Time::ZERO)] })
    }

    /// Counts a packet of a member.
    pub fn count(&mut self, member: Member, latency: Time) {
        let bin = self.edges.partition_point(|edge| *edge < latency);
        let (packets, greatest) = &mut self.members[member as usize];
        packets[bin] += 1;
        *greatest = latency.max(*greatest);
    }

    /// The counters of the queue of this name.
    pub fn rows(&self, queue: &str) -> Vec<LatencyHistogramRow> {
        let edges = self.edges.iter().map(|edge| Some(edge.ms_f64())).chain([None]);
        let bins = edges.collect::<Vec<_>>();
        let mut rows = Vec::new();
        for (member, (packets, greatest)) in Member::BOTH.into_iter().zip(&self.members) {
            let row = |(&up_to_ms, &packets)| LatencyHistogramRow {
                queue: queue.to_owned(),
                member: member.name(),
                up_to_ms,
                packets,
                greatest_ms: Some(greatest.ms_f64()),
            };
            rows.extend(bins.iter().zip(packets).map(row));
        }
        rows
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
        let rows = histogram.rows("upstream");
        let of_low: Vec<_> = rows
            .iter()
            .filter(|row| row.member == "low_latency")
            .map(|row| (row.up_to_ms, row.packets))
            .collect();
        assert_eq!(of_low, [(Some(1.0), 2), (Some(5.0), 2), (None, 2)]);
        assert_eq!([&rows[0], &rows[3]].map(|row| row.greatest_ms), [Some(90.0), Some(0.0)]);
        assert!(LatencyHistogram::of(&[]).is_none());
    }
}
