"""Delay against goodput."""

from collections.abc import Sequence

import numpy as np

from ...analysis.curves import Select
from ...analysis.groups import Group, Results
from ...analysis.keys import setting_in_words
from ...analysis.measures import Measure, judged_flows, transfers
from ...base.lookup import look_up
from ..charts.base import FEW_AT_MOST, Axis, Chart, is_wide
from ..charts.clouds import Cloud, Clouds
from .distributions import main_flows_of
from .sweeps import applying, linked

_PREFERRED = (
    "game_rtt_p90_ms",
    "game_latency_p90_ms",
    "upstream_queue_p50_ms",
    "downstream_queue_p50_ms",
)
"""The delays that are drawn without being asked for, the most important first."""


def clouds(results: Results, metric: str | None, traffic: Sequence[str]) -> Chart | None:
    """A cloud of runs per group; `metric` is a delay, `traffic` selects the goodput."""
    # An idle line has no goodput to compare.
    groups = [group for group in results.groups if not group.is_idle]
    measures = {m.key: m for m in applying(groups) if m.key.endswith("_ms")}
    preferred = [key for key in _PREFERRED if key in measures]
    if not preferred:
        return None
    delay = measures[look_up("metric", metric or preferred[0], list(measures))]
    whose, rates = _goodputs(groups, traffic)
    families = _families(groups, results.keys)
    drawn = [
        _cloud(group, family, delay, rates) for group, family in zip(groups, families, strict=True)
    ]
    drawn = [cloud for cloud in drawn if len(cloud.x)]
    if not drawn:
        return None
    joined = not any(families) and len(linked(groups)) == 1
    along = " The line joins the settings in their order." if joined else ""
    return Clouds(
        "Delay against goodput",
        f"{_marks(results.seeds)} Better is up (more goodput) and to the right (less delay)."
        f"{along}",
        Axis(delay.label, log=is_wide(np.concatenate([cloud.x for cloud in drawn]))),
        Axis(f"goodput of {whose} (Mbps)"),
        drawn,
        joined,
    )


def _marks(seeds: int) -> str:
    """Says what marks show."""
    if seeds == 1:
        return "Each mark is one run."
    spread = ", an ellipse one standard deviation (as in Winstein & Balakrishnan 2013)"
    means = "Each dot is one run, a large mark the mean over seeds"
    return f"{means}{spread if seeds > 2 else ''}."


def _families(groups: Sequence[Group], keys: Sequence[str]) -> list[str]:
    """What the style of each group's points shows.

    Of few groups each has its own. Of many it shows the variant, or the value of a key with few.
    """
    if len(groups) <= FEW_AT_MOST:
        return [group.name or "run" for group in groups]
    variants = [group.variant for group in groups]
    if 1 < len(set(variants)) < len(groups):
        return variants
    for place, key in reversed(list(enumerate(keys))):
        values = [group.point[place] for group in groups]
        if 1 < len(set(values)) <= FEW_AT_MOST:
            return [setting_in_words(key, value) for value in values]
    return [""] * len(groups)


def _cloud(group: Group, family: str, delay: Measure, rates: Select) -> Cloud:
    """The cloud of a group."""
    pairs = [(delay.value(run), sum(r["goodput_mbps"] for r in rates(run))) for run in group.runs]
    there = [(x, y) for x, y in pairs if x is not None and x > 0]
    points = np.array(there, dtype=np.float64).reshape(-1, 2)
    return Cloud(group.name or "run", family, points[:, 0], points[:, 1])


def _goodputs(groups: Sequence[Group], traffic: Sequence[str]) -> tuple[str, Select]:
    """The traffic whose goodput is drawn: the given entries, or else bulk transfers."""
    if traffic:
        return " and ".join(traffic), main_flows_of(traffic)
    for name, direction in (("uploads", "up"), ("downloads", "down")):
        if any(transfers(direction)(group.first) for group in groups):
            return name, transfers(direction)
    return "all traffic", judged_flows
