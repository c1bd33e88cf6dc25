//! The words of answers: what is named, with which numbers, and from which bounds on.

use super::*;

/// An answer of these groups with their names, each with one run.
fn of_all(names: &[String], facts: &[Facts], keys: &[String]) -> Verdict {
    let groups: Vec<_> = names.iter().zip(facts).map(|(name, of)| group(name, of)).collect();
    verdict(&groups, keys)
}

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("s{number}")).collect()
}

#[test]
fn a_question_names_up_to_eight_variants_the_swept_keys_and_the_seeds() {
    let good = game_and_upload(12.0, 10.0, Some(5.0));
    let asked = |count: usize, keys: &[&str]| {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        of_all(&numbered(count), &vec![good.clone(); count], &keys).question
    };
    assert_eq!(asked(2, &[]), "Which of s1 and s2 works best for game and upload?");
    assert_eq!(
        asked(8, &["rate"]),
        "Which of s1, s2, s3, s4, s5, s6, s7 and s8 works best for game and upload as rate varies?"
    );
    assert_eq!(
        asked(9, &["rate", "delay"]),
        "Which of 9 settings works best for game and upload as rate and delay vary?"
    );
    // Points of one variant have no names of their own.
    let of_variant = |variant| {
        let groups = ["a", "b"].map(|name| Group { variant, ..group(name, &good) });
        verdict(&groups, &["rate".to_owned()]).question
    };
    for variant in ["", "PIE"] {
        let asked = of_variant(variant);
        assert_eq!(asked, "Which of 2 settings works best for game and upload as rate varies?");
    }
    let runs = games([20.0, 21.0, 22.0]);
    let groups = [seeds("a", &runs), seeds("b", &runs)];
    let asked = verdict(&groups, &[]).question;
    assert_eq!(asked, "Which of a and b works best for game (mean of 3 seeds)?");
    let bulk = Facts::of(
        &scenario("traffic.t = { kind = 'on_off', server = 'near', mean_mbps = [1] }"),
        &Rows::default(),
    );
    assert_eq!(alone(&bulk).question, "How does traffic fare?");
    let found = alone(&good);
    assert_eq!(found.question, "How well does this service work for game and upload?");
    assert_eq!(found.best, None);
    let found = verdict(&[group("a", &bulk), group("b", &bulk)], &[]);
    assert_eq!(found.question, "Which of a and b works best?");
}

#[test]
fn what_is_not_graded_is_named_by_its_kind_or_counted() {
    let said = |count: usize| {
        let entry = |name: String| {
            format!("traffic.{name} = {{ kind = 'on_off', server = 'near', mean_mbps = [1] }}\n")
        };
        let traffic: String = numbered(count).into_iter().map(entry).collect();
        let facts = Facts::of(&scenario(&traffic), &Rows::default());
        verdict(&[group("a", &facts), group("b", &facts)], &[]).ungraded
    };
    assert_eq!(said(2), "Not graded: on off (s1 and s2).");
    assert_eq!(said(8), "Not graded: on off (s1, s2, s3, s4, s5, s6, s7 and s8).");
    assert_eq!(said(9), "Not graded: on off (9 entries).");
    assert_eq!(alone(&facts(GAME, "game", &json!({}))).ungraded, "");
}

/// What the first sentence says of a run beside its idle line.
fn beside(loaded: &Facts, idle: &Facts) -> String {
    first_sentence(&[group("", loaded), group("idle line", idle)])
}

#[test]
fn a_game_is_so_many_times_slower_from_one_and_a_half_on_or_a_little_from_2_percent_on() {
    let idle = game_and_upload(10.0, 10.0, None);
    for (p90_ms, start) in [
        (
            143.0,
            "The upload makes the game 14 times slower: from 10.0 to 143 ms of round trip at p90.",
        ),
        (
            15.0,
            "The upload makes the game 1.5 times slower: from 10.0 to 15.0 ms of round trip at p90.",
        ),
        (14.9, "The upload slows the game a little: from 10.0 to 14.9 ms of round trip at p90."),
        (10.3, "The upload slows the game a little: from 10.0 to 10.3 ms of round trip at p90."),
        (10.2, "The upload leaves the game as it is without it (10.2 ms of round trip at p90)."),
    ] {
        assert_eq!(beside(&game_and_upload(p90_ms, 10.0, Some(5.0)), &idle), start);
    }
    // Several of them are a plural, and something that took no time has no factor.
    let uploads = [("a", 2.0), ("b", 3.0)];
    for (p90_ms, start) in [
        (40.0, "The uploads make the game 4.0 times slower: "),
        (12.0, "The uploads slow the game a little: "),
        (10.0, "The uploads leave the game as it is without them "),
    ] {
        let found = beside(&game_and_uploads(p90_ms, 10.0, &uploads), &idle);
        assert!(found.starts_with(start), "{found}");
    }
    let none = game_and_upload(0.0, 0.0, None);
    let found = beside(&game_and_upload(5.0, 5.0, Some(5.0)), &none);
    assert_eq!(
        found,
        "The upload slows the game a little: from 0 to 5.00 ms of round trip at p90."
    );
}

/// What is better beside the load than without it is said so, more or less of it.
#[test]
fn what_load_makes_better_is_said_beside_what_is_without_it() {
    let said = |p90_ms: f64| {
        let facts =
            [game_and_upload(p90_ms, 10.0, Some(5.0)), game_and_upload(90.0, 10.0, Some(5.0))];
        let idle = game_and_upload(20.0, 10.0, None);
        let all = [group("a", &facts[0]), group("b", &facts[1]), group("idle line", &idle)];
        verdict(&all, &[]).sentences.into_iter().find(|it| it.starts_with("Without")).unwrap()
    };
    assert_eq!(said(25.0), "Without the upload, game RTT p90 is 20.0 ms.");
    assert_eq!(said(18.1), "Without the upload, game RTT p90 is 20.0 ms.");
    assert_eq!(said(15.0), "Without the upload, game RTT p90 is 20.0 ms (beside it 15.0 ms).");
}

/// A letter is of delay: what is lost and what fails stands beside it, before all that sounds like praise.
#[test]
fn a_letter_is_of_the_delay_alone() {
    let first = |percent: u32| {
        let loss = format!("servers.near.loss_percent = {percent}");
        of_line("", "", &format!("upstream.queue.law.kind = 'codel'\n{loss}")).sentences.remove(0)
    };
    assert!(!first(0).contains("delay alone"));
    let lossy = first(3);
    assert!(lossy.starts_with("A+ is the delay alone: the game's loss is "), "{lossy}");
    assert!(lossy.ends_with(" %."), "{lossy}");
    let failing = first(30);
    assert!(failing.starts_with("A+ is the delay alone: the game's loss is "), "{failing}");
    assert!(failing.ends_with(" % and the upload fails."), "{failing}");
}

/// Beside an upload the modem has grants already, where it measures that a game waits less for them.
#[test]
fn a_game_is_faster_since_there_are_grants_where_it_waits_less_for_them() {
    let said = |more: &str| of_line("", "", more).sentences.remove(0);
    let fair = said("upstream.queue = { law.kind = 'codel', scheduler.kind = 'fq' }");
    assert!(fair.starts_with("The upload makes the game faster: "), "{fair}");
    assert!(fair.ends_with(", since the modem has grants already."), "{fair}");
    let with = |p90_ms, [wait_ms, cmts_ms]: [f64; 2], mbps| {
        let mut facts = game_and_upload(p90_ms, 10.0, mbps);
        let part = |(part, ms): (&str, f64)| {
            row(&json!({"traffic": "x", "direction": "up", "part": part, "mean_ms": ms,
                "sent_packets": 900}))
        };
        let rows = Rows {
            flows: both_ways("x", "game", &json!({})),
            delay_parts: [
                ("total", 7.0 + wait_ms + cmts_ms),
                ("grant_wait", wait_ms),
                ("cmts_queue", cmts_ms),
            ]
            .map(part)
            .to_vec(),
            ..Rows::default()
        };
        facts.causes = Facts::of(&scenario(GAME), &rows).causes;
        facts
    };
    let of = |p90_ms, wait_ms, mbps| with(p90_ms, [wait_ms, 0.0], mbps);
    let idle = of(10.0, 3.0, None);
    // What it waits less for must be half of what it is faster by.
    for (wait_ms, since) in [(2.0, ", since the modem has grants already"), (2.1, ""), (3.0, "")] {
        let want = format!(
            "The upload makes the game faster: from 10.0 to 8.00 ms of round trip at p90{since}."
        );
        assert_eq!(beside(&of(8.0, wait_ms, Some(5.0)), &idle), want);
    }
    // What falls most is named, and nothing where the mean does not fall.
    let idle = with(10.0, [3.0, 6.4], None);
    let said = beside(&with(8.0, [0.2, 0.1], Some(5.0)), &idle);
    assert!(said.ends_with(" at p90, with 6.30 ms less in the CMTS's queue on average."), "{said}");
    let said = beside(&with(8.0, [0.2, 9.2], Some(5.0)), &idle);
    assert!(said.ends_with(" at p90."), "{said}");
}

/// Who loses nothing is not said to lose more, and a low-latency queue that carried nothing is named.
#[test]
fn what_does_not_change_is_not_said_to() {
    let of = |p90_ms: f64, loss: f64| {
        let over = if p90_ms > 80.0 { 50.0 } else { 0.0 };
        let values = json!({"rtt_p90_ms": p90_ms, "over_20_ms_access_percent": over,
            "over_80_ms_round_trip_percent": over, "loss_percent": loss});
        let queue = row(&json!({"queue": "q", "direction": "up", "member": "low_latency",
            "departed_packets": 0}));
        let rows =
            Rows { flows: both_ways("x", "game", &values), queues: vec![queue], ..Rows::default() };
        Facts::of(&scenario(GAME), &rows)
    };
    let (tail, one, two) = (of(220.0, 0.0), of(20.0, 0.8), of(20.0, 0.0));
    let found = verdict(&[group("tail", &tail), group("one", &one), group("two", &two)], &[]);
    let said = found.sentences.join(" ");
    assert!(said.contains("but the game's loss rises from 0 to 0.800 % with one."), "{said}");
    assert!(said.contains("the upstream low-latency queue carried nothing: all packets took"));
}

#[test]
fn of_the_round_trips_of_a_game_that_is_named_which_load_changes_much_more() {
    let of = |[p50_ms, p90_ms, p99_ms]: [f64; 3], upload: Option<f64>| {
        with(
            game_and_upload(p90_ms, 10.0, upload),
            &[("game_rtt_p50_ms", p50_ms), ("game_rtt_p99_ms", p99_ms)],
        )
    };
    let idle = of([10.0, 10.0, 10.0], None);
    for (loaded, end) in [
        ([10.0, 20.0, 10.0], "2.0 times slower: from 10.0 to 20.0 ms of round trip at p90."),
        ([29.9, 20.0, 29.9], "2.0 times slower: from 10.0 to 20.0 ms of round trip at p90."),
        ([31.0, 20.0, 30.0], "3.1 times slower: from 10.0 to 31.0 ms of round trip in the median."),
        ([30.0, 20.0, 31.0], "3.1 times slower: from 10.0 to 31.0 ms of round trip at p99."),
        ([31.0, 20.0, 47.0], "4.7 times slower: from 10.0 to 47.0 ms of round trip at p99."),
        ([48.0, 20.0, 47.0], "4.8 times slower: from 10.0 to 48.0 ms of round trip in the median."),
    ] {
        let found = beside(&of(loaded, Some(5.0)), &idle);
        assert!(found.ends_with(end), "{found}");
    }
    let found = beside(&of([5.0, 11.0, 11.0], Some(5.0)), &of([0.5, 10.0, 10.0], None));
    assert!(found.ends_with("from 0.500 to 5.00 ms of round trip in the median."), "{found}");
    // One that is not there, or was 0, has no factor.
    for missing in [None, Some(0.0)] {
        let of = |p50_ms: f64, p90_ms: Option<f64>, upload: &str| {
            let mut game =
                both_ways("x", "game", &json!({"rtt_p50_ms": p50_ms, "rtt_p90_ms": p90_ms}));
            if !upload.is_empty() {
                game.push(row(&json!({"traffic": "upload", "throughput_mbps": 5.0})));
            }
            let scenario = scenario(&format!("{GAME}\n{upload}"));
            Facts::of(&scenario, &Rows { flows: game, ..Rows::default() })
        };
        let loaded = of(12.0, missing.map(|_| 50.0), UPLOAD);
        let found = beside(&loaded, &of(10.0, missing, ""));
        assert!(found.ends_with("from 10.0 to 12.0 ms of round trip in the median."), "{found}");
    }
    let idle = of([0.0, 10.0, 10.0], None);
    let found = beside(&of([50.0, 11.0, 11.0], Some(5.0)), &idle);
    assert!(found.ends_with("from 10.0 to 11.0 ms of round trip at p90."), "{found}");
}

#[test]
fn without_a_game_pages_and_calls_tell_what_load_does() {
    let page = |page_s, uploads: &[(&str, f64)]| call_and_uploads(4.3, page_s, uploads, 1);
    let idle = page(1.0, &[]);
    let found = beside(&page(3.0, &[("up", 5.0)]), &idle);
    assert_eq!(
        found,
        "The upload makes the page load 3.0 times slower: from 1.00 to 3.00 s in the median."
    );
    // Several settings name the idle line.
    let (one, two) = (page(3.0, &[("up", 5.0)]), page(9.0, &[("up", 5.0)]));
    let groups = [group("a", &one), group("b", &two), group("idle line", &idle)];
    let said = verdict(&groups, &[]).sentences;
    let want = "Without the upload, voice MOS is 4.30 and page load is 1.00 s.";
    assert!(said.contains(&want.to_owned()), "{said:?}");
    let groups = [group("a", &one), group("b", &two), group("at night", &idle)];
    let said = verdict(&groups, &[]).sentences;
    let want = "Without the upload (at night), voice MOS is 4.30 and page load is 1.00 s.";
    assert!(said.contains(&want.to_owned()), "{said:?}");
}
