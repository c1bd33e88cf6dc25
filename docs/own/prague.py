"""Prague as a congestion control of one's own: the window and the rate of `prague`."""

from math import ceil

from sojourn import Control, parameter

GAIN = 1 / 16
"""Weight of a round's share of marks in their average."""
LEAST_RATE, LEAST_WINDOW = 12_500, 2
"""In bytes per second, and in segments."""
S = 10**12
"""A second. Times are whole picoseconds, as those of the simulator."""


def ps(us):
    return 0 if us is None else round(us * 1e6)


class OwnPrague(Control):
    """Prague (draft-briscoe-iccrg-prague-congestion-control), as Linux's version 0.7 has it."""

    virtual_rtt_ms: float = parameter(25, unit="ms", range=(1, 100), doc="Where the rate depends.")
    dependent_rounds: int = parameter(4, range=(0, 1_000_000), doc="Rounds in which it does not.")
    paced = True
    ecn = "l4s"

    def on_start(self, window_bytes, mss_bytes, max_window_bytes):
        self.mss, self.most = mss_bytes, max_window_bytes / mss_bytes
        self.virtual_rtt = round(self.virtual_rtt_ms / 1e3 * S)
        self.exact = self.was = window_bytes / mss_bytes
        self.alpha = None
        self.begin_round(0, 0)
        self.rounds = self.srtt = self.reacts_from = self.grows_from = 0
        self.marked = 0.0
        self.threshold_bytes = max_window_bytes
        self.burst_us = 1e6 / 4096

    def begin_round(self, now, end):
        self.round_start, self.round_end = now, end
        self.round_delivered = self.round_marked = 0.0

    @property
    def cwnd(self):
        return self.window_bytes / self.mss

    @cwnd.setter
    def cwnd(self, segments):
        self.window_bytes = segments * self.mss
        self.was = self.cwnd

    @property
    def threshold(self):
        return self.threshold_bytes / self.mss

    @property
    def is_dependent(self):
        return self.rounds < self.dependent_rounds

    @property
    def pace(self):
        """The round trip that paces it: the measured one, or the virtual one if that is longer."""
        return self.srtt if self.is_dependent else max(self.srtt, self.virtual_rtt)

    def follow(self):
        """TCP too sets the window, after a recovery or an idle time. What is smaller holds."""
        if self.cwnd != self.was:
            self.exact, self.was = min(self.exact, self.cwnd), self.cwnd

    def measure(self, now, delivered, marked, una, nxt):
        """The share of marks, once a round trip and the virtual one have passed."""
        self.round_delivered += delivered
        self.round_marked += marked
        is_over = una >= self.round_end and now - self.round_start >= self.pace
        if not is_over or self.round_delivered == 0:
            return
        share = min(1, self.round_marked / self.round_delivered)
        if self.alpha is not None:
            self.alpha += GAIN * (share - self.alpha)
        self.rounds = 0 if self.cwnd < self.threshold else self.rounds + 1
        self.begin_round(now, nxt)

    def react(self, now):
        """By half the share of marks, once a round; the first mark ends slow start."""
        if now < self.reacts_from:
            return
        share = 1 if self.alpha is None else self.alpha
        self.alpha = self.alpha or 0.0
        self.exact = max(LEAST_WINDOW, self.exact * (1 - share / 2))
        self.threshold_bytes = self.exact * self.mss
        self.reacts_from = now + self.pace

    def growth(self):
        if self.srtt >= self.virtual_rtt or self.is_dependent:
            return 1
        ratio = (self.srtt / S) / (self.virtual_rtt / S)
        return ratio * ratio

    def apply(self):
        """Whole segments, moved by one at a time."""
        goal = max(LEAST_WINDOW, ceil(self.exact))
        self.cwnd = min(max(goal, self.cwnd - 1), self.cwnd + 1)

    def set_rate(self, now):
        """A window per round trip, a little more and then less in a round."""
        if self.srtt == 0:
            return
        per_rtt = max(self.exact, LEAST_WINDOW) * self.mss / (self.srtt / S)
        gain = 2 if self.cwnd < self.threshold / 2 else 1
        is_early = now - self.round_start < int(self.pace * 0.5 + 0.5)
        wobble = 1 + 4 / 128 if is_early else 1 - 4 / 128
        self.pacing_bps = 8 * int(max(per_rtt * gain * wobble, LEAST_RATE))

    def on_feedback(
        self, now_us, delivered_bytes, marked_bytes, una_bytes, nxt_bytes, srtt_us, is_recovering
    ):
        now, self.srtt = ps(now_us), ps(srtt_us)
        delivered, self.marked = delivered_bytes / self.mss, marked_bytes / self.mss
        self.measure(now, delivered, self.marked, una_bytes, nxt_bytes)
        if not is_recovering:
            self.follow()
            if self.marked > 0:
                self.react(now)
            self.apply()
        self.set_rate(now)

    def on_ack(self, now_us, window_bytes, flight_bytes, acked_bytes, rtt_us, min_rtt_us, srtt_us):
        now, self.srtt = ps(now_us), ps(srtt_us)
        self.follow()
        unmarked, self.marked = max(0.0, acked_bytes / self.mss - self.marked), 0.0
        if self.cwnd < self.threshold:
            self.exact = min(self.exact + unmarked, self.threshold, self.most)
            self.cwnd = ceil(self.exact)
        elif now >= self.grows_from:
            self.exact = min(self.exact + unmarked * self.growth() / self.exact, self.most)
            self.apply()
        self.set_rate(now)

    def on_loss(self, now_us, window_bytes, flight_bytes):
        self.follow()
        self.exact = max(LEAST_WINDOW, self.exact / 2)
        self.threshold_bytes = self.exact * self.mss
        self.cwnd = self.exact
        self.grows_from = ps(now_us) + self.srtt
        self.reacts_from = ps(now_us) + self.pace

    def on_timeout(self, now_us, window_bytes, flight_bytes):
        self.on_loss(now_us, window_bytes, flight_bytes)
        self.exact = self.cwnd = 1

    def on_undo(self, now_us, previous_window_bytes, previous_threshold_bytes):
        self.cwnd = max(self.cwnd, previous_window_bytes / self.mss)
        self.threshold_bytes = max(self.threshold_bytes, previous_threshold_bytes)
        self.exact = self.cwnd
        self.grows_from = self.reacts_from = 0
