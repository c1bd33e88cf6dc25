"""A small rate controller of one's own: as much as passes without delay."""

from sojourn import Controller, parameter


class Follow(Controller):
    """Steps up while probes are fast, and down to what has passed when they are late."""

    target_ms: float = parameter(20, unit="ms", range=(1, 1_000), doc="Delay to hold.")
    update_ms: float = parameter(100, unit="ms", range=(10, 10_000), doc="Time between steps.")
    gauges = {"delay_ms": "ms"}

    def __init__(self):
        self.least_us, self.delay_ms = float("inf"), 0.0

    def on_probe(self, now_us, rtt_us, up_us, down_us):
        self.least_us = min(self.least_us, rtt_us)
        self.delay_ms += 0.2 * ((rtt_us - self.least_us) / 1e3 - self.delay_ms)

    def on_update(self, now_us, interval_us, up_bytes, down_bytes):
        if self.delay_ms < self.target_ms:
            self.up_bps *= 1.02
            self.down_bps *= 1.02
        else:
            self.up_bps = min(self.up_bps, 0.9 * 8e6 * up_bytes / interval_us + 1e6)
            self.down_bps = min(self.down_bps, 0.9 * 8e6 * down_bytes / interval_us + 1e6)
