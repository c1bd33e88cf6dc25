"""Fairness indices over any time window of a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .._sojourn import jfi, max_min, mmr
from .tables import RunTables, where

Rates = Mapping[str, float]


@dataclass(frozen=True)
class Fairness:
    """Fairness indices (Hong 2015, section 3.1.3) and the throughputs they are computed from."""

    jfi: float | None
    """Jain's fairness index of throughput over fair share; 1 is perfectly fair (eq. 3.1)."""
    mmr: float | None
    """Min-max ratio of throughput over fair share; 1 is perfectly fair (eq. 3.2)."""
    flows: pa.Table
    """One row per flow: traffic, connection, throughput_mbps, fair_mbps, bias_percent. A flow is a
    TCP connection, or the datagrams of an entry, which have no connection number."""
    bias_percent: dict[str, float]
    """Deviation of an entry's total throughput from its fair share, by entry (Hong 2015, section
    4.2.2, applicationBias)."""


def fairness(
    result: RunTables,
    traffic: Sequence[str],
    *,
    from_s: float | None,
    to_s: float | None,
    shares: Rates,
    demands_mbps: Rates,
    capacity_mbps: float | None,
) -> Fairness:
    """See `Result.fairness`."""
    if capacity_mbps is not None and not capacity_mbps > 0:
        raise ValueError(f"capacity_mbps: found {capacity_mbps}; allowed: above 0")
    from_s = result.settings["metrics"]["from_s"] if from_s is None else from_s
    end_s = result.meta["duration_s"] if to_s is None else to_s
    _check_window(from_s, end_s, result.meta["duration_s"])
    _check_names(traffic, shares, demands_mbps, list(result.settings["traffic"]))
    flows = [flow for name in traffic for flow in _flows(result, name)]
    got = [_throughput_mbps(result, subject, from_s, end_s) for _, _, subject in flows]
    names = [name for name, _, _ in flows]
    fair = max_min(
        sum(got) if capacity_mbps is None else capacity_mbps,
        [demands_mbps.get(name, np.inf) for name in names],
        [shares.get(name, 1.0) for name in names],
    )
    return _judged(names, [number for _, number, _ in flows], got, fair)


def _judged(
    names: list[str], numbers: list[int | None], got: list[float], fair: list[float]
) -> Fairness:
    some = all(share > 0 for share in fair)
    x = [rate / share for rate, share in zip(got, fair, strict=True)] if some else []
    bias = [100 * (ratio - 1) for ratio in x] if some else None
    columns = {
        "traffic": names,
        "connection": pa.array(numbers, pa.uint64()),
        "throughput_mbps": pa.array(got, pa.float64()),
        "fair_mbps": pa.array(fair, pa.float64()),
        "bias_percent": pa.array(bias, pa.float64()) if bias else pa.nulls(len(got), pa.float64()),
    }
    return Fairness(
        jfi(x),
        mmr(x),
        pa.table(columns),
        {name: _bias_percent(name, names, got, fair) for name in names} if some else {},
    )


def _bias_percent(name: str, names: list[str], got: list[float], fair: list[float]) -> float:
    own = [index for index, other in enumerate(names) if other == name]
    return 100 * (sum(got[i] for i in own) / sum(fair[i] for i in own) - 1)


def _check_window(from_s: float, to_s: float, duration_s: float) -> None:
    if not 0 <= from_s < to_s <= duration_s:
        raise ValueError(
            f"from_s, to_s: found {from_s:g}, {to_s:g}; "
            f"allowed: from_s before to_s, both within 0 to {duration_s:g}"
        )


def _check_names(
    traffic: Sequence[str], shares: Rates, demands_mbps: Rates, entries: list[str]
) -> None:
    if isinstance(traffic, str) or not traffic:
        raise ValueError(f"traffic: found {traffic!r}; allowed: a list of {', '.join(entries)}")
    for key, names, allowed in (
        ("traffic", traffic, entries),
        ("shares", shares, traffic),
        ("demands_mbps", demands_mbps, traffic),
    ):
        if strange := next((name for name in names if name not in allowed), None):
            raise ValueError(f"{key}: found {strange!r}; allowed: {', '.join(allowed)}")
    for key, rates in (("shares", shares), ("demands_mbps", demands_mbps)):
        if bad := next((f"{n} = {rate:g}" for n, rate in rates.items() if not rate > 0), None):
            raise ValueError(f"{key}: found {bad}; allowed: above 0")


def _flows(result: RunTables, name: str) -> Iterator[tuple[str, int | None, str]]:
    """The flows of an entry, each with its connection number and series subject."""
    entry = where(result.flows, traffic=name).to_pylist()
    if not entry:
        raise ValueError(f"traffic: {name!r} sent no packets, so it has no fairness")
    main = max(entry, key=lambda row: row["goodput_mbps"])
    subject = f"{name} {main['direction']}"
    if not main["connections"]:
        yield name, None, subject
        return
    kept = result.settings["metrics"]["connections"]
    if main["connections"] > kept:
        raise ValueError(
            f"traffic: {name!r} opened {main['connections']} connections, and the scenario records "
            f"only {kept}; set metrics.connections to {main['connections']} or more"
        )
    for number in range(1, main["connections"] + 1):
        yield name, number, f"{subject} {number}"


def _throughput_mbps(result: RunTables, subject: str, from_s: float, to_s: float) -> float:
    """Mean throughput over the part of the window that has samples."""
    samples = where(result.series, subject=subject, metric="throughput")
    interval_s, sampled_s = _sampling(result)
    to_s = min(to_s, sampled_s)
    if to_s <= from_s:
        raise ValueError(f"from_s: found {from_s:g}; allowed: below {sampled_s:g}, the last sample")
    ends = samples["time_s"].to_numpy()
    inside_s = np.minimum(ends, to_s) - np.maximum(ends - interval_s, from_s)
    mbits = float(samples["value"].to_numpy() @ inside_s.clip(0))
    return mbits / (to_s - from_s)


def _sampling(result: RunTables) -> tuple[float, float]:
    """The interval of all series and the time of the last sample, in s."""
    series = where(result.series, metric="queue_bytes")
    times = series["time_s"].to_numpy()
    if not len(times):
        raise ValueError(
            "the run has no samples; its duration must exceed metrics.series_interval_ms"
        )
    return float(times[0]), float(times.max())
