//! How bytes are spread over channels that a group bonds, so that all of them are there as early as they can be: by the rates
//! of the channels, and by when each can begin (load-aware).

use sojourn_engine::units::Time;

/// How long after `now`, in s, so many bytes have come over these channels, all of which are ready then. For each there is
/// the time from which it brings bytes, its delay included, and how many in a second. The channels are put in order.
pub(super) fn ready_s(bytes: u64, now: Time, channels: &mut [(Time, f64)]) -> f64 {
    // All are ready at t with the sum of rate (t - from) = bytes.
    channels.sort_by_key(|(from, _)| *from);
    let (mut rates, mut weighted, mut ready) = (0.0, bytes as f64, f64::INFINITY);
    for (from, rate) in channels {
        let from_s = from.since(now).secs_f64();
        if from_s >= ready {
            break;
        }
        rates += *rate;
        weighted += *rate * from_s;
        ready = weighted / rates;
    }
    ready
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 B/s from now and 500 B/s from 1 s on: 500 B are there in 0.5 s, before the second begins; 2500 B at t with
    /// 1000 t + 500 (t - 1) = 2500, 2 s.
    #[test]
    fn all_channels_are_ready_at_once() {
        let now = Time::from_s(3);
        let ready =
            |bytes| ready_s(bytes, now, &mut [(now + Time::from_s(1), 500.0), (now, 1000.0)]);
        assert!((ready(500) - 0.5).abs() < 1e-12 && (ready(2500) - 2.0).abs() < 1e-12);
        assert_eq!(ready_s(1, now, &mut []), f64::INFINITY);
    }
}
