"""Lines of other kinds in the gallery are made by the laws of docs/own/lines.py alone."""

import random
import tomllib
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
LAWS = run_path(str(ROOT / "docs/own/lines.py"))
GALLERY = ROOT / "scenarios/gallery"

Law = Callable[..., Iterable[tuple[float, float]]]


def steps(
    law: str, name: str, seconds: float, *given: float, **keys: float
) -> list[dict[str, Any]]:
    """The steps of a trace that a law draws."""
    points = [*LAWS[law](random.Random(name), seconds, *given, **keys), (seconds, 0.0)]
    return [
        {"for_s": round(to_s - from_s, 3), "mbps": round(mbps, 1)}
        for (from_s, mbps), (to_s, _) in pairwise(points)
    ]


def with_delays(all_steps: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Each satellite is 0 to 12 ms farther than the nearest."""
    draw = random.Random(name)
    for first, gap in zip(all_steps[::2], all_steps[1::2], strict=True):
        first["delay_ms"] = gap["delay_ms"] = round(draw.uniform(0, 12), 1)
    return all_steps


def traces() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """By gallery case and direction."""
    both = {"downstream": "down", "upstream": "up"}
    rates = {"down": (40, 160), "up": (6, 24)}
    medians = {"down": 25, "up": 8}
    return {
        "15-satellite": {
            key: with_delays(steps("satellite", f"satellite {way}", 120, *rates[way]), "delays")
            for key, way in both.items()
        },
        "16-mobile": {
            key: steps("mobile", f"mobile {way}", 60, medians[way], step_s=1.0)
            for key, way in both.items()
        },
        "17-wifi": {key: steps("wifi", "wifi", 30, 120) for key in both},
    }


def written(all_steps: list[dict[str, Any]]) -> str:
    """As the gallery has it."""
    tables = [", ".join(f"{key} = {value:g}" for key, value in one.items()) for one in all_steps]
    return "".join(f"    {{ {table} }},\n" for table in tables)


@pytest.mark.parametrize("case", traces())
def test_the_line_is_what_its_law_draws(case: str) -> None:
    scenario = tomllib.loads((GALLERY / f"{case}.toml").read_text())
    place = scenario["router" if case == "17-wifi" else "core"]
    place = place if case == "17-wifi" else place["radio"]
    for way, want in traces()[case].items():
        assert place[way]["capacity"]["steps"] == want, f"write this instead:\n{written(want)}"
