//! The cable network: modems with their request-grant MAC, the channels they share, and the CMTS.

pub mod cmts;
pub mod congestion;
pub mod contention;
pub mod downstream;
pub mod downstream_channel;
pub mod framing;
mod grant_split;
mod map_layout;
pub mod modem;
pub mod parameters;
pub mod plant;
pub mod proactive_grants;
pub mod probe;
pub mod regularity;
pub mod request_grant;
mod scheduler;
pub mod scheduling_service;
pub mod shaping_queue;
pub mod shared_channel;
pub mod timing;
pub mod two_queues;
pub mod unsolicited;
pub mod upstream;
pub mod upstream_channel;
pub mod upstream_service_flow;
mod warnings;
