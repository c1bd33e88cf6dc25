"""A rate controller of one's own: the law of cake-autorate, as the built-in `autorate` has it."""

from collections import deque

from sojourn import Controller, parameter

MTU_BITS = 12_000
"""A full packet."""
RANGE = (0.01, 100_000)


def share(value, least, most):
    """Where a value is between two ends, from 0 to 1."""
    return 1.0 if value >= most else max(0.0, (value - least) / (most - least))


class Way:
    """A direction: baselines and delays in us, and when its rate changed."""

    def __init__(self, limits_mbps, reflectors):
        self.least, self.base, self.most = (1e6 * mbps for mbps in limits_mbps)
        self.baselines = [None] * reflectors
        self.delays = deque([(0.0, False)] * 6, maxlen=6)
        self.achieved_bps, self.is_measured = 0.0, False
        self.decreased_us, self.returned_us = float("-inf"), 0.0

    def sample(self, reflector, sample_us, bps):
        """Keeps what a sample exceeds its baseline by, and whether that is bloat."""
        before = self.baselines[reflector]
        before = sample_us if before is None else before
        weight = 0.001 if sample_us > before else 0.9
        self.baselines[reflector] = weight * sample_us + (1 - weight) * before
        delay_us = sample_us - self.baselines[reflector]
        self.delays.append((delay_us, delay_us > 30_000 + 1e6 * MTU_BITS / bps))

    def rate(self, now_us, bps):
        """The rate from now on."""
        mean_ms = sum_of(delay_us for delay_us, _ in self.delays) / 6 / 1e3
        is_calm = now_us - self.decreased_us >= 300_000
        if sum(is_bloat for _, is_bloat in self.delays) >= 3:
            if not is_calm:
                return bps
            self.decreased_us = now_us
            bps *= 0.99 - (0.99 - 0.75) * share(mean_ms, 30, 60)
        elif 100 * self.achieved_bps > 75 * bps:
            if not (is_calm and self.is_measured):
                return bps
            self.is_measured = False
            bps *= 1 + (1.04 - 1) * (1 - share(mean_ms, 10, 30))
        else:
            if now_us - self.returned_us < 1_000_000:
                return bps
            self.returned_us = now_us
            bps = max(bps * 0.99, self.base) if bps > self.base else min(bps * 1.01, self.base)
        return min(max(bps, self.least), self.most)


def sum_of(numbers):
    """As they come; `sum` compensates what it rounds."""
    total = 0.0
    for number in numbers:
        total += number
    return total


class OwnAutorate(Controller):
    """Falls with the delay of probes, rises under load, and returns to base rates otherwise."""

    update_ms: float = parameter(200, unit="ms", range=(10, 60_000), doc="Measures the load.")
    min_up_mbps: float = parameter(5, range=RANGE, doc="Least rate upstream in Mbps.")
    base_up_mbps: float = parameter(20, range=RANGE, doc="Rate upstream without load in Mbps.")
    max_up_mbps: float = parameter(35, range=RANGE, doc="Greatest rate upstream in Mbps.")
    min_down_mbps: float = parameter(5, range=RANGE, doc="Least rate downstream in Mbps.")
    base_down_mbps: float = parameter(20, range=RANGE, doc="Rate downstream without load in Mbps.")
    max_down_mbps: float = parameter(80, range=RANGE, doc="Greatest rate downstream in Mbps.")
    reflectors: int = parameter(6, range=(1, 100), doc="Asked in turn, all at one server.")

    def __init__(self):
        self.up = Way((self.min_up_mbps, self.base_up_mbps, self.max_up_mbps), self.reflectors)
        limits = self.min_down_mbps, self.base_down_mbps, self.max_down_mbps
        self.down = Way(limits, self.reflectors)

    def on_probe(self, now_us, rtt_us, up_us, down_us, up_bps, down_bps, probe):
        reflector = probe % self.reflectors
        if up_bps is not None:
            self.up.sample(reflector, rtt_us / 2, up_bps)
            self.up_bps = self.up.rate(now_us, up_bps)
        if down_bps is not None:
            self.down.sample(reflector, rtt_us / 2, down_bps)
            self.down_bps = self.down.rate(now_us, down_bps)

    def on_update(self, now_us, interval_us, up_bytes, down_bytes):
        for way, bytes in ((self.up, up_bytes), (self.down, down_bytes)):
            if bytes is not None:
                way.achieved_bps, way.is_measured = 8e6 * bytes / interval_us, True
