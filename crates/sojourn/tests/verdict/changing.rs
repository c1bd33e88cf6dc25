//! What a longer run may say otherwise: the first half of a run beside the whole.

use super::*;
use sojourn::Results;
use sojourn::results::metrics::rows::FirstHalfRow;

/// What the table of the first half says a run had, had it ended there.
fn of_half(
    results: &Results,
    table: &str,
    name: &str,
    direction: &str,
    column: &str,
) -> Option<f64> {
    let mut rows = results.first_half.iter();
    let is_it = |row: &&FirstHalfRow| {
        (row.table, row.name.as_str(), row.direction, row.column)
            == (table, name, direction, column)
    };
    rows.find(is_it).map(|row| row.value)
}

/// The law of the table: its values are those of a run of half the time.
#[test]
fn the_first_half_is_a_run_of_half_the_time() {
    for from_s in [0.0, 3.0] {
        let text = |duration_s: f64| {
            format!(
                "duration_s = {duration_s}
                 metrics.from_s = {from_s}
                 upstream = {{ sustained_mbps = 10, queue.law.kind = 'docsis_pie' }}
                 downstream.sustained_mbps = 50
                 servers.near.delay_ms = 9
                 traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}
                 traffic.call = {{ kind = 'stream', purpose = 'voice', server = 'near' }}
                 traffic.meet = {{ kind = 'video_call', server = 'near' }}
                 traffic.film = {{ kind = 'video', server = 'near' }}
                 traffic.up = {{ kind = 'transfer', server = 'near', start_s = 1 }}
                 traffic.file = {{ kind = 'transfer', server = 'near', direction = 'down', file_bytes = 9_000_000 }}"
            )
        };
        let [whole, half] = [from_s + 24.0, from_s + 12.0]
            .map(|duration_s| Simulation::run(&loaded(&text(duration_s), &[])));
        let rows = Rows::from(&half);
        let tables = [("flows", "traffic", rows.flows), ("queues", "queue", rows.queues)];
        let mut seen = 0;
        for (table, name, rows) in tables {
            for row in rows {
                for (column, value) in &row.0 {
                    let place = (row.text(name), row.text("direction"));
                    if let Some(found) = of_half(&whole, table, place.0, place.1, column) {
                        assert_eq!(Some(found), value.as_f64(), "{table} {place:?} {column}");
                        seen += 1;
                    }
                }
            }
        }
        assert_eq!(seen, whole.first_half.len());
        assert!(seen > 60, "{seen}");
    }
}

fn of_halves(game: [f64; 2], upload_percent: [f64; 2]) -> Verdict {
    alone(&half_facts(game, upload_percent))
}

/// A game and an upload of which the first half is known.
fn half_facts(game: [f64; 2], upload_percent: [f64; 2]) -> Facts {
    let mbps = upload_percent.map(|percent| 310.0 / 60.0 * percent / 100.0);
    let values = json!({"over_20_ms_access_percent": game[1], "over_80_ms_round_trip_percent": 0.0,
        "rtt_p90_ms": 25.0, "loss_percent": 0.0});
    let flows = [both_ways("x", "game", &values), vec![rate("up", "up", mbps[1])]].concat();
    let early = |name: &str, direction: &str, column: &str, value: f64| {
        row(
            &json!({"table": "flows", "name": name, "direction": direction, "column": column, "value": value}),
        )
    };
    let game_early = ["up", "down"].into_iter().flat_map(|way| {
        let values = [
            ("over_20_ms_access_percent", game[0]),
            ("over_80_ms_round_trip_percent", 0.0),
            ("rtt_p90_ms", 25.0),
            ("loss_percent", 0.0),
        ];
        values.map(|(column, value)| early("x", way, column, value))
    });
    // The burst of 10 Mbit is a part of the first half alone.
    let early_mbps = mbps[0] * (160.0 / 30.0) / (310.0 / 60.0);
    let first_half = game_early.chain([early("up", "up", "rate_mbps", early_mbps)]).collect();
    let traffic = format!("{GAME}\ntraffic.up = {{ kind = 'transfer', server = 'near' }}");
    Facts::of(&scenario(&traffic), &Rows { flows, first_half, ..Rows::default() })
}

/// What is still changing, by application.
fn changing(found: &Verdict) -> Vec<(&'static str, Vec<&'static str>)> {
    let all = found.groups[0].assessments.iter();
    all.filter(|one| !one.changing.is_empty())
        .map(|one| (one.application, one.changing.clone()))
        .collect()
}

#[test]
fn a_value_is_still_changing_that_moves_far_or_towards_another_grade() {
    const OVER_20: &str = "over_20_ms_access_percent";
    let share = |percent| changing(&of_halves([1.0, 1.0], percent));
    let over = |percent| changing(&of_halves(percent, [96.0, 96.0]));
    assert_eq!(share([96.0, 96.0]), []);
    // By more than a tenth of the nearest bound.
    assert_eq!(share([99.0, 89.5]), [("upload", vec!["share_percent"])]);
    assert_eq!(share([58.0, 65.0]), [("upload", vec!["share_percent"])]);
    assert_eq!(share([70.0, 80.0]), [("upload", vec!["share_percent"])]);
    // A grade that was another, or will be another one.
    assert_eq!(share([91.9, 89.5]), [("upload", vec!["share_percent"])]);
    assert_eq!(share([86.0, 88.5]), [("upload", vec!["share_percent"])]);
    // What is far from a bound may move by a tenth of itself.
    assert_eq!(share([99.0, 96.0]), []);
    assert_eq!(over([97.9, 99.0]), []);
    assert_eq!(over([3.0, 3.9]), []);
    assert_eq!(over([3.0, 4.2]), [("game", vec![OVER_20])]);
    assert_eq!(over([30.0, 40.0]), [("game", vec![OVER_20])]);
    // Without a first half nothing is.
    let none =
        Rows { flows: both_ways("x", "game", &json!({"rtt_p90_ms": 25.0})), ..Rows::default() };
    assert_eq!(changing(&alone(&Facts::of(&scenario(GAME), &none))), []);
}

#[test]
fn what_is_still_changing_is_said_with_both_values() {
    let found = of_halves([1.0, 1.0], [70.0, 80.0]);
    let said = "Still changing, so run longer: the upload's share was 70.0 % of its part of the line in the first half of \
                the run and is 80.0 in all.";
    assert!(found.sentences.contains(&said.to_owned()), "{:?}", found.sentences);
    // Of settings that say the same it is said once.
    let facts = half_facts([1.0, 1.0], [70.0, 80.0]);
    let both = verdict(&[group("a", &facts), group("b", &facts)], &[]).sentences;
    assert!(both.contains(&said.replace(".0 in all.", ".0 in all with a and b.")), "{both:?}");
    let upload = found.groups[0].assessments.iter().find(|one| one.application == "upload");
    assert!((upload.unwrap().first_half["share_percent"].unwrap() - 70.0).abs() < 1e-9);
    // What keeps its grade on both sides is for programs alone.
    for percents in [[80.0, 80.0], [58.0, 65.0]] {
        let steady = of_halves([1.0, 1.0], percents);
        assert!(!steady.sentences.iter().any(|one| one.contains("Still changing")), "{steady:?}");
    }
}

/// Where one setting does best, a longer run may change that if it becomes worse, or the one that it is compared with better.
#[test]
fn what_changes_is_said_where_it_may_change_the_answer() {
    let said = |best: [f64; 2], other: [f64; 2]| {
        let [best, other] = [best, other].map(|percents| half_facts([1.0, 1.0], percents));
        let found = verdict(&[group("a", &other), group("b", &best)], &[]);
        assert_eq!(found.answers[0].best, [1]);
        let changing = found.sentences.into_iter().find(|one| one.starts_with("Still changing"));
        ["with a", "with b"].map(|with| changing.as_ref().is_some_and(|it| it.contains(with)))
    };
    assert_eq!(said([99.0, 99.0], [45.0, 60.0]), [true, false]);
    assert_eq!(said([99.0, 99.0], [75.0, 60.0]), [false, false]);
    assert_eq!(said([75.0, 92.0], [60.0, 60.0]), [false, false]);
    assert_eq!(said([99.0, 89.0], [60.0, 60.0]), [false, true]);
}

/// A load that ends, or begins late, makes the halves differ however long the run is; one that goes on does not.
#[test]
fn halves_with_other_loads_are_not_compared() {
    for (keys, is_compared) in [
        ("", true),
        ("start_s = 1", true),
        ("stop_s = 9", false),
        ("start_s = 15", false),
        ("file_bytes = 5_000_000", false),
        ("file_bytes = 500_000, pause_s = 1", true),
    ] {
        let scenario = loaded(
            &format!(
                "duration_s = 24
                 upstream.sustained_mbps = 10
                 downstream.sustained_mbps = 50
                 servers.near.delay_ms = 9
                 traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}
                 traffic.up = {{ kind = 'transfer', server = 'near', {keys} }}"
            ),
            &[],
        );
        let facts = Facts::of(&scenario, &Rows::from(&Simulation::run(&scenario)));
        let assessed = &alone(&facts).groups[0].assessments;
        assert_eq!(assessed.iter().any(|one| !one.first_half.is_empty()), is_compared, "{keys}");
    }
}

/// What a sentence calls changing has changed: of a call that fails from the beginning its loss, and not its MOS.
#[test]
fn what_changes_is_named_by_the_value_that_does() {
    let early = |way: &str, (column, value): (&str, f64)| {
        row(
            &json!({"table": "flows", "name": "x", "direction": way, "column": column, "value": value}),
        )
    };
    let of = |half: [f64; 2], whole: [f64; 2]| {
        let call =
            |[mos, lost]: [f64; 2]| [("mos", mos), ("loss_percent", lost), ("late_percent", 0.0)];
        let first_half = ["up", "down"].iter().flat_map(|way| call(half).map(|it| early(way, it)));
        let [mos, lost, late] = call(whole).map(|one| one.1);
        let flows = both_ways(
            "x",
            "voice",
            &json!({"mos": mos, "loss_percent": lost, "late_percent": late}),
        );
        let rows = Rows { flows, first_half: first_half.collect(), ..Rows::default() };
        let found = alone(&Facts::of(&scenario(&GAME.replace("game", "voice")), &rows)).sentences;
        found.into_iter().find(|said| said.starts_with("Still changing"))
    };
    let said = "Still changing, so run longer: the call's loss was 27.0 % in the first half of the run and is 66.0 in all.";
    assert_eq!(of([1.0, 27.0], [1.0, 66.0]).as_deref(), Some(said));
    let said = "Still changing, so run longer: the call's MOS was 4.30 in the first half of the run and is 3.90 in all.";
    assert_eq!(of([4.3, 0.0], [3.9, 0.0]).as_deref(), Some(said));
    assert_eq!(of([1.0, 66.0], [1.0, 66.0]), None);
}
