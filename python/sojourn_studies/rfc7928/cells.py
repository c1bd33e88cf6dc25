"""From runs to the cells of each scenario, and the tables of the page. Nothing is published."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from sojourn import _sojourn
from sojourn.analysis.statistics import Value
from sojourn.base.grid import Grid
from sojourn.store.stored_run import AbsentError, StoredRun

from ..framework.cases import Case, Runs
from ..framework.references import shown
from ..framework.rows import Row
from . import ranking
from .cases import FROM_S, case
from .managers import LEFT_OUT, LINKS, MANAGERS, NEAR
from .scenarios import SCENARIOS, SECONDS, Scenario

UNITS = {
    "goodput": "Mbps",
    "delay_mean": "ms",
    "delay_p99": "ms",
    "loss": "%",
    "marks": "%",
    "jain": "1",
    "fct": "s",
    "latency_p99": "ms",
}
"""Every metric of a scenario or of one of its entries."""


def _metrics(one: Scenario) -> list[tuple[str, str]]:
    """What is measured: entry, or none for all of them, and metric."""
    several = one.bulk if len(one.bulk) > 1 else []
    return [
        *(("", name) for name in ("goodput", "delay_mean", "delay_p99", "loss")),
        *([("", "marks")] if one.is_marked else []),
        *([("", "jain")] if one.shares else []),
        *([("", "fct")] if one.files else []),
        *((entry, "goodput") for entry in several),
        *((entry, "latency_p99") for entry in one.streams),
    ]


UNPUBLISHED = tuple(
    Row.unpublished("rfc7928", one.section, one.name, name, link, entry, metric, unit=UNITS[metric])
    for one in SCENARIOS.values()
    for link in LINKS
    for name, manager in MANAGERS.items()
    if link in manager.links
    for entry, metric in _metrics(one)
)


def cases_of(row: Row) -> Sequence[Case]:
    """The run of a cell."""
    return [case(row.experiment, row.scheme, row.load)]


def value_of(row: Row, runs: Runs) -> float | None:
    """A cell, to five digits: more of them would only be stored."""
    (needed,) = cases_of(row)
    value = _value(SCENARIOS[row.experiment], row.flow, row.metric, runs[needed.name])
    return None if value is None else float(f"{value:.5g}")


def _value(one: Scenario, entry: str, metric: str, run: StoredRun) -> float | None:
    if metric.startswith("delay_"):
        delay: float | None = run.queue("upstream")[f"sojourn_{metric.removeprefix('delay_')}_ms"]
        return delay
    if metric == "fct":
        return completion_s(one, run)
    if metric == "jain":
        return _sojourn.jfi(_rates(one, run))
    flows = [run.flow(name, "up") for name in ([entry] if entry else _sent(one, run))]
    if metric == "goodput":
        return sum(map(goodput_mbps, flows))
    if metric == "latency_p99":
        latency: float | None = flows[0]["latency_p99_ms"]
        return latency
    delivered, dropped, marked = (_sum(flows, names) for names in (_DELIVERED, _DROPPED, _MARKED))
    part = dropped if metric == "loss" else marked
    return 100 * part / (delivered + dropped) if delivered else None


def goodput_mbps(flow: Mapping[str, Any]) -> float:
    """The goodput of a flow over all the time that counts, also while earlier packets come."""
    if not flow["delivered_bytes"]:
        return 0.0
    arrival_s = flow["delivered_bytes"] * 8e-6 / flow["throughput_mbps"]
    return float(flow["goodput_mbps"] * arrival_s / (SECONDS - FROM_S))


_DELIVERED = ("delivered_packets",)
_DROPPED = ("dropped_overflow_packets", "dropped_aqm_packets")
_MARKED = ("marked_packets",)


def _sum(flows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> int:
    return sum(flow[name] for flow in flows for name in names)


def _sent(one: Scenario, run: StoredRun) -> list[str]:
    """The entries that sent anything in the run; pages come later in it."""
    there = {flow["traffic"] for flow in run.rows("flows") if flow["direction"] == "up"}
    if found := [name for name in one.up if name in there]:
        return found
    raise AbsentError(one.name)


def _connections(names: Sequence[str], run: StoredRun) -> list[Mapping[str, Any]]:
    rows = run.rows("connections")
    return [row for row in rows if row["direction"] == "up" and row["traffic"] in names]


def _rates(one: Scenario, run: StoredRun) -> list[float]:
    """What each endless connection got; those that come and go have less time for it."""
    end_s = float(run.meta["duration_s"])
    traffic = one.traffic

    def seconds(name: str) -> float:
        entry = traffic[name]
        start_s, stop_s = entry.get("start_s", 0), entry.get("stop_s", end_s)
        return float(min(end_s, stop_s) - max(FROM_S, start_s))

    rows = _connections(one.shares, run)
    return [row["payload_bytes"] / seconds(row["traffic"]) for row in rows]


def completion_s(one: Scenario, run: StoredRun) -> float | None:
    """From the opening of a connection until both ends have closed it, on average."""
    rows = _connections(one.files, run)
    times = [row["end_s"] - row["start_s"] for row in rows if row["end_s"] is not None]
    return fmean(times) if times else None


Values = Mapping[Row, Value]


def ranked(values: Values) -> Sequence[Grid]:
    """The managers in their order, goal by goal."""
    return ranking.grids(values)


def measured(values: Values) -> Sequence[Grid]:
    """A table for each scenario, then, of all managers, what cannot be simulated."""
    by_keys = {(r.experiment, r.load, r.scheme, r.flow, r.metric): v for r, v in values.items()}
    names = dict.fromkeys(row.experiment for row in values)
    tables = [_of_scenario(SCENARIOS[name], by_keys) for name in names]
    is_whole = {row.scheme for row in values} == set(MANAGERS)
    return [*tables, _discussion(), _left_out()] if is_whole else tables


def _of_scenario(one: Scenario, values: Mapping[tuple[str, str, str, str, str], Value]) -> Grid:
    """A row for each manager: its values on the links that were run, one after the other."""
    metrics = _metrics(one)
    there = [(scheme, link) for name, link, scheme, *_ in values if name == one.name]
    schemes, links = ({pair[side] for pair in there} for side in (0, 1))

    def cell(manager: str, entry: str, metric: str) -> str:
        keys = [(one.name, link, manager, entry, metric) for link in LINKS if link in links]
        return " / ".join(text(values.get(key, Value(None))) for key in keys)

    return Grid(
        f"{one.section} `{one.name}`: {one.what}",
        ["manager", *(" ".join(filter(None, (e, _headed(m)))) for e, m in metrics)],
        [
            [manager, *(cell(manager, *of) for of in metrics)]
            for manager in MANAGERS
            if manager in schemes
        ],
    )


def _headed(metric: str) -> str:
    unit = UNITS[metric]
    return metric.replace("_", " ") + ("" if unit == "1" else f", {unit}")


def text(value: Value) -> str:
    """A mean with half of its interval."""
    if value.mean is None:
        return "–"
    if value.low is None or value.high is None:
        return shown(value.mean, 3)
    return f"{shown(value.mean, 3)} ± {shown((value.high - value.low) / 2, 2)}"


def _discussion() -> Grid:
    """Sections 4.5, 11 and 12, which ask for facts and not for runs."""
    return Grid(
        "Sections 4.5, 11 and 12, for discussion: what it takes to build and to run each manager",
        ["manager", "decides at", "steers to", "keeps", "an operator sets", "marks"],
        [[name, one.acts, one.aim, one.state, one.sets, one.ecn] for name, one in NEAR.items()],
    )


def _left_out() -> Grid:
    return Grid(
        "Laws and schedulers of the simulator that are left out",
        ["kind", "why"],
        [[f"`{kind}`", why] for kind, why in LEFT_OUT.items()],
    )
