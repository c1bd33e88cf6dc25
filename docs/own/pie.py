"""A law that is called at its updates alone: PIE's controller (RFC 8033)."""

from bisect import bisect

from sojourn import Law, parameter

BOUNDS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
FACTORS = (1 / 2048, 1 / 512, 1 / 128, 1 / 32, 1 / 8, 1 / 2, 1)
"""A probability between two bounds changes in steps of that factor."""


class OwnPie(Law):
    """PIE's controller, without its bursts and exceptions (RFC 8033, section 4.2)."""

    target_ms: float = parameter(15, unit="ms", range=(1, 10_000), doc="Delay to hold.")
    update_ms: float = parameter(15, unit="ms", range=(1, 1_000), doc="Time between updates.")
    gauges = {"probability": "1"}

    def __init__(self):
        self.probability = self.last_s = 0.0

    def on_update(self, now_us, backlog_bytes, sojourn_us, rate_bps):
        delay_s = sojourn_us / 1e6
        change = 0.125 * (delay_s - self.target_ms / 1e3) + 1.25 * (delay_s - self.last_s)
        change *= FACTORS[bisect(BOUNDS, self.probability)]
        self.probability = min(1.0, max(0.0, self.probability + change))
        self.last_s = delay_s
        return self.probability
