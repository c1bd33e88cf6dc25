//! The many forms that logs have: languages and code pages, times, clocks, tables, and versions of tools.
//!
//! All samples are written by hand after the tools' manuals; addresses are those of RFC 5737.

use sojourn_logs::{Clock, Format, IntervalFrom, Load, Log, Probe, read};
use sojourn_testing::at_random;

fn log(content: impl AsRef<[u8]>) -> Log {
    read("a.log", content.as_ref()).unwrap()
}

fn refusal(content: impl AsRef<[u8]>) -> String {
    read("a.log", content.as_ref()).unwrap_err().to_string()
}

fn trips(probes: &[Probe]) -> Vec<Option<f64>> {
    probes.iter().map(|probe| probe.rtt_ms).collect()
}

fn sent(probes: &[Probe]) -> Vec<f64> {
    probes.iter().map(|probe| probe.sent_ms).collect()
}

/// Windows' ping: two replies, two probes without one, another reply, and statistics.
fn windows(heading: &str, reply: [&str; 2], lost: [&str; 2], statistics: [&str; 4]) -> String {
    let [before, after] = reply;
    let replies = [12, 13, 14].map(|ms| format!("{before}{ms}{after}"));
    let [totals, counts, times, all] = statistics;
    format!(
        "\r\n{heading}\r\n{}\r\n{}\r\n{}\r\n{}\r\n{}\r\n\r\n{totals}\r\n    {counts}\r\n{times}\r\n    {all}\r\n",
        replies[0], replies[1], lost[0], lost[1], replies[2]
    )
}

fn utf_16(text: &str, to: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to).collect()
}

/// Letters of the Russian code page 866, of which text has the small ones and three others.
fn cp_866(text: &str) -> Vec<u8> {
    let letter = |c: char| match c as u32 {
        code @ 0x410..=0x43f => (code - 0x410 + 0x80) as u8,
        code @ 0x440..=0x44f => (code - 0x440 + 0xe0) as u8,
        code => code as u8,
    };
    text.chars().map(letter).collect()
}

fn latin_1(text: &str) -> Vec<u8> {
    text.chars().map(|c| c as u8).collect()
}

#[test]
fn windows_pings_in_any_language() {
    let english = windows(
        "Pinging example.net [192.0.2.1] with 32 bytes of data:",
        ["Reply from 192.0.2.1: bytes=32 time=", "ms TTL=57"],
        ["General failure.", "Reply from 192.0.2.7: Destination host unreachable."],
        [
            "Ping statistics for 192.0.2.1:",
            "Packets: Sent = 5, Received = 3, Lost = 2 (40% loss),",
            "Approximate round trip times in milli-seconds:",
            "Minimum = 12ms, Maximum = 14ms, Average = 13ms",
        ],
    );
    let german = windows(
        "Ping wird ausgeführt für 192.0.2.1 mit 32 Bytes Daten:",
        ["Antwort von 192.0.2.1: Bytes=32 Zeit=", "ms TTL=57"],
        ["Zeitüberschreitung der Anforderung.", "Allgemeiner Fehler."],
        [
            "Ping-Statistik für 192.0.2.1:",
            "Pakete: Gesendet = 5, Empfangen = 3, Verloren = 2",
            "Ca. Zeitangaben in Millisek.:",
            "Minimum = 12ms, Maximum = 14ms, Mittelwert = 13ms",
        ],
    );
    let french = windows(
        "Envoi d’une requête 'Ping' 192.0.2.1 avec 32 octets de données :",
        ["Réponse de 192.0.2.1 : octets=32 temps=", " ms TTL=57"],
        ["Délai d’attente de la demande dépassé.", "Défaillance générale."],
        [
            "Statistiques Ping pour 192.0.2.1:",
            "Paquets : envoyés = 5, reçus = 3, perdus = 2",
            "Durée approximative des boucles en millisecondes :",
            "Minimum = 12ms, Maximum = 14ms, Moyenne = 13ms",
        ],
    );
    let russian = windows(
        "Обмен пакетами с 192.0.2.1 по с 32 байтами данных:",
        ["Ответ от 192.0.2.1: число байт=32 время=", "мс TTL=57"],
        ["Превышен интервал ожидания для запроса.", "Общий сбой."],
        [
            "Статистика Ping для 192.0.2.1:",
            "Пакетов: отправлено = 5, получено = 3, потеряно = 2",
            "Приблизительное время приема-передачи в мс:",
            "Минимальное = 12мсек, Максимальное = 14 мсек, Среднее = 13 мсек",
        ],
    );
    let chinese = windows(
        "正在 Ping 192.0.2.1 具有 32 字节的数据:",
        ["来自 192.0.2.1 的回复: 字节=32 时间=", "ms TTL=57"],
        ["请求超时。", "一般故障。"],
        [
            "192.0.2.1 的 Ping 统计信息:",
            "数据包: 已发送 = 5，已接收 = 3，丢失 = 2 (40% 丢失)，",
            "往返行程的估计时间(以毫秒为单位):",
            "最短 = 12ms，最长 = 14ms，平均 = 13ms",
        ],
    );
    let japanese = windows(
        "192.0.2.1 に ping を送信しています 32 バイトのデータ:",
        ["192.0.2.1 からの応答: バイト数 =32 時間 =", "ms TTL=57"],
        ["要求がタイムアウトしました。", "一般エラーです。"],
        [
            "192.0.2.1 の ping 統計:",
            "パケット数: 送信 = 5、受信 = 3、損失 = 2",
            "ラウンド トリップの概算時間 (ミリ秒):",
            "最小 = 12ms、最大 = 14ms、平均 = 13ms",
        ],
    );
    let others = ["tiempo", "durata", "tempo", "czas"].map(|word| {
        english.replace("time=", &format!("{word}=")).replace("General failure", "Error general")
    });
    let with_mark = |text: &str| [b"\xff\xfe".to_vec(), utf_16(text, u16::to_le_bytes)].concat();
    let mut contents = vec![
        cp_866(&russian),
        latin_1(&german),
        with_mark(&russian),
        with_mark(&japanese),
        utf_16(&english, u16::to_le_bytes),
        utf_16(&english, u16::to_be_bytes),
        [b"\xfe\xff".to_vec(), utf_16(&french, u16::to_be_bytes)].concat(),
        format!("\u{feff}{german}").into_bytes(),
    ];
    contents.extend([english, german, french, russian, chinese, japanese].map(String::into_bytes));
    contents.extend(others.map(String::into_bytes));
    for content in contents {
        let found = log(&content);
        let shown = String::from_utf8_lossy(&content);
        assert_eq!(found.format, Format::Ping, "{shown}");
        let expected = [Some(12.0), Some(13.0), None, None, Some(14.0)];
        assert_eq!(trips(&found.streams[0]), expected, "{shown}");
    }
}

/// Over IPv6 Windows says neither bytes nor a time to live; below a millisecond it says less than one.
#[test]
fn windows_over_ipv6_and_on_a_short_path() {
    let text = "Pinging 2001:db8::1 with 32 bytes of data:\nReply from 2001:db8::1: time=12ms \nReply from \
                2001:db8::1: time<1ms \nRequest timed out.\nControl-C\n^C\nPS C:\\> \n";
    assert_eq!(trips(&log(text).streams[0]), [Some(12.0), Some(1.0), None]);
}

#[test]
fn words_between_replies_of_others_are_no_lost_probes() {
    let text = "time=12.5 ms\nnow the download begins\ntime=13 ms\n";
    assert_eq!(trips(&log(text).streams[0]), [Some(12.5), Some(13.0)]);
    let cut = "Reply from 192.0.2.1: bytes=32 time=12ms TTL=57\nRequest timed out.\n";
    assert_eq!(trips(&log(cut).streams[0]), [Some(12.0), None]);
}

fn iputils(stamps: &[&str]) -> String {
    let line = |(number, stamp): (usize, &&str)| {
        format!("{stamp}64 bytes from 192.0.2.1: icmp_seq={} ttl=57 time=20.0 ms\n", number + 1)
    };
    stamps.iter().enumerate().map(line).collect()
}

#[test]
fn times_before_lines_are_read() {
    for stamps in [
        ["Nov 29 23:59:59 ", "Nov 30 00:00:00 ", "Nov 30 00:00:01 "],
        [
            "Sun Nov 29 15:00:01 CET 2026: ",
            "Sun Nov 29 15:00:02 CET 2026: ",
            "Sun Nov 29 15:00:03 CET 2026: ",
        ],
        ["2026-11-29T15:00:01+0100 ", "2026-11-29T15:00:02+0100 ", "2026-11-29T14:00:03Z "],
        ["[2026-11-29 15:00:01.5] ", "[2026-11-29 15:00:02.5] ", "[2026-11-29 15:00:03.5] "],
        ["1795964401.25 ", "1795964402.25 ", "1795964403.25 "],
        ["15:00:01.25 ", "15:00:02.25 ", "15:00:03.25 "],
    ] {
        let found = log(iputils(&stamps));
        let times = sent(&found.streams[0]);
        assert!(found.untimed.is_none(), "{stamps:?}");
        assert!(
            times.windows(2).all(|two| (two[1] - two[0] - 1e3).abs() < 1e-3),
            "{stamps:?} {times:?}"
        );
    }
}

/// Five probes a second whose stamps have whole seconds.
#[test]
fn stamps_of_whole_seconds_are_spread() {
    let stamps: Vec<String> = (0..20).map(|n| format!("Nov 29 15:00:{:02} ", n / 5)).collect();
    let found = log(iputils(&stamps.iter().map(String::as_str).collect::<Vec<_>>()));
    let times = sent(&found.streams[0]);
    assert!(times.windows(2).all(|two| (two[1] - two[0] - 200.0).abs() < 1e-6), "{times:?}");
    assert_eq!(found.resolution_ms, 1e3);
}

#[test]
fn an_interval_may_be_given_to_probes_without_times() {
    let untimed = log(iputils(&["", "", ""]));
    assert_eq!(untimed.untimed.unwrap().from, IntervalFrom::Nowhere);
    assert_eq!(sent(&untimed.streams[0]), [1_000.0, 2_000.0, 3_000.0]);
    let known = untimed.clone().with_interval(200.0).unwrap();
    assert_eq!(sent(&known.streams[0]), [200.0, 400.0, 600.0]);
    assert_eq!(known.untimed.unwrap().from, IntervalFrom::User);
    for (log, ms, refused) in [
        (untimed, f64::NAN, "found NaN s; allowed: 0.0001 to 3600 s"),
        (log(iputils(&["[1.0] ", "[2.0] "])), 200.0, "whose probes have times"),
    ] {
        let fault = log.with_interval(ms).unwrap_err();
        assert!(fault.message.contains(refused), "{fault:?}");
    }
}

#[test]
fn numbered_lines_of_lost_probes_count() {
    let text = "[10.0] no answer yet for icmp_seq=1\n[11.02] 64 bytes from 192.0.2.1: icmp_seq=2 ttl=57 time=20.0 \
                ms\n[12.0] From 192.0.2.7 icmp_seq=3 Destination Host Unreachable\n[13.02] 64 bytes from 192.0.2.1: \
                icmp_seq=4 ttl=57 time=20.0 ms\n[15.0] no answer yet for icmp_seq=5\n\n--- example.net ping statistics \
                ---\n6 packets transmitted, 2 received, +1 errors, 66% packet loss, time 5007ms\n";
    let found = log(text);
    assert_eq!(trips(&found.streams[0]), [None, Some(20.0), None, Some(20.0), None, None]);
    let macos = "64 bytes from 192.0.2.1: icmp_seq=0 ttl=57 time=20.0 ms\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 \
                 time=20.0 ms\nRequest timeout for icmp_seq 2\nRequest timeout for icmp_seq 3\n";
    assert_eq!(trips(&log(macos).streams[0]), [Some(20.0), Some(20.0), None, None]);
}

/// Clocks of both ends differ by 2 s; where they differ by minutes, times are rounded too far for delays of one direction.
#[test]
fn lines_of_irtt_have_delays_of_both_directions() {
    let text = "[Connecting] connecting to 192.0.2.1\nseq=0 rtt=20.5ms rd=-1.99s sd=2.01s ipdv=n/a\nseq=1 rtt=20.5ms \
                rd=-1989.8ms sd=2010.3ms ipdv=1.2\u{b5}s\nseq=3 LATE rtt=1.02s rd=10ms sd=1.01s ipdv=999ms\nDUP! seq=3\nseq=4 \
                rtt=980\u{b5}s ipdv=20ms\nseq=5 rtt=20ms rd=-3m2s sd=3m2s ipdv=20ms\n\n                     duration: 3.08s (wait \
                80ms)\n   packets sent/received: 7/5 (28.57% loss)\n";
    let found = log(text);
    assert_eq!(found.format, Format::Irtt);
    let probes = &found.streams[0];
    let expected = [Some(20.5), Some(20.5), None, Some(1_020.0), Some(0.98), Some(20.0), None];
    assert_eq!(trips(probes), expected);
    assert_eq!(sent(probes), [0.0, 500.0, 1_000.0, 1_500.0, 2_000.0, 2_500.0, 3_000.0]);
    let ways: Vec<_> = probes.iter().map(|one| one.up_ms.zip(one.down_ms)).collect();
    assert_eq!(ways[1], Some((2_010.3, -1_989.8)));
    assert_eq!(ways[3], Some((1_010.0, 10.0)));
    assert_eq!([ways[0], ways[2], ways[4], ways[5], ways[6]], [None; 5]);
}

#[test]
fn fping_writes_json_too() {
    let event = |host: usize, seq: usize| {
        format!(
            "{{\"resp\": {{\"host\": \"192.0.2.{host}\", \"seq\": {seq}, \"size\": 64, \"rtt\": {}}}}}\n",
            20 * host
        )
    };
    let lost = "{\"timeout\": {\"host\": \"192.0.2.1\", \"seq\": 2}}\n";
    let summary =
        "{\"summary\": {\"host\": \"192.0.2.1\", \"xmt\": 4, \"rcv\": 3, \"loss\": 25}}\n";
    let text =
        [&event(1, 0), &event(2, 0), &event(1, 1), lost, &event(1, 3), &*event(2, 3), summary]
            .concat();
    for stamp in ["", "1795964401.25 ", "2026-11-29 15:00:01 "] {
        let stamped: String = text.lines().map(|line| format!("{stamp}{line}\n")).collect();
        let found = log(&stamped);
        assert_eq!((found.format, found.untimed.is_some()), (Format::Fping, stamp.is_empty()));
        assert_eq!(trips(&found.streams[0]), [Some(20.0), Some(20.0), None, Some(20.0)]);
        assert_eq!(trips(&found.streams[1]), [Some(40.0), None, None, Some(40.0)]);
    }
    let all = "{\"vSum\": {\"host\": \"192.0.2.1\", \"values\": [20.5, 21, null, 20.5]}}\n";
    assert_eq!(trips(&log(all).streams[0]), [Some(20.5), Some(21.0), None, Some(20.5)]);
    assert!(refusal(summary).contains("JSON without round_trips"));
}

/// Two runs in one file: the numbers of the second one begin again.
#[test]
fn runs_of_ping_follow_each_other() {
    let run = iputils(&[""; 20]);
    let found = log(format!("{run}{run}"));
    assert_eq!(sent(&found.streams[0]), (1..=40).map(|n| 1e3 * f64::from(n)).collect::<Vec<_>>());
    assert!(trips(&found.streams[0]).iter().all(Option::is_some));
}

/// Numbers 65 000 to 65 999 without times, of which 65 536 is 0 again; one answer comes late, and others are lost.
#[test]
fn numbers_of_16_bits_go_on() {
    let line =
        |n: u32| format!("64 bytes from 192.0.2.1: icmp_seq={} ttl=57 time=20.0 ms\n", n % 65_536);
    let mut order: Vec<u32> = (65_000..66_000).collect();
    order[534..538].rotate_left(1); // 65 535, 65 536, 65 537, 65 534
    let found = log(order.iter().copied().map(line).collect::<String>());
    let times = sent(&found.streams[0]);
    assert_eq!((times.len(), times[999]), (1_000, 65_999e3));
    assert!(trips(&found.streams[0]).iter().all(Option::is_some));
    let lossy = (65_000..66_000).filter(|n| !(65_500..65_600).contains(n)).map(line);
    let found = log(lossy.collect::<String>());
    assert_eq!(found.streams[0].len(), 1_000);
    assert_eq!(trips(&found.streams[0]).iter().filter(|trip| trip.is_none()).count(), 100);
    assert_eq!(found.streams[0][999].sent_ms, 65_999e3);
}

#[test]
fn lines_of_another_tool_are_counted() {
    let ping = iputils(&["[1.0] ", "[2.0] ", "[3.0] "]);
    let fping = "[1.0] 192.0.2.1 : [0], 64 bytes, 20.0 ms (20.0 avg, 0% loss)\n";
    let quality = "Uplink capacity: 10 Mbps\nResponsiveness: Low (193 milliseconds | 310 RPM)\n";
    let all = "192.0.2.1 : 20.0 21.0 -\n";
    for (text, expected) in [
        (format!("{ping}{fping}"), Some("3 lines of ping, which were not read: fping alone")),
        (format!("{all}{ping}"), Some("1 line of fping, which were not read: ping alone")),
        (
            format!("{ping}{quality}{fping}"),
            Some("3 lines of ping and 1 line of fping, which were not read: networkQuality alone"),
        ),
        (format!("{fping}{all}"), None),
        (ping.clone(), None),
        (quality.to_owned(), None),
    ] {
        let doubts = log(&text).doubts.join(" ");
        assert_eq!(doubts.is_empty(), expected.is_none(), "{doubts}");
        assert!(expected.is_none_or(|words| doubts.contains(words)), "{doubts}");
    }
}

#[test]
fn each_host_has_a_stream() {
    let ping = "[1.0] 64 bytes from a.example.net (192.0.2.1): icmp_seq=1 ttl=57 time=20 ms\n[1.1] 64 bytes from \
                198.51.100.1: icmp_seq=1 ttl=57 time=80 ms\n[2.0] 64 bytes from 192.0.2.1: icmp_seq=2 ttl=57 time=21 ms\n";
    let fping = "[1.0] 192.0.2.1 : [0], 64 bytes, 20.0 ms (20.0 avg, 0% loss)\n[1.1] 198.51.100.1 : [0], 64 bytes, 80.0 ms \
                 (80.0 avg, 0% loss)\n[2.0] 192.0.2.1 : [1], 64 bytes, 21.0 ms (20.5 avg, 0% loss)\n";
    for text in [
        ping,
        fping,
        &fping.replace("[1.", "Nov 29 15:00:01: [1.").replace("[2.", "Nov 29 15:00:02: [2."),
    ] {
        let found = log(text);
        assert!(found.has_hosts);
        assert_eq!(trips(&found.streams[0]), [Some(20.0), Some(21.0)]);
        assert_eq!(trips(&found.streams[1]), [Some(80.0)]);
    }
}

/// A round trip each 100 ms from `times`, with clocks of the client as `clocks` writes them.
fn irtt(count: u64, trip: impl Fn(u64) -> String) -> String {
    let trips: Vec<String> = (0..count).map(trip).collect();
    format!("{{\"round_trips\": [{}]}}", trips.join(","))
}

fn irtt_trip(clocks: &str, delay: &str, lost: &str) -> String {
    format!(
        "{{\"lost\": {lost}, \"timestamps\": {{\"client\": {{\"send\": {{{clocks}}}}}}}, \"delay\": {{{delay}}}}}"
    )
}

#[test]
fn irtt_may_have_one_clock_or_no_times_of_the_server() {
    for clock in ["wall", "monotonic"] {
        let found = log(irtt(20, |n| {
            let lost =
                ["\"false\"", "false", "\"true_up\"", "\"true_down\"", "\"true\""][n as usize % 5];
            irtt_trip(&format!("\"{clock}\": {}", n * 100_000_000), "\"rtt\": 20000000", lost)
        }));
        assert_eq!(
            found.streams[0][1],
            Probe { sent_ms: 100.0, up_ms: None, down_ms: None, rtt_ms: Some(20.0) }
        );
        assert_eq!(found.streams[0].iter().filter(|probe| probe.is_lost()).count(), 12);
    }
    // Somebody set the wall clock forward by an hour; the other one knows better.
    let stepped = log(irtt(40, |n| {
        let wall = n * 100_000_000 + if n < 20 { 0 } else { 3_600_000_000_000 };
        let clocks = format!("\"wall\": {wall}, \"monotonic\": {}", n * 100_000_000 + 7);
        irtt_trip(&clocks, "\"rtt\": 20000000", "\"false\"")
    }));
    assert!(stepped.steps.is_empty());
    assert!((stepped.streams[0][39].sent_ms - 3_900.0).abs() < 1e-3);
}

#[test]
fn a_clock_that_jumps_is_noticed() {
    let at = |n: usize| 1_700_000_000.0 + 0.2 * n as f64 + if n < 50 { 0.0 } else { 3600.0 };
    let text: String = (0..100)
        .map(|n| {
            format!("[{:.3}] 64 bytes from 192.0.2.1: icmp_seq={n} ttl=57 time=20.0 ms\n", at(n))
        })
        .collect();
    let found = log(text);
    let [step] = found.steps[..] else { panic!("{:?}", found.steps) };
    assert_eq!(step.clock, Clock::Home);
    assert!((step.by_ms - 3.6e6).abs() < 1.0);
    let last = found.streams[0].last().unwrap().sent_ms;
    assert!((last - found.start_ms() - 19_800.0).abs() < 1.0);
    // Loads are said in seconds without the jump.
    let found = found.with_loads(&[(12.0, 18.0)], &[]).unwrap();
    assert_eq!(found.load_at(step.after_ms + 5_000.0), Some(Load::Down));
    assert_eq!(found.load_at(step.after_ms), Some(Load::Idle));
}

/// How tools write times before lines, from ms since 1970.
const STAMPS: [fn(f64) -> String; 4] = [
    |ms| format!("[{:.6}] ", ms / 1e3),
    |ms| format!("{:.3} ", ms / 1e3),
    |ms| {
        let day_ms = ms.rem_euclid(86.4e6);
        let [hours, minutes] = [day_ms / 3.6e6, day_ms / 6e4 % 60.0].map(f64::floor);
        format!("2026-11-29 {hours:02}:{minutes:02}:{:06.3} ", day_ms / 1e3 % 60.0)
    },
    |ms| format!("Nov 29 15:00:01: [{:.3}] ", ms / 1e3),
];

/// Lines of ping or fping, 100 probes at `interval_ms` with jitter, of which some are lost. The clock steps by `by_ms`
/// before one of them, and the home sleeps so long.
fn stepped(
    tool: Format,
    stamp: usize,
    interval_ms: f64,
    from: usize,
    by_ms: f64,
    seed: u64,
) -> String {
    let line = |n: usize| {
        let noise = |salt: u64| {
            let mixed = (seed + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ n as u64;
            (mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 24)
        };
        let ms = 1_795_946_400_000.0 + interval_ms * (n as f64 + 0.02 * noise(1));
        let rtt = 20.0 + 30.0 * noise(2);
        let stamp = STAMPS[stamp](ms + rtt + if n < from { 0.0 } else { by_ms });
        let is_kept = n == from || n + 1 == from || noise(3) > 0.05;
        is_kept.then(|| match tool {
            Format::Fping => {
                format!("{stamp}192.0.2.1 : [{n}], 64 bytes, {rtt:.2} ms (20 avg, 0% loss)\n")
            }
            _ => format!("{stamp}64 bytes from 192.0.2.1: icmp_seq={n} ttl=57 time={rtt:.2} ms\n"),
        })
    };
    (0..100).filter_map(line).collect()
}

/// A terminal that was stopped for 13 s prints what it holds at once: the times after that are right.
#[test]
fn held_lines_are_no_step() {
    let at_s = |n: usize| if (200..265).contains(&n) { 53.0 } else { 0.2 * n as f64 };
    let line = |n: usize| {
        format!(
            "[{:.3}] 64 bytes from 192.0.2.1: icmp_seq={n} ttl=57 time=20.0 ms\n",
            1.8e9 + at_s(n)
        )
    };
    let found = log((0..500).map(line).collect::<String>());
    assert_eq!(found.steps, []);
    assert!((found.streams[0][499].sent_ms - found.start_ms() - 99_800.0).abs() < 1.0);
}

/// Programs that keep lines hold them back; `ping -c 4` in a loop numbers each of its runs.
#[test]
fn lines_in_bursts_and_in_short_runs_are_as_they_left() {
    let line = |n: usize, at_s: f64, number: usize| {
        format!(
            "{at_s:.1} 64 bytes from 192.0.2.{}: icmp_seq={number} ttl=57 time=20.0 ms\n",
            n % 2
        )
    };
    let bursts: String = (0..400).map(|n| line(0, 1.8e9 + 12.1 * (n / 60) as f64, n)).collect();
    let found = log(bursts);
    assert!(found.doubts[0].contains("in bursts, 12.1 s after each other"), "{:?}", found.doubts);
    let steps: Vec<f64> = sent(&found.streams[0]).windows(2).map(|two| two[1] - two[0]).collect();
    assert!(steps[..358].iter().all(|ms| (ms - 200.0).abs() < 15.0), "{steps:?}");
    for each in [1, 4, 5, 8] {
        let runs: String = (0..200)
            .map(|n| line(n / 5 % 2, 1.8e9 + n as f64, 1 + n / 10 * 5 % each + n % each))
            .collect();
        let one: String = (0..100).map(|n| line(0, 1.8e9 + n as f64, n % each)).collect();
        assert_eq!(trips(&log(&one).streams[0]), [Some(20.0); 100], "{each}");
        assert_eq!(log(runs).streams.len(), 2);
    }
}

#[test]
fn a_step_of_the_servers_clock_is_seen_in_delays_of_directions() {
    for by_ms in [-1_000.0, -40.0, 40.0, 3.6e6] {
        let found = log(irtt(100, |n| {
            let step = if n < 50 { 0.0 } else { by_ms };
            // Queues of 0 to 4 ms upstream.
            let (up, down) = (5.0 + (n % 5) as f64 + step, 7.0 - step);
            let delay = format!(
                "\"send\": {}, \"receive\": {}, \"rtt\": {}",
                (up * 1e6).round(),
                (down * 1e6).round(),
                ((up + down) * 1e6).round()
            );
            irtt_trip(&format!("\"wall\": {}", n * 100_000_000), &delay, "\"false\"")
        }));
        let [step] = found.steps[..] else { panic!("{by_ms}: {:?}", found.steps) };
        assert_eq!((step.clock, step.after_ms), (Clock::Server, 4_900.0));
        assert!((step.by_ms - by_ms).abs() < 5.0, "{step:?}");
    }
}

/// A queue of 100 ms that comes and goes is no step.
#[test]
fn queues_are_no_steps() {
    let found = log(irtt(200, |n| {
        let up = 5.0 + if (50..100).contains(&n) { 2.0 * (n - 50) as f64 } else { 0.0 };
        let down = 7.0 + if (120..150).contains(&n) { 100.0 } else { 0.0 };
        let delay = format!(
            "\"send\": {}, \"receive\": {}, \"rtt\": {}",
            up * 1e6,
            down * 1e6,
            (up + down) * 1e6
        );
        irtt_trip(&format!("\"wall\": {}", n * 100_000_000), &delay, "\"false\"")
    }));
    assert_eq!(found.steps, []);
}

#[test]
fn tables_have_many_forms() {
    for text in [
        "sent_ms\trtt_ms\n1000\t12.5\n2000\t1250\n",
        "sent_ms;rtt_ms\n1000;12,5\n2000;1.250,0\n",
        "SENT_MS,RTT_MS\r\n1000,12.5\r\n2000,\"1,250\"\r\n",
        "sent_ms,rtt_ms\r1000,12.5\r2000,1250\r",
        "# a line of Monday\n\n# with sent_ms and rtt_ms\nSent (ms),RTT [ms],note\n1000,12.5,x\n2000,1250,y\n",
        "#sent_ms,rtt_ms\n1000,12.5\n# a pause\n2000,1250\n",
        "\u{feff}\"sent_ms\",\"rtt ms\"\n\"1,000\",\"12.5\"\n\"2,000\",\"1 250\"\n",
        "time (s);latency (\u{b5}s)\n1,0;12500\n2,0;1250000\n",
        "time,latency_ms,sent_ms,rtt_ms\nx,y,1000,12.5\nx,y,2000,1250\n",
        "timestamp,rtt_us\n1970-01-01 00:00:01,12500\n1970-01-01T00:00:02Z,1250000\n",
    ] {
        let found = log(text);
        assert_eq!(found.format, Format::Csv, "{text}");
        assert_eq!(trips(&found.streams[0]), [Some(12.5), Some(1250.0)], "{text}");
        assert_eq!(sent(&found.streams[0]), [1_000.0, 2_000.0], "{text}");
    }
    let lost = log("sent_ms,rtt_ms\n1,20\n2,-\n3,\n4,NaN\n5,null\n");
    assert_eq!(lost.streams[0].iter().filter(|probe| probe.is_lost()).count(), 4);
    let rates = log("sent_ms,rtt_ms,down_kbps,up (Mbit/s)\n1000,20,80000,10\n");
    assert_eq!(rates.ways.each_ref().map(|way| way.rates[0].mbps), [80.0, 10.0]);
    for (text, found) in [
        ("sent_ms,rtt\n1,2\n", "line 1: found 'rtt' without a unit; allowed: rtt_ms"),
        ("sent_ms,rtt_ms\n1,1.2.3\n", "line 2: rtt_ms: found '1.2.3'; allowed: a number"),
        ("time,rtt_ms\n1.5,2\n", "line 2: time: found '1.5'; allowed: a date and time"),
    ] {
        assert!(refusal(text).contains(found), "{}", refusal(text));
    }
}

const IDLE_LINE: &str = "sent_ms,rtt_ms,down_mbps,up_mbps\n";

/// Rates of a line on which little goes on; an upload of 1.2 Mbps is one, on a line of 80 Mbps too.
#[test]
fn a_small_rate_is_no_load() {
    let row = |n: usize, down: f64, up: f64| format!("{},20,{down},{up}\n", n * 1000);
    let idle: String = (0..60).map(|n| row(n, 0.05 * (n % 3) as f64, 0.02)).collect();
    let found = log(format!("{IDLE_LINE}{idle}"));
    assert!(found.streams[0].iter().all(|one| found.load_at(one.sent_ms) == Some(Load::Idle)));
    assert!(found.ways.iter().all(|way| way.light_mbps.is_some_and(|mbps| mbps < 0.2)));
    let both: String = (0..60)
        .map(|n| row(n, if n < 30 { 80.0 } else { 0.1 }, if n < 30 { 0.1 } else { 1.2 }))
        .collect();
    let found = log(format!("{IDLE_LINE}{both}"));
    assert_eq!(found.load_at(10_000.0), Some(Load::Down));
    assert_eq!(found.load_at(50_000.0), Some(Load::Up));
    // What the file or its user calls a load is one.
    let slow: String = (0..60).map(|n| row(n, 0.01, 0.3)).collect();
    let named = log(format!("{IDLE_LINE}{slow}")).with_loads(&[], &[(20.0, 40.0)]).unwrap();
    assert_eq!(named.load_at(30_000.0), Some(Load::Up));
}

#[test]
fn times_of_loads_are_within_the_log() {
    let text = iputils(&["[10.0] ", "[20.0] ", "[30.0] "]);
    for span in [(-1.0, 5.0), (5.0, 5.0), (25.0, 30.0), (5.0, 40.0), (f64::NAN, 3.0)] {
        let fault = log(&text).with_loads(&[], &[span]).unwrap_err();
        assert!(fault.message.contains("within the log, 0 to 20.0 s"), "{fault:?}");
    }
    assert!(log(&text).with_loads(&[(5.0, 10.0)], &[]).unwrap().doubts.is_empty());
}

/// In each direction either the times of the user or those of the file count: a download at 3 to 6 s and an upload at 6
/// to 9 s in the file.
#[test]
fn each_load_is_the_users_or_the_files() {
    let row =
        |n: usize| format!("{},20,{}\n", n * 1000, ["idle", "down", "up"][(n / 3).min(3) % 3]);
    let text = format!("sent_ms,rtt_ms,load\n{}", (0..13).map(row).collect::<String>());
    let own = [vec![(3e3, 6e3)], vec![(6e3, 9e3)]];
    for given in [[None, None], [Some((1.0, 4.5)), None], [None, Some((7.0, 12.0))]] {
        let [down, up] = given;
        let found = log(&text).with_loads(down.as_slice(), up.as_slice()).unwrap();
        for ((way, name), (spans, given)) in
            found.ways.iter().zip(["download", "upload"]).zip(own.iter().zip(given))
        {
            let said = |begin: &str| found.doubts.iter().any(|one| one.starts_with(begin));
            match given {
                None => assert_eq!(&way.loaded_ms, spans),
                Some((from, to)) => assert_eq!(way.loaded_ms, [(from * 1e3, to * 1e3)]),
            }
            assert_eq!(said(&format!("Your times of the {name} count, and not")), given.is_some());
            assert_eq!(said(&format!("The times of the {name} are those")), given.is_none());
        }
    }
}

fn flent(metadata: &str, raw: &str, sampled: &str) -> String {
    format!(
        "{{\"version\": 4, \"metadata\": {{{metadata}}}, \"raw_values\": {{{raw}}}, {sampled}}}"
    )
}

fn raw(name: &str, values: impl Iterator<Item = (f64, f64)>) -> String {
    let values: Vec<String> =
        values.map(|(t, val)| format!("{{\"t\": {t}, \"val\": {val}}}")).collect();
    format!("\"{name}\": [{}]", values.join(","))
}

fn seconds(from: usize, to: usize, val: f64) -> impl Iterator<Item = (f64, f64)> {
    (from..to).map(move |t| (1_700_000_000.0 + t as f64, val))
}

const NO_SAMPLES: &str = "\"x_values\": [], \"results\": {}";

#[test]
fn flents_series_are_known_by_units_and_tests() {
    for (test, series, units, expected) in [
        ("tcp_12up", "TCP upload::12", "Mbits/s", [None, Some(30.0)]),
        ("tcp_nup", "TCP BBR", "Mbits/s", [None, Some(30.0)]),
        ("tcp_ndown", "TCP::1", "Mbits/s", [Some(30.0), None]),
        ("rrul_noclassification", "TCP download 4", "Mbits/s", [Some(30.0), None]),
        ("tcp_bidirectional", "TCP download", "Mbits/s", [Some(30.0), None]),
        ("tcp_upload", "TCP upload::1::tcp_delivery_rate", "Mbits/s", [None, None]),
        ("tcp_upload", "TCP upload loss", "packets", [None, None]),
        ("http", "TCP upload retransmits", "ms", [None, None]),
    ] {
        let meta = format!(
            "\"NAME\": \"{test}\", \"SERIES_META\": {{\"{series}\": {{\"UNITS\": \"{units}\", \"RUNNER\": null}}}}"
        );
        let series = raw(series, seconds(5, 35, 30.0));
        let pings = raw("Ping (ms) ICMP", seconds(0, 40, 20.0));
        let found = log(flent(
            &meta,
            &format!("{series}, {pings}, \"Ping (ms) UDP BE\": null"),
            NO_SAMPLES,
        ));
        let rates = found.ways.each_ref().map(|way| way.rates.get(10).map(|rate| rate.mbps));
        assert_eq!(rates, expected, "{test}");
        assert_eq!(found.streams.len(), 1);
    }
}

/// Series end at different times, and one is sampled alone: its times count from the first of the others.
#[test]
fn flents_raw_values_count_more_than_samples() {
    let sampled = "\"x_values\": [0, 1, 2, 3], \"results\": {\"Ping (ms) ICMP\": [9, 9, 9, 9], \"TCP upload\": [null, 5, \
                   5, null]}";
    let found = log(flent(
        "\"NAME\": \"tcp_upload\"",
        &raw("Ping (ms) ICMP", seconds(0, 3, 20.0)),
        sampled,
    ));
    assert_eq!(trips(&found.streams[0]), [Some(20.0); 3]);
    let [_, up] = &found.ways;
    assert_eq!(up.loaded_ms, [(1_700_000_000_000.0, 1_700_000_002_000.0)]);
}

#[test]
fn flents_fair_tests_have_several_hosts() {
    let pings: Vec<String> = [1, 2]
        .map(|host| raw(&format!("Ping (ms) BE{host}"), seconds(0, 20, 20.0 * f64::from(host))))
        .into();
    let text = |test: &str| flent(&format!("\"NAME\": \"{test}\""), &pings.join(","), NO_SAMPLES);
    assert!(log(text("rtt_fair")).has_hosts && log(text("rtt_fair_var_up")).has_hosts);
    assert!(!log(text("rrul")).has_hosts);
}

#[test]
fn networkquality_speaks_text_too() {
    let parallel = "==== SUMMARY ====\nUplink capacity: 10.5 Mbps\nDownlink capacity: 1.2 Gbps\nResponsiveness: Low \
                    (193.5 milliseconds | 310 RPM)\nIdle Latency: 21.5 milliseconds | 2790 RPM\nInterface: en0\n";
    let summary = log(parallel).summary.unwrap();
    assert_eq!(summary.idle_ms, [21.5]);
    let both = &summary.loads[0];
    assert_eq!(
        (both.load, both.rpm, both.mbps),
        (Load::Both, Some(310.0), [Some(1200.0), Some(10.5)])
    );
    let one_by_one = "==== SUMMARY ====\nUpload capacity: 36.5 Mbps\nDownload capacity: 865.5 Mbps\nUpload flows: \
                      16\nDownload flows: 12\nUpload Responsiveness: High (1250 RPM)\nDownload Responsiveness: High (1818 \
                      RPM)\n";
    let loads: Vec<_> = log(one_by_one)
        .summary
        .unwrap()
        .loads
        .into_iter()
        .map(|one| (one.load, one.rpm, one.mbps))
        .collect();
    let down = (Load::Down, Some(1818.0), [Some(865.5), None]);
    assert_eq!(loads, [down, (Load::Up, Some(1250.0), [None, Some(36.5)])]);
}

#[test]
fn a_test_that_failed_says_so() {
    let text = "{\"error_code\": -1009, \"responsiveness\": 300, \"base_rtt\": 20}";
    assert!(log(text).doubts[0].contains("ended with error -1009"));
    assert!(log(text.replace("-1009", "0")).doubts.is_empty());
    assert!(refusal("{\"error_code\": -1009}").contains("a test that ended with error -1009"));
    // Requests stand in for handshakes, under load and at rest.
    let old = "{\"responsiveness\": 300, \"base_rtt\": 9, \"il_h2_req_resp\": [20, 22], \"lud_foreign_h2_req_resp\": \
               [90]}";
    let summary = log(old).summary.unwrap();
    assert_eq!(
        (&*summary.idle_ms, &*summary.loads[0].foreign_ms),
        (&[20.0, 22.0][..], &[90.0][..])
    );
    let crusader = "{\"server_overload\": true, \"stream_groups\": [], \"pings\": [{\"sent\": {\"secs\": 1, \"nanos\": 0}, \
                    \"latency\": {\"total\": {\"secs\": 0, \"nanos\": 20000000}}}]}";
    assert!(log(crusader).doubts[0].contains("server was overloaded"));
    assert!(log(crusader.replace("true", "false")).doubts.is_empty());
}

/// Older exports have the points of a stream without a name.
#[test]
fn crusaders_streams_have_two_forms() {
    let time =
        |ms: u64| format!("{{\"secs\": {}, \"nanos\": {}}}", ms / 1000, ms % 1000 * 1_000_000);
    let points: Vec<String> = (0..=50)
        .map(|n| format!("{{\"time\": {}, \"bytes\": {}}}", time(2_000 + 100 * n), 125_000 * n))
        .collect();
    let pings: Vec<String> = (0..40)
        .map(|n| {
            format!("{{\"sent\": {}, \"latency\": {{\"total\": {}}}}}", time(200 * n), time(20))
        })
        .collect();
    let points = points.join(",");
    for stream in [format!("[{points}]"), format!("{{\"data\": [{points}]}}")] {
        let found = log(format!(
            "{{\"stream_groups\": [{{\"download\": false, \"both\": false, \"streams\": [{stream}]}}], \"pings\": [{}]}}",
            pings.join(",")
        ));
        assert_eq!(found.ways[1].loaded_ms, [(2_000.0, 7_000.0)]);
        assert!(found.ways[1].rates.iter().all(|rate| (rate.mbps - 10.0).abs() < 1e-6), "{stream}");
        assert_eq!(found.load_at(3_000.0), Some(Load::Up));
    }
}

/// Numbers far from each other are no lost probes, and as many loads as rows take no longer than few.
#[test]
fn no_file_makes_the_reader_work_without_end() {
    let far: String = (0..20_000)
        .map(|n| {
            format!("[{n}] 64 bytes from 192.0.2.1: icmp_seq={} ttl=57 time=20.0 ms\n", n * 4_999)
        })
        .collect();
    assert!(log(far).streams[0].len() <= 1_020_000);
    let rows: String = (0..100_000)
        .map(|n| format!("{},20,{}\n", n * 5_000, if n % 2 == 0 { "up" } else { "idle" }))
        .collect();
    let many = log(format!("sent_ms,rtt_ms,load\n{rows}"));
    assert_eq!(many.ways[1].loaded_ms.len(), 50_000);
    let loaded = many.streams[0].iter().filter(|one| many.load_at(one.sent_ms) == Some(Load::Up));
    assert_eq!(loaded.count(), 50_000);
}

at_random! { 200;
    /// Half a second or an hour, forward or back: there is one step, and times go on as without it.
    #[test]
    fn steps_of_the_homes_clock_are_taken_out(
        is_fping in sojourn_testing::proptest::bool::ANY,
        stamp in 0_usize..4,
        interval_ms in 20.0..1_000.0,
        from in 12_usize..88,
        size_ms in 6.0_f64..12.0,
        is_back in sojourn_testing::proptest::bool::ANY,
        seed in 1_u64..1_000_000,
    ) {
        let tool = if is_fping { Format::Fping } else { Format::Ping };
        let by_ms = size_ms.exp() * if is_back { -1.0 } else { 1.0 };
        let found = log(stepped(tool, stamp, interval_ms, from, by_ms, seed));
        let still = log(stepped(tool, stamp, interval_ms, from, 0.0, seed));
        assert_eq!(still.steps, []);
        let [step] = found.steps[..] else { panic!("{by_ms} {interval_ms}: {:?}", found.steps) };
        let error_ms = 2.0 + 0.1 * interval_ms;
        assert!((step.by_ms - by_ms).abs() < error_ms, "{by_ms}: {step:?}");
        let both = found.streams[0].iter().zip(&still.streams[0]);
        assert!(found.streams[0].len() == still.streams[0].len());
        for (one, other) in both.filter(|(one, _)| !one.is_lost()) {
            assert!((one.sent_ms - other.sent_ms).abs() < error_ms, "{one:?} {other:?}");
        }
    }

    #[test]
    fn any_time_before_a_line_is_read_or_passed_over(
        stamps in sojourn_testing::proptest::collection::vec("[\\[(]?[0-9:TZ+., /APMé-]{0,30}[\\])]?:? ", 1..6),
    ) {
        let found = log(iputils(&stamps.iter().map(String::as_str).collect::<Vec<_>>()));
        assert_eq!(found.streams[0].iter().filter(|one| !one.is_lost()).count(), stamps.len());
    }

    #[test]
    fn any_table_is_read_or_refused(
        header in "(#? ?(sent|time|rtt|load|up|stream)[_ (]?(ms|s|us|mbps)?[)]?[,;\t]){1,4}",
        rows in sojourn_testing::proptest::collection::vec("[0-9.,;\t\"' :eE+#é-]{0,40}", 0..6),
    ) {
        let _ = read("a.csv", format!("{header}\n{}", rows.join("\n")).as_bytes());
    }

    #[test]
    fn any_message_of_windows_is_read_or_refused(
        lines in sojourn_testing::proptest::collection::vec("[a-zé:=<> ]{0,12}(TTL=9|=7ms|<1ms TTL=)?[.:]?", 0..9),
    ) {
        let _ = read("a.txt", lines.join("\n").as_bytes());
    }
}
