"""The parts of the packet delay, for any run.

They need the modem trace, which few runs keep because it grows with every packet. Runs are
deterministic, so the beginning of the run is rerun with the trace.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor

from .._sojourn import ScenarioError, Variant
from .._sojourn import version as this_version
from ..analysis.groups import Group
from ..analysis.measures import Row
from ..analysis.tables import RunTables
from .request import load
from .result import Result
from .threads import run_all

_BEGINNING_S = 30.0
_LEAST_S = 0.5
_MOST_EVENTS = 500_000
"""Events of a rerun, on average: about half a second of CPU time and 100 MB."""
_MOST_RUNS = 24


@dataclass(frozen=True)
class DelaySplit:
    """Rows of `delay_parts` by group, for the first seed of each."""

    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    about: str = ""
    """Which part of the runs was measured, as a sentence."""
    missing: str = ""
    """Why there are no rows, as a sentence."""


class _LeftOutError(Exception):
    """The runs cannot be rerun; the message gives the reason."""


def delay_split(groups: Sequence[Group]) -> DelaySplit:
    """The delay parts that the runs kept, or else those of a rerun of their beginning."""
    firsts = [group.first for group in groups]
    try:
        results, about = (firsts, "") if _is_kept(firsts) else _run_again(firsts)
    except (_LeftOutError, ScenarioError) as reason:
        return DelaySplit(missing=f"The parts of the delay are not shown: {reason}.")
    tables = [result.table("delay_parts") for result in results]
    names = [group.name for group in groups]
    of_first = "Of the first seed." if any(len(group.runs) > 1 for group in groups) else ""
    about = " ".join(filter(None, (of_first, about)))
    return DelaySplit({n: t.to_pylist() for n, t in zip(names, tables, strict=True)}, about)


def can_be_split(groups: Sequence[Group]) -> bool:
    """Is a split likely to work? Answers without running anything."""
    firsts = [group.first for group in groups]
    try:
        return _is_kept(firsts) or _until_s(firsts) > 0
    except _LeftOutError:
        return False


def _is_kept(runs: Sequence[RunTables]) -> bool:
    return all(run.keeps("delay_parts") and len(run.table("delay_parts")) for run in runs)


def _run_again(runs: Sequence[RunTables]) -> tuple[Sequence[RunTables], str]:
    until_s = _until_s(runs)
    variants = [_traced(run, until_s) for run in runs]
    natives = run_all(variants, None, None)
    again = [Result(*pair) for pair in zip(variants, natives, strict=True)]
    for run, other in zip(runs, again, strict=True):
        is_whole = run.meta["duration_s"] == until_s
        if is_whole and run.meta["fingerprint"] != other.meta["fingerprint"]:
            raise _LeftOutError("a rerun gave another fingerprint")
    which = "the first" if max(run.meta["duration_s"] for run in runs) > until_s else "all"
    from_s = _counted_from_s(runs)
    but = f", without the first {from_s:g} s," if from_s else ""
    return again, f"Measured over {which} {until_s:g} s{but} in a rerun with metrics.modem_trace."


def _counted_from_s(runs: Sequence[RunTables]) -> float:
    from_s: float = max(run.settings["metrics"]["from_s"] for run in runs)
    return from_s


def _until_s(runs: Sequence[RunTables]) -> float:
    """The simulated time of the reruns: less where there are many events per second."""
    if len(runs) > _MOST_RUNS:
        raise _LeftOutError(f"more than {_MOST_RUNS} runs would have to be rerun")
    for version in {run.meta["version"] for run in runs}:
        if version != this_version:
            raise _LeftOutError(
                f"sojourn {version} made the runs, and a rerun by {this_version} may differ"
            )
    from_s = _counted_from_s(runs)
    wanted_s: float = min(from_s + _BEGINNING_S, *(run.meta["duration_s"] for run in runs))
    events_per_s: float = max(run.meta["events"] / run.meta["duration_s"] for run in runs)
    if wanted_s * events_per_s <= _MOST_EVENTS:
        return wanted_s
    bounded_s = floor(10 * _MOST_EVENTS / events_per_s) / 10
    if bounded_s < from_s + _LEAST_S:
        raise _LeftOutError("the runs have too many events per second to be rerun")
    return bounded_s


def _traced(run: RunTables, until_s: float) -> Variant:
    traces = {"metrics.modem_trace": True, "metrics.packet_trace": False}
    (variant,) = load(run.scenario, duration_s=until_s, set=traces)
    return variant
