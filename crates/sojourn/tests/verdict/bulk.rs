//! Bulk traffic of several sorts, directions and homes: its words, and what it gets.

use super::*;

/// Bulk traffic: its name, direction and rate.
type Bulk<'a> = (&'a str, &'a str, f64);

/// The facts of a game at this latency beside transfers.
fn game_and(p90_ms: f64, bulk: &[Bulk<'_>]) -> Facts {
    let goes = |way: &str| bulk.iter().any(|(_, other, _)| *other == way);
    let load = match (goes("up"), goes("down")) {
        (true, true) => "both",
        (true, false) => "up",
        (false, true) => "down",
        (false, false) => "idle",
    };
    let [mean, median] = ["mean", "p50"].map(|of| format!("rtt_{load}_{of}_ms"));
    let game = json!({"rtt_p90_ms": p90_ms, mean: p90_ms, median: p90_ms,
        "over_20_ms_access_percent": 0.0, "over_80_ms_round_trip_percent": 0.0,
        "loss_percent": 0.0});
    let mut flows = both_ways("x", "game", &game);
    let mut traffic = GAME.to_owned();
    for (name, way, mbps) in bulk {
        flows.push(rate(name, way, *mbps));
        let kind = match name.split('_').next() {
            Some("torrent") => "kind = 'torrent', servers = ['near']",
            Some("data") => "kind = 'stream', purpose = 'data', server = 'near'",
            _ => "kind = 'transfer', server = 'near'",
        };
        traffic.push_str(&format!("\ntraffic.{name} = {{ {kind}, direction = '{way}' }}"));
    }
    of_flows(&traffic, flows)
}

/// The first sentence of a run beside its idle line.
fn beside_idle(bulk: &[Bulk<'_>]) -> String {
    let (loaded, idle) = (game_and(20.0, bulk), game_and(10.0, &[]));
    first_sentence(&[group("", &loaded), group("idle line", &idle)])
}

#[test]
fn bulk_traffic_is_named_by_sort_and_by_direction_where_it_goes_both_ways() {
    for (bulk, who) in [
        (&[("one", "up", 4.0)][..], "The upload makes"),
        (&[("one", "up", 4.0), ("two", "up", 1.0)], "The uploads make"),
        (&[("one", "down", 9.0), ("two", "up", 4.0)], "The upload and the download make"),
        (&[("torrent_one", "down", 9.0), ("torrent_two", "up", 4.0)], "The torrents make"),
        (&[("torrent", "down", 9.0), ("two", "up", 4.0)], "The upload and the torrent make"),
        // Data is data, however much of it there is.
        (&[("data_one", "up", 1.0), ("data_two", "up", 1.0)], "The data traffic makes"),
        (&[("data_one", "down", 1.0), ("data_two", "up", 1.0)], "The data traffic makes"),
        (
            &[("data_one", "down", 1.0), ("one", "down", 9.0)],
            "The data traffic and the download make",
        ),
    ] {
        let said = beside_idle(bulk);
        assert!(said.starts_with(&format!("{who} the game 2.0 times slower")), "{said}");
    }
}

/// A letter and its numbers: what has no load is not measured.
#[test]
fn a_direction_without_load_has_no_round_trip() {
    let idle = game_and(23.0, &[]);
    let numbers = |bulk: &[Bulk<'_>]| {
        let (one, idle_line) = (game_and(24.0, bulk), group("idle line", &idle));
        let found = verdict(&[group("", &one), idle_line], &[]).groups;
        let is_idle = found[1].is_idle_line;
        assert_eq!(found[1].round_trip.is_none(), is_idle);
        let trip = found[0].round_trip.clone().unwrap();
        assert_eq!(trip.letter, is_idle.then_some("A+"));
        [trip.idle_ms, trip.downloading_ms, trip.uploading_ms, trip.both_ms]
    };
    let (up, down) = (("up", "up", 4.0), ("data_down", "down", 1.0));
    assert_eq!(numbers(&[]), [Some(24.0), None, None, None]);
    assert_eq!(numbers(&[up]), [Some(23.0), None, Some(24.0), None]);
    assert_eq!(numbers(&[down]), [Some(23.0), Some(24.0), None, None]);
    assert_eq!(numbers(&[up, down]), [Some(23.0), None, None, Some(24.0)]);
    let none = facts(GAME, "game", &json!({"rtt_p90_ms": 20.0}));
    assert_eq!(alone(&none).groups[0].round_trip, None);
}
