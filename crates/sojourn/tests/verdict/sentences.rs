//! The words of answers: what is named, with which numbers, and from which bounds on.

use super::*;

/// The first sentence on two settings, of which PIE is better for the game, by what the uploads get.
fn told(before: &[(&str, f64)], after: &[(&str, f64)]) -> String {
    let (full, pie) = (game_and_uploads(208.0, 190.0, before), game_and_uploads(20.0, 18.0, after));
    first_sentence(&[group("tail", &full), group("PIE", &pie)])
}

const BETTER: &str = "PIE does best: against tail, game RTT p90 falls from 208 to 20.0 ms";
const AT_A_PRICE: &str =
    "PIE does best, at a price: against tail, game RTT p90 falls from 208 to 20.0 ms";

#[test]
fn what_an_upload_keeps_of_its_rate_is_a_gain_a_loss_or_a_price() {
    for (mbps, start, end) in [
        (2000.0, BETTER, " and the upload has 2.0 times its rate."),
        (1999.0, BETTER, " and the upload gains 100 %."),
        (1020.0, BETTER, " and the upload gains 2 %."),
        (1019.0, BETTER, " and the upload keeps its rate."),
        (995.0, BETTER, " and the upload keeps its rate."),
        (994.0, BETTER, " and the upload keeps 99 % of its rate."),
        (950.0, BETTER, " and the upload keeps 95 % of its rate."),
        (949.0, BETTER, "; but the upload keeps 95 % of its rate (949 of 1000 Mbps)."),
        (900.0, BETTER, "; but the upload keeps 90 % of its rate (900 of 1000 Mbps)."),
        (899.0, AT_A_PRICE, "; but the upload keeps 90 % of its rate (899 of 1000 Mbps)."),
    ] {
        let found = told(&[("up", 1000.0)], &[("up", mbps)]);
        assert_eq!(found, format!("{start}{end}"), "{mbps}");
    }
    // Nothing is known of it, after or before.
    let found = told(&[("up", 1000.0)], &[("up", f64::NAN)]);
    assert!(found.ends_with(" and the upload keeps 0 % of its rate (0 of 1000 Mbps)."), "{found}");
    let found = told(&[("up", f64::NAN)], &[("up", 1000.0)]);
    assert!(!found.contains("its rate"), "{found}");
}

#[test]
fn several_uploads_are_a_sum_and_those_that_lose_are_named() {
    let half = [("a", 500.0), ("b", 500.0)];
    for (after, start, end) in [
        ([1000.0, 1000.0], BETTER, " and the uploads have 2.0 times their rate."),
        ([600.0, 500.0], BETTER, " and the uploads gain 10 %."),
        ([450.0, 550.0], BETTER, " and the uploads keep their rate."),
        (
            [449.0, 551.0],
            BETTER,
            " and the uploads keep their rate; but a keeps 90 % of its rate (449 of 500 Mbps).",
        ),
        // The sum says it.
        (
            [400.0, 400.0],
            AT_A_PRICE,
            "; but the uploads keep 80 % of their rate (800 of 1000 Mbps).",
        ),
        // Where another number of them runs, the mean of each is compared.
        ([1100.0, 0.0], BETTER, " and the mean rate of each upload rises from 500 to 1100 Mbps."),
        ([490.0, 0.0], BETTER, " and the mean rate of each upload stays at 490 Mbps."),
        ([489.0, 0.0], BETTER, " and the mean rate of each upload falls from 500 to 489 Mbps."),
        ([475.0, 0.0], BETTER, " and the mean rate of each upload falls from 500 to 475 Mbps."),
        ([474.0, 0.0], BETTER, "; but the mean rate of each upload falls from 500 to 474 Mbps."),
        ([300.0, 0.0], BETTER, "; but the mean rate of each upload falls from 500 to 300 Mbps."),
    ] {
        let found = told(&half, &[("a", after[0]), ("b", after[1])]);
        assert_eq!(found, format!("{start}{end}"), "{after:?}");
    }
    // Three at most are named.
    let (before, after): (Vec<_>, Vec<_>) = ["a", "b", "c", "d", "e"]
        .map(|name| ((name, 100.0), (name, if name == "e" { 460.0 } else { 10.0 })))
        .into_iter()
        .unzip();
    let found = told(&before, &after);
    assert_eq!(found.matches("keeps 10 % of its rate (10.0 of 100 Mbps)").count(), 3, "{found}");
}

#[test]
fn a_call_is_named_where_its_grade_or_much_of_its_score_changes() {
    let of = |mos, page_s| call_and_uploads(mos, page_s, &[("up", 5.0)], 1);
    for (before, after, clause) in [
        (4.0, 4.19, ""),
        (4.19, 4.0, ""),
        (2.5, 2.625, ""),
        (4.0, 4.3, "the call stays good (MOS from 4.00 to 4.30)"),
        (4.3, 4.05, "; but the call stays good (MOS from 4.30 to 4.05)"),
        (3.99, 4.0, "the call rises from fair to good (MOS from 3.99 to 4.00)"),
        (2.5, 4.2, "the call rises from poor to good (MOS from 2.50 to 4.20)"),
        (2.5, 2.7, "the call stays poor (MOS from 2.50 to 2.70)"),
        (3.001, 2.999, "; but the call falls from fair to poor (MOS 3.00)"),
    ] {
        let (slow, quick) = (of(before, 20.0), of(after, 1.0));
        let first = first_sentence(&[group("tail", &slow), group("PIE", &quick)]);
        assert!(first.contains("the median page load falls from 20.0 to 1.00 s"), "{first}");
        assert!(first.contains(clause), "{before} {after}: {first}");
        let times = usize::from(!clause.is_empty());
        assert_eq!(first.matches("the call").count(), times, "{first}");
    }
}

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
        &scenario("traffic.t = { kind = 'torrent', servers = ['near'] }"),
        &Rows::default(),
    );
    assert_eq!(alone(&bulk).question, "How does traffic fare?");
    let found = verdict(&[group("a", &bulk), group("b", &bulk)], &[]);
    assert_eq!(found.question, "Which of a and b works best?");
}

#[test]
fn what_is_not_graded_is_named_by_its_kind_or_counted() {
    let told = |count: usize| {
        let entry = |name: String| {
            format!(
                "traffic.{name} = {{ kind = 'transfer', server = 'near', file_bytes = 1000 }}\n"
            )
        };
        let traffic: String = numbered(count).into_iter().map(entry).collect();
        let facts = Facts::of(&scenario(&traffic), &Rows::default());
        verdict(&[group("a", &facts), group("b", &facts)], &[]).ungraded
    };
    assert_eq!(told(2), "Not graded: transfer (s1 and s2).");
    assert_eq!(told(8), "Not graded: transfer (s1, s2, s3, s4, s5, s6, s7 and s8).");
    assert_eq!(told(9), "Not graded: transfer (9 entries).");
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
        ([30.0, 20.0, 30.0], "2.0 times slower: from 10.0 to 20.0 ms of round trip at p90."),
        ([31.0, 20.0, 30.0], "3.1 times slower: from 10.0 to 31.0 ms of round trip in the median."),
        ([30.0, 20.0, 31.0], "3.1 times slower: from 10.0 to 31.0 ms of round trip at p99."),
        ([31.0, 20.0, 47.0], "4.7 times slower: from 10.0 to 47.0 ms of round trip at p99."),
        ([32.0, 20.0, 47.0], "3.2 times slower: from 10.0 to 32.0 ms of round trip in the median."),
    ] {
        let found = beside(&of(loaded, Some(5.0)), &idle);
        assert!(found.ends_with(end), "{found}");
    }
    let found = beside(&of([5.0, 11.0, 11.0], Some(5.0)), &of([0.5, 10.0, 10.0], None));
    assert!(found.ends_with("from 0.500 to 5.00 ms of round trip in the median."), "{found}");
    // One that is not there, or was 0, tells no factor.
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
        "The upload makes the page load 3.0 times slower: from 1.00 to 3.00 s in the median; the call stays good \
         (MOS 4.30)."
    );
    // Several settings are told what there is without load.
    let (one, two) = (page(3.0, &[("up", 5.0)]), page(9.0, &[("up", 5.0)]));
    let groups = [group("a", &one), group("b", &two), group("idle line", &idle)];
    let told = verdict(&groups, &[]).sentences;
    let want =
        "Without the upload, the call has an MOS of 4.30 and the median page load is 1.00 s.";
    assert!(told.contains(&want.to_owned()), "{told:?}");
    let groups = [group("a", &one), group("b", &two), group("at night", &idle)];
    let told = verdict(&groups, &[]).sentences;
    let want = "Without the upload (at night), the call has an MOS of 4.30 and the median page load is 1.00 s.";
    assert!(told.contains(&want.to_owned()), "{told:?}");
}

/// Settings of which the first `good` are good on all, and the others poor for the game.
fn side_by_side(good: usize, count: usize) -> Vec<String> {
    let of = |number| if number < good { 12.0 } else { 200.0 + 10.0 * number as f64 };
    let facts: Vec<_> =
        (0..count).map(|number| game_and_upload(of(number), 10.0, Some(5.0))).collect();
    of_all(&numbered(count), &facts, &[]).sentences
}

#[test]
fn good_settings_are_named_or_counted_and_others_listed_if_they_are_few() {
    let on = "on what is measured (game and upload)";
    let poor = "poor for the game.";
    for (good, count, first, others) in [
        (0, 2, format!("No setting is good {on}."), Some(format!("s1 and s2: {poor}"))),
        (1, 2, format!("Good {on}: s1."), Some(format!("s2: {poor}"))),
        (
            3,
            9,
            format!("Good {on}: s1, s2 and s3."),
            Some(format!("s4, s5, s6, s7, s8 and s9: {poor}")),
        ),
        (
            4,
            8,
            format!("Good {on}: s1, s2, s3 and s4."),
            Some(format!("s5, s6, s7 and s8: {poor}")),
        ),
        (
            4,
            9,
            format!("4 of 9 settings are good {on}."),
            Some(format!("s5, s6, s7, s8 and s9: {poor}")),
        ),
        (
            1,
            9,
            format!("Good {on}: s1."),
            Some(format!("s2, s3, s4, s5, s6, s7, s8 and s9: {poor}")),
        ),
        (1, 10, format!("Good {on}: s1."), None),
        (2, 2, format!("Good {on}: s1 and s2."), None),
    ] {
        let found = side_by_side(good, count);
        assert!(found.contains(&first), "{first} {found:?}");
        let is_poor = |told: &&String| told.ends_with(poor);
        assert_eq!(found.iter().find(is_poor), others.as_ref(), "{good} of {count}");
    }
}

#[test]
fn up_to_eight_settings_without_a_difference_are_named() {
    let told = |count: usize| {
        let facts = vec![game_and_upload(12.0, 10.0, Some(5.0)); count];
        of_all(&numbered(count), &facts, &[]).sentences.remove(0)
    };
    assert_eq!(told(8), "No setting does best: s1, s2, s3, s4, s5, s6, s7 and s8 hardly differ.");
    assert_eq!(told(9), "No setting does best: the 9 settings hardly differ.");
}

#[test]
fn those_that_seeds_cannot_tell_from_the_best_are_named_or_counted() {
    let (poor, steady) = (games([60.0, 61.0, 59.0]), games([30.0, 32.0, 28.0]));
    let uneven = games([30.0, 30.0, 90.0]);
    let told = |count: usize| {
        let names = numbered(count);
        let mut groups = vec![seeds("poor", &poor), seeds("steady", &steady)];
        groups.extend(names.iter().map(|name| seeds(name, &uneven)));
        first_sentence(&groups)
    };
    for (count, end) in [
        (2, " Whether s1 and s2 do as well, 3 seeds cannot tell."),
        (8, " Whether s1, s2, s3, s4, s5, s6, s7 and s8 do as well, 3 seeds cannot tell."),
        (9, " Whether 9 others do as well, 3 seeds cannot tell."),
    ] {
        let found = told(count);
        assert!(found.ends_with(end), "{found}");
    }
}

#[test]
fn settings_of_up_to_eight_loads_are_compared_load_by_load() {
    let of = |connections: usize, rtt_ms: f64| {
        let upload = format!(
            "traffic.upload = {{ kind = 'transfer', server = 'near', connections = {connections} }}"
        );
        let flows = both_ways("x", "game", &json!({"rtt_p90_ms": rtt_ms}));
        of_flows(&format!("{GAME}\n{upload}"), flows)
    };
    let told = |loads: usize, keys: &[String]| {
        let facts: Vec<_> = (0..2 * loads)
            .map(|number| of(1 + number / 2, if number % 2 == 0 { 20.0 } else { 60.0 }))
            .collect();
        of_all(&numbered(2 * loads), &facts, keys).sentences
    };
    let of_load = |told: &&String| told.ends_with("game RTT p90 falls from 60.0 to 20.0 ms.");
    let found = told(8, &[]);
    assert_eq!(found.iter().filter(of_load).count(), 8);
    assert_eq!(found[8], "Settings are compared at equal load: there are 8 loads.");
    let found = told(9, &["load".to_owned()]);
    assert_eq!(found.iter().filter(of_load).count(), 8);
    assert_eq!(found[8], "Settings are compared at equal load: there are 9 loads of the sweep.");
    // A setting that is alone at its load has nothing to be compared with.
    let facts = [of(1, 20.0), of(1, 60.0), of(2, 90.0)];
    let found = of_all(&numbered(3), &facts, &[]).sentences;
    assert_eq!(found.iter().filter(of_load).count(), 1, "{found:?}");
    // At a load at which nothing differs none does best.
    let facts = [of(1, 20.0), of(1, 60.0), of(2, 90.0), of(2, 90.0)];
    let found = of_all(&numbered(4), &facts, &[]).sentences;
    assert_eq!(found[1], "No setting does best: s3 and s4 hardly differ.");
}

#[test]
fn a_sweep_counts_good_settings_by_variant_where_there_are_two_to_eight() {
    let (good, poor) =
        (game_and_upload(12.0, 10.0, Some(5.0)), game_and_upload(208.0, 190.0, Some(5.0)));
    let told = |goods: &[[bool; 2]]| {
        let (variants, names) = (numbered(goods.len()), numbered(2 * goods.len()));
        let points = [["rate 5".to_owned()], ["rate 9".to_owned()]];
        let groups: Vec<_> = (0..2 * goods.len())
            .map(|number| Group {
                name: &names[number],
                variant: &variants[number / 2],
                point: &points[number % 2],
                runs: vec![if goods[number / 2][number % 2] { &good } else { &poor }],
            })
            .collect();
        verdict(&groups, &["rate".to_owned()]).sentences.remove(0)
    };
    let (both, one, none) = ([true, true], [true, false], [false, false]);
    assert_eq!(told(&[one, one]), "s1 is good on every test in 1 of 2 settings, s2 in 1.");
    assert_eq!(
        told(&[none, both, one]),
        "s2 does best: good on every test in 2 of 2 settings, s3 in 1, s1 in 0."
    );
    assert!(told(&[one; 8]).starts_with("s1 is good on every test in 1 of 2 settings, s2 in 1, "));
    for goods in [&[one; 9][..], &[none, none], &[one]] {
        let found = told(goods);
        assert!(!found.contains("on every test in"), "{found}");
    }
}

#[test]
fn what_users_notice_is_named_from_five_percent_on_and_is_a_price_from_ten_on() {
    for (after_s, end) in [
        (10.5, "."),
        (10.6, "; but the median web response rises from 10.0 to 10.6 s."),
        (11.0, "; but the median web response rises from 10.0 to 11.0 s."),
        (11.2, "; but the median web response rises from 10.0 to 11.2 s."),
        (9.0, " and the median web response falls from 10.0 to 9.00 s."),
    ] {
        let of = |p90_ms, response_s| {
            let facts = game_and_upload(p90_ms, 18.0, Some(5.0));
            with(facts, &[("response_median_s", response_s)])
        };
        let (full, pie) = (of(208.0, 10.0), of(20.0, after_s));
        let found = first_sentence(&[group("tail", &full), group("PIE", &pie)]);
        let start = if after_s == 11.2 { AT_A_PRICE } else { BETTER };
        let keeps = if after_s > 10.0 { " and the upload keeps its rate" } else { "" };
        let end = if after_s > 10.0 {
            end.to_owned()
        } else {
            ", the median web response falls from 10.0 to 9.00 s and the upload keeps its rate."
                .to_owned()
        };
        assert_eq!(found, format!("{start}{keeps}{end}"), "{after_s}");
    }
}

/// Two settings that differ in the upstream queue alone: its mean and 99 % quantile before and after.
#[test]
fn a_queue_that_grows_is_named_where_packets_wait_longer_than_a_game_may() {
    let of = |p90_ms: f64, [mean_ms, p99_ms]: [f64; 2]| {
        let queue =
            row(&json!({"queue": "upstream", "direction": "up", "sojourn_mean_ms": mean_ms,
            "sojourn_p99_ms": p99_ms}));
        let game = json!({"rtt_p90_ms": p90_ms, "rtt_mean_ms": 18.0,
            "over_20_ms_access_percent": p90_ms, "over_80_ms_round_trip_percent": 0.0,
            "loss_percent": 0.0});
        let mut flows = both_ways("x", "game", &game);
        flows.push(rate("upload", "up", 5.0));
        let rows = Rows { flows, queues: vec![queue], ..Rows::default() };
        Facts::of(&scenario(&format!("{GAME}\n{UPLOAD}")), &rows)
    };
    let told = |before, after| {
        let (full, pie) = (of(60.0, before), of(9.0, after));
        first_sentence(&[group("tail", &full), group("PIE", &pie)])
    };
    for (before, after, what) in [
        ([5.0, 10.0], [5.0, 19.9], None),
        ([5.0, 10.0], [5.0, 20.0], Some("up queue p99 rises from 10.0 to 20.0 ms")),
        // Its grade falls, and says more.
        (
            [25.0, 50.0],
            [40.0, 90.0],
            Some("; but packets wait 40.0 instead of 25.0 ms in the upstream queue"),
        ),
        (
            [40.0, 90.0],
            [25.0, 50.0],
            Some("packets wait 25.0 instead of 40.0 ms in the upstream queue"),
        ),
    ] {
        let found = told(before, after);
        // A grade that falls is a price, and so is a tenth more of a wait that a game feels.
        let is_price = after[1] > before[1] && what.is_some();
        assert!(found.starts_with("PIE does best"), "{found}");
        assert_eq!(found.contains(", at a price:"), is_price, "{found}");
        match what {
            Some(what) => assert!(found.contains(what), "{found}"),
            None => assert!(!found.contains("queue"), "{found}"),
        }
        // The sentence names the game's round trip, and does not repeat its grade.
        assert!(!found.contains("the game"), "{found}");
    }
}

/// What decides is named, and what users notice; other gains are not.
#[test]
fn a_gain_in_the_far_tail_that_decides_nothing_is_not_named() {
    let of = |p90_ms, p99_ms| {
        with(game_and_upload(p90_ms, 18.0, Some(5.0)), &[("game_rtt_p99_ms", p99_ms)])
    };
    let (full, pie) = (of(208.0, 300.0), of(20.0, 30.0));
    let found = first_sentence(&[group("tail", &full), group("PIE", &pie)]);
    assert_eq!(found, format!("{BETTER} and the upload keeps its rate."));
}
