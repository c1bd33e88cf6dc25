//! Marks between two ends: the rates of Prague and DCTCP at a given share of marks, the ECN field of what is
//! sent, and the pace at which it is sent.

use super::super::accecn::EcnMode;
use super::super::cc::{dctcp, prague};
use super::*;

/// A marker: every n-th segment, or each with probability 1/n.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Marks {
    Even(u64),
    Random(u64),
}

impl Marks {
    fn marker(self) -> Box<dyn FnMut() -> bool> {
        match self {
            Self::Even(n) => {
                let mut seen = 0;
                Box::new(move || {
                    seen += 1;
                    seen % n == 0
                })
            }
            Self::Random(n) => {
                let mut rng = Rng::named(5, "marks");
                Box::new(move || rng.uniform() * (n as f64) < 1.0)
            }
        }
    }
}

fn prague_spec() -> CongestionSpec {
    CongestionSpec::Prague(prague::Parameters::default())
}

fn with(control: CongestionSpec) -> TcpOptions {
    TcpOptions { congestion_control: Some(control), ..TcpOptions::default() }
}

/// An endless upload of so many seconds over a pipe without a queue.
fn endless(options: &TcpOptions, rtt: Time, marks: Option<Marks>, seconds: u64) -> Pair {
    let config = options.resolve(Dialect::Linux);
    let mut pair = Pair::new(config, rtt.scaled(0.5), nothing(), nothing());
    if let Some(marks) = marks {
        pair.marker = marks.marker();
    }
    pair.upload_endlessly();
    pair.run_until(Time::from_s(seconds));
    pair
}

/// IP packets of 1500 bytes in Mb/s, between 20 s and the end.
fn rate_mbps(options: &TcpOptions, rtt_ms: u64, marks: Marks, seconds: u64) -> f64 {
    let mut pair = endless(options, Time::from_ms(rtt_ms), Some(marks), 20);
    let before = pair.reported[SERVER].received_bytes;
    pair.run_until(Time::from_s(seconds));
    let bytes = pair.reported[SERVER].received_bytes - before;
    assert_eq!(pair.timeouts, [0, 0]);
    bytes as f64 / 1448.0 * 1500.0 * 8.0 / 1e6 / (seconds - 20) as f64
}

/// Even marks, and a reaction to every k-th: what grows between two reactions, (1 - p) k/x of a segment,
/// is what one takes, half of p W = x/2: x = sqrt(2 k (1 - p)) marks a round of 25 ms, or of the round trip
/// if that is longer. The rate is x/p segments a round. With k = 2 the second mark comes 2/x = 1.02 rounds
/// after a reaction: that is 1/p - 1 Mb/s but for 6 %, the rate that Linux' header states for its prague, so
/// 25 Mb/s at p = 1/26. In short round trips the marks come in the steps of acknowledgements, the second just
/// misses the end of the round, and k is 3.
#[test]
fn prague_has_the_rate_of_its_law_at_even_marks() {
    for (rtt_ms, n, k) in [
        (25_u32, 26, 2.0),
        (50, 26, 2.0),
        (100, 26, 2.0),
        (20, 101, 2.0),
        (5, 26, 3.0),
        (10, 26, 3.0),
        (10, 11, 3.0),
    ] {
        let rounds_per_s = 1e3 / f64::from(rtt_ms.max(25));
        let x = (2.0 * k * (1.0 - 1.0 / n as f64)).sqrt();
        let law = x * n as f64 * 0.012 * rounds_per_s;
        let header = (n - 1) as f64 * rounds_per_s / 40.0;
        let rate = rate_mbps(&with(prague_spec()), rtt_ms.into(), Marks::Even(n), 120);
        println!("prague even 1/{n}, {rtt_ms} ms: {rate:.2} Mb/s, {:.3} of {law:.2}", rate / law);
        assert!((rate / law - 1.0).abs() < 0.03, "1/{n}, {rtt_ms} ms: {rate} and {law} Mb/s");
        assert!(k > 2.0 || (rate / header - 1.0).abs() < 0.05, "1/{n}: {rate}, {header} Mb/s");
    }
}

/// Independent marks come x a round on average, and the first after a reaction's round is waited for: a
/// reaction each round and 1/x. What grows in that, (1 - p)(1 + 1/x) of a segment a round, is what a
/// reaction takes, half of p W = x/2: x^2 = 2 (1 - p)(x + 1). With p = 1/26 x = 2.65, where even marks have
/// x = 2 sqrt(1 - p) = 1.96. The rate is x/p segments in 25 ms.
#[test]
fn prague_has_the_rate_of_its_law_at_random_marks() {
    for (rtt_ms, n) in [(10, 26), (25, 26), (50, 26), (20, 101)] {
        let unmarked = 1.0 - 1.0 / n as f64;
        let x = unmarked + (unmarked * unmarked + 2.0 * unmarked).sqrt();
        let law = x * n as f64 * 0.012 / (rtt_ms.max(25) as f64 / 1e3);
        let rate = rate_mbps(&with(prague_spec()), rtt_ms, Marks::Random(n), 320);
        println!("prague random 1/{n}, {rtt_ms} ms: {rate:.2} of {law:.2}, {:.3}", rate / law);
        assert!((rate / law - 1.0).abs() < 0.05, "1/{n}, {rtt_ms} ms: {rate} and {law} Mb/s");
    }
}

/// DCTCP reacts once a window of data, which it does not grow in. Independent marks come x a window, the next
/// reaction after 1 + 1/x windows, so 1/x of a segment grows; a reaction takes half of p W = x/2, less half a
/// segment on average as it is rounded down: 1/x = x/2 - 1/2, x = 2: a window of 2/p segments, as its papers have it.
#[test]
fn dctcp_has_a_window_in_proportion_to_the_distance_of_marks() {
    for n in [50, 100] {
        let spec = CongestionSpec::Dctcp(dctcp::Parameters::default());
        let rate = rate_mbps(&with(spec), 50, Marks::Random(n), 320);
        let window = rate * 1e6 / 8.0 / 1500.0 * 0.05;
        println!("dctcp random 1/{n}: window {window:.1}");
        assert!((window / n as f64 / 2.0 - 1.0).abs() < 0.1, "{window} segments at 1/{n}");
    }
}

fn fields(pair: &Pair, end: usize, is_meant: fn(&Segment) -> bool) -> Vec<Ecn> {
    let kept = pair.pipes[end].kept.as_ref().expect("they are kept");
    let mut fields: Vec<Ecn> =
        kept.iter().filter(|(_, segment, _)| is_meant(segment)).map(|(.., ecn)| *ecn).collect();
    fields.dedup();
    fields
}

/// A file of 100 segments, of which one is lost; every segment is kept.
fn file(options: &TcpOptions) -> Pair {
    let mut pair =
        Pair::new(options.resolve(Dialect::Linux), RTT.scaled(0.5), data(&[12]), nothing());
    pair.pipes.iter_mut().for_each(|pipe| pipe.kept = Some(Vec::new()));
    pair.upload(100 * 1448);
    pair.run(Time::from_s(30));
    assert_eq!(pair.pipes[CLIENT].data_resent, 1);
    pair
}

/// RFC 9331 §4.1: Prague's SYN, data, retransmission and acknowledgements are ECT(1). Reno with counters sends
/// new data alone as ECT(0) (RFC 3168 §6.1.4, §6.1.5).
#[test]
fn what_is_ect() {
    let pair = file(&with(prague_spec()));
    for end in [CLIENT, SERVER] {
        assert_eq!(fields(&pair, end, |_| true), [Ecn::Ect1]);
    }
    let reno = CongestionSpec::Reno(reno::Parameters {});
    let pair = file(&TcpOptions { ecn: Some(EcnMode::Accecn), ..with(reno) });
    let new = fields(&pair, CLIENT, |segment| segment.len > 0);
    assert_eq!(new, [Ecn::Ect0, Ecn::NotEct, Ecn::Ect0]);
    assert_eq!(fields(&pair, CLIENT, |segment| segment.len == 0), [Ecn::NotEct]);
    assert_eq!(fields(&pair, SERVER, |_| true), [Ecn::NotEct]);
}

/// A peer that knows classic ECN alone, or none: Prague is Not-ECT after its SYN
/// (RFC 9331 §4.2).
#[test]
fn without_accurate_feedback_prague_is_not_ect() {
    for peer in [EcnMode::Off, EcnMode::Classic] {
        let config = with(prague_spec()).resolve(Dialect::Linux);
        let reno = CongestionSpec::Reno(reno::Parameters {});
        let other = TcpOptions { ecn: Some(peer), ..with(reno) }.resolve(Dialect::Linux);
        let end = |config| Endpoint::new(config, Seed::named(1, "test"));
        let (mut prague, mut server) = (end(&config), end(&other));
        prague.open();
        prague.send(2 * 1448, &config);
        let syn = prague.poll(Time::ZERO, &config).expect("a SYN");
        assert_eq!(syn.ecn, Ecn::Ect1);
        server.on_segment(Time::ZERO, &syn.segment, Time::ZERO, syn.ecn, &other);
        let answer = server.poll(Time::ZERO, &other).expect("its answer");
        prague.on_segment(RTT, &answer.segment, Time::ZERO, answer.ecn, &config);
        let first = prague.poll(RTT, &config).expect("data");
        assert_eq!((first.segment.len, first.ecn), (1448, Ecn::NotEct), "{peer:?}");
    }
}

/// What enters the queue: at 23.9 Mb/s (see above) a segment takes 0.502 ms on average, and a burst of 244 us
/// is one segment. The pace is 3 % more in one half of a round and 3 % less in the other: 0.487 and 0.518 ms.
#[test]
fn prague_is_paced_one_segment_at_a_time_with_a_wobble() {
    let config = with(prague_spec());
    let mut pair = endless(&config, Time::from_ms(25), Some(Marks::Even(26)), 20);
    pair.pipes[CLIENT].kept = Some(Vec::new());
    pair.run_until(Time::from_s(40));
    let kept = pair.pipes[CLIENT].kept.as_ref().expect("they are kept");
    let times: Vec<Time> =
        kept.iter().filter(|(_, segment, _)| segment.len > 0).map(|kept| kept.0).collect();
    let mut gaps: Vec<f64> = times.windows(2).map(|two| two[1].since(two[0]).ms_f64()).collect();
    gaps.sort_by(f64::total_cmp);
    let at = |share: f64| gaps[(share * gaps.len() as f64) as usize];
    println!(
        "gaps {:.3} {:.3} {:.3} {:.3} {:.3} ms",
        gaps[0],
        at(0.01),
        at(0.25),
        at(0.75),
        at(0.99)
    );
    let mean = 20_000.0 / times.len() as f64;
    assert!(gaps[0] > 0.9 * mean, "a burst: {} of {mean} ms", gaps[0]);
    assert!(at(0.25) < 0.98 * mean && at(0.75) > 1.02 * mean, "no wobble");
}

/// A modem that passes on the last acknowledgement in 4 ms, as few as one for 12 segments. The counters tell
/// Prague all; the rate is 4 ms of window in 25 less at most. With the field ACE alone the first
/// acknowledgements of many are taken for wraps, and then no more.
#[test]
fn counters_survive_thinned_acknowledgements() {
    let rate = |ace_bits: u8, thins: Option<Time>| {
        let options = TcpOptions { ace_bits: Some(ace_bits), ..with(prague_spec()) };
        let config = options.resolve(Dialect::Linux);
        let mut pair = Pair::new(config, Time::from_us(12_500), nothing(), nothing());
        pair.pipes[SERVER].thins = thins;
        pair.marker = Marks::Random(26).marker();
        pair.upload_endlessly();
        pair.run_until(Time::from_s(200));
        assert_eq!(pair.timeouts, [0, 0]);
        pair.reported[SERVER].received_bytes as f64
    };
    let all = rate(24, None);
    for bits in [24, 3] {
        let share = rate(bits, Some(Time::from_ms(4))) / all;
        println!("{bits} bits: {share:.3} of the rate with all acknowledgements");
        assert!((0.84..=1.02).contains(&share), "{bits} bits: {share}");
    }
}

/// What a peer or a path does to a connection.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Path(EcnPath),
    Server(EcnMode),
    Silent,
}

/// The fields of an upload's data, each once in its order, and whether the window is below its maximum of 100 segments
/// after a time without losses in which every 50th segment is marked.
fn with_fault(options: &TcpOptions, dialect: Dialect, fault: Fault) -> (Vec<Ecn>, bool) {
    let mut options = TcpOptions { max_window_segments: Some(100), ..options.clone() };
    let mut path = EcnPath::Kept;
    match fault {
        Fault::Path(of_path) => path = of_path,
        Fault::Server(mode) => options.ecn_server = Some(mode),
        Fault::Silent => options.ecn_feedback = Some(false),
    }
    let mut pair = Pair::new(options.resolve(dialect), RTT.scaled(0.5), nothing(), nothing());
    for pipe in &mut pair.pipes {
        (pipe.ecn, pipe.kept) = (path, Some(Vec::new()));
    }
    pair.marker = Marks::Even(50).marker();
    pair.upload_endlessly();
    pair.run_until(Time::from_s(15));
    let all = fields(&pair, CLIENT, |segment| segment.len > 0);
    (all, pair.ends[CLIENT].window().cwnd < 100.0)
}

/// Each fault with what a sender makes of it: what it sends, and whether marks slow it down. Reno's SYN is Not-ECT, so
/// nothing shows it that its data are bleached; Prague's is ECT(1).
#[test]
fn ends_do_about_faults_what_can_be_known_of_them() {
    use EcnMode::{Accecn, Classic, Off};
    use EcnPath::*;
    use Fault::{Path, Server, Silent};
    let (not, ect0, ect1) = (&[Ecn::NotEct][..], &[Ecn::Ect0][..], &[Ecn::Ect1][..]);
    let reno =
        |ecn| TcpOptions { ecn: Some(ecn), ..with(CongestionSpec::Reno(reno::Parameters {})) };
    type Row<'a> = (Fault, &'a [Ecn], bool);
    let table: [(TcpOptions, &[Row<'_>]); 3] = [
        (
            reno(Classic),
            &[
                (Path(Kept), ect0, true),
                (Path(Bleached), ect0, false),
                (Path(CeCleared), ect0, false),
                (Path(CeAlways), ect0, true),
                (Path(AeCleared), ect0, true),
                (Path(AceCleared), ect0, false),
                (Path(SynDropped), not, false),
                (Server(Off), not, false),
                (Server(Accecn), ect0, true),
                (Silent, ect0, false),
            ],
        ),
        (
            reno(Accecn),
            &[
                (Path(Kept), ect0, true),
                (Path(Bleached), ect0, false),
                (Path(Ect1ToEct0), ect0, true),
                (Path(CeCleared), ect0, false),
                (Path(CeAlways), ect0, true),
                (Path(AeCleared), ect0, true),
                (Path(AceCleared), &[Ecn::Ect0, Ecn::NotEct], false),
                (Path(SynDropped), not, false),
                (Server(Off), not, false),
                (Server(Classic), ect0, true),
                (Silent, ect0, false),
            ],
        ),
        (
            with(prague_spec()),
            &[
                (Path(Kept), ect1, true),
                (Path(Bleached), not, false),
                (Path(Ect1ToEct0), ect1, true),
                (Path(CeCleared), ect1, false),
                (Path(CeAlways), ect1, true),
                (Path(AeCleared), not, false),
                (Path(AceCleared), &[Ecn::Ect1, Ecn::NotEct], false),
                (Path(SynDropped), not, false),
                (Server(Off), not, false),
                (Server(Classic), not, false),
                (Silent, ect1, false),
            ],
        ),
    ];
    for (options, rows) in table {
        for &(fault, sent, slows_down) in rows {
            let seen = with_fault(&options, Dialect::Linux, fault);
            assert_eq!(seen, (sent.to_vec(), slows_down), "{:?} {fault:?}", options.ecn);
        }
    }
}

/// A path that marks all: after four rounds of RFC 9768 the sender is Not-ECT and grows again. Linux has no such test.
#[test]
fn continuous_marks_are_no_queue() {
    let reno = CongestionSpec::Reno(reno::Parameters {});
    let options = TcpOptions { ecn: Some(EcnMode::Accecn), ..with(reno) };
    let of = |dialect| with_fault(&options, dialect, Fault::Path(EcnPath::CeAlways));
    assert_eq!(of(Dialect::Rfc), (vec![Ecn::Ect0, Ecn::NotEct], false));
    assert_eq!(of(Dialect::Linux), (vec![Ecn::Ect0], true));
}

/// A SYN of classic ECN is repeated without it after a second, one of AccECN after three: at 1 s it still offers it.
/// Round trips are of 100 ms, so the handshake is over 100 ms later.
#[test]
fn what_drops_syns_with_ecn_is_passed_without() {
    for (ecn, at_s) in [(EcnMode::Classic, 1), (EcnMode::Accecn, 3)] {
        let reno = CongestionSpec::Reno(reno::Parameters {});
        let options = TcpOptions { ecn: Some(ecn), ..with(reno) };
        let mut pair =
            Pair::new(options.resolve(Dialect::Rfc), RTT.scaled(0.5), nothing(), nothing());
        pair.pipes[CLIENT].ecn = EcnPath::SynDropped;
        pair.pump(CLIENT);
        while pair.reported[CLIENT].established == 0 {
            assert!(pair.step());
        }
        assert_eq!(pair.now, Time::from_s(at_s) + RTT, "{ecn:?}");
    }
}

/// RFC 9331 §4.2: over a bleaching path Prague is Reno, with the growth of its 10 ms, of which it has (10/25)^2 as Prague.
#[test]
fn prague_over_a_bleaching_path_grows_as_reno() {
    let received = |options: TcpOptions, path| {
        let mut count = 0;
        let loses: Loss = Box::new(move |segment| {
            count += u32::from(segment.len > 0);
            segment.len > 0 && count % 400 == 0
        });
        let config = options.resolve(Dialect::Linux);
        let mut pair = Pair::new(config, Time::from_ms(5), loses, nothing());
        pair.pipes.iter_mut().for_each(|pipe| pipe.ecn = path);
        pair.upload_endlessly();
        pair.run_until(Time::from_s(20));
        pair.reported[SERVER].received_bytes as f64
    };
    let reno = TcpOptions { pacing: Some(true), ..with(CongestionSpec::Reno(reno::Parameters {})) };
    let reno = received(reno, EcnPath::Kept);
    let bleached = received(with(prague_spec()), EcnPath::Bleached);
    let kept = received(with(prague_spec()), EcnPath::Kept);
    println!("{:.3} {:.3}", bleached / reno, kept / reno);
    assert!((bleached / reno - 1.0).abs() < 0.1 && kept < 0.7 * reno);
}

/// A server's side of it: the end of the handshake reports that its answer's ECT(1) came as Not-ECT, or reports nothing.
#[test]
fn servers_check_their_way_to_the_client() {
    for (path, sent) in [
        (EcnPath::Kept, Ecn::Ect1),
        (EcnPath::Bleached, Ecn::NotEct),
        (EcnPath::AceCleared, Ecn::NotEct),
    ] {
        let config = with(prague_spec()).resolve(Dialect::Linux);
        let mut pair = Pair::new(config, RTT.scaled(0.5), nothing(), nothing());
        for pipe in &mut pair.pipes {
            (pipe.ecn, pipe.kept) = (path, Some(Vec::new()));
        }
        pair.exchange([1448, 100 * 1448]);
        pair.run(Time::from_s(30));
        assert_eq!(fields(&pair, SERVER, |segment| segment.len > 0), [sent], "{path:?}");
    }
}

/// RFC 9768 §3.1.5: a SYN with the offer and one without. The server stays with the first, as its second answer shows,
/// and sends Not-ECT.
#[test]
fn a_server_stays_with_the_first_syn() {
    let config = with(prague_spec()).resolve(Dialect::Linux);
    let end = || Endpoint::new(&config, Seed::named(1, "test"));
    let (mut client, mut server) = (end(), end());
    client.open();
    client.send(1448, &config);
    server.send(1448, &config);
    let mut syn = client.poll(Time::ZERO, &config).expect("a SYN");
    server.on_segment(RTT, &syn.segment, Time::ZERO, syn.ecn, &config);
    let first = server.poll(RTT, &config).expect("its answer");
    syn.segment.flags.set(Flags::ACE, false);
    server.on_segment(RTT, &syn.segment, Time::ZERO, Ecn::NotEct, &config);
    let second = server.poll(RTT, &config).expect("another answer");
    assert_eq!((first.ecn, second.ecn), (Ecn::Ect1, Ecn::NotEct));
    assert!(second.segment.has(Flags::CWR) && !second.segment.has(Flags::AE), "it reports Not-ECT");
    client.on_segment(RTT, &first.segment, RTT, first.ecn, &config);
    let data = client.poll(RTT, &config).expect("data");
    assert_eq!(data.ecn, Ecn::Ect1);
    server.on_segment(RTT, &data.segment, RTT, data.ecn, &config);
    let of_server = server.poll(RTT, &config).expect("data");
    assert_eq!((of_server.segment.len, of_server.ecn), (1448, Ecn::NotEct));
}
