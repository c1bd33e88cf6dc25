"""Text tables that compare variants, or show the flows and queues of a run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..base.grid import Grid, shown
from .measures import MEASURES, Row, transfers
from .statistics import Value
from .tables import RunTables

_DIRECTIONS = ("up", "down")

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
        return grids + [rates_grid(runs)] * are_summed(runs.values())
    return [grid for result in runs.values() for grid in run_grids(result)]


def run_grids(result: RunTables) -> list[Grid]:
    """All tables of a single run."""
    grids = [flow_grid(result), quality_grid(result), tcp_grid(result), queue_grid(result)]
    return [grid for grid in grids if grid.rows]


def is_comparison(runs: Mapping[str, RunTables]) -> bool:
    """Are there variants? A single run has the empty name."""
    return "" not in runs


def comparison_grid(groups: Mapping[str, Sequence[RunTables]]) -> Grid:
    """One row per variant; with several seeds, means and their 95 % intervals."""
    everything = [run for runs in groups.values() for run in runs]
    measures = [measure for measure in MEASURES if measure.applies(everything)]
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
