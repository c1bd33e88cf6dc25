//! Series and their definitions: each one that a run shows has its definition, and no definition is without a series.
//! Queue managers, congestion controls and access networks are those of the schema.

use std::collections::BTreeSet;

use crate::common::scenario;
use crate::queue_kit::drawer::Drawer;
use crate::queue_kit::{Rig, TRAFFIC, datagram};
use serde_json::{Value, json};
use sojourn::Simulation;
use sojourn::engine::dialect::Dialect;
use sojourn::engine::record::Series;

/// How often each kind is drawn: so that every key is set and unset, and every variant occurs.
const DRAWN: u64 = 40;

type Names = BTreeSet<(&'static str, &'static str)>;

fn names<'a>(series: impl Iterator<Item = &'a Series>) -> Names {
    series.map(|series| (series.metric, series.unit)).collect()
}

/// The series of a queue with these keys, and of a flow in it.
fn of_queue(keys: Value) -> Names {
    let spec = serde_json::from_value(keys).expect("the schema allows it");
    let mut rig = Rig::new(&spec, Dialect::Rfc, 10.0);
    rig.queue.name_traffic(&TRAFFIC, 1);
    rig.put(datagram(0, 0, 1000));
    rig.queue.sample(|_| {});
    names(rig.queue.series().map(|(_, series)| series))
}

/// The series of an upload with this control.
fn of_run(control: &Value, modem: &str, access: &Value) -> Names {
    let results = Simulation::run(&scenario(&format!(
        "duration_s = 1
         access.kind = {access}
         upstream = {{ sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3044, modem.kind = '{modem}' }}
         downstream = {{ sustained_mbps = 50, peak_mbps = 50, burst_bytes = 3044 }}
         servers.near.delay_ms = 14
         metrics.watch_connections = 1
         router = {{ upstream.rate_mbps = 9, downstream.rate_mbps = 40, controller = {{ kind = 'autorate', server = 'near' }} }}
         traffic.a = {{ kind = 'transfer', direction = 'up', server = 'near',
                        tcp.congestion_control.kind = {control} }}
         traffic.call = {{ kind = 'video_call', control = 'gcc', server = 'near' }}
         traffic.other = {{ kind = 'video_call', control = 'scream', server = 'near' }}"
    )));
    names(results.series.iter().map(|row| &row.series))
}

#[test]
fn series_and_definitions_are_the_same() {
    let mut shown = Names::new();
    for drawn in 0..DRAWN {
        let mut drawer = Drawer::new(drawn);
        let mut each = |name| drawer.each_kind(name).into_iter();
        let laws = each("AqmSpec").map(|law| json!({"law": law}));
        let schedulers = each("SchedulerSpec").map(|scheduler| json!({"scheduler": scheduler}));
        shown.extend(laws.chain(schedulers).flat_map(of_queue));
    }
    let mut drawer = Drawer::new(0);
    for control in drawer.each_kind("CongestionSpec") {
        shown.extend(of_run(&control["kind"], "shared_channel", &json!("docsis")));
    }
    for access in drawer.each_kind("AccessSpec") {
        shown.extend(of_run(&json!("reno"), "single_queue", &access["kind"]));
    }
    let definitions = sojourn::series();
    let defined: Names = definitions.iter().map(|series| (series.name, series.unit)).collect();
    assert_eq!(shown, defined);
    assert!(definitions.iter().all(|series| series.meaning.ends_with('.')));
}
