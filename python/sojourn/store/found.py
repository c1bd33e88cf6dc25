"""The results of a search: its answer, its points, and the figures of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from rich.text import Text

from ..analysis.answers import Words, sentences
from ..analysis.conditions import Bound, Judged
from ..analysis.grids import with_interval
from ..analysis.keys import key_in_words, unit_of_key, value_in_words
from ..analysis.measures import Measure
from ..analysis.search import Span, Values, span_of
from ..base.grid import Grid, digits
from ..base.lookup import look_up
from ..base.plain_text import plain
from ..base.terminal import print_grids
from ..base.toml_text import toml_value
from ..plot.charts.base import Chart
from ..plot.figures.found import measure_by_key

_SENTENCE_WIDTH = 80

Measures = Mapping[str, float | None]
"""The measures of a run, by key."""


@dataclass(frozen=True)
class Condition:
    """A bound, and the measure that it is on."""

    bound: Bound
    measure: Measure

    def __str__(self) -> str:
        return self.bound.of(self.measure)

    @property
    def heading(self) -> str:
        """The bound alone, as the heading of a column."""
        return f"{self.bound.sign}\n{self.bound.value:g}"


@dataclass(frozen=True)
class Answer:
    """The values of the key at which all conditions hold, for a variant."""

    span: Span
    sentences: Sequence[str]
    """The answer in words."""
    probed: int
    """How many values were probed."""
    unprobed: Sequence[tuple[float, float]]
    """Between which neighbouring values that are decided otherwise there are others."""

    @property
    def undecided(self) -> Sequence[tuple[float, float]]:
        """Between which values the seeds decide nothing."""
        return self.span.undecided

    @property
    def answer(self) -> float | None:
        """The greatest value of `holds`, or the least if the conditions hold up to the greatest.

        `None` if there is none, or if they hold at all probed values.
        """
        return None if self.interval is None else self.interval[0]

    @property
    def interval(self) -> tuple[float | None, float | None] | None:
        """The answer, and the first value beyond it at which the conditions surely fail."""
        return self.span.edge

    @property
    def holds(self) -> tuple[float, float] | None:
        """The least and the greatest of the probed values between which the conditions hold.

        Where they cease to hold in between, these are the ends of the widest range.
        """
        return self.span.holds


class Found(Mapping[str, Answer]):
    """What a search found: a mapping from variant to `Answer`.

    `points` has a row per variant, probed value and condition; `runs`, per run and measure.

    >>> found = sojourn.find(
    ...     "scenarios/upload.toml", key="upstream.queue.limit_bytes", until="game p99 < 100",
    ...     low=16_000, high=256_000, step=16_000, seeds=2, duration_s=1,
    ... )
    >>> list(found)
    ['drop-tail', 'DOCSIS-PIE']
    """

    def __init__(
        self, key: str, seeds: int, conditions: Sequence[Condition], steps: Values
    ) -> None:
        """Nothing is probed yet."""
        self.key, self.seeds, self.conditions, self._steps = key, seeds, conditions, steps
        self.runs_of: dict[str, dict[float, Mapping[int, Measures]]] = {}
        """The measures of each run, by variant, value and seed."""
        self.points_of: dict[str, Sequence[dict[float, Judged]]] = {}
        """What was found of each condition, by variant and value."""
        self.totals: dict[float, float] = {}
        """Of a key such as `homes.*.count`: the sum of all, by its factor."""
        self.early_s: Mapping[str, float] = {}
        """How long the start lasts that makes the tail of a run, by variant in which it does."""
        self.remarks: list[str] = []
        """Why the search ended early, and warnings of the runs."""

    def add(self, variant: str, value: float, runs: Mapping[int, Measures]) -> None:
        """Adds the runs of a variant with a value, by seed."""
        self.runs_of.setdefault(variant, {})[value] = runs
        points = self.points_of.setdefault(variant, [{} for _ in self.conditions])
        for condition, of in zip(self.conditions, points, strict=True):
            of[value] = condition.bound.judged(
                [run.get(condition.measure.key) for run in runs.values()]
            )

    def __getitem__(self, variant: str) -> Answer:
        points = self.points_of[look_up("variant", variant, list(self))]
        by_text = dict(zip(map(str, self.conditions), points, strict=True))
        said = [*sentences(by_text, Words(self.key, self._steps, self.say))]
        early_s = self.early_s.get(variant)
        if early_s and any(one.measure.unit == "ms" for one in self.conditions):
            said.append(
                f"In some of these runs the first {early_s:g} s make the tail: with "
                f"metrics.from_s = {early_s:g} the answer is not about the start."
            )
        span = span_of(points)
        return Answer(span, said, len(points[0]), span.unprobed(self._steps))

    def __iter__(self) -> Iterator[str]:
        return iter(self.points_of)

    def __len__(self) -> int:
        return len(self.points_of)

    def __repr__(self) -> str:
        return f"<Found {self.key}: {' '.join(self.lines())}>"

    @property
    def answer(self) -> float | None:
        """`Answer.answer` of a scenario without variants."""
        return self._only.answer

    @property
    def interval(self) -> tuple[float | None, float | None] | None:
        """`Answer.interval` of a scenario without variants."""
        return self._only.interval

    @property
    def _only(self) -> Answer:
        first = next(iter(self))
        if len(self) > 1:
            raise ValueError(f"found {len(self)} variants; allowed: one of them, as [{first!r}]")
        return self[first]

    @property
    def points(self) -> pa.Table:
        """A row per variant, probed value and condition, with mean and 95 % interval."""
        return pa.Table.from_pylist(
            [
                {
                    "variant": name,
                    self.key: value,
                    "condition": str(condition),
                    "measure": condition.measure.key,
                    **asdict(judged.value),
                    "seeds": judged.seeds,
                    "holds": judged.holds.word,
                }
                for name, value, all_judged in self._points()
                for condition, judged in zip(self.conditions, all_judged, strict=True)
            ]
        )

    @property
    def runs(self) -> pa.Table:
        """A row per run and measure."""
        return pa.Table.from_pylist(
            [
                {"variant": name, self.key: value, "seed": seed, "measure": key, "value": number}
                for name, by_value in self.runs_of.items()
                for value, by_seed in sorted(by_value.items())
                for seed, measures in by_seed.items()
                for key, number in measures.items()
            ]
        )

    def _points(self) -> Iterator[tuple[str, float, Sequence[Judged]]]:
        for name, points in self.points_of.items():
            for value in sorted(points[0]):
                yield name, value, [of[value] for of in points]

    def charts(self) -> list[Chart]:
        """A chart of each measure over the values of the key."""
        places: dict[str, list[int]] = {}
        for place, condition in enumerate(self.conditions):
            places.setdefault(condition.measure.key, []).append(place)
        return [
            measure_by_key(
                self.key,
                self.conditions[of[0]].measure,
                [self.conditions[place].bound for place in of],
                {name: points[of[0]] for name, points in self.points_of.items()},
            )
            for of in places.values()
        ]

    def summary(self) -> None:
        """Prints all points, the answers and the remarks."""
        console = print_grids([self._grid()])
        console.print()
        for line in [*self.lines(), *self.remarks]:
            console.print(Text(plain(line)), width=min(console.width, _SENTENCE_WIDTH))

    def to_json(self) -> dict[str, Any]:
        """The answers and all points, as JSON."""
        return {
            "key": self.key,
            "conditions": [*map(str, self.conditions)],
            "seeds": self.seeds,
            "answers": [
                {
                    "variant": name,
                    "answer": one.answer,
                    "interval": one.interval,
                    "holds": one.holds,
                    "undecided": one.undecided,
                    "unprobed": one.unprobed,
                    "probed": one.probed,
                    "sentences": one.sentences,
                }
                for name, one in self.items()
            ],
            "points": self.points.to_pylist(),
            "remarks": self.remarks,
        }

    def lines(self) -> Iterator[str]:
        """The answer of each variant."""
        for name, answer in self.items():
            yield " ".join([*([f"{name}:"] if name else []), *answer.sentences])

    def _grid(self) -> Grid:
        over = f", means of {self.seeds} seeds ± half of their 95 % interval"
        heads = [
            heading for one in self.conditions for heading in (one.measure.heading, one.heading)
        ]
        is_named = any(self)
        rows = [
            [
                *([name] if is_named else []),
                self.say(value),
                *(
                    cell
                    for each in zip(self.conditions, judged, strict=True)
                    for cell in _cells(*each)
                ),
            ]
            for name, value, judged in self._points()
        ]
        return Grid(
            f"Probed values{over if self.seeds > 1 else ''}",
            [*(["variant"] if is_named else []), key_in_words(self.key), *heads],
            rows,
        )

    def say(self, value: float) -> str:
        """A value of the key with its unit, with all digits if another probed one looks alike."""
        total = self.totals.get(value)
        words = self._words(value)
        probed = {other for points in self.points_of.values() for other in points[0]}
        if any(other != value and self._words(other) == words for other in probed):
            words = f"{value:.15g} {unit_of_key(self.key)}".strip()
        return words if total is None else f"{words} ({total:.15g} in all)"

    def _words(self, value: float) -> str:
        return value_in_words(self.key, toml_value(value)).strip()


def _cells(condition: Condition, judged: Judged) -> list[str]:
    """What a value is and whether it holds, with the digits in which it differs from the bound."""
    mean, bound = judged.value.mean, condition.bound.value
    is_hidden = mean is not None and mean != bound and digits(mean) == digits(bound)
    more = f"{mean:.7g}" if is_hidden and mean is not None else None
    return [with_interval(judged.value, more), judged.holds.word]
