//! What other programs and texts call things, and what to write for them here.

/// Keys that stand in the same table as what is meant.
const STREAM: &[&str] = &["packet_deviation_percent"];
const SERVICE: &[&str] = &["sustained_mbps"];
const QUEUE: &[&str] = &["law"];
const LAW: &[&str] = &["target_ms"];
const LINK: &[&str] = &["delay_ms"];
const TRANSFER: &[&str] = &["file_bytes"];
/// Kinds of traffic, of modems and of controllers, and the tables of a scenario.
const TRAFFIC: &[&str] = &["web_sessions"];
const MODEMS: &[&str] = &["two_queues"];
const CONTROLLERS: &[&str] = &["autorate"];
const SCENARIO: &[&str] = &["upstream_channel"];
/// Kinds of schedulers and of AQM algorithms.
const MANAGERS: &[&str] = &["fifo", "codel"];
const FRAMINGS: &[&str] = &["noatm"];
/// Versions of HTTP, transports, congestion controls, and access networks.
const PROTOCOLS: &[&str] = &["mixed"];
const TRANSPORTS: &[&str] = &["quic"];
const CONTROLS: &[&str] = &["ledbat"];
const ACCESS: &[&str] = &["fibre"];
/// Keys beside those that programs have by other names.
const FRAMES: &[&str] = &["frame_scale_percent"];
const OBJECTS: &[&str] = &["per_server"];
const ROUTER: &[&str] = &["controller"];

/// Names in lower case with `_` for `-` and spaces; a name that is allowed in their place; what to write.
pub type Alias = (&'static [&'static str], &'static [&'static str], &'static str);

const ALIASES: &[Alias] = &[
    (
        &[
            "bandwidth",
            "bandwidth_mbps",
            "bitrate",
            "bitrate_kbps",
            "bitrate_mbps",
            "mbps",
            "rate",
            "rate_kbps",
            "rate_mbps",
        ],
        STREAM,
        "packet_bytes and interval_ms: 1 Mbps is 1250 bytes each 10 ms",
    ),
    (
        &["bandwidth", "bandwidth_mbps", "mbps", "rate", "rate_mbps", "speed", "speed_mbps"],
        SERVICE,
        "sustained_mbps",
    ),
    (&["delay_target_ms", "latency_target_ms", "target", "target_latency_ms"], LAW, "target_ms"),
    (
        &[
            "delay_target_ms",
            "interval_ms",
            "latency_target_ms",
            "target",
            "target_latency_ms",
            "target_ms",
        ],
        QUEUE,
        "it in the law, as law = { kind = \"codel\", target_ms = 5 }",
    ),
    (
        &["algorithm", "aqm", "discipline", "kind", "manager", "qdisc"],
        QUEUE,
        "law.kind or scheduler.kind",
    ),
    (
        &["buffer", "buffer_bytes", "limit", "queue_bytes", "size", "size_bytes"],
        QUEUE,
        "limit_bytes",
    ),
    (&["latency", "latency_ms", "ping_ms", "rtt", "rtt_ms"], LINK, "delay_ms, which is one way"),
    (&["bytes", "file_size", "size", "size_bytes"], TRANSFER, "file_bytes"),
    (&["flows", "parallel", "streams"], TRANSFER, "connections"),
    (&["cc", "congestion_control"], TRANSFER, "tcp.congestion_control.kind"),
    (
        &[
            "backup",
            "cloud_sync",
            "dropbox",
            "file",
            "ftp",
            "iperf",
            "iperf3",
            "netperf",
            "rsync",
            "scp",
            "tcp",
            "upload",
        ],
        TRAFFIC,
        "kind = \"transfer\"; direction = \"up\" is its default",
    ),
    (
        &["download", "software_update", "steam"],
        TRAFFIC,
        "kind = \"transfer\" and direction = \"down\"",
    ),
    (&["upload"], SCENARIO, "a table of traffic, as traffic.upload = { kind = \"transfer\" }"),
    (
        &["download"],
        SCENARIO,
        "a table of traffic, as traffic.download = { kind = \"transfer\", direction = \"down\" }",
    ),
    (&["apps", "applications", "clients", "flows"], SCENARIO, "traffic"),
    (&["game", "gaming"], TRAFFIC, "kind = \"stream\" and purpose = \"game\""),
    (&["call", "voice", "voip"], TRAFFIC, "kind = \"stream\" and purpose = \"voice\""),
    (&["cbr", "udp"], TRAFFIC, "kind = \"stream\" and purpose = \"data\""),
    (&["browser", "browsing", "http", "https", "page", "pages"], TRAFFIC, "kind = \"web\""),
    (HTTP_1, TRAFFIC, "kind = \"web\" and protocol = \"h1\""),
    (HTTP_2, TRAFFIC, "kind = \"web\" and protocol = \"h2\""),
    (HTTP_3, TRAFFIC, "kind = \"web\" and protocol = \"h3\""),
    (HTTP_1, PROTOCOLS, "protocol = \"h1\""),
    (HTTP_2, PROTOCOLS, "protocol = \"h2\""),
    (HTTP_3, PROTOCOLS, "protocol = \"h3\""),
    (HTTP_3, TRANSPORTS, "transport = \"quic\""),
    (
        &["udp"],
        TRANSPORTS,
        "traffic.data = { kind = \"stream\", purpose = \"data\" }, which sends datagrams",
    ),
    (
        &["gcc", "goog_cc"],
        CONTROLS,
        "it in a video call, as traffic.call = { kind = \"video_call\", control = \"gcc\" }",
    ),
    (&["count", "number", "objects"], OBJECTS, "per_server, how many of them are on each server"),
    (
        &[
            "abr",
            "dash",
            "disney",
            "film",
            "hls",
            "movie",
            "netflix",
            "prime_video",
            "streaming",
            "tv",
            "twitch",
            "vod",
            "youtube",
        ],
        TRAFFIC,
        "kind = \"video\"",
    ),
    (&["bittorrent", "p2p"], TRAFFIC, "kind = \"torrent\""),
    (
        &["network_quality", "networkquality", "rpm", "speed_test", "speedtest"],
        TRAFFIC,
        "kind = \"responsiveness\", whose rpm are round trips per minute under its own load",
    ),
    (OTHER_LINES, MODEMS, OTHER_LINE),
    (OTHER_LINES, SCENARIO, OTHER_LINE),
    (OTHER_LINES, TRAFFIC, OTHER_LINE),
    (OTHER_LINES, ACCESS, OTHER_LINE),
    (OTHER_LINES, ROUTER, OTHER_LINK),
    (&["fiber", "ftth", "gpon", "pon", "xgs_pon"], ACCESS, "access.kind = \"fibre\""),
    (&["fiber", "fibre", "ftth"], SCENARIO, "access.kind = \"fibre\""),
    (&["cable"], ACCESS, "access.kind = \"docsis\", the default"),
    (AUTORATE, SCENARIO, ROUTER_AUTORATE),
    (&["cake_autorate", "sqm", "sqm_autorate"], CONTROLLERS, "autorate"),
    (AUTORATE, MANAGERS, ROUTER_AUTORATE),
    (&["fq_codel", "fqcodel"], MANAGERS, "scheduler.kind = \"fq\" and law.kind = \"codel\""),
    (&["sfq_codel", "sfqcodel"], MANAGERS, "scheduler.kind = \"sfq\" and law.kind = \"codel\""),
    (
        &["sfq_pie"],
        MANAGERS,
        "scheduler = { kind = \"sfq\", one_law = true } and law.kind = \"pie\"",
    ),
    (&["ared", "adaptive_red"], MANAGERS, "law = { kind = \"red\", adaptive = true }"),
    (&["dual_pi2", "dualpi2", "l4s"], MANAGERS, "scheduler.kind = \"dualq\""),
    (&["lld", "low_latency_docsis"], MANAGERS, "scheduler.kind = \"low_latency\""),
    (&["cobalt"], MANAGERS, "scheduler.kind = \"cake\", whose law it is"),
    (
        &["bfifo", "drop_tail", "droptail", "pfifo", "pfifo_fast", "tail_drop", "taildrop"],
        MANAGERS,
        "scheduler.kind = \"fifo\" and law.kind = \"none\"",
    ),
    (
        &[
            "cloud_gaming",
            "game_streaming",
            "geforce_now",
            "gfn",
            "luna",
            "moonlight",
            "parsec",
            "remote_play",
            "stadia",
            "steam_link",
            "sunshine",
            "xcloud",
        ],
        TRAFFIC,
        "kind = \"cloud_game\"",
    ),
    (
        &[
            "discord",
            "facetime",
            "google_meet",
            "meet",
            "ms_teams",
            "rtc",
            "skype",
            "teams",
            "video_chat",
            "video_conference",
            "videocall",
            "webex",
            "webrtc",
            "whatsapp",
            "zoom",
        ],
        TRAFFIC,
        "kind = \"video_call\", which adapts to the line with control = \"gcc\" or \"scream\"",
    ),
    (
        &["adaptive", "cc", "congestion_control", "rate_control"],
        FRAMES,
        "control, as control = \"gcc\" or \"scream\"",
    ),
    (&["transport"], &["protocol"], "protocol, as protocol = \"h3\", which is over QUIC"),
    (&["fec", "fec_percent", "parity_percent"], &["redundancy_percent"], "redundancy_percent"),
    (&["bitrate", "bitrate_mbps"], FRAMES, "rate_mbps"),
    (
        &["docsis"],
        FRAMINGS,
        "overhead_bytes = 18 and mpu_bytes = 64 where cable.byte_count is \"ip\", and neither otherwise: sizes are \
         those of Ethernet frames then",
    ),
];

const HTTP_1: &[&str] = &["http/1", "http/1.1", "http1", "http1.1", "http_1"];
const HTTP_2: &[&str] = &["h2", "http/2", "http2", "http_2", "spdy"];
const HTTP_3: &[&str] = &["h3", "http/3", "http3", "http_3", "quic"];
const AUTORATE: &[&str] = &["autorate", "cake_autorate", "sqm", "sqm_autorate"];
const ROUTER_AUTORATE: &str = "router.controller.kind = \"autorate\" and the shapers that it sets, as \
                               router.upstream = { rate_mbps = 8, queue.scheduler.kind = \"cake\" }";
const OTHER_LINES: &[&str] = &[
    "4g",
    "5g",
    "cellular",
    "dsl",
    "lte",
    "mobile",
    "satellite",
    "starlink",
    "wi_fi",
    "wifi",
    "wireless",
];
const OTHER_LINE: &str = "upstream.modem.kind = \"link\" with upstream.capacity.file and downstream.capacity.file, the \
                          rates of such a line over time: its radio is not simulated";
const OTHER_LINK: &str = "upstream.capacity.file and downstream.capacity.file of the router, the rates of such a link over \
                          time: its radio is not simulated";

/// All names that others use, with the names where they are answered, one of which must be allowed, and the answer.
pub fn all() -> impl Iterator<Item = Alias> {
    ALIASES.iter().copied()
}

/// What to write for a name that others use, of a key or a value, where one of `allowed` is expected, if it is known.
pub(crate) fn meaning(name: &str, allowed: &[&str]) -> Option<&'static str> {
    let name = name.to_ascii_lowercase().replace(['-', ' '], "_");
    let is_meant = |(names, among, _): &&Alias| {
        names.contains(&&*name) && among.iter().any(|one| allowed.contains(one))
    };
    ALIASES.iter().find(is_meant).map(|(.., meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_answered_by_what_is_allowed_beside_it() {
        let of = |name, allowed: &[&str]| {
            meaning(name, allowed).map(|text| text.split(' ').next().unwrap())
        };
        assert_eq!(
            of("rate_mbps", &["packet_bytes", "packet_deviation_percent"]),
            Some("packet_bytes")
        );
        assert_eq!(of("rate_mbps", &["sustained_mbps", "peak_mbps"]), Some("sustained_mbps"));
        assert_eq!(of("Latency-Target-ms", &["target_ms"]), Some("target_ms"));
        assert_eq!(of("latency_target_ms", &["limit_bytes", "law"]), Some("it"));
        assert_eq!(of("fq_codel", &["fifo", "fq"]), Some("scheduler.kind"));
        assert_eq!(of("rate_mbps", &["duration_s"]), None);
        for name in ["rpm", "networkQuality", "speedtest", "speed test"] {
            let meant = meaning(name, TRAFFIC).unwrap();
            assert!(meant.starts_with("kind = \"responsiveness\""), "{name}");
        }
        for name in ["stadia", "geforce now", "GeForce-NOW", "moonlight", "cloud gaming"] {
            assert_eq!(meaning(name, TRAFFIC), Some("kind = \"cloud_game\""), "{name}");
        }
    }
}
