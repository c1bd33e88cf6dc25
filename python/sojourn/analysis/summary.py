"""The summary of runs, as text and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.text import Text

from ..base.errors import Warning
from ..base.lookup import quoted
from ..base.plain_text import plain
from ..base.terminal import print_grids
from .bufferbloat import bufferbloat_grid
from .equal import equal_groups, warning_of
from .grids import first_grids, more_grids
from .groups import EQUAL, THIS_RUN, Group, Results
from .measures import MEASURES
from .precision import Target
from .statistics import Value
from .tables import RunTables
from .verdict import marked, verdict, verdict_json

_SENTENCE_WIDTH = 80
_IDLE_KEY = "idle-key"


def print_summary(results: Results, *, in_full: bool = False) -> None:
    """Prints the answer, two tables and a warning to stdout; `in_full` all tables and warnings."""
    judged = verdict(results)
    results = marked(results, judged)
    headline = bufferbloat_grid(judged, judged.round_trips if in_full else judged.leading)
    console = print_grids([headline] if headline else [])
    for sentence in filter(None, (*judged.sentences, judged.ungraded)):
        console.print(Text(plain(sentence)), width=min(console.width, _SENTENCE_WIDTH))
    console.print()
    more = more_grids(results, judged)
    print_grids([*first_grids(results), *(more if in_full else [])])
    warnings = list(warnings_of(results, in_full=in_full))
    for warning in warnings if in_full else warnings[:1]:
        console.print(Text(plain(f"warning: {warning}")), soft_wrap=True)
    if not in_full and (folded := max(len(warnings) - 1, 0) + len(more)):
        console.print(f"{folded} more tables and warnings: --all, in Python summary(in_full=True)")


def summary_json(results: Results, targets: Sequence[Target] = ()) -> dict[str, Any]:
    """The summary as JSON: each run with its measures and short tables, and means over seeds."""
    return {
        "title": results.first.settings["title"],
        "version": results.first.meta["version"],
        "variants": [_run_json(group, run) for group in results.groups for run in group.runs],
        "means": [_means_json(group) for group in results.groups],
        "until": [target.reached(results).json for target in targets],
        "verdict": verdict_json(results),
    }


def warnings_of(results: Results, *, in_full: bool = False) -> Iterator[str]:
    """The warnings of all settings and seeds, each once. Idle lines are not the user's to set.

    Of those of one kind about the same key, the first stands for all unless `in_full`.
    """
    settings = [group for group in results.groups if not group.is_idle]
    return dedupe_warnings(_by_group(settings), in_full=in_full)


def warnings_json(results: Results) -> list[dict[str, Any]]:
    """The warnings of all groups and seeds as data, each once, with the names of its groups."""
    found = _distinct(_by_group(results.groups))
    return [{**first.data, "names": names} for first, names, _ in found]


def dedupe_warnings(
    warnings: Mapping[str, Sequence[Warning]], *, in_full: bool = False
) -> Iterator[str]:
    """Warnings by variant, each once; those not of all variants are prefixed with their names.

    Of those of one kind about the same key, the first stands for all unless `in_full`. Keys without
    effect come last: they change no number.
    """
    found = _distinct(warnings, in_full=in_full)
    for first, names, more in sorted(found, key=lambda of: of[0].code == _IDLE_KEY):
        named = ", ".join(quoted(name) if name else THIS_RUN for name in names)
        others = f" (and {more} more of this kind)" if more else ""
        names_all = len(names) == len(warnings) or first.code == EQUAL
        yield f"{first}{others}" if names_all else f"{named}: {first}{others}"


def _distinct(
    warnings: Mapping[str, Sequence[Warning]], *, in_full: bool = False
) -> Iterator[tuple[Warning, list[str], int]]:
    """Of each kind the first warning, the variants that have one, and how many others there are.

    Each warning is of a kind of its own if `in_full`.
    """
    alike: dict[object, dict[Warning, list[str]]] = {}
    for name, of_variant in warnings.items():
        for one in of_variant:
            kind = one.code if one.code == EQUAL else one.kind
            alike.setdefault(one if in_full else kind, {}).setdefault(one, []).append(name)
    for found in alike.values():
        names = dict.fromkeys(name for names in found.values() for name in names)
        yield next(iter(found)), [*names], len(found) - 1


def _by_group(groups: Sequence[Group]) -> dict[str, list[Warning]]:
    found = {
        group.name: list(dict.fromkeys(one for run in group.runs for one in run.warnings))
        for group in groups
    }
    for alike in equal_groups(groups):
        for group in alike:
            found[group.name].append(warning_of(alike))
    return found


def _means_json(group: Group) -> dict[str, Any]:
    """The measures of a group: mean over seeds, bounds of the 95 % interval, and how many runs."""
    return {
        "name": group.variant,
        "seeds": [run.meta["seed"] for run in group.runs],
        "summary": {key: asdict(value) for key, value in means_of(group).items()},
    }


def means_of(group: Group) -> dict[str, Value]:
    """The measures that a group has, over its seeds."""
    return {m.key: m.over(group.runs) for m in MEASURES if m.applies(group.runs)}


def _run_json(group: Group, result: RunTables) -> dict[str, Any]:
    return {
        "name": group.variant,
        **result.meta,
        "summary": {m.key: m.value(result) for m in MEASURES if m.applies([result])},
        "flows": result.flows.to_pylist(),
        "traffic_classes": result.traffic_classes.to_pylist(),
        "service_flows": result.service_flows.to_pylist(),
        "channels": result.channels.to_pylist(),
        "queues": result.queues.to_pylist(),
    }
