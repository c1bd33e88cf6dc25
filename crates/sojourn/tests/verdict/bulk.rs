//! Bulk traffic of several sorts, directions and homes: its words, and what it gets.

use super::*;

/// Bulk traffic: its name, direction and rate.
type Bulk<'a> = (&'a str, &'a str, f64);

/// The facts of a game at this latency beside transfers.
fn game_and(p90_ms: f64, bulk: &[Bulk<'_>]) -> Facts {
    let game = json!({"rtt_p90_ms": p90_ms, "rtt_mean_ms": p90_ms,
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
        (
            &[("torrent_one", "down", 9.0), ("torrent_two", "up", 4.0)],
            "The torrent up and the torrent down make",
        ),
        (&[("torrent", "down", 9.0), ("two", "up", 4.0)], "The upload and the torrent make"),
        // Data is data, however much of it there is.
        (&[("data_one", "up", 1.0), ("data_two", "up", 1.0)], "The data traffic makes"),
        (
            &[("data_one", "down", 1.0), ("data_two", "up", 1.0)],
            "The data traffic up and the data traffic down make",
        ),
        (
            &[("data_one", "down", 1.0), ("one", "down", 9.0)],
            "The data traffic and the download make",
        ),
    ] {
        let told = beside_idle(bulk);
        assert!(told.starts_with(&format!("{who} the game 2.0 times slower")), "{told}");
    }
}

#[test]
fn what_a_sum_loses_is_not_told_of_its_transfers_again() {
    let told = |before: &[Bulk<'_>], after: &[Bulk<'_>]| {
        let (full, pie) = (game_and(20.0, before), game_and(12.0, after));
        first_sentence(&[group("tail", &full), group("PIE", &pie)])
    };
    let start = "against tail, game RTT p90 falls from 20.0 to 12.0 ms";
    let of = |a, b, get| [("a", "up", a), ("b", "up", b), ("get", "down", get)];
    for (after, want) in [
        (
            of(400.0, 400.0, 100.0),
            "PIE does best, at a price: {start} and the download keeps its rate; but the uploads keep 80 % of \
             their rate (800 of 1000 Mbps).",
        ),
        // The uploads hide what one of them loses, and the download is a price by itself.
        (
            of(400.0, 600.0, 80.0),
            "PIE does best, at a price: {start} and the uploads keep their rate; but the download keeps 80 % of \
             its rate (80.0 of 100 Mbps) and a keeps 80 % of its rate (400 of 500 Mbps).",
        ),
    ] {
        let found = told(&of(500.0, 500.0, 100.0), &after);
        assert_eq!(found, want.replace("{start}", start));
    }
}

#[test]
fn an_upload_of_several_homes_is_a_plural_and_their_number_is_a_load() {
    let of = |p90_ms: f64, homes: u16, mbps: f64| {
        let traffic = format!(
            "homes.ours = {{}}\nhomes.theirs.count = {homes}
             traffic.x = {{ kind = 'stream', purpose = 'game', server = 'near', home = 'ours' }}
             traffic.up = {{ kind = 'transfer', server = 'near', home = 'theirs' }}"
        );
        let mut flows = both_ways("x", "game", &json!({"rtt_p90_ms": p90_ms}));
        flows.push(rate("up", "up", mbps));
        of_flows(&traffic, flows)
    };
    let told = |(before, after): ((u16, f64), (u16, f64))| {
        let (full, pie) = (of(20.0, before.0, before.1), of(12.0, after.0, after.1));
        verdict(&[group("tail", &full), group("PIE", &pie)], &[]).sentences
    };
    let found = told(((3, 12.0), (3, 12.0)));
    assert!(found[0].ends_with(" and the uploads keep their rate."), "{found:?}");
    // Another number of homes is another load.
    let found = told(((3, 12.0), (2, 12.0)));
    assert!(found[0].starts_with("The load differs, which is no choice"), "{found:?}");
}
