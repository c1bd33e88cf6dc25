//! When segments may leave in dialect `linux`: in bursts, perhaps paced, and with a record of whether the
//! window held them back.

use super::bursts::{BurstLimit, Room, burst_segments, waits_for_room};
use super::cc::Window;
use super::config::Config;
use super::pacer::{self, Pacer};
use super::sender::{Counts, Space};
use super::window_use::WindowUse;
use sojourn_engine::units::Time;

/// What a sender keeps of its departures.
pub(crate) struct Departures {
    used: WindowUse,
    pacer: Pacer,
    /// Bytes per second that pacing allows.
    rate: u64,
    /// How much leaves as one burst, if the congestion control limits it.
    burst_limit: Option<BurstLimit>,
    /// Segments that may still leave with the burst at hand, and whether it had more than one.
    left: u64,
    is_long: bool,
    last: Time,
    /// When pacing lets the next burst leave, if it waits for that.
    due: Time,
    /// Has anything left since the use of the window was last noted?
    has_sent: bool,
    /// Segments that the window has room for and that wait for their pace or for a whole burst.
    held: u64,
}

impl Departures {
    /// Nothing has left yet.
    pub(crate) fn new() -> Self {
        Self {
            used: WindowUse::default(),
            pacer: Pacer::default(),
            rate: u64::MAX,
            burst_limit: None,
            left: 0,
            is_long: false,
            last: Time::ZERO,
            due: Time::NEVER,
            has_sent: false,
            held: 0,
        }
    }

    /// When the next burst may leave, if one waits.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.due
    }

    /// When pacing lets the next burst leave.
    pub(crate) fn next_departure(&self) -> Time {
        self.pacer.next()
    }

    /// Was the window what held sending back?
    pub(crate) fn is_window_limited(&self) -> bool {
        self.used.is_limited()
    }

    /// Was the window what limited sending, so that it may grow?
    pub(crate) fn may_grow(&self, window: &Window) -> bool {
        self.used.may_grow(window)
    }

    /// Segments that the window has room for and that wait for their pace or for a whole burst: they use the window.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// An acknowledgement has changed the window or the round trip: the pacing rate follows, or is
    /// what a congestion control states.
    pub(crate) fn set_rate(
        &mut self,
        stated: Option<u64>,
        window: &Window,
        counts: &Counts,
        srtt: Time,
        config: &Config,
    ) {
        let (cwnd, ssthresh) = (window.cwnd, window.ssthresh);
        self.rate = stated
            .unwrap_or_else(|| pacer::rate(cwnd, ssthresh, counts.outstanding, config.mss, srtt));
    }

    /// The congestion control limits bursts so.
    pub(crate) fn limit_bursts(&mut self, limit: Option<BurstLimit>) {
        self.burst_limit = limit;
    }

    /// May a segment leave now? It is then one of a burst.
    pub(crate) fn allows(
        &mut self,
        now: Time,
        window: &Window,
        (counts, space): (&Counts, &Space),
        srtt: Time,
        config: &Config,
    ) -> bool {
        self.due = Time::NEVER;
        self.held = 0;
        if self.left > 0 {
            self.left -= 1;
            return true;
        }
        let is_paced = config.pacing && now < self.pacer.next();
        let cwnd = window.cwnd as u64;
        let room = if counts.is_forced { 1 } else { cwnd.saturating_sub(counts.under_way) };
        let waiting = if counts.is_lost { u64::MAX } else { space.unsent().div_ceil(config.mss) };
        if room == 0 || (waiting == 0 && !space.has_fin_to_send() && !counts.is_forced) {
            self.note(room == 0, counts, space);
            return false;
        }
        if is_paced {
            self.due = self.pacer.next();
            self.held = room.min(waiting);
            self.note(false, counts, space);
            return false;
        }
        let burst = match self.burst_limit {
            Some(limit) => limit.segments(self.rate, config.mss),
            None => burst_segments(self.rate, config.mss),
        };
        let size = if counts.is_lost {
            1
        } else {
            room.min((cwnd / 2).max(1)).min(burst).min(waiting.max(1))
        };
        let seen = Room {
            segments: room,
            window: cwnd,
            burst,
            since_last: now.since(self.last),
            head_age: counts.head_sent.map_or(Time::ZERO, |at| now.since(at)),
            srtt,
        };
        let is_held = waiting > 1 && !counts.is_recovering && counts.head_sent.is_some();
        if is_held && waits_for_room(&seen) {
            self.held = room.min(waiting);
            self.note(waiting > room, counts, space);
            return false;
        }
        self.begin(now, size, config);
        true
    }

    fn begin(&mut self, now: Time, size: u64, config: &Config) {
        (self.left, self.is_long) = (size - 1, size > 1);
        self.has_sent = true;
        self.last = now;
        if config.pacing {
            self.pacer.sent(now, size, config.mss, self.rate);
        }
    }

    /// Does the segment that was allowed last push: does a burst end with it?
    pub(crate) fn pushes(&self, space: &Space) -> bool {
        (self.left == 0 && self.is_long) || space.unsent() == 0
    }

    /// There was less to send than was allowed.
    pub(crate) fn stop(&mut self) {
        self.left = 0;
    }

    fn note(&mut self, is_limited: bool, counts: &Counts, space: &Space) {
        if std::mem::take(&mut self.has_sent) || is_limited {
            let (una, nxt) = (space.first_outstanding(), space.highest_sent());
            self.used.note(is_limited, counts.outstanding, una, nxt);
        }
    }
}
