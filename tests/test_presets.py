"""A queue manager that is named as a preset has its keys, in shipped scenarios and on pages."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from sojourn._sojourn import presets_json

QUEUES = {one["label"]: one["queue"] for one in json.loads(presets_json()).values()}
STUDY = " (White & Rice 2013)"
LIMITS = {"limit_bytes", "limit_packets"}


def queues_in(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key, value in table.items():
        if key == "queue":
            yield value
        elif isinstance(value, dict):
            yield from queues_in(value)


def blocks(path: Path) -> list[str]:
    text = path.read_text()
    return [text] if path.suffix == ".toml" else re.findall("```toml\n(.*?)```", text, re.S)


NAMED = [
    (path, name.rpartition(", ")[2], queue)
    for path in sorted([*ROOT.glob("scenarios/**/*.toml"), *ROOT.glob("docs/**/*.md")])
    for block in blocks(path)
    for name, variant in tomllib.loads(block).get("compare", {}).items()
    for queue in queues_in(variant)
    if name.rpartition(", ")[2] in QUEUES
]


@pytest.mark.parametrize(("path", "name", "queue"), NAMED)
def test_a_variant_is_what_its_name_says(path: Path, name: str, queue: dict[str, Any]) -> None:
    if path.name == "home.toml":  # the home of that study
        assert queue in (QUEUES.get(name + STUDY), QUEUES[name])
    else:
        beside_limits = {key: queue[key] for key in queue.keys() - LIMITS}
        assert (beside_limits or QUEUES["drop-tail"]) == QUEUES[name]
