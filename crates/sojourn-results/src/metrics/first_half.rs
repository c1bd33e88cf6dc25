//! What grades read of the tables `flows` and `queues`, over the first half of the time that counts.

use super::column::{Cells, Table};
use super::read::{Row, Rows};
use super::rows::{FirstHalfRow, FlowRow, QueueRow};

/// The columns that grades read, beside texts.
const READ: [&str; 47] = [
    "sent_bytes",
    "delivered_bytes",
    "delivered_packets",
    "loss_percent",
    "throughput_mbps",
    "goodput_mbps",
    "under_way_s",
    "rate_mbps",
    "transfers_completed",
    "transfer_time_mean_s",
    "over_20_ms_access_percent",
    "over_80_ms_round_trip_percent",
    "rtt_p90_ms",
    "rtt_idle_mean_ms",
    "rtt_idle_p50_ms",
    "rtt_down_mean_ms",
    "rtt_down_p50_ms",
    "rtt_up_mean_ms",
    "rtt_up_p50_ms",
    "rtt_both_mean_ms",
    "rtt_both_p50_ms",
    "mos",
    "late_percent",
    "frame_latency_p90_ms",
    "frames_incomplete_percent",
    "frozen_percent",
    "picture_height_percent",
    "frames_late_percent",
    "input_to_frame_p90_ms",
    "game_mos",
    "rpm",
    "mean_delay_rpm",
    "rpm_before_load",
    "probe_loaded_http_ms",
    "own_score",
    "own_score_level",
    "video_rate_mbps",
    "video_rise_s",
    "video_whole_rate_mbps",
    "video_start_wait_s",
    "video_stalled_percent",
    "departed_packets",
    "dropped_overflow_packets",
    "dropped_aqm_packets",
    "sojourn_mean_ms",
    "sojourn_p90_ms",
    "sojourn_p99_ms",
];

/// Loads are alike if no share of time in which one is under way differs by more.
const ALIKE: f64 = 0.1;

impl FirstHalfRow {
    /// One for each value that grades read of these.
    pub fn of(flows: &[FlowRow], queues: &[QueueRow]) -> Vec<Self> {
        let of_flows = values("flows", flows, |row| (row.traffic.clone(), row.direction));
        let of_queues = values("queues", queues, |row| (row.queue.clone(), row.direction));
        [of_flows, of_queues].concat()
    }
}

fn values<R: Table>(
    table: &'static str,
    rows: &[R],
    place: impl Fn(&R) -> (String, &'static str),
) -> Vec<FirstHalfRow> {
    let mut found = Vec::new();
    for column in R::columns().iter().filter(|column| READ.contains(&column.definition.name)) {
        let values: Vec<Option<f64>> = match (column.cells)(rows) {
            Cells::F64(values) => values.collect(),
            Cells::U64(values) => values.map(|value| value.map(|count| count as f64)).collect(),
            _ => continue,
        };
        for (row, value) in rows.iter().zip(values) {
            let (name, direction) = place(row);
            let column = column.definition.name;
            found.extend(value.map(|value| FirstHalfRow { table, name, direction, column, value }));
        }
    }
    found
}

impl Rows {
    /// The tables of the first half of the `counted_s` that count, which ended at `half_s`; `None` if it is not known, or had
    /// other loads than the whole: then it says nothing of a longer run.
    pub(crate) fn first_half(&self, half_s: f64, counted_s: f64) -> Option<Self> {
        let half = self.tables_of_first_half(half_s)?;
        let under_way = |rows: &[Row], of: &Row| {
            let is_of = |row: &&Row| {
                ["traffic", "direction"].map(|c| row.text(c))
                    == ["traffic", "direction"].map(|c| of.text(c))
            };
            rows.iter().find(is_of).and_then(|row| row.number("under_way_s")).unwrap_or(0.0)
        };
        let is_alike = |row: &Row| {
            let [part, all] = [under_way(&half.flows, row) * 2.0, under_way(&self.flows, row)];
            (part - all).abs() <= ALIKE * counted_s
        };
        self.flows.iter().all(is_alike).then_some(half)
    }

    fn tables_of_first_half(&self, half_s: f64) -> Option<Self> {
        let of_table = |table: &str, name: &str, whole: &[Row]| {
            let mut rows = whole.to_vec();
            rows.retain_mut(|row| {
                let place = [table, row.text(name), row.text("direction")].map(str::to_owned);
                let is_own =
                    |one: &&Row| ["table", "name", "direction"].map(|c| one.text(c)) == place;
                row.0.retain(|_, value| !value.is_number());
                let own = self.first_half.iter().filter(is_own);
                row.0
                    .extend(own.map(|one| (one.text("column").to_owned(), one.0["value"].clone())));
                row.0.values().any(serde_json::Value::is_number)
            });
            rows
        };
        let end_s = |row: &Row| Some(row.number("start_s")? + row.number("load_time_s")?);
        let is_loaded = |row: &&Row| end_s(row) <= Some(half_s);
        (!self.first_half.is_empty()).then(|| Self {
            flows: of_table("flows", "traffic", &self.flows),
            queues: of_table("queues", "queue", &self.queues),
            pages: self.pages.iter().filter(is_loaded).cloned().collect(),
            ..Self::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::APPLICATIONS;

    #[test]
    fn all_columns_that_are_graded_are_read() {
        let columns = FlowRow::columns().into_iter().map(|one| one.definition.name);
        let columns = columns.chain(QueueRow::columns().into_iter().map(|one| one.definition.name));
        let columns: Vec<&str> = columns.collect();
        assert_eq!(READ.iter().find(|name| !columns.contains(name)), None);
        // The median of pages is that of the table of pages.
        let graded = APPLICATIONS.iter().flat_map(|one| one.metrics());
        let of_tables =
            graded.filter(|name| columns.contains(name) && *name != "page_load_median_s");
        assert_eq!(of_tables.filter(|name| !READ.contains(name)).collect::<Vec<_>>(), [""; 0]);
    }
}
