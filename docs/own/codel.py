"""CoDel (RFC 8289) as a law of one's own."""

from math import sqrt

from sojourn import MARK, PASS, Law, parameter


class OwnCodel(Law):
    """CoDel, controlled delay (RFC 8289)."""

    target_ms: float = parameter(5, unit="ms", range=(0.01, 10_000), doc="Acceptable delay.")
    interval_ms: float = parameter(100, unit="ms", range=(0.1, 100_000), doc="A round-trip time.")
    gauges = {"drops": "drops"}

    def __init__(self):
        self.target_us, self.interval_us = 1000 * self.target_ms, 1000 * self.interval_ms
        self.first_above, self.drop_next = None, 0.0
        self.drops = self.last_drops = 0
        self.dropping = self.has_dropped = False

    def on_departure(self, now_us, bytes, backlog_bytes, sojourn_us, ecn, flow):
        is_above = sojourn_us >= self.target_us and backlog_bytes > 1514
        if not is_above:
            self.first_above = None
        elif self.first_above is None:
            self.first_above = now_us + self.interval_us
        is_late = is_above and now_us >= self.first_above
        if is_late and not self.dropping:
            is_recent = now_us - self.drop_next < 16 * self.interval_us
            self.drops = max(1, self.drops - self.last_drops) if is_recent else 1
            self.last_drops = self.drops
            self.drop_next = now_us + self.interval_us / sqrt(self.drops)
            self.dropping = True
            return MARK
        if self.has_dropped:
            self.has_dropped = False
            self.drops += 1
            if is_late:
                self.drop_next += self.interval_us / sqrt(self.drops)
        self.dropping = is_late
        self.has_dropped = is_late and now_us >= self.drop_next
        return MARK if self.has_dropped else PASS

    def on_empty(self, now_us):
        self.drops += self.has_dropped
        self.first_above, self.dropping, self.has_dropped = None, False, False
