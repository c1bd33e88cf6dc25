"""Findings about the queue managers, tested on cells."""

from collections.abc import Iterable, Sequence

from ..framework.cases import Runs
from ..framework.claims import Cells, Verdict
from .managers import LINKS, MANAGERS
from .scenarios import RTT_MS

FLOW_QUEUES = ("sfq", "sfq-codel", "fq-codel", "fq-pie")
"""With a queue for each flow."""
SINGLE = ("codel", "codel-dt", "pie", "docsis-pie", "pi2", "red", "ared")
"""With a law, and one queue for all flows."""
EVERYWHERE = tuple(name for name, manager in MANAGERS.items() if manager.links == LINKS)
LAWS = tuple(name for name in EVERYWHERE if name not in ("drop-tail", "sfq"))
BY_SOJOURN = ("codel", "sfq-codel", "fq-codel", "pi2", "dualpi2")
"""With laws that measure how long packets wait."""
MARKS = ("codel", "pi2", "red", "ared", "sfq-codel", "fq-codel", "dualpi2")
"""Managers that mark whatever supports ECN under such loads."""


def _cells(
    cells: Cells,
    experiment: str,
    metric: str,
    schemes: Sequence[str],
    *,
    flow: str = "",
    links: Sequence[str] = LINKS,
) -> list[float]:
    """A cell of each manager and link."""
    return [
        cells.known(metric, experiment=experiment, scheme=scheme, load=link, flow=flow)
        for link in links
        for scheme in schemes
    ]


def _groups(
    cells: Cells, experiment: str, metric: str, *groups: Sequence[str], flow: str = ""
) -> list[list[float]]:
    """The cells of several groups of managers, on all links."""
    return [_cells(cells, experiment, metric, schemes, flow=flow) for schemes in groups]


def _one(cells: Cells, experiment: str, metric: str, scheme: str, link: str = "link") -> float:
    return _cells(cells, experiment, metric, [scheme], links=[link])[0]


def _range(values: Iterable[float], unit: str, digits: int = 0) -> str:
    found = sorted(values)
    ends = dict.fromkeys(f"{end:.{digits}f}" for end in (found[0], found[-1]))
    return f"{' to '.join(ends)} {unit}"


def _laws_keep_the_queue_short(cells: Cells, runs: Runs) -> Verdict:
    laws, full = _groups(cells, "reno", "delay_mean", LAWS, ("drop-tail", "sfq"))
    words = f"{_range(laws, 'ms')}; without a law {_range(full, 'ms')}"
    return Verdict(max(laws) < min(full) / 4, words)


def _order_of_ns3(cells: Cells, runs: Runs) -> Verdict:
    schemes = ("codel", "pie", "drop-tail")
    delays, goodputs = (
        [_one(cells, "cubic", metric, scheme) for scheme in schemes]
        for metric in ("delay_mean", "goodput")
    )
    holds = delays == sorted(delays) and goodputs == sorted(goodputs)
    pairs = zip(schemes, delays, goodputs, strict=True)
    words = [f"{name} {delay:.1f} ms and {rate:.2f} Mbps" for name, delay, rate in pairs]
    return Verdict(holds, ", ".join(words))


def _red_of_ns3(cells: Cells, runs: Runs) -> Verdict:
    schemes = ("pie", "ared", "red", "drop-tail")
    delays = [_one(cells, "cubic", "delay_mean", scheme) for scheme in schemes]
    words = [f"{name} {delay:.1f} ms" for name, delay in zip(schemes, delays, strict=True)]
    return Verdict(delays == sorted(delays), ", ".join(words))


def _own_queues_guard_tcp(cells: Cells, runs: Runs) -> Verdict:
    others = ("drop-tail", *SINGLE, "dualpi2", "low-latency")
    own, shared = _groups(cells, "udp-reno", "goodput", FLOW_QUEUES, others, flow="reno")
    words = f"{_range(own, 'Mbps', 1)}; in a shared queue {_range(shared, 'Mbps', 1)}"
    return Verdict(min(own) > 1.5 * max(shared), words)


def _codel_and_udp(cells: Cells, runs: Runs) -> Verdict:
    of_codel, of_pie = ("codel", "sfq-codel", "fq-codel"), ("pie", "docsis-pie", "pi2", "dualpi2")
    codel, others = _groups(cells, "udp", "delay_mean", of_codel, of_pie)
    words = f"{_range(codel, 'ms')}; of the PIE family {_range(others, 'ms')}"
    return Verdict(min(codel) > 4 * max(others), words)


def _ledbat_needs_a_queue(cells: Cells, runs: Runs) -> Verdict:
    rest = [name for name in EVERYWHERE if name != "drop-tail"]
    tail, others = _groups(cells, "ledbat-reno", "goodput", ["drop-tail"], rest, flow="ledbat")
    words = f"{_range(tail, 'Mbps', 2)} with drop-tail, {_range(others, 'Mbps', 1)} with the others"
    return Verdict(max(tail) < 0.5 and min(others) > 2, words)


def _windows(cells: Cells, runs: Runs) -> Verdict:
    three, ten = (_cells(cells, name, "fct", EVERYWHERE) for name in ("iw-3", "iw-10"))
    gains = [slow / fast for slow, fast in zip(three, ten, strict=True)]
    return Verdict(min(gains) > 1, f"{_range(gains, 'times as long with 3', 2)}")


def _own_queues_and_round_trips(cells: Cells, runs: Runs) -> Verdict:
    own, single = _groups(cells, "rtt-20", "jain", FLOW_QUEUES, (*SINGLE, "dualpi2"))
    words = f"index {min(own):.2f} to {max(own):.2f}; in one queue {min(single):.2f} to"
    return Verdict(min(own) > max(single), f"{words} {max(single):.2f}")


def _own_queues_and_cbr(cells: Cells, runs: Runs) -> Verdict:
    groups = (FLOW_QUEUES, SINGLE, ["drop-tail"])
    own, single, tail = _groups(cells, "burst-4", "latency_p99", *groups, flow="cbr")
    words = f"{_range(own, 'ms')}; in one queue with a law {_range(single, 'ms')}, without one"
    return Verdict(max(own) < RTT_MS / 2 + 12 < min(single), f"{words} {_range(tail, 'ms')}")


def _own_queues_and_video(cells: Cells, runs: Runs) -> Verdict:
    groups = (("sfq-codel", "fq-codel", "fq-pie"), ("codel", "pi2", "dualpi2"))
    own, single = _groups(cells, "burst-4", "latency_p99", *groups, flow="video")
    words = f"{_range(own, 'ms')}; with CoDel, PI2 and DualPI2 {_range(single, 'ms')}"
    return Verdict(min(own) > max(single), words)


def _pages_alone(cells: Cells, runs: Runs) -> Verdict:
    groups = (("pie", "docsis-pie", "fq-pie"), ("pi2", "dualpi2", "red", "ared"), ["drop-tail"])
    resting, early, tail = _groups(cells, "burst-1", "fct", *groups)
    holds = max(resting) < 1.02 * max(tail) and min(early) > 1.1 * min(tail)
    words = f"{_range(resting, 's', 2)} and {_range(early, 's', 2)}; with drop-tail"
    return Verdict(holds, f"{words} {_range(tail, 's', 2)}")


def _pages(cells: Cells, runs: Runs) -> Verdict:
    shared = ("codel", "codel-dt", "pie", "docsis-pie", "pi2", "dualpi2", "low-latency")
    groups = (FLOW_QUEUES, shared, ("red", "ared"), ["drop-tail"])
    own, single, red, tail = _groups(cells, "burst-2", "fct", *groups)
    holds = max(own) < min(single) and max(single) < min(tail)
    words = f"{_range(own, 's', 2)}; in one queue {_range(single, 's', 2)}, with drop-tail"
    return Verdict(holds, f"{words} {_range(tail, 's', 2)}, with RED {_range(red, 's', 2)}")


def _targets_hold(cells: Cells, runs: Runs) -> Verdict:
    held = [
        value
        for level in ("medium", "heavy")
        for value in _cells(cells, level, "delay_mean", ("pie", "pi2", "dualpi2"))
    ]
    return Verdict(min(held) > 12 and max(held) < 20, _range(held, "ms", 1))


def _codel_grows(cells: Cells, runs: Runs) -> Verdict:
    mild, heavy = (_cells(cells, level, "delay_mean", ["codel"]) for level in ("mild", "heavy"))
    holds = all(after > before + 3 for before, after in zip(mild, heavy, strict=True))
    return Verdict(holds, f"{_range(mild, 'ms', 1)} and {_range(heavy, 'ms', 1)}")


def _falling_capacity(cells: Cells, runs: Runs) -> Verdict:
    groups = (BY_SOJOURN, ("pie", "docsis-pie", "red", "ared", "fq-pie"), ("drop-tail", "sfq"))
    sojourns, estimates, tail = _groups(cells, "steps", "delay_mean", *groups)
    holds = max(sojourns) < 15 < min(estimates) and max(estimates) < min(tail) / 4
    words = f"{_range(sojourns, 'ms')}, {_range(estimates, 'ms')} and {_range(tail, 'ms')}"
    return Verdict(holds, words)


def _fluttering_capacity(cells: Cells, runs: Runs) -> Verdict:
    sojourns, tail = _groups(cells, "flutter", "goodput", BY_SOJOURN, ("drop-tail", "sfq"))
    words = f"{_range(sojourns, 'Mbps', 1)} of {_range(tail, 'Mbps', 1)}"
    return Verdict(max(sojourns) < 0.5 * min(tail), words)


def _second_queue(cells: Cells, runs: Runs) -> Verdict:
    laws = _cells(cells, "tandem", "goodput", LAWS, flow="far")
    return Verdict(min(laws) > 2.6, _range(laws, "Mbps of 4", 1))


def _ecn_saves_packets(cells: Cells, runs: Runs) -> Verdict:
    marked, dropped = (_cells(cells, name, "loss", MARKS) for name in ("ecn", "medium"))
    goodputs = (_cells(cells, name, "goodput", MARKS) for name in ("ecn", "medium"))
    rates = [ecn / without for ecn, without in zip(*goodputs, strict=True)]
    words = f"{_range(marked, '%', 2)} instead of {_range(dropped, '%', 2)}, at"
    changed = max(abs(rate - 1) for rate in rates)
    holds = max(marked) < 0.1 < min(dropped) and changed <= 0.05
    return Verdict(holds, f"{words} {_range((100 * rate for rate in rates), '% of the goodput')}")


def _scheduler_and_law(cells: Cells, runs: Runs) -> Verdict:
    words = []
    for scheme in ("drop-tail", "codel", "sfq", "fq-codel"):
        delay, index = (_one(cells, "rtt-20", name, scheme) for name in ("delay_mean", "jain"))
        words.append((scheme, delay, index))
    (_, full, _), (_, _, unfair), (_, alone, _), (_, both, fair) = words
    numbers = ", ".join(f"{name} {delay:.0f} ms and {index:.2f}" for name, delay, index in words)
    return Verdict(alone > 0.9 * full and both < 0.1 * full and fair > unfair, numbers)


def _two_queues_for_l4s(cells: Cells, runs: Runs) -> Verdict:
    two = ("dualpi2", "low-latency")
    one = [name for name in EVERYWHERE if name not in two]
    dual, others = (
        _cells(cells, "l4s", "delay_mean", schemes, links=["link"]) for schemes in (two, one)
    )
    words = f"{_range(dual, 'ms', 1)}; the others {_range(others, 'ms', 1)}"
    return Verdict(max(dual) < 1 < min(others), words)


def _dualpi2_on_a_modem(cells: Cells, runs: Runs) -> Verdict:
    link, docsis = (_one(cells, "l4s", "goodput", "dualpi2", name) for name in LINKS)
    low = _one(cells, "l4s", "goodput", "low-latency", "docsis")
    words = f"{docsis:.1f} Mbps; on a plain link {link:.1f} Mbps, with low-latency {low:.1f} Mbps"
    return Verdict(docsis < 0.25 * link, words)


def _queue_protection_and_prague(cells: Cells, runs: Runs) -> Verdict:
    low, dual = (
        _one(cells, "l4s", "goodput", scheme, "link") for scheme in ("low-latency", "dualpi2")
    )
    return Verdict(low < 0.9 * dual, f"{low:.1f} instead of {dual:.1f} Mbps")


def _docsis_pie_and_prague(cells: Cells, runs: Runs) -> Verdict:
    prague, cubic = (
        _one(cells, name, "delay_mean", "docsis-pie", "link") for name in ("l4s", "cubic")
    )
    tail = _one(cells, "l4s", "delay_p99", "docsis-pie", "link")
    words = f"{prague:.0f} instead of {cubic:.0f} ms; 99 % of packets {tail:.0f} ms at most"
    return Verdict(prague > 2 * cubic and abs(tail - 250 / 3) < 10, words)


def _prague_starves_cubic(cells: Cells, runs: Runs) -> Verdict:
    groups = (("codel", "red", "ared"), ("pi2", "dualpi2", "fq-codel", "sfq-codel"))
    low, coupled = _groups(cells, "l4s-cubic", "goodput", *groups, flow="cubic")
    words = f"{_range(low, 'Mbps', 1)}; coupled or in queues of their own"
    holds = max(low) < 1 and min(coupled) > 3.5
    return Verdict(holds, f"{words} {_range(coupled, 'Mbps', 1)}")


def _red_on_a_modem(cells: Cells, runs: Runs) -> Verdict:
    link, docsis = (
        _cells(cells, "heavy", "goodput", ("red", "ared"), links=[name]) for name in LINKS
    )
    words = f"{_range(docsis, 'Mbps', 1)}; on a plain link {_range(link, 'Mbps', 1)}"
    return Verdict(max(docsis) < 0.95 * min(link), words)


def _cake_on_a_modem(cells: Cells, runs: Runs) -> Verdict:
    near, far = (_one(cells, "reno", "goodput", name, "docsis") for name in ("cake", "cake-far"))
    codel = ("codel", "fq-codel")
    far_codel = [f"{name}-far" for name in codel]
    docsis = _cells(cells, "reno", "goodput", (*codel, *far_codel), links=["docsis"])
    link = _cells(cells, "reno", "goodput", codel, links=["link"])
    words = f"{near:.1f} and {far:.1f} Mbps; CoDel and FQ-CoDel {_range(docsis, 'Mbps', 1)}"
    holds = far < near / 3 and min(docsis) > 0.9 * max(link)
    return Verdict(holds, f"{words}, on a plain link {_range(link, 'Mbps', 1)}")


def _cake_200_on_a_modem(cells: Cells, runs: Runs) -> Verdict:
    schemes = ("cake-200-far", "cake-far", "codel-far")
    goodputs, delays = (
        [_one(cells, "reno", metric, scheme, "docsis") for scheme in schemes]
        for metric in ("goodput", "delay_mean")
    )
    words = ", ".join(
        f"{scheme} {goodput:.1f} Mbps and {delay:.1f} ms"
        for scheme, goodput, delay in zip(schemes, goodputs, delays, strict=True)
    )
    return Verdict(goodputs[0] > max(goodputs[1:]) and delays[0] < 10, words)


def _grants_in_every_queue(cells: Cells, runs: Runs) -> Verdict:
    link, docsis = (_cells(cells, "reno", "delay_mean", EVERYWHERE, links=[name]) for name in LINKS)
    words = f"{min(docsis):.1f} ms at least, on a plain link {min(link):.1f}"
    return Verdict(min(docsis) > 4 and min(link) < 2, words)
