//! What stages record while packets pass them: the recorder, meters of queues and channels, and traces.
//!
//! Everything here is streaming: memory does not grow with the length of the run, except for the
//! optional traces of packets and of a modem.

pub mod channel_use;
pub mod delay_parts;
pub mod latency;
pub mod latency_histogram;
pub mod latency_meter;
pub mod modem_trace;
pub mod queue_meter;
pub mod recorder;
pub mod series;
pub mod service_flows;
pub mod time_mean;
pub mod trace;

pub use latency::Latency;
pub use latency_meter::LatencyMeter;
pub use queue_meter::{Member, MemberCounts, QueueCounts, QueueMeter};
pub use recorder::Recorder;
pub use series::{GaugeSeries, Gauges, Series};
pub use time_mean::TimeMean;
pub use trace::Trace;
