"""Distributions put together from several runs, as the CableLabs studies plot them."""

from collections.abc import Callable, Mapping
from functools import lru_cache

import pyarrow.compute as pc
from sojourn.analysis.distribution import Distribution
from sojourn.store.stored_run import StoredRun


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


OF_RUN: Mapping[str, Callable[[StoredRun], Distribution]] = {
    "latency": call_latencies,
    "loss": lambda run: Distribution.of([call_loss_percent(run)]),
    "plt": page_loads,
    "mos": call_scores,
}
"""What a run reports, by what metrics call it: in ms, %, s and from 1 to 5."""


def _calls(run: StoredRun) -> list[Mapping[str, float]]:
    rows = run.rows("flows")
    return [r for r in rows if r["traffic"].startswith("call") and r["direction"] == "up"]
