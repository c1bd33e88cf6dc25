"""What Hong 2015 computes without a simulation: fair shares and the bounds of bins."""

import math
from collections.abc import Sequence

from sojourn._sojourn import max_min

from .cases import EXAMPLE_MBPS, load_of

EXAMPLE_CAPS_MBPS = {"T1": 8.0, "T2": 16.0, "T4": 32.0}
EXAMPLE_WEIGHTS = {"T1": 1.0, "T2": 2.0, "T4": 4.0}

CAPACITY_MBPS = 38.0


def tier_example(scheme: str, tier: str) -> float:
    """Table 3.1: three flows on 35 Mbps, by caps or by weights."""
    if scheme == "conventional-tiering":
        shares = max_min(35, list(EXAMPLE_CAPS_MBPS.values()), [1.0] * 3)
    else:
        shares = max_min(35, [math.inf] * 3, list(EXAMPLE_WEIGHTS.values()))
    return dict(zip(EXAMPLE_CAPS_MBPS, shares, strict=True))[tier]


def tiers(experiment: str, is_weighted: bool, load: str, tier: str) -> float:
    """Section 4.3: Tier-1 flows and one Tier-2 flow with service rates and, perhaps, weights."""
    factor = 4.0 if experiment == "TIER-bonded" else 1.0
    low = load_of(load)["t1"]
    caps = [6 * factor] * low + [12 * factor]
    weights = [1.0] * low + [2.0 if is_weighted else 1.0]
    shares = max_min(CAPACITY_MBPS * factor, caps, weights)
    return shares[-1 if tier == "T2" else 0]


def example(number: int) -> float:
    """Table 5.1: the fair share of source `number` from 1."""
    demands = [float(rate) for rate in EXAMPLE_MBPS]
    return max_min(CAPACITY_MBPS, demands, [1.0] * len(demands))[number - 1]


def break_points(capacity: float, demands: Sequence[float], most: int) -> list[float]:
    """Section 5.1.2.3: what is left for the unsatisfied, at each step; at most `most` steps."""
    bounds: list[float] = []
    satisfied: list[float] = []
    unsatisfied = sorted(demands)
    while unsatisfied and len(bounds) < most:
        bound = (capacity - math.fsum(satisfied)) / len(unsatisfied)
        bounds.append(bound)
        satisfied += [rate for rate in unsatisfied if rate <= bound]
        unsatisfied = [rate for rate in unsatisfied if rate > bound]
    return bounds


def bin_of(rate: float, bounds: Sequence[float]) -> int:
    """The first bin whose bound a rate does not exceed, from 1."""
    return next(number for number, bound in enumerate(bounds, 1) if rate <= bound)
