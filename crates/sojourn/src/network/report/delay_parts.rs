//! Rows of the `delay_parts` table.

use super::super::Simulation;
use sojourn_engine::packet::Direction;
use sojourn_engine::record::{Delay, Latency, Part};
use sojourn_results::metrics::rows::DelayPartRow;

/// The parts of the time of each entry's packets in each direction, without those on which none was spent, and
/// their total.
pub(super) fn rows(run: &Simulation, delays: &[Delay]) -> Vec<DelayPartRow> {
    let mut rows = Vec::new();
    for (index, name) in run.scenario.traffic.keys().enumerate() {
        for direction in Direction::BOTH {
            let sent_packets = run.ledger.account(index, direction).sent.packets;
            if sent_packets == 0 {
                continue;
            }
            let sums = run.ledger.delays(index, direction);
            let is_of = |of: &&Delay| usize::from(of.traffic) == index && of.direction == direction;
            let row = |part, ps: u128, of: &dyn Fn(&Delay) -> _| {
                let mut distribution = Latency::default();
                delays.iter().filter(is_of).for_each(|delay| distribution.record(of(delay)));
                DelayPartRow {
                    traffic: name.clone(),
                    direction: direction.name(),
                    part,
                    sent_packets,
                    mean_ms: ps as f64 / sent_packets as f64 / 1e9,
                    p50_ms: distribution.quantile_ms(0.5),
                    p90_ms: distribution.quantile_ms(0.9),
                    p99_ms: distribution.quantile_ms(0.99),
                    max_ms: distribution.max_ms(),
                }
            };
            let spent = Part::ALL.into_iter().filter(|part| sums.ps(*part) > 0);
            rows.extend(
                spent.map(|part| {
                    row(part.name(), sums.ps(part), &|delay| delay.parts[part as usize])
                }),
            );
            rows.push(row("total", sums.total_ps(), &Delay::total));
        }
    }
    rows
}
