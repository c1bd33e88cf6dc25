"""Which packets are lost, and whose: laws that go by events, by a timer or by the flow."""

from typing import Any

import numpy as np
import pyarrow.compute as pc
from sojourn.analysis.curves import series
from sojourn.analysis.distribution import Numbers
from sojourn.runs.result import Result

from ..framework.drawing import Drawing
from . import link
from .compared import Curve, Series, compare, curves, numbers

_BLUE_MBPS = 20
_BLUE_LOADS = numbers([1.05, 1.1, 1.2, 1.3, 1.5, 1.7, 2])
_BLUE_STEPS = {
    "steps of 0.0025 in 100 ms": {"increment": 0.0025, "decrement": 0.00025, "freeze_ms": 100},
    "steps of 0.02 in 100 ms": {"increment": 0.02, "decrement": 0.002, "freeze_ms": 100},
}


def blue() -> Drawing:
    """BLUE's probability settles where it drops the excess of senders that do not respond."""
    excess = 1 - 1 / _BLUE_LOADS
    plots = [
        Series(name, _BLUE_LOADS, excess, numbers([_blue(keys, load) for load in _BLUE_LOADS]))
        for name, keys in _BLUE_STEPS.items()
    ]
    return compare(
        "BLUE: the drop probability under a load above the link's rate",
        "1 - rate / load",
        plots,
        xlabel="load / rate of the link",
        ylabel="drop probability",
    )


def _blue(keys: link.Table, load: float) -> float:
    queue = {"limit_bytes": 250_000, "law": {"kind": "blue", **keys}}
    traffic = {"load": link.stream(load * _BLUE_MBPS)}
    result = link.run(link.scenario(_BLUE_MBPS, queue, traffic, 240))
    return float(np.mean(link.watched(result, "drop_probability")))


_GSP_MBPS = 100
_GSP_FLOWS = 10
_GSP_RTT_MS = 100
GSP_DURATION_S = 60
_GSP_SHOWN_S = (30, 60)
GSP_QUEUES: dict[str, link.Table] = {
    # 312 500 bytes are 25 ms.
    "drop-tail": {"limit_bytes": 312_500},
    "GSP": {"limit_bytes": 1_250_000, "law": {"kind": "gsp", "threshold_ms": 25}},
}


def gsp() -> Drawing:
    """The queue of Reno flows over time, before a buffer of 25 ms and GSP with that threshold."""
    plots = []
    for name, queue in GSP_QUEUES.items():
        time_s, delay_ms = series(reno_flows(queue), "downstream", "queue_delay")
        shown = (time_s >= _GSP_SHOWN_S[0]) & (time_s <= _GSP_SHOWN_S[1])
        plots.append(Curve(name, time_s[shown], delay_ms[shown]))
    return curves(
        "GSP: the queue of ten Reno flows",
        plots,
        marks=False,
        ylim=(0, None),
        xlabel="time (s)",
        ylabel="queueing delay (ms)",
    )


def reno_flows(queue: link.Table) -> Result:
    """Endless Reno flows with equal round trips over one link, each packet on record."""
    way = {"kind": "transfer", "server": "far", "direction": "down", "start_spread_s": 1}
    return link.run(
        link.scenario(
            _GSP_MBPS,
            queue,
            {f"flow {n}": way for n in range(_GSP_FLOWS)},
            GSP_DURATION_S,
            servers={"far": {"delay_ms": _GSP_RTT_MS / 2, "rate_mbps": 1_000_000}},
            tcp={"congestion_control": {"kind": "reno"}},
            metrics={"packet_trace": True, "series_interval_ms": 20},
        )
    )


def losses_together(result: Result) -> Numbers:
    """How many flows lose packets within a round trip of the first loss, time after time."""
    lost = result.packets.filter(pc.field("outcome").isin(["aqm", "overflow"]))
    at_s, traffic = lost["ended_s"].to_numpy(), np.array(lost["traffic"].to_pylist())
    order = np.argsort(at_s, kind="stable")
    flows: list[set[str]] = []
    until_s = 10.0  # slow start is over
    for one in order[at_s[order] >= until_s]:
        if at_s[one] >= until_s:
            flows.append(set())
            until_s = at_s[one] + _GSP_RTT_MS / 1e3
        flows[-1].add(traffic[one])
    return numbers([len(names) for names in flows])


_AFD_MBPS = 10
_AFD_TCP_FLOWS = 9
_AFD_RATES = numbers([0.5, 1, 2, 3, 5, 7, 10])
_AFD_LAWS: dict[str, link.Table] = {
    "drop-tail": {"kind": "none"},
    "RED": {"kind": "red", "adaptive": True},
    "AFD": {"kind": "afd"},
}


def afd() -> Drawing:
    """What a stream that does not respond gets beside nine TCP flows, under three laws."""
    fair = np.minimum(_AFD_RATES, _AFD_MBPS / (_AFD_TCP_FLOWS + 1))
    plots = [
        Curve(name, _AFD_RATES, numbers([_afd_mbps(law, mbps) for mbps in _AFD_RATES]))
        for name, law in _AFD_LAWS.items()
    ]
    return curves(
        "AFD: a stream that does not respond, beside nine TCP flows",
        [*plots, Curve("fair share", _AFD_RATES, fair, is_expected=True)],
        xlabel="rate of the stream (Mbps)",
        ylabel="its throughput (Mbps)",
    )


def _afd_mbps(law: link.Table, mbps: float) -> float:
    way: dict[str, Any] = {"kind": "transfer", "server": "far", "direction": "down"}
    traffic = {f"flow {n}": {**way, "start_spread_s": 1} for n in range(_AFD_TCP_FLOWS)}
    servers = {
        "near": {"delay_ms": 0, "rate_mbps": 1_000_000},
        "far": {"delay_ms": 20, "rate_mbps": 1_000_000},
    }
    scenario = link.scenario(
        _AFD_MBPS,
        {"limit_bytes": 125_000, "law": law},
        {**traffic, "stream": link.stream(mbps)},
        60,
        servers=servers,
        metrics={"from_s": 10},
    )
    return link.of_flows(link.run(scenario), "throughput_mbps")["stream"]
