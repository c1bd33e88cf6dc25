//! Real packets: what a simulation needs of their headers, and records of them.
//!
//! A record is a capture (pcapng) that Wireshark reads too. Its comment has the keys of the scenario in which it was made.

mod header;
mod line;
mod record;
mod writer;

pub use header::{Header, LARGEST_IP, NotIp, Tcp};
pub use line::{Differences, Line};
pub use record::{Packets, Record, Recorded};
pub use writer::Writer;
