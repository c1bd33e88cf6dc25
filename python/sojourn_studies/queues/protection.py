"""Who is protected: devices from those with many flows, TCP from what does not respond."""

import math

import numpy as np

from ..framework.drawing import Drawing
from . import link
from .compared import Series, compare, numbers

_MBPS = 10.0
_MANY = numbers([1, 2, 4, 6, 8, 12, 16])
"""Downloads of the device that has many."""
_SERVER = {"delay_ms": 10, "rate_mbps": 1000}


def cake() -> Drawing:
    """What the one download of a device gets beside another device that has many."""
    plots = []
    for isolation in ("flows", "triple_isolate"):
        is_by_flow = isolation == "flows"
        fair = _MBPS / (_MANY + 1) if is_by_flow else np.full_like(_MANY, _MBPS / 2)
        got = numbers([beside_many(isolation, int(flows)) for flows in _MANY])
        plots.append(Series(isolation, _MANY, fair, got))
    return compare(
        "CAKE: one download of a device beside many of another",
        "equal shares",
        plots,
        xticks=_MANY,
        ylim=(0, 6),
        xlabel="downloads of the other device",
        ylabel="throughput of the one (Mbps)",
    )


def beside_many(isolation: str, flows: int) -> float:
    """Mbps of the one; each device has its own server, as servers are hosts too."""
    # So long an interval leaves queues in which one connection alone fills its share.
    scheduler = {"kind": "cake", "flow_isolation": isolation, "rtt_ms": 1000}
    entry = {"kind": "transfer", "direction": "down"}
    traffic = {
        "many": {**entry, "server": "near", "connections": flows},
        "one": {**entry, "server": "other"},
    }
    scenario = link.scenario(
        _MBPS,
        {"scheduler": scheduler},
        traffic,
        60,
        servers={"near": _SERVER, "other": _SERVER},
        metrics={"from_s": 10},
    )
    return link.of_flows(link.run(scenario), "throughput_mbps")["one"]


_RESPONSIVE = 32
"""TCP connections beside a flow that does not respond."""
_LOADS = numbers([0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 6, 8])
"""What it sends, in rates of the link."""
_QUEUES = {
    # Always between the thresholds, where RED signals next to nothing: hits alone drop.
    "CHOKe": {
        "scheduler": {
            "kind": "choke",
            "min_threshold_packets": 20,
            "max_threshold_packets": 1000,
            "max_p": 1e-6,
        }
    },
    "drop-tail": {},
}


def choke() -> Drawing:
    """What a flow that does not respond gets, by what it sends, beside TCP."""
    plots = []
    for name, queue in _QUEUES.items():
        expected = [choke_share(x) if name == "CHOKe" else min(x, 1) for x in _LOADS]
        got = [beside_tcp(queue, x * _MBPS, _RESPONSIVE)[0] / _MBPS for x in _LOADS]
        plots.append(Series(name, _LOADS, 100 * numbers(expected), 100 * numbers(got)))
    return compare(
        "CHOKe: share of a flow that does not respond",
        "Tang 2004; all it sends",
        plots,
        xscale="log",
        xticks=[0.1, 0.25, 0.5, 1, 2, 4, 8],
        ylim=(0, 105),
        xlabel="what it sends (rates of the link)",
        ylabel="share of the link (%)",
    )


def choke_share(load: float, responsive: int = _RESPONSIVE) -> float:
    """Share of a flow that sends `load`, beside so many equal ones that fill the rest.

    An arrival meets its like with the share that its flow has of the queue, and from then on each
    packet is hit at its flow's rate over the packets in the queue (Tang, Wang & Low 2004, with
    drops by hits alone).
    """

    def leaving(delay: float) -> tuple[float, float]:
        """What the flow and the others get; `delay` is 1 if nothing is dropped from the queue."""
        kept = math.exp(-load * delay)
        of_queue = (1 - kept) / (2 - kept)
        # The same for each of the others, of whose rate their part of the queue is known.
        each = (1 - of_queue) / responsive
        kept_of_each = 1 - each / (1 - each)
        sent = -responsive * math.log(kept_of_each) / delay
        return load * (1 - of_queue) * kept, sent * (1 - each) * kept_of_each

    short, long = 0.3, 2.0
    while long - short > 1e-9:
        delay = (short + long) / 2
        short, long = (delay, long) if sum(leaving(delay)) > 1 else (short, delay)
    return leaving(short)[0]


_TARGETS = {10: 13, 20: 25, 40: 50}
"""Packets from which a bucket's probability rises, and those that it holds at most."""
_FLOODS = numbers([1, 1.5, 2, 3, 4, 6, 8])


def sfb() -> Drawing:
    """Packets in the queue of a flow that does not respond, by what it sends, beside TCP."""
    plots = []
    for target, most in _TARGETS.items():
        keys = {"kind": "sfb", "target_packets": target, "max_packets": most}
        got = [_waiting({"scheduler": keys}, x * _MBPS) for x in _FLOODS]
        expected = np.full_like(_FLOODS, sfb_packets(target))
        plots.append(Series(f"target {target}", _FLOODS, expected, numbers(got)))
    return compare(
        "SFB: packets in the queue of a flow that does not respond",
        "rises as often as it falls",
        plots,
        xscale="log",
        xticks=_FLOODS,
        ylim=(0, 25),
        xlabel="what it sends (rates of the link)",
        ylabel="its packets in the queue",
    )


def sfb_packets(target: int) -> float:
    """Mean of a Poisson number of packets at which a bucket's probability stays where it is.

    What it rises by, 1/1000, is as often as it finds the target or more; what it falls by, 1/6000,
    as often as it finds nothing.
    """

    def drift(mean: float) -> float:
        terms = [math.exp(-mean) * mean**n / math.factorial(n) for n in range(target)]
        return (1 - sum(terms)) / 1000 - terms[0] / 6000

    low, high = 0.1, float(target)
    while high - low > 1e-6:
        mean = (low + high) / 2
        low, high = (mean, high) if drift(mean) < 0 else (low, mean)
    return low


def _waiting(queue: link.Table, mbps: float) -> float:
    """Packets of the flood in the queue, by Little's law."""
    throughput_mbps, latency_ms = beside_tcp(queue, mbps, 8)
    return throughput_mbps * latency_ms / link.packet_ms(1)


def beside_tcp(queue: link.Table, mbps: float, connections: int) -> tuple[float, float]:
    """Throughput and mean latency of a flow of so many Mbps beside TCP connections over 60 ms."""
    tcp = {
        "kind": "transfer",
        "direction": "down",
        "server": "far",
        "connections": connections,
        "start_spread_s": 5,
    }
    scenario = link.scenario(
        _MBPS,
        {"limit_packets": 1000, **queue},
        {"tcp": tcp, "flood": link.stream(mbps)},
        240,
        servers={
            "near": {"delay_ms": 0, "rate_mbps": 1_000_000},
            "far": {"delay_ms": 30, "rate_mbps": 1000},
        },
        metrics={"from_s": 20},
    )
    result = link.run(scenario)
    columns = ("throughput_mbps", "latency_mean_ms")
    throughput, latency = (link.of_flows(result, column)["flood"] for column in columns)
    return throughput, latency
