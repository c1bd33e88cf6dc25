//! Columns of tables have values.

use crate::common::loaded;
use sojourn::Simulation;
use sojourn::results::metrics::column::{Cells, Table};
use sojourn::results::metrics::rows::FlowRow;

/// One entry of each quality, in all the ways that have a score of their own.
const ALL: &str = "
    duration_s = 40
    upstream = { sustained_mbps = 20, peak_mbps = 40, burst_bytes = 1_000_000 }
    downstream = { sustained_mbps = 100, peak_mbps = 150, burst_bytes = 1_000_000 }
    servers.near.delay_ms = 10
    router = { upstream.rate_mbps = 60, downstream.rate_mbps = 200, controller.kind = 'autorate' }

    [traffic]
    game = { kind = 'stream', purpose = 'game' }
    call = { kind = 'stream', purpose = 'voice' }
    video_call = { kind = 'video_call', control = 'gcc' }
    afar = { kind = 'cloud_game' }
    rpm = { kind = 'responsiveness', interval_s = 1, limit_s = 10 }
    pages = { kind = 'web', objects = { kind = 'almanac2025' } }
    sessions = { kind = 'web_sessions' }
    film = { kind = 'video', ladder_mbps = [0.5] }
    upload = { kind = 'transfer', direction = 'up', file_bytes = 1_000_000, pause_s = 1 }
    download = { kind = 'transfer', direction = 'down', start_s = 15 }
";

/// How many of the cells have a value.
fn filled(cells: Cells<'_>) -> usize {
    match cells {
        Cells::Flag(values) => values.flatten().count(),
        Cells::U16(values) => values.flatten().count(),
        Cells::U32(values) => values.flatten().count(),
        Cells::U64(values) => values.flatten().count(),
        Cells::F32(values) => values.flatten().count(),
        Cells::F64(values) => values.flatten().count(),
        Cells::Text(values) => values.flatten().count(),
    }
}

#[test]
fn every_column_has_a_value_somewhere() {
    let scenario = loaded(ALL, &[]);
    let rows = Simulation::run(&scenario).flows;
    let empty: Vec<&str> = FlowRow::columns()
        .iter()
        .filter(|column| filled((column.cells)(&rows)) == 0)
        .map(|column| column.definition.name)
        // Parts alone have a scale of their own; a test in Python fills these.
        .filter(|name| !name.starts_with("own_"))
        .collect();
    assert_eq!(empty, [""; 0]);
}
