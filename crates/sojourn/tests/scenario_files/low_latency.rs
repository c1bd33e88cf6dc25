//! What is refused of queues with a low-latency part: DualQ, and the aggregates of Low Latency DOCSIS.

use super::refusals::{assert_last_refused, refusal, refusal_of};
use super::{SMALL, only};

const LOW_LATENCY: &str = "upstream.queue.scheduler.kind=low_latency";
const DUALQ: &str = "upstream.queue.scheduler.kind=dualq";

#[test]
fn a_law_beside_a_scheduler_that_has_its_own() {
    let law = "upstream.queue.law.kind=codel";
    for (kind, set) in [("low_latency", LOW_LATENCY), ("dualq", DUALQ)] {
        assert_eq!(
            refusal_of(&[law, set]),
            format!(
                "--set {set}: upstream.queue.scheduler.kind: found {kind} with a law; allowed: {kind} \
                 alone, since it has AQM algorithms of its own"
            )
        );
    }
}

#[test]
fn drops_of_arrivals_are_those_of_linux() {
    let set = "upstream.queue.scheduler.drop_early=true";
    only(SMALL, &[DUALQ, "upstream.queue.scheduler.variant=linux", set]);
    assert_last_refused(
        &[DUALQ, set],
        "found true with variant rfc9332, which signals as packets leave; allowed: false, or \
         variant linux",
    );
}

#[test]
fn numbers_out_of_range() {
    let scheduler = "upstream.queue.scheduler";
    for (kind, key, value, allowed) in [
        (LOW_LATENCY, "coupling", "25.5", "a number from 0 to 25.4"),
        (LOW_LATENCY, "coupling", "-1", "a number from 0 to 25.4"),
        (LOW_LATENCY, "weight", "0", "a whole number from 1 to 255"),
        (LOW_LATENCY, "weight", "256", "a whole number from 1 to 255"),
        (LOW_LATENCY, "low_latency_range_exponent", "26", "a whole number from 0 to 25"),
        (LOW_LATENCY, "dscp.0", "64", "a whole number from 0 to 63"),
        (DUALQ, "coupling", "25.5", "a number from 0.1 to 25.4"),
        (DUALQ, "classic_weight_percent", "0", "a number from 0.1 to 99.9"),
    ] {
        let (key, set) = match key.strip_suffix(".0") {
            Some(list) => (key, format!("{scheduler}.{list}=[{value}]")),
            None => (key, format!("{scheduler}.{key}={value}")),
        };
        assert_eq!(
            refusal_of(&[kind, &set]),
            format!("--set {set}: {scheduler}.{key}: found {value}; allowed: {allowed}")
        );
    }
}

#[test]
fn buffers_that_hold_no_packet() {
    let set = "upstream.queue.scheduler.classic_buffer_bytes=2000";
    only(SMALL, &[LOW_LATENCY, set]);
    let large = "[traffic.jumbo]\nkind = 'stream'\npurpose = 'data'\nserver = 'files'\n\
                 packet_bytes = 9000\n[upstream.queue.scheduler]\nkind = 'low_latency'\n\
                 classic_buffer_bytes = 8000\n";
    assert_eq!(
        refusal(&format!("{SMALL}{large}")),
        "home.toml: upstream.queue.scheduler.classic_buffer_bytes: found 8000; allowed: 9000 or more, \
         so that one packet fits"
    );
}

/// The small scenario with proactive grants of this rate.
fn proactive(mbps: f64) -> String {
    format!(
        "{SMALL}[upstream.scheduling]\nkind = 'proactive_grants'\n\
         guaranteed_grant_rate_mbps = {mbps}\n"
    )
}

#[test]
fn proactive_grants_without_a_low_latency_flow() {
    assert_eq!(
        refusal(&proactive(1.0)),
        "home.toml: upstream.scheduling.kind: found proactive_grants without a low-latency flow; \
         allowed: only with queue.scheduler.kind = \"low_latency\""
    );
    let low_latency = "[upstream.queue]\nscheduler.kind = 'low_latency'\n";
    only(&format!("{}{low_latency}", proactive(1.0)), &[]);
    assert_eq!(
        refusal(&format!(
            "{SMALL}{low_latency}[upstream.scheduling]\nkind = 'real_time_polling'\n\
                          nominal_polling_interval_us = 1000\n"
        )),
        "home.toml: upstream.scheduling.kind: found with queue.scheduler.kind = \"low_latency\"; \
         allowed: best_effort, proactive_grants"
    );
}

#[test]
fn a_member_faster_than_its_aggregate() {
    let low_latency = "[upstream.queue]\nscheduler.kind = 'low_latency'\n";
    assert_eq!(
        refusal(&format!("{}{low_latency}", proactive(5.5))),
        "home.toml: upstream.scheduling.guaranteed_grant_rate_mbps: found 5.5; allowed: 5 or less, the \
         value of sustained_mbps"
    );
}

#[test]
fn own_rates_of_members() {
    let rate = "upstream.queue.scheduler.low_latency_mbps=5.5";
    assert_last_refused(
        &[LOW_LATENCY, rate],
        "found 5.5; allowed: 5 or less, the rate of the aggregate",
    );
    let rate = "upstream.queue.scheduler.classic_mbps=4";
    only(SMALL, &[LOW_LATENCY, rate]);
    let link = "upstream.modem.kind=link";
    let message = refusal_of(&[LOW_LATENCY, rate, link]);
    assert!(
        message.ends_with(
            "upstream.queue.scheduler.classic_mbps: found where nobody requests bandwidth; allowed: \
             only upstream with modem.kind = \"single_queue\""
        ),
        "{message}"
    );
}

#[test]
fn acknowledgements_apart_from_an_aggregate() {
    let acks = "upstream.queue.acks=prioritised";
    assert_last_refused(
        &[LOW_LATENCY, acks],
        "found with the scheduler low_latency; allowed: unset, since its flows have queues of \
         their own",
    );
}

#[test]
fn an_ecn_field_of_tcp() {
    let set = "traffic.upload.ecn=ect1";
    assert_last_refused(
        &[set],
        "found in an entry that uses TCP; allowed: only where datagrams are sent, since TCP \
         chooses its own",
    );
    let stream =
        "[traffic.game]\nkind = 'stream'\npurpose = 'game'\nserver = 'files'\necn = 'ce'\n";
    assert_eq!(
        refusal(&format!("{SMALL}{stream}")),
        "home.toml: traffic.game.ecn: found \"ce\"; allowed: not_ect, ect0, ect1"
    );
}
