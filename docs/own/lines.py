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


def wifi(rng, seconds, mbps):
    """A rate with pauses of 50 to 300 ms, whose gaps are exponential with a mean of 2 s.

    A radio that scans other channels, or that others keep silent, sends nothing meanwhile.
    """
    steps, at_s = [(0.0, mbps)], 0.0
    while True:
        begins_s = round(at_s + 0.05 + rng.expovariate(1 / 2), 2)
        at_s = round(begins_s + rng.uniform(0.05, 0.3), 2)
        if at_s >= seconds:
            return steps
        steps += [(begins_s, 0.0), (at_s, mbps)]


LINES = {
    "satellite": {"up": (satellite, 6.0, 24.0), "down": (satellite, 40.0, 160.0)},
    "mobile": {"up": (mobile, 8.0), "down": (mobile, 25.0)},
}

HOME = """\
title = "A {line} line"
duration_s = {seconds}
baseline = false
upstream.sustained_mbps = 1000
upstream.modem.kind = "link"
upstream.queue.limit_bytes = 500_000
upstream.capacity.file = "{line}-up.csv"
downstream.sustained_mbps = 1000
downstream.queue.limit_bytes = 2_000_000
downstream.capacity.file = "{line}-down.csv"
servers.near = {{ delay_ms = 20, rate_mbps = 10_000 }}

[traffic]
game = {{ kind = "stream", purpose = "game" }}
upload = {{ kind = "transfer", direction = "up" }}
download = {{ kind = "transfer", direction = "down", connections = 2 }}

[compare]
none = {{}}
"slow shaper" = {{ {slow} }}
"fast shaper" = {{ {fast} }}
autorate = {{ {fast}, {controller} }}
"autorate one way" = {{ {fast}, {one_way} }}
"""
SHAPER = 'router.{way} = {{ rate_mbps = {mbps:g}, queue.scheduler.kind = "cake" }}'
CONTROLLER = (
    'router.controller = {{ kind = "autorate", max_up_mbps = {up:g}, max_down_mbps = {down:g}, '
    "one_way = {one_way} }}"
)
SHAPERS = {
    "satellite": {"slow": (6, 40), "fast": (12, 80), "most": (24, 160)},
    "mobile": {"slow": (3, 10), "fast": (8, 25), "most": (16, 50)},
}
"""Rates up and down: the line is rarely slower than `slow`, and half of the time than `fast`."""


def home(line, seconds):
    """The scenario of a line: without a router, with fixed shapers, and with `autorate`."""
    shapers = {
        name: ", ".join(
            SHAPER.format(way=way, mbps=mbps)
            for way, mbps in zip(("upstream", "downstream"), rates, strict=True)
        )
        for name, rates in SHAPERS[line].items()
    }
    up, down = SHAPERS[line]["most"]
    controller, one_way = (
        CONTROLLER.format(up=up, down=down, one_way=one_way) for one_way in ("false", "true")
    )
    return HOME.format(
        line=line, seconds=seconds, controller=controller, one_way=one_way, **shapers
    )


def write(folder, seconds=120, seed=1):
    """Writes the traces of each line and its scenario into a folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for line, ways in LINES.items():
        for way, (law, *rates) in ways.items():
            steps = law(random.Random(f"{line} {way} {seed}"), seconds, *rates)
            with (folder / f"{line}-{way}.csv").open("w", newline="") as file:
                out = csv.writer(file)
                out.writerow(["time_s", "mbps"])
                out.writerows((f"{at_s:g}", f"{mbps:.3f}") for at_s, mbps in steps)
        (folder / f"{line}.toml").write_text(home(line, seconds))


if __name__ == "__main__":
    write(*sys.argv[1:])
