"""Tables of all runs of results, whose first columns say which run or setting a row is of."""

import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ..analysis.groups import Group, Results
from ..analysis.measures import MEASURES, Measure
from .frames import joined, labelled

Labels = dict[str, Any]
"""What the first columns say: the values of swept keys, and the variant."""


def tidy(results: Results, table: str) -> pa.Table:
    """A table of all runs; the first columns are the swept keys, variant and seed.

    Runs that do not record a trace have no rows of it.
    """
    runs = [(labels, run) for labels, group in labelled_groups(results) for run in group.runs]
    kept = [(labels, run) for labels, run in runs if run.keeps(table)]
    return joined(
        labelled(run.table(table), {**labels, "seed": run.meta["seed"]})
        for labels, run in kept or runs
    )


def wide_means(results: Results) -> pa.Table:
    """A row for each setting: its number of seeds, and each measure over them.

    A measure has four columns: mean, the ends of its 95 % interval, and how many runs have it.
    """
    runs = [run for group in results.groups for run in group.runs]
    measures = [measure for measure in MEASURES if measure.applies(runs)]
    rows = [
        {**labels, "seeds": len(group.runs), **_over_seeds(measures, group)}
        for labels, group in labelled_groups(results)
    ]
    first = [pa.field(name, pa.array([row[name] for row in rows]).type) for name in rows[0]]
    kept = {field.name: field for measure in measures for field in _fields(measure)}
    schema = pa.schema([kept.get(field.name, field) for field in first])
    return pa.Table.from_pylist(rows, schema)


def labelled_groups(results: Results) -> Iterator[tuple[Labels, Group]]:
    """Each group with its labels."""
    values = {
        key: _alike([group.point[place] for group in results.groups])
        for place, key in enumerate(results.keys)
    }
    for place, group in enumerate(results.groups):
        labels = {key: of_key[place] for key, of_key in values.items()}
        yield {**labels, "variant": group.variant}, group


def _alike(texts: Sequence[str]) -> Sequence[Any]:
    """The values of a key, which are TOML: of one type, or else the texts themselves."""
    values = [tomllib.loads(f"value = {text}")["value"] for text in texts]
    kinds = set(map(type, values))
    if kinds == {int, float}:
        return list(map(float, values))
    return values if len(kinds) == 1 and kinds <= {bool, int, float, str} else texts


def _over_seeds(measures: Sequence[Measure], group: Group) -> dict[str, float | int | None]:
    row: dict[str, float | int | None] = {}
    for measure in measures:
        value = measure.over(group.runs)
        count = sum(measure.value(run) is not None for run in group.runs)
        numbers = (value.mean, value.low, value.high, count)
        row |= {field.name: number for field, number in zip(_fields(measure), numbers, strict=True)}
    return row


def _fields(measure: Measure) -> list[pa.Field]:
    """The columns of a measure."""
    unit = {"unit": measure.unit} if measure.unit else {}
    what = {
        "mean": "mean over the seeds",
        "low": "lower end of the mean's 95 % confidence interval",
        "high": "upper end of the mean's 95 % confidence interval",
    }
    return [
        *(
            pa.field(
                f"{measure.key}_{end}",
                pa.float64(),
                metadata={"description": f"{measure.name}: {text}.", **unit},
            )
            for end, text in what.items()
        ),
        pa.field(
            f"{measure.key}_n",
            pa.int64(),
            metadata={"description": f"{measure.name}: number of runs that have it."},
        ),
    ]
