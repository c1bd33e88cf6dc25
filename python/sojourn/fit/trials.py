"""Logs of known lines, as hosts with clocks of their own measure them: for the proof of the fit.

Some lines are of the fit's model, and some are not. What is drawn, and the seeds, were fixed before
any of them was fitted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .grid import LONGEST_MS, SHORTEST_MS
from .log import Log, Probes, Values
from .model import Stream, fibre, scenario, simulated
from .prior import LOADED_S, PRIOR, drawn
from .repair import repaired

_SHORTEST_S, _LONGEST_S = 120.0, 1800.0
_STEADY_MS = (41, 47, 53, 59, 67, 73, 83, 97)
"""Whole intervals of steady probes."""
_DRIFT = 50e-6
_WANDER = 5e-7
"""How far the rate of a clock is off its drift at most."""
_JITTER_MS = 0.2
_LOSS = 0.05
_CHANGES = 4
"""Loads in a log whose load changes."""
_ANY_GRID = ({"grid_ms": SHORTEST_MS}, {"grid_ms": LONGEST_MS})
_ROUTER = """
[homes.ours.router]
upstream = { rate_mbps = 9, queue.scheduler = { kind = "cake", rtt_ms = 200 } }
"""


@dataclass(frozen=True)
class Trial:
    """A log, and its line, or those between which it changes.

    Values that no line has are wrong.
    """

    log: Log
    lines: Sequence[Mapping[str, float]]
    clock: float
    """By how much the receiver's clock is faster."""


def inside(seed: int) -> Trial:
    """A line of the prior, idle and with an upload, as it is measured."""
    random = np.random.default_rng([45, seed])
    line = drawn(seed)
    return _measured(_line_log(line, seed, *_probes(random)), [line], random)


def _probes(random: np.random.Generator) -> tuple[float, Sequence[Stream]]:
    """How long probes are sent, and at which intervals: steady, uneven, or steady in streams."""
    length_s = _SHORTEST_S * (_LONGEST_S / _SHORTEST_S) ** random.random()
    steady = [Stream(float(one), 0.0) for one in random.choice(_STEADY_MS, 3, replace=False)]
    uneven = Stream(random.uniform(30, 80), 50.0)
    kinds: list[Sequence[Stream]] = [steady[:1], [uneven], steady]
    return length_s, kinds[random.integers(3)]


def _line_log(
    line: Mapping[str, float],
    seed: int,
    idle_s: float,
    streams: Sequence[Stream],
    loaded_s: float = LOADED_S,
    more: str = "",
) -> Log:
    text = scenario(line, streams, idle_s=idle_s, loaded_s=loaded_s, seed=seed, trace=True)
    loaded = (idle_s, idle_s + loaded_s) if loaded_s else None
    return replace(simulated(text + more), loaded_s=loaded)


@dataclass(frozen=True)
class Clock:
    """A clock that drifts and wanders."""

    drift: float
    times_ms: Values
    off_ms: Values

    def __call__(self, time_ms: Values) -> Values:
        """What it shows at a time."""
        return np.asarray(
            time_ms * (1 + self.drift) + np.interp(time_ms, self.times_ms, self.off_ms)
        )


def _clock(log: Log, random: np.random.Generator) -> Clock:
    times = np.linspace(0, log.sent_ms.max(), 100)
    rates = np.cumsum(random.normal(0, 1, len(times)))
    rates *= _WANDER / abs(rates).max()
    off = np.cumsum(rates) * (times[1] - times[0])
    return Clock(random.uniform(-_DRIFT, _DRIFT), times, off)


def _measured(
    log: Log,
    lines: Sequence[Mapping[str, float]],
    random: np.random.Generator,
    jitter_ms: float = _JITTER_MS,
) -> Trial:
    """With probes that wait in the host and get lost, by clocks of its own and of the server."""
    sender, receiver = (_clock(log, random) for _ in range(2))
    loss, jitter_ms = random.uniform(0, _LOSS), random.uniform(jitter_ms / 2, jitter_ms)
    has_return = random.random() < 0.5

    def seen(probes: Probes) -> Probes:
        assert probes.up_ms is not None
        probes = probes.where(random.random(len(probes)) >= loss)
        arrived = probes.sent_ms + probes.delay_ms
        sent = probes.sent_ms - random.exponential(jitter_ms, len(probes))
        returned = arrived + 5 + random.exponential(0.1, len(probes))
        up = receiver(arrived) - sender(sent)
        down = sender(returned) - receiver(arrived) if has_return else None
        return Probes(probes.name, sender(sent), up, down, None if down is None else up + down)

    return Trial(repaired(replace(log, streams=[*map(seen, log.streams)])), lines, receiver.drift)


def _on_fibre(seed: int, random: np.random.Generator) -> Trial:
    length_s, streams = _probes(random)
    return _measured(simulated(fibre(streams, idle_s=length_s, seed=seed)), [], random)


def _on_wifi(seed: int, random: np.random.Generator) -> Trial:
    """Probes that wait for a wireless network before the modem."""
    line = drawn(seed)
    return _measured(_line_log(line, seed, *_probes(random)), [line], random, 4.0)


def _behind_cake(seed: int, random: np.random.Generator) -> Trial:
    """A router that keeps the modem's buffer empty: of the buffer no value is right."""
    line = drawn(seed)
    del line["buffer_ms"]
    log = _line_log({"buffer_ms": 200.0, **line}, seed, *_probes(random), more=_ROUTER)
    return _measured(log, [line], random)


def _with_changing_load(seed: int, random: np.random.Generator) -> Trial:
    """Logs of one line, whose neighbours are others in each, after each other."""
    length_s, streams = _probes(random)
    first = drawn(seed)
    lines = [
        first | {name: PRIOR[name].value(random.random()) for name in ("requests", "load")}
        for _ in range(_CHANGES)
    ]
    period = first["grid_ms"]
    after_ms = round(length_s * 1e3 / _CHANGES / period) * period
    logs = [
        _line_log(line, seed + at, after_ms / 1e3, streams, loaded_s=0.0)
        for at, line in enumerate(lines)
    ]
    joined = [
        Probes(
            str(number),
            np.concatenate([one.sent_ms + at * after_ms for at, one in enumerate(parts)]),
            np.concatenate([one.delay_ms for one in parts]),
        )
        for number, parts in enumerate(zip(*(log.streams for log in logs), strict=True))
    ]
    return _measured(Log("", joined), lines, random)


def _made(
    delays: Callable[[Values, np.random.Generator], Values],
    lines: Sequence[Mapping[str, float]] = (),
) -> Callable[[int, np.random.Generator], Trial]:
    """Logs whose delays follow from the times of sending."""

    def trial(seed: int, random: np.random.Generator) -> Trial:
        length_s, streams = _probes(random)
        probes = []
        for number, stream in enumerate(streams):
            count = int(length_s * 1e3 / stream.interval_ms)
            off = stream.deviation_percent / 100 * random.uniform(-1.7, 1.7, count)
            sent = stream.interval_ms * (np.arange(count) + off)
            sent.sort()
            probes.append(Probes(str(number), sent, delays(sent, random)))
        return _measured(Log("", probes), lines, random)

    return trial


def _ethernet(sent: Values, random: np.random.Generator) -> Values:
    return np.asarray(0.3 + random.exponential(0.05, len(sent)))


def _lte(sent: Values, random: np.random.Generator) -> Values:
    """Requests every 5 or 10 ms, whole ms, and a tenth is sent again after 8 ms."""
    period = random.choice([5.0, 10.0])
    again = 8.0 * (random.geometric(0.9, len(sent)) - 1)
    busy = random.geometric(0.6, len(sent)) - 1.0
    return np.asarray(np.ceil(sent / period) * period + 8 + again + busy - sent)


def _two_grids(sent: Values, random: np.random.Generator) -> Values:
    """A grid behind another one, each with a little more that is not even."""
    at = sent
    for period in random.uniform(1, 6, 2):
        at = np.ceil(at / period) * period + random.exponential(period / 10, len(sent))
    return np.asarray(at - sent)


OUTSIDE: Mapping[str, Callable[[int, np.random.Generator], Trial]] = {
    "fibre": _on_fibre,
    "Ethernet": _made(_ethernet),
    "Wi-Fi": _on_wifi,
    "LTE": _made(_lte, _ANY_GRID),
    "CAKE in the router": _behind_cake,
    "two grids": _made(_two_grids, _ANY_GRID),
    "changing load": _with_changing_load,
}
"""Lines that the fit does not know, and that it has to decline unless its values are right."""


def outside(seed: int) -> tuple[str, Trial]:
    """The kind of a line, and its log."""
    kind = [*OUTSIDE][seed % len(OUTSIDE)]
    return kind, OUTSIDE[kind](seed, np.random.default_rng([46, seed]))
