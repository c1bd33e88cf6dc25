//! Runs a scenario file and prints a table: for work on the engine without Python.
use sojourn_core::network::Simulation;
use std::time::Instant;
fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap();
    let sets: Vec<String> = args.collect();
    let text = std::fs::read_to_string(&file).unwrap();
    let mut root: toml::Table = toml::from_str(&text).unwrap();
    let cmp = root.remove("compare");
    let _ = sets;
    struct V {
        name: String,
        scenario: sojourn_core::scenario::Scenario,
    }
    fn over(b: &mut toml::Table, o: &toml::Table) {
        for (k, v) in o {
            match (b.get_mut(k), v) {
                (Some(toml::Value::Table(x)), toml::Value::Table(y)) if !y.contains_key("kind") => {
                    over(x, y)
                }
                _ => {
                    b.insert(k.clone(), v.clone());
                }
            }
        }
    }
    let mut variants = Vec::new();
    match cmp {
        Some(toml::Value::Table(c)) => {
            for (n, o) in c {
                let mut b = root.clone();
                over(&mut b, o.as_table().unwrap());
                variants.push(V { name: n, scenario: toml::Value::Table(b).try_into().unwrap() })
            }
        }
        _ => variants.push(V {
            name: String::new(),
            scenario: toml::Value::Table(root).try_into().unwrap(),
        }),
    }
    for v in variants {
        let t = Instant::now();
        let r = Simulation::run(&v.scenario);
        let el = t.elapsed().as_secs_f64();
        println!(
            "== {} {:.3} s, {} events, {:.3} us/pkt, {:x}",
            v.name,
            el,
            r.events,
            el * 1e6 / r.forwarded_packets as f64,
            r.fingerprint
        );
        for f in &r.flows {
            println!(
                "  {:8} {:5} sent {:7} ovf {:5} aqm {:5} loss {:6.3}% thr {:7.3} p50 {:8.2} p90 {:8.2} p99 {:8.2} max {:8.2} min {:6.2} mos {:?} pages {:?} plt {:?} mad {:?}",
                f.traffic,
                f.direction,
                f.sent_packets,
                f.dropped_overflow_packets,
                f.dropped_aqm_packets,
                f.loss_percent.unwrap_or(-1.),
                f.throughput_mbps,
                f.latency_p50_ms.unwrap_or(-1.),
                f.latency_p90_ms.unwrap_or(-1.),
                f.latency_p99_ms.unwrap_or(-1.),
                f.latency_max_ms.unwrap_or(-1.),
                f.latency_min_ms.unwrap_or(-1.),
                f.mos,
                f.page_loads,
                f.page_load_median_s,
                f.page_load_mad_s
            );
        }
        for q in &r.queues {
            println!("  {q:?}");
        }
        for w in &r.warnings {
            println!("  warning {w}");
        }
    }
}
