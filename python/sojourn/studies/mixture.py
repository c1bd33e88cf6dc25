"""Distributions put together from several runs, as the CableLabs studies plot them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow.compute as pc

from ..report.curves import Numbers
from ..store import StoredRun

_STEPS = 200


@dataclass(frozen=True, eq=False)
class Distribution:
    """Values in ascending order, and the weight of each."""

    values: Numbers
    weights: Numbers

    @staticmethod
    def of(values: Iterable[float], weights: Iterable[float] | None = None) -> "Distribution":
        """Values with weights, 1 each by default."""
        return _sorted(
            np.fromiter(values, np.float64),
            None if weights is None else np.fromiter(weights, np.float64),
        )

    @cached_property
    def total(self) -> float:
        """The weights' sum."""
        return float(self.weights.sum())

    @cached_property
    def share(self) -> Numbers:
        """For each value the share, 0 to 1, of what is no greater."""
        return np.cumsum(self.weights) / self.total

    def quantile(self, q: float) -> float | None:
        """The least value with a share of `q` or more; nothing without values."""
        if not len(self.values):
            return None
        return float(self.values[min(int(np.searchsorted(self.share, q)), len(self.values) - 1)])

    def share_below(self, limit: float) -> float | None:
        """The share, 0 to 1, of what is less than `limit`; nothing without values."""
        below = float(self.weights[self.values < limit].sum())
        return below / self.total if len(self.values) else None

    def curve(self) -> tuple[Numbers, Numbers]:
        """The values at shares from 0 to 100 % in even steps, and those shares."""
        shares = np.linspace(0, 1, _STEPS + 1)
        quantiles = [self.quantile(float(share)) for share in shares] if len(self.values) else []
        return np.array(quantiles, dtype=np.float64), 100 * shares[: len(quantiles)]


def _sorted(values: Numbers, weights: Numbers | None) -> Distribution:
    unique, place = np.unique(values, return_inverse=True)
    return Distribution(unique, np.bincount(place, weights, len(unique)).astype(np.float64))


def pooled(parts: Iterable[Distribution]) -> Distribution:
    """All values together, each with its own weight."""
    there = [part for part in parts if len(part.values)]
    if not there:
        return Distribution.of([])
    values = np.concatenate([part.values for part in there])
    return _sorted(values, np.concatenate([part.weights for part in there]))


def evenly(parts: Iterable[Distribution]) -> Distribution:
    """All values together, every distribution with the same weight as a whole."""
    there = [part for part in parts if len(part.values)]
    return pooled(Distribution(part.values, part.weights / part.total) for part in there)


@lru_cache(maxsize=4096)
def call_latencies(run: StoredRun) -> Distribution:
    """One-way latencies in ms of all calls and games of a run, upstream."""
    table = run.latencies
    is_call = pc.starts_with(table["traffic"].cast("string"), "call")
    cells = table.filter(pc.and_(is_call, pc.equal(table["direction"].cast("string"), "up")))
    return Distribution.of(cells["latency_ms"].to_pylist(), cells["packets"].to_pylist())


@lru_cache(maxsize=4096)
def call_loss_percent(run: StoredRun) -> float:
    """Share of the packets of all calls of a run that were dropped, in %."""
    calls = _calls(run)
    delivered = sum(call["delivered_packets"] for call in calls)
    lost = sum(call[f"dropped_{why}_packets"] for call in calls for why in ("overflow", "aqm"))
    return 100 * lost / max(lost + delivered, 1)


def call_scores(run: StoredRun) -> Distribution:
    """Mean opinion scores of the calls of a run."""
    scores = (call["mos"] for call in _calls(run))
    return Distribution.of(score for score in scores if score is not None)


@lru_cache(maxsize=4096)
def page_loads(run: StoredRun) -> Distribution:
    """Page load times of a run in s."""
    return Distribution.of(run.pages["load_time_s"].to_pylist())


def _calls(run: StoredRun) -> list[dict[str, float]]:
    rows = run.flows.to_pylist()
    return [r for r in rows if r["traffic"].startswith("call") and r["direction"] == "up"]
