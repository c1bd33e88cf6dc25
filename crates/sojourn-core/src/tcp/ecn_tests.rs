//! Marks between two ends: the rates of Prague and DCTCP at a given share of marks, the ECN field of what is
//! sent, and the pace at which it is sent.

use super::super::accecn::{Agreed, EcnMode};
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

/// What Linux' header says of its prague: 1/p - 1 Mb/s, whatever the round trip up to 25 ms, and in a longer
/// one less in proportion. So 25 Mb/s at p = 1/26.
#[test]
fn prague_has_the_rate_of_its_law_at_even_marks() {
    for (rtt_ms, n) in [(5, 26), (10, 26), (25, 26), (50, 26), (100, 26), (10, 11), (20, 101)] {
        let law = (n - 1) as f64 * 25.0 / rtt_ms.max(25) as f64;
        let rate = rate_mbps(&with(prague_spec()), rtt_ms, Marks::Even(n), 120);
        println!("prague even 1/{n}, {rtt_ms} ms: {rate:.2} of {law:.2} Mb/s, {:.3}", rate / law);
        assert!((rate / law - 1.0).abs() < 0.05, "1/{n}, {rtt_ms} ms: {rate} and {law} Mb/s");
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
