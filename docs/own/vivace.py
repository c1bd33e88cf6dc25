"""PCC Vivace (Dong and others, NSDI 2018) as a congestion control of one's own."""

from collections import deque

from sojourn import Control, parameter

PROBE = 0.05
"""How far the two rates that are compared lie from the present one."""
FIRST_STEP, NEXT_STEP = 0.05, 0.1
"""The largest change as a share of the rate, and what is added when it is reached again."""


class Interval:
    """A monitor interval: what was sent in it at one rate, and what became of it."""

    def __init__(self, rate_mbps, from_us, until_us):
        self.rate_mbps, self.from_us, self.until_us = rate_mbps, from_us, until_us
        self.samples = []
        self.delivered = self.lost = 0

    def slope(self):
        """How fast the round trip grows, in seconds a second: a line of least squares."""
        n = len(self.samples)
        mean_at = sum(at for at, _ in self.samples) / max(n, 1)
        spread = sum((at - mean_at) ** 2 for at, _ in self.samples)
        if spread == 0:
            return 0.0
        return sum((at - mean_at) * rtt for at, rtt in self.samples) / spread


class Vivace(Control):
    """Tries a rate above and one below the present one, and goes where the utility grows."""

    exponent: float = parameter(0.9, range=(0.1, 0.99), doc="Exponent of the rate in the utility.")
    delay_price: float = parameter(900, range=(0, 1e5), doc="Price of a growing round trip.")
    loss_price: float = parameter(11.35, range=(0, 1e3), doc="Price of a lost share.")
    tolerance: float = parameter(0.01, range=(0, 1), doc="Slopes below it count as none, in s/s.")
    step_mbps: float = parameter(
        1, range=(0.01, 100), doc="Change of the rate for a gradient of 1."
    )
    paced = True

    def on_start(self, window_bytes, mss_bytes):
        self.mss = mss_bytes
        self.intervals = deque()
        self.is_starting, self.last = True, None
        self.best, self.pair, self.is_up_first = None, [], True
        self.direction = self.same = self.beyond = 0

    def on_established(self, now_us, window_bytes, srtt_us):
        self.srtt_us = srtt_us
        self.rate_mbps = 8 * window_bytes / srtt_us
        self.begin(now_us)

    def on_wake(self, now_us, window_bytes, flight_bytes, threshold_bytes):
        self.begin(now_us)

    def begin(self, now_us):
        """Begins the interval that is due: a doubled rate, one of the pair, or the present rate."""
        if self.is_starting:
            rate = self.rate_mbps * (2 if self.last and len(self.intervals) < 3 else 1)
        elif len(self.pair) < 2:
            is_up = self.is_up_first == (not self.pair)
            rate = self.rate_mbps * (1 + PROBE if is_up else 1 - PROBE)
        else:
            rate = self.rate_mbps
        until_us = now_us + max(self.srtt_us, 10 * 8 * self.mss / rate)
        interval = Interval(rate, now_us, until_us)
        if self.is_starting:
            self.rate_mbps, self.last = rate, interval
        elif len(self.pair) < 2:
            self.pair.append(interval)
        self.intervals.append(interval)
        self.pacing_bps = rate * 1e6
        self.window_bytes = max(4 * self.mss, 2 * rate * self.srtt_us / 8)
        self.wake(until_us)

    def on_sample(self, now_us, rtt_us, srtt_us, acked_bytes, newly_lost_bytes):
        if rtt_us is None:
            return
        self.srtt_us = srtt_us
        sent_us = now_us - rtt_us
        while self.intervals and sent_us >= self.intervals[0].until_us:
            self.judge(self.intervals.popleft())
        if self.intervals:
            interval = self.intervals[0]
            interval.delivered += acked_bytes
            interval.lost += newly_lost_bytes
            interval.samples.append((sent_us / 1e6, rtt_us / 1e6))

    def utility(self, interval):
        """Rate^t - b * rate * slope of the round trip - c * rate * lost share."""
        sent = interval.delivered + interval.lost
        rate = 8 * sent / (interval.until_us - interval.from_us)
        lost = interval.lost / sent if sent else 0
        slope = interval.slope()
        growth = slope if abs(slope) >= self.tolerance else 0
        price = self.delay_price * growth + self.loss_price * lost
        return rate**self.exponent - rate * price

    def judge(self, interval):
        if self.is_starting:
            utility = self.utility(interval)
            if self.best is None or utility > self.best[0]:
                self.best = utility, interval.rate_mbps
            else:
                self.is_starting, self.rate_mbps = False, self.best[1]
        elif len(self.pair) == 2 and interval is self.pair[1]:
            first, second = self.pair
            gradient = self.utility(first) - self.utility(second)
            self.step(gradient / (first.rate_mbps - second.rate_mbps))
            self.pair, self.is_up_first = [], not self.is_up_first

    def step(self, gradient):
        """Steps in one direction grow, and each is limited to a share of the rate."""
        direction = 1 if gradient > 0 else -1
        if direction != self.direction:
            self.direction, self.same, self.beyond = direction, 0, 0
        self.same += 1
        confidence = self.same if self.same <= 3 else 2 * self.same - 3
        change = confidence * self.step_mbps * abs(gradient)
        limit = (FIRST_STEP + self.beyond * NEXT_STEP) * self.rate_mbps
        self.beyond = self.beyond + 1 if change > limit else 0
        least_mbps = 2 * 8 * self.mss / self.srtt_us
        self.rate_mbps = max(least_mbps, self.rate_mbps + direction * min(change, limit))

    def on_loss(self, now_us, window_bytes, flight_bytes):
        pass

    def on_timeout(self, now_us, window_bytes, flight_bytes):
        pass
