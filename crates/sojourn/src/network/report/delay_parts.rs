//! Rows of the `delay_parts` table.

use sojourn_engine::packet::Direction;
use sojourn_engine::record::Latency;
use sojourn_engine::record::{Delay, Part};
use sojourn_engine::units::Time;
use sojourn_results::metrics::rows::DelayPartRow;

/// The parts of each entry that sent packets through the modem from `from` on, and their total.
pub(super) fn rows(traffic: &[String], delays: &[Delay], from: Time) -> Vec<DelayPartRow> {
    let mut rows = Vec::new();
    for (index, name) in traffic.iter().enumerate() {
        let of_entry =
            |delay: &&Delay| usize::from(delay.traffic) == index && delay.sent_at >= from;
        let delays: Vec<_> = delays.iter().filter(of_entry).collect();
        if delays.is_empty() {
            continue;
        }
        for part in Part::ALL {
            let times = delays.iter().map(|delay| delay.parts[part as usize]);
            rows.push(row(name, part.name(), times));
        }
        rows.push(row(name, "total", delays.iter().map(|delay| delay.total())));
    }
    rows
}

fn row(traffic: &str, part: &'static str, times: impl Iterator<Item = Time>) -> DelayPartRow {
    let mut distribution = Latency::default();
    times.for_each(|time| distribution.record(time));
    DelayPartRow {
        traffic: traffic.to_owned(),
        direction: Direction::Up.name(),
        part,
        delivered_packets: distribution.count(),
        mean_ms: distribution.mean_ms(),
        p50_ms: distribution.quantile_ms(0.5),
        p90_ms: distribution.quantile_ms(0.9),
        p99_ms: distribution.quantile_ms(0.99),
        max_ms: distribution.max_ms(),
    }
}
