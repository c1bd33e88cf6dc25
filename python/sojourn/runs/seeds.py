"""Variants with several seeds, and the results of these runs as one result."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

import pyarrow as pa

from .._sojourn import Facts, Variant
from ..analysis.precision import FEWEST_SEEDS, MOST_UNASKED, Target
from .frames import joined, labelled
from .result import Result, SavedResult, seeds_in_words

MOST_SEEDS = 10_000
"""The most seeds of a run or sweep."""

_GREATEST_SEED = 2**64 - 1


def most_seeds(
    variants: Sequence[Variant],
    seeds: int | None,
    until: Sequence[Target],
    name: str = "seeds",
) -> int:
    """How many seeds are run at most; raises `ValueError` if there are not so many.

    `name` is what their number is called in messages.
    """
    most = (MOST_UNASKED if until else 1) if seeds is None else seeds
    fewest = FEWEST_SEEDS if until else 1
    if not fewest <= most <= MOST_SEEDS:
        raise ValueError(f"{name}: found {most}; allowed: {fewest} to {MOST_SEEDS}")
    first = max(variant.seed for variant in variants)
    if first + most - 1 > _GREATEST_SEED:
        raise ValueError(
            f"{name}: found {most} from seed {first} on; "
            f"allowed: up to seed {_GREATEST_SEED}, so a smaller first seed or fewer"
        )
    return most


def seeded(variant: Variant, place: int) -> Variant:
    """The variant with the seed that is so many after its own."""
    return variant.replace(seed=variant.seed + place)


def as_one(results: Sequence[Result]) -> Result:
    """The results of a variant with different seeds as one."""
    return results[0] if len(results) == 1 else _OfSeeds(results)


class _OfSeeds(SavedResult):
    """A result whose tables have the rows of several runs, with their seed in a first column."""

    def __init__(self, results: Sequence[Result]) -> None:
        super().__init__(results[0].name)
        self._results = list(results)

    def __reduce__(self) -> tuple[Any, ...]:
        return _OfSeeds, (self._results,), {"idle_line": self.idle_line}

    @property
    def seeds(self) -> Mapping[int, Result]:
        return {run.meta["seed"]: run for run in self._results}

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Version, seeds, duration in s and warnings; counts and fingerprints are those of runs."""
        metas = [run.meta for run in self._results]
        return {
            "version": metas[0]["version"],
            "seeds": list(self.seeds),
            "duration_s": metas[0]["duration_s"],
            "warnings": [
                one.data for one in dict.fromkeys(w for run in self._results for w in run.warnings)
            ],
        }

    @property
    def scenario(self) -> str:
        """The complete scenario with the first seed."""
        return self._results[0].scenario

    @cached_property
    def settings(self) -> dict[str, Any]:
        return self._results[0].settings

    @cached_property
    def facts(self) -> Facts:
        return self._refuse("facts")

    def keeps(self, table: str) -> bool:
        return self._results[0].keeps(table)

    def table(self, name: str) -> pa.Table:
        return joined(labelled(run.table(name), {"seed": seed}) for seed, run in self.seeds.items())

    def fairness(self, *_: Any, **__: Any) -> NoReturn:
        self._refuse("fairness")

    def _refuse(self, what: str) -> NoReturn:
        found = seeds_in_words(list(self.seeds))
        raise ValueError(
            f"{what}: found the results of {found}; allowed: those of one seed, "
            f"result.seeds[{next(iter(self.seeds))}].{what}"
        )
