//! What is measured of one queue.

use super::{GaugeSeries, Gauges, Latency, LatencyMeter, Series};
use crate::count::Count;
use crate::units::Time;

/// Sojourn times of a queue, and its state over time.
pub struct QueueMeter {
    name: String,
    sojourn: LatencyMeter,
    bytes: Series,
    packets: Series,
    gauges: GaugeSeries,
}

impl QueueMeter {
    /// A meter that has seen nothing, of the queue called `name`.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            sojourn: LatencyMeter::new("queue_delay"),
            bytes: Series::new("queue_bytes", "B"),
            packets: Series::new("queue_packets", "packets"),
            gauges: GaugeSeries::default(),
        }
    }

    /// A packet left the queue after `sojourn`.
    #[inline]
    pub fn departed(&mut self, sojourn: Time) {
        self.sojourn.record(sojourn);
    }

    /// Ends a sampling interval.
    pub fn sample(&mut self, backlog: Count, show: impl FnOnce(&mut Gauges)) {
        self.sojourn.sample();
        self.bytes.push(backlog.bytes as f64);
        self.packets.push(backlog.packets as f64);
        self.gauges.sample(show);
    }

    /// The queue's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Time from entering the queue to leaving it, of all packets that were not dropped.
    pub fn sojourn(&self) -> &Latency {
        self.sojourn.latency()
    }

    /// All series, the queue delay first: the mean sojourn time of the packets that left.
    pub fn series(&self) -> impl Iterator<Item = &Series> {
        [self.sojourn.series(), &self.bytes, &self.packets].into_iter().chain(self.gauges.iter())
    }
}
