"""What the measurements of the kernel show, tested on cells."""

from ..framework.cases import Runs
from ..framework.claims import Cells, Verdict

_MOST_GOODPUT = 1448 / 1500
"""Payload of a full segment over its IP bytes."""


def _by_link(cells: Cells, metric: str, control: str) -> dict[str, float]:
    """By link `r5_rtt20_b50` the paced upload with this congestion control."""
    found = cells.all(metric, table=control, scheme="paced")
    prefix = f"a_{control}_f1_"
    of_links = {name: value for name, value in found.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): value for name, value in of_links.items()}


def _no_timeout(cells: Cells, runs: Runs) -> Verdict:
    timeouts = sum(cells.all("timeouts").values())
    return Verdict(timeouts == 0, f"{timeouts:.0f} timeouts")


def _longer_queue(cells: Cells, runs: Runs) -> Verdict:
    reno, cubic = (_by_link(cells, "qdelay_mean", control) for control in ("reno", "cubic"))
    ratios = [cubic[link] / reno[link] for link in reno]
    numbers = f"{min(ratios):.2f} to {max(ratios):.2f} times as long on {len(ratios)} links"
    return Verdict(min(ratios) > 1, numbers)


def _fewer_at_start(cells: Cells, runs: Runs) -> Verdict:
    def at_start(control: str) -> dict[str, float]:
        whole, later = (_by_link(cells, m, control) for m in ("drops_all", "drops"))
        return {link: whole[link] - later[link] for link in whole if link.endswith("_b250")}

    reno, cubic = at_start("reno"), at_start("cubic")
    words = [f"{cubic[link]:.0f} and {reno[link]:.0f}" for link in reno]
    return Verdict(all(cubic[link] <= reno[link] / 2 for link in reno), "; ".join(words))


def _fills_the_link(cells: Cells, runs: Runs) -> Verdict:
    def shares(control: str) -> dict[str, float]:
        found = _by_link(cells, "goodput", control)
        rates = {link: float(link.split("_")[0].removeprefix("r")) for link in found}
        return {link: found[link] / rates[link] / _MOST_GOODPUT for link in found}

    reno, cubic = shares("reno"), shares("cubic")
    short = reno.pop("r5_rtt100_b50")
    least = min(*reno.values(), *cubic.values())
    numbers = f"Reno {100 * short:.1f} % there; the least of the others {100 * least:.1f} %"
    return Verdict(short < 0.95 and least > 0.99, numbers)


def _pacing(cells: Cells, runs: Runs) -> Verdict:
    paced, unpaced = (
        cells.known("drops", experiment="a_reno_f1_r5_rtt20_b50", scheme=scheme)
        for scheme in ("paced", "unpaced")
    )
    numbers = f"{unpaced:.0f} drops without pacing, {paced:.0f} with it"
    return Verdict(abs(unpaced / paced - 1) < 0.05, numbers)
