"""`sojourn init`: what it writes is valid and compares queue managers; runs add an idle line."""

import json
import tomllib
from functools import partial
from pathlib import Path

import pytest
import sojourn
from conftest import Cli
from sojourn.base.lookup import UnknownError
from sojourn.runs import draft as drafts
from sojourn.runs.draft import AQMS, NEIGHBOURS, USES, bytes_of

draft = partial(drafts.draft, neighbours="none")


@pytest.mark.parametrize("aqm", AQMS)
def test_each_queue_manager_and_all_uses_make_a_valid_scenario(aqm: str) -> None:
    text = draft(down_mbps=50, up_mbps=10, aqms=[aqm], uses=USES)
    names = [variant.name for variant in sojourn.load(text)]
    assert names[0] == "drop-tail"
    assert len(names) == (1 if aqm == "drop_tail" else 2)


def test_several_queue_managers_are_compared_and_low_latency_serves_game_and_call() -> None:
    text = draft(down_mbps=50, up_mbps=10, aqms=("docsis_pie", "low_latency", "docsis_pie"))
    comparison = sojourn.run(text, duration_s=12)
    assert list(comparison) == ["drop-tail", "DOCSIS-PIE", "LLD", "idle line"]
    packets = {
        row["queue"]: row["departed_packets"] for row in comparison["LLD"].queues.to_pylist()
    }
    assert 1190 < packets["upstream low_latency"] <= 1200  # those of game and call


def test_a_line_has_neighbours_unless_they_are_left_out() -> None:
    usual = drafts.draft(down_mbps=50, up_mbps=10, aqms=AQMS, uses=USES)
    assert usual == draft(
        down_mbps=50, up_mbps=10, aqms=AQMS, uses=USES, neighbours="neighbourhood"
    )
    assert sojourn.load(usual)
    assert "homes" not in tomllib.loads(draft(down_mbps=50, up_mbps=10))


def test_links_of_servers_are_faster_than_a_fast_service() -> None:
    servers = {
        mbps: tomllib.loads(draft(down_mbps=mbps, up_mbps=35))["servers"] for mbps in (499, 1000)
    }
    own = {name: {"delay_ms": 9} for name in ("game", "call", "near")}
    assert servers[499] == {**own, "far": {"delay_ms": 24}}
    assert {server["rate_mbps"] for server in servers[1000].values()} == {10_000}


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_every_server_of_a_draft_is_used(neighbours: str) -> None:
    for uses in [[use] for use in USES] + [list(USES)]:
        text = draft(down_mbps=50, up_mbps=10, uses=uses, neighbours=neighbours)
        found = tomllib.loads(text)
        traffic = found["traffic"].values()
        used = {name for one in traffic for name in one.get("servers", [one.get("server")])}
        assert set(found["servers"]) == used, uses


@pytest.mark.parametrize("neighbours", NEIGHBOURS[1:])
def test_a_hundred_homes_share_the_channels(neighbours: str) -> None:
    text = draft(down_mbps=50, up_mbps=10, aqms=["drop_tail"], uses=["game"], neighbours=neighbours)
    homes = tomllib.loads(text)["homes"]
    assert sum(home.get("count", 1) for home in homes.values()) == 101
    comparison = sojourn.run(text, duration_s=8)
    rows = comparison["drop-tail"].flows.to_pylist()
    (up,) = (row for row in rows if (row["traffic"], row["direction"]) == ("game", "up"))
    assert up["latency_p99_ms"] < 40, up
    with pytest.raises(UnknownError, match="allowed: none, neighbourhood, busy-hour"):
        draft(down_mbps=50, up_mbps=10, neighbours="many")


@pytest.mark.parametrize(("up_mbps", "channels"), [(90, None), (91, 1), (750, 1), (5250, 7)])
def test_the_channel_carries_the_service(up_mbps: float, channels: int | None) -> None:
    text = drafts.draft(down_mbps=100, up_mbps=up_mbps, aqms=["drop_tail"], uses=["game"])
    assert tomllib.loads(text)["upstream_channel"].get("channels") == channels
    flood = {
        "kind": "stream",
        "purpose": "data",
        "server": "game",
        "direction": "up",
        "interval_ms": 8e-3 * 1500 / up_mbps,
        "packet_bytes": 1500,
    }
    keys = {"traffic.flood": flood, "metrics.from_s": 0.3, "baseline": False}
    result = sojourn.run(text, duration_s=0.8, set=keys)
    (row,) = (row for row in result["drop-tail"].flows.to_pylist() if row["traffic"] == "flood")
    assert row["throughput_mbps"] > 0.95 * up_mbps


def test_a_service_that_no_cable_has_is_refused(cli: Cli, tmp_path: Path) -> None:
    for option, most in (("--up", 5250), ("--down", 10_000)):
        message = cli.refused("init", tmp_path / "mine.toml", option, most + 1)
        assert f"{option}: found {most + 1}; allowed: {most} Mbps or less" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--uses", "--aqm", "--neighbours"])
@pytest.mark.parametrize("written", ["Busy-Bee", "call:-1", "No_Such-One"])
def test_what_is_unknown_is_repeated_as_it_was_written(
    cli: Cli, tmp_path: Path, option: str, written: str
) -> None:
    message = cli.refused("init", tmp_path / "mine.toml", option, written)
    assert f"{option}: found '{written}'" in message


def test_a_rate_that_is_no_number_is_refused(cli: Cli, tmp_path: Path) -> None:
    for option, found in (("--up", "nan"), ("--down", "inf"), ("--up", "1000001")):
        message = cli.refused("init", tmp_path / "mine.toml", option, found)
        assert f"{option}: found {found}; allowed: " in message


def test_what_the_line_is_like_is_said_and_written(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    said = " ".join(cli("init", path, "--up", 2000).stdout.split())
    assert "the modem may send each 2 ms" in said and "the homes share 3 OFDMA" in said
    assert "the modem may send each 2 ms" in path.read_text()
    own = cli("init", tmp_path / "own.toml", "--up", 2000, "--neighbours", "none").stdout
    assert "no jitter" in own and "OFDMA" not in own


def test_a_draft_of_this_version_lists_no_changed_defaults(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    cli.printed("init", path)
    (valid,) = cli.printed("validate", path).splitlines()
    assert valid.startswith(f"{path}: valid (compares drop-tail, ")
    path.write_text(path.read_text().replace(sojourn.__version__, "0.2.0"))
    assert "default is now" in cli.printed("validate", path)


def test_the_command_to_run_it_can_be_pasted(cli: Cli, tmp_path: Path) -> None:
    written = cli("init", tmp_path / "my home.toml").stdout
    assert written.endswith(f"sojourn run '{tmp_path}/my home.toml' --out 'out/my home'\n")


def test_the_idle_line_has_nobody_who_fills_the_queue() -> None:
    uses = ("game", "upload", "upload", "download")
    text = draft(down_mbps=20, up_mbps=5, aqms=["docsis_pie"], uses=uses)
    comparison = sojourn.run(text, duration_s=5)
    rows = comparison["idle line"].flows.to_pylist()
    sent = {row["traffic"]: row["sent_packets"] for row in rows if row["direction"] == "up"}
    assert list(sent) == ["game"] and sent["game"] > 0


def test_the_command_writes_a_file_and_keeps_what_is_there(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    cli.printed("init", path, "--up", 5, "--buffer", "256kB", "--uses", "game, web")
    assert "idle line" not in path.read_text()  # nobody fills the queue
    assert "queue.limit_bytes = 256_000" in path.read_text()
    written = path.read_bytes()
    message = cli.refused("init", path)
    assert str(path) in message and "allowed: the path of a new file" in message
    assert path.read_bytes() == written
    assert written.startswith(b"#:schema ./scenario.schema.json\n")
    schema = json.loads((tmp_path / "scenario.schema.json").read_text())
    assert schema["$id"] == "urn:sojourn:scenario"


def test_a_direction_that_nothing_fills_is_named(cli: Cli, tmp_path: Path) -> None:
    for number, (uses, ways) in enumerate(
        [
            ("game,upload", ["downstream"]),
            ("game,torrent", ["downstream"]),
            ("game,download:2", ["upstream"]),
            ("game,upload,download", []),
        ]
    ):
        said = " ".join(cli("init", tmp_path / f"{number}.toml", "--uses", uses).stdout.split())
        named = [way for way in ("upstream", "downstream") if f"fills the {way} direction" in said]
        assert named == ways, said
        more = {"upstream": "upload", "downstream": "download"}
        assert all(f"--uses {uses},{more[way]} adds that" in said for way in ways)


def test_what_could_not_run_is_not_written(cli: Cli, tmp_path: Path) -> None:
    message = cli.refused("init", tmp_path / "mine.toml", "--buffer", "1kB")
    assert "error: --buffer: upstream.queue.limit_bytes: found 1000; allowed: " in message
    assert list(tmp_path.iterdir()) == []


def test_names_may_be_written_as_people_write_them(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    assert cli("init", path, "--aqm", "FQ-CoDel", "--uses", "Game").returncode == 0
    assert '[compare."FQ-CoDel"]' in path.read_text()
    refused = cli("init", tmp_path / "other.toml", "--aqm", "best")
    assert "--aqm: found 'best'; allowed: drop_tail, " in refused.stderr


def test_a_schema_of_something_else_is_kept(cli: Cli, tmp_path: Path) -> None:
    other = tmp_path / "scenario.schema.json"
    other.write_text("{}")
    message = cli.refused("init", tmp_path / "mine.toml")
    assert "found a file of something else" in message
    assert [path.name for path in tmp_path.iterdir()] == [other.name]
    assert cli("init", tmp_path / "mine.toml", "--no-schema").returncode == 0
    assert "#:schema" not in (tmp_path / "mine.toml").read_text()


def test_the_commented_keys_are_valid_too() -> None:
    text = draft(down_mbps=50, up_mbps=10)
    boosted = text.replace("# peak_mbps", "peak_mbps").replace("# burst_bytes", "burst_bytes")
    boosted = boosted.replace("# queue.limit_bytes", "queue.limit_bytes")
    assert boosted.count("\npeak_mbps") == boosted.count("\nburst_bytes") == 1
    assert sojourn.load(boosted)


def test_sizes_are_read_as_they_are_written() -> None:
    assert bytes_of("256kB") == 256_000
    assert bytes_of("1.5 MiB") == 1_572_864
    assert bytes_of("3044") == 3044
    for wrong in (f"1{400 * '0'}B", "0kB", "256 kilo", "-1", "", "1e3"):
        with pytest.raises(ValueError, match="allowed: a number above 0"):
            bytes_of(wrong)


def test_an_unknown_name_is_refused_with_the_list(cli: Cli, tmp_path: Path) -> None:
    with pytest.raises(UnknownError, match=r"found 'zoom' \(did you mean call or video_call\?\)"):
        draft(down_mbps=50, up_mbps=10, uses=["zoom"])
    with pytest.raises(UnknownError, match=r"uses: found 'gmae' \(did you mean game\?\)"):
        draft(down_mbps=1, up_mbps=1, uses=("gmae",))
    message = cli.refused("init", tmp_path / "new.toml", "--aqm", "red_pie")
    assert "aqm: found 'red_pie'" in message
    assert not (tmp_path / "new.toml").exists()


def test_a_buffer_without_its_unit_is_refused(cli: Cli, tmp_path: Path) -> None:
    message = cli.refused("init", tmp_path / "home.toml", "--buffer", "256")
    assert "--buffer: found 256; allowed: a size with its unit, such as 256kB" in message
    assert not list(tmp_path.iterdir())


def _queues(text: str) -> dict[str, set[str]]:
    """The tables of the scenario that each variant changes."""
    return {name: set(variant) for name, variant in tomllib.loads(text)["compare"].items()}


@pytest.mark.parametrize(
    ("uses", "compared"),
    [
        ("game,call,upload", {"upstream"}),
        ("game,web", {"upstream"}),
        ("game,download", {"upstream", "downstream"}),
        ("call,video", {"upstream", "downstream"}),
        ("torrent,video", {"upstream", "downstream"}),
        ("upload:2,download", {"upstream", "downstream"}),
    ],
)
def test_the_queues_that_the_household_fills_are_compared(uses: str, compared: set[str]) -> None:
    text = draft(down_mbps=50, up_mbps=10, aqms=["codel"], uses=uses.split(","))
    assert _queues(text) == {"drop-tail": compared, "CoDel": compared}
    queues = {"upstream": "the modem's queue", "downstream": "the queue at the CMTS"}
    assert " and ".join(queues[way] for way in queues if way in compared) + "." in text


@pytest.mark.parametrize("aqm", AQMS)
def test_each_queue_manager_is_compared_downstream(aqm: str) -> None:
    text = draft(down_mbps=5, up_mbps=2, aqms=[aqm], uses=("game", "download"))
    comparison = sojourn.run(text, duration_s=3)
    if aqm == "drop_tail":
        return
    laws = {result.meta["fingerprint"] for name, result in comparison.runs.items()}
    assert len(laws) == len(comparison.runs) == (4 if "router" in aqm else 3)  # with idle lines


def test_a_first_scenario_compares_what_one_can_buy() -> None:
    text = drafts.draft(down_mbps=50, up_mbps=10, router_percent=95, aqms=(*drafts.USUAL, "codel"))
    compared = tomllib.loads(text)["compare"]
    router = "CAKE in a router at 95 %"
    assert list(compared) == ["drop-tail", "DOCSIS-PIE", "LLD", router, "CoDel"]
    cake = {"scheduler": {"kind": "cake", "rtt_ms": 200}}
    ways = {"upstream": {"rate_mbps": 9.5, "queue": cake}}
    ways["downstream"] = {"rate_mbps": 47.5, "queue": cake}
    assert compared[router] == {"homes": {"ours": {"router": ways}}}
    assert '[compare."CoDel"]   # a laboratory setting' in text
    assert text.count("laboratory") == 1
    assert "drop_tail" in drafts.TO_BUY and "cake" in drafts.LABORATORY
    assert {*drafts.USUAL} < {*drafts.TO_BUY}
    codes = {w.code for variant in sojourn.load(text) for w in variant.warnings()}
    assert "target-below-grant" not in codes
    with pytest.raises(UnknownError, match="router: found 101; allowed: 1 to 100 percent"):
        draft(down_mbps=50, up_mbps=10, router_percent=101)


def test_counts_are_of_one_entry_or_of_several() -> None:
    traffic = tomllib.loads(
        draft(down_mbps=50, up_mbps=10, uses=("game:2", "upload:4", "web:3", "video:2", "game"))
    )["traffic"]
    assert list(traffic) == ["game1", "game2", "game3", "upload", "web", "video"]
    assert [traffic[name]["direction"] for name in ("game1", "upload")] == ["both", "up"]
    counted = {"upload": "connections", "web": "users", "video": "viewers"}
    assert [traffic[name][key] for name, key in counted.items()] == [4, 3, 2]
    for wrong in ("game:0", "game:", "game:-1", "game:1.5", "game:101", "game:x", "game:²"):
        with pytest.raises(
            UnknownError, match="allowed: game:N, N being a whole number from 1 to 100"
        ):
            draft(down_mbps=50, up_mbps=10, uses=[wrong])


def test_games_and_calls_go_both_ways() -> None:
    traffic = tomllib.loads(draft(down_mbps=50, up_mbps=10))["traffic"]
    assert [traffic[name].get("direction") for name in traffic] == ["both", "both", None, "up"]


def test_the_buffers_are_those_of_both_directions(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    sizes = ("--buffer", "100kB", "--down-buffer", "1MB", "--uses", "call,download")
    assert cli("init", path, *sizes).returncode == 0
    scenario = tomllib.loads(path.read_text())
    limits = [scenario[way]["queue"]["limit_bytes"] for way in ("upstream", "downstream")]
    assert limits == [100_000, 1_000_000]
    refused = cli("init", tmp_path / "other.toml", "--down-buffer", "1kB")
    assert "error: --down-buffer: downstream.queue.limit_bytes: found 1000; " in refused.stderr
    refused = cli("init", tmp_path / "other.toml", "--down-buffer", "1000")
    assert "--down-buffer: found 1000; allowed: a size with its unit" in refused.stderr


def test_the_old_names_of_uses_still_hold(cli: Cli, tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning, match="people is the old name of uses"):
        old = draft(down_mbps=50, up_mbps=10, people=("web",))
    assert old == draft(down_mbps=50, up_mbps=10, uses=("web",))
    path = tmp_path / "mine.toml"
    assert cli("init", path, "--people", "web", "--neighbours", "none").returncode == 0
    assert list(tomllib.loads(path.read_text())["traffic"]) == ["web"]
    message = cli.refused("init", tmp_path / "other.toml", "--people", "web", "--uses", "game")
    assert "--people: found beside --uses" in message
