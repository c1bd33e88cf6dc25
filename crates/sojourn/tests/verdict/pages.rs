//! Pages that were still loading when the run ended.

use super::*;

/// A run of these keys and pages, which begin at a time and take a time.
fn run(keys: &str, sets: &[&str], pages: &[(f64, f64)]) -> (Scenario, Rows) {
    let web = "kind = 'web', servers = ['near'], objects = { kind = 'fixed' }";
    let page = |(start, took): &(f64, f64)| {
        row(&json!({"traffic": "x", "start_s": start, "load_time_s": took}))
    };
    let flow = row(&json!({"traffic": "x", "quality": "pages", "direction": "down"}));
    let pages = pages.iter().map(page).collect();
    let rows = Rows { flows: vec![flow], pages, ..Rows::default() };
    (scenario_of(&format!("traffic.x = {{ {web}, {keys} }}"), sets), rows)
}

#[test]
fn a_user_opens_the_next_page_a_pause_after_the_last_one_was_loaded() {
    let of = |keys: &str, sets: &[&str], pages: &[(f64, f64)]| {
        let (scenario, rows) = run(keys, sets, pages);
        unfinished_s(&scenario, &rows, "x")
    };
    // From 10 to 12 and from 16 to 19: the next one begins at 23 and has had 37 s of 60.
    let (one, pages) = ("users = 1, pause_s = 4", [(10.0, 2.0), (16.0, 3.0)]);
    assert_eq!(of(one, &[], &pages), [37.0]);
    assert_eq!(of(one, &["metrics.from_s=23"], &pages), [37.0]);
    assert_eq!(of(one, &["metrics.from_s=23.5"], &pages), [0.0; 0]);
    assert_eq!(of(one, &["duration_s=23"], &pages), [0.0; 0]);
    // Two users in each of three homes, of whom one has loaded a page: the others begin by 3 + 1 s.
    let many = "users = 2, pause_s = 3600, start_s = 3, start_spread_s = 1";
    assert_eq!(of(many, &["homes.ours.count=3"], &[(3.5, 2.0)]), [56.0; 5]);
    assert_eq!(of(many, &[], &[(3.2, 2.0), (3.5, 2.0)]), [0.0; 0]);
}

#[test]
fn a_page_that_did_not_end_counts_where_it_makes_the_median_longer() {
    let of = |keys: &str, sets: &[&str], pages: &[(f64, f64)]| {
        let (scenario, rows) = run(keys, sets, pages);
        let facts = Facts::of(&scenario, &rows);
        let found = only(&facts);
        (facts.measures["page_load_median_s"], found.grade.is_some(), found.summary)
    };
    let few = "fewer than two pages were loaded";
    let counted = "half of the pages are not loaded when the run ends";
    // One page of 2 s, and one that has had 60 - 12 - pause.
    for (pause_s, median_s, summary) in
        [(47.0, Some(2.0), few), (46.0, Some(2.0), few), (45.0, None, counted)]
    {
        let keys = format!("users = 1, pause_s = {pause_s}");
        let (median, is_graded, said) = of(&keys, &[], &[(10.0, 2.0)]);
        assert_eq!((median, said.as_str()), (median_s, summary), "{pause_s}");
        // One that takes so long at least may take longer: it is not known to be good.
        assert!(!is_graded);
    }
    // Without a loaded page, or with one, a grade needs one that takes longer than 6.9 s.
    let none = "users = 1, pause_s = 3600";
    assert!(!of(none, &["duration_s=6.9"], &[]).1);
    assert_eq!(of(none, &["duration_s=7"], &[]), (None, true, counted.to_owned()));
    for (took_s, is_graded) in [(6.9, false), (7.0, true)] {
        assert_eq!(of(none, &[], &[(10.0, took_s)]).1, is_graded, "{took_s}");
    }
}

/// Where every value that the median may have is of one grade, that is known, and half of the pages are said to be not loaded
/// where they are.
#[test]
fn a_grade_is_known_where_the_median_is_on_one_side_of_its_bounds() {
    // A user loads four pages one after another, and has waited for a fifth until 60 s.
    let of = |took_s: [f64; 4], had_s: f64| {
        let mut next_s = 60.0 - had_s;
        let back = took_s.iter().rev().map(|took_s| {
            next_s -= 1.0 + took_s;
            (next_s, *took_s)
        });
        let (scenario, rows) = run("users = 1, pause_s = 1", &[], &back.collect::<Vec<_>>());
        let found = only(&Facts::of(&scenario, &rows));
        (found.grade, found.summary)
    };
    let between = |from: &str, to: &str| {
        format!(
            "the median page load is between {from} and {to} s, since not all had come when the run ended"
        )
    };
    // The third of five is the last one, or what is longer than that.
    let long = [7.99, 4.33, 2.66, 1.01];
    assert_eq!(of(long, 4.0), (Some(Grade::Fair), between("4.00", "4.33")));
    assert_eq!(
        of(long, 4.4),
        (Some(Grade::Fair), "half of all pages load within 4.3 s".to_owned())
    );
    // Fair is from 3.3 s on.
    assert_eq!(of([3.6, 3.5, 3.0, 3.0], 3.26), (None, between("3.26", "3.50")));
    assert_eq!(of([3.6, 3.29, 3.0, 3.0], 3.26), (Some(Grade::Good), between("3.26", "3.29")));
}

/// No table has the number of what had not come with the best, so that the answer says so.
#[test]
fn what_had_not_come_with_the_best_is_said() {
    let of = |p90_ms: f64| {
        let game = json!({"over_20_ms_access_percent": p90_ms, "over_80_ms_round_trip_percent": 0.0,
            "rtt_p90_ms": p90_ms, "loss_percent": 0.0});
        let (_, mut rows) = run("users = 1", &[], &[]);
        rows.flows.extend(both_ways("g", "game", &game));
        let pages = PAGES.replace("users = 2", "users = 1");
        let traffic = format!("{pages}\n{}", GAME.replace("traffic.x", "traffic.g"));
        // The user begins by 1 s: 7 s are poor, and no failure yet.
        Facts::of(&scenario_of(&traffic, &["duration_s=8"]), &rows)
    };
    let (slow, fast) = (of(60.0), of(5.0));
    let found = verdict(&[group("slow", &slow), group("fast", &fast)], &[]);
    assert!(found.sentences[0].starts_with("fast does best"), "{found:?}");
    let said = "With fast, half of the pages are not loaded when the run ends.";
    assert!(found.sentences.contains(&said.to_owned()), "{:?}", found.sentences);
}
