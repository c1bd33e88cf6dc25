"""Every queue manager that is characterised: a line each, with what an operator weighs of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

LINKS = ("link", "docsis")
"""A load of the study: what the bottleneck is."""


@dataclass(frozen=True)
class Manager:
    """A queue manager at its defaults, and facts for the RFC's discussion items."""

    queue: Mapping[str, Any]
    """Keys of the scenario's queue, without a limit."""
    acts: str
    """When it decides, and by what."""
    state: str
    """What it keeps: the cost of an implementation (section 11)."""
    sets: str
    """What an operator may have to set (section 12)."""
    ecn: str
    """What it marks (section 4.5)."""
    aim: str
    """The delay or the queue that it steers to at its defaults."""
    links: Sequence[str] = LINKS
    """Where it is run."""
    cable_ms: float = 0.1
    """One way, to the CMTS: 20 km of cable."""


_FAR_MS = 0.8
"""The longest that DOCSIS allows: 160 km."""


def _of(law: str = "none", scheduler: str = "fifo", **keys: Any) -> dict[str, Any]:
    return {"scheduler": {"kind": scheduler}, "law": {"kind": law, **keys}}


_PIE = "one controller, timer, random numbers"

NEAR: Mapping[str, Manager] = {
    "drop-tail": Manager(_of(), "full buffer", "none", "buffer", "nothing", aim="nothing"),
    "codel": Manager(
        _of("codel"),
        "departures, sojourn time",
        "one control law, a time per packet",
        "target, interval",
        "all ECN",
        aim="5 ms",
    ),
    "codel-dt": Manager(
        _of("codel_dt"),
        "arrivals, predicted sojourn time",
        "one control law",
        "target, interval",
        "nothing",
        aim="20 ms",
    ),
    "pie": Manager(
        _of("pie"),
        "arrivals, backlog over rate",
        _PIE,
        "target, buffer",
        "ECN up to 10 %",
        aim="15 ms",
    ),
    "docsis-pie": Manager(
        _of("docsis_pie"),
        "arrivals, backlog over rate",
        _PIE,
        "target, buffer",
        "nothing",
        aim="10 ms",
    ),
    "pi2": Manager(
        _of("pi2"),
        "departures, sojourn time",
        _PIE,
        "target",
        "ECN, ECT(1) by its own law",
        aim="15 ms",
    ),
    "red": Manager(
        _of("red"),
        "arrivals, mean queue",
        "one average, random numbers",
        "two thresholds, weight, max_p",
        "ECN below the upper threshold",
        aim="5 ms",
    ),
    "ared": Manager(
        _of("red", adaptive=True),
        "arrivals, mean queue",
        "one average, timer, random numbers",
        "target",
        "ECN below the upper threshold",
        aim="5 ms",
    ),
    "sfq": Manager(
        _of(scheduler="sfq"),
        "full buffer",
        "a queue for each flow",
        "buffer",
        "nothing",
        aim="nothing",
    ),
    "sfq-codel": Manager(
        _of("codel", "sfq"),
        "departures, sojourn time",
        "a queue and a law for each flow",
        "target, interval",
        "all ECN",
        aim="5 ms in each queue",
    ),
    "fq-codel": Manager(
        _of("codel", "fq"),
        "departures, sojourn time",
        "a queue and a law for each flow",
        "target, interval",
        "all ECN",
        aim="5 ms in each queue",
    ),
    "fq-pie": Manager(
        _of("pie", "fq"),
        "arrivals, backlog over rate",
        "a queue and a controller for each flow",
        "target, buffer",
        "ECN up to 10 %",
        aim="15 ms in each queue",
    ),
    "cake": Manager(
        _of(scheduler="cake"),
        "departures, sojourn time",
        "a queue and two laws for each flow, flows of each host",
        "rate of its shaper, round trip",
        "all ECN",
        aim="5 ms in each queue",
    ),
    "cake-200": Manager(
        {"scheduler": {"kind": "cake", "rtt_ms": 200}},
        "departures, sojourn time",
        "as cake",
        "as cake; its target of 10 ms is for request and grant",
        "all ECN",
        aim="10 ms in each queue",
        links=("docsis",),
    ),
    "choke": Manager(
        _of(scheduler="choke"),
        "arrivals, mean queue, a packet drawn from the queue",
        "one average, random numbers",
        "two thresholds, weight, max_p",
        "all ECN, but for packets of the drawn flow",
        aim="15 ms",
    ),
    "blue": Manager(
        _of("blue"),
        "arrivals, overflows and idle times",
        "one probability",
        "two steps",
        "all ECN",
        aim="no overflow; a queue of 20 ms counts as one",
    ),
    "gsp": Manager(
        _of("gsp"), "arrivals, a timer", "two times", "threshold, interval", "all ECN", aim="20 ms"
    ),
    "afd": Manager(
        _of("afd"),
        "arrivals, bytes of the flow among samples",
        "samples of packets, a count for each flow, timer, random numbers",
        "reference queue",
        "all ECN",
        aim="15 ms, by gains of the paper for packets of 1 ms",
    ),
    "sfb": Manager(
        _of(scheduler="sfb"),
        "arrivals, probability of eight buckets",
        "128 buckets, random numbers",
        "steps of the probability, packets of a bucket",
        "ECN up to 50 %",
        aim="20 packets in each bucket",
    ),
    "dualpi2": Manager(
        {"scheduler": {"kind": "dualq"}},
        "departures, sojourn time",
        "two queues, one controller, timer",
        "target",
        "ECN, ECT(1) in its own queue",
        aim="15 ms, 1 ms for L4S",
    ),
    "low-latency": Manager(
        {"scheduler": {"kind": "low_latency"}},
        "arrivals, backlog over rate",
        "two queues, two controllers, timer, a score for each flow",
        "target, ramp",
        "ECT(1) in its own queue",
        aim="10 ms, 1 ms for L4S",
    ),
}
"""A line each."""

MANAGERS: Mapping[str, Manager] = {
    **NEAR,
    **{
        f"{name}-far": replace(NEAR[name], links=("docsis",), cable_ms=_FAR_MS)
        for name in ("codel", "fq-codel", "cake", "cake-200")
    },
}
"""By the name of their scheme. Where a target is about as long as request and grant take, the
distance decides: these managers are run at both ends of the plant."""

LEFT_OUT: Mapping[str, str] = {
    "pie_early": "the PIE of 2013, which RFC 8033 replaces",
    "wfq": "it is for weights; with equal ones it shares a link as `sfq` does",
    "scfq": "it is for weights; with equal ones it shares a link as `sfq` does",
    "fq_pie": "`fq-pie` has it with the rules of the RFC; this is Linux's",
    "pie_linux": "`pie` has it with the rules of the RFC; this is Linux's",
    "red_linux": "`red` has it with the rules of ns-2; this is Linux's",
    "sfq_linux": "`sfq` has it with the rules of 2013; this is Linux's",
    "drr": "SFQ with a bin for each flow",
    "abb": "for downstream channels of many homes",
}
"""Laws and schedulers of the simulator that no scheme has, and why."""
