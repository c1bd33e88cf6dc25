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
