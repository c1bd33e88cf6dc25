//! Reno as Linux has it: in whole segments, the threshold from the window and not from what is
//! outstanding.

use super::whole::{Avoidance, slow_start};
use super::{Ack, CongestionControl, Window};
use sojourn_engine::units::Time;

/// Reno of Linux.
#[derive(Default)]
pub struct LinuxReno {
    avoidance: Avoidance,
}

impl CongestionControl for LinuxReno {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let left = slow_start(window, ack.segments as u64, ack.max_window);
        if left > 0 {
            let cwnd = window.cwnd as u64;
            self.avoidance.grow(window, left, cwnd, ack.max_window);
        }
    }

    fn on_loss(&mut self, window: &mut Window, _flight: f64, _now: Time) {
        window.ssthresh = (window.cwnd / 2.0).floor().max(2.0);
        window.cwnd = window.ssthresh;
        self.avoidance.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_window_in_whole_segments_and_one_more_a_round_trip() {
        let (mut reno, mut window) = (LinuxReno::default(), Window { cwnd: 41.0, ssthresh: 1e9 });
        reno.on_loss(&mut window, 7.0, Time::ZERO);
        assert_eq!(window, Window { cwnd: 20.0, ssthresh: 20.0 });
        for _ in 0..10 {
            reno.on_ack(&mut window, &Ack::of(Time::ZERO, 2.0, Time::from_ms(50)));
        }
        assert_eq!(window.cwnd, 21.0);
    }

    #[test]
    fn two_segments_remain_after_a_loss_and_one_after_a_timeout() {
        let (mut reno, mut window) = (LinuxReno::default(), Window { cwnd: 3.0, ssthresh: 1e9 });
        reno.on_loss(&mut window, 3.0, Time::ZERO);
        assert_eq!(window, Window { cwnd: 2.0, ssthresh: 2.0 });
        window.cwnd = 9.0;
        reno.on_timeout(&mut window, 9.0, Time::ZERO);
        assert_eq!(window, Window { cwnd: 1.0, ssthresh: 4.0 });
    }

    /// What was counted towards a segment before a loss does not count after it.
    #[test]
    fn a_loss_forgets_the_count() {
        let (mut reno, mut window) = (LinuxReno::default(), Window { cwnd: 10.0, ssthresh: 1.0 });
        let ack = |segments| Ack::of(Time::ZERO, segments, Time::from_ms(50));
        reno.on_ack(&mut window, &ack(9.0));
        reno.on_loss(&mut window, 10.0, Time::ZERO);
        reno.on_ack(&mut window, &ack(4.0));
        assert_eq!(window.cwnd, 5.0);
        reno.on_ack(&mut window, &ack(1.0));
        assert_eq!(window.cwnd, 6.0);
        // In slow start it is not used.
        reno.on_ack(&mut window, &ack(5.0));
        window = Window { cwnd: 2.0, ssthresh: 1e9 };
        reno.on_ack(&mut window, &ack(1.0));
        assert_eq!(window.cwnd, 3.0);
    }
}
