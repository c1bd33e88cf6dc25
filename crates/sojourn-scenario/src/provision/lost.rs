//! What a modem's file does not keep of a service: the file is read again, and what then differs is noted.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::read::Provision;
use super::write::{Note, unwritable};
use crate::overlay::Overlay;
use crate::schema::Scenario;
use sojourn_access::modem_config::ModemConfig;
use sojourn_access::{Classifier, Downstream, Group, ServiceFlow, Upstream, flow_path};
use sojourn_input::shape::TAG;
use sojourn_input::words;

/// A note for each key that differs when the file is read and that none of those `said` is about.
pub(super) fn notes(group: &Group, config: &ModemConfig, said: &[Note]) -> Vec<Note> {
    let any = json!({ "sustained_mbps": 1 });
    let mut scenario = json!({ "upstream": any, "downstream": any });
    Provision { config, problems: &[], source: "" }.apply(&mut scenario);
    let [up, down] = ["upstream", "downstream"].map(|direction| scenario[direction].take());
    let up: Upstream = serde_json::from_value(up).expect("keys of scenarios");
    let down: Downstream = serde_json::from_value(down).expect("keys of scenarios");
    let Group { upstream, downstream, .. } = group;
    let (up_names, down_names) = (&upstream.flows, &downstream.flows);
    let mut found = Vec::new();
    let mut note = |path: &str, text: String| {
        let is_about = |note: &Note| within(path, &note.path) || within(&note.path, path);
        if !said.iter().any(is_about) {
            found.push(Note { path: path.to_owned(), text });
        }
    };
    let directions = [
        (
            "upstream",
            tables(&upstream.service_flows(), &upstream.flows, up_names),
            tables(&up.service_flows(), &up.flows, up_names),
        ),
        (
            "downstream",
            tables(&downstream.service_flows(), &downstream.flows, down_names),
            tables(&down.service_flows(), &down.flows, down_names),
        ),
    ];
    for (direction, own, read) in &directions {
        for (index, (name, own)) in own.iter().enumerate() {
            let path = flow_path(direction, name);
            let (number, read) = read.get(index).cloned().unwrap_or_default();
            if *name != number && !number.is_empty() {
                note(&path, format!("a file has no names of flows; this one is read as {number}"));
            }
            differences(&path, own, &read, &mut note);
        }
    }
    found
}

/// Keys of a group of homes that are of each modem's service, or say how many modems there are.
const OF_MODEMS: [&str; 3] = ["count", "upstream", "downstream"];

/// A note for each key of the homes that is not of their modems: a file configures nothing else.
pub(super) fn beside_the_modem(scenario: &Scenario, group: &Group) -> Vec<Note> {
    let homes = scenario.homes.get(group.name);
    let own = homes.map(table).unwrap_or_default();
    let shared = scenario.router.as_ref().filter(|_| homes.is_none_or(|of| of.router.is_none()));
    let shared = shared.map(|router| ("router".to_owned(), json!(router)));
    let path = words::join("homes", group.name);
    let own = own.into_iter().filter(|(key, _)| !OF_MODEMS.contains(&&**key));
    let own = own.map(|(key, value)| (words::join(&path, &key), value));
    let is_set = |(_, value): &(String, Value)| !value.is_null() && *value != json!({});
    let note = |(path, _)| Note { path, text: BESIDE.to_owned() };
    own.chain(shared).filter(is_set).map(note).collect()
}

const BESIDE: &str = "not written: a file configures modems, and nothing else of their homes";

/// Is the key at `path` the one at `outer`, or below it?
fn within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The service flows of a direction by name, with buffer control and the `aqm` switch in their queues. Those
/// classifiers that a file can hold have the numbers that they have in `written`.
fn tables(
    flows: &[impl Serialize],
    further: &IndexMap<String, ServiceFlow>,
    written: &IndexMap<String, ServiceFlow>,
) -> Vec<(String, Value)> {
    let mut primary = table(&flows[0]);
    primary.remove("flows");
    let mut all = vec![(String::new(), Value::Object(primary))];
    for (index, (name, own)) in further.iter().enumerate() {
        let resolved = table(&flows[1 + index]);
        let mut keys = table(own);
        keys.insert("queue".to_owned(), resolved["queue"].clone());
        let numbers = written.get_index(index).map(|(_, flow)| writable(flow)).unwrap_or_default();
        let held = numbers.iter().zip(writable(own));
        let held = held.map(|((number, _), (_, of))| (number.to_string(), plain(of)));
        keys.insert("match".to_owned(), Value::Object(held.collect()));
        all.push((name.clone(), Value::Object(keys)));
    }
    for (_, keys) in &mut all {
        let keys = keys.as_object_mut().expect("a table");
        // Their effect is in the queue.
        keys.retain(|key, _| !["buffer", "aqm"].contains(&&**key));
    }
    all
}

fn table(keys: &impl Serialize) -> Map<String, Value> {
    let table = serde_json::to_value(keys).expect("keys are plain data");
    table.as_object().cloned().expect("a table")
}

/// The classifiers that a file can hold, with their numbers.
fn writable(flow: &ServiceFlow) -> Vec<(usize, &Classifier)> {
    let numbered = flow.classifiers.iter().enumerate();
    numbered.filter(|(_, classifier)| unwritable(classifier).is_none()).collect()
}

/// A classifier with its code points as a type of service.
fn plain(classifier: &Classifier) -> Value {
    let tos = super::write::tos(classifier).map(|range| vec![range.low, range.high, range.mask]);
    json!(Classifier { dscp: None, tos, ..classifier.clone() })
}

/// Says of each key that is another when the file is read what it becomes.
fn differences(path: &str, own: &Value, read: &Value, note: &mut impl FnMut(&str, String)) {
    let is_one_kind = own.get(TAG) == read.get(TAG);
    match (own, read) {
        (Value::Object(own), Value::Object(read)) if is_one_kind => {
            let added = read.keys().filter(|key| !own.contains_key(*key));
            for key in own.keys().chain(added) {
                let of = |table: &Map<String, Value>| table.get(key).cloned().unwrap_or_default();
                differences(&words::join(path, key), &of(own), &of(read), note);
            }
        }
        (own, read) if own == read => {}
        (Value::Number(own), Value::Number(read)) => {
            note(path, format!("{own} is written as {read}, the nearest that a file can say"));
        }
        (Value::Null, read) => note(path, format!("read again it is {}", words::found(read))),
        (own, _) => note(path, format!("not written: a file cannot say {}", words::found(own))),
    }
}
