"""Simulated lines and their features, which the fit learns from: `python -m sojourn.fit.table`.

The table is part of the package. Its first line says by which version it was made; it is made again
by `make fit-table` after a change of the model, the prior or the features.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._sojourn import version
from .features import NAMES, features
from .loaded import LOADED_NAMES, SETTLING_S, loaded_features, rises_ms
from .log import Log, Values
from .model import Stream, scenario, simulated
from .prior import (
    IDLE_S,
    LOADED_S,
    PRIOR,
    PROBE_DEVIATION_PERCENT,
    PROBE_MS,
    TABLE_SEEDS,
    drawn,
)

FILE = Path(__file__).with_name("table.csv")
STREAMS = (Stream(PROBE_MS, PROBE_DEVIATION_PERCENT),)


@dataclass(frozen=True)
class Table:
    """A row for each simulated line: shares of the prior, and features of its log."""

    version: str
    shares: Values
    features: Values


def log_of(line: dict[str, float], seed: int, law: str = "none") -> Log:
    """The log of a line of the prior: idle, then with an upload."""
    log = simulated(
        scenario(line, STREAMS, idle_s=IDLE_S, loaded_s=LOADED_S, law=law, seed=seed, trace=True)
    )
    return Log("", log.streams, loaded_s=(IDLE_S, IDLE_S + LOADED_S))


def row(seed: int) -> list[float]:
    """Shares and features of the line of a seed, with the period that it has."""
    line = drawn(seed)
    return [*known_of(line), *told_by(log_of(line, seed), line["grid_ms"])]


def known_of(line: dict[str, float]) -> list[float]:
    """The shares of the prior that a line has."""
    return [known.share(line[name]) for name, known in PRIOR.items()]


def told_by(log: Log, period_ms: float) -> list[float]:
    """The features of a log of such a line."""
    idle = log.between(0, IDLE_S)
    busy = log.between(IDLE_S + SETTLING_S, IDLE_S + LOADED_S)
    return [*features(idle, period_ms), *loaded_features(rises_ms(busy, idle))]


def rows(seeds: Sequence[int]) -> Iterator[list[float]]:
    """The rows of these seeds, in their order, simulated side by side."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(row, seeds)


def stored() -> Table:
    """The table of the package."""
    with FILE.open() as file:
        made_by = file.readline().removeprefix("#").split()[-1]
        values = np.loadtxt(file, delimiter=",", skiprows=1)
    return Table(made_by, values[:, : len(PRIOR)], values[:, len(PRIOR) :])


def main(file: Path = FILE) -> None:
    """Simulates the lines of the table and writes it."""
    lines = [f"# simulated by sojourn {version}"]
    lines.append(",".join([*PRIOR, *NAMES, *LOADED_NAMES]))
    for number, values in enumerate(rows(TABLE_SEEDS), 1):
        lines.append(",".join(f"{value:.5g}" for value in values))
        print(f"\r{number} of {len(TABLE_SEEDS)} lines", end="", file=sys.stderr)
    print(file=sys.stderr)
    file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
