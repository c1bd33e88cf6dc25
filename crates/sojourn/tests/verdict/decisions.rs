//! What decides between settings, and what does not.

use super::*;

/// Two settings in either order, of which the second is best by its response.
fn second_is_best(one: &Facts, two: &Facts) {
    for groups in [[group("one", one), group("two", two)], [group("two", two), group("one", one)]] {
        let found = verdict(&groups, &[]);
        assert!(found.sentences[0].starts_with("two does best"), "{:?}", found.sentences);
    }
}

#[test]
fn what_is_good_in_both_is_no_complaint() {
    let of = |p90_ms, response_s| {
        let facts = game_and_upload(p90_ms, 10.0, Some(5.0));
        with(facts, &[("response_median_s", response_s)])
    };
    second_is_best(&of(12.0, 10.0), &of(15.0, 5.0));
}

#[test]
fn what_users_notice_decides_before_its_far_tail_and_that_before_queues() {
    let of = |page_s, p99_ms, queue_ms| {
        let facts = call_and_uploads(4.3, page_s, &[("up", 5.0)], 1);
        with(facts, &[("game_rtt_p99_ms", p99_ms), ("classic_queue_p99_ms", queue_ms)])
    };
    second_is_best(&of(2.0, 40.0, 20.0), &of(1.0, 60.0, 90.0));
    second_is_best(&of(1.0, 60.0, 20.0), &of(1.0, 40.0, 90.0));
}

/// Rates of another number of transfers are no totals to compare.
#[test]
fn sums_over_other_transfers_decide_nothing() {
    let uploads = |b_mbps| game_and_uploads(12.0, 10.0, &[("a", 5.0), ("b", b_mbps)]);
    let (both, one) = (uploads(5.0), uploads(0.0));
    assert_eq!(verdict(&[group("both", &both), group("one", &one)], &[]).best, None);
    let less = uploads(2.0);
    assert_eq!(verdict(&[group("both", &both), group("less", &less)], &[]).best, Some(0));
}

/// Against the first that is given, which is the state of today; where that is best itself, against the worst.
#[test]
fn the_best_is_held_against_the_first_or_else_the_worst() {
    let [good, fair, poor] =
        [12.0, 30.0, 200.0].map(|p90_ms| game_and_upload(p90_ms, 10.0, Some(5.0)));
    for (runs, want) in [
        ([&good, &fair, &poor], (0, 2)),
        ([&good, &poor, &fair], (0, 1)),
        ([&fair, &good, &poor], (1, 0)),
        ([&poor, &good, &fair], (1, 0)),
        ([&fair, &poor, &good], (2, 0)),
    ] {
        let groups: Vec<_> =
            ["a", "b", "c"].into_iter().zip(runs).map(|(n, f)| group(n, f)).collect();
        let found = verdict(&groups, &[]);
        assert_eq!((found.best, found.reference), (Some(want.0), Some(want.1)));
    }
}

#[test]
fn the_question_tells_the_most_seeds_that_a_setting_has() {
    let (one, three) = (games([12.0]), games([30.0, 31.0, 29.0]));
    for groups in [[seeds("a", &one), seeds("b", &three)], [seeds("b", &three), seeds("a", &one)]] {
        let found = verdict(&groups, &[]).question;
        assert!(found.ends_with(" (mean of 3 seeds)?"), "{found}");
    }
    let found = verdict(&[seeds("a", &one), group("b", &one[0])], &[]).question;
    assert!(!found.contains("mean"), "{found}");
}
