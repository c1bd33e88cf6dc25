"""Lines whose rate changes, made from stated laws: `python lines.py FOLDER` writes their traces."""

import csv
import random
import sys
from math import exp, log, sqrt
from pathlib import Path


def satellite(rng, seconds, least_mbps, most_mbps):
    """A rate for each 15 s, whose logarithm is uniform between both; nothing for 0.2 s before each.

    Starlink gives each dish another satellite or beam every 15 s, and loses packets meanwhile.
    """
    steps, at_s = [], 0.0
    while at_s < seconds:
        steps += [(at_s, exp(rng.uniform(log(least_mbps), log(most_mbps)))), (at_s + 14.8, 0.0)]
        at_s += 15.0
    return steps


def mobile(rng, seconds, median_mbps, deviation=0.5, constant_s=5.0, step_s=0.1):
    """A rate for each 0.1 s: its logarithm is a first-order autoregressive process.

    It has a time constant of 5 s and a deviation of 0.5, a factor of 1.65, about the median: fading
    and the load of the cell change the rate of LTE so.
    """
    kept = exp(-step_s / constant_s)
    state, steps = rng.gauss(0.0, 1.0), []
    for number in range(round(seconds / step_s)):
        steps.append((round(number * step_s, 3), median_mbps * exp(deviation * state)))
        state = kept * state + sqrt(1 - kept**2) * rng.gauss(0.0, 1.0)
    return steps


LINES = {
    "satellite-down": (satellite, 40.0, 160.0),
    "satellite-up": (satellite, 6.0, 24.0),
    "mobile-down": (mobile, 25.0),
    "mobile-up": (mobile, 8.0),
}


def write(folder, seconds=120, seed=1):
    """Writes a trace for each line and direction into a folder."""
    for name, (law, *rates) in LINES.items():
        steps = law(random.Random(f"{name} {seed}"), seconds, *rates)
        with (Path(folder) / f"{name}.csv").open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["time_s", "mbps"])
            out.writerows((f"{at_s:g}", f"{mbps:.3f}") for at_s, mbps in steps)


if __name__ == "__main__":
    write(*sys.argv[1:])
