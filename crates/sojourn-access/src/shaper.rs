//! Rate shaping of a service flow (White 2014 appendix C).
//!
//! Over every interval of length `span`, at most `span * R / 8 + B` bytes and at most `span * P / 8
//! + 1522` bytes pass. R is the maximum sustained rate, B the maximum burst, P the peak rate.

use super::service::Terms;
use sojourn_engine::aqm::DrainRate;
use sojourn_engine::packet::Packet;
use sojourn_engine::token_bucket::TokenBucket;
use sojourn_engine::units::BitRate;
use sojourn_engine::units::Time;

/// Depth of the peak-rate bucket in bytes: one maximum Ethernet frame with a VLAN tag
/// (White & Padden 2012 §3.1.1).
pub(crate) const PEAK_BURST_BYTES: u64 = 1522;

/// The two token buckets of a service flow.
#[derive(Clone, Debug)]
pub(crate) struct Shaper {
    /// The bucket of the sustained rate, as deep as the burst.
    pub sustained: TokenBucket,
    /// The bucket of the peak rate, one frame deep.
    pub peak: TokenBucket,
    /// Until when the sustained rate last held bytes back.
    held_until: Option<Time>,
}

impl Shaper {
    /// Full buckets with a scenario's values.
    pub(crate) fn of(terms: Terms) -> Self {
        let [sustained, peak] = [terms.sustained_mbps, terms.peak_mbps].map(BitRate::from_mbps);
        Self::new(sustained, peak, terms.burst_bytes)
    }

    /// Full buckets.
    pub(crate) fn new(sustained: BitRate, peak: BitRate, burst_bytes: u64) -> Self {
        Self {
            sustained: TokenBucket::new(sustained, burst_bytes),
            peak: TokenBucket::new(peak, PEAK_BURST_BYTES),
            held_until: None,
        }
    }

    /// From now on it has other rates. The buckets keep their tokens.
    pub(crate) fn retune(&mut self, now: Time, terms: Terms) {
        self.retune_with(now, terms, |_| PEAK_BURST_BYTES);
    }

    /// As [`Self::retune`], where the depth of the peak rate's bucket depends on that rate.
    pub(crate) fn retune_with(&mut self, now: Time, terms: Terms, depth: impl Fn(BitRate) -> u64) {
        let [sustained, peak] = [terms.sustained_mbps, terms.peak_mbps].map(BitRate::from_mbps);
        self.sustained.retune(now, sustained, terms.burst_bytes);
        self.peak.retune(now, peak, depth(peak));
    }

    /// What the AQM algorithms of the queue in front may know of this shaper.
    pub(crate) fn drain_rate(&self, now: Time, buffer_bytes: u64) -> DrainRate {
        DrainRate {
            tokens: self.sustained.tokens(now),
            sustained: self.sustained.rate(),
            peak: self.peak.rate(),
            buffer_bytes,
            share: None,
        }
    }

    /// Bytes that both buckets allow now.
    pub(crate) fn tokens(&self, now: Time) -> f64 {
        self.sustained.tokens(now).min(self.peak.tokens(now))
    }

    /// When `bytes` may be sent. Records the wait until then.
    pub(crate) fn ready_at(&mut self, now: Time, bytes: u64) -> Time {
        let by_sustained = self.sustained.ready_at(now, bytes);
        let ready_at = by_sustained.max(self.peak.ready_at(now, bytes));
        let by_rate = if self.has_peak() { by_sustained } else { ready_at };
        if by_rate > now {
            self.held_until = Some(by_rate);
        }
        ready_at
    }

    /// Records that bytes wait now, where the two rates would let `sustained` and `peak` bytes
    /// pass.
    pub(crate) fn hold(&mut self, now: Time, sustained: f64, peak: f64) {
        if sustained < peak || !self.has_peak() {
            self.held_until = self.held_until.max(Some(now));
        }
    }

    /// A peak rate equal to the sustained rate adds no limit of its own.
    fn has_peak(&self) -> bool {
        self.peak.rate() > self.sustained.rate()
    }

    /// Was this packet, now sent, in its queue while the sustained rate held bytes back?
    #[inline]
    pub(crate) fn held(&self, packet: &Packet) -> bool {
        self.held_until >= Some(packet.queued_at)
    }

    /// Removes the tokens for `bytes` that are sent now.
    pub(crate) fn take(&mut self, now: Time, bytes: u64) {
        self.sustained.take(now, bytes);
        self.peak.take(now, bytes);
    }

    /// Puts back the tokens for `bytes` that were granted and are not sent.
    pub(crate) fn put_back(&mut self, bytes: u64) {
        self.sustained.put_back(bytes);
        self.peak.put_back(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_testing::at_random;
    use sojourn_testing::proptest::prelude::*;

    #[test]
    fn a_greedy_sender_has_its_peak_for_8_b_over_p_minus_r() {
        // 5/20 Mbps and 10 MB: 8 * 10e6 / 15e6 = 5.333 s, 13.333 MB; then 5 Mbps.
        let mut shaper = Shaper::new(BitRate::from_mbps(5.0), BitRate::from_mbps(20.0), 10_000_000);
        let mut now = Time::ZERO;
        let mut sent = 0;
        let mut peak_end = None;
        while now < Time::from_s(20) {
            let ready = shaper.ready_at(now, 1500);
            // At the peak rate a packet lasts 0.6 ms, at the sustained rate 2.4 ms.
            if peak_end.is_none() && (ready - now) > Time::from_ms(1) {
                peak_end = Some((now, sent));
            }
            now = ready;
            shaper.take(now, 1500);
            sent += 1500;
        }
        let (end, bytes) = peak_end.unwrap();
        assert!((end.secs_f64() - 5.3333).abs() < 0.002, "{end:?}");
        assert!((bytes as f64 / 13.333e6 - 1.0).abs() < 5e-4, "{bytes}");
        // In all 10 MB + 20 s * 5 Mbps / 8 = 22.5 MB.
        assert!((sent as f64 / 22.5e6 - 1.0).abs() < 2e-4, "{sent}");
    }

    #[test]
    fn sixteen_seconds_of_silence_refill_ten_megabytes() {
        let mut bucket = TokenBucket::new(BitRate::from_mbps(5.0), 10_000_000);
        bucket.take(Time::ZERO, 10_000_000);
        assert_eq!(bucket.tokens(Time::ZERO), 0.0);
        assert!((bucket.tokens(Time::from_s(8)) - 5e6).abs() < 1.0);
        assert!((bucket.tokens(Time::from_s(16)) - 1e7).abs() < 1.0);
        assert!((bucket.tokens(Time::from_s(99)) - 1e7).abs() < 1.0);
    }

    #[test]
    fn a_jumbo_frame_passes_a_full_bucket_and_leaves_it_in_debt() {
        let mut bucket = TokenBucket::new(BitRate::from_mbps(8.0), 1522);
        assert_eq!(bucket.ready_at(Time::ZERO, 9000), Time::ZERO);
        bucket.take(Time::ZERO, 9000);
        // 1 byte is 1 us: 9000 us until full again.
        assert_eq!(bucket.ready_at(Time::ZERO, 9000), Time::from_us(9000));
    }

    at_random! {
        256;

        /// White 2014 appendix C on every interval between two packets.
        #[test]
        fn no_interval_carries_more_than_the_bound(
            gaps_us in prop::collection::vec(0_u64..4000, 2..120),
            sizes in prop::collection::vec(64_u64..1522, 120),
        ) {
            let (rate, peak, burst) = (5e6, 20e6, 20_000);
            let mut shaper = Shaper::new(BitRate::from_mbps(5.0), BitRate::from_mbps(20.0), burst);
            let mut now = Time::ZERO;
            let mut sent = Vec::new();
            for (gap, size) in gaps_us.iter().zip(&sizes) {
                now = shaper.ready_at(now + Time::from_us(*gap), *size);
                shaper.take(now, *size);
                sent.push((now, *size));
            }
            for first in 0..sent.len() {
                let mut bytes = 0.0;
                for &(at, size) in &sent[first..] {
                    bytes += size as f64;
                    let span = (at - sent[first].0).secs_f64();
                    prop_assert!(bytes <= span * rate / 8.0 + burst as f64 + 1e-3);
                    prop_assert!(bytes <= span * peak / 8.0 + 1522.0 + 1e-3);
                }
            }
        }
    }
}
