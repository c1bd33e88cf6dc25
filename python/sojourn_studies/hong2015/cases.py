"""The runs of Hong 2015, by chapter, experiment, scheme and load."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from typing import Any

from ..framework.cases import Case
from .flows import FULL_TCP, Channel, Flows, Run, ftp, has, on_off, probe, udp, voip, web
from .schemes import QUEUE_CAPACITY, queue

ACTIVE_S = (500, 1500)
"""When the UDP flow of section 4.4 and the Tier-2 flow of figure 4.5 send."""

VOIP_4_MS, VOIP_5_MS = 45, 38
"""One way without queueing, as published under DRR (tables 4.10 and 5.18)."""

DURATION_S, TIERED_S = 2000, 1000

EXAMPLE_MBPS = (4, 6, 7, 9, 11, 13)
"""The sources of section 5.1.3."""

WEIGHTS = (1, 2, 4)
"""Of the service tiers, which are named by them."""

SINGLE = Channel()
_BONDED = Channel(
    channels=4, limit_packets=4 * QUEUE_CAPACITY, window_segments=40_000, upstream_mbps=120
)
NOT_LINKS_5_MS = 80 - 2 * VOIP_5_MS
"""In chapter 5 the call has a path of 80 ms too. What its links leave, 4 ms, is less than request
and grant take: published downloads have 82 ms, table 5.17 less the queue of table 5.18 under CoDel;
those of chapter 4 have 79 to 80."""
_SINGLE_5 = Channel(limit_packets=457, not_links_ms=NOT_LINKS_5_MS)
GIGABIT = Channel(
    mbps=948,
    limit_packets=11_875,
    upstream_mbps=100,
    window_segments=65_536,
    not_links_ms=NOT_LINKS_5_MS,
)

_FULL: Mapping[str, Any] = {"file_bytes": 2**31, "tcp": FULL_TCP}
"""HAS, and FTP beside it, ran on FullTcp in chapter 4, which counts bytes in 32 bits with a sign:
one FTP flow has 8.59 Mbps under three schemes, 2**31 bytes in 2000 s, then the channel is idle."""

_SAMPLES = {"series_interval_ms": 1000}


def load_of(text: str) -> dict[str, int]:
    """A load as a row has it: `has=5:ftp=1`."""
    return {name: int(number) for name, number in (part.split("=") for part in text.split(":"))}


def around(mean_ms: float, step_ms: float, count: int) -> list[float]:
    """Round trips in the order 80, 70, 90, 60, 100 ...: a step down, then one up."""
    steps = chain([0], chain.from_iterable((-step, step) for step in range(1, count + 1)))
    return [mean_ms + step_ms * step for step in islice(steps, count)]


@cache
def case(
    chapter: int, experiment: str, scheme: str, load: str, replication: int = 0, kilobytes: int = 20
) -> Case:
    """A run. `kilobytes` is the size of the object that the web probe asks for."""
    run = _run(chapter, experiment, load_of(load), kilobytes)
    title = f"{experiment}, {scheme}, {load}"
    if kilobytes != 20:
        title += f", {kilobytes} KB"
    is_binned = scheme.startswith("ABB")
    if is_binned:
        run = replace(run, metrics={"series_interval_ms": 1000, **run.metrics})
    # DRR has "bloated buffers" in section 5.3.1 as well.
    limit = QUEUE_CAPACITY if (chapter, scheme) == (5, "DRR") else run.channel.limit_packets
    run = replace(run, title=title)
    scenario = run.scenario(queue(scheme, limit, run.weights, run.channel.capacity_mbps))
    name = f"chapter {chapter}, {title}" + (f", again {replication}" if replication else "")
    has_series = is_binned or bool(run.metrics)
    return Case(name, scenario, series=has_series, draw=replication)


@cache
def video_alone() -> Case:
    """The example of section 4.2.2, with every packet, until the buffer has long been full."""
    run = Run("HAS example", [has("has-1")], SINGLE, 120, {"packet_trace": True})
    scenario = run.scenario(queue("DT", 2048, {}, SINGLE.capacity_mbps))
    return Case("chapter 4, HAS example", scenario, packets=True)


def _run(chapter: int, experiment: str, load: Mapping[str, int], kilobytes: int) -> Run:
    if chapter == 4:
        return _single_queue(experiment, load, kilobytes)
    if experiment in ("ABB-example", "BASE", "BASE-samples", "ME1", "ME2", "ME3"):
        flows = _FLOWS[experiment](load)
        duration_s = TIERED_S if experiment == "ABB-example" else DURATION_S
        samples = _SAMPLES if experiment == "BASE-samples" else {}
        return Run(experiment, flows, _SINGLE_5, duration_s, samples)
    watch = {"watch_flows": 64} if experiment.startswith("TAPP") else {}
    return Run(experiment, _FLOWS[experiment](load), GIGABIT, TIERED_S, watch)


# Chapter 4.


def _single_queue(experiment: str, load: Mapping[str, int], kilobytes: int) -> Run:
    metrics = {}
    match experiment:
        case "BASE" | "BASE-same-rtt":
            flows = [*_base(load["ftp"], experiment), voip(VOIP_4_MS)]
        case "RTT-spread":
            flows = [*_ftps(around(100, load["step"], load["ftp"])), voip(VOIP_4_MS)]
        case "HAS" | "HAS-max-always":
            flows = _videos(load["has"], load["ftp"], experiment == "HAS-max-always")
        case "WEB":
            flows = _webs(load["web"], kilobytes)
        case "UDP":
            start_s, stop_s = ACTIVE_S
            constant = udp("udp", 12, start_s=start_s, stop_s=stop_s)
            flows = [*_base(load["ftp"], "BASE"), voip(VOIP_4_MS), constant]
            metrics = _SAMPLES
        case "TIER" | "TIER-active" | "TIER-bonded":
            factor = 4 if experiment == "TIER-bonded" else 1
            flows = _capped(load, factor, experiment == "TIER-active")
            metrics = _SAMPLES if experiment == "TIER-active" else {}
            channel = _BONDED if experiment == "TIER-bonded" else SINGLE
            return Run(experiment, flows, channel, DURATION_S, metrics)
        case _:
            raise AssertionError(experiment)
    return Run(experiment, flows, SINGLE, DURATION_S, metrics)


def _base(ftps: int, experiment: str) -> list[Flows]:
    """Section 4.2.1: each flow has a round trip of its own, beyond 11 flows too."""
    return _ftps([80.0] * ftps if experiment == "BASE-same-rtt" else base_rtts_ms(ftps))


def base_rtts_ms(ftps: int) -> list[float]:
    """Round trips of BASE in chapter 4."""
    return [30.0 + 10 * number for number in range(ftps)]


def _ftps(rtts_ms: Sequence[float], name: str = "ftp", **keys: Any) -> list[Flows]:
    return [ftp(f"{name}-{n}", rtt_ms, **keys) for n, rtt_ms in enumerate(rtts_ms, 1)]


def _videos(viewers: int, ftps: int, at_top: bool) -> list[Flows]:
    """Section 4.2.2."""
    keys = {"adaptation": "always_top"} if at_top else {}
    rtts_ms = around(80, 10, viewers)
    videos = [has(f"has-{n}", rtt_ms, **keys) for n, rtt_ms in enumerate(rtts_ms, 1)]
    return [*videos, *_ftps(around(80, 10, ftps), **_FULL)]


def _webs(sessions: int, kilobytes: int) -> list[Flows]:
    """Section 4.2.3."""
    rtts_ms = [30.0, 40.0, 50.0, 60.0, 70.0]
    each = sessions // len(rtts_ms)
    webs = [web(f"web-{n}", rtt_ms, homes=each) for n, rtt_ms in enumerate(rtts_ms, 1)]
    return [*_ftps(rtts_ms), *webs, probe(50, kilobytes)]


def _capped(load: Mapping[str, int], factor: int, is_active: bool) -> list[Flows]:
    """Section 4.3: the service rates, `factor` times as high; Tier-2 for a time, or always."""
    low = _ftps(around(80, 10, load["t1"]), "ftp-T1", cap_mbps=6 * factor)
    times = dict(zip(("start_s", "stop_s"), ACTIVE_S, strict=True)) if is_active else {}
    return [*low, ftp("ftp-T2", cap_mbps=12 * factor, **times), voip(VOIP_4_MS)]


# Chapter 5.


def _unequal(load: Mapping[str, int]) -> list[Flows]:
    return [*_ftps(around(80, 10, load["ftp"])), voip(VOIP_5_MS)]


def _elephants() -> list[Flows]:
    return [ftp(f"ftp-{n}", link_mbps=rate) for n, rate in enumerate((5, 10, 20, 1000), 1)]


def _mice(load: Mapping[str, int]) -> list[Flows]:
    """ME1."""
    return [*_elephants(), on_off("onoff", load["onoff"], [0.5], [2, 4], 3)]


def _slow_mice(load: Mapping[str, int]) -> list[Flows]:
    """ME2."""
    return [*_elephants(), on_off("onoff", load["onoff"], [0.1], [2], 1.5)]


def _both_mice(load: Mapping[str, int]) -> list[Flows]:
    """ME3; on and off times as in ME2."""
    low = on_off("onoff-low", load["onoff_low"], [0.1], [2], 1.5)
    return [*_elephants(), low, on_off("onoff-mid", load["onoff_mid"], [0.3, 0.6], [2], 1.5)]


def _tiers(load: Mapping[str, int]) -> list[Flows]:
    """TierG and TierM."""
    return [*_downloads({tier: load[f"t{tier}"] for tier in WEIGHTS}), voip(VOIP_5_MS)]


def _floods(load: Mapping[str, int]) -> list[Flows]:
    """UDP of section 5.4.2."""
    ftps = _downloads({tier: load[f"ftp_t{tier}"] for tier in WEIGHTS})
    return [*ftps, *(udp(f"udp-T{tier}", 50, weight=tier) for tier in WEIGHTS)]


def _applications(load: Mapping[str, int]) -> list[Flows]:
    """TAPPG and TAPPR."""
    kinds: Mapping[str, Callable[..., Flows]] = {"web": web, "has": _gigabit_video}
    flows = [
        make(f"{kind}-T{tier}", homes=load[f"{kind}_t{tier}"], weight=tier)
        for kind, make in kinds.items()
        for tier in WEIGHTS
        if f"{kind}_t{tier}" in load
    ]
    return [probe(80), *flows, *_downloads({t: load.get(f"ftp_t{t}", 0) for t in WEIGHTS})]


def _capped_applications(load: Mapping[str, int]) -> list[Flows]:
    """TAPPC: the tiers of TAPPG by caps."""
    caps = {1: 12, 2: 50, 4: 150}
    videos = [
        _gigabit_video(f"has-T{tier}", cap_mbps=cap, homes=load[f"has_{cap}M"])
        for tier, cap in caps.items()
    ]
    webs = web("web-T1", cap_mbps=caps[1], homes=load["web"])
    ftps = _ftps([80.0] * load["ftp_150M"], "ftp-T4", cap_mbps=caps[4])
    return [probe(80, cap_mbps=caps[1]), *videos, webs, *ftps]


def _gigabit_video(name: str, **keys: Any) -> Flows:
    return has(name, ladder_mbps=[1.5, 3, 6, 9, 12, 15], **keys)


def _downloads(flows: Mapping[int, int]) -> list[Flows]:
    """Downloads of each tier, from a server each: of one alone 55 would fill the link."""
    tiers = (_ftps([80.0] * count, f"ftp-T{tier}", weight=tier) for tier, count in flows.items())
    return list(chain.from_iterable(tiers))


_FLOWS: Mapping[str, Callable[[Mapping[str, int]], list[Flows]]] = {
    "ABB-example": lambda load: [udp(f"udp-{n}", rate) for n, rate in enumerate(EXAMPLE_MBPS, 1)],
    "BASE": _unequal,
    "BASE-samples": _unequal,
    "ME1": _mice,
    "ME2": _slow_mice,
    "ME3": _both_mice,
    "TierG": _tiers,
    "TierM": _tiers,
    "UDP": _floods,
    "TAPPG": _applications,
    "TAPPR": _applications,
    "TAPPC": _capped_applications,
}
