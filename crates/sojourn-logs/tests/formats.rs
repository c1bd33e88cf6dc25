//! Sample logs of each format, what they say, and that no bytes make the reader panic.
//!
//! All are of one line: 20, 20.5, 21, 21.5, 22 ms at rest, 40 ms more in a download, 150 in an upload, 190 in both.

use std::fs;
use std::path::{Path, PathBuf};

use sojourn_logs::{Format, Load, Log, read};
use sojourn_testing::at_random;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/logs")
}

fn sample(name: &str) -> Log {
    read(name, &fs::read(folder().join(name)).unwrap()).unwrap()
}

fn refusal(content: &[u8]) -> String {
    read("a.log", content).unwrap_err().to_string()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median round trip of a stream under a load, or all in all.
fn round_trip(log: &Log, stream: usize, load: Option<Load>) -> f64 {
    let of_load =
        log.streams[stream].iter().filter(|one| load.is_none() || log.load_at(one.sent_ms) == load);
    median(of_load.filter_map(|one| one.rtt_ms).collect())
}

fn lost(log: &Log) -> usize {
    log.streams.iter().flatten().filter(|probe| probe.is_lost()).count()
}

#[test]
fn probes_are_those_of_each_format() {
    for (name, format, streams, sent, lost_probes, is_timed) in [
        ("rrul.flent.gz", Format::Flent, 2, 300, 2, true),
        ("tcp_upload.flent", Format::Flent, 1, 150, 0, true),
        ("without-raw.flent", Format::Flent, 1, 149, 0, true),
        ("irtt.json.gz", Format::Irtt, 1, 100, 2, true),
        ("ping-iputils.txt", Format::Ping, 1, 60, 2, true),
        ("ping-untimed.txt", Format::Ping, 1, 60, 2, false),
        ("ping-busybox.txt", Format::Ping, 1, 60, 2, false),
        ("ping-macos.txt", Format::Ping, 1, 60, 2, false),
        ("ping-windows.txt", Format::Ping, 1, 60, 2, false),
        ("fping.txt", Format::Fping, 2, 120, 4, true),
        ("fping-c.txt", Format::Fping, 2, 120, 4, false),
        ("crusader.json.gz", Format::Crusader, 1, 520, 2, true),
        ("line.csv", Format::Csv, 1, 300, 2, true),
    ] {
        let log = sample(name);
        assert_eq!((log.format, log.streams.len()), (format, streams), "{name}");
        let found = (log.streams.iter().flatten().count(), lost(&log), log.untimed.is_none());
        assert_eq!(found, (sent, lost_probes, is_timed), "{name}");
        let idle = if log.has_loads { Some(Load::Idle) } else { None };
        let shortest = if name.contains("windows") { 20.0 } else { 20.5 };
        assert!((shortest..=21.5).contains(&round_trip(&log, 0, idle)), "{name}");
    }
}

#[test]
fn loads_are_those_that_ran() {
    for (name, load, rtt_ms, down, up) in [
        ("rrul.flent.gz", Load::Both, 211.0, Some(80.0), Some(10.0)),
        ("tcp_upload.flent", Load::Up, 171.0, None, Some(10.0)),
        ("without-raw.flent", Load::Down, 61.0, Some(80.0), None),
        ("crusader.json.gz", Load::Down, 61.0, Some(80.0), None),
        ("crusader.json.gz", Load::Up, 171.0, None, Some(10.0)),
        ("crusader.json.gz", Load::Both, 211.0, Some(80.0), Some(10.0)),
        ("line.csv", Load::Down, 61.0, Some(80.0), Some(2.0)),
        ("line.csv", Load::Up, 171.0, Some(1.0), Some(10.0)),
    ] {
        let log = sample(name);
        assert_eq!(round_trip(&log, 0, Some(load)), rtt_ms, "{name} {load:?}");
        for (way, expected) in log.ways.iter().zip([down, up]) {
            let of_load =
                way.rates.iter().filter(|rate| log.load_at(rate.at_ms - 1.0) == Some(load));
            let rates: Vec<f64> = of_load.map(|rate| rate.mbps).collect();
            let found = if rates.is_empty() { 0.0 } else { median(rates) };
            let expected: f64 = expected.unwrap_or(0.0);
            assert!((found - expected).abs() <= 0.01 * expected, "{name} {load:?}: {found}");
        }
    }
}

/// Without the column `load` the rates of the same rows show it.
#[test]
fn rates_show_what_ran() {
    let text = fs::read_to_string(folder().join("line.csv")).unwrap();
    let log = read("line.csv", text.replace("up_mbps,load", "up_mbps,other").as_bytes()).unwrap();
    let whole = sample("line.csv");
    for probe in &log.streams[0] {
        let (found, said) = (log.load_at(probe.sent_ms), whole.load_at(probe.sent_ms));
        assert!(found == said || found.is_none() || said.is_none(), "{}", probe.sent_ms);
    }
    assert_eq!(round_trip(&log, 0, Some(Load::Up)), 171.0);
}

#[test]
fn probes_are_spaced_as_the_summary_of_ping_says() {
    let log = sample("ping-untimed.txt");
    let sent: Vec<f64> = log.streams[0].iter().map(|probe| probe.sent_ms).collect();
    assert!(sent.windows(2).all(|two| (two[1] - two[0] - 200.0).abs() < 1e-6));
    assert_eq!(sample("ping-macos.txt").streams[0][1].sent_ms, 1_000.0);
}

#[test]
fn delays_of_directions_are_read_where_they_are() {
    let log = sample("irtt.json.gz");
    let probe = log.streams[0][0];
    let near = |found: Option<f64>, ms: f64| (found.unwrap() - ms).abs() < 1e-6;
    assert!(near(probe.up_ms, 13.0) && near(probe.down_ms, 7.0) && near(probe.rtt_ms, 20.0));
    let log = sample("crusader.json.gz");
    let up = log.streams[0].iter().filter(|one| log.load_at(one.sent_ms) == Some(Load::Up));
    // Half of 171 ms, and half of the 150 that the upload adds.
    assert!((median(up.filter_map(|one| one.up_ms).collect()) - 160.5).abs() < 1e-6);
}

/// netperf counts 40 round trips a second of 25 ms.
#[test]
fn round_trips_that_are_counted_are_inverted() {
    let values: Vec<_> = (0..20).map(|at| format!("{{\"t\": {at}, \"val\": 40}}")).collect();
    for (sampled, rtt_ms) in [("25.0", 25.0), ("40.0", 40.0), ("null", 40.0)] {
        let text = format!(
            "{{\"raw_values\": {{\"Ping (ms) UDP BE\": [{}]}}, \"x_values\": [1], \"results\": {{\"Ping (ms) UDP BE\": \
             [{sampled}]}}}}",
            values.join(",")
        );
        let log = read("a.flent", text.as_bytes()).unwrap();
        assert_eq!(round_trip(&log, 0, None), rtt_ms, "{sampled}");
    }
}

/// 20 and 31.5 ms are 50 and 31.7 round trips a second: a runner that prints ms decides, and so do values that are the
/// same in both; those of netperf are recognised by all of them where their medians alone fit either way.
#[test]
fn units_of_pings_are_those_of_their_runner() {
    let list = |[rest, loaded]: [f64; 2]| {
        let of = |at: usize| if at < 10 { rest } else { loaded };
        let raw: Vec<_> =
            (0..40).map(|at| format!("{{\"t\": {at}, \"val\": {}}}", of(at))).collect();
        let sampled: Vec<_> = (0..40).map(|at| of(at).to_string()).collect();
        (raw.join(","), sampled.join(","))
    };
    let (ms, counts) = ([20.0, 31.5], [50.0, 1e3 / 31.5]);
    for (runner, raw, sampled, rest_ms) in [
        ("\"PingRunner\"", ms, [20.0, 31.7], 20.0),
        ("\"IrttRunner\"", ms, counts, 20.0),
        ("\"NetperfDemoRunner\"", counts, ms, 20.0),
        ("\"NetperfDemoRunner\"", ms, [20.0, 31.7], 20.0),
        ("null", counts, ms, 20.0),
        ("null", [31.0, 31.5], [31.4, 31.8], 31.0),
    ] {
        let ((raw, _), (_, sampled)) = (list(raw), list(sampled));
        let text = format!(
            "{{\"metadata\": {{\"SERIES_META\": {{\"Ping (ms) A\": {{\"UNITS\": \"ms\", \"RUNNER\": {runner}}}}}}},
               \"raw_values\": {{\"Ping (ms) A\": [{raw}]}}, \"x_values\": [1], \"results\": {{\"Ping (ms) A\": [{sampled}]}}}}"
        );
        let log = read("a.flent", text.as_bytes()).unwrap();
        assert_eq!(log.streams[0][0].rtt_ms, Some(rest_ms), "{runner} {text}");
    }
}

/// netperf waits for the end of the test where a packet is lost: that is no round trip.
#[test]
fn a_probe_that_netperf_waits_for_is_none() {
    let values: Vec<_> = (0..20).map(|at| format!("{{\"t\": {at}, \"val\": 40}}")).collect();
    let text = format!(
        "{{\"raw_values\": {{\"Ping (ms) UDP BE\": [{}, {{\"t\": 140, \"val\": 0.01, \"dur\": 120}}]}},
           \"x_values\": [1], \"results\": {{\"Ping (ms) UDP BE\": [25.0]}}}}",
        values.join(",")
    );
    let log = read("a.flent", text.as_bytes()).unwrap();
    assert_eq!(log.streams[0].iter().filter_map(|probe| probe.rtt_ms).fold(0.0, f64::max), 25.0);
}

/// The first version does not measure one-way delays and writes zeros, and begins the list of an upload with the test.
#[test]
fn old_results_of_crusader_have_loads_and_no_directions() {
    let time =
        |ms: u64| format!("{{\"secs\": {}, \"nanos\": {}}}", ms / 1000, ms % 1000 * 1_000_000);
    let points = |from: u64, to: u64| {
        let point = |ms: u64| {
            let bytes = 1000 * (ms.clamp(from, to) - from);
            format!("{{\"time\": {}, \"bytes\": {bytes}}}", time(ms))
        };
        (0..=to / 20).map(|at| point(at * 20)).collect::<Vec<_>>().join(",")
    };
    let group = |is_down: bool, from, to| {
        format!(
            "{{\"download\": {is_down}, \"both\": false, \"streams\": [{{\"data\": [{}]}}]}}",
            points(from, to)
        )
    };
    let ping = |at: u64| {
        format!(
            "{{\"index\": {at}, \"sent\": {}, \"latency\": {{\"total\": {}, \"up\": {}}}}}",
            time(at * 20),
            time(30),
            time(0)
        )
    };
    let pings: Vec<_> = (0..700).map(ping).collect();
    let text = format!(
        "{{\"stream_groups\": [{}, {}], \"pings\": [{}]}}",
        group(true, 1_000, 6_000),
        group(false, 9_000, 14_000),
        pings.join(",")
    );
    let log = read("old.json", text.as_bytes()).unwrap();
    for (ms, load) in [(3_000.0, Load::Down), (8_200.0, Load::Idle), (11_000.0, Load::Up)] {
        assert_eq!(log.load_at(ms), Some(load), "{ms}");
    }
    assert!(log.streams[0].iter().all(|probe| probe.up_ms.is_none()));
    let stored = [0xcb, 0x59, 0x7c, 0xae, 0x82, 0xab, 0x72, 0x53, 2, 0, 0, 0];
    assert!(refusal(&stored).contains("crusader export FILE"));
}

/// Units of irtt's lines and of Windows' Spanish ones are those of their numbers.
#[test]
fn units_are_those_of_each_line() {
    for (line, rtt_ms) in [
        ("seq=0 rtt=4.06ms rd=79.9\u{b5}s sd=3.98ms ipdv=n/a", 4.06),
        ("seq=1 rtt=89\u{b5}s rd=22.3\u{b5}s sd=66.6\u{b5}s ipdv=3.97ms", 0.089),
        ("seq=2 rtt=1.5s rd=1s sd=0.5s ipdv=3ms", 1500.0),
        ("Respuesta desde 192.0.2.1: bytes=32 tiempo<1m TTL=117", 1.0),
        ("Respuesta desde 192.0.2.1: bytes=32 tiempo=12ms TTL=117", 12.0),
    ] {
        let log = read("a.txt", format!("{line}\n").as_bytes()).unwrap();
        assert_eq!(log.streams[0][0].rtt_ms, Some(rtt_ms), "{line}");
    }
}

/// A queue that moves from one direction to the other changes both delays and the clock of neither; a clock that is set
/// changes both for good.
#[test]
fn delays_that_change_places_are_no_step_of_a_clock() {
    let csv = |up: &dyn Fn(usize) -> f64, down: &dyn Fn(usize) -> f64| {
        let line = |at: usize| {
            let (sent, up, down) = (10.0 * at as f64, up(at), down(at));
            format!("{sent},{},{}", sent + up, sent + up + down)
        };
        let lines: Vec<_> = (0..400).map(line).collect();
        format!("sent_ms,received_ms,returned_ms\n{}", lines.join("\n"))
    };
    let queue = |at: usize, of: usize| if at > 50 && at / 100 % 2 == of { 60.0 } else { 0.0 };
    let moves = csv(&|at| 5.0 + queue(at, 0), &|at| 5.0 + queue(at, 1));
    assert_eq!(read("a.csv", moves.as_bytes()).unwrap().steps, []);
    let ahead = |at: usize| if at < 200 { 0.0 } else { 30.0 };
    let wobble = |at: usize| (at * 7 % 11) as f64 / 4.0;
    let set = csv(&|at| 5.0 + wobble(at) + ahead(at), &|at| 6.0 - ahead(at));
    let steps = read("a.csv", set.as_bytes()).unwrap().steps;
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].after_ms, 1_990.0);
    assert!((steps[0].by_ms - 30.0).abs() < 3.0, "{}", steps[0].by_ms);
}

#[test]
fn a_summary_has_loads_one_by_one() {
    let summary = sample("networkquality.json").summary.unwrap();
    assert_eq!((summary.idle_ms, summary.draft), ([20.0, 21.0, 22.0].repeat(4), Some(8)));
    let both = &summary.loads[0];
    assert_eq!(
        (both.load, both.rpm, both.mbps),
        (Load::Both, Some(310.5), [Some(80.0), Some(10.0)])
    );
    assert_eq!(
        (&*both.foreign_ms, &*both.own_ms),
        (&*[201.0, 211.0, 221.0].repeat(4), &*[390.0, 400.0, 410.0].repeat(4))
    );
    let summary = sample("networkquality-s.json").summary.unwrap();
    let loads: Vec<_> = summary.loads.iter().map(|one| (one.load, one.rpm)).collect();
    assert_eq!(loads, [(Load::Down, Some(800.0)), (Load::Up, Some(300.0))]);
}

#[test]
fn no_name_or_address_leaves_the_reader() {
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let log = format!("{:?}", sample(&name));
        for private in ["192.0.2", "198.51", "example", "en0", "Version"] {
            assert!(!log.contains(private), "{name}: {private}");
        }
    }
}

#[test]
fn what_is_no_log_gets_one_message() {
    for (content, found) in [
        (&b""[..], "found nothing in it"),
        (b"hello\n", "found no line of a reply"),
        (
            b"PING x\n\n10 packets transmitted, 0 received, 100% packet loss, time 9200ms\n",
            "found no answer to any of 10 probes",
        ),
        (b"\x1f\x8b\x08broken", "found a damaged or cut gzip file"),
        (b"BZh91AY", "found a file that bzip2 has packed"),
        (b"\xfe\x00\x01", "found not UTF-8 text (byte 0)"),
        (b"{", "found damaged JSON"),
        (b"{}", "found JSON without round_trips"),
        (b"{\"raw_values\": {\"Ping (ms) ICMP\": [{\"t\": NaN}]}}", "found damaged JSON"),
        (b"{\"raw_values\": 3}", "not as flent writes it (invalid type: integer"),
        (b"{\"round_trips\": [{\"lost\": 3}]}", "not as irtt writes it (lost is no text"),
        (b"{\"round_trips\": [{\"lost\": \"false\"}]}", "found no answered probe"),
        (b"{\"raw_values\": {\"TCP upload\": [{\"t\": 1, \"val\": 3}]}}", "no answered probe"),
        (b"{\"stream_groups\": []}", "not as crusader export writes it (missing field `pings`"),
        (b"{\"base_rtt\": 20}", "found no responsiveness"),
        (b"sent_ms,rtt_ms\n1,inf\n", "line 2: rtt_ms: found 'inf'; allowed: a number"),
        (b"sent_ms,rtt_ms,load\n1,2,high\n", "line 2: load: found 'high'; allowed: idle, down"),
        (b"sent_ms,rtt_ms\n", "found no answered probe"),
        (
            b"sent_ms,rtt_ms,up_mbps,down_mbps\n1,2,-3,0\n",
            "found a time or a rate that cannot be one",
        ),
    ] {
        let message = refusal(content);
        assert!(message.starts_with("a.log: ") && message.contains(found), "{message}");
        assert!(message.contains("allowed: ") && message.lines().count() == 1, "{message}");
    }
    let whole = fs::read(folder().join("rrul.flent.gz")).unwrap();
    assert!(refusal(&whole[..whole.len() / 2]).contains("damaged or cut gzip file"));
}

/// 1 GB of zeros packs into 1 MB.
#[test]
fn what_unpacks_without_end_is_refused() {
    use std::io::Write;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![b'0'; 1 << 20];
    (0..300).for_each(|_| packed.write_all(&zeros).unwrap());
    let message = refusal(&packed.finish().unwrap());
    assert!(message.contains("found more than 256 MB; allowed: a shorter log"), "{message}");
}

/// Bytes of samples with some replaced, cut out or doubled.
fn damaged(which: usize, changes: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut names: Vec<_> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let mut content = fs::read(&names[which % names.len()]).unwrap();
    if content.starts_with(b"\x1f\x8b") && changes.len().is_multiple_of(2) {
        use std::io::Read;
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&*content).read_to_end(&mut plain).unwrap();
        content = plain;
    }
    for (at, byte, kind) in changes {
        let at = at % content.len().max(1);
        match kind % 4 {
            0 => content[at] = *byte,
            1 => content.truncate(at + 1),
            2 => drop(content.drain(at..(at + usize::from(*byte)).min(content.len()))),
            _ => content.insert(at, *byte),
        }
        if content.is_empty() {
            break;
        }
    }
    content
}

at_random! { 60;
    #[test]
    fn damaged_logs_are_read_or_refused(
        which in 0..40usize,
        changes in sojourn_testing::proptest::collection::vec((0..100_000usize, 0..=255u8, 0..=255u8), 1..8),
    ) {
        let content = damaged(which, &changes);
        match read("a.log", &content) {
            Ok(log) => assert!(log.streams.iter().flatten().all(|probe| probe.sent_ms.is_finite())),
            Err(problem) => assert!(problem.message.contains("allowed: "), "{problem}"),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(\\[1[0-9]{0,3}[.][0-9]{0,2}\\] )?([a-z0-9.]{1,5} : \\[[0-9]{1,20}\\], )?(icmp_seq=[0-9]{1,20} )?time[=<][0-9.,]{0,20} ?ms(\n.{0,20}){0,3}") {
        let _ = read("a.log", text.as_bytes());
    }
}
