//! Metrics of a run: counts, latencies, series over time, and quality of experience.
//!
//! Everything here is streaming: memory does not grow with the length of the run, except for the
//! optional traces of packets and of a modem.

pub mod channel_use;
pub mod column;
pub mod connections;
pub mod delay_parts;
pub mod fairness;
pub mod frames;
pub mod g107;
pub mod latency;
pub mod latency_histogram;
pub mod latency_meter;
pub mod ledger;
pub mod modem_trace;
pub mod nqb;
pub mod options;
pub mod playout;
pub mod qoe;
pub mod queue_meter;
pub mod ramp;
pub mod recorder;
pub mod results;
pub mod rows;
pub mod series;
pub mod service_flows;
pub mod tables;
pub mod time_mean;
pub mod trace;

pub use frames::Frames;
pub use latency::Latency;
pub use latency_meter::LatencyMeter;
pub use ledger::Ledger;
pub use queue_meter::{Member, MemberCounts, QueueCounts, QueueMeter};
pub use recorder::Recorder;
pub use series::{GaugeSeries, Gauges, Series};
pub use time_mean::TimeMean;
pub use trace::Trace;
