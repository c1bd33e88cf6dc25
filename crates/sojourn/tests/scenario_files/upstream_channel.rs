//! What is refused of the upstream channel that modems share, and of congestion in its place.

use super::SMALL;
use super::only;
use super::refusals::{assert_last_refused, refusal_of};

const SHARED: &str = "upstream.modem.kind=shared_channel";

#[test]
fn keys_that_belong_to_a_channel_of_one_s_own() {
    for set in [
        "upstream.mac.map_interval_ms=1",
        "upstream.shaping=requests",
        "upstream.congestion.steps=[{ for_s = 1, mbps = 2 }]",
    ] {
        let key = set.split(['=', '.']).nth(1).unwrap();
        assert_eq!(
            refusal_of(&[SHARED, set]),
            format!(
                "--set {set}: upstream.{key}: found with a modem of kind shared_channel, whose \
                 MAC is set in upstream_channel; allowed: only with kind single_queue or two_queues"
            )
        );
    }
    only(SMALL, &[SHARED, "upstream_channel.phy.kind=ofdma"]);
}

#[test]
fn a_channel_that_carries_nothing() {
    let set = "upstream_channel.request_opportunities=320";
    assert_last_refused(
        &[SHARED, set],
        "found 320: the request region takes 640 of the 640 minislots of a MAP interval; \
         allowed: fewer, so that a grant fits",
    );
    only(SMALL, &[SHARED, "upstream_channel.request_opportunities=318"]);
    let set = "upstream_channel.backoff_end=1";
    assert_last_refused(&[SHARED, set], "found 1; allowed: 2 or more, the value of backoff_start");
}

#[test]
fn congestion_in_levels_or_in_steps() {
    let steps = "upstream.congestion.steps=[{ for_s = 1, mbps = 2 }]";
    only(SMALL, &[steps]);
    let set = "upstream.congestion={}";
    assert_last_refused(&[set], "found neither levels_mbps nor steps; allowed: one of them");
    let levels = "upstream.congestion.levels_mbps=[1, 2, 3, 4]";
    assert_eq!(
        refusal_of(&[steps, levels]),
        format!(
            "--set {levels}: upstream.congestion: found both levels_mbps and steps; allowed: one \
             of them"
        )
    );
}
