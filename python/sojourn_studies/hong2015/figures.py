"""Figures 4.1 to 4.6 and 5.1 to 5.8 of Hong 2015, redrawn. Figure 5.2 is a drawing without data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sojourn import _sojourn
from sojourn.analysis.curves import series_of
from sojourn.analysis.distribution import Numbers
from sojourn.store.stored_run import StoredRun

from ..framework.canvas import Plot, drawing_of
from ..framework.cases import Case, Runs
from ..framework.drawing import Drawing, Figure
from ..framework.rows import FigureNumber
from .cases import DURATION_S, WEIGHTS, case
from .cells import FTPS, jfi, responses, time_in_bin
from .measured import mean, throughputs
from .schemes import CHAPTER_4, CHAPTER_5

SIZES_KB = (32, 64, 128, 256, 512, 1024, 2048)
"""Figure 4.4: 32 KB to 2048 KB."""

STEPS_MS = (5, 10, 15, 20, 25)
WEB_FLOWS = (10, 20, 30, 40, 50, 60, 70, 80)
VIDEO_SCHEMES = ("DRR", "DT", "ARED", "CoDel", "PIE")
TIER_SCHEMES = ("DRR-CoDel", "ABB-2", "ABB-3", "ABB-4", "CoDel")
MIXES = (
    "t1=13:t2=11:t4=11",
    "t1=25:t2=5:t4=5",
    "t1=5:t2=25:t4=5",
    "t1=5:t2=5:t4=25",
    "t1=20:t2=10:t4=5",
)

TAPPG = "web_t1=30:has_t1=20:has_t2=20:has_t4=20:ftp_t4=10"
TAPPR = "ftp_t1=3:ftp_t2=3:ftp_t4=3:has_t1=20:has_t2=20:has_t4=20:web_t1=10:web_t2=10:web_t4=10"

Value = Callable[[StoredRun], float | None]


@dataclass(frozen=True)
class Grid:
    """A curve for each scheme over a load."""

    title: str
    x_label: str
    y_label: str
    cases: Mapping[str, Mapping[float, Case]]

    def figure(self, value: Value, **more: Value) -> Figure:
        """Of one value, or of several that have names."""
        named = {"": value, **more}

        def draw(runs: Runs) -> Drawing:
            plots = [
                Plot(f"{scheme} {name}".strip(), *_curve(of_scheme, runs, each))
                for scheme, of_scheme in self.cases.items()
                for name, each in named.items()
            ]
            return drawing_of(self.title, plots, self.x_label, self.y_label)

        return Figure(draw, [case for row in self.cases.values() for case in row.values()])


def _curve(of_scheme: Mapping[float, Case], runs: Runs, value: Value) -> tuple[Numbers, Numbers]:
    y = [value(runs[case.name]) for case in of_scheme.values()]
    return np.array(list(of_scheme)), np.array([np.nan if v is None else v for v in y])


def _grid(
    title: str,
    chapter: int,
    experiment: str,
    schemes: Sequence[str],
    loads: Mapping[float, str],
    x_label: str = "FTP flows",
    y_label: str = "fairness index",
) -> Grid:
    cases = {
        scheme: {x: case(chapter, experiment, scheme, load) for x, load in loads.items()}
        for scheme in schemes
    }
    return Grid(title, x_label, y_label, cases)


def _jfi(run: StoredRun) -> float | None:
    return jfi(run, "", "ftp")


def _mmr(run: StoredRun) -> float | None:
    return _sojourn.mmr(throughputs(run, "ftp"))


def weighted_rates(run: StoredRun) -> list[float]:
    """Throughput of each FTP flow over the weight of its tier."""
    return [rate / weight for weight in WEIGHTS for rate in throughputs(run, f"ftp-T{weight}")]


def _weighted_jfi(run: StoredRun) -> float | None:
    return _sojourn.jfi(weighted_rates(run))


def _weighted_mmr(run: StoredRun) -> float | None:
    return _sojourn.mmr(weighted_rates(run))


def _sizes() -> Grid:
    cases = {
        scheme: {float(size): responses(scheme, size) for size in SIZES_KB}
        for scheme in VIDEO_SCHEMES
    }
    return Grid("Response time over object size", "object (KB)", "response time (s)", cases)


def _response_s(run: StoredRun) -> float | None:
    response_s: float | None = run.flow("wrt-client", "down")["response_mean_s"]
    return response_s


def _over_time(
    title: str,
    shown: Case,
    entries: Mapping[str, str],
    window_s: float,
    from_s: float = 0,
    to_s: float = DURATION_S,
) -> Figure:
    """Throughput of entries in windows of time; of all of it where the run ends sooner."""

    def draw(runs: Runs) -> Drawing:
        run = runs[shown.name]
        start_s = from_s if float(run.meta["duration_s"]) >= to_s else 0
        plots = []
        for name, entry in entries.items():
            time_s, rate = windows(run, f"{entry} down", window_s)
            inside = (time_s > start_s) & (time_s <= to_s)
            plots.append(Plot(name, time_s[inside], rate[inside]))
        return drawing_of(title, plots, "time (s)", "throughput (Mbps)")

    return Figure(draw, [shown])


def windows(run: StoredRun, subject: str, window_s: float) -> tuple[Numbers, Numbers]:
    """Throughput in windows of about this length, which are whole intervals of the series."""
    time_s, rate = series_of(run.series, subject, "throughput")
    interval_s = time_s[0] if len(time_s) else window_s
    each = max(1, min(round(window_s / interval_s), len(rate) // 10))
    whole = len(rate) // each * each
    return time_s[each - 1 : whole : each], rate[:whole].reshape(-1, each).mean(axis=1)


def _fairness_over_time() -> Figure:
    schemes = ("ABB-2", "ABB-3", "ABB-4", "CoDel")
    cases = {scheme: case(5, "BASE-samples", scheme, "ftp=9") for scheme in schemes}

    def draw(runs: Runs) -> Drawing:
        plots = []
        for scheme, shown in cases.items():
            rates = [windows(runs[shown.name], f"ftp-{number} down", 30) for number in range(1, 10)]
            time_s = rates[0][0]
            each = [_sojourn.jfi([rate[i] for _, rate in rates]) for i in range(len(time_s))]
            plots.append(Plot(scheme, time_s, np.array(each, dtype=np.float64)))
        return drawing_of("Fairness over time, nine flows", plots, "time (s)", "fairness index")

    return Figure(draw, list(cases.values()))


def _occupancy(title: str, experiment: str, load: str, classes: Sequence[str]) -> Figure:
    shown = case(5, experiment, "ABB-4", load)
    bins = range(1, 5)

    def draw(runs: Runs) -> Drawing:
        run = runs[shown.name]
        plots = [
            Plot(name, np.array(bins, dtype=np.float64), np.array(shares, dtype=np.float64))
            for name in classes
            if (shares := [time_in_bin(run, name, number) for number in bins])[0] is not None
        ]
        return drawing_of(title, plots, "bin", "time (%)")

    return Figure(draw, [shown])


def _loads(
    name: str, values: Sequence[int], prefix: str = "", suffix: str = ""
) -> dict[float, str]:
    return {float(value): f"{prefix}{name}={value}{suffix}" for value in values}


FIGURES: Mapping[FigureNumber, Figure] = {
    "4.1": _grid(
        "BASE: Jain's index and min-max ratio", 4, "BASE", CHAPTER_4, _loads("ftp", FTPS)
    ).figure(_jfi, mmr=_mmr),
    "4.2": _grid(
        "Seven flows, round trips apart",
        4,
        "RTT-spread",
        CHAPTER_4,
        {6.0 * step: f"ftp=7:step={step}" for step in STEPS_MS},
        "range of round trips (ms)",
    ).figure(_jfi, mmr=_mmr),
    "4.3": _grid(
        "WEB: mean FTP throughput",
        4,
        "WEB",
        VIDEO_SCHEMES,
        _loads("web", WEB_FLOWS, "ftp=5:"),
        "web flows",
        "throughput (Mbps)",
    ).figure(lambda run: mean(throughputs(run, "ftp"))),
    "4.4": _sizes().figure(_response_s),
    "4.5": _over_time(
        "TIER: CoDel, nine Tier-1 flows and one Tier-2 flow",
        case(4, "TIER-active", "CoDel", "t1=9:t2=1"),
        {"Tier-1, 80 ms": "ftp-T1-1", "Tier-2": "ftp-T2"},
        10,
    ),
    "4.6": _over_time(
        "UDP: PIE, nine FTP flows",
        case(4, "UDP", "PIE", "ftp=9:udp=1"),
        {"UDP": "udp", **{f"FTP {n}": f"ftp-{n}" for n in (1, 5, 9)}},
        10,
    ),
    "5.1": _over_time(
        "ABB-2: six sources",
        case(5, "ABB-example", "ABB-2", "udp=6"),
        {f"source {n}": f"udp-{n}" for n in range(1, 7)},
        1,
        500,
        532,
    ),
    "5.3": _grid(
        "BASE: Jain's index and min-max ratio", 5, "BASE", CHAPTER_5, _loads("ftp", FTPS[1:])
    ).figure(_jfi, mmr=_mmr),
    "5.4": _fairness_over_time(),
    "5.5": _grid(
        "TierG: weighted fairness",
        5,
        "TierG",
        TIER_SCHEMES,
        _loads("t1", (11, 22, 33, 44, 55), suffix=":t2=1:t4=1"),
        "Tier-1 flows",
    ).figure(_weighted_jfi, mmr=_weighted_mmr),
    "5.6": _grid(
        "TierM: weighted fairness",
        5,
        "TierM",
        TIER_SCHEMES,
        dict(enumerate(MIXES, 1)),
        "mix",
    ).figure(_weighted_jfi, mmr=_weighted_mmr),
    "5.7": _occupancy(
        "TAPPG: time in each bin",
        "TAPPG",
        TAPPG,
        ("web-T1", "has-T1", "has-T2", "has-T4", "ftp-T4"),
    ),
    "5.8": _occupancy(
        "TAPPR: time in each bin",
        "TAPPR",
        TAPPR,
        [f"{kind}-T{tier}" for kind in ("web", "has", "ftp") for tier in WEIGHTS],
    ),
}
