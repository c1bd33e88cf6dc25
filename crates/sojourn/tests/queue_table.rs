//! What every queue manager does with uploads and a game, as a table to read and to compare with.
//!
//! The table is `snapshots/queues.txt`; `UPDATE_SNAPSHOTS=1` in front of `cargo test -p sojourn
//! queue_table` rewrites it. Its columns:
//!
//! - `up`: Mbps of the service, sustained and peak; `rtt`: base round trip of the uploads in ms;
//!   `flows`: how many there are, all endless;
//! - `game`: one-way latency of a game in ms, from a peer without delay of its own;
//! - `queue`: sojourn time in the upstream queue in ms;
//! - `Mbps`: of all uploads, on the wire; `least` and `most`: of single uploads;
//! - `overflow` and `aqm`: packets dropped, of the uploads and the game.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{flow, queue, scenario};
use sojourn::Simulation;
use sojourn::results::metrics::Results;
use sojourn::scenario::Scenario;
use sojourn_testing::assert_snapshot;

/// Simulated time, slow start included.
const DURATION_S: u32 = 10;
const THREADS: usize = 2;

const FIFO: &str = "kind = 'fifo'";
const SINGLE: &str = "kind = 'single_queue'";
const TWO: &str = "kind = 'two_queues'";
const ACROSS: &str = "kind = 'two_queues', sojourn_across_both = true";
const BACK_PRESSURE: &str = "kind = 'two_queues', back_pressure = true";
const NO_LAW: &str = "kind = 'none'";
/// The target and interval of White & Rice 2013 §3.2: the default target of 5 ms is less than request
/// and grant take.
const CODEL: &str = "kind = 'codel', target_ms = 10, interval_ms = 150";
const CODEL_NS2: &str = "kind = 'codel', target_ms = 10, interval_ms = 150, variant = 'ns2'";
const CODEL_ACM: &str = "kind = 'codel', target_ms = 10, interval_ms = 150, variant = 'acm2012'";
/// A target of 10 ms, for the same reason.
const CAKE: &str = "kind = 'cake', rtt_ms = 200";

/// Name, scheduler, AQM algorithm and modem.
type Manager = [&'static str; 4];

/// The managers; the limit is the default, 250 ms at the sustained rate.
const MANAGERS: [Manager; 37] = [
    ["drop-tail", FIFO, NO_LAW, SINGLE],
    ["CoDel", FIFO, CODEL, SINGLE],
    ["CoDel ns2", FIFO, CODEL_NS2, SINGLE],
    ["CoDel acm2012", FIFO, CODEL_ACM, SINGLE],
    ["CoDel-DT", FIFO, "kind = 'codel_dt'", SINGLE],
    ["early PIE", FIFO, "kind = 'pie_early'", SINGLE],
    ["PIE", FIFO, "kind = 'pie'", SINGLE],
    ["DOCSIS-PIE", FIFO, "kind = 'docsis_pie'", SINGLE],
    ["DOCSIS-PIE track_rate", FIFO, "kind = 'docsis_pie', track_rate = true", SINGLE],
    ["RED", FIFO, "kind = 'red'", SINGLE],
    ["adaptive RED", FIFO, "kind = 'red', adaptive = true", SINGLE],
    ["RED linux", FIFO, "kind = 'red_linux'", SINGLE],
    ["CHOKe", "kind = 'choke'", NO_LAW, SINGLE],
    ["SFB", "kind = 'sfb'", NO_LAW, SINGLE],
    ["BLUE", FIFO, "kind = 'blue'", SINGLE],
    ["GSP", FIFO, "kind = 'gsp'", SINGLE],
    ["AFD", FIFO, "kind = 'afd'", SINGLE],
    ["SFQ", "kind = 'sfq'", NO_LAW, SINGLE],
    ["SFQ-CoDel bytes", "kind = 'sfq', quantum_bytes = 300", CODEL, SINGLE],
    ["SFQ-CoDel packets", "kind = 'sfq', quantum_bytes = 0", CODEL, SINGLE],
    ["FQ-CoDel", "kind = 'fq'", CODEL, SINGLE],
    ["CAKE", CAKE, NO_LAW, SINGLE],
    ["SFQ-PIE", "kind = 'sfq', one_law = true", "kind = 'pie'", SINGLE],
    ["SFQ-PIE early", "kind = 'sfq', one_law = true", "kind = 'pie_early'", SINGLE],
    ["DRR", "kind = 'drr'", NO_LAW, SINGLE],
    ["DRR weighted", "kind = 'drr', weights = { upload1 = 2.0 }", NO_LAW, SINGLE],
    ["DRR-CoDel", "kind = 'drr'", CODEL, SINGLE],
    ["WFQ", "kind = 'wfq'", NO_LAW, SINGLE],
    ["SCFQ-CoDel", "kind = 'scfq'", CODEL, SINGLE],
    ["ABB-CoDel", "kind = 'abb'", CODEL, SINGLE],
    ["ABB-CoDel-DT", "kind = 'abb'", "kind = 'codel_dt'", SINGLE],
    ["ABB-PIE", "kind = 'abb'", "kind = 'pie'", SINGLE],
    ["DualQ", "kind = 'dualq'", NO_LAW, SINGLE],
    ["low latency", "kind = 'low_latency', dscp = [0, 46]", NO_LAW, SINGLE],
    ["CoDel, two queues", FIFO, CODEL, TWO],
    ["CoDel across both", FIFO, CODEL, ACROSS],
    ["CoDel back-pressure", FIFO, CODEL, BACK_PRESSURE],
];

/// A row before it is run.
#[derive(Clone, Copy)]
struct Case {
    manager: Manager,
    up_mbps: u32,
    rtt_ms: u32,
    flows: u32,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for manager in MANAGERS {
        for up_mbps in [5, 38, 200] {
            for rtt_ms in [20, 100] {
                for flows in [1, 5, 25] {
                    cases.push(Case { manager, up_mbps, rtt_ms, flows });
                }
            }
        }
    }
    cases
}

impl Case {
    fn scenario(&self) -> Scenario {
        let Self { up_mbps, manager: [_, scheduler, law, modem], .. } = self;
        // The cable takes 1 ms each way.
        let delay_ms = self.rtt_ms / 2 - 1;
        let mut text = format!(
            "duration_s = {DURATION_S}
             cable = {{ timing.kind = 'documents', byte_count = 'ip' }}
             upstream = {{ sustained_mbps = {up_mbps}, peak_mbps = {up_mbps},
                           burst_bytes = 1_000_000, modem = {{ {modem} }},
                           queue = {{ scheduler = {{ {scheduler} }}, law = {{ {law} }} }} }}
             downstream = {{ sustained_mbps = 1000, peak_mbps = 1000, burst_bytes = 1_000_000 }}
             servers = {{ files = {{ delay_ms = {delay_ms} }}, peer = {{ delay_ms = 0 }} }}
             traffic.game = {{ kind = 'stream', purpose = 'game', direction = 'up', server = 'peer' }}\n"
        );
        for upload in 1..=self.flows {
            writeln!(
                text,
                "traffic.upload{upload} = {{ kind = 'transfer', server = 'files', start_spread_s = 0.2 }}"
            )
            .unwrap();
        }
        scenario(&text)
    }

    fn row(&self) -> Row {
        let results = Simulation::run(&self.scenario());
        let mbps: Vec<_> = (1..=self.flows)
            .map(|upload| flow(&results, &format!("upload{upload}"), "up").throughput_mbps)
            .collect();
        let dropped = results.flows.iter().filter(|row| row.direction == "up");
        let (overflow, aqm) = dropped.fold((0, 0), |(overflow, aqm), row| {
            (overflow + row.dropped_overflow_packets, aqm + row.dropped_aqm_packets)
        });
        let (game, sojourn) = (game_ms(&results), sojourn_ms(&results));
        let least = mbps.iter().copied().fold(f64::INFINITY, f64::min);
        let most = mbps.iter().copied().fold(0.0, f64::max);
        [
            self.manager[0].to_owned(),
            self.up_mbps.to_string(),
            self.rtt_ms.to_string(),
            self.flows.to_string(),
            format!("{:.1}", game.0),
            format!("{:.1}", game.1),
            format!("{:.1}", sojourn.0),
            format!("{:.1}", sojourn.1),
            format!("{:.2}", mbps.iter().sum::<f64>()),
            format!("{least:.2}"),
            format!("{most:.2}"),
            overflow.to_string(),
            aqm.to_string(),
        ]
    }
}

/// Median and 99 % quantile.
fn game_ms(results: &Results) -> (f64, f64) {
    let row = flow(results, "game", "up");
    (row.latency_p50_ms.unwrap(), row.latency_p99_ms.unwrap())
}

fn sojourn_ms(results: &Results) -> (f64, f64) {
    let row = queue(results, "upstream");
    (row.sojourn_p50_ms.unwrap(), row.sojourn_p99_ms.unwrap())
}

type Row = [String; 13];

const HEAD: [&str; 13] = [
    "manager",
    "up",
    "rtt",
    "flows",
    "game p50",
    "game p99",
    "queue p50",
    "queue p99",
    "Mbps",
    "least",
    "most",
    "overflow",
    "aqm",
];

/// All rows, in the order of the cases, whichever thread was handed which.
fn run(cases: &[Case]) -> Vec<Row> {
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(vec![Row::default(); cases.len()]);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((n, case)) =
                    cases.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed))
                {
                    let row = case.row();
                    rows.lock().unwrap()[n] = row;
                }
            });
        }
    });
    rows.into_inner().unwrap()
}

/// Columns as wide as their widest cell, the first to the left and all others to the right.
fn aligned(rows: &[Row]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<_> = (0..HEAD.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        write!(text, "{:<1$}", row[0], widths[0]).unwrap();
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            write!(text, "  {cell:>width$}").unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_table_is_that_of_the_snapshot() {
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(run(&cases()));
    assert_snapshot!("queues.txt", &aligned(&rows));
}
