//! Where the time goes.

use super::*;

/// What stands without bulk traffic is a queue too.
#[test]
fn a_queue_of_video_calls_is_no_wait_for_grants() {
    let line = format!(
        "{LINE}
        traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}
        traffic.x = {{ kind = 'video_call', server = 'near' }}
    "
    );
    for (keys, ending) in [
        (
            "upstream = { sustained_mbps = 1, queue.limit_bytes = 1_000_000 }",
            "in the upstream queue.",
        ),
        (
            "upstream.sustained_mbps = 20\n\
             router.upstream = { rate_mbps = 2, queue.limit_bytes = 400_000 }",
            "in the queue 'router upstream'.",
        ),
    ] {
        let found = judged_by_name(&format!("{line}\n{keys}"));
        let told = &found.groups[0].causes[0];
        assert!(told.ends_with(ending), "{told}");
    }
}

/// The link of the server is what is slow, and no queue of the access network.
#[test]
fn the_wait_for_a_server_is_none_of_the_access_network() {
    let found =
        of_line("", "", "upstream.queue.limit_bytes = 1_000_000\nservers.near.rate_mbps = 2");
    let told = &found.groups[0].causes[0];
    assert!(told.ends_with("on the cable and on the links to its server."), "{told}");
}

/// Where several queues stand in a way, the sentence names the one in which packets wait.
#[test]
fn a_cause_names_its_queue_where_there_are_several() {
    for (keys, ending) in [
        ("", "in the upstream queue."),
        ("router.upstream.rate_mbps = 3", "in the queue 'router upstream'."),
        ("core.peering.upstream.rate_mbps = 3", "in the queue 'core peering upstream'."),
        (
            "servers.near.rate_mbps = 3\nservers.near.queue.limit_bytes = 100_000",
            "in the queue 'server near upstream'.",
        ),
    ] {
        let found = of_line("", "", keys);
        let told = &found.groups[0].causes[0];
        assert!(told.ends_with(ending), "{keys}: {told}");
    }
}
