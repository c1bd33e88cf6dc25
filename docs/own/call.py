"""A video call of one's own: frames of several datagrams, as `video_call` sends them."""

from sojourn import HOME, SERVER, Traffic, parameter


class OwnCall(Traffic):
    """Frames at a steady pace, scored as those of a video call."""

    rate_mbps: float = parameter(2.3, range=(0.01, 1000), doc="Mean rate on the wire in Mbps.")
    frames_per_s: float = parameter(30, range=(1, 240), doc="Frames per second.")
    spread_percent: float = parameter(15, range=(0, 100), doc="Laplace scale of sizes and pauses.")
    way = parameter("down", choices=["up", "down", "both"], doc="Direction of the frames.")
    score = "frames"
    two_way = True

    def __init__(self):
        self.ends = {"up": [HOME], "down": [SERVER], "both": [HOME, SERVER]}[self.way]
        self.next_us = {}

    def vary(self, mean, most):
        """A value about its mean, from 0 to `most` times it."""
        if not self.spread_percent:
            return mean
        factor = 1 + self.rng.choice((-1, 1)) * self.rng.expovariate(100 / self.spread_percent)
        return mean * min(most, max(0, factor))

    def on_timer(self, now_us):
        interval_us = 1e6 / self.frames_per_s
        for number, end in enumerate(self.ends):
            phase_us = number * interval_us * self.rng.random()
            self.next_us.setdefault(end, round(now_us + phase_us, 6))
            while self.next_us[end] <= now_us:
                bytes = self.vary(self.rate_mbps * 1e6 / 8 / self.frames_per_s, 3)
                self.frame(end, max(64, int(bytes + 0.5)))
                # Timers expire at whole picoseconds.
                self.next_us[end] = round(now_us + self.vary(interval_us, 2), 6)
        self.wake(min(self.next_us.values()))
