//! Classes of service of DOCSIS 1.0 (TLV 4), which modems had before service flows: the first one gives
//! a service flow in each direction (CM-SP-MULPI C.1.1.4).

use super::notes::Notes;
use sojourn_access::modem_config::view::{ClassOfService, ServiceFlow};

/// Its key in files.
pub(super) const KEY: &str = "classes_of_service";
/// Keys that are simulated, or that affect no packet.
const DONE: [&str; 6] = [
    "class",
    "max_downstream_rate_bps",
    "max_upstream_rate_bps",
    "upstream_priority",
    "min_upstream_rate_bps",
    "privacy_enable",
];

/// The service flows upstream and downstream. They have no peak rate of their own.
pub(super) fn flows(classes: &[ClassOfService], notes: &mut Notes) -> Option<[ServiceFlow; 2]> {
    let (class, further) = classes.split_first()?;
    let path = format!("{KEY}.0");
    let mut rest = class.clone();
    // 0 is no limit.
    rest.max_upstream_burst_bytes = rest.max_upstream_burst_bytes.filter(|bytes| *bytes > 0);
    notes.note_others(&rest, &path, &DONE);
    for index in 1..=further.len() {
        notes.add(&format!("{KEY}.{index}"), "is not simulated; the first class holds all traffic");
    }
    let flow = |reference, rate| ServiceFlow {
        reference,
        max_sustained_rate: rate,
        peak_rate: rate,
        ..ServiceFlow::default()
    };
    let up = ServiceFlow {
        traffic_priority: class.upstream_priority,
        min_reserved_rate: class.min_upstream_rate_bps,
        ..flow(1, class.max_upstream_rate_bps)
    };
    Some([up, flow(2, class.max_downstream_rate_bps)])
}
