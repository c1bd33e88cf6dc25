"""LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus) as a congestion control of one's own."""

from collections import deque
from math import ceil, inf

from sojourn import Control, parameter

MINUTE_US = 60e6


class LeastRoundTrip:
    """The least round trip of ten minutes, and what is above it (as in RFC 6817, section 4.2)."""

    def __init__(self):
        self.minutes = deque([inf], maxlen=10)
        self.minute_ends_us = MINUTE_US
        self.recent = deque(maxlen=4)

    def take(self, now_us, rtt_us):
        while now_us >= self.minute_ends_us:
            self.minutes.append(inf)
            self.minute_ends_us += MINUTE_US
        self.minutes[-1] = min(self.minutes[-1], rtt_us)
        self.recent.append(rtt_us)

    @property
    def base_us(self):
        return min(self.minutes)

    @property
    def queue_us(self):
        return min(self.recent) - self.base_us


class LedbatPlusPlus(Control):
    """Yields to others: a queue of `target_ms`, slower than Reno, with slowdowns that empty it."""

    target_ms: float = parameter(
        60, range=(1, 1000), doc="Delay of the queue that it keeps, in ms."
    )

    def on_start(self, window_bytes, mss_bytes):
        self.mss, self.threshold = mss_bytes, inf
        self.path = LeastRoundTrip()
        self.is_initial = True
        self.slowdown_at_us, self.began_us, self.frozen_until_us = inf, None, 0

    @property
    def gain(self):
        """The shorter the path beside the target, the slower than Reno it grows."""
        return 1 / min(16, ceil(2 * self.target_ms * 1000 / self.path.base_us))

    def on_round_trip(self, now_us, rtt_us):
        self.path.take(now_us, rtt_us)

    def on_ack(self, now_us, window_bytes, flight_bytes, acked_bytes, rtt_us, min_rtt_us, srtt_us):
        if not self.path.recent or now_us < self.frozen_until_us:
            return
        if now_us >= self.slowdown_at_us:
            self.slow_down(now_us, window_bytes, srtt_us)
        elif window_bytes < self.threshold:
            self.grow_fast(now_us, window_bytes, acked_bytes, srtt_us)
        else:
            self.steer(window_bytes, acked_bytes)

    def grow_fast(self, now_us, window_bytes, acked_bytes, srtt_us):
        """Slow start, slowed by the gain; the first one ends at three quarters of the target."""
        if self.is_initial and self.path.queue_us > 0.75 * self.target_ms * 1000:
            self.threshold = window_bytes
        else:
            self.window_bytes += self.gain * acked_bytes
        if self.window_bytes >= self.threshold:
            self.end_slow_start(now_us, srtt_us)

    def end_slow_start(self, now_us, srtt_us):
        """The first slowdown comes soon, each other after nine times what the last one took."""
        if self.is_initial:
            self.is_initial, self.slowdown_at_us = False, now_us + 2 * srtt_us
        elif self.began_us is not None:
            self.slowdown_at_us = now_us + 9 * (now_us - self.began_us)
            self.began_us = None

    def slow_down(self, now_us, window_bytes, srtt_us):
        self.threshold = window_bytes
        self.window_bytes = 2 * self.mss
        self.slowdown_at_us, self.began_us = inf, now_us
        self.frozen_until_us = now_us + 2 * srtt_us

    def steer(self, window_bytes, acked_bytes):
        """The gain each round trip below the target, a multiplicative decrease above it."""
        window = window_bytes / self.mss
        above = self.path.queue_us / (self.target_ms * 1000) - 1
        change = self.gain if above <= 0 else max(self.gain - window * above, -window / 2)
        self.window_bytes = max(2 * self.mss, window_bytes + change * acked_bytes / window)

    def on_loss(self, now_us, window_bytes, flight_bytes):
        self.window_bytes = self.threshold = max(2 * self.mss, window_bytes / 2)
        if self.is_initial:
            self.is_initial, self.slowdown_at_us = False, now_us

    def on_timeout(self, now_us, window_bytes, flight_bytes):
        self.threshold = max(2 * self.mss, flight_bytes / 2)
        self.window_bytes = self.mss
