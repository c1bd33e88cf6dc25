"""The documentation does what it says: its commands run, its code runs, its scenarios are valid.

Blocks marked `sh` and `python` are run, page by page, where the scenarios are. `console` shows
commands that need something else, such as a cluster. A block marked `toml` is a whole scenario, or
keys of one. If its first line names a file, the commands of the page find it under that name.
"""

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import sojourn
from conftest import PATIENT_S, ROOT
from sojourn.analysis.groups import Results
from sojourn.analysis.measures import flows_of, transfers
from sojourn.analysis.tables import RunTables
from sojourn.cli.app import application
from sojourn_docs import busy_hour, live
from sojourn_docs.figures import TABLES, drawings, renewed, standalone
from sojourn_docs.gallery import SCENARIOS, Case, with_router_table
from sojourn_docs.site import broken_links, generated, with_direct_links

# Another page's numbers: studies take minutes.
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
STUDIES = ROOT / "docs" / "studies.md"

# Enough for every command to have something to show.
BRIEF_S = 3

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\S+\.toml)(, continued)?\n")
_DURATION = re.compile(r"^duration_s = \d+", re.MULTILINE)

_BASE = """
duration_s = 1
upstream.sustained_mbps = 5
downstream.sustained_mbps = 50
servers.near.delay_ms = 9
servers.files.delay_ms = 9
servers.friend.delay_ms = 9
servers.peer.delay_ms = 9
servers.web.delay_ms = 9
traffic.upload = { kind = "transfer", server = "files" }
"""


def blocks(page: Path, *languages: str) -> Iterator[tuple[str, str]]:
    """The blocks in these languages, in the order of the page."""
    for language, text in _BLOCK.findall(page.read_text()):
        if language in languages:
            yield language, text


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


WITH_COMMANDS = [page for page in PAGES if page != STUDIES and any(blocks(page, "sh", "python"))]
WITH_SCENARIOS = [page for page in PAGES if page != STUDIES and any(blocks(page, "toml"))]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forked: list[str]) -> Path:
    """A directory like the repository's, in which scenarios are short."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    shutil.copytree(ROOT / "docs" / "own", tmp_path / "docs" / "own")
    for scenario in (tmp_path / "scenarios").rglob("*.toml"):
        scenario.write_text(_short(scenario.read_text()))
    data = ROOT / "tests" / "data"
    for file in [*(data / "modem-configs").glob("*.cm"), *(data / "logs").iterdir()]:
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "bin" / "sojourn"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {shlex.join(forked)} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=named)
def test_commands_and_code_run(page: Path, place: Path) -> None:
    for language, text in blocks(page, "sh", "python", "toml"):
        if language == "toml":
            _save(text, place)
        elif language == "sh":
            done = subprocess.run(
                ["bash", "-euc", text], capture_output=True, text=True, timeout=PATIENT_S
            )
            assert done.returncode == 0, done.stderr
        else:
            exec(compile(text, named(page), "exec"), {})


def test_rust_is_from_the_examples() -> None:
    page = ROOT / "docs" / "how-to" / "own-parts.md"
    crates = ROOT / "crates"
    examples = [*crates.glob("sojourn/examples/*.rs"), *crates.glob("sojourn-own-parts/src/*.rs")]
    code = "\n".join(example.read_text() for example in examples)
    shown = [text for _, text in blocks(page, "rust")]
    assert shown
    assert [text for text in shown if text not in code] == []


def test_the_law_of_the_page_is_its_file() -> None:
    page = ROOT / "docs" / "how-to" / "own-aqm.md"
    shown = next(text for _, text in blocks(page, "python"))
    assert (ROOT / "docs" / "own" / "codel.py").read_text().endswith(shown)


def test_the_controller_of_the_page_is_its_file() -> None:
    page = ROOT / "docs" / "how-to" / "autorate.md"
    shown = next(text for _, text in blocks(page, "python"))
    assert shown in (ROOT / "docs" / "own" / "follow.py").read_text()


@pytest.mark.parametrize("page", WITH_SCENARIOS, ids=named)
def test_scenarios_are_valid(page: Path, place: Path) -> None:
    whole: dict[str, Any] = {}
    for _, text in blocks(page, "toml"):
        document = tomllib.loads(text)
        if "scenario" in document:  # a sweep, which the commands of the page run
            continue
        is_continued = (found := _FILE.match(text)) is not None and found[2] is not None
        whole = _merged(whole if is_continued else {}, document)
        is_whole = "duration_s" in whole
        assert sojourn.load(whole if is_whole else _merged(tomllib.loads(_BASE), whole))


def test_every_command_is_in_the_reference() -> None:
    page = generated()["reference/command-line.md"]
    for command in application().registered_commands:
        assert command.callback
        assert f"## `sojourn {command.callback.__name__}`" in page


def test_every_command_that_prints_json_is_in_its_reference() -> None:
    page = (ROOT / "docs" / "reference" / "json.md").read_text()
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    commands = [command.callback for command in application().registered_commands]
    printing = {one.__name__ for one in commands if one and "as_json" in signature(one).parameters}
    assert printing == rows and len(rows) > 4
    first = page.partition("print one JSON object")[0]
    assert all(f"`{name}`" in first.replace("sojourn ", "") for name in rows)


def test_every_key_is_in_the_reference() -> None:
    """Each key of a scenario with all defaults has a heading, with its default or as required."""
    pages = generated()
    variant = sojourn.load(ROOT / "scenarios" / "upload.toml")[0]
    for section, value in tomllib.loads(variant.to_toml()).items():
        if isinstance(value, Mapping) and section in ("upstream", "downstream", "metrics"):
            page = pages[f"reference/scenario/{section}.md"]
            assert [key for key in value if f"# `{section}.{key}`" not in page] == []
    upstream = pages["reference/scenario/upstream.md"]
    assert (
        "### `upstream.sustained_mbps`\n\n"
        "Number. Unit: Mbps. Range: 0.001 to 100000. Required. May change in a run.\n\n" in upstream
    )
    assert '## `queue.law.kind = "codel"`' in pages["reference/scenario/queue.md"]
    assert "Unit: ms. Range: 0.01 to 10000. Default: `5.0`." in pages["reference/scenario/queue.md"]


def test_python_names_are_in_the_reference() -> None:
    page = generated()["reference/python.md"]
    for name in set(dir(sojourn)) - {"__version__"}:
        assert f"## `sojourn.{name}`" in page
    assert "run(\n    scenario: Scenario,\n    *,\n    seed: int | None = None," in page
    assert "### `flows`" in page
    assert "def to_toml(self) -> str: ..." in page


def test_every_generated_page_is_in_the_navigation() -> None:
    config = (ROOT / "zensical.toml").read_text()
    for name in (*generated(), "gallery.md"):
        assert f'"docs/{name}"' in config


def test_cases_in_pages_become_live_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = {path.stem.split("-", 1)[1] for path in SCENARIOS}
    found = [
        case for page in PAGES for case in re.findall("<!-- live: (.*?) -->", page.read_text())
    ]
    assert len(found) >= 5 and set(found) <= cases
    text = "before\n<!-- live: codel -->\nafter"
    monkeypatch.setattr(live, "is_built", lambda: True)
    placed = live.with_live_figures(text, depth=1)
    assert 'src="../lab/index.html#case=codel"' in placed
    # Without the page's module nothing is left, and no link leads nowhere.
    monkeypatch.setattr(live, "is_built", lambda: False)
    assert live.with_live_figures(text) == "before\n\nafter"
    assert "href" not in live.link("codel")


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "there.html").write_text('<a href="#here">')
    (tmp_path / "index.html").write_text(
        '<a href="there.html#x"><a href="https://example.org/"><img src="img/none.svg">'
    )
    assert broken_links(tmp_path) == ["index.html: img/none.svg"]


@pytest.mark.parametrize("page", TABLES)
def test_tables_are_those_of_runs_and_of_what_is_recorded(page: str) -> None:
    """`make figures` renews them, those of BENCHMARKS.md after `make record`."""
    assert renewed(page) == (ROOT / page).read_text()


def test_the_table_of_cake_in_a_router_is_that_of_a_run() -> None:
    """`make figures` renews it."""
    page = (ROOT / "docs" / "how-to" / "cake-router.md").read_text()
    assert with_router_table(page) == page


def test_the_busy_hour_is_that_of_its_file() -> None:
    """`python -m sojourn_docs.busy_hour` measures it again."""
    assert busy_hour.table() in (ROOT / "docs" / "plant.md").read_text()
    case = busy_hour.scenario("sc_qam", 10, 30)
    result = sojourn.run(case)
    used = result.channels.to_pylist()[0]["utilisation_percent"]
    assert 30 < used < 40  # small grants have headers of their own


def test_figures_have_grounds_for_light_and_dark() -> None:
    chart = drawings()["game-latency"]
    svg = standalone(chart, "game-latency").decode()
    assert "prefers-color-scheme:dark" in svg
    assert "background:var(--ground)" in svg
    names = {path.stem for path in (ROOT / "docs" / "img").glob("*.svg")}
    # One request and its grant are drawn by hand.
    assert names == {*drawings(), "request-grant"}


@dataclass(frozen=True)
class Shown:
    """What the sentences of a gallery scenario are about, in one variant."""

    rates: Mapping[str, float]
    """Of transfers, in Mbps."""
    latency_ms: float | None
    """The game's, 90 % of its packets."""
    mos: float | None
    """Of the first call."""
    calls: Mapping[str, float]
    """The opinion score of each call upstream."""
    page_s: float | None
    round_trip_ms: float | None
    """The game's, 90 % of them."""
    call_ms: float | None
    """The frames' of a video call, 90 % of them."""
    game_mos: float | None
    """A cloud game's."""
    rpm: float | None
    """Of a test of responsiveness."""
    rpm_before_load: float | None
    waits: Mapping[str, float]
    """The game's mean delay in ms by its parts, both directions together."""


def shown(runs: Results) -> list[Shown]:
    """Of each variant, in the order of the file."""
    return [_shown(group.first) for group in runs.groups if group.variant != "idle line"]


def _shown(run: RunTables) -> Shown:
    def first(quality: str, column: str) -> float | None:
        values = (row[column] for row in flows_of(quality)(run))
        return next((value for value in values if value is not None), None)

    rows = [row for way in ("up", "down") for row in transfers(way)(run)]
    rates = {row["traffic"]: row["throughput_mbps"] for row in rows}
    game, mos = first("game", "latency_p90_ms"), first("voice", "mos")
    calls = {
        row["traffic"]: row["mos"]
        for row in flows_of("voice")(run)
        if row["direction"] == "up" and row["mos"] is not None
    }
    page_s, round_trip_ms = first("pages", "page_load_median_s"), first("game", "rtt_p90_ms")
    flows = run.flows.to_pylist()

    def of_today(column: str) -> float | None:
        return next((row[column] for row in flows if row[column] is not None), None)

    today = map(of_today, ("frame_latency_p90_ms", "game_mos", "rpm", "rpm_before_load"))
    waits: dict[str, float] = {}
    for row in run.delay_parts.to_pylist():
        if row["traffic"] == "game":
            waits[row["part"]] = waits.get(row["part"], 0) + row["mean_ms"]
    return Shown(rates, game, mos, calls, page_s, round_trip_ms, *today, waits)


def bufferbloat(small: Shown, medium: Shown, large: Shown) -> None:
    # 64 kB, 256 kB and 1 MB at 10 Mbps: 51, 205 and 800 ms, and 10 to 16 ms besides.
    for variant, full_ms in ((small, 51.2), (medium, 204.8), (large, 800)):
        assert full_ms - 10 < variant.latency_ms < full_ms + 16
    assert large.rates["upload"] == pytest.approx(small.rates["upload"], rel=0.02)


def codel(drop_tail: Shown, short: Shown, covering: Shown) -> None:
    assert max(short.latency_ms, covering.latency_ms) < drop_tail.latency_ms / 5
    rate = drop_tail.rates["upload"]
    assert short.rates["upload"] < 0.95 * rate < 0.98 * rate < covering.rates["upload"]


def docsis_pie(drop_tail: Shown, short: Shown, long: Shown) -> None:
    assert drop_tail.page_s > 3 * max(short.page_s, long.page_s)
    assert short.rates["uploads"] < long.rates["uploads"]
    assert drop_tail.mos < 4 < 4.2 < min(short.mos, long.mos)


def sfq_codel(codel: Shown, sfq: Shown) -> None:
    assert codel.rates["near_upload"] > 3.5 * codel.rates["far_upload"]
    assert sfq.rates["near_upload"] < 1.5 * sfq.rates["far_upload"]
    assert sfq.latency_ms < codel.latency_ms / 2


def bittorrent(cubic: Shown, ledbat: Shown, managed: Shown) -> None:
    assert ledbat.rates["upload"] > 8 > 2 > cubic.rates["upload"]
    assert managed.rates["torrent"] > managed.rates["upload"]
    assert managed.mos > 4.15 > 4.05 > max(cubic.mos, ledbat.mos)


def tiers(caps: Shown, weights: Shown) -> None:
    wanted = {"small_download": 10, "large_download": 25}
    assert caps.rates == pytest.approx(wanted, rel=0.02)
    wanted = {"small_download": 35 / 4, "large_download": 35 * 3 / 4}
    assert weights.rates == pytest.approx(wanted, rel=0.02)


def shared_channel(one: Shown, ten: Shown, thirty: Shown, *_: Shown) -> None:
    assert one.latency_ms < ten.latency_ms / 1.3
    assert ten.latency_ms < thirty.latency_ms / 1.2
    assert thirty.rates["uploads"] == pytest.approx(ten.rates["uploads"], rel=0.02)


def fibre(*variants: Shown) -> None:
    cable_idle, fibre_idle, cable_full, fibre_full, *_ = (v.latency_ms for v in variants)
    assert 5 < cable_idle - fibre_idle < 8
    assert fibre_full == pytest.approx(cable_full, rel=0.02)


def cmts(drop_tail: Shown, codel: Shown, fq: Shown, *_: Shown) -> None:
    assert drop_tail.latency_ms > 200 > 30 > codel.latency_ms > fq.latency_ms
    assert sum(fq.rates.values()) == pytest.approx(sum(drop_tail.rates.values()), rel=0.01)


def abb(one: Shown, abb: Shown, drr: Shown) -> None:
    offered = {"send_2": 2, "send_6": 6, "send_12": 12, "send_20": 20, "send_30": 30}
    # 38 Mbps in proportion to 70; by max-min 2 and 6 in full, and 10 for each of the others.
    assert one.rates == pytest.approx({k: v * 38 / 70 for k, v in offered.items()}, rel=0.25)
    fair = {k: min(v, 10) for k, v in offered.items()}
    assert drr.rates == pytest.approx(fair, rel=0.02)
    assert abb.rates == pytest.approx(fair, rel=0.2)


def low_latency(drop_tail: Shown, pie: Shown, lld: Shown, granted: Shown, *_: Shown) -> None:
    # Without a request-grant loop a packet waits for the next grant, 2 ms at most.
    assert drop_tail.latency_ms > 200 > 30 > pie.latency_ms > lld.latency_ms + 10
    assert granted.latency_ms < lld.latency_ms - 3
    assert granted.rates["upload"] == pytest.approx(drop_tail.rates["upload"], rel=0.02)


def l4s(drop_tail: Shown, one: Shown, two: Shown) -> None:
    assert one.rates["prague"] == pytest.approx(13 * one.rates["cubic"], rel=0.1)
    # Behind a queue that drops, both take minutes to find their shares.
    assert drop_tail.rates["cubic"] > drop_tail.rates["prague"]
    assert two.rates["cubic"] < two.rates["prague"] < 2 * two.rates["cubic"]


def router(modem: Shown, shaper: Shown, too_fast: Shown, *_: Shown) -> None:
    assert min(modem.round_trip_ms, too_fast.round_trip_ms) > 180 > 40 > shaper.round_trip_ms
    assert shaper.rates["upload"] == pytest.approx(0.9 * modem.rates["upload"], rel=0.07)


def cake_router(drop_tail: Shown, pie: Shown, cake: Shown, *_: Shown) -> None:
    assert drop_tail.round_trip_ms == pytest.approx(300, abs=10)
    assert pie.round_trip_ms == pytest.approx(80, abs=5)
    assert cake.round_trip_ms == pytest.approx(26, abs=1)
    # 7.62 of 7.75 Mbps up, 42.6 of 43.0 down.
    assert cake.rates == pytest.approx(pie.rates, rel=0.03)


def satellite(alone: Shown, least: Shown, follows: Shown, *_: Shown) -> None:
    assert alone.round_trip_ms > 500 > 120 > follows.round_trip_ms > least.round_trip_ms
    kept = kept_rates(alone, least, follows)
    assert kept["download"] == pytest.approx([0.5, 1], abs=0.08)
    assert kept["upload"] == pytest.approx([0.4, 0.75], abs=0.04)


def mobile(alone: Shown, least: Shown, follows: Shown, *_: Shown) -> None:
    assert alone.round_trip_ms > 2000 > 130 > follows.round_trip_ms > 60 > least.round_trip_ms
    kept = kept_rates(alone, least, follows)
    assert kept["download"] == pytest.approx([0.5, 0.95], abs=0.04)
    assert kept["upload"] == pytest.approx([0.5, 0.8], abs=0.04)


def kept_rates(alone: Shown, *others: Shown) -> dict[str, list[float]]:
    """The shares of the rates of one setting that others have, by entry."""
    return {name: [one.rates[name] / rate for one in others] for name, rate in alone.rates.items()}


def wifi(drop_tail: Shown, pie: Shown, fq: Shown) -> None:
    assert drop_tail.round_trip_ms > 300 > 150 > pie.round_trip_ms > 100 > 25 > fq.round_trip_ms
    # 56 of the 68 ms beside propagation, and 0.7 of 9.4.
    in_line = [one.waits["modem_queue"] + one.waits["cmts_queue"] for one in (pie, fq)]
    assert in_line[0] > 0.75 * (pie.waits["total"] - pie.waits["propagation"])
    assert in_line[1] < 1 < fq.waits["router_queue"]


def today(drop_tail: Shown, pie: Shown, cake: Shown, idle: Shown, *_: Shown) -> None:
    assert drop_tail.game_mos < min(pie.game_mos, cake.game_mos, idle.game_mos) - 1
    assert drop_tail.page_s > 4 * idle.page_s and max(pie.page_s, cake.page_s) < 1.5 * idle.page_s
    # 250 ms of buffer.
    assert drop_tail.call_ms > idle.call_ms + 200 > pie.call_ms + 150 > cake.call_ms + 150
    assert drop_tail.rates["upload"] > pie.rates["upload"] > cake.rates["upload"]


def responsiveness(drop_tail: Shown, pie: Shown, fq: Shown, *_: Shown) -> None:
    # 256 kB at 10 Mbps, propagation, and the modem's wait for requests and grants.
    full_ms, way_ms = 256 * 8 / 10, 18 + 5
    assert drop_tail.rpm == pytest.approx(60_000 / (full_ms + way_ms), rel=0.1)
    assert drop_tail.rpm_before_load == pytest.approx(60_000 / way_ms, rel=0.03)
    assert drop_tail.rpm_before_load > 10 * drop_tail.rpm and 1000 < pie.rpm < fq.rpm


def high_split(low: Shown, high: Shown, *_: Shown) -> None:
    assert low.mos < 2 < 4.2 < high.mos
    assert high.rates["photos_of_street"] > 3 * low.rates["photos_of_street"]


def mixed_modems(low: Shown, mid: Shown, high: Shown, *_: Shown) -> None:
    # The call of our modem, which is a new one, and those of old ones.
    assert {*low.calls} == {"call", "old_call"}
    assert max(low.calls.values()) < 2 < 4.1 < min(mid.calls.values())
    assert mid.calls["old_call"] < high.calls["old_call"]
    # New ones nearly fill 40 MHz, but not 134.
    rate, room = mid.rates["new_photos"], high.rates["new_photos"]
    assert 3 * low.rates["new_photos"] < rate < 0.85 * room
    # They leave more of the single carriers to old ones.
    assert 3 * low.rates["old_photos"] < mid.rates["old_photos"] < high.rates["old_photos"]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_gallery_shows_what_it_says(path: Path) -> None:
    case = Case.run(path)
    codes = {one.code for group in case.results.groups for one in group.first.warnings}
    # What a case shows may be that nothing watches a queue, that an algorithm or a router did
    # nothing, or how uploads begin.
    assert codes <= {"unwatched", "aqm-never-acted", "idle-router", "early-tail"}
    claims = globals()[case.name.replace("-", "_")]  # what its description claims
    claims(*shown(case.results))
    assert f"](img/gallery-{case.name}.svg)" in "\n\n".join(case.section())


def _short(text: str) -> str:
    return _DURATION.sub(f"duration_s = {BRIEF_S}", text)


def _save(text: str, place: Path) -> None:
    """Writes a block to the file that its first line names."""
    if found := _FILE.match(text):
        with (place / found[1]).open("a" if found[2] else "w") as file:
            file.write(_short(text))


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    both = {
        key: _merged(below[key], value)
        for key, value in above.items()
        if isinstance(value, dict) and isinstance(below.get(key), dict)
    }
    return {**below, **above, **both}


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: page.name)
def test_links_of_the_repository_lead_to_files(page: Path) -> None:
    """On the site a link may lead to a generated page instead, which must be there too."""
    links = re.findall(r"\]\(([^)\s#]+)(?:#([^)\s]+))?\)", page.read_text())
    local = [(path, part) for path, part in links if "://" not in path]
    assert [path for path, _ in local if not (page.parent / path).exists()] == []
    to_generated = [part for path, part in local if path.endswith("reference/README.md") and part]
    there = {name.removesuffix(".md") for name in (*generated(), "gallery.md")}
    assert set(to_generated) <= there


def test_the_site_links_to_generated_pages_themselves() -> None:
    keys, cases = "../reference/README.md#reference/scenario/queue", "reference/README.md#gallery"
    text = f"[Keys]({keys}), [cases]({cases})"
    direct = "[Keys](../reference/scenario/queue.md), [cases](gallery.md)"
    assert with_direct_links(text) == direct
