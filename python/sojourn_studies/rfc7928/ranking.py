"""What each queue manager is good at: a rank only where the intervals over seeds do not overlap."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sojourn.analysis.statistics import Value
from sojourn.base.grid import Grid

from ..framework.references import shown
from ..framework.rows import Row
from .managers import LINKS, MANAGERS


@dataclass(frozen=True)
class Goal:
    """What is wanted of a manager, and the cell that shows it."""

    name: str
    experiment: str
    metric: str
    entry: str = ""
    most: bool = False
    """Is more better?"""
    limit_ms: float | None = None
    """Of goodput: a mean delay that a manager must keep below to be ranked."""


GOALS = (
    Goal("short queue with one flow", "reno", "delay_mean"),
    Goal("goodput of one flow", "reno", "goodput", most=True),
    Goal("goodput of one flow below 20 ms", "reno", "goodput", most=True, limit_ms=20),
    Goal("short queue in heavy congestion", "heavy", "delay_p99"),
    Goal("goodput in heavy congestion below 20 ms", "heavy", "goodput", most=True, limit_ms=20),
    Goal("few losses in heavy congestion", "heavy", "loss"),
    Goal("fairness over round trips", "rtt-20", "jain", most=True),
    Goal("TCP beside UDP", "udp-reno", "goodput", "reno", most=True),
    Goal("TCP beside LEDBAT", "ledbat-reno", "goodput", "reno", most=True),
    Goal("pages beside a flow", "burst-4", "fct"),
    Goal("CBR beside a flow", "burst-4", "latency_p99", "cbr"),
    Goal("video beside a flow", "burst-4", "latency_p99", "video"),
    Goal("short queue when capacity falls", "steps", "delay_mean"),
    Goal("goodput when capacity flutters", "flutter", "goodput", most=True),
    Goal(
        "goodput when capacity flutters below 50 ms", "flutter", "goodput", most=True, limit_ms=50
    ),
    Goal("low delay with L4S", "l4s", "delay_p99"),
    Goal("goodput with L4S", "l4s", "goodput", most=True),
    Goal("L4S and CUBIC share", "l4s-cubic", "jain", most=True),
)

_LEAST = 0.01
"""Seeds vary little else than when flows start, and nobody notices two percent."""

_STARVED = 0.5
"""Who lets through less than this of the best manager's goodput has a short queue for nothing."""

Named = Mapping[str, Value]
"""Values of a goal by manager."""


def groups(values: Named, *, most: bool = False) -> list[list[str]]:
    """The managers in order, best first: any two of a group have intervals that meet."""
    sign = -1 if most else 1
    ranked = sorted(
        (name for name, value in values.items() if value.mean is not None),
        key=lambda name: sign * (values[name].mean or 0.0),
    )
    found: list[list[str]] = []
    for name in ranked:
        if found and all(_meet(values[other], values[name]) for other in found[-1]):
            found[-1].append(name)
        else:
            found.append([name])
    return found


def _meet(one: Value, other: Value) -> bool:
    (low, high), (other_low, other_high) = map(_ends, (one, other))
    return low <= other_high and other_low <= high


def _ends(value: Value) -> tuple[float, float]:
    """The interval, and at least a hundredth of the mean to both sides."""
    mean = value.mean or 0.0
    least = _LEAST * abs(mean)
    low, high = (mean if end is None else end for end in (value.low, value.high))
    return min(low, mean - least), max(high, mean + least)


def grids(values: Mapping[Row, Value]) -> Sequence[Grid]:
    """What each manager is best and worst at, then the order at each goal."""
    unranked = {(goal, link): _unranked(goal, link, values) for goal in GOALS for link in LINKS}
    orders = {
        (goal, link): (found, groups(found, most=goal.most))
        for (goal, link), left_out in unranked.items()
        if (found := _of_goal(goal, link, values, left_out))
    }
    if not orders:
        return []
    run = {(goal.experiment, link) for goal, link in orders}
    same = {key: _of_one_run(*key, values) for key in run}
    by_goal = Grid(
        "The order at each goal. Managers between semicolons are alike: any two have 95 % "
        "intervals over seeds that meet, or differ by 2 % at most; the first one's value is given. "
        "`=` joins names of one and the same run: with one flow they are one manager. Of "
        "delays and losses only those are ranked that let half of the best goodput through; of "
        "goodput below a delay, those whose mean queue delay is below it",
        ["goal", "scenario", "link", "managers, best first"],
        [
            [
                goal.name,
                _cell_name(goal),
                link,
                _in_order(found, order, sorted(unranked[goal, link]), same[goal.experiment, link]),
            ]
            for (goal, link), (found, order) in orders.items()
        ],
    )
    return [_by_manager({key: order for key, (_, order) in orders.items()}), by_goal]


def _of_goal(
    goal: Goal, link: str, values: Mapping[Row, Value], starved: Collection[str]
) -> dict[str, Value]:
    return {
        row.scheme: value
        for row, value in values.items()
        if (row.experiment, row.load, row.flow, row.metric)
        == (goal.experiment, link, goal.entry, goal.metric)
        and row.scheme not in starved
    }


def _of_one_run(experiment: str, link: str, values: Mapping[Row, Value]) -> Mapping[str, str]:
    """What each manager is called together with those that have the same values in all cells."""
    cells: defaultdict[str, list[tuple[str, str, Value]]] = defaultdict(list)
    for row, value in values.items():
        if (row.experiment, row.load) == (experiment, link):
            cells[row.scheme].append((row.flow, row.metric, value))
    return {
        name: " = ".join(other for other, found in cells.items() if found == of)
        for name, of in cells.items()
    }


def _unranked(goal: Goal, link: str, values: Mapping[Row, Value]) -> set[str]:
    """Managers that let too little through for their delay, or have too long a one for goodput."""
    return _slow(goal, link, values) if goal.most else _starved(goal, link, values)


def _slow(goal: Goal, link: str, values: Mapping[Row, Value]) -> set[str]:
    if goal.limit_ms is None:
        return set()
    return {
        row.scheme
        for row, value in values.items()
        if (row.experiment, row.load, row.metric) == (goal.experiment, link, "delay_mean")
        and (value.mean or 0.0) > goal.limit_ms
    }


def _starved(goal: Goal, link: str, values: Mapping[Row, Value]) -> set[str]:
    totals: defaultdict[str, float] = defaultdict(float)
    for row, value in values.items():
        if (row.experiment, row.load, row.metric) == (goal.experiment, link, "goodput"):
            totals[row.scheme] += value.mean or 0.0
    return {name for name, total in totals.items() if total < _STARVED * max(totals.values())}


def _cell_name(goal: Goal) -> str:
    return " ".join(filter(None, (f"`{goal.experiment}`", goal.entry, f"`{goal.metric}`")))


def _in_order(
    values: Named,
    order: Sequence[Sequence[str]],
    unranked: Sequence[str],
    same: Mapping[str, str],
) -> str:
    def listed(names: Sequence[str]) -> str:
        return ", ".join(dict.fromkeys(same[name] for name in names))

    def group(names: Sequence[str]) -> str:
        return f"{listed(names)} ({shown(values[names[0]].mean or 0.0, 3)})"

    ranked = "; ".join(map(group, order))
    return f"{ranked}. Not ranked: {listed(unranked)}" if unranked else ranked


def _by_manager(orders: Mapping[tuple[Goal, str], Sequence[Sequence[str]]]) -> Grid:
    there = {name for order in orders.values() for group in order for name in group}

    def placed(manager: str, place: int) -> str:
        names = [_placed(goal, manager, place, orders) for goal in GOALS]
        return "; ".join(filter(None, names)) or "–"

    return Grid(
        "What each manager is best and worst at, alone or with those that are alike; on both links "
        "where none is named",
        ["manager", "none is better", "none is worse"],
        [
            [manager, placed(manager, 0), placed(manager, -1)]
            for manager in dict.fromkeys([*MANAGERS, *sorted(there)])
            if manager in there
        ],
    )


def _placed(
    goal: Goal,
    manager: str,
    place: int,
    orders: Mapping[tuple[Goal, str], Sequence[Sequence[str]]],
) -> str:
    """The goal if the manager is in its first or last group, with the link if it is on one only."""
    run = [link for link in LINKS if len(orders.get((goal, link), ())) > 1]
    found = [link for link in run if manager in orders[goal, link][place]]
    if not found:
        return ""
    return goal.name if found == run else f"{goal.name} ({found[0]})"
