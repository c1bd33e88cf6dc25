"""Defaults that differ from the last release."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sojourn
from conftest import ROOT, Cli
from sojourn._sojourn import all_changed_defaults, schema_json
from sojourn.runs.changes import changelog_table

FORMER = ROOT / "tests" / "snapshots" / "defaults-0.2.0.json"
"""The defaults of the schema of 0.2.0, by table and key."""

SCENARIO = """
duration_s = 1
clock_drift_ppm = 0
upstream = { sustained_mbps = 5, peak_mbps = 5 }
downstream = { sustained_mbps = 20, peak_mbps = 20 }
servers.near.delay_ms = 10
tcp.interrupt_interval_us = 0
traffic.game = { kind = "stream", purpose = "game" }
traffic.film = { kind = "video" }
"""

GAME = 'traffic.game.direction: default is now "both"; direction = "up" restores 0.2.0'
FILM = 'traffic.film.ladder: default is now "apple_hls"; ladder = "hong2015" restores 0.2.0'


def defaults(node: Any, place: str = "Scenario") -> Iterator[tuple[str, Any]]:
    """All defaults of a schema. A table of a kind is named by it."""
    if isinstance(node, dict):
        kind = node.get("properties", {}).get("kind", {}).get("const")
        place = f"{place} {kind}" if kind else place
        for key, value in node.get("properties", {}).items():
            if isinstance(value, dict) and "default" in value:
                yield f"{place}.{key}", value["default"]
        for key, value in node.items():
            if key in ("oneOf", "anyOf", "allOf"):
                for one in value:
                    yield from defaults(one, place)
            elif key == "$defs":
                for name, one in value.items():
                    yield from defaults(one, name)


def _differing(key: str, former: Any, now: Any) -> Iterator[str]:
    """The keys with other defaults, of a table those in it. New keys of a table do not count."""
    if isinstance(former, dict) and isinstance(now, dict):
        for inner, value in former.items():
            yield from _differing(f"{key}.{inner}", value, now.get(inner))
    elif former != now:
        yield key


def test_each_default_that_differs_is_in_the_table() -> None:
    former, now = json.loads(FORMER.read_text()), dict(defaults(json.loads(schema_json())))
    assert len(former) > 200
    differ = {
        differing
        for key, value in former.items()
        for differing in _differing(key, value, now.get(key))
    }
    since, rows = all_changed_defaults()
    # Keys that 0.2.0 had not, for rules that it had.
    new = {
        "rate_estimate",
        "grant_place",
        "host_jitter_us",
        "interrupt_interval_us",
        "clock_drift_ppm",
    }
    listed = {row[0].rpartition(".")[2] for row in rows} - new
    assert since == "0.2.0"
    assert not any(key.rpartition(".")[2] in new for key in former)
    assert {key.rpartition(".")[2].removesuffix("_mbps") for key in differ} == listed


def test_a_change_is_listed_unless_the_scenario_names_the_key(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO)
    said = cli.printed("validate", path)
    assert said.splitlines() == [f"{path}: valid", GAME, FILM]
    restored = cli("validate", path, "--set", "traffic.game.direction=up")
    assert restored.stdout.splitlines() == [f"{path}: valid", FILM]
    assert [str(change) for change in sojourn.changes(path)] == [GAME, FILM]
    (change,) = sojourn.changes(SCENARIO, set={"traffic.game.direction": "both"})
    assert (change.key, change.before, change.now) == (
        "traffic.film.ladder",
        '"hong2015"',
        '"apple_hls"',
    )


def test_a_change_of_one_variant_is_listed_with_its_name(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    one_way = "\n[compare.one-way]\ntraffic.game.direction = 'up'\n[compare.both]\n"
    path.write_text(SCENARIO + one_way)
    lines = cli("validate", path).stdout.splitlines()
    assert lines[1:] == [FILM, f"both: {GAME}"]
    assert [change.variant for change in sojourn.changes(path)] == ["one-way", "both", "both"]
    set_in_variant = cli("validate", path, "--set", "compare.both.traffic.game.direction=down")
    assert set_in_variant.stdout.splitlines()[1:] == [FILM]


def test_the_restored_default_gives_the_former_scenario() -> None:
    restored = {"traffic.game.direction": "up", "traffic.film.ladder": "hong2015"}
    assert sojourn.changes(SCENARIO, set=restored) == []


PLAIN = """
duration_s = 1
upstream = { sustained_mbps = 5, peak_mbps = 5, modem.kind = "link" }
downstream = { sustained_mbps = 20, peak_mbps = 20 }
servers.near.delay_ms = 10
traffic.save.kind = "transfer"
"""


def test_hosts_of_plain_links_have_other_defaults() -> None:
    keys = {change.key for change in sojourn.changes(PLAIN)}
    assert keys == {
        "clock_drift_ppm",
        "servers.near.host_jitter_us",
        "tcp.interrupt_interval_us",
    }
    assert not sojourn.changes(f"dialect = 'ns2'{PLAIN}")


def test_the_changelog_has_the_table() -> None:
    assert changelog_table() in (ROOT / "CHANGELOG.md").read_text()
