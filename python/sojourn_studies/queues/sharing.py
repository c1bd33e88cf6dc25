"""Who gets how much, and who waits: schedulers before a link that is overloaded."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ..framework.drawing import Drawing
from . import link
from .compared import Curve, Series, compare, curves, numbers


def drr() -> Drawing:
    """Max-min shares of 10 Mbps: one flow's weight grows, one asks for no more than 1 Mbps."""
    weights = numbers([0.25, 0.5, 1, 2, 4, 8, 16])
    names = ("weight w", "weight 1", "asks for 1 Mbps")
    got = np.array([_drr_shares(weight) for weight in weights])
    fair = np.array([_max_min(weight) for weight in weights])
    plots = [Series(name, weights, fair[:, flow], got[:, flow]) for flow, name in enumerate(names)]
    return compare(
        "DRR: shares by weight",
        "max-min fair",
        plots,
        xscale="log",
        xticks=weights,
        xlabel="weight w",
        ylabel="throughput (Mbps)",
    )


def _max_min(weight: float) -> tuple[float, float, float]:
    small = min(1.0, 10 / (weight + 2))
    unit = (10 - small) / (weight + 1)
    return weight * unit, unit, small


def _drr_shares(weight: float) -> list[float]:
    # Rates that are no multiples of each other, so that no flow is always first to find room.
    traffic = {"a": link.stream(20), "b": link.stream(20.37), "c": link.stream(1)}
    scheduler = {"kind": "drr", "weights": {"a": weight}}
    queue = {"limit_bytes": 1_000_000, "scheduler": scheduler}
    result = link.run(link.scenario(10, queue, traffic, 60))
    return list(link.of_flows(result, "throughput_mbps").values())


_GAME_BYTES = 218
_GAME_INTERVAL_MS = 20.2360679774998
"""Irrational in packets of the others, so that a game's packets meet them at all points."""
_UPLOADS = numbers([1, 2, 4, 8, 16, 20, 24, 32, 48, 64])


def _game_ms(scheduler: link.Table, mbps: float, others: int) -> float:
    """Greatest latency of a game beside so many flows which together want twice the link."""
    traffic: dict[str, Any] = {f"other {n}": link.stream(2 * mbps / others) for n in range(others)}
    traffic["game"] = {
        "kind": "stream",
        "purpose": "game",
        "server": "near",
        "direction": "down",
        "packet_bytes": _GAME_BYTES,
        "interval_ms": _GAME_INTERVAL_MS,
        "start_s": 2,
    }
    queue = {"limit_bytes": 2_000_000, "scheduler": scheduler}
    result = link.run(link.scenario(mbps, queue, traffic, 42))
    return link.of_flows(result, "latency_max_ms")["game"]


def _one_packet_ms(mbps: float) -> float:
    """The packet being sent, and the game's own."""
    return link.packet_ms(mbps) + link.packet_ms(mbps, _GAME_BYTES)


def fq() -> Drawing:
    """A game waits for one packet, until a round takes longer than its interval."""
    # A quantum of one packet, so that a round is one packet of each.
    scheduler = {"kind": "fq", "queues": 65_536, "quantum_bytes": link.PACKET_BYTES}
    plots = []
    for mbps in (10, 20):
        # RFC 8290 §4.2: a queue that ran empty goes behind the old ones, so the game's next packet
        # waits for the rest of a round that began as its last one had been sent.
        round_ms = _UPLOADS * link.packet_ms(mbps) + 2 * link.packet_ms(mbps, _GAME_BYTES)
        bound = np.maximum(_one_packet_ms(mbps), round_ms - _GAME_INTERVAL_MS)
        seen = numbers([_game_ms(scheduler, mbps, int(others)) for others in _UPLOADS])
        plots.append(Series(f"{mbps} Mbps", _UPLOADS, bound, seen))
    return _game("FQ: the greatest latency of a game", "RFC 8290 §4.2", plots)


def sfq() -> Drawing:
    """A game waits for one packet, however many flows are busy."""
    scheduler = {"kind": "sfq", "bins": 65_536, "quantum_bytes": 300}
    plots = []
    for mbps in (5, 10, 20):
        bound = np.full_like(_UPLOADS, _one_packet_ms(mbps))
        seen = numbers([_game_ms(scheduler, mbps, int(others)) for others in _UPLOADS])
        plots.append(Series(f"{mbps} Mbps", _UPLOADS, bound, seen))
    return _game("SFQ: the greatest latency of a game", "one packet", plots, ylim=(0, 4))


def _game(title: str, expected: str, plots: list[Series], **axes: Any) -> Drawing:
    return compare(
        title,
        expected,
        plots,
        xscale="log",
        xticks=[1, 2, 4, 8, 16, 32, 64],
        xlabel="busy flows beside it",
        ylabel="greatest latency of a game (ms)",
        **axes,
    )


_WEIGHT = 4
"""Of each flow beside a game of weight 1."""
_BESIDE = numbers([1, 2, 4, 8, 16, 32])
_BESIDE_MBPS = 20.0


def wfq() -> Drawing:
    """A light game beside heavy flows: the fluid system, a packet of each, or a round.

    WFQ, at most: what the fluid system takes for the game's packet at its share, or one packet of
    the others if that is more. SCFQ: the tags of all others are the same multiples of 1500 B /
    weight, and one packet of each may have the tag that is in service. DRR: a round of `weight`
    packets of each.
    """
    full = link.packet_ms(_BESIDE_MBPS)
    own = link.packet_ms(_BESIDE_MBPS, _GAME_BYTES)
    expected = {
        "wfq": np.maximum(full + own, own * (1 + _WEIGHT * _BESIDE)),
        "scfq": full * _BESIDE + own,
        "drr": full * _WEIGHT * _BESIDE + own,
    }
    plots = []
    for kind, bound in expected.items():
        keys = {"quantum_bytes": link.PACKET_BYTES} if kind == "drr" else {}
        seen = []
        for others in _BESIDE.astype(int):
            weights = {f"other {n}": _WEIGHT for n in range(others)}
            scheduler = {"kind": kind, "weights": weights, **keys}
            seen.append(_game_ms(scheduler, _BESIDE_MBPS, others))
        plots.append(Series(kind.upper(), _BESIDE, bound, numbers(seen)))
    title = "WFQ, SCFQ and DRR: the greatest latency of a game"
    return _game(title, "longest by the rules", plots, yscale="log")


_PERTURB_S = numbers([0.5, 1, 2, 5, 10, 20])
_PERTURB_MBPS = 10
_PERTURB_FLOWS = 2
_PERTURB_LIMIT = 100
_PERTURB_KINDS = {"waiting packets stay": "sfq", "they move too (Linux)": "sfq_linux"}


def sfq_perturb() -> Drawing:
    """Packets that later ones of their flow overtake after each new hash: at most all that wait."""
    packets_per_s = 1e3 / link.packet_ms(_PERTURB_MBPS)
    most = 100 * _PERTURB_LIMIT / (packets_per_s * _PERTURB_S)
    plots = [
        Curve(name, _PERTURB_S, numbers([_overtaken(kind, every_s) for every_s in _PERTURB_S]))
        for name, kind in _PERTURB_KINDS.items()
    ]
    return curves(
        "SFQ: reordering by new hashes",
        [*plots, Curve("all that wait", _PERTURB_S, most, is_expected=True)],
        xscale="log",
        xticks=_PERTURB_S,
        xlabel="time between hashes (s)",
        ylabel="packets overtaken (%)",
    )


def _overtaken(kind: str, every_s: float) -> float:
    scheduler = {"kind": kind, "perturb_s": every_s}
    queue = {"limit_packets": _PERTURB_LIMIT, "scheduler": scheduler}
    mbps = 1.1 * _PERTURB_MBPS / _PERTURB_FLOWS
    traffic = {f"flow {n}": link.stream(mbps + n / 100) for n in range(_PERTURB_FLOWS)}
    metrics = {"packet_trace": True, "from_s": 10}
    result = link.run(link.scenario(_PERTURB_MBPS, queue, traffic, 70, metrics=metrics))
    late = total = 0
    for name in traffic:
        chosen = (pc.field("traffic") == name) & (pc.field("outcome") == "delivered")
        of_flow = result.packets.filter(chosen).sort_by("ended_s")
        sent_s = of_flow["sent_s"].to_numpy()
        late += int((sent_s < np.maximum.accumulate(sent_s)).sum())
        total += len(sent_s)
    return 100 * late / total


_FLOODS = {"a": 10.0, "b": 12.0, "c": 14.0, "d": 16.0, "e": 18.0, "f": 20.0}
"""Mbps of six floods of 48 Mbps; the fair share is 8."""
_FLOOD_LINK_MBPS = 48.0
_FLOOD_TARGET_MS = 45.0


def sfq_pie() -> Drawing:
    """Sojourn times of floods follow from their rates alone.

    Each flood gets the fair share, so its share of drops is known; that is p times its bin over the
    longest (White 2014 §4.6), so the bins are to each other as the shares of drops; and PIE holds
    all of them together at its reference.
    """
    rates = numbers(list(_FLOODS.values()))
    fair = _FLOOD_LINK_MBPS / len(rates)
    dropped = 1 - fair / rates
    expected = _FLOOD_TARGET_MS * len(rates) * dropped / dropped.sum()
    law = {"kind": "pie_early", "target_ms": _FLOOD_TARGET_MS}
    scheduler = {"kind": "sfq", "bins": 65_536, "one_law": True}
    queue = {"limit_bytes": 10**7, "scheduler": scheduler, "law": law}
    traffic = {name: link.stream(rate) for name, rate in _FLOODS.items()}
    result = link.run(link.scenario(_FLOOD_LINK_MBPS, queue, traffic, 200))
    seen = numbers(list(link.of_flows(result, "latency_mean_ms").values()))
    return compare(
        "SFQ-PIE: how long the packets of floods wait",
        "from rates and reference",
        [Series("six floods of 48 Mbps", rates, expected, seen)],
        xlabel="rate of the flood (Mbps)",
        ylabel="mean latency (ms)",
        ylim=(0, 80),
    )


_ABB_RATES = (4.0, 6.0, 7.0, 9.0, 11.0, 13.0)
PUBLISHED_ABB: Mapping[int, tuple[float, ...]] = {
    1: (2.9, 4.3, 5.0, 6.5, 7.9, 9.4),
    2: (3.9, 5.9, 5.9, 6.5, 6.4, 7.5),
    3: (3.8, 5.8, 5.9, 6.5, 6.9, 7.2),
}
"""Throughputs in Mbps by number of bins (Hong 2015 table 5.1)."""


def abb() -> Drawing:
    """Shares of six constant rates in 38 Mbps, by the number of bins."""
    rates = numbers(_ABB_RATES)
    plots = []
    for bins, published in PUBLISHED_ABB.items():
        name = "1 bin" if bins == 1 else f"{bins} bins"
        plots.append(Series(name, rates, _percent(published), _percent(_abb_shares(bins))))
    return compare(
        "ABB: shares by number of bins",
        "Hong 2015, table 5.1",
        plots,
        xlabel="rate of the source (Mbps)",
        ylabel="share of what all got (%)",
        ylim=(0, 30),
    )


def _percent(values: Any) -> Any:
    return 100 * numbers(values) / np.sum(values)


def _abb_shares(bins: int) -> list[float]:
    # Rates are off by less than 0.1 %, by golden ratios, or sources stay in step with each other
    # and the same ones find the queue full each time.
    off = [1 + 1e-3 * (n * 0.618034 % 1 - 0.5) for n in range(len(_ABB_RATES))]
    traffic = {
        f"source {n}": link.stream(rate * factor)
        for n, (rate, factor) in enumerate(zip(_ABB_RATES, off, strict=True))
    }
    law = {"kind": "codel", "target_ms": 20}
    queue = {"limit_packets": 457, "scheduler": {"kind": "abb", "bins": bins}, "law": law}
    result = link.run(link.scenario(38, queue, traffic, 110, dialect="ns2"))
    return list(link.of_flows(result, "throughput_mbps").values())
