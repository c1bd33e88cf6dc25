"""What the lines show, tested on cells; the limits were fixed before any line was simulated."""

from statistics import fmean

from ..framework.cases import Runs
from ..framework.claims import Cells, Verdict
from ..framework.rows import published

_MEAN_MS, _P90_MS, _P99_MS = 0.7, 2.0, 4.0


def _measured(table: str, experiment: str) -> dict[str, float]:
    rows = published("lines")
    here = [row for row in rows if (row.table, row.experiment) == (table, experiment)]
    return {row.metric: float(row.published) for row in here if row.metric.startswith("p")}


def _misses(cells: Cells, scheme: str) -> dict[str, float]:
    """By quantile how far a scheme is from the idle upstream that was measured, in ms."""

    def ours(name: str) -> float:
        return cells.known(name, table="idle", experiment="up", scheme=scheme)

    known = _measured("idle", "up")
    return {name: abs(ours(name) - value) for name, value in known.items()}


def _fitted(cells: Cells, runs: Runs) -> Verdict:
    misses = _misses(cells, "fitted")
    mean = fmean(misses.values())
    holds = mean < _MEAN_MS and misses["p90"] < _P90_MS and misses["p99"] < _P99_MS
    numbers = f"{mean:.2f} ms in the mean, p90 {misses['p90']:.2f}, p99 {misses['p99']:.2f}"
    return Verdict(holds, numbers)


def _neighbours(cells: Cells, runs: Runs) -> Verdict:
    of = {s: fmean(_misses(cells, s).values()) for s in ("fitted", "default", "lone")}
    numbers = ", ".join(f"{scheme} {mean:.2f} ms" for scheme, mean in of.items())
    return Verdict(of["fitted"] <= min(of["default"], of["lone"]) / 2, numbers)


def _upstream(cells: Cells, runs: Runs) -> Verdict:
    up, down = (_measured("idle", way) for way in ("up", "down"))
    shares = [spread["p75"] - spread["p25"] for spread in (up, down)]
    numbers = f"p75 - p25 {shares[0]:.1f} ms up, {shares[1]:.2f} ms down"
    return Verdict(shares[0] > 10 * shares[1], numbers)


def _interconnect(cells: Cells, runs: Runs) -> Verdict:
    added = [cells.known(f"added_{name}", table="lab") for name in ("min", "mean")]
    return Verdict(
        all(2.7 < value < 3.5 for value in added), f"least {added[0]:.2f} ms, mean {added[1]:.2f}"
    )


def _docsis_pie(cells: Cells, runs: Runs) -> Verdict:
    value = cells.known("latency", table="field")
    return Verdict(15 <= value <= 30, f"median {value:.1f} ms")


def _download(cells: Cells, runs: Runs) -> Verdict:
    ours = cells.known("p99", table="download", experiment="up", scheme="fitted")
    measured = _measured("download", "up")["p99"]
    return Verdict(ours > measured / 2, f"p99 - p50 {ours:.1f} ms, measured {measured:.0f}")
