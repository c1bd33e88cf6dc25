"""Text tables that compare variants, or show the flows and queues of a run."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ..base.grid import NOTHING, Grid, digits, informative
from ..base.lookup import quoted
from .delay_parts import Parts, both_ways_ms, greatest_shares
from .groups import THIS_RUN, Group, Results
from .keys import key_in_words, value_in_words
from .measures import MEASURES, Measure, Row, flows_of, judged_flows, payload_flows
from .statistics import Value, over_seeds
from .tables import RunTables
from .verdict import Verdict

_OWN_TABLES = (
    "game_rtt_p999_ms",
    "game_latency_p999_ms",
    "game_latency_p9999_ms",
    "low_latency_queue_p99_ms",
    "low_latency_queue_p999_ms",
    "classic_queue_p99_ms",
)
"""Measures that have tables of their own."""


@dataclass(frozen=True)
class Column:
    """A column of a run's own tables."""

    key: str
    heading: str


def _quantiles(of: str, *percents: str) -> list[Column]:
    """Columns of quantiles in ms, as `latency_p999_ms` of 99.9 %."""
    return [Column(f"{of}_p{q.replace('.', '')}_ms", f"p{q}\nms") for q in percents]


_TRAFFIC = (Column("traffic", "traffic"), Column("direction", "direction"))

FLOW_COLUMNS = (
    *_TRAFFIC,
    Column("quality", "quality"),
    Column("rate_mbps", "rate\nMbps"),
    Column("loss_percent", "loss\n%"),
    *_quantiles("latency", "50", "90", "99"),
    Column("mos", "MOS"),
    Column("page_loads", "pages\nloaded"),
    Column("page_load_median_s", "load of\nthese, s"),
    Column("response_median_s", "response\ns"),
    Column("video_rate_mbps", "video\nMbps"),
    Column("video_stalled_percent", "stalled\n%"),
)

QUALITY_COLUMNS = (
    Column("quality", "quality"),
    Column("direction", "direction"),
    Column("entries", "entries"),
    Column("sent_packets", "packets\nsent"),
    Column("dropped_overflow_packets", "dropped,\nqueue full"),
    Column("dropped_aqm_packets", "dropped\nby AQM"),
    Column("marked_packets", "marked"),
    Column("loss_percent", "loss\n%"),
    Column("latency_p90_ms", "p90\nms"),
    Column("mos_min", "lowest\nMOS"),
    Column("page_load_median_s", "load of\nloaded, s"),
)

TCP_COLUMNS = (
    *_TRAFFIC,
    Column("connections", "connections"),
    Column("rtt_mean_ms", "RTT mean\nms"),
    Column("rtt_p90_ms", "RTT p90\nms"),
    Column("retransmitted_packets", "retrans-\nmitted"),
    Column("timeouts", "timeouts"),
    Column("time_to_peak_rate_s", "to peak\nrate s"),
)

SHAPER_COLUMNS = (
    *_TRAFFIC,
    Column("shaper_mean_mbps", "mean rate\nMbps"),
    Column("shaper_decreases", "decreases"),
)

QUEUE_COLUMNS = (
    Column("queue", "queue"),
    Column("departed_packets", "packets"),
    *_quantiles("sojourn", "50", "90", "99"),
    Column("sojourn_max_ms", "max\nms"),
)

LOW_LATENCY_COLUMNS = (
    Column("queue", "queue"),
    Column("sojourn_mean_ms", "mean\nms"),
    *_quantiles("sojourn", "50", "99", "99.9", "99.99"),
    Column("native_marked_packets", "native\nmarks"),
    Column("coupled_marked_packets", "coupled\nmarks"),
    Column("overload_marked_packets", "overload\nmarks"),
    Column("dropped_aqm_packets", "AQM\ndrops"),
    Column("sanctioned_packets", "sanc-\ntioned"),
)

SEVERAL_COLUMNS = (
    *_TRAFFIC,
    Column("rtt_p90_ms", "RTT\np90\nms"),
    Column("over_20_ms_access_percent", "over\n20 ms\n%"),
    Column("loss_percent", "loss\n%"),
    Column("latency_p90_ms", "p90\nms"),
    Column("mos", "MOS"),
    Column("page_load_median_s", "load of\nthese, s"),
    Column("frame_latency_p90_ms", "frames\np90\nms"),
    Column("frames_incomplete_percent", "incom-\nplete\n%"),
    Column("video_stalled_percent", "stalled\n%"),
)

GAME_TAIL_COLUMNS = (
    *_TRAFFIC,
    *_quantiles("latency", "99", "99.9", "99.99"),
    Column("sanctioned_packets", "sanc-\ntioned"),
)

GRANT_COLUMNS = (
    Column("homes", "homes"),
    Column("service_flow", "service flow"),
    Column("granted_mbps", "granted\nMbps"),
    Column("unused_mbps", "unused\nMbps"),
)

DROP_COLUMNS = (
    *_TRAFFIC,
    Column("sent_packets", "packets sent"),
    Column("dropped_overflow_packets", "queue full"),
    Column("dropped_aqm_packets", "AQM"),
    Column("dropped_link_packets", "link loss"),
    Column("dropped_contention_packets", "failed requests"),
    Column("loss_percent", "loss\n%"),
)


Seeds = Sequence[RunTables]
"""Runs that differ in their seed alone."""
Select = Callable[[RunTables], list[Row]]


def first_grids(results: Results) -> list[Grid]:
    """What users notice, and where the time goes: the two tables that answer most questions."""
    return [grid for grid in (noticed_grid(results), time_grid(results)) if grid.rows]


def more_grids(results: Results, judged: Verdict) -> list[Grid]:
    """All other tables: queues, each transfer, what grades compare, Low Latency DOCSIS, drops.

    And those of a single run.
    """
    groups, runs = results.groups, results.by_name
    queues = [measure for measure in MEASURES if measure.queues is not None]
    grids = [_side_by_side(f"Delay in queues{_of(results)}", results, queues)] * (len(groups) > 1)
    if results.is_comparison:
        grids += [_rates_grid(results)] * are_summed(group.first for group in groups)
        title = "Each of several games, calls, pages or films"
        grids.append(_grid(title, _of_variant(runs) + SEVERAL_COLUMNS, _by_variant(runs, _several)))
        grids += [*_compared_grids(results, judged), *low_latency_grids(runs)]
    else:
        grids += [*_compared_grids(results, judged), *run_grids(groups[0].runs)]
    return [grid for grid in (*grids, drop_grid(runs)) if grid.rows]


def noticed_grid(results: Results) -> Grid:
    """A row for each setting; of a single run, one for each flow that carries payload."""
    title = f"What users notice{_of(results)}"
    if len(results.groups) == 1:
        about = ": rate with headers, loss, one-way latency"
        rows = _over_seeds(results.groups[0].runs, _with_rates(payload_flows))
        return _grid(f"{title}{about}", FLOW_COLUMNS, rows)
    measures = [m for m in MEASURES if m.queues is None and m.key not in _OWN_TABLES]
    return _side_by_side(f"{title} (RTT: round trip)", results, measures)


def time_grid(results: Results) -> Grid:
    """The parts of the mean delay: a row for each setting, or for each entry of a single run.

    Of several settings it is that of the traffic that notices a delay first, such as a game.
    """
    found = [both_ways_ms(group) for group in results.groups]
    if len(found) == 1:
        entries, delays = list(found[0]), list(found[0].values())
    else:
        entries = [_worst(group, one) for group, one in zip(results.groups, found, strict=True)]
        loaded = [n for n, group in enumerate(results.groups) if not group.is_idle]
        worst = max(loaded, key=lambda n: sum(found[n].get(entries[n], {}).values()), default=0)
        # One entry for all settings where all have it, so that they can be compared.
        entries = [
            entries[worst] if entries[worst] in one else own
            for one, own in zip(found, entries, strict=True)
        ]
        delays = [one.get(entry, {}) for one, entry in zip(found, entries, strict=True)]
    shares = greatest_shares(delays)
    parts = sorted(shares, key=lambda part: -shares[part])
    headings = ["in all", *("\n".join(part.split("_")) for part in parts)]
    cells = [
        [digits(sum(one.values()) or None), *(digits(one.get(part, 0.0)) for part in parts)]
        for one in delays
    ]
    about = "parts of the mean delay in ms, up and down together"
    if _loses(results, entries):
        about += ", of lost packets until their loss"
    if len(found) == 1:
        rows = [[entry, *row] for entry, row in zip(entries, cells, strict=True)]
        return informative(f"Where the time goes: {about}", ["traffic", *headings], rows)
    if len(set(entries)) > 1:
        headings = ["traffic", *headings]
        cells = [[entry, *row] for entry, row in zip(entries, cells, strict=True)]
        return _of_settings(f"Where the time goes: {about}", results, headings, cells)
    return _of_settings(
        f"Where the time of traffic.{entries[0]} goes: {about}", results, headings, cells
    )


def _worst(group: Group, delays: Mapping[str, Parts]) -> str:
    """Of the traffic that notices a delay first, the entry that has the longest."""
    qualities = {row["traffic"]: row["quality"] for row in judged_flows(group.first)}
    first = [name for name in delays if qualities.get(name) == qualities.get(next(iter(delays)))]
    return max(first, key=lambda name: sum(delays[name].values()), default=NOTHING)


def _loses(results: Results, entries: Sequence[str]) -> bool:
    """Do these entries lose so much that the time until then counts?"""
    runs = (run for group in results.groups for run in group.runs)
    rows = (row for run in runs for row in judged_flows(run) if row["traffic"] in entries)
    return any((row["loss_percent"] or 0) > _COUNTS_PERCENT for row in rows)


_COUNTS_PERCENT = 2


def _of(results: Results) -> str:
    """What the numbers of a table are of, if not of one seed and all homes."""
    homes = {group.first.settings["metrics"].get("homes") for group in results.groups} - {None}
    whose = "".join(f" of homes.{name}" for name in sorted(homes))
    seeds = f", means of {results.seeds} seeds ± half of their 95 % interval"
    return f"{whose}{seeds if results.seeds > 1 else ''}"


def _side_by_side(title: str, results: Results, measures: Sequence[Measure]) -> Grid:
    """The measures of each setting."""
    cells = [[_cell(m.over(group.runs)) for m in measures] for group in results.groups]
    return _of_settings(title, results, [measure.heading for measure in measures], cells)


def _of_settings(
    title: str, results: Results, headings: Sequence[str], cells: Sequence[Sequence[str]]
) -> Grid:
    """A row for each setting; idle lines that are equal are one, which names all of them."""
    rows: dict[tuple[str, ...], list[list[str]]] = {}
    names, labels = _labels(results)
    for group, label, row in zip(results.groups, labels, cells, strict=True):
        key = ("", *row) if group.is_idle else (group.name, *row)
        rows.setdefault(key, []).append(label)
    together = [
        [*(_joined(list(dict.fromkeys(of))) for of in zip(*alike, strict=True)), *key[1:]]
        for key, alike in rows.items()
    ]
    return informative(title, [*names, *headings], together)


def _joined(names: Sequence[str]) -> str:
    """Names of idle lines, in which what all have in common stands once.

    That is their beginning or their end: `idle line of A, 'B, C' and D`, `A and B without uploads`.
    """
    if len(names) == 1:
        return names[0]
    start = names[0].partition(" of ")[0] + " of "
    end = " without " + names[0].rpartition(" without ")[2]
    start = start if all(name.startswith(start) for name in names) else ""
    end = end if all(name.endswith(end) for name in names) else ""
    *most, last = (quoted(name.removeprefix(start).removesuffix(end)) for name in names)
    return f"{start}{', '.join(most)} and {last}{end}"


def _labels(results: Results) -> tuple[list[str], list[list[str]]]:
    """What names settings: a column, or of a sweep one for the variant and each swept key."""
    groups = results.groups
    if not results.keys:
        return ["variant"], [[group.name or THIS_RUN] for group in groups]
    are_named = any(group.variant for group in groups)
    columns = [["variant", *(group.variant for group in groups)]] * are_named
    for place, key in enumerate(results.keys):
        values = [value_in_words(key, group.point[place]) for group in groups]
        columns.append([key_in_words(key).replace(" ", "\n"), *values])
    headings, *labels = map(list, zip(*columns, strict=True))
    return headings, labels


def run_grids(seeds: Seeds) -> list[Grid]:
    """All tables of a single run."""
    flows, classes, queues = (
        _over_seeds(seeds, select)
        for select in (
            _with_rates(_rows_of("flows")),
            _rows_of("traffic_classes"),
            _rows_of("queues"),
        )
    )
    measured = [row for row in flows if row["rtt_mean_ms"] is not None]
    shaped = [row for row in flows if row.get("shaper_mean_mbps") is not None]
    grids = [
        _grid("Traffic: rate with headers, loss, one-way latency", FLOW_COLUMNS, flows),
        _grid("Traffic by quality, the measure by which it is judged", QUALITY_COLUMNS, classes),
        _grid("Round-trip times and retransmissions", TCP_COLUMNS, measured),
        _grid("Shapers that a router's controller sets", SHAPER_COLUMNS, shaped),
        _grid("Queues: delay of packets", QUEUE_COLUMNS, queues),
    ]
    grids += [_lateness_grid(run.meta["emulation"]) for run in seeds if "emulation" in run.meta]
    return [grid for grid in grids if grid.rows] + low_latency_grids({"": seeds})


_LATENESS = {
    "p50": "late_p50_ms",
    "p90": "late_p90_ms",
    "p99": "late_p99_ms",
    "p99.9": "late_p999_ms",
    "max": "latest_ms",
}


def _lateness_grid(kept: Mapping[str, Any]) -> Grid:
    """How well an emulation kept time; of no packets there is nothing to say."""
    headings = ["packets", *_LATENESS, "behind, s", "longest, ms", "unread"]
    found = [kept["packets"], *map(kept.get, _LATENESS.values()), kept["behind_s"]]
    unread = sum(kept["unread_packets"].values())
    row = list(map(digits, [*found, kept["longest_behind_ms"], unread]))
    title = "Lateness of packets of real programs in ms, and time behind the wall clock"
    return Grid(title, headings, [row] if kept["packets"] else [])


def is_comparison(runs: Mapping[str, Seeds]) -> bool:
    """Are there variants? A single run has the empty name."""
    return "" not in runs


def are_summed(results: Iterable[RunTables]) -> bool:
    """Are there several uploads, downloads or other bulk traffic in one direction?"""
    counts = (Counter(row["direction"] for row in _transfers(result)) for result in results)
    return any(count > 1 for count in chain.from_iterable(one.values() for one in counts))


def _transfers(run: RunTables) -> list[Row]:
    """The judged rows of bulk traffic in the direction of its payload."""
    return [row for row in judged_flows(run) if row["rate_mbps"] is not None]


def _with_rates(select: Select) -> Select:
    """Rows of flows, with the mean rate of what is no bulk traffic."""

    def rows(run: RunTables) -> list[Row]:
        own = ((row, row["rate_mbps"]) for row in select(run))
        return [{**row, "rate_mbps": row["throughput_mbps"] if r is None else r} for row, r in own]

    return rows


def _rates_grid(results: Results) -> Grid:
    """A column for each transfer."""
    rates = [
        {
            f"{row['traffic']}\n{row['direction']}": row["rate_mbps"]
            for row in _over_seeds(group.runs, _transfers)
        }
        for group in results.groups
    ]
    cells = [{column: _cell(rate) for column, rate in of_run.items()} for of_run in rates]
    return _of_columns("Rate of each transfer while under way, in Mbps", results, cells)


def _of_columns(title: str, results: Results, rows: Sequence[Mapping[str, str]]) -> Grid:
    """A row for each setting, of columns that only some may have."""
    columns = list(dict.fromkeys(chain.from_iterable(rows)))
    cells = [[row.get(column, NOTHING) for column in columns] for row in rows]
    return _of_settings(title, results, columns, cells)


def _compared_grids(results: Results, judged: Verdict) -> list[Grid]:
    """What grades compare and no other table has."""
    parts = [
        {
            f"{one.traffic}{_WAY.get(one.application, '')}\n{heading}": digits(value)
            for one in judged.transfers[group.name]
            for heading, value in (("part\nMbps", one.part_mbps), ("share\n%", one.share_percent))
        }
        for group in results.groups
    ]
    beside = [
        {
            heading: digits(one.values.get(metric))
            for one in judged.groups[group.name]
            for application, metric, heading in _UNDER_LOAD
            if one.application == application
        }
        for group in results.groups
    ]
    titles = (
        "What each transfer is due of the line while under way, and what it gets of that",
        "What load adds, which rates are kept beside it, and what those wait who notice it",
    )
    return [
        _of_columns(title, results, rows)
        for title, rows in zip(titles, (parts, beside), strict=True)
    ]


_WAY = {"torrent down": " down", "data up": " up", "data down": " down"}
"""Behind the names of traffic that has a part in each direction."""
_UNDER_LOAD = (
    ("under load", "added_delay_ms", "load adds\nto mean RTT\nms"),
    ("video rate", "kept_video_rate_percent", "video rate\nkept\n%"),
    ("video call rate", "kept_call_rate_percent", "call rate\nkept\n%"),
    ("upstream wait", "wait_mean_ms", "upstream\nwait mean\nms"),
    ("downstream wait", "wait_mean_ms", "downstream\nwait mean\nms"),
)


def low_latency_grids(runs: Mapping[str, Seeds]) -> list[Grid]:
    """Low-latency and classic queues each, the far tail beside them, and what grants cost.

    Nothing where no run has such queues.
    """
    queues = _by_variant(runs, _members)
    with_members = {row["variant"] for row in queues}
    tails = [
        {"variant": name, **row}
        for name, seeds in runs.items()
        for row in _over_seeds(seeds, _far_tails(seeds))
        if with_members
    ]
    grants = [row for row in _by_variant(runs, _proactive_grants) if _mean(row["unused_mbps"])]
    variant = _of_variant(runs)
    title = "Low-latency and classic queue: delay, marks by cause"
    grids = [
        _grid(title, variant + LOW_LATENCY_COLUMNS, queues),
        _grid("The far tail of one-way latency", variant + GAME_TAIL_COLUMNS, tails),
        _grid("Proactive grants: rate granted in all, and unused", variant + GRANT_COLUMNS, grants),
    ]
    return [grid for grid in grids if grid.rows]


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


def _members(run: RunTables) -> list[Row]:
    """The low-latency and classic queues of the judged homes."""
    return [row for row in _judged(run, "queues") if row["member"] is not None]


def _judged(run: RunTables, table: str) -> list[Row]:
    """The rows of the homes that answers are of (`metrics.homes`), or all."""
    homes = run.settings["metrics"].get("homes")
    return [row for row in _rows_of(table)(run) if homes in (None, row["homes"])]


def _rows_of(table: str) -> Select:
    def rows(run: RunTables) -> list[Row]:
        there: list[Row] = getattr(run, table).to_pylist() if run.keeps(table) else []
        return there

    return rows


def _of_variant(runs: Mapping[str, Seeds]) -> tuple[Column, ...]:
    return (Column("variant", "variant"),) if is_comparison(runs) else ()


def _several(run: RunTables) -> list[Row]:
    """The flows of uses that several entries have, of which other tables have the worst."""
    rows = [row for row in judged_flows(run) if row["quality"] not in (None, "throughput")]
    entries = Counter(quality for quality, _ in {(row["quality"], row["traffic"]) for row in rows})
    return [row for row in rows if entries[row["quality"]] > 1]


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
        for row in _judged(run, "service_flows")
        for granted, unused in [map(row.get, counted)]
        if granted is not None and unused is not None
    ]


def drop_grid(runs: Mapping[str, Seeds]) -> Grid:
    """One row per flow with drops, by reason."""
    lossy = [row for row in _by_variant(runs, _rows_of("flows")) if _mean(row["loss_percent"])]
    variant = (Column("variant", "variant"),) if is_comparison(runs) else ()
    return _grid("Dropped packets by reason", variant + DROP_COLUMNS, lossy)


def _grid(title: str, columns: Sequence[Column], rows: Sequence[Row]) -> Grid:
    cells = [[_cell(row[column.key]) for column in columns] for row in rows]
    return informative(title, [column.heading for column in columns], cells)


def _cell(value: Any) -> str:
    return with_interval(value) if isinstance(value, Value) else digits(value)


def with_interval(value: Value, mean: str | None = None) -> str:
    """A mean with half of its interval, if it has one, to no later place after the point.

    `mean` has more digits of it.
    """
    mean = mean or digits(value.mean)
    if value.mean is None or value.high is None:
        return mean
    half = value.high - value.mean
    places = min(len(text.partition(".")[2]) for text in (mean, digits(half)))
    return f"{mean} ± {half:.{places}f}"
