"""The period of the grid that arrivals follow, found without knowing anything of it.

A CMTS grants in MAP intervals, so packets arrive at the server at some places of an interval more
often than at others. `concentration` is the Rayleigh statistic R of arrivals folded with a period:
1 if all arrive at one place of the interval, near 0 if they are spread evenly. The period is that
with the greatest R. Probes at a steady interval T make aliases: grids of 1/P + k/T, for any whole
k, give nearly the same R, and longer ones often more. A second measure is the wait: a packet that
is sent a moment later waits a moment less, so delays less the wait are steadiest with the true
period. Minutes are compared in pairs, and a period is out where both measures say so, if the spread
of arrivals does not explain why a longer one has more of R.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .log import Log, Values, parts_of

SHORTEST_MS, LONGEST_MS = 0.5, 10.0
"""Periods that are searched."""
_BIN_MS = 0.1
_LONGEST_S = 3600.0
_CHANCE = 25.0
"""n R^2 that chance does not reach: a search of 10^7 periods gives 16, and 25 once in 10^4 logs.
The sum of more parts is beyond it as seldom as Laurent and Massart 2000, lemma 1, say."""
_PARTS = 12
_STUDENT = 1.812
"""The 95 % point of Student's t with `_PARTS` - 2 degrees of freedom."""
_OF_SENDING = 0.5
"""A period that send times follow, half as much as arrivals, is that of the probes."""
_LEAST = 0.2
"""R of a grid: on simulated lines at least 0.35; probes' own intervals alone come to 0.14."""
_NEAR = 0.8
"""Peaks of at least this part of the greatest R are compared with it."""
_MINUTE_MS = 60e3
_FEWEST_MINUTES, _MOST_MINUTES = 12, 60
_DECIDED = 3.0
"""Standard errors between periods that minutes distinguish: one log of 700 with chance alone."""
_PLACED = 5000
"""Probes by which the place of a period is found."""
WANDER = 1e-6
"""By how much the rates of two clocks wander within an hour."""


@dataclass(frozen=True)
class Grid:
    """A period that was found."""

    period_ms: float
    error_ms: float
    """Half of a 90 % interval, if the period is no alias."""
    concentration: float
    """R at the period, 0 to 1."""
    aliases_ms: tuple[float, ...]
    """Other periods that the log does not distinguish from it, the likeliest first."""
    places: Values
    """Arrivals in each twentieth of the period, the fullest being the first."""

    @property
    def share(self) -> float:
        """The share of the probes that follow the grid.

        Twice the mean height above the emptiest places: what arrives at any time is even.
        """
        return float(1 - 20 * np.sort(self.places)[:4].mean() / self.places.sum())


def concentration(parts: Sequence[Values], period_ms: float) -> float:
    """R of times folded with a period, whose place wanders between parts as far as clocks do."""
    sums = np.array([np.exp(2j * np.pi / period_ms * part).sum() for part in parts])
    middles = [part.mean() for part in parts]
    place = np.angle(sums[0])
    total = abs(sums[0])
    for length_ms, one in zip(np.diff(middles), sums[1:], strict=True):
        most = 2 * np.pi / period_ms * WANDER * length_ms
        place += np.clip(np.angle(one * np.exp(-1j * place)), -most, most)
        total += (one * np.exp(-1j * place)).real
    return float(max(total, 0.0)) / sum(map(len, parts))


def _strength(powers: Values, counts: NDArray[np.intp]) -> Values:
    """R within parts by the squares of their sums, less what chance adds to more than one."""
    chance = counts.sum() * (1 - 1 / len(counts))
    return np.asarray(np.sqrt(np.maximum(powers - chance, 0) / ((counts**2).sum() - chance)))


def shortest_period_ms(resolution_ms: float) -> float:
    """The shortest period that such times show: one below two steps looks like a longer one."""
    return max(SHORTEST_MS, 2 * resolution_ms)


def found_grid(
    log: Log, longest_ms: float = LONGEST_MS, chosen_ms: float | None = None
) -> Grid | None:
    """The grid of a log's arrivals, or None if nothing but chance and the probes is in them.

    `chosen_ms` chooses between periods that the log does not distinguish: the one nearest to it.
    """
    order = np.argsort(log.sent_ms, kind="stable")
    sent, arrivals = (times[order] - times.min() for times in (log.sent_ms, log.arrival_ms))
    kept = sent < _LONGEST_S * 1e3
    arrivals, sent = arrivals[kept], sent[kept]
    shortest_ms = shortest_period_ms(log.resolution_ms)
    if shortest_ms >= longest_ms:
        return None
    parts = parts_of(sent)
    sends, arrived = ([times[part] for part in parts] for times in (sent, arrivals))
    least = max(np.sqrt((_CHANCE + np.sqrt(2 * _CHANCE * (len(parts) - 1))) / len(sent)), 0.02)
    between_ms = (shortest_ms, longest_ms)
    peaks = sorted(_peaks(arrived, least, between_ms, log.resolution_ms), reverse=True)
    peaks = [(r, f) for r, f in peaks if _of_probes(log, f) < _OF_SENDING * r]
    if not peaks or peaks[0][0] < _LEAST:
        return None
    near = [frequency for r, frequency in peaks if r > _NEAR * peaks[0][0]]
    found = [_fundamental(arrived, sends, one, least, longest_ms) for one in near]
    periods = [1 / _polished(arrivals, one)[0] for one in _distinct(found, arrived)]
    periods = _undecided(sends, arrived, periods)
    if chosen_ms is not None:
        periods.sort(key=lambda one: abs(one - chosen_ms))
    frequency, error = _polished(arrivals, 1 / periods[0])
    rounding = log.resolution_ms / float(np.ptp(arrivals)) * frequency
    return Grid(
        1 / frequency,
        max(error / frequency, rounding, WANDER) / frequency,
        concentration(arrived, 1 / frequency),
        tuple(periods[1:]),
        _places(arrived, frequency),
    )


def _of_probes(log: Log, frequency: float) -> float:
    """R that the times of sending have at a frequency, which hosts that send unevenly lessen.

    They do so less at the interval of steady probes, where this is a whole number of periods.
    """

    def of_steady(sent: Values) -> float:
        periods = max(1, round(frequency * float(np.median(np.diff(sent)))))
        return concentration([sent], periods / frequency)

    sent = log.sent_ms
    of_all = concentration([sent[part] for part in parts_of(sent)], 1 / frequency)
    return max(of_all, min(of_steady(stream.sent_ms) for stream in log.streams))


def _distinct(frequencies: Sequence[float], parts: Sequence[Values]) -> list[float]:
    """Frequencies that are no other one, nor a multiple of an earlier one."""
    found: list[float] = []
    width = 4 / max(float(np.ptp(part)) for part in parts)
    for one in frequencies:
        if all(abs(one - max(round(one / other), 1) * other) > width for other in found):
            found.append(one)
    return found


def _undecided(
    sends: Sequence[Values], arrived: Sequence[Values], periods_ms: Sequence[float]
) -> list[float]:
    """The periods that minutes do not distinguish from the likeliest, which comes first."""
    if len(periods_ms) < 2:
        return list(periods_ms)
    count = int(np.clip((sends[-1][-1] - sends[0][0]) / _MINUTE_MS, _FEWEST_MINUTES, _MOST_MINUTES))

    def behind(turns: Iterable[Values]) -> Values:
        """By how many standard errors each period is behind the best one."""
        minutes = [[abs(part.mean()) for part in np.array_split(one, count)] for one in turns]
        measured = np.array(minutes)
        ahead = measured[np.argmax(measured.mean(axis=1))] - measured
        errors = np.maximum(ahead.std(axis=1, ddof=1), 1e-12) / np.sqrt(count)
        return np.asarray(ahead.mean(axis=1) / errors)

    longest, arrivals = max(periods_ms), np.concatenate(arrived)
    of_all = np.array([concentration(arrived, one) for one in periods_ms])
    by_place = behind(np.exp(2j * np.pi / one * arrivals) for one in periods_ms)
    sent = np.concatenate(sends)
    by_wait = behind(_less_wait(sent, arrivals - sent, one, longest) for one in periods_ms)
    is_open = np.minimum(by_place, by_wait) < _DECIDED
    # What spreads arrivals takes more of R from a shorter period: an alias of it that is longer
    # may have so much more, in each minute.
    best = int(np.argmax(of_all))
    slope = max(1.0, -2 * float(np.log(of_all[best])))
    shorter = np.minimum(np.array(periods_ms) / periods_ms[best], 1.0)
    may_be_taken = (shorter < 1) & (of_all >= of_all[best] * shorter**slope)
    kept = is_open | may_be_taken
    return [periods_ms[at] for at in np.argsort(by_place, kind="stable") if kept[at]]


def _less_wait(sent: Values, delay: Values, period_ms: float, turn_ms: float) -> Values:
    """Delays less the wait for the next whole period, as turns of `turn_ms`.

    The place of the period in the log is that which leaves them steadiest.
    """

    def turns(place: float, some: slice = slice(None)) -> Values:
        wait = period_ms * (1 - (sent[some] / period_ms - place) % 1)
        return np.asarray(np.exp(2j * np.pi / turn_ms * (delay[some] - wait)))

    some = slice(None, None, max(1, len(sent) // _PLACED))
    return turns(max(np.arange(40) / 40, key=lambda place: abs(turns(place, some).mean())))


def _peaks(
    parts: Sequence[Values], least: float, between_ms: tuple[float, float], resolution_ms: float
) -> Iterator[tuple[float, float]]:
    """Greatest R, each at its frequency in 1/ms, R being freed of what rounding times takes."""
    longest = max(float(np.ptp(part)) for part in parts)
    size = 1 << int(np.ceil(np.log2(1.5 * (longest / _BIN_MS + 1))))
    step = 1 / (size * _BIN_MS)
    low, high = int(np.ceil(1 / (between_ms[1] * step))), int(1 / (between_ms[0] * step))
    powers = np.zeros(high + 1 - low)
    for part in parts:
        counts = np.bincount(((part - part.min()) / _BIN_MS).astype(np.int64), minlength=size)
        powers += np.abs(np.fft.rfft(counts.astype(np.float32))[low : high + 1]) ** 2
    coarse = _strength(powers, np.array([len(part) for part in parts]))
    frequencies = step * np.arange(low, high + 1)
    lost = np.abs(np.sinc(frequencies * _BIN_MS) * np.sinc(frequencies * resolution_ms))
    coarse = np.where(lost > 0.3, coarse / np.maximum(lost, 0.3), 0.0)
    before, top, after = coarse[:-2], coarse[1:-1], coarse[2:]
    tops = np.flatnonzero((top >= before) & (top > after) & (top > 0.6 * least))
    times = np.sort(np.concatenate(parts))
    for at in tops[np.argsort(top[tops])[::-1][:40]]:
        # The parabola through three values has its greatest one between them.
        rise, fall = top[at] - before[at], top[at] - after[at]
        frequency = float(frequencies[at + 1] + step * (rise - fall) / (2 * (rise + fall)))
        frequency, _ = _polished(times, frequency)
        value = concentration(parts, 1 / frequency) / abs(np.sinc(frequency * resolution_ms))
        if value > least:
            yield min(value, 1.0), frequency


def _fundamental(
    parts: Sequence[Values],
    sends: Sequence[Values],
    frequency: float,
    least: float,
    longest_ms: float,
) -> float:
    """That of the longest period of which the best one is a whole part.

    What follows a period of P has peaks at 1/P, 2/P and so on alone, so a peak at a part of the
    best frequency shows a longer period, unless arrivals at each P have one for being sent so.
    """
    for part in range(int(longest_ms * frequency), 1, -1):
        more = concentration(parts, part / frequency) - least
        if more > 0 and more > _by_sending(sends, frequency, part):
            return frequency / part
    return frequency


def _by_sending(sends: Sequence[Values], frequency: float, part: int) -> float:
    """The greatest R at a part of a frequency that its grid may give for the times of sending."""
    return max(
        concentration([np.ceil(sent * frequency - place) for sent in sends], part)
        for place in np.arange(20) / 20
    )


def _polished(times: Values, frequency: float) -> tuple[float, float]:
    """The frequency by the phases of parts of the log, and half of its 90 % interval.

    The scatter of phases around their line has all that delays of neighbouring probes share.
    """
    parts = np.array_split(times, _PARTS)
    middles = np.array([part.mean() for part in parts])
    turns = np.exp(2j * np.pi * frequency * np.asarray(times).mean())
    phases = np.array(
        [np.angle(np.mean(np.exp(2j * np.pi * frequency * part)) / turns) for part in parts]
    )
    phases = np.unwrap(phases)
    away = middles - middles.mean()
    slope = float(away @ phases / (away @ away))
    rest = phases - phases.mean() - slope * away
    scatter = float(np.sqrt(rest @ rest / (_PARTS - 2) / (away @ away)))
    return frequency - slope / (2 * np.pi), _STUDENT * scatter / (2 * np.pi)


def _places(parts: Sequence[Values], frequency: float) -> Values:
    """Arrivals in each twentieth of the period, each part being turned to the mean place."""
    counts = np.zeros(20)
    for part in parts:
        turn = np.angle(np.exp(2j * np.pi * frequency * part).sum()) / (2 * np.pi)
        counts += np.histogram((part * frequency - turn) % 1, 20, (0, 1))[0]
    return np.roll(counts, -int(np.argmax(counts)))
