//! What is refused because keys contradict each other, and in which words.

use super::refusals::{assert_last_refused, refusal, refusal_of, refusal_with};
use super::{SMALL, only};

#[test]
fn rates_that_contradict_each_other() {
    assert_eq!(
        refusal_with("peak_mbps = 20", "peak_mbps = 4"),
        "home.toml: upstream.peak_mbps: found 4; allowed: 5 or more, the value of sustained_mbps"
    );
    assert_eq!(
        refusal_with("peak_mbps = 50", "peak_mbps = 19.5"),
        "home.toml: downstream.peak_mbps: found 19.5; allowed: 20 or more, the value of sustained_mbps"
    );
    assert_eq!(
        refusal_of(&["upstream.congestion.levels_mbps=[1, 2.5, 2, 4]"]),
        "--set upstream.congestion.levels_mbps=[1, 2.5, 2, 4]: \
         upstream.congestion.levels_mbps.2: found 2; allowed: 2.5 or more, since levels must ascend"
    );
}

#[test]
fn keys_of_a_mac_that_is_not_there() {
    for set in ["upstream.mac.map_interval_ms=1", "upstream.shaping=requests"] {
        let key = set.split(['=', '.']).nth(1).unwrap();
        assert_eq!(
            refusal_of(&["upstream.modem.kind=link", set]),
            format!(
                "--set {set}: upstream.{key}: found with a modem of kind link, which has no MAC; \
                 allowed: only with kind single_queue or two_queues"
            )
        );
    }
}

#[test]
fn ledbat_without_timestamps() {
    assert_last_refused(
        &["tcp.congestion_control.kind=ledbat", "tcp.timestamps=false"],
        "found false; allowed: true, since congestion control ledbat needs them",
    );
}

#[test]
fn objects_pushed_by_several_servers() {
    let web = "[traffic.web]\nkind = 'web_sessions'\nservers = ['files', 'files']\npushed = true\n";
    assert_eq!(
        refusal(&format!("{SMALL}{web}")),
        "home.toml: traffic.web.pushed: found true; allowed: only with a single server"
    );
}

#[test]
fn servers_that_are_not_there() {
    assert_eq!(
        refusal_with("server = \"files\"", "server = 'file'"),
        "home.toml: traffic.upload.server: found \"file\"; allowed: files (did you mean files?)"
    );
    assert_eq!(
        refusal_with("files = { delay_ms = 9 }", ""),
        "home.toml: traffic.upload.server: found \"files\"; allowed: a name in the table servers, \
         which is empty"
    );
    let web = "[traffic.'my web']\nkind = 'web'\nservers = ['files', 'other']\n\
               objects.kind = 'appendix_a'\n";
    assert_eq!(
        refusal(&format!("{SMALL}{web}")),
        "home.toml: traffic.\"my web\".servers.1: found \"other\"; allowed: files"
    );
}

#[test]
fn limits_that_hold_no_packet() {
    // A segment of 8000 bytes has 8052 with its headers, 8070 as an Ethernet frame.
    assert_last_refused(
        &["upstream.queue.limit_bytes=1521"],
        "found 1521; allowed: 1522 or more, so that one packet fits",
    );
    assert_eq!(
        refusal_of(&["downstream.queue.limit_packets=1", "dialect=ns2"]),
        "--set downstream.queue.limit_packets=1: downstream.queue.limit_packets: found 1; \
         allowed: 2 or more, so that one packet fits below the limit, which the ns2 dialect \
         never reaches"
    );
    assert_eq!(
        refusal_of(&["upstream.queue.limit_bytes=1522", "dialect=ns2"]),
        "--set upstream.queue.limit_bytes=1522: upstream.queue.limit_bytes: found 1522; \
         allowed: 1523 or more, so that one packet fits below the limit, which the ns2 dialect \
         never reaches"
    );
    assert_last_refused(
        &["tcp.mss_bytes=8000", "downstream.queue.limit_bytes=8057"],
        "found 8057; allowed: 8058 or more, so that one packet fits",
    );
    // 250 ms at 0.01 Mbps are 312 B, but the default holds two full frames.
    only(SMALL, &["upstream.sustained_mbps=0.01"]);
    assert_last_refused(
        &["tcp.mss_bytes=8000", "upstream.burst_bytes=8057"],
        "found 8057; allowed: 8058 or more, the size of the largest packet",
    );
    only(SMALL, &["upstream.queue.limit_bytes=1522", "downstream.queue.limit_packets=1"]);
    only(SMALL, &["upstream.queue.limit_bytes=1523", "dialect=ns2"]);
}

#[test]
fn keys_of_an_algorithm_that_contradict_each_other() {
    for (law, problem) in [
        (
            "kind='codel', target_ms=101",
            "target_ms: found 101; allowed: 100 or less, the value of interval_ms",
        ),
        (
            "kind='codel_dt', target_ms=6",
            "mac_allowance_ms: found 6; allowed: less than 6, the value of target_ms",
        ),
        (
            "kind='red', min_threshold_packets=100, max_threshold_packets=50",
            "max_threshold_packets: found 50; allowed: 100 or more, the value of min_threshold_packets",
        ),
        (
            "kind='red', max_threshold_packets=50",
            "max_threshold_packets: found 50; allowed: only with min_threshold_packets, which comes \
             from the link's rate otherwise",
        ),
        (
            "kind='red', adaptive=true, bottom=0.6",
            "top: found 0.5; allowed: 0.6 or more, the value of bottom",
        ),
        (
            "kind='blue', decrement=0.01",
            "increment: found 0.0025; allowed: 0.01 or more, the value of decrement",
        ),
        (
            "kind='gsp', interval_ms=2000",
            "time_constant_ms: found 1000; allowed: 2000 or more, the value of interval_ms",
        ),
        (
            "kind='afd', previous_gain=1.8",
            "previous_gain: found 1.8; allowed: less than 1.8, the value of present_gain",
        ),
        ("kind='pie', alpha_hz=0", "alpha_hz: found 0; allowed: a number from 0.000001 to 1000"),
    ] {
        let set = format!("upstream.queue.law={{ {law} }}");
        let refusal = refusal_of(&[&set]);
        assert_eq!(refusal, format!("--set {set}: upstream.queue.law.{problem}"));
    }
}

#[test]
fn one_algorithm_for_all_bins_that_judges_single_packets() {
    let bins = "upstream.queue.scheduler={ kind = 'sfq', one_law = true }";
    assert_eq!(
        refusal_of(&[bins, "upstream.queue.law.kind=codel"]),
        format!(
            "--set {bins}: upstream.queue.scheduler.one_law: found true with an AQM algorithm \
             that judges each \
             packet by its sojourn time; allowed: false, since packets of sparse flows would switch it \
             off"
        )
    );
    only(SMALL, &[bins, "upstream.queue.law.kind=pie"]);
}

#[test]
fn weights_of_entries_that_are_not_there() {
    for kind in ["drr", "wfq", "scfq", "abb"] {
        let set =
            format!("downstream.queue.scheduler={{ kind = '{kind}', weights = {{ uplaod = 2 }} }}");
        assert_eq!(
            refusal_of(&[&set]),
            format!(
                "--set {set}: downstream.queue.scheduler.weights.uplaod: unknown traffic entry; \
                 allowed: upload (did you mean upload?)"
            )
        );
    }
    let weights = "upstream.queue.scheduler={ kind = 'drr', weights = { upload = 0.001 } }";
    assert_eq!(
        refusal_of(&[weights]),
        format!(
            "--set {weights}: upstream.queue.scheduler.weights.upload: found 0.001; allowed: a \
             number from 0.01 to 1000"
        )
    );
    only(SMALL, &["upstream.queue.scheduler={ kind = 'drr', weights = { upload = 2 } }"]);
}

#[test]
fn traffic_that_contradicts_itself() {
    let call = "traffic.call={ kind = 'stream', purpose = 'voice', direction = 'up', server = 'files', \
                start_s = 5, stop_s = 4.5 }";
    assert_eq!(
        refusal_of(&[call]),
        format!(
            "--set {call}: traffic.call.stop_s: found 4.5; allowed: 5 or more, the value of start_s"
        )
    );
    assert_last_refused(
        &["traffic.upload.pause_s=16"],
        "found 16; allowed: only with file_bytes, since an endless file never ends",
    );
    only(SMALL, &["traffic.upload.pause_s=16", "traffic.upload.file_bytes=18_750_000"]);
    assert_last_refused(
        &["traffic.upload.every_s=30"],
        "found 30; allowed: only with file_bytes, since an endless file never ends",
    );
    let both = ["traffic.upload.file_bytes=1000", "traffic.upload.pause_s=16"];
    assert_last_refused(
        &[both[0], both[1], "traffic.upload.every_s=30"],
        "found 30; allowed: only without pause_s",
    );
    assert_last_refused(
        &["traffic.upload.start_s=500", "traffic.upload.stop_s=100"],
        "found 100; allowed: 500 or more, the value of start_s",
    );
}

#[test]
fn ranges_and_levels_that_do_not_ascend() {
    let mice = "traffic.mice={ kind = 'on_off', server = 'files', mean_mbps = [0.6, 0.3] }";
    assert_eq!(
        refusal_of(&[mice]),
        format!(
            "--set {mice}: traffic.mice.mean_mbps.1: found 0.3; allowed: 0.6 or more, since the \
             bounds of a range must ascend"
        )
    );
    let film = |keys: &str| {
        let set = format!("traffic.film={{ kind = 'video', server = 'files', {keys} }}");
        let message = refusal_of(&[&set]);
        message.replacen(&format!("--set {set}: traffic.film."), "", 1)
    };
    assert_eq!(
        film("ladder_mbps = [1, 3, 2]"),
        "ladder_mbps.2: found 2; allowed: more than 3, since levels must ascend"
    );
    assert_eq!(
        film("ladder_mbps = []"),
        "ladder_mbps: found an empty list; allowed: 1 to 100 items"
    );
    assert_eq!(
        film("first_level = 13"),
        "first_level: found 13; allowed: 1 to 12, the levels of the ladder"
    );
    assert_eq!(
        film("ladder = 'hong2015', first_level = 7"),
        "first_level: found 7; allowed: 1 to 6, the levels of the ladder"
    );
    assert_eq!(
        film("ladder = 'hong2015', ladder_mbps = [1]"),
        "ladder: found it beside ladder_mbps; allowed: one of them"
    );
    assert_eq!(
        film("buffer_s = 7.5"),
        "buffer_s: found 7.5, room for whole segments: 1; allowed: 2 or more, the value \
         of start_segments"
    );
}

#[test]
fn what_ns2s_two_way_agent_does_not_have() {
    let full = ["dialect=ns2", "tcp.recovery=full_sack"];
    only(SMALL, &full);
    let cubic = "tcp.congestion_control.kind=cubic";
    assert_last_refused(
        &[full[0], full[1], cubic],
        "found cubic with recovery full_sack; allowed: reno",
    );
    assert_last_refused(
        &["traffic.upload.tcp.nagle=true"],
        "found without recovery full_sack; allowed: only with recovery full_sack",
    );
    assert_last_refused(
        &["tcp.nagle=true"],
        "found without recovery full_sack; allowed: only with recovery full_sack",
    );
    only(SMALL, &[full[0], full[1], "tcp.nagle=true"]);
}

#[test]
fn tcp_options_that_contradict_each_other() {
    assert_last_refused(
        &["tcp.max_window_segments=5"],
        "found 5; allowed: 10 or more, the value of initial_window_segments",
    );
    assert_last_refused(
        &["tcp.min_rto_s=3", "traffic.upload.tcp.max_rto_s=2"],
        "found 2; allowed: 3 or more, the value of min_rto_s",
    );
    assert_eq!(
        refusal_of(&["tcp.mss_bytes=8960", "traffic.upload.tcp.header_bytes=59"]),
        "--set tcp.mss_bytes=8960: tcp.mss_bytes: found 8960; allowed: 8959 or less, so that a \
         packet with 71 bytes of header and options has 9018 or less"
    );
    assert_last_refused(
        &["tcp.recovery=full_sack"],
        "found full_sack, an agent of ns-2; allowed: sack, or dialect ns2",
    );
    assert_eq!(
        refusal_of(&["tcp.recovery=full_sack", "tcp.dialect=rfc"]),
        "--set tcp.recovery=full_sack: tcp.recovery: found full_sack, an agent of ns-2; allowed: \
         sack, newreno, reno, or dialect ns2"
    );
    assert_last_refused(
        &["tcp.rtt_tick_ms=10"],
        "found 10 with dialect linux; allowed: 0, or dialect rfc or ns2",
    );
    only(SMALL, &["tcp.rtt_tick_ms=10", "dialect=rfc"]);
    for set in ["tcp.ip=5", "traffic.upload.tcp.ip=5"] {
        let (key, _) = set.split_once('=').unwrap();
        assert_eq!(refusal_of(&[set]), format!("--set {set}: {key}: found 5; allowed: 4, 6"));
    }
    only(SMALL, &["tcp.ip=6"]);
    only(SMALL, &["tcp.recovery=full_sack", "dialect=ns2"]);
    assert_last_refused(
        &["tcp.recovery=linux"],
        "found linux, an agent of ns-2; allowed: sack, or dialect ns2",
    );
    let linux = ["tcp.recovery=linux", "dialect=ns2"];
    only(SMALL, &linux);
    assert_last_refused(
        &[linux[0], linux[1], "tcp.send_jitter_us=20"],
        "found 20 with recovery linux; allowed: 0, or another recovery",
    );
    assert_last_refused(
        &["tcp.send_jitter_us=20"],
        "found 20, an option of ns-2; allowed: 0, or dialect ns2",
    );
    only(SMALL, &["tcp.send_jitter_us=20", "dialect=ns2"]);
    assert_last_refused(
        &["dialect=linux", "tcp.recovery=newreno"],
        "found newreno with dialect linux; allowed: sack, or dialect rfc",
    );
    assert_last_refused(
        &["dialect=rfc", "tcp.pacing=true"],
        "found true; allowed: false, or dialect linux, or transport quic",
    );
    only(SMALL, &["dialect=linux", "tcp.pacing=true"]);
    // The ns-2 dialect starts with 2 segments.
    only(SMALL, &["tcp.max_window_segments=5", "dialect=ns2"]);
}

/// QUIC has no timestamps, no recoveries to choose from and no dialect of ns-2.
#[test]
fn quic_with_keys_of_tcp_alone() {
    for (key, value) in [
        ("recovery", "sack"),
        ("timestamps", "false"),
        ("delayed_ack_beats", "true"),
        ("restart_after_idle", "true"),
        ("send_jitter_us", "20"),
        ("initial_rto_s", "1"),
        ("min_rto_s", "1"),
        ("rtt_tick_ms", "1"),
        ("nagle", "true"),
    ] {
        let set = format!("tcp.{key}={value}");
        assert_eq!(
            refusal_of(&["tcp.transport=quic", &set]),
            format!(
                "--set {set}: tcp.{key}: found with transport quic; allowed: only with transport tcp"
            )
        );
    }
    let own = "traffic.upload.tcp.transport=quic";
    // A key of the scenario is for the other entries; one of the entry itself has no meaning.
    only(SMALL, &[own, "tcp.timestamps=true"]);
    assert_last_refused(
        &[own, "traffic.upload.tcp.timestamps=true"],
        "found with transport quic; allowed: only with transport tcp",
    );
    assert_eq!(
        refusal_of(&["dialect=ns2", own]),
        "--set traffic.upload.tcp.transport=quic: traffic.upload.tcp.transport: found quic with \
         dialect ns2; allowed: tcp, or dialect rfc or linux"
    );
    assert_eq!(
        refusal_of(&[own, "tcp.congestion_control.kind=ledbat"]),
        "--set traffic.upload.tcp.transport=quic: traffic.upload.tcp.transport: found quic with \
         congestion control ledbat; allowed: tcp, or congestion control reno or cubic"
    );
    assert_last_refused(
        &[own, "tcp.ecn=accecn"],
        "found accecn; allowed: off, classic with transport quic",
    );
    assert_last_refused(
        &[own, "tcp.mss_bytes=1199"],
        "found 1199; allowed: 1200 or more with transport quic",
    );
    only(SMALL, &["dialect=rfc", own, "traffic.upload.tcp.pacing=true", "tcp.max_rto_s=4"]);
}

#[test]
fn intervals_and_quanta_below_a_packet() {
    // 1522 bytes at 5 Mbps: 8 * 1522 / 5e6 = 2.4352 ms.
    assert_eq!(
        refusal_of(&["upstream.queue.law={ kind = 'codel', interval_ms = 2.4 }"]),
        "--set upstream.queue.law={ kind = 'codel', interval_ms = 2.4 }: \
         upstream.queue.law.interval_ms: found 2.4; allowed: 2.435 or more, the time of a packet of \
         1522 bytes at the sustained rate"
    );
    assert_eq!(
        refusal_of(&["upstream.queue.scheduler={ kind = 'drr', quantum_bytes = 1499 }"]),
        "--set upstream.queue.scheduler={ kind = 'drr', quantum_bytes = 1499 }: \
         upstream.queue.scheduler.quantum_bytes: found 1499; allowed: 1518 or more, the size \
         of the largest packet"
    );
    assert_eq!(
        refusal_of(&["upstream.queue.scheduler={ kind = 'sfq', quantum_bytes = 63 }"]),
        "--set upstream.queue.scheduler={ kind = 'sfq', quantum_bytes = 63 }: \
         upstream.queue.scheduler.quantum_bytes: found 63; allowed: 0 (one packet a \
         round), or 64 (the smallest frame) or more"
    );
}

#[test]
fn parameters_of_queue_managers_that_make_no_sense() {
    for (key, value, allowed) in [
        (
            "law",
            "{ kind = 'codel', target_ms = 0 }",
            "law.target_ms: found 0; allowed: a number from 0.01",
        ),
        (
            "law",
            "{ kind = 'pie', update_ms = 0 }",
            "law.update_ms: found 0; allowed: a number from 0.1",
        ),
        (
            "scheduler",
            "{ kind = 'sfq', bins = 0 }",
            "scheduler.bins: found 0; allowed: a whole number from 1",
        ),
        (
            "scheduler",
            "{ kind = 'drr', weights = { upload = 0 } }",
            "scheduler.weights.upload: found 0; allowed: a number from 0.01",
        ),
    ] {
        let refused = refusal_of(&[&format!("upstream.queue.{key}={value}")]);
        assert!(refused.contains(&format!("upstream.queue.{allowed}")), "{refused}");
    }
}

#[test]
fn homes_and_service_flows_that_are_not_there() {
    let flow = "sustained_mbps = 1, peak_mbps = 2, burst_bytes = 3000";
    for (keys, problem) in [
        (
            "[homes.a]\n[traffic.more]\nkind = 'transfer'\nserver = 'files'\nhome = 'b'",
            "traffic.more.home: found \"b\"; allowed: a (did you mean a?)",
        ),
        (
            "[traffic.more]\nkind = 'transfer'\nserver = 'files'\nhome = 'b'",
            "traffic.more.home: found \"b\"; allowed: a name in the table homes, which is empty",
        ),
        (
            &format!("[downstream.flows]\nx = {{ {flow}, match = [{{ server = 'file' }}] }}"),
            "downstream.flows.x.match.0.server: found \"file\"; allowed: files (did you mean files?)",
        ),
        (
            &format!("[upstream.flows]\nx = {{ {flow}, match = [{{}}, {{ traffic = 'up' }}] }}"),
            "upstream.flows.x.match.1.traffic: found \"up\"; allowed: upload",
        ),
        (
            &format!("[upstream.flows]\nx = {{ {flow}, match = [{{ dscp = [9, 8, 63] }}] }}"),
            "upstream.flows.x.match.0.dscp.1: found 8; allowed: 9 or more, since the bounds of a \
             range must ascend",
        ),
        (
            &format!("[upstream.flows]\nprimary = {{ {flow} }}"),
            "upstream.flows.primary: found the reserved name of the primary flow; allowed: any \
             other name",
        ),
        (
            &format!("[upstream.flows]\nx = {{ {flow}, minimum_mbps = 1.5 }}"),
            "upstream.flows.x.sustained_mbps: found 1; allowed: 1.5 or more, the value of minimum_mbps",
        ),
        (
            &format!("[upstream.flows]\nx = {{ {flow}, priority = 8 }}"),
            "upstream.flows.x.priority: found 8; allowed: a whole number from 0 to 7",
        ),
        (
            "[homes.a]\ncount = 19000\n[homes.b]\ncount = 1001",
            "homes: found 20001 in all; allowed: 20000 or fewer",
        ),
        (
            "[homes.a]\nupstream.sustained_mbps = 30",
            "homes.a.upstream.peak_mbps: found 20; allowed: 30 or more, the value of sustained_mbps",
        ),
        (
            "[homes.a]\nupstream.speed = 30",
            "homes.a.upstream.speed: unknown key; allowed here: sustained_mbps, peak_mbps, \
             burst_bytes, \
             minimum_mbps, priority, shaping, modem, mac, scheduling, profile_bits, bonding_group, ranging_outages, stalls, capacity, congestion, queue, buffer, aqm, flows; \
             write sustained_mbps",
        ),
        (
            "[servers.other]\ndelay_ms = 1\naddress = '203.0.113'",
            "servers.other.address: found \"203.0.113\"; allowed: an IP address such as 203.0.113.5 or 2001:db8::5",
        ),
        (
            "[upstream.buffer]\nminimum_bytes = 9000\ntarget_bytes = 8000",
            "upstream.buffer.target_bytes: found 8000; allowed: 9000 or more, the value of \
             minimum_bytes",
        ),
        (
            "[upstream.buffer]\ntarget_bytes = 9000\nmaximum_bytes = 8000",
            "upstream.buffer.maximum_bytes: found 8000; allowed: 9000 or more, the value of \
             target_bytes",
        ),
    ] {
        assert_eq!(refusal(&format!("{SMALL}{keys}")), format!("home.toml: {problem}"));
    }
    assert_eq!(
        refusal_of(&["upstream.buffer.target_bytes=9000", "upstream.queue.limit_bytes=9000"]),
        "--set upstream.buffer.target_bytes=9000: upstream.buffer: found together with a limit of \
         the queue; allowed: one of them"
    );
    let many: String = (0..32).map(|n| format!("x{n} = {{ {flow} }}\n")).collect();
    assert_eq!(
        refusal(&format!("{SMALL}[upstream.flows]\n{many}")),
        "home.toml: upstream.flows: found a table of 32 entries; allowed: 31 or fewer entries"
    );
}

#[test]
fn what_a_fibre_has_not() {
    let voice = "[homes.a.upstream.flows.voice]
        sustained_mbps = 1\npeak_mbps = 1\nburst_bytes = 1522";
    for (line_mbps, before, after, problem) in [
        (
            1000,
            "cable.delay_ms = 2",
            "",
            "cable: found without a cable network; allowed: only with access kind docsis",
        ),
        (
            1000,
            "",
            "[homes.a]\nupstream.modem.kind = 'link'",
            "homes.a.upstream.modem: found with access kind fibre; allowed: only with kind docsis",
        ),
        (
            10,
            "",
            "",
            "upstream.peak_mbps: found 20; allowed: 10 or less, the value of access.line_mbps\n\
             home.toml: downstream.peak_mbps: found 50; allowed: 10 or less, the value of \
             access.line_mbps",
        ),
        (
            1000,
            "",
            voice,
            "homes.a.upstream.flows: found voice; allowed: none with access kind fibre",
        ),
    ] {
        let access = format!("access = {{ kind = 'fibre', line_mbps = {line_mbps} }}");
        let text = format!("{access}\n{before}{SMALL}{after}");
        assert_eq!(refusal(&text), format!("home.toml: {problem}"));
    }
}

#[test]
fn marks_that_a_congestion_control_cannot_use() {
    let control = |kind: &str| format!("tcp.congestion_control.kind={kind}");
    let (prague, dctcp, cubic) = (control("prague"), control("dctcp"), control("cubic"));
    for (kind, set) in [("prague", &prague), ("dctcp", &dctcp)] {
        for ecn in ["off", "classic"] {
            let ecn_set = format!("tcp.ecn={ecn}");
            assert_eq!(
                refusal_of(&[set, &ecn_set]),
                format!(
                    "--set {ecn_set}: tcp.ecn: found {ecn} with congestion_control {kind}, which \
                     needs the share of marks; allowed: accecn, l4s, or another \
                     congestion_control"
                )
            );
        }
        for ecn in ["accecn", "l4s"] {
            only(SMALL, &[set, &format!("tcp.ecn={ecn}")]);
        }
        only(SMALL, &[set, "tcp.ace_bits=3"]);
        for dialect in ["rfc", "ns2"] {
            assert_eq!(
                refusal_of(&[&format!("dialect={dialect}"), set]),
                format!(
                    "--set {set}: tcp.congestion_control.kind: found {kind}; allowed: reno, \
                     cubic, ledbat, or dialect linux"
                )
            );
        }
    }
    assert_last_refused(
        &[&cubic, "tcp.ecn=l4s"],
        "found l4s with congestion_control cubic, which reacts to a mark as to a loss; \
         allowed: off, classic, accecn, or congestion_control dctcp, prague",
    );
    only(SMALL, &[&cubic, "tcp.ecn=accecn"]);
    only(SMALL, &["dialect=rfc", "tcp.ecn=accecn"]);
    assert_last_refused(
        &["dialect=ns2", "tcp.ecn=accecn"],
        "found accecn with dialect ns2; allowed: off, classic",
    );
    assert_last_refused(
        &["traffic.upload.tcp.ace_bits=3"],
        "found 3 with ecn off; allowed: only with accecn, l4s",
    );
    assert_last_refused(
        &["tcp.ecn=accecn", "traffic.upload.tcp.ace_bits=8"],
        "found 8; allowed: 3, 24",
    );
}

/// Schedulers that are AQM algorithms themselves cannot do without.
#[test]
fn schedulers_without_their_aqm() {
    for scheduler in ["cake", "choke", "dualq", "fq_pie", "sfb"] {
        for direction in ["upstream", "downstream"] {
            let scheduler_set = format!("{direction}.queue.scheduler.kind={scheduler}");
            let aqm_set = format!("{direction}.aqm=false");
            assert_eq!(
                refusal_of(&[&scheduler_set, &aqm_set]),
                format!(
                    "--set {aqm_set}: {direction}.aqm: found false with scheduler {scheduler}, which is an AQM \
                     algorithm itself; allowed: true, or another scheduler"
                )
            );
        }
    }
    only(SMALL, &["upstream.aqm=false", "upstream.queue.scheduler.kind=low_latency"]);
}
