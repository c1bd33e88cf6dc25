//! Bursts, as Linux hands segments to the network card (TCP segmentation offload): how many segments leave
//! at one time, and when to wait for room for more (Linux 6.18).

use sojourn_engine::units::Time;

/// The share of a second whose bytes at the pacing rate make a burst: 1 ms and 1/42 (2^-10 s).
const SHARE: u64 = 1024;
/// The largest burst in bytes.
const LARGEST_BYTES: u64 = 65_536;
/// The smallest burst, if the window has room for it, in segments.
const LEAST: u64 = 2;
/// Below this rate BBR's segments leave one by one: 1.2 Mbps in bytes per second.
const SLOW: u64 = 150_000;
/// A burst of this share of the window does not wait.
const WINDOW_SHARE: u64 = 3;
/// For so long after something left a sender may wait for more room.
const RECENT: Time = Time::from_ms(1);

/// Segments of a burst at a pacing rate in bytes per second.
pub(crate) fn burst_segments(bytes_per_s: u64, mss: u64) -> u64 {
    ((bytes_per_s / SHARE).min(LARGEST_BYTES) / mss).max(LEAST)
}

/// How much a congestion control lets leave as one burst.
#[derive(Clone, Copy, Debug)]
pub struct BurstLimit {
    /// The most time that it takes at the pacing rate.
    pub time: Time,
    /// Segments that may leave together even if they take longer.
    pub least: u64,
}

impl BurstLimit {
    /// BBR's: one segment alone below 1.2 Mbps, as two of them take 20 ms there
    /// (draft-cheng-iccrg-bbr-congestion-control-02 §4.2.2; Linux 6.18).
    pub(crate) fn of_bbr(bytes_per_s: u64) -> Self {
        let time = Time::from_ps(Time::from_s(1).ps() / SHARE);
        Self { time, least: if bytes_per_s < SLOW { 1 } else { LEAST } }
    }

    /// Segments of a burst at a pacing rate in bytes per second.
    pub fn segments(self, bytes_per_s: u64, mss: u64) -> u64 {
        let ps = u128::from(bytes_per_s) * u128::from(self.time.ps());
        let bytes = (ps / u128::from(Time::from_s(1).ps())).min(u128::from(LARGEST_BYTES));
        (bytes as u64 / mss).max(self.least)
    }
}

/// What a sender knows when the window has room for less than a burst.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Segments that the window has room for.
    pub segments: u64,
    /// The window in segments.
    pub window: u64,
    /// Segments of a burst.
    pub burst: u64,
    /// Since something last left.
    pub since_last: Time,
    /// Since the first segment that is not acknowledged left.
    pub head_age: Time,
    /// Smoothed round-trip time.
    pub srtt: Time,
}

/// Does it wait for acknowledgements that make room for more? Only if the next one is near: the first
/// segment not acknowledged left half a round trip ago.
pub(crate) fn waits_for_room(room: &Room) -> bool {
    let is_enough = room.segments >= room.burst || room.segments * WINDOW_SHARE >= room.window;
    let is_near = room.head_age.times(2) >= room.srtt;
    !is_enough && is_near && room.since_last <= RECENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_a_millisecond_and_two_segments_at_least() {
        // 5 Mbps * 1.2 = 750 000 B/s: 732 B. 50 Mbps * 1.2 = 7.5 MB/s: 7324 B, 5 of 1448.
        for (rate, want) in [(750_000, 2), (7_500_000, 5), (1_000_000_000, 45)] {
            assert_eq!(burst_segments(rate, 1448), want);
        }
    }

    #[test]
    fn segments_of_a_slow_bbr_leave_one_by_one() {
        let burst = |rate| BurstLimit::of_bbr(rate).segments(rate, 1448);
        assert_eq!((burst(149_999), burst(150_000)), (1, 2));
        for rate in [750_000, 7_500_000, 1_000_000_000] {
            assert_eq!(burst(rate), burst_segments(rate, 1448));
        }
    }

    #[test]
    fn a_burst_of_250_us_is_one_segment_up_to_92_mbps() {
        // 2896 B in 250 us are 11.584 MB/s; 100 Mbps are 12.5 MB/s: 3125 B, 2 of 1448; 1 MB/s: 250 B.
        for (rate, want) in [(12_500_000, 2), (11_583_999, 1), (1_000_000, 1)] {
            let limit = BurstLimit { time: Time::from_us(250), least: 1 };
            assert_eq!(limit.segments(rate, 1448), want);
            assert_eq!(BurstLimit { least: 2, ..limit }.segments(rate, 1448), 2);
        }
    }

    #[test]
    fn it_waits_only_where_the_next_acknowledgement_is_near() {
        let ms = Time::from_ms;
        let room = Room {
            segments: 1,
            window: 20,
            burst: 2,
            since_last: ms(0),
            head_age: ms(30),
            srtt: ms(40),
        };
        assert!(waits_for_room(&room));
        let others = [
            Room { segments: 2, ..room },
            Room { window: 3, ..room },
            Room { since_last: Time::from_us(1001), ..room },
            Room { head_age: ms(19), ..room },
        ];
        assert!(others.iter().all(|room| !waits_for_room(room)));
    }
}
