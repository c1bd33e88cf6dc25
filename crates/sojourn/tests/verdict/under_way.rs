//! A measure describes the time in which what it names was under way: idle time before and after changes none.

use super::*;
use sojourn::results::verdict::{Graded, RoundTrip};
use sojourn_testing::at_random;
use sojourn_testing::proptest::prelude::*;

/// Every kind of bulk traffic, with whether its keys say when it stops.
const KINDS: [(&str, bool); 8] = [
    ("kind = 'transfer'", true),
    ("kind = 'transfer', connections = 3", true),
    ("kind = 'transfer', file_bytes = 4_000_000", true),
    ("kind = 'transfer', file_bytes = 1_000_000, pause_s = 1", true),
    ("kind = 'transfer', file_bytes = 1_000_000, every_s = 2", true),
    ("kind = 'stream', purpose = 'data', packet_bytes = 1000, interval_ms = 1", true),
    ("kind = 'torrent', connections = 2", false),
    ("kind = 'on_off', mean_mbps = [6], on_s = [0.3]", false),
];

/// A run of a game beside bulk traffic from a time on, with what is idle before and after it, and its idle line.
fn judged(kind: usize, way: &str, before_s: u32, load_s: u32, after_s: u32) -> Graded {
    let (keys, stops) = KINDS[kind];
    let stop = if stops { format!("stop_s = {}", before_s + load_s) } else { String::new() };
    let found = judged_by_name(&format!(
        "duration_s = {}
         upstream = {{ sustained_mbps = 5, queue.limit_bytes = 60_000 }}
         downstream = {{ sustained_mbps = 5, queue.limit_bytes = 60_000 }}
         servers.near.delay_ms = 9
         traffic.game = {{ kind = 'stream', purpose = 'game' }}
         traffic.bulk = {{ {keys}, direction = '{way}', start_s = {before_s}, {stop} }}",
        before_s + load_s + after_s
    ));
    found.groups.into_iter().next().unwrap()
}

/// What describes the load alone: rates, shares, and the median round trips under load.
fn of_load(one: &Graded) -> (Vec<f64>, Vec<Option<Grade>>) {
    let rates = one.measures.iter().filter(|(key, _)| key.ends_with("mbps"));
    let rates = rates.filter_map(|(_, value)| value.mean);
    let shares = one.transfers.iter().filter_map(|one| one.share.share_percent);
    let RoundTrip { downloading_ms, uploading_ms, both_ms, .. } = one.round_trip.clone().unwrap();
    let trips = [downloading_ms, uploading_ms, both_ms].into_iter().flatten();
    let grades = one.transfers.iter().map(|one| one.grade).collect();
    (rates.chain(shares).chain(trips).collect(), grades)
}

at_random! {
    8;

    #[test]
    fn idle_time_changes_no_measure_of_a_load(
        kind in 0..KINDS.len(), is_up in any::<bool>(), before_s in 1_u32..9, after_s in 1_u32..20,
    ) {
        let (way, has_stop) = (if is_up { "up" } else { "down" }, KINDS[kind].1);
        let alone = judged(kind, way, 0, 12, u32::from(has_stop));
        let later = judged(kind, way, before_s, 12, u32::from(has_stop));
        let trip = later.round_trip.clone().unwrap();
        let is_of = [trip.downloading_ms, trip.uploading_ms, trip.both_ms].map(|ms| ms.is_some());
        prop_assert_eq!(is_of, [!is_up, is_up, false], "{:?}", trip);
        let (first, shifted) = (of_load(&alone), of_load(&later));
        prop_assert_eq!(first.0.len(), shifted.0.len());
        let bound = if has_stop { 0.1 } else { 0.3 };
        for (one, other) in first.0.iter().zip(&shifted.0) {
            prop_assert!((one / other - 1.0).abs() < bound, "{:?} {:?}", first, shifted);
        }
        if has_stop {
            let longer = judged(kind, way, 0, 12, 1 + after_s);
            let longer = of_load(&longer);
            prop_assert_eq!(&first.1, &longer.1);
            // A game whose rate is one over another time leaves a transfer another part, in its fourth digit.
            for (one, other) in first.0.iter().zip(&longer.0) {
                prop_assert!((one / other - 1.0).abs() < 5e-4, "{:?} {:?}", first, longer);
            }
        }
    }

    /// Of buffers for the same files none in which they take longer gives them more of their part.
    #[test]
    fn a_file_that_takes_longer_has_no_more_of_its_part(
        file_kb in 100_u32..4000, pauses in any::<bool>(), is_up in any::<bool>(),
    ) {
        let pause = if pauses { "pause_s = 1" } else { "" };
        let way = if is_up { "up" } else { "down" };
        let mut all: Vec<(f64, f64)> = [4000, 9000, 20_000, 60_000, 256_000].into_iter().map(|bytes| {
            let scenario = loaded(&format!(
                "duration_s = 25
                 upstream = {{ sustained_mbps = 8, queue.limit_bytes = {bytes} }}
                 downstream = {{ sustained_mbps = 8, queue.limit_bytes = {bytes} }}
                 servers.near.delay_ms = 30
                 traffic.file = {{ kind = 'transfer', direction = '{way}', file_bytes = {file_kb}000, {pause} }}"
            ), &[]);
            let rows = Rows::from(&Simulation::run(&scenario));
            let took_s = rows.flows.iter().find_map(|row| row.number("transfer_time_mean_s"));
            let share = &alone(&Facts::of(&scenario, &rows)).groups[0].transfers[0].share;
            (took_s.unwrap_or(25.0), share.share_percent.unwrap())
        }).collect();
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        for pair in all.windows(2).filter(|pair| pair[1].0 > 1.1 * pair[0].0) {
            prop_assert!(pair[1].1 <= pair[0].1, "{:?}", all);
        }
    }
}

/// The download goes on while the upload has ended, and the rate of two uploads is that of the time of either.
#[test]
fn loads_one_after_another_are_measured_one_by_one() {
    let found = judged_by_name(
        "duration_s = 30
         upstream = { sustained_mbps = 5, queue.limit_bytes = 125_000 }
         downstream = { sustained_mbps = 20, queue.limit_bytes = 125_000 }
         servers.near.delay_ms = 9
         traffic.game = { kind = 'stream', purpose = 'game' }
         traffic.up = { kind = 'transfer', stop_s = 8 }
         traffic.more = { kind = 'transfer', start_s = 10, stop_s = 18 }
         traffic.down = { kind = 'transfer', direction = 'down', start_s = 14, stop_s = 25 }",
    );
    let one = &found.groups[0];
    let trip = one.round_trip.clone().unwrap();
    // Full buffers are 200 and 50 ms, in which CUBIC leaves up to three tenths free.
    let between = |ms: Option<f64>, queue_ms: f64| {
        let queued_ms = ms.unwrap() - trip.idle_ms.unwrap();
        (0.65 * queue_ms..1.02 * queue_ms).contains(&queued_ms)
    };
    assert!(between(trip.uploading_ms, 200.0) && between(trip.downloading_ms, 50.0), "{trip:?}");
    assert!(between(trip.both_ms, 250.0) && trip.letter == Some("C"), "{trip:?}");
    let mbps = |key| one.measures[key].mean.unwrap();
    assert!((mbps("upload_mbps") / 5.0 - 1.0).abs() < 0.06, "{}", mbps("upload_mbps"));
    // Its acknowledgements wait behind the upload for 4 of 11 s; over the whole run it would be 5.2.
    assert!((13.0..20.6).contains(&mbps("download_mbps")), "{}", mbps("download_mbps"));
}
