"""Where the packets of any run spent their time.

Runs seldom keep the trace that tells it, which grows with every packet. But a run is the same each
time, so its beginning is run again with the trace.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor

from .._sojourn import ScenarioError, Variant
from .._sojourn import version as this_version
from ..analysis.groups import Group
from ..analysis.measures import Row
from ..analysis.tables import RunTables
from .result import Result
from .scenario import load
from .threads import run_all

_BEGINNING_S = 30.0
_LEAST_S = 0.5
_MOST_EVENTS = 500_000
"""Of a run that is run again, on average: about half a second of work and 100 MB."""
_MOST_RUNS = 24


@dataclass(frozen=True)
class DelaySplit:
    """Rows of `delay_parts` by group, of its first seed."""

    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    about: str = ""
    """What of the runs they are of, in a sentence."""
    missing: str = ""
    """Why there are none, in a sentence."""


class _LeftOutError(Exception):
    """Runs that cannot be run again; says why."""


def delay_split(groups: Sequence[Group]) -> DelaySplit:
    """What the runs kept, if all of them did; or else that of their beginning, run again."""
    firsts = [group.first for group in groups]
    try:
        results, about = (firsts, "") if _is_kept(firsts) else _run_again(firsts)
    except (_LeftOutError, ScenarioError) as reason:
        return DelaySplit(missing=f"Where the time goes is left out: {reason}.")
    tables = [result.table("delay_parts") for result in results]
    names = [group.name for group in groups]
    return DelaySplit({n: t.to_pylist() for n, t in zip(names, tables, strict=True)}, about)


def can_be_split(groups: Sequence[Group]) -> bool:
    """Would there be a split, as far as can be said without running anything?"""
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
            raise _LeftOutError("a run is not the same when it is run again")
    which = "the first" if max(run.meta["duration_s"] for run in runs) > until_s else "all"
    return again, f"Of {which} {until_s:g} s, run again with metrics.modem_trace."


def _until_s(runs: Sequence[RunTables]) -> float:
    """Up to when all of them are run again: not so far where much happens."""
    if len(runs) > _MOST_RUNS:
        raise _LeftOutError(f"more than {_MOST_RUNS} runs would have to be run again")
    for version in {run.meta["version"] for run in runs}:
        if version != this_version:
            raise _LeftOutError(
                f"sojourn {version} made the runs, and this is {this_version}, "
                "which may run them otherwise"
            )
    wanted_s: float = min(_BEGINNING_S, *(run.meta["duration_s"] for run in runs))
    events_per_s: float = max(run.meta["events"] / run.meta["duration_s"] for run in runs)
    if wanted_s * events_per_s <= _MOST_EVENTS:
        return wanted_s
    bounded_s = floor(10 * _MOST_EVENTS / events_per_s) / 10
    if bounded_s < _LEAST_S:
        raise _LeftOutError("too much happens in the runs to run them again for it")
    return bounded_s


def _traced(run: RunTables, until_s: float) -> Variant:
    traces = {"metrics.modem_trace": True, "metrics.packet_trace": False}
    (variant,) = load(run.scenario, duration_s=until_s, set=traces)
    return variant
