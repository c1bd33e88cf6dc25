"""A congestion control of one's own: additive increase, multiplicative decrease."""

from sojourn import Control, parameter


class Aimd(Control):
    """Slow start, then `gain` segments more each round trip; a loss leaves the share `left`."""

    gain: float = parameter(1, range=(0.01, 100), doc="Segments gained per round trip.")
    left: float = parameter(0.5, range=(0.1, 0.95), doc="Share of the flight that a loss leaves.")

    def on_start(self, window_bytes, mss_bytes):
        self.mss = mss_bytes
        self.threshold = float("inf")

    def on_ack(self, now_us, window_bytes, flight_bytes, acked_bytes, rtt_us, min_rtt_us):
        if window_bytes < self.threshold:
            self.window_bytes += acked_bytes
        else:
            self.window_bytes += self.gain * self.mss * acked_bytes / window_bytes

    def on_loss(self, now_us, window_bytes, flight_bytes):
        self.window_bytes = self.threshold = max(2 * self.mss, self.left * flight_bytes)

    def on_timeout(self, now_us, window_bytes, flight_bytes):
        self.threshold = max(2 * self.mss, flight_bytes / 2)
        self.window_bytes = self.mss
