//! Words that users bring are answered with what to write, and what is answered loads.

use sojourn::input::aliases;

use super::refusals::refusal_of;
use super::{SMALL, load_with};

/// A place of the scenario: where a name stands that is refused, the table below which keys of the answer stand, and settings
/// that make the place.
struct Place {
    refused: &'static str,
    below: &'static str,
    made_by: &'static [&'static str],
}

const fn place(
    refused: &'static str,
    below: &'static str,
    made_by: &'static [&'static str],
) -> Place {
    Place { refused, below, made_by }
}

/// Where a name is allowed that the table of aliases has; `NAME` stands for what is written instead of it.
fn place_of(allowed: &str) -> Place {
    match allowed {
        "packet_deviation_percent" => place(
            "traffic.it.NAME=1",
            "traffic.it.",
            &["traffic.it={kind='stream',purpose='data'}"],
        ),
        "sustained_mbps" => place("upstream.NAME=1", "upstream.", &[]),
        "law" => place("upstream.queue.NAME=1", "upstream.queue.", &[]),
        "target_ms" => place(
            "upstream.queue.law.NAME=1",
            "upstream.queue.law.",
            &["upstream.queue.law={kind='codel'}"],
        ),
        "delay_ms" => place("servers.files.NAME=1", "servers.files.", &[]),
        "file_bytes" => {
            place("traffic.it.NAME=1", "traffic.it.", &["traffic.it={kind='transfer'}"])
        }
        "web_sessions" => place("traffic.it.kind='NAME'", "traffic.it.", &[]),
        "two_queues" => place("upstream.modem.kind='NAME'", "upstream.modem.", &[]),
        "autorate" => place("router.controller.kind='NAME'", "router.controller.", &[]),
        "upstream_channel" => place("NAME=1", "", &[]),
        "fifo" => place("upstream.queue.scheduler.kind='NAME'", "upstream.queue.", &[]),
        "codel" => place("upstream.queue.law.kind='NAME'", "upstream.queue.", &[]),
        "noatm" => place(
            "upstream.queue.scheduler.framing='NAME'",
            "upstream.queue.scheduler.",
            &["upstream.queue.scheduler={kind='cake'}"],
        ),
        "mixed" => place("traffic.it.protocol='NAME'", "traffic.it.", &["traffic.it={kind='web'}"]),
        "protocol" => place("traffic.it.NAME=1", "traffic.it.", &["traffic.it={kind='web'}"]),
        "quic" => place("tcp.transport='NAME'", "tcp.", &[]),
        "ledbat" => place("tcp.congestion_control.kind='NAME'", "tcp.congestion_control.", &[]),
        "fibre" => place("access.kind='NAME'", "access.", &[]),
        "frame_scale_percent" => {
            place("traffic.it.NAME=1", "traffic.it.", &["traffic.it={kind='video_call'}"])
        }
        "redundancy_percent" => {
            place("traffic.it.NAME=1", "traffic.it.", &["traffic.it={kind='cloud_game'}"])
        }
        "per_server" => place(
            "traffic.it.objects.NAME=1",
            "traffic.it.objects.",
            &["traffic.it={kind='web',objects={kind='fixed'}}"],
        ),
        "controller" => place("router.NAME=1", "router.", &["router.upstream={rate_mbps=4}"]),
        other => panic!("no place for {other}"),
    }
}

/// The settings of an answer: words before ` = `, and the string, table or number behind it.
fn settings(answer: &str) -> Vec<(&str, &str)> {
    let (mut found, mut rest) = (Vec::new(), answer);
    while let Some((before, behind)) = rest.split_once(" = ") {
        let key = before.rsplit([' ', '(']).next().unwrap();
        let end = match behind.as_bytes()[0] {
            b'{' => behind.rfind('}').unwrap() + 1,
            b'"' => behind[1..].find('"').unwrap() + 2,
            _ => behind.find([' ', ',', ';']).unwrap_or(behind.len()),
        };
        found.push((key, &behind[..end]));
        rest = &behind[end..];
    }
    found
}

impl Place {
    /// What is said of this name here.
    fn refusal(&self, name: &str) -> String {
        let is_key = self.refused.contains("NAME=");
        let name =
            if is_key && name.contains(['/', '.']) { format!("'{name}'") } else { name.into() };
        let refused = self.refused.replace("NAME", &name);
        refusal_of(&self.made_by.iter().copied().chain([&*refused]).collect::<Vec<_>>())
    }
}

#[test]
fn each_answer_loads() {
    for (names, among, answer) in aliases::all() {
        for place in among.iter().map(|allowed| place_of(allowed)) {
            let allowed = place.refusal("none_of_these");
            let is_allowed = |name: &str| allowed.split([' ', ',', ';']).any(|word| word == name);
            for name in names.iter().filter(|name| !is_allowed(name)) {
                let refusal = place.refusal(name);
                assert!(refusal.contains(&format!("; write {answer}")), "{refusal}");
            }
            let remedy = settings(answer);
            if remedy.is_empty() {
                let first = answer.split([' ', ',', '.', ':', ';']).next().unwrap();
                assert!(is_allowed(first), "{answer}: {allowed}");
                continue;
            }
            let of_root = ["upstream.", "downstream.", "router.", "access.", "traffic."];
            let path = |key: &str| match of_root.iter().any(|root| key.starts_with(root)) {
                true => key.to_owned(),
                false => format!("{}{key}", place.below),
            };
            let sets = remedy.iter().map(|(key, value)| format!("{}={value}", path(key)));
            let made_by = place.made_by.iter().map(|set| (*set).to_owned());
            let sets: Vec<String> = made_by.chain(sets).collect();
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            if let Err(problems) = load_with(SMALL, &sets) {
                panic!("{answer}: {sets:?}: {problems}");
            }
        }
    }
}

#[test]
fn names_are_answered_however_they_are_written() {
    for (set, answer) in [
        ("traffic.it.kind='HTTP/2'", "kind = \"web\" and protocol = \"h2\""),
        ("traffic.it.kind='GeForce Now'", "kind = \"cloud_game\""),
        ("traffic.it.kind='Wi-Fi'", "upstream.modem.kind = \"link\""),
        ("traffic.it={kind='web',protocol='HTTP/3'}", "protocol = \"h3\""),
        ("access.kind='Starlink'", "upstream.modem.kind = \"link\""),
    ] {
        let refusal = refusal_of(&[set]);
        assert!(refusal.contains(&format!("; write {answer}")), "{refusal}");
    }
}
