//! The sample logs, which are of one line: 21 ms at rest, 40 ms more in a download, 150 in an upload, 190 in both.

use std::fs;
use std::path::{Path, PathBuf};

use sojourn_input::problem::Fault;
use sojourn_logs::{Load, read};
use sojourn_results::measured::{Draft, Measured, measured, trips_ms};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/logs")
}

fn of_sample(name: &str) -> Measured {
    measured(&read(name, &fs::read(folder().join(name)).unwrap()).unwrap(), &[]).unwrap()
}

fn of_text(text: &str) -> Result<Measured, Fault> {
    measured(&read("a.csv", text.as_bytes()).unwrap(), &[])
}

/// Three loads of 20 s each, with a probe each 100 ms: round trips at rest and what the loads add, down and up in halves
/// where `one_way`.
fn line(rest_ms: f64, added_ms: [f64; 3]) -> String {
    let mut text = "sent_ms,rtt_ms,load\n".to_owned();
    let loads = [("idle", 0.0), ("down", added_ms[0]), ("idle", 0.0), ("up", added_ms[1])];
    let loads = loads.into_iter().chain([("idle", 0.0), ("both", added_ms[2])]);
    for (part, (load, added)) in loads.enumerate() {
        for probe in 0..200 {
            let at = part * 20_000 + probe * 100;
            text += &format!("{at},{},{load}\n", rest_ms + added);
        }
    }
    text
}

#[test]
fn a_letter_and_three_numbers() {
    for (name, letter, idle, down, up, both) in [
        ("tcp_upload.flent", Some("C"), Some(21.0), None, Some(171.0), None),
        ("without-raw.flent", Some("B"), Some(21.0), Some(61.0), None, None),
        ("crusader.json.gz", Some("C"), Some(21.0), Some(61.0), Some(171.0), Some(211.0)),
        ("line.csv", Some("C"), Some(21.0), Some(61.0), Some(171.0), None),
        ("networkquality.json", Some("C"), Some(21.0), None, None, Some(211.0)),
        ("networkquality-s.json", Some("C"), Some(21.0), Some(61.0), Some(171.0), None),
        ("irtt.json.gz", None, None, None, None, None),
        ("ping-iputils.txt", None, None, None, None, None),
    ] {
        let found = of_sample(name);
        let near = |found: Option<f64>, expected: Option<f64>| match (found, expected) {
            (None, None) => true,
            (Some(found), Some(expected)) => (found - expected).abs() < 0.6,
            _ => false,
        };
        assert_eq!(found.letter, letter, "{name}");
        assert!(near(found.idle_ms, idle) && near(found.downloading_ms, down), "{name}: {found:?}");
        assert!(near(found.uploading_ms, up) && near(found.both_ms, both), "{name}: {found:?}");
    }
}

/// Two pings of 21 and 25 ms at rest, with 190 and 180 ms more: their mean path has 23 and 208 ms.
#[test]
fn paths_of_different_lengths_are_laid_on_each_other() {
    let found = of_sample("rrul.flent.gz");
    assert!((found.idle_ms.unwrap() - 23.0).abs() < 0.5);
    assert!((found.both_ms.unwrap() - 208.0).abs() < 5.5);
    let both = &found.loads[1];
    assert!((both.added_ms.unwrap() - 185.0).abs() < 0.5, "{both:?}");
    assert!(
        (both.down_mbps.unwrap() - 80.0).abs() < 1.0 && (both.up_mbps.unwrap() - 10.0).abs() < 0.2
    );
    // Two of 200 probes of the two streams.
    assert_eq!(both.lost_percent.map(|lost| (lost * 10.0).round()), Some(10.0));
    assert_eq!(found.rates_count, Some("bytes that arrive at applications"));
}

#[test]
fn letters_follow_what_load_adds_to_the_mean() {
    for (added, letter) in
        [(4.9, "A+"), (5.0, "A"), (29.9, "A"), (30.0, "B"), (60.0, "C"), (200.0, "D"), (400.0, "F")]
    {
        let found = of_text(&line(20.0, [1.0, added, 2.0])).unwrap();
        assert_eq!(found.letter, Some(letter), "{added}");
        assert!(found.loads.iter().any(|one| (one.added_ms.unwrap_or(0.0) - added).abs() < 1e-9));
    }
}

#[test]
fn sentences_say_where_the_delay_is_and_what_cures_it() {
    for (added, where_, cure) in [
        ([10.0, 20.0, 20.0], None, "nothing needs a cure"),
        ([100.0, 20.0, 100.0], Some("The delay is downstream"), "at the provider's end"),
        (
            [20.0, 100.0, 100.0],
            Some("The delay is upstream"),
            "buffer in the modem, which the provider sets",
        ),
        (
            [100.0, 100.0, 200.0],
            Some("The delay is in both directions"),
            "smaller buffers in the modem and",
        ),
    ] {
        let text = of_text(&line(20.0, added)).unwrap().sentences.join(" ");
        assert!(where_.is_none_or(|words| text.contains(words)) && text.contains(cure), "{text}");
        assert_eq!(text.contains("The delay is"), where_.is_some(), "{text}");
    }
    let text = of_sample("rrul.flent.gz").sentences.join(" ");
    assert!(
        text.starts_with("A download and an upload at once add 185 ms (C) to the mean round trip"),
        "{text}"
    );
    assert!(text.contains("does not say in which of them"), "{text}");
    assert!(text.contains("at 72.0 Mbps down and 9.00 Mbps up (90 %"), "{text}");
    // Half of the upload's 150 ms is in the delay upstream of this log, and all of it is known.
    let found = of_sample("crusader.json.gz");
    let up = found.loads.iter().find(|one| one.load == Some(Load::Up)).unwrap();
    assert!((up.added_up_ms.unwrap() - 150.0).abs() < 1.0 && up.added_down_ms.unwrap().abs() < 1.0);
}

#[test]
fn what_the_log_lacks_is_named() {
    for (name, lacks) in [
        ("tcp_upload.flent", "worse with a download (flent tcp_download)"),
        ("without-raw.flent", "worse with an upload (flent tcp_upload)"),
        ("ping-iputils.txt", "ping does not say when a load ran"),
        ("irtt.json.gz", "irtt does not say when a load ran"),
        ("ping-macos.txt", "The log has no times, so 1 s between probes are assumed"),
        ("ping-untimed.txt", "The log has no times; by its last lines there are 0.2 s"),
        ("line.csv", "Round trips per minute: not measured"),
    ] {
        let text = of_sample(name).sentences.join(" ");
        assert!(text.contains(lacks), "{name}: {text}");
    }
    let short = "sent_ms,rtt_ms,load\n0,20,idle\n100,20,idle\n200,90,up\n300,90,up\n";
    let text = of_text(short).unwrap().sentences.join(" ");
    assert!(text.contains("lacks ten answered round trips without a load"), "{text}");
    let lost = of_sample("ping-iputils.txt").sentences.join(" ");
    assert!(lost.contains("3.33 % of the probes were lost; delays"), "{lost}");
}

/// Two hosts of 20 and 80 ms at rest, to which an upload adds 10 and 100 ms: their mean would have a B.
#[test]
fn hosts_are_never_averaged() {
    let mut text = String::new();
    for n in 0..80 {
        for (host, ms) in [(1, if n < 40 { 20 } else { 30 }), (7, if n < 40 { 80 } else { 180 })] {
            text +=
                &format!("[{n}.0] 192.0.2.{host} : [{n}], 64 bytes, {ms} ms (9 avg, 0% loss)\n");
        }
    }
    let log = read("a.log", text.as_bytes()).unwrap().with_loads(&[], &[(40.0, 80.0)]).unwrap();
    let found = measured(&log, &[]).unwrap();
    let numbers = (found.letter, found.host, found.idle_ms, found.uploading_ms);
    assert_eq!(numbers, (Some("C"), Some(2), Some(80.0), Some(180.0)));
    let added: Vec<_> = found.loads.iter().map(|one| (one.host, one.added_ms)).collect();
    assert_eq!(
        added,
        [(Some(1), None), (Some(1), Some(10.0)), (Some(2), None), (Some(2), Some(100.0))]
    );
    let text = found.sentences.join(" ");
    assert!(text.contains("The log has 2 hosts; letter and numbers are those of host 2"), "{text}");
    assert!(!text.contains("192.0.2"), "{text}");
}

/// The server's clock steps by 1 s in the middle of an upload, which adds 100 ms upstream all the time.
#[test]
fn delays_of_directions_are_not_compared_across_a_step() {
    let mut text = "sent_ms,received_ms,returned_ms,load\n".to_owned();
    for n in 0..120 {
        let (at, load) = (n * 100, if n < 40 { "idle" } else { "up" });
        let up = at + if n < 40 { 10 } else { 110 };
        text += &format!("{at},{},{},{load}\n", up + if n < 80 { 0 } else { 1_000 }, up + 10);
    }
    let found = of_text(&text).unwrap();
    let up = found.loads.iter().find(|one| one.load == Some(Load::Up)).unwrap();
    let [added, upstream] = [up.added_ms, up.added_up_ms].map(Option::unwrap);
    assert!((added - 100.0).abs() < 1e-6 && (upstream - 100.0).abs() < 1e-6, "{up:?}");
    let said = found.sentences.join(" ");
    assert!(
        said.contains("The server's clock stepped by 1000 ms against the home's at 7.90 s"),
        "{said}"
    );
    // An hour passes without a probe; two seconds of it are left.
    let later = |line: &str| match line.split_once(',') {
        Some((at, rest)) if at.parse().is_ok_and(|at: f64| at > 4_000.0) => {
            format!("{},{rest}\n", at.parse::<f64>().unwrap() + 3.6e6)
        }
        _ => format!("{line}\n"),
    };
    let jumped: String = line(20.0, [40.0; 3]).lines().map(later).collect();
    let said = of_text(&jumped).unwrap().sentences.join(" ");
    assert!(
        said.contains("The clock stepped forward by 3598 s at 4.00 s, or the probes paused"),
        "{said}"
    );
}

/// An upload whose probes are all lost may be the worst load.
#[test]
fn a_load_without_answers_leaves_no_letter() {
    let lost = |line: &str| match line.strip_suffix(",up").and_then(|line| line.split_once(',')) {
        Some((at, _)) => format!("{at},,up\n"),
        None => format!("{line}\n"),
    };
    let found = of_text(&line(20.0, [10.0; 3]).lines().map(lost).collect::<String>()).unwrap();
    assert_eq!((found.letter, found.downloading_ms), (None, Some(30.0)));
    let said = found.sentences.join(" ");
    assert!(
        said.starts_with("No probe was answered during an upload, so there is no letter"),
        "{said}"
    );
    assert!(!said.contains("cure") && !said.contains("let the probes run"), "{said}");
}

/// Ten and more values have quantiles; what the file gives once has none.
#[test]
fn a_single_figure_has_no_quantiles() {
    let text =
        r#"{"base_rtt": 21.5, "dl_throughput": 8e7, "ul_throughput": 1e7, "responsiveness": 300}"#;
    let found = of_text(text).unwrap();
    let idle = &found.loads[0];
    assert_eq!((idle.rtt_p50_ms, idle.rtt_p10_ms, idle.rtt_p99_ms), (Some(21.5), None, None));
    assert!(found.sentences.join(" ").contains("no distribution of it"), "{:?}", found.sentences);
}

/// Streams of 20 and 60 ms at rest and 10 ms more in an upload: figures and numbers have a path of 40 ms.
#[test]
fn figures_show_what_the_numbers_count() {
    let mut text = "sent_ms,rtt_ms,load,stream\n".to_owned();
    for n in 0..200 {
        for (stream, ms) in [(1, 20), (2, 60)] {
            let (load, ms) = if n < 100 { ("idle", ms) } else { ("up", ms + 10) };
            text += &format!("{},{ms},{load},{stream}\n", n * 100);
        }
    }
    let log = read("a.csv", text.as_bytes()).unwrap();
    let up = &measured(&log, &[]).unwrap().loads[1];
    assert_eq!((up.rtt_p10_ms, up.rtt_p90_ms), (Some(50.0), Some(50.0)));
    for trips in trips_ms(&log) {
        assert!(trips[..100].iter().all(|ms| *ms == Some(40.0)));
        assert!(trips[100..].iter().all(|ms| *ms == Some(50.0)));
    }
}

#[test]
fn doubtful_units_are_named() {
    for (factor, is_doubtful) in [(1e-4, true), (1.0, false), (1e3, true)] {
        let text = of_text(&line(20.0 * factor, [0.0; 3])).unwrap().sentences.join(" ");
        assert_eq!(text.contains("is doubtful: look whether the column"), is_doubtful, "{text}");
    }
    let micro = of_text(&line(12_000.0, [0.0; 3])).unwrap().sentences;
    assert!(micro[0].starts_with("A usual round trip of 12000 ms is doubtful"), "{micro:?}");
    // A load may delay for seconds what takes 20 ms at rest, and all of a log may lie behind it but its begin.
    let long = line(20.0, [9_000.0; 3]);
    let no_loads = long.replace(",load", ",note");
    for text in [long, no_loads] {
        let said = of_text(&text).unwrap().sentences.join(" ");
        assert!(!said.contains("is doubtful"), "{said}");
    }
}

#[test]
fn a_little_load_is_none() {
    let rows = (0..60).map(|n| format!("{},20,0.05,0.02\n", n * 1000)).collect::<String>();
    let found = of_text(&format!("sent_ms,rtt_ms,down_mbps,up_mbps\n{rows}")).unwrap();
    assert_eq!((found.letter, found.idle_ms), (None, Some(20.0)));
    let text = found.sentences.join(" ");
    assert!(
        text.contains(
            "With 0.0500 Mbps down and 0.0200 Mbps up the line was idle or lightly loaded"
        ),
        "{text}"
    );
}

#[test]
fn digits_do_not_contradict_a_letter() {
    for (added, shown) in
        [(29.97, "29.97 ms (A)"), (4.9996, "4.9996 ms (A+)"), (29.9, "29.9 ms (A)")]
    {
        let text = of_text(&line(20.0, [0.0, added, 0.0])).unwrap().sentences.join(" ");
        assert!(text.contains(&format!("an upload adds {shown}")), "{text}");
    }
}

/// Two logs of one line do not ask for what the other one has.
#[test]
fn logs_of_one_line_complete_each_other() {
    let log = read("a.flent", &fs::read(folder().join("tcp_upload.flent")).unwrap()).unwrap();
    let asks = |elsewhere: &[Load]| {
        measured(&log, elsewhere)
            .unwrap()
            .sentences
            .iter()
            .any(|one| one.contains("may be worse with"))
    };
    assert!(asks(&[]) && asks(&[Load::Up]) && !asks(&[Load::Down]) && !asks(&[Load::Both]));
}

/// The rate of a load is that of its whole bins: 80 Mbps, not less at its ends.
#[test]
fn rates_are_those_of_the_load_alone() {
    let found = of_sample("crusader.json.gz");
    let both = found.loads.iter().find(|one| one.load == Some(Load::Both)).unwrap();
    assert!((both.down_mbps.unwrap() - 80.0).abs() < 0.5, "{both:?}");
    assert!((both.up_mbps.unwrap() - 10.0).abs() < 0.1, "{both:?}");
}

#[test]
fn text_of_networkquality_has_no_letter() {
    let text = "Uplink capacity: 10 Mbps\nResponsiveness: Low (193 milliseconds | 310 RPM)\n";
    let log = read("a.txt", text.as_bytes()).unwrap();
    let found = measured(&log, &[]).unwrap();
    let said = found.sentences.join(" ");
    assert!(found.letter.is_none() && said.contains("networkQuality -c writes them"), "{said}");
    assert!(said.contains("Round trips per minute: 310 with a download and an upload"), "{said}");
}

#[test]
fn a_line_that_waits_at_rest_is_named() {
    let mut text = line(20.0, [0.0, 0.0, 0.0]);
    for probe in 0..200 {
        text += &format!("{},{},idle\n", 120_000 + probe * 100, 20 + 100 * (probe % 2));
    }
    let text = of_text(&text).unwrap().sentences.join(" ");
    assert!(text.contains("Even without a load one probe in ten takes 100 ms longer"), "{text}");
}

#[test]
fn round_trips_a_minute_have_their_rule() {
    let text = of_sample("networkquality.json").sentences.join(" ");
    let expected = "Round trips per minute: 310 with a download and an upload at once (requests on its own \
                    connections take 400 ms), by draft-ietf-ippm-responsiveness-08: the mean of two rates";
    assert!(text.contains(expected), "{text}");
    let text = of_sample("networkquality-s.json").sentences.join(" ");
    assert!(text.contains("800 with a download and 300 with an upload"), "{text}");
}

#[test]
fn times_that_cannot_be_right_are_refused() {
    for (text, found) in [
        (
            "sent_ms,rtt_ms\n5000,2\n1000,2\n",
            "found a time that is 4.0 s before that of a probe before it",
        ),
        ("sent_ms,rtt_ms\n1000,2\n2000,-2\n", "found a round trip of -2.00 ms"),
    ] {
        let fault = of_text(text).unwrap_err();
        assert!(fault.message.contains(found) && fault.path == "probe 2", "{fault:?}");
    }
}

#[test]
fn loads_may_be_named_by_the_user() {
    let text = line(20.0, [40.0, 150.0, 190.0]).replace(",load", ",other");
    let log = read("a.csv", text.as_bytes()).unwrap();
    assert_eq!(measured(&log, &[]).unwrap().letter, None);
    let found =
        measured(&log.with_loads(&[(20.0, 40.0), (100.0, 120.0)], &[(60.0, 80.0)]).unwrap(), &[])
            .unwrap();
    assert_eq!((found.letter, found.uploading_ms), (Some("C"), Some(170.0)));
}

/// Probes that loads make 79 ms faster were sent at other times, or beside another load at rest.
#[test]
fn loads_that_shorten_delays_are_misplaced() {
    let found = of_text(&line(100.0, [-79.0, 0.0, 0.0])).unwrap();
    assert_eq!(found.letter, None);
    let said = "Without a load the mean round trip is 79.0 ms longer than during a download: something else";
    assert!(found.sentences[0].starts_with(said), "{found:?}");
    assert_eq!(found.sentences.len(), 2, "{found:?}");
    assert_eq!(of_text(&line(100.0, [-20.0, 0.0, 0.0])).unwrap().letter, None);
    assert_eq!(of_text(&line(100.0, [-4.0, 0.0, 0.0])).unwrap().letter, Some("A+"));
}

/// A policer: a quarter of the probes is lost in an upload, which adds nothing.
#[test]
fn loss_without_delay_needs_a_cure_too() {
    let lossy = |text: &str| {
        let cut = |(at, line): (usize, &str)| match line.split(',').collect::<Vec<_>>()[..] {
            [sent, _, "up"] if at % 4 == 0 => format!("{sent},,up"),
            _ => line.to_owned(),
        };
        text.lines().enumerate().map(cut).collect::<Vec<_>>().join("\n")
    };
    let said = |text: &str| of_text(text).unwrap().sentences.join(" ");
    let text = line(21.0, [0.0; 3]);
    assert!(said(&lossy(&text)).contains("loses packets instead"), "{}", said(&lossy(&text)));
    assert!(said(&text).contains("nothing needs a cure"));
    // What is lost stands beside the letters, which are of the others.
    let beside = &of_text(&lossy(&text)).unwrap().sentences[1];
    assert!(beside.ends_with(" during an upload; letters and delays are those of the others."));
}

/// The second of three hosts loses all probes of a download, which adds 10 ms to the first; the third is not there.
#[test]
fn a_host_without_answers_under_a_load_is_the_worst() {
    let of = |host: &str, rest: &str, loaded: &str| {
        format!("{host} : {} {}\n", [rest; 20].join(" "), [loaded; 20].join(" "))
    };
    let text = of("192.0.2.1", "20.0", "30.0") + &of("192.0.2.2", "20.0", "-");
    let text = text + &of("192.0.2.3", "-", "-");
    let log = read("a.log", text.as_bytes()).unwrap().with_loads(&[(20.0, 40.0)], &[]).unwrap();
    let found = measured(&log, &[]).unwrap();
    assert_eq!((found.letter, found.host, found.loads.len()), (None, Some(2), 4));
    let said = found.sentences.join(" ");
    assert!(said.contains("1 of 3 hosts had no answer at all, and those that did"), "{said}");
    assert!(said.contains("The log has 2 hosts; letter and numbers are those of host 2"), "{said}");
    assert!(said.contains("No probe was answered during a download, so there is no"), "{said}");
    let alone = text.lines().skip(1).collect::<Vec<_>>().join("\n");
    let log = read("a.log", alone.as_bytes()).unwrap().with_loads(&[(20.0, 40.0)], &[]).unwrap();
    let found = measured(&log, &[]).unwrap();
    assert_eq!((found.letter, found.host), (None, None));
    assert!(found.sentences[0].starts_with("1 of 2 hosts had no answer"), "{found:?}");
}

/// Of 200 probes nine answers say as little as none, under a load and at rest; ten say something.
#[test]
fn loss_that_leaves_too_few_answers_leaves_no_letter() {
    let said = |load: &str, kept: usize| {
        let mut answers = 0;
        let rows = line(20.0, [10.0; 3]);
        let row = |row: &str| match row.strip_suffix(load).and_then(|row| row.split_once(',')) {
            Some((at, _)) if answers >= kept => format!("{at},,{load}\n"),
            Some(_) => {
                answers += 1;
                format!("{row}\n")
            }
            None => format!("{row}\n"),
        };
        let found = of_text(&rows.lines().map(row).collect::<String>()).unwrap();
        (found.letter, found.sentences.join(" "))
    };
    // At rest 600, less two seconds after each of two loads and half a second before each of three.
    for (load, kept, expected) in [
        ("up", 9, "9 of 200 probes were answered during an upload, too few, so there is no letter"),
        ("idle", 9, "9 of 545 probes were answered without a load, too few, so there is no letter"),
        ("idle", 0, "No probe was answered without a load, so there is no letter: something drops"),
    ] {
        let (letter, text) = said(load, kept);
        assert!(letter.is_none() && text.contains(expected), "{text}");
        for other in ["let the probes run", "may be worse with", "cure", "are those of the others"]
        {
            assert!(!text.contains(other), "{text}");
        }
    }
    let (letter, text) = said("up", 10);
    assert!(letter == Some("A") && text.contains("95.0 % of the probes were lost"), "{text}");
}

/// An upload adds 100 ms to a rest of 10 ms in each direction: downstream alone, upstream alone, or 60 and 40. Clocks
/// that drift shorten one.
#[test]
fn delays_of_directions_count_more_than_the_name_of_a_load() {
    for (load, [up_ms, down_ms], place, cure, is_misnamed) in [
        ("up", [0, 100], "is downstream", "at the provider's end", true),
        ("up", [100, 0], "is upstream", "in the modem", false),
        ("down", [100, 0], "is upstream", "in the modem", true),
        ("down", [0, 100], "is downstream", "at the provider's end", false),
        ("up", [60, 40], "is in both", "in the modem and at the", false),
        ("up", [-30, 130], "is upstream", "in the modem", false),
        ("both", [20, 80], "is downstream", "at the provider's end", false),
    ] {
        let mut text = "sent_ms,received_ms,returned_ms,load\n".to_owned();
        for n in 0..200 {
            let ([up, down], load) =
                if n < 100 { ([0; 2], "idle") } else { ([up_ms, down_ms], load) };
            let (at, received) = (n * 100, n * 100 + 10 + up);
            text += &format!("{at},{received},{},{load}\n", received + 10 + down);
        }
        let said = of_text(&text).unwrap().sentences.join(" ");
        assert!(said.contains(&format!("The delay {place}")) && said.contains(cure), "{said}");
        assert_eq!(said.contains("which does not fit (was it a"), is_misnamed, "{said}");
    }
}

#[test]
fn a_rate_of_zero_is_none() {
    for (mbps, expected) in [(0, "shapes somewhat below the line's rates"), (10, "9.00 Mbps up")] {
        let rows = line(20.0, [0.0, 100.0, 0.0]);
        let row = |row: &str| format!("{row},{}\n", if row.ends_with("up") { mbps } else { 0 });
        let rows: String = rows.lines().skip(1).map(row).collect();
        let said = of_text(&format!("sent_ms,rtt_ms,load,up_mbps\n{rows}")).unwrap().sentences;
        let said = said.join(" ");
        assert!(said.contains(expected) && !said.contains(" 0 Mbps"), "{said}");
    }
}

/// One of 200 probes takes 15 000 ms: 74.9 ms more on the mean of an upload, while nine of ten are as at rest.
#[test]
fn few_long_probes_make_a_letter_and_nothing_else() {
    let with_long = |added: [f64; 3], load: &str| {
        let rows = line(20.0, added);
        let at = rows.lines().position(|row| row.ends_with(load)).unwrap();
        let row = |(number, row): (usize, &str)| match row.split(',').next() {
            Some(sent) if number == at + 100 => format!("{sent},15000,{load}\n"),
            _ => format!("{row}\n"),
        };
        of_text(&rows.lines().enumerate().map(row).collect::<String>()).unwrap()
    };
    let found = with_long([0.0; 3], "up");
    let said = found.sentences.join(" ");
    assert_eq!(found.letter, Some("C"));
    assert!(said.contains("A few long probes raise the mean during an upload"), "{said}");
    assert!(!said.contains("The delay is") && !said.contains("cure it"), "{said}");
    assert!(!said.contains("nothing needs a cure"), "{said}");
    // Beside them, the download has its own direction and cure.
    let said = with_long([100.0, 0.0, 0.0], "up").sentences.join(" ");
    assert!(
        said.contains("during an upload, since the median") && said.contains("is downstream"),
        "{said}"
    );
    // All probes are longer: no word of few.
    let said = with_long([0.0, 100.0, 0.0], "up").sentences.join(" ");
    assert!(!said.contains("Few long") && said.contains("The delay is upstream"), "{said}");
    let found = with_long([10.0; 3], "idle");
    assert_eq!(found.letter, None);
    assert!(found.sentences[0].contains("a few long probes raise that mean"), "{found:?}");
}

/// Ten round trips say something in each format, and nine nothing: at rest, under a load, and on its own connections.
#[test]
fn fewer_than_ten_answers_say_nothing_in_any_format() {
    let list = |count: usize, ms: f64| format!("{:?}", vec![ms; count]);
    let quality = |idle: usize, loaded: usize| {
        format!(
            "{{\"base_rtt\": 50, \"responsiveness\": 300, \"il_tcp_handshake_443\": {}, \"lud_foreign_tcp_handshake_443\": \
             {}, \"lud_self_h2_req_resp\": {}}}",
            list(idle, 20.0),
            list(loaded, 120.0),
            list(loaded, 400.0)
        )
    };
    let csv = |idle: usize, loaded: usize| {
        let rows = (0..idle).map(|n| format!("{},20,idle\n", n * 100));
        let rows = rows.chain((0..loaded).map(|n| format!("{},120,both\n", 50_000 + n * 100)));
        format!("sent_ms,rtt_ms,load\n{}90000,,idle\n", rows.collect::<String>())
    };
    for (idle, loaded, letter) in
        [(10, 10, Some("C")), (9, 10, None), (10, 9, None), (2, 200, None), (200, 2, None)]
    {
        for text in [quality(idle, loaded), csv(idle, loaded)] {
            let found = of_text(&text).unwrap();
            assert_eq!(found.letter, letter, "{text}");
            assert_eq!(found.idle_ms, (idle >= 10).then_some(20.0), "{text}");
            assert_eq!(found.both_ms, (loaded >= 10).then_some(120.0), "{text}");
            let said = found.sentences.join(" ");
            assert_eq!(said.contains("There is no letter, as"), letter.is_none(), "{said}");
            let has_own = said.contains("its own connections take 400 ms");
            assert_eq!(has_own, loaded >= 10 && text.starts_with('{'), "{said}");
        }
    }
    // A figure of the test itself is no answer.
    let found = of_text(&quality(0, 10)).unwrap();
    assert_eq!((found.letter, found.idle_ms), (Some("C"), Some(50.0)));
    // Requests count where handshakes are too few.
    let both = quality(10, 2).replace(
        "{\"",
        "{\"il_h2_req_resp\": [20, 20, 20, 20, 20, 20, 20, 20, 20, 20], \
        \"lud_foreign_h2_req_resp\": [220, 220, 220, 220, 220, 220, 220, 220, 220, 220], \"",
    );
    assert_eq!(of_text(&both).unwrap().both_ms, Some(220.0));
}

/// 20 ms at rest, 60 ms in a download of 80 Mbps, 170 in an upload of 10 Mbps.
#[test]
fn a_log_gives_a_draft_of_its_line_where_it_can() {
    let text = |delay: [f64; 3], rate: bool| {
        let names = ["idle", "down", "up"];
        let rows = (0..300).map(|n| {
            let which = n / 100;
            let ms = delay[which] + (n % 3) as f64;
            let rates = [["0.1", "0.1"], ["80", "2"], ["0.5", "10"]][which].join(",");
            format!("{},{ms},{},{}\n", 200 * n, names[which], if rate { &rates } else { "," })
        });
        format!("sent_ms,rtt_ms,load,down_mbps,up_mbps\n{}", rows.collect::<String>())
    };
    let of = |delay, rate| of_text(&text(delay, rate)).unwrap().draft;
    let Draft::Line { up_mbps, down_mbps, rtt_ms, buffer_ms } = of([20.0, 60.0, 170.0], true)
    else {
        panic!("{:?}", of([20.0, 60.0, 170.0], true))
    };
    assert_eq!((up_mbps, down_mbps, rtt_ms, buffer_ms), (10.0, Some(80.0), 21.0, 151.0));
    for (delay, rate, lacks) in [
        ([20.0, 60.0, 170.0], false, "the rate of the upload"),
        ([20.0, 60.0, 40.0], true, "a long delay in the upload"),
    ] {
        let found = of(delay, rate);
        assert!(matches!(found, Draft::Lacks(why) if why.starts_with(lacks)), "{found:?}");
    }
    let found = of_text(&line(20.0, [150.0, 0.0, 0.0])).unwrap().draft;
    assert!(matches!(found, Draft::Lacks(_)), "{found:?}");
}
