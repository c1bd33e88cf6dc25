"""Text tables that compare variants, or show the flows and queues of a run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..base.grid import Grid, shown
from .groups import THIS_RUN
from .measures import MEASURES, Row, flows_of, transfers
from .statistics import Value
from .tables import RunTables

_DIRECTIONS = ("up", "down")

_OWN_TABLES = (
    "game_latency_p999_ms",
    "game_latency_p9999_ms",
    "low_latency_queue_p99_ms",
    "low_latency_queue_p999_ms",
    "classic_queue_p99_ms",
)
"""Measures that have tables of their own."""

_SIDE_BY_SIDE = "Variants side by side (queue: delay in the modem's upstream queue)"


@dataclass(frozen=True)
class Column:
    """A column of a run's own tables."""

    key: str
    heading: str
    digits: int = 0


FLOW_COLUMNS = (
    Column("traffic", "traffic"),
    Column("direction", "direction"),
    Column("quality", "quality"),
    Column("throughput_mbps", "rate\nMbps", 2),
    Column("loss_percent", "loss\n%", 2),
    Column("latency_p50_ms", "p50\nms", 1),
    Column("latency_p90_ms", "p90\nms", 1),
    Column("latency_p99_ms", "p99\nms", 1),
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
    Column("traffic", "traffic"),
    Column("direction", "direction"),
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
    Column("sojourn_p50_ms", "p50\nms", 1),
    Column("sojourn_p90_ms", "p90\nms", 1),
    Column("sojourn_p99_ms", "p99\nms", 1),
    Column("sojourn_max_ms", "max\nms", 1),
)

LOW_LATENCY_COLUMNS = (
    Column("queue", "queue"),
    Column("sojourn_p50_ms", "p50\nms", 2),
    Column("sojourn_p99_ms", "p99\nms", 2),
    Column("sojourn_p999_ms", "p99.9\nms", 2),
    Column("sojourn_p9999_ms", "p99.99\nms", 2),
    Column("native_marked_packets", "native\nmarks"),
    Column("coupled_marked_packets", "coupled\nmarks"),
    Column("overload_marked_packets", "overload\nmarks"),
    Column("dropped_aqm_packets", "AQM\ndrops"),
    Column("sanctioned_packets", "sanc-\ntioned"),
)

GAME_TAIL_COLUMNS = (
    Column("traffic", "traffic"),
    Column("direction", "direction"),
    Column("latency_p99_ms", "p99\nms", 1),
    Column("latency_p999_ms", "p99.9\nms", 1),
    Column("latency_p9999_ms", "p99.99\nms", 1),
    Column("sanctioned_packets", "sanc-\ntioned"),
)

GRANT_COLUMNS = (
    Column("homes", "homes"),
    Column("service_flow", "service flow"),
    Column("granted_mbps", "granted\nMbps", 2),
    Column("unused_mbps", "unused\nMbps", 2),
)

DROP_COLUMNS = (
    Column("traffic", "traffic"),
    Column("direction", "direction"),
    Column("sent_packets", "packets sent"),
    Column("dropped_overflow_packets", "queue full"),
    Column("dropped_aqm_packets", "AQM"),
    Column("dropped_link_packets", "link loss"),
    Column("dropped_contention_packets", "failed requests"),
    Column("loss_percent", "loss\n%", 2),
)


def summary_grids(runs: Mapping[str, RunTables]) -> list[Grid]:
    """The summary: variants side by side, or all tables of a single run."""
    if is_comparison(runs):
        grids = [comparison_grid({name: [result] for name, result in runs.items()})]
        grids += [rates_grid(runs)] * are_summed(runs.values())
        return grids + low_latency_grids(runs)
    return [*idle_grids(runs), *run_grids(runs[""])]


def idle_grids(runs: Mapping[str, RunTables]) -> list[Grid]:
    """A single run beside its idle line, if it has one."""
    if len(runs) < 2:
        return []
    return [comparison_grid({name or THIS_RUN: [result] for name, result in runs.items()})]


def run_grids(result: RunTables) -> list[Grid]:
    """All tables of a single run."""
    grids = [flow_grid(result), quality_grid(result), tcp_grid(result), queue_grid(result)]
    return [grid for grid in grids if grid.rows] + low_latency_grids({"": result})


def is_comparison(runs: Mapping[str, RunTables]) -> bool:
    """Are there variants? A single run has the empty name."""
    return "" not in runs


def comparison_grid(groups: Mapping[str, Sequence[RunTables]]) -> Grid:
    """One row per variant; with several seeds, means and their 95 % intervals."""
    everything = [run for runs in groups.values() for run in runs]
    measures = [m for m in MEASURES if m.applies(everything) and m.key not in _OWN_TABLES]
    rows = [
        [name, *(_with_interval(measure.over(runs), measure.digits) for measure in measures)]
        for name, runs in groups.items()
    ]
    return Grid(_SIDE_BY_SIDE, ["variant", *(measure.heading for measure in measures)], rows)


def are_summed(results: Iterable[RunTables]) -> bool:
    """Are there several transfers in one direction, whose rates are summed?"""
    ways = [transfers(direction) for direction in _DIRECTIONS]
    return any(len(of_way(result)) > 1 for result in results for of_way in ways)


def rates_grid(runs: Mapping[str, RunTables]) -> Grid:
    """One row per variant, one column per transfer."""
    rates = {
        name: {
            f"{row['traffic']}\n{direction}": row["throughput_mbps"]
            for direction in _DIRECTIONS
            for row in transfers(direction)(result)
        }
        for name, result in runs.items()
    }
    columns = list(dict.fromkeys(column for of_run in rates.values() for column in of_run))
    rows = [
        [name, *(shown(of_run.get(column), 2) for column in columns)]
        for name, of_run in rates.items()
    ]
    return Grid("Throughput of each transfer in Mbps", ["variant", *columns], rows)


def flow_grid(result: RunTables) -> Grid:
    """One row per flow."""
    title = "Traffic: rate with headers, loss, one-way latency"
    return _grid(title, FLOW_COLUMNS, result.flows.to_pylist())


def queue_grid(result: RunTables) -> Grid:
    """One row per queue."""
    title = "Queues: delay of packets"
    return _grid(title, QUEUE_COLUMNS, result.queues.to_pylist())


def quality_grid(result: RunTables) -> Grid:
    """One row per quality (how traffic is judged) and direction."""
    title = "Traffic by quality, the measure by which it is judged"
    return _grid(title, QUALITY_COLUMNS, result.traffic_classes.to_pylist())


def tcp_grid(result: RunTables) -> Grid:
    """One row per flow with measured round-trip times."""
    rows = [row for row in result.flows.to_pylist() if row["rtt_mean_ms"] is not None]
    return _grid("Round-trip times and retransmissions", TCP_COLUMNS, rows)


def low_latency_grids(runs: Mapping[str, RunTables]) -> list[Grid]:
    """Low-latency and classic queues apart, the far tail beside them, and what grants cost.

    Nothing where no run has such queues.
    """
    queues = _rows_of(runs, lambda run: [row for row in run.queues.to_pylist() if _is_member(row)])
    with_members = {row["variant"] for row in queues}
    tails = _rows_of(runs, flows_of("game", "voice")) if with_members else []
    grants = _rows_of(runs, _proactive_grants)
    variant = (Column("variant", "variant"),) if is_comparison(runs) else ()
    grids = [
        _grid(
            "Low-latency and classic queue: delay, marks by cause",
            variant + LOW_LATENCY_COLUMNS,
            queues,
        ),
        _grid("The far tail of one-way latency", variant + GAME_TAIL_COLUMNS, tails),
        _grid("Proactive grants: rate granted in all, and unused", variant + GRANT_COLUMNS, grants),
    ]
    return [grid for grid in grids if grid.rows]


def _rows_of(runs: Mapping[str, RunTables], select: Callable[[RunTables], list[Row]]) -> list[Row]:
    return [{"variant": name, **row} for name, run in runs.items() for row in select(run)]


def _rows(run: RunTables, table: str) -> list[Row]:
    rows: list[Row] = run.table(table).to_pylist() if run.keeps(table) else []
    return rows


def _is_member(row: Row) -> bool:
    """Is it a low-latency or classic queue, which has counts of its own?"""
    name: str = row["queue"]
    return row.get("marked_packets") is not None and name.endswith((" low_latency", " classic"))


def _proactive_grants(run: RunTables) -> list[Row]:
    mbps = 8e-6 / run.meta["duration_s"]
    return [
        {
            **row,
            "granted_mbps": row["mac_granted_bytes"] * mbps,
            "unused_mbps": row["mac_unused_proactive_bytes"] * mbps,
        }
        for row in _rows(run, "service_flows")
        if row.get("mac_unused_proactive_bytes")
    ]


def drop_grid(runs: Mapping[str, RunTables]) -> Grid:
    """One row per flow with drops, by reason."""
    lossy = [
        {"variant": name, **row}
        for name, result in runs.items()
        for row in result.flows.to_pylist()
        if row["loss_percent"]
    ]
    variant = (Column("variant", "variant"),) if is_comparison(runs) else ()
    return _grid("Dropped packets by reason", variant + DROP_COLUMNS, lossy)


def _with_interval(value: Value, digits: int) -> str:
    if value.mean is None or value.high is None:
        return shown(value.mean, digits)
    return f"{value.mean:.{digits}f} ± {value.high - value.mean:.{digits}f}"


def _grid(title: str, columns: Sequence[Column], rows: Sequence[Row]) -> Grid:
    unused = {c.key for c in columns if rows and all(row[c.key] is None for row in rows)}
    used = [column for column in columns if column.key not in unused]
    cells = [[shown(row[column.key], column.digits) for column in used] for row in rows]
    return Grid(title, [column.heading for column in used], cells)
