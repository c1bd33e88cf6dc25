"""A shaper's rate as an environment of Gymnasium: a router before a line whose rate changes."""

import gymnasium
import numpy as np
import sojourn
from gymnasium.spaces import Box

SCENARIO = """
duration_s = 60
metrics = { series_interval_ms = 1000, connections = 0 }
upstream = { sustained_mbps = 5, modem.kind = "link" }
downstream.sustained_mbps = 200
router.upstream = { rate_mbps = 5, queue.scheduler.kind = "fq", queue.law.kind = "codel" }
servers.near.delay_ms = 10
traffic.upload = { kind = "transfer", server = "near" }
traffic.game = { kind = "stream", purpose = "game", server = "near" }
"""
STEP_S = 0.01
LEAST_MBPS, MOST_MBPS = 0.5, 12.0
LINE_MBPS = 2.0, 10.0
"""The rate of the line is drawn between these, every second."""
DELAY_MS = 100.0
"""What observations of delays are divided by."""


class ShaperEnv(gymnasium.Env):
    """Each 10 ms an agent sets the rate of a router's shaper; it does not know that of the line.

    Observed are the delays of the router's and of the modem's queue, and the delivered and the set
    rate, as shares. The reward is the share of the line that is used, less the modem's delay.
    """

    metadata = {"render_modes": []}

    def __init__(self, scenario=SCENARIO, **settings):
        """Reads the scenario once; `settings` are those of `sojourn.load`."""
        (self._variant,) = sojourn.load(scenario, **settings)
        self.action_space = Box(0.0, 1.0, (1,), np.float32)
        self.observation_space = Box(0.0, 1.0, (4,), np.float32)

    def reset(self, *, seed=None, options=None):
        """Starts a run with a seed of its own."""
        super().reset(seed=seed)
        self._run = sojourn.Simulation(self._variant, seed=int(self.np_random.integers(2**32)))
        self._step, self._line_mbps = 0, 5.0
        self._delays_ms = {"router upstream": 0.0, "upstream": 0.0}
        return self._observed(0.0, 0.5), {}

    def step(self, action):
        """Sets the rate, and goes on by 10 ms."""
        share = min(max(float(action[0]), 0.0), 1.0)
        changes = {"router.upstream.rate_mbps": LEAST_MBPS + share * (MOST_MBPS - LEAST_MBPS)}
        if self._step % round(1 / STEP_S) == 0:
            self._line_mbps = self.np_random.uniform(*LINE_MBPS)
            rates = "upstream.sustained_mbps", "upstream.peak_mbps"
            changes |= dict.fromkeys(rates, self._line_mbps)
        self._run.set(changes)
        self._step += 1
        self._run.run_until(self._step * STEP_S)
        seen = self._run.observe()
        for queue in seen.queues:
            if queue.queue in self._delays_ms and queue.delay_ms is not None:
                self._delays_ms[queue.queue] = queue.delay_ms
        used = sum(one.delivered_mbps for one in seen.traffic if one.direction == "up")
        used /= self._line_mbps
        reward = used - self._delays_ms["upstream"] / DELAY_MS
        is_over = self._run.now_s >= self._run.duration_s
        return self._observed(used * self._line_mbps, share), reward, False, is_over, {}

    def result(self):
        """The results up to now, with all that was changed."""
        return self._run.finish()

    def _observed(self, mbps, share):
        delays = [min(delay_ms / DELAY_MS, 1.0) for delay_ms in self._delays_ms.values()]
        return np.array([*delays, min(mbps / MOST_MBPS, 1.0), share], np.float32)
