"""Text tables that compare variants, or show the flows and queues of a run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ..base.grid import Grid, shown
from .groups import THIS_RUN
from .measures import MEASURES, Measure, Row, flows_of, transfers
from .statistics import Value, over_seeds
from .tables import RunTables

_DIRECTIONS = ("up", "down")

_LONG_WAIT_MS = 20.0
"""What a game has for the whole access network."""

_OWN_TABLES = (
    "game_rtt_p999_ms",
    "game_latency_p999_ms",
    "game_latency_p9999_ms",
    "low_latency_queue_p99_ms",
    "low_latency_queue_p999_ms",
    "classic_queue_p99_ms",
)
"""Measures that have tables of their own."""


def about(runs: Sequence[RunTables]) -> str:
    """What the columns of measures are of."""
    homes = {run.settings["metrics"].get("homes") for run in runs} - {None}
    whose = "".join(f" of homes.{name}" for name in sorted(homes))
    return f"(RTT: round trip, queue: delay of packets in the longest queue of a direction{whose})"


@dataclass(frozen=True)
class Column:
    """A column of a run's own tables."""

    key: str
    heading: str
    digits: int = 0


def _quantiles(of: str, digits: int, *percents: str) -> list[Column]:
    """Columns of quantiles in ms, as `latency_p999_ms` of 99.9 %."""
    return [Column(f"{of}_p{q.replace('.', '')}_ms", f"p{q}\nms", digits) for q in percents]


_TRAFFIC = (Column("traffic", "traffic"), Column("direction", "direction"))

FLOW_COLUMNS = (
    *_TRAFFIC,
    Column("quality", "quality"),
    Column("throughput_mbps", "rate\nMbps", 2),
    Column("loss_percent", "loss\n%", 2),
    *_quantiles("latency", 1, "50", "90", "99"),
    Column("mos", "MOS", 2),
    Column("page_loads", "pages"),
    Column("page_load_median_s", "load\ns", 2),
    Column("response_median_s", "response\ns", 3),
    Column("video_rate_mbps", "video\nMbps", 2),
    Column("video_stalled_percent", "stalled\n%", 1),
)

QUALITY_COLUMNS = (
    Column("quality", "quality"),
    Column("direction", "direction"),
    Column("entries", "entries"),
    Column("sent_packets", "packets\nsent"),
    Column("dropped_overflow_packets", "dropped,\nqueue full"),
    Column("dropped_aqm_packets", "dropped\nby AQM"),
    Column("marked_packets", "marked"),
    Column("loss_percent", "loss\n%", 2),
    Column("latency_p90_ms", "p90\nms", 1),
    Column("mos_min", "lowest\nMOS", 2),
    Column("page_load_median_s", "load\ns", 2),
)

TCP_COLUMNS = (
    *_TRAFFIC,
    Column("connections", "connections"),
    Column("rtt_mean_ms", "RTT mean\nms", 1),
    Column("rtt_p90_ms", "RTT p90\nms", 1),
    Column("retransmitted_packets", "retrans-\nmitted"),
    Column("timeouts", "timeouts"),
    Column("time_to_peak_rate_s", "to peak\nrate s", 1),
)

QUEUE_COLUMNS = (
    Column("queue", "queue"),
    Column("departed_packets", "packets"),
    *_quantiles("sojourn", 1, "50", "90", "99"),
    Column("sojourn_max_ms", "max\nms", 1),
)

LOW_LATENCY_COLUMNS = (
    Column("queue", "queue"),
    *_quantiles("sojourn", 2, "50", "99", "99.9", "99.99"),
    Column("native_marked_packets", "native\nmarks"),
    Column("coupled_marked_packets", "coupled\nmarks"),
    Column("overload_marked_packets", "overload\nmarks"),
    Column("dropped_aqm_packets", "AQM\ndrops"),
    Column("sanctioned_packets", "sanc-\ntioned"),
)

GAME_TAIL_COLUMNS = (
    *_TRAFFIC,
    *_quantiles("latency", 1, "99", "99.9", "99.99"),
    Column("sanctioned_packets", "sanc-\ntioned"),
)

GRANT_COLUMNS = (
    Column("homes", "homes"),
    Column("service_flow", "service flow"),
    Column("granted_mbps", "granted\nMbps", 2),
    Column("unused_mbps", "unused\nMbps", 2),
)

DROP_COLUMNS = (
    *_TRAFFIC,
    Column("sent_packets", "packets sent"),
    Column("dropped_overflow_packets", "queue full"),
    Column("dropped_aqm_packets", "AQM"),
    Column("dropped_link_packets", "link loss"),
    Column("dropped_contention_packets", "failed requests"),
    Column("loss_percent", "loss\n%", 2),
)


Seeds = Sequence[RunTables]
"""Runs that differ in their seed alone."""


def summary_grids(runs: Mapping[str, Seeds]) -> list[Grid]:
    """The summary: variants side by side, or all tables of a single run.

    With several seeds, numbers are means with their 95 % intervals.
    """
    if is_comparison(runs):
        grids = [comparison_grid(runs)]
        grids += [rates_grid(runs)] * are_summed(seeds[0] for seeds in runs.values())
        return grids + low_latency_grids(runs)
    return [*idle_grids(runs), *run_grids(runs[""])]


def idle_grids(runs: Mapping[str, Seeds]) -> list[Grid]:
    """A single run beside its idle line, if it has one; with several seeds also without one."""
    if len(runs) < 2 and len(runs[""]) < 2:
        return []
    return [comparison_grid({name or THIS_RUN: seeds for name, seeds in runs.items()})]


def run_grids(seeds: Seeds) -> list[Grid]:
    """All tables of a single run."""
    flows, classes, queues = (
        _over_seeds(seeds, _rows_of(name)) for name in ("flows", "traffic_classes", "queues")
    )
    measured = [row for row in flows if row["rtt_mean_ms"] is not None]
    grids = [
        _grid("Traffic: rate with headers, loss, one-way latency", FLOW_COLUMNS, flows),
        _grid("Traffic by quality, the measure by which it is judged", QUALITY_COLUMNS, classes),
        _grid("Round-trip times and retransmissions", TCP_COLUMNS, measured),
        _grid("Queues: delay of packets", QUEUE_COLUMNS, queues),
    ]
    return [grid for grid in grids if grid.rows] + low_latency_grids({"": seeds})


def is_comparison(runs: Mapping[str, Seeds]) -> bool:
    """Are there variants? A single run has the empty name."""
    return "" not in runs


def comparison_grid(groups: Mapping[str, Seeds]) -> Grid:
    """One row per variant."""
    everything = [run for runs in groups.values() for run in runs]
    measures = shown_measures(everything)
    rows = [
        [name, *(_cell(measure.over(runs), measure.digits) for measure in measures)]
        for name, runs in groups.items()
    ]
    most = max(map(len, groups.values()))
    over = f", means of {most} seeds ± half of their 95 % interval" if most > 1 else ""
    title = f"Variants side by side{over} {about(everything)}"
    return Grid(title, ["variant", *(measure.heading for measure in measures)], rows)


def shown_measures(runs: Sequence[RunTables]) -> list[Measure]:
    """The measures of the table side by side: of queues those of the directions with some delay.

    These are the ones that are loaded, and those that acknowledgements fill.
    """
    shown = {direction for run in runs for direction in run.facts.loaded} or {"up"}
    for measure in MEASURES:
        delays_ms = (run.facts.measures.get(measure.key) for run in runs)
        if measure.queues is not None and max(filter(None, delays_ms), default=0) > _LONG_WAIT_MS:
            shown.add(measure.queues)
    return [
        measure
        for measure in MEASURES
        if measure.applies(runs)
        and measure.key not in _OWN_TABLES
        and (measure.queues is None or measure.queues in shown)
    ]


def are_summed(results: Iterable[RunTables]) -> bool:
    """Are there several transfers in one direction, whose rates are summed?"""
    ways = [transfers(direction) for direction in _DIRECTIONS]
    return any(len(of_way(result)) > 1 for result in results for of_way in ways)


def rates_grid(runs: Mapping[str, Seeds]) -> Grid:
    """One row per variant, one column per transfer."""
    rates = {
        name: {
            f"{row['traffic']}\n{direction}": row["throughput_mbps"]
            for direction in _DIRECTIONS
            for row in _over_seeds(seeds, transfers(direction))
        }
        for name, seeds in runs.items()
    }
    columns = list(dict.fromkeys(column for of_run in rates.values() for column in of_run))
    rows = [
        [name, *(_cell(of_run.get(column), 2) for column in columns)]
        for name, of_run in rates.items()
    ]
    return Grid("Throughput of each transfer in Mbps", ["variant", *columns], rows)


def low_latency_grids(runs: Mapping[str, Seeds]) -> list[Grid]:
    """Low-latency and classic queues each, the far tail beside them, and what grants cost.

    Nothing where no run has such queues.
    """
    queues = [row for row in _by_variant(runs, _rows_of("queues")) if row["member"] is not None]
    with_members = {row["variant"] for row in queues}
    tails = [
        {"variant": name, **row}
        for name, seeds in runs.items()
        for row in _over_seeds(seeds, _far_tails(seeds))
        if with_members
    ]
    grants = [row for row in _by_variant(runs, _proactive_grants) if _mean(row["unused_mbps"])]
    variant = (Column("variant", "variant"),) if is_comparison(runs) else ()
    title = "Low-latency and classic queue: delay, marks by cause"
    grids = [
        _grid(title, variant + LOW_LATENCY_COLUMNS, queues),
        _grid("The far tail of one-way latency", variant + GAME_TAIL_COLUMNS, tails),
        _grid("Proactive grants: rate granted in all, and unused", variant + GRANT_COLUMNS, grants),
    ]
    return [grid for grid in grids if grid.rows]


Select = Callable[[RunTables], list[Row]]

_BEYOND = {"latency_p999_ms": 1_000, "latency_p9999_ms": 10_000}
"""Of how many packets one is beyond a quantile; of fewer it would be the longest delay."""


def _far_tails(seeds: Seeds) -> Select:
    """The rows of games and calls, with the quantiles beyond which each seed has packets."""
    select = flows_of("game", "voice")
    fewest: dict[tuple[str, str], int] = {}
    for row in chain.from_iterable(map(select, seeds)):
        of = row["traffic"], row["direction"]
        fewest[of] = min(row["delivered_packets"], fewest.get(of, row["delivered_packets"]))

    def kept(row: Row) -> Row:
        count = fewest[row["traffic"], row["direction"]]
        return {
            column: None if count < _BEYOND.get(column, 0) else value
            for column, value in row.items()
        }

    return lambda run: list(map(kept, select(run)))


def _rows_of(table: str) -> Select:
    def rows(run: RunTables) -> list[Row]:
        there: list[Row] = getattr(run, table).to_pylist() if run.keeps(table) else []
        return there

    return rows


def _by_variant(runs: Mapping[str, Seeds], select: Select) -> list[Row]:
    return [
        {"variant": name, **row}
        for name, seeds in runs.items()
        for row in _over_seeds(seeds, select)
    ]


def _over_seeds(seeds: Seeds, select: Select) -> list[Row]:
    """The rows of a run; of several, a row for each text, with the numbers over all of them."""
    if len(seeds) == 1:
        return select(seeds[0])
    same: dict[tuple[str, ...], list[Row]] = {}
    for run in seeds:
        for row in select(run):
            texts = tuple(value for value in row.values() if isinstance(value, str))
            same.setdefault(texts, []).append(row)
    return [{key: _over([row[key] for row in rows]) for key in rows[0]} for rows in same.values()]


def _over(values: Sequence[Any]) -> Any:
    """What is the same in all runs, or else the mean of the numbers with its interval."""
    is_fixed = isinstance(values[0], str | int) and len(set(values)) == 1
    if is_fixed or all(value is None for value in values):
        return values[0]
    return over_seeds(values)


def _mean(value: Any) -> Any:
    return value.mean if isinstance(value, Value) else value


def _proactive_grants(run: RunTables) -> list[Row]:
    mbps = 8e-6 / (run.settings["duration_s"] - run.settings["metrics"]["from_s"])
    counted = ("mac_granted_bytes", "mac_unused_proactive_bytes")
    return [
        {**row, "granted_mbps": granted * mbps, "unused_mbps": unused * mbps}
        for row in _rows_of("service_flows")(run)
        for granted, unused in [map(row.get, counted)]
        if granted is not None and unused is not None
    ]


def drop_grid(runs: Mapping[str, Seeds]) -> Grid:
    """One row per flow with drops, by reason."""
    lossy = [row for row in _by_variant(runs, _rows_of("flows")) if _mean(row["loss_percent"])]
    variant = (Column("variant", "variant"),) if is_comparison(runs) else ()
    return _grid("Dropped packets by reason", variant + DROP_COLUMNS, lossy)


def _grid(title: str, columns: Sequence[Column], rows: Sequence[Row]) -> Grid:
    unused = {c.key for c in columns if rows and all(row[c.key] is None for row in rows)}
    used = [column for column in columns if column.key not in unused]
    cells = [[_cell(row[column.key], column.digits) for column in used] for row in rows]
    return Grid(title, [column.heading for column in used], cells)


def _cell(value: Any, digits: int) -> str:
    return with_interval(value, digits) if isinstance(value, Value) else shown(value, digits)


def with_interval(value: Value, digits: int) -> str:
    """A mean with half of its interval, if it has one."""
    if value.mean is None or value.high is None:
        return shown(value.mean, digits)
    return f"{value.mean:.{digits}f} ± {value.high - value.mean:.{digits}f}"
