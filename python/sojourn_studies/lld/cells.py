"""From runs to the cells of the matrix, none of which is published, and the tables of its page."""

from collections.abc import Mapping, Sequence

from sojourn.analysis.statistics import Value
from sojourn.base.grid import Grid

from ..framework.cases import Case, Runs
from ..framework.references import shown
from ..framework.rows import Row
from .cases import GAMES, LOADS, MAPS_MS, OPEN, RATES_MBPS, SCHEMES, Where, case

LATENCIES = ("latency_p50", "latency_p99", "latency_p999")
PARTS = (
    "modem_queue",
    "request_wait",
    "grant_wait",
    "shaping",
    "transmission",
    "propagation",
    "host",
)
SPLIT_LOADS = ("idle", "cubic")
"""Loads for which the delay is split."""


def _schemes(load: str) -> Sequence[str]:
    return (*SCHEMES, OPEN) if load == "abuse" else SCHEMES


def _matrix() -> list[Where]:
    return [
        Where(mbps, map_ms, scheme, load)
        for mbps in RATES_MBPS
        for map_ms in MAPS_MS
        for load in LOADS
        for scheme in _schemes(load)
    ]


def _rows_of(where: Where) -> list[Row]:
    def row(flow: str, metric: str, unit: str) -> Row:
        keys = ("lld", where.table, where.load, where.scheme, "", flow, metric)
        return Row.unpublished(*keys, unit=unit)

    rows = [row(game, metric, "ms") for game in GAMES for metric in LATENCIES]
    rows += [row(name, "rate", "Mbps") for name in where.uploads]
    if where.load == "abuse" and where.scheme != "pie":
        rows.append(row("udp", "sanctioned", "%"))
    if where.scheme == "lld-pgs":
        rows.append(row("grants", "unused", "Mbps"))
    if where.load in SPLIT_LOADS:
        rows += [row("game-45", f"part_{part}", "ms") for part in PARTS]
    return rows


UNPUBLISHED = tuple(row for where in _matrix() for row in _rows_of(where))


def _where(row: Row) -> Where:
    mbps, _, _, map_ms = row.table.split("-")
    return Where(int(mbps), int(map_ms), row.scheme, row.experiment)


def cases_of(row: Row) -> Sequence[Case]:
    """The run of a cell."""
    return [case(_where(row))]


def value_of(row: Row, runs: Runs) -> float | None:
    """A cell."""
    (needed,) = cases_of(row)
    run = runs[needed.name]
    if row.metric.startswith("part_"):
        part = row.metric.removeprefix("part_")
        return sum(
            float(one["mean_ms"])
            for one in run.rows("delay_parts")
            if (one["traffic"], one["direction"], one["part"]) == (row.flow, "up", part)
        )
    if row.metric == "unused":
        up = (one for one in run.rows("service_flows") if one["direction"] == "up")
        unused_bytes = sum(one["mac_unused_proactive_bytes"] or 0 for one in up)
        return float(unused_bytes) * 8e-6 / float(run.meta["duration_s"])
    flow = run.flow(row.flow, "up")
    if row.metric == "rate":
        return float(flow["throughput_mbps"])
    if row.metric == "sanctioned":
        return 100 * float(flow["sanctioned_packets"]) / float(flow["sent_packets"])
    latency: float | None = flow[f"{row.metric}_ms"]
    return latency


def measured(values: Mapping[Row, Value]) -> Sequence[Grid]:
    """For each service and MAP interval: latency of the games, rates, and where time goes."""
    by_keys = {
        (r.table, r.experiment, r.scheme, r.flow, r.metric): value.mean
        for r, value in values.items()
    }
    return [
        grid
        for mbps in RATES_MBPS
        for map_ms in MAPS_MS
        for grid in _of_service(Where(mbps, map_ms, "", "").table, by_keys)
    ]


Values = Mapping[tuple[str, str, str, str, str], float | None]


def _text(value: float | None) -> str:
    return "–" if value is None else shown(value, 3)


def _of_service(table: str, values: Values) -> list[Grid]:
    mbps, _, _, map_ms = table.split("-")
    name = f"{mbps} Mbps, MAP every {map_ms} ms"
    return [
        Grid(
            f"{name}: latency of the games, median / 99 % / 99.9 %, ms",
            ["load", *(f"{scheme}, DSCP {dscp}" for scheme, dscp in _COLUMNS)],
            [[load, *_latencies(table, load, values)] for load in LOADS],
        ),
        Grid(
            f"{name}: rates of the uploads, Mbps",
            ["load", *SCHEMES, OPEN],
            [[load, *_rates(table, load, values)] for load in LOADS if load != "idle"],
        ),
        Grid(
            f"{name}: where the mean latency of the game with DSCP 45 goes, ms",
            ["load", "modem", *PARTS],
            [
                [load, scheme, *_parts(table, load, scheme, values)]
                for load in SPLIT_LOADS
                for scheme in SCHEMES
            ],
        ),
    ]


_COLUMNS = (("pie", 0), ("lld", 0), ("lld", 45), ("lld-pgs", 45), (OPEN, 45))


def _latencies(table: str, load: str, values: Values) -> list[str]:
    def cell(scheme: str, dscp: int) -> str:
        keys = [(table, load, scheme, f"game-{dscp}", metric) for metric in LATENCIES]
        return " / ".join(_text(values[key]) for key in keys) if keys[0] in values else ""

    return [cell(scheme, dscp) for scheme, dscp in _COLUMNS]


def _rates(table: str, load: str, values: Values) -> list[str]:
    def cell(scheme: str) -> str:
        uploads = Where(0, 0, scheme, load).uploads
        found = [(name, (table, load, scheme, name, "rate")) for name in uploads]
        words = [f"{name} {_text(values[key])}" for name, key in found if key in values]
        unused = (table, load, scheme, "grants", "unused")
        if unused in values:
            words.append(f"unused grants {_text(values[unused])}")
        return ", ".join(words)

    return [cell(scheme) for scheme in (*SCHEMES, OPEN)]


def _parts(table: str, load: str, scheme: str, values: Values) -> list[str]:
    return [_text(values.get((table, load, scheme, "game-45", f"part_{part}"))) for part in PARTS]
