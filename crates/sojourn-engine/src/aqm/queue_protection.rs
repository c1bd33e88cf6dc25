//! Queue Protection (RFC 9957 §4): which packets of the low-latency queue belong to flows that build
//! the queue.
//!
//! Each flow has a score: the time that its congestion-causing bytes (size times native likelihood)
//! take to age at a constant rate. A packet is sanctioned while the queue is long and its flow's score
//! is high, or while the score is at its cap.

use crate::record::Gauges;
use crate::units::Time;

crate::series! {
    /// Queue Protection: packets judged by the bucket that flows without one of their own share, since the run began.
    SHARED_BUCKET_PACKETS = "shared_bucket_packets", in "packets", from "RFC 9957, section 4.1";
}

/// Buckets that flows own; one more, the last, is shared by those that find none (RFC 9957 §4.1: 2^5).
const LG_BUCKETS: u32 = 5;
const DREGS: usize = 1 << LG_BUCKETS;
/// How many buckets a flow looks at (RFC 9957 §4.1: ATTEMPTS).
const ATTEMPTS: u32 = 2;
/// The cap of a score (RFC 9957 §4.1: qLSCORE_MAX).
const SCORE_MAX: Time = Time::from_s(5);

/// What Queue Protection is set up with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    /// Queue delay above which packets may be sanctioned (CRITICALqL).
    pub critical_delay: Time,
    /// Score that is too high at that delay (CRITICALqLSCORE, 4 ms).
    pub critical_score: Time,
    /// Binary logarithm of the aging rate in B/s (LG_AGING, 19): 2^(this - 30) B/ns.
    pub lg_aging: u32,
    /// Is a packet sanctioned while its flow's score is at its cap, however short the queue is?
    pub cap_sanctions: bool,
}

#[derive(Clone, Copy, Default)]
struct Bucket {
    flow: u32,
    /// When its score has aged to nothing.
    expires: Time,
}

/// Buckets of all flows.
pub(crate) struct QueueProtection {
    thresholds: Thresholds,
    aging_bytes_per_s: f64,
    buckets: [Bucket; DREGS + 1],
    judged_by_dregs: u64,
}

impl QueueProtection {
    /// No flow has a score.
    pub(crate) fn new(thresholds: Thresholds) -> Self {
        let aging_bytes_per_s = 1e9 * 2_f64.powi(thresholds.lg_aging as i32 - 30);
        let buckets = [Bucket::default(); DREGS + 1];
        Self { thresholds, aging_bytes_per_s, buckets, judged_by_dregs: 0 }
    }

    /// The delay above which packets may be sanctioned follows the queue's rate.
    pub(crate) fn set_critical_delay(&mut self, delay: Time) {
        self.thresholds.critical_delay = delay;
    }

    /// Is a packet of the flow with this hash to be sanctioned? `delay` is the queue's with it,
    /// `likelihood` that of the native law.
    pub(crate) fn sanctions(
        &mut self,
        now: Time,
        flow: u32,
        size: u64,
        delay: Time,
        likelihood: f64,
    ) -> bool {
        let bucket = self.pick_bucket(now, flow);
        let score = self.fill_bucket(now, bucket, likelihood * size as f64);
        self.judged_by_dregs += u64::from(bucket == DREGS);
        self.is_too_much(delay, score)
    }

    /// RFC 9957 §4.2.2: its own bucket, else the first one that has expired, else the shared one.
    fn pick_bucket(&mut self, now: Time, flow: u32) -> usize {
        let mut free = None;
        for attempt in 0..ATTEMPTS {
            let bucket = (flow >> (LG_BUCKETS * attempt)) as usize % DREGS;
            if self.buckets[bucket].flow == flow {
                return bucket;
            }
            if free.is_none() && self.buckets[bucket].expires <= now {
                free = Some(bucket);
            }
        }
        let bucket = free.unwrap_or(DREGS);
        self.buckets[bucket].flow = flow;
        bucket
    }

    /// RFC 9957 §4.2.3: adds to a score, which has aged since. Returns the score.
    fn fill_bucket(&mut self, now: Time, bucket: usize, congestion_bytes: f64) -> Time {
        let added = Time::from_secs_f64(congestion_bytes / self.aging_bytes_per_s);
        let bucket = &mut self.buckets[bucket];
        let score = (bucket.expires.since(now) + added).min(SCORE_MAX);
        bucket.expires = now + score;
        score
    }

    /// RFC 9957 §4.2.1: the product of delay and score counts; a score at its cap always does.
    fn is_too_much(&self, delay: Time, score: Time) -> bool {
        let Thresholds { critical_delay, critical_score, cap_sanctions, .. } = self.thresholds;
        let limit = critical_delay.secs_f64() * critical_score.secs_f64();
        let product = delay.secs_f64() * score.secs_f64();
        (delay > critical_delay && product > limit) || (cap_sanctions && score >= SCORE_MAX)
    }

    /// Reports how many packets were judged by the shared bucket.
    pub(crate) fn gauges(&self, out: &mut Gauges) {
        out.show(SHARED_BUCKET_PACKETS, self.judged_by_dregs as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Time = Time::from_us(1200);

    fn protection() -> QueueProtection {
        QueueProtection::new(Thresholds {
            critical_delay: Time::from_ms(1),
            critical_score: Time::from_ms(4),
            lg_aging: 19,
            cap_sanctions: true,
        })
    }

    #[test]
    fn the_second_full_packet_of_a_fresh_flow_is_sanctioned() {
        // 2^-11 B/ns: 1500 B take 3.072 ms. At 1.2 ms the score may be 4 / 1.2 = 3.333 ms.
        let mut protection = protection();
        assert_eq!(protection.fill_bucket(Time::ZERO, 0, 1500.0), Time::from_us(3072));
        assert!(!protection.sanctions(Time::ZERO, 9, 1500, LONG, 1.0));
        assert!(protection.sanctions(Time::ZERO, 9, 1500, LONG, 1.0));
        // Its score of 6.144 ms ages to 0.228 ms in 5.916 ms; 3.3 ms are not too much.
        assert!(!protection.sanctions(Time::from_us(5916), 9, 1500, LONG, 1.0));
    }

    #[test]
    fn a_short_queue_sanctions_nobody_below_the_cap() {
        // The cap of 5 s is reached by packet 1628: 1627 * 3.072 ms = 4.998 s.
        let mut protection = protection();
        let mut packets = (1..2000)
            .map(|n| (n, protection.sanctions(Time::ZERO, 9, 1500, Time::from_us(1000), 1.0)));
        assert_eq!(packets.find(|(_, sanctioned)| *sanctioned), Some((1628, true)));
    }

    #[test]
    fn docsis_ns3_does_not_look_at_the_cap() {
        let mut protection = protection();
        protection.thresholds.cap_sanctions = false;
        let sanctioned =
            (0..5000).any(|_| protection.sanctions(Time::ZERO, 9, 1500, Time::from_us(1000), 1.0));
        assert!(!sanctioned);
        assert!(protection.sanctions(Time::ZERO, 9, 1500, LONG, 1.0));
    }

    #[test]
    fn five_packets_of_three_flows_are_not_sanctioned() {
        // docsis-ns3's test: two, one and two packets of 1000 B at a threshold of 1 ms, whose queue is
        // that of 250 Mb/s at most: 32 us a packet, no likelihood of a mark, no score.
        let mut protection = protection();
        for (n, flow) in [(1, 11), (2, 11), (3, 22), (4, 33), (5, 33)] {
            let delay = Time::from_us(32 * n);
            assert!(!protection.sanctions(Time::ZERO, flow, 1000, delay, 0.0));
        }
        // With a likelihood of 1 each adds 1000 / 488 281.25 s = 2.048 ms: at 1 ms nobody is sanctioned.
        for (flow, score_us) in [(11, 2048), (11, 4096), (22, 2048), (33, 2048), (33, 4096)] {
            assert!(!protection.sanctions(Time::ZERO, flow, 1000, Time::from_ms(1), 1.0));
            let bucket = protection.pick_bucket(Time::ZERO, flow);
            assert_eq!(protection.buckets[bucket].expires, Time::from_us(score_us));
        }
    }

    #[test]
    fn flows_below_the_aging_rate_escape_for_ever() {
        // 39 Mb/s at a likelihood of 0.1 are 3.9 Mb/s; aging takes 3.906. 40 Mb/s are too much.
        for (mbps, escapes) in [(39.0, true), (40.0, false)] {
            let mut protection = protection();
            let gap = Time::from_secs_f64(12_000.0 / (mbps * 1e6));
            let sanctioned = (0..200_000)
                .any(|n| protection.sanctions(gap.times(n), 9, 1500, Time::from_us(1100), 0.1));
            assert_eq!(!sanctioned, escapes, "{mbps}");
        }
    }

    #[test]
    fn a_small_packet_adds_its_part() {
        // 64 B / 488 281.25 B/s = 131.072 us.
        let score = protection().fill_bucket(Time::ZERO, 0, 64.0);
        assert_eq!(score, Time::from_ps(131_072_000));
    }

    #[test]
    fn who_finds_no_bucket_shares_the_last_one() {
        // All three hash to bucket 1 first and to bucket 0 second.
        let [a, b, c] = [1, 1 | 1 << 10, 1 | 1 << 11];
        let mut protection = protection();
        for (flow, bucket) in [(a, 1), (b, 0), (c, DREGS)] {
            assert_eq!(protection.pick_bucket(Time::ZERO, flow), bucket);
            protection.fill_bucket(Time::ZERO, bucket, 1500.0);
        }
        // After 3.072 ms the first bucket is free again, and the flow takes it.
        assert_eq!(protection.pick_bucket(Time::from_us(3072), c), 1);
    }

    /// RFC 9957 §4.2.2: a flow that finds its two buckets taken shares the last one.
    #[test]
    fn a_flow_without_a_bucket_of_its_own_is_judged_by_the_shared_one() {
        let mut protection = protection();
        for flow in 0..32 {
            protection.sanctions(Time::ZERO, flow, 1500, LONG, 1.0);
        }
        assert_eq!(protection.judged_by_dregs, 0);
        // 33 is 1 in its low five bits, and 1 in the next: bucket 1 is taken.
        protection.sanctions(Time::ZERO, 33, 1500, LONG, 1.0);
        assert_eq!(protection.judged_by_dregs, 1);
        // The buckets' scores of 3.072 ms have aged, so another flow gets one.
        protection.sanctions(Time::from_ms(10), 34, 1500, LONG, 1.0);
        assert_eq!(protection.judged_by_dregs, 1);
    }

    #[test]
    fn the_critical_delay_follows_the_queue_and_scores_count_with_the_delay() {
        // At 2 ms of delay a score of 4 ms is 8 over 4 of what is critical at 1 ms, and as much as at 2 ms, where it is
        // not beyond it.
        let mut protection = protection();
        let score = Time::from_ms(4);
        assert!(protection.is_too_much(Time::from_ms(2), score));
        protection.set_critical_delay(Time::from_ms(2));
        for (delay_us, score_us, want) in [
            (2000, 4001, false),
            (2001, 4000, true),
            (4000, 2000, false),
            (4000, 2001, true),
            (2001, 3998, false),
        ] {
            let found = protection.is_too_much(Time::from_us(delay_us), Time::from_us(score_us));
            assert_eq!(found, want, "{delay_us} {score_us}");
        }
        assert!(!protection.is_too_much(Time::ZERO, Time::from_ps(SCORE_MAX.ps() - 1)));
        assert!(protection.is_too_much(Time::ZERO, SCORE_MAX));
        let mut gauges = Gauges::default();
        protection.judged_by_dregs = 3;
        protection.gauges(&mut gauges);
        assert_eq!(gauges.get("shared_bucket_packets"), Some(3.0));
    }
}
