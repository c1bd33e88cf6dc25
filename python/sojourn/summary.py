"""The few numbers that matter: a row per variant, or a run's flows and queues."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .api import Result
from .known import quoted
from .seeds import Value, over_seeds

Row = dict[str, Any]
NOTHING = "–"

_UNITS = ("ms", "s", "%", "Mbps")

_DIRECTIONS = ("up", "down")

_SIDE_BY_SIDE = "Side by side (queue: time in the modem's upstream queue)"


@dataclass(frozen=True)
class Grid:
    """A table of text, ready to show; the lines of a heading are separate."""

    title: str
    headings: list[str]
    rows: list[list[str]]

    @property
    def numeric(self) -> list[bool]:
        """Which columns hold numbers alone, and so align to the right."""
        columns = zip(*self.rows, strict=True) if self.rows else [[""]] * len(self.headings)
        return [all(map(_is_number, column)) for column in columns]


@dataclass(frozen=True)
class Measure:
    """A number of a run: `measure` of the rows that `of` selects, `merge`d into one."""

    key: str
    heading: str
    digits: int
    of: Callable[[Result], list[Row]]
    measure: str
    merge: Callable[[Iterable[float]], float]

    def applies(self, results: Iterable[Result]) -> bool:
        """Has any of the runs something to measure?"""
        return any(self.of(result) for result in results)

    @property
    def label(self) -> str:
        """The heading on one line, its unit in brackets."""
        *words, unit = self.heading.split("\n")
        named = [*words, f"({unit})"] if unit in _UNITS else [*words, unit]
        return " ".join(named)

    def over(self, runs: Iterable[Result]) -> Value:
        """The number over runs that differ in their seed."""
        return over_seeds([self.value(run) for run in runs])

    def value(self, result: Result) -> float | None:
        """The number, or nothing if nothing was measured."""
        values = [row[self.measure] for row in self.of(result) if row[self.measure] is not None]
        return self.merge(values) if values else None


@dataclass(frozen=True)
class Column:
    """A column of a run's own tables."""

    key: str
    heading: str
    digits: int = 0


def flows_of(*qualities: str) -> Callable[[Result], list[Row]]:
    """Selects the flows that are judged so."""
    return lambda result: [row for row in result.flows.to_pylist() if row["quality"] in qualities]


def transfers(direction: str) -> Callable[[Result], list[Row]]:
    """Selects the flows of bulk data that go `up` or `down`, without their acknowledgements."""

    def select(result: Result) -> list[Row]:
        traffic = result.settings["traffic"]
        return [
            row
            for row in flows_of("throughput")(result)
            if row["direction"] == direction == traffic[row["traffic"]].get("direction")
        ]

    return select


def queue(name: str) -> Callable[[Result], list[Row]]:
    """Selects a queue."""
    return lambda result: [row for row in result.queues.to_pylist() if row["queue"] == name]


# Of several flows of one kind the worst counts; rates add up.
MEASURES = (
    Measure("game_latency_p50_ms", "game\np50\nms", 1, flows_of("game"), "latency_p50_ms", max),
    Measure("game_latency_p90_ms", "game\np90\nms", 1, flows_of("game"), "latency_p90_ms", max),
    Measure("game_latency_p99_ms", "game\np99\nms", 1, flows_of("game"), "latency_p99_ms", max),
    Measure("game_loss_percent", "game\nloss\n%", 2, flows_of("game"), "loss_percent", max),
    Measure("voice_mos", "voice\nMOS", 2, flows_of("voice"), "mos", min),
    Measure("page_load_median_s", "page\nload\ns", 2, flows_of("pages"), "page_load_median_s", max),
    Measure(
        "response_median_s",
        "web\nresponse\ns",
        3,
        flows_of("responses"),
        "response_median_s",
        max,
    ),
    Measure("video_rate_mbps", "video\nMbps", 2, flows_of("video"), "video_rate_mbps", min),
    Measure(
        "video_stalled_percent",
        "video\nstalled\n%",
        1,
        flows_of("video"),
        "video_stalled_percent",
        max,
    ),
    Measure("upload_mbps", "upload\nMbps", 2, transfers("up"), "throughput_mbps", sum),
    Measure("download_mbps", "download\nMbps", 2, transfers("down"), "throughput_mbps", sum),
    Measure("upstream_queue_p50_ms", "queue\np50\nms", 1, queue("upstream"), "sojourn_p50_ms", max),
    Measure("upstream_queue_p99_ms", "queue\np99\nms", 1, queue("upstream"), "sojourn_p99_ms", max),
)

FLOW_COLUMNS = (
    Column("traffic", "traffic"),
    Column("direction", "way"),
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
    Column("direction", "way"),
    Column("entries", "entries"),
    Column("sent_packets", "packets\nsent"),
    Column("dropped_overflow_packets", "queue\nfull"),
    Column("dropped_aqm_packets", "queue\nmanager"),
    Column("marked_packets", "marked"),
    Column("loss_percent", "loss\n%", 2),
    Column("latency_p90_ms", "p90\nms", 1),
    Column("mos_min", "worst\nMOS", 2),
    Column("page_load_median_s", "load\ns", 2),
)

TCP_COLUMNS = (
    Column("traffic", "traffic"),
    Column("direction", "way"),
    Column("connections", "connections"),
    Column("rtt_mean_ms", "RTT mean\nms", 1),
    Column("rtt_p90_ms", "RTT p90\nms", 1),
    Column("retransmitted_packets", "sent\nagain"),
    Column("timeouts", "timeouts"),
    Column("time_to_peak_rate_s", "to peak\ns", 1),
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
    Column("direction", "way"),
    Column("sent_packets", "packets sent"),
    Column("dropped_overflow_packets", "queue full"),
    Column("dropped_aqm_packets", "queue manager"),
    Column("dropped_link_packets", "link"),
    Column("dropped_contention_packets", "requests in vain"),
    Column("loss_percent", "loss\n%", 2),
)


def summary_grids(runs: Mapping[str, Result]) -> list[Grid]:
    """What to show first: the variants side by side, or all there is of a single run."""
    if is_comparison(runs):
        grids = [comparison_grid({name: [result] for name, result in runs.items()})]
        return grids + [rates_grid(runs)] * are_summed(runs.values())
    return [grid for result in runs.values() for grid in run_grids(result)]


def run_grids(result: Result) -> list[Grid]:
    """All there is of a single run."""
    grids = [flow_grid(result), quality_grid(result), tcp_grid(result), queue_grid(result)]
    return [grid for grid in grids if grid.rows]


def is_comparison(runs: Mapping[str, Result]) -> bool:
    """A run that is not one of several has no name."""
    return "" not in runs


def comparison_grid(groups: Mapping[str, Sequence[Result]]) -> Grid:
    """One row per variant; of several seeds the means, with their 95 % intervals."""
    everything = [run for runs in groups.values() for run in runs]
    measures = [measure for measure in MEASURES if measure.applies(everything)]
    rows = [
        [name, *(_with_interval(measure.over(runs), measure.digits) for measure in measures)]
        for name, runs in groups.items()
    ]
    return Grid(_SIDE_BY_SIDE, ["variant", *(measure.heading for measure in measures)], rows)


def are_summed(results: Iterable[Result]) -> bool:
    """Does the sum of rates hide how several transfers share them?"""
    ways = [transfers(direction) for direction in _DIRECTIONS]
    return any(len(of_way(result)) > 1 for result in results for of_way in ways)


def rates_grid(runs: Mapping[str, Result]) -> Grid:
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
    return Grid("Transfers one by one, in Mbps", ["variant", *columns], rows)


def flow_grid(result: Result) -> Grid:
    """One row per flow."""
    title = "Flows: rate on the wire, loss, one-way latency"
    return _grid(title, FLOW_COLUMNS, result.flows.to_pylist())


def queue_grid(result: Result) -> Grid:
    """One row per queue."""
    title = "Queues: time that packets spent in them"
    return _grid(title, QUEUE_COLUMNS, result.queues.to_pylist())


def quality_grid(result: Result) -> Grid:
    """One row per quality and direction."""
    title = "Qualities: all traffic that is judged alike"
    return _grid(title, QUALITY_COLUMNS, result.qualities.to_pylist())


def tcp_grid(result: Result) -> Grid:
    """One row per flow whose senders measured round trips."""
    rows = [row for row in result.flows.to_pylist() if row["rtt_mean_ms"] is not None]
    return _grid("TCP: round trips and repair", TCP_COLUMNS, rows)


def drop_grid(runs: Mapping[str, Result]) -> Grid:
    """One row per flow that lost packets, with the reasons."""
    lossy = [
        {"variant": name, **row}
        for name, result in runs.items()
        for row in result.flows.to_pylist()
        if row["loss_percent"]
    ]
    variant = (Column("variant", "variant"),) if is_comparison(runs) else ()
    return _grid("Dropped packets by reason", variant + DROP_COLUMNS, lossy)


def summary_json(runs: Mapping[str, Result]) -> dict[str, Any]:
    """The summary for machines: per variant its meta data, summary and short tables."""
    first = next(iter(runs.values()))
    return {
        "title": first.settings["title"],
        "version": first.meta["version"],
        "variants": [_variant_json(name, result) for name, result in runs.items()],
    }


def shown(value: Any, digits: int) -> str:
    """A value as people read it."""
    match value:
        case None:
            return NOTHING
        case float():
            return f"{value:.{digits}f}"
    return str(value)


def _with_interval(value: Value, digits: int) -> str:
    if value.mean is None or value.high is None:
        return shown(value.mean, digits)
    return f"{value.mean:.{digits}f} ± {value.high - value.mean:.{digits}f}"


def _is_number(cell: str) -> bool:
    return cell == NOTHING or cell.lstrip("-")[:1].isdigit()


def _grid(title: str, columns: Sequence[Column], rows: Sequence[Row]) -> Grid:
    unused = {c.key for c in columns if rows and all(row[c.key] is None for row in rows)}
    used = [column for column in columns if column.key not in unused]
    cells = [[shown(row[column.key], column.digits) for column in used] for row in rows]
    return Grid(title, [column.heading for column in used], cells)


def _variant_json(name: str, result: Result) -> dict[str, Any]:
    return {
        "name": name,
        **result.meta,
        "summary": {m.key: m.value(result) for m in MEASURES if m.applies([result])},
        "flows": result.flows.to_pylist(),
        "qualities": result.qualities.to_pylist(),
        "service_flows": result.service_flows.to_pylist(),
        "channels": result.channels.to_pylist(),
        "queues": result.queues.to_pylist(),
    }


def told_once(warnings: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The warnings of runs by variant: those of all runs once, the others with whose they are."""
    names: dict[str, list[str]] = {}
    for name, texts in warnings.items():
        for text in texts:
            names.setdefault(text, []).append(name)
    for text, of in names.items():
        yield text if len(of) == len(warnings) else f"{', '.join(map(quoted, of))}: {text}"
