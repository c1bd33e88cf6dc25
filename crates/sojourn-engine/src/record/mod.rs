//! What stages record while packets pass them: the recorder, meters of queues and channels, and traces.
//!
//! Everything here is streaming: memory does not grow with the length of the run, except for the
//! optional traces of packets and of a modem.

pub(crate) mod channel_use;
pub(crate) mod definition;
pub(crate) mod delay_parts;
pub(crate) mod histogram;
pub(crate) mod lapses;
pub(crate) mod latency;
pub(crate) mod latency_histogram;
pub(crate) mod latency_meter;
pub(crate) mod modem_trace;
pub(crate) mod queue_meter;
pub(crate) mod recorder;
pub(crate) mod series;
pub(crate) mod service_flows;
pub(crate) mod time_mean;
pub(crate) mod trace;

pub use channel_use::{ChannelUse, RangingUse, RequestUse, SegmentUse};
pub use definition::Definition;
pub use delay_parts::{Delay, DelayBook, Legs, PARTS, Part, PartSums, Place, Stay};
pub use lapses::{Lapses, Rest};
pub use latency_histogram::LatencyHistogram;
pub use modem_trace::{MOST_EVENTS, ModemEvent, ModemEventKind, ModemTrace};
pub use recorder::{LostOutside, PacketEvent, PacketEventKind, Recorder};
pub use service_flows::ServiceFlowBook;
pub use trace::{MOST_PACKETS, Outcome, PacketRecord, Trace};

pub use latency::{Latency, RELATIVE_ERROR};
pub use latency_meter::LatencyMeter;
pub use queue_meter::{Counted, Member, MemberCounts, QueueCounts, QueueMeter};
pub use series::{GaugeSeries, Gauges, Series};
pub use time_mean::TimeMean;
