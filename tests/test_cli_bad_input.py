"""Whatever a user gets wrong: status 2, a line on stderr for each fault, nothing on stdout."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
import sojourn
from conftest import HOME, SHORT_S, Cli
from sojourn.plot.paper import blank, to_svg

TRAFFIC = '[traffic.game]\nkind = "stream"\npurpose = "game"\nserver = "peer"\n'

FILES = {
    "not-toml.toml": b"duration_s = = 3\n",
    "not-utf8.toml": b'title = "caf\xe9"\n',
    "empty.toml": b"",
    "unknown-key.toml": b"duration_s = 3\ndurration = 4\n",
    "wrong-type.toml": b'duration_s = "long"\n',
}


def assert_refused(outcome: object, *words: str, faults: int | None = 1) -> None:
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("error: ")
    lines = outcome.stderr.splitlines()
    assert all(line.startswith("error: ") for line in lines), outcome.stderr
    assert faults in (None, len(lines)), outcome.stderr
    assert "Traceback" not in outcome.stderr
    for word in words:
        assert word in outcome.stderr


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["run", "validate"])
def test_bad_files(cli: Cli, tmp_path: Path, command: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    assert_refused(cli(command, path), name, faults=None)


def test_all_faults_of_a_file_at_once_with_their_lines(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(
        "[upstream]\nsustained_mbps = -5\n[downstream]\nsustaned_mbps = 50\n"
        + TRAFFIC
        + "prt = 1\n"
    )
    outcome = cli("validate", path)
    assert_refused(outcome, faults=4)
    assert [line.split(": ", 3)[1:3] for line in outcome.stderr.splitlines()] == [
        [f"{path}:2", "upstream.sustained_mbps"],
        [f"{path}:4", "downstream.sustaned_mbps"],
        [f"{path}:3", "downstream.sustained_mbps"],
        [f"{path}:9", "traffic.game.prt"],
    ]


def test_a_key_that_is_missing_where_only_a_set_has_been(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "home.toml"
    path.write_bytes(HOME.read_bytes())
    setting = "traffic.ping.kind=stream"
    fault = f"--set {setting}: traffic.ping.purpose: missing; allowed: voice, game, data"
    assert_refused(cli("validate", path, "--set", setting), fault)
    path.write_text(path.read_text() + '[traffic.ping]\nkind = "stream"\n')
    line = len(path.read_text().splitlines()) - 1
    assert_refused(cli("validate", path, "--set", "seed=2"), f"{path}:{line}: traffic.ping.purpose")


def test_a_kind_alone_is_refused_with_its_table(cli: Cli) -> None:
    meant = '(did you mean { kind = "docsis_pie" }?)'
    assert_refused(cli("validate", HOME, "--set", "upstream.queue.law=docsis_pie"), meant)


def test_file_not_found(cli: Cli) -> None:
    assert_refused(cli("run", "nowhere.toml"), "nowhere.toml", "No such file")


def test_file_is_a_directory(cli: Cli, tmp_path: Path) -> None:
    assert_refused(cli("run", tmp_path), "directory")


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ("seed", "seed"),
        ("=5", "=5"),
        ("upstream.sustained_mpbs=5", "sustained_mpbs"),
        ("upstream.sustained_mbps=fast", "sustained_mbps"),
        ("upstream.sustained_mbps=-5", "sustained_mbps"),
        ("upstream.sustained_mbps=nan", "sustained_mbps"),
        ("traffic.game.server=moon", "moon"),
    ],
)
def test_bad_settings(cli: Cli, setting: str, word: str) -> None:
    assert_refused(cli("run", HOME, "--set", setting), word)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run"], "'SCENARIO'. See sojourn run --help."),
        (["run", HOME, "--seed", "x"], "--seed"),
        (["run", HOME, "--seed", "-1"], "error: --seed: found -1; allowed: a whole number"),
        (["run", HOME, "--seed", "1.5"], "--seed"),
        (["run", HOME, "--duration", "soon"], "--duration"),
        (["run", HOME, "--duration", "0"], "error: --duration: found 0; allowed: a number from"),
        (["run", HOME, "--duration", "-3"], "error: --duration: found -3;"),
        (["run", HOME, "--duration", "inf"], "error: --duration: found inf;"),
        (["run", HOME, "--duration", "nan"], "error: --duration: found nan;"),
        (["run", HOME, "--vary", "seed=2"], "--vary seed=2: found the seed, which is no setting;"),
        (["run", HOME, "--vary", "line.buffer=3"], "--vary line.buffer=3: line: unknown key;"),
        (
            ["run", HOME, "--vary", "tcp.interrupt_interval_us=0,250"],
            "allowed: a number from 0 to 10000; for several values repeat --vary",
        ),
        (["study", "score", "none"], "none: no such directory"),
        (["run", HOME, "--fast"], "--fast"),
        (["run", HOME, "another.toml"], "another.toml"),
        (["walk", HOME], "No such command 'walk'. Allowed: init, run"),
        (["--loud"], "--loud"),
    ],
)
def test_bad_arguments(cli: Cli, arguments: list[object], word: str) -> None:
    assert_refused(cli(*arguments), word)


@pytest.mark.parametrize("found", ["0", "1e9", "-1", "nan", "inf", "abc"])
def test_bad_duration_scales(cli: Cli, tmp_path: Path, found: str) -> None:
    out = tmp_path / "out"
    done = cli("study", "run", "white2012", "--duration-scale", found, "--out", out)
    allowed = "a number from 0.0001 to 1000"
    assert_refused(done, f"error: --duration-scale: found {found}; allowed: {allowed}\n")
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["study", "run", "white2012", "--seeds", 0], "a whole number from 1 to 10000"),
        (["study", "run", "white2012", "--jobs", 0], "a whole number of 1 or more"),
        (["run", HOME, "--seed", 1.5], "a whole number"),
        (["run", HOME, "--duration", "soon"], "a number"),
    ],
)
def test_bad_numbers_of_options(cli: Cli, arguments: list[object], problem: str) -> None:
    option, found = arguments[-2:]
    assert_refused(cli(*arguments), f"error: {option}: found {found}; allowed: {problem}\n")


def test_output_over_other_files(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    assert_refused(cli("run", HOME, "--out", tmp_path), str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_output_over_a_foreign_summary(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text('{"format": "another"}')
    assert_refused(cli("run", HOME, "--out", tmp_path), str(tmp_path))


@pytest.mark.parametrize("command", ["run", "sweep", "study run"])
def test_output_over_a_file(cli: Cli, tmp_path: Path, command: str) -> None:
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(f'scenario = "{HOME}"')
    what = {"run": HOME, "sweep": sweep, "study run": "white2012"}[command]
    path = tmp_path / "out"
    path.write_text("mine")
    assert_refused(
        cli(*command.split(), what, "--out", path),
        f"{path} is not a directory; allowed: a directory, or the path of a new one",
    )
    refused = cli(*command.split(), what, "--out", path / "below")
    assert_refused(refused, f"{path} is not a writable directory")
    assert path.read_text() == "mine"


def test_output_where_nothing_can_be_written(cli: Cli) -> None:
    assert_refused(cli("run", HOME, "--duration", SHORT_S, "--out", "/proc/sojourn"), "/proc")


def test_results_of_another_scenario_are_kept(cli: Cli, tmp_path: Path) -> None:
    first, second, out = (tmp_path / name for name in ("first.toml", "second.toml", "out"))
    head = HOME.read_text().partition("# The queue managers")[0]
    first.write_text(head)
    second.write_text(head)
    brief = ("--duration", 1, "--quiet", "--out", out)
    for _ in range(2):  # the same scenario again, changed or not
        assert cli("run", first, *brief).returncode == 0
        first.write_text(head + "\n# changed\n")
    before = (out / "summary.json").read_bytes()
    refused = cli("run", second, *brief, cwd=tmp_path)
    assert_refused(refused, f"{out} holds results of first.toml; allowed: another directory, or")
    assert (out / "summary.json").read_bytes() == before
    assert cli("run", second, *brief, "--overwrite").returncode == 0


def test_results_of_a_scenario_with_a_name_are_called_by_its_title(
    cli: Cli, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    brief = ("--duration", 0.1, "--quiet", "--out", out)
    assert cli("run", "fibre", *brief).returncode == 0
    refused = cli("run", "upload", *brief)
    assert_refused(refused, f"{out} holds results of 'Cable or fibre' with variants ")


def test_results_of_another_sweep_are_kept(cli: Cli, tmp_path: Path) -> None:
    for name in ("first.toml", "second.toml"):
        (tmp_path / name).write_text(f'scenario = "{HOME}"\nduration_s = 0.1\n')
    out = tmp_path / "out"
    for _ in range(2):
        assert cli("sweep", tmp_path / "first.toml", "--out", out).returncode == 0
    refused = cli("sweep", tmp_path / "second.toml", "--out", out, cwd=tmp_path)
    assert_refused(refused, f"{out}: holds results of first.toml; allowed: another directory")
    assert cli("sweep", tmp_path / "second.toml", "--out", out, "--overwrite").returncode == 0


def test_a_damaged_name_of_a_sweep_is_not_believed(cli: Cli, tmp_path: Path) -> None:
    """A flipped bit would make the sweep that goes on another one."""
    (tmp_path / "sweep.toml").write_text(f'scenario = "{HOME}"\nduration_s = 0.1\n')
    command = ("sweep", tmp_path / "sweep.toml", "--out", tmp_path / "out", "--resume")
    assert cli(*command).returncode == 0
    origin = tmp_path / "out" / "sweep.json"
    before = origin.read_bytes()
    origin.write_bytes(before.replace(b"sweep.toml", b"sweet.toml"))
    assert cli("verify", tmp_path / "out").returncode == 2
    assert cli(*command).returncode == 0
    assert origin.read_bytes() == before


ONE_WAY = [
    "--set",
    'traffic.game.direction="up"',
    "--set",
    'traffic.call.direction="up"',
]
MANY = ["--set", "homes.all.count=10000"]


@pytest.mark.parametrize("command", ["run", "validate"])
def test_what_needs_more_memory_than_there_is(cli: Cli, alone: Path, command: str) -> None:
    bins = ["--set", "upstream.queue.scheduler={kind='sfq',bins=65536}"]
    refused = cli(command, alone, *MANY, *ONE_WAY, *bins)
    assert_refused(refused, "upstream.queue.scheduler: the run needs up to", "10000 homes")
    peers = ["--set", "traffic.peers={kind='torrent',servers=['peer'],connections=10000}"]
    refused = cli(command, alone, "--set", "servers.peer.delay_ms=5", *MANY, *ONE_WAY, *peers)
    assert_refused(refused, "traffic.peers: the run needs up to", "100000000 connections")


def test_max_memory_sets_the_limit(cli: Cli, alone: Path) -> None:
    many = ["validate", alone, "--set", "homes.all.count=100"]
    assert_refused(cli(*many, "--max-memory", "0.001"), "allowed: 1 MB", "--max-memory")
    assert cli(*many, "--max-memory", "1").returncode == 0
    with pytest.raises(sojourn.ScenarioError, match="allowed: 1 MB"):
        sojourn.load(alone, max_memory_gb=0.001)
    with pytest.raises(ValueError, match="max_memory_gb: found 0; allowed"):
        sojourn.load(alone, max_memory_gb=0)


def test_control_characters_are_shown_as_escapes(cli: Cli, tmp_path: Path) -> None:
    named = cli("run", HOME, "--set", 'servers."a\x1b[2J".delay_ms=5')
    assert_refused(named)
    assert "\x1b" not in named.stderr
    # The name of a file that somebody else made.
    path = tmp_path / "a\x1b[2Jb.toml"
    path.write_text("x = [")
    refused = cli("validate", path)
    assert_refused(refused, "a\\x1b[2Jb.toml")
    assert "\x1b" not in refused.stderr


@pytest.mark.parametrize("command", [["run", HOME, "--set"], ["report"], ["validate"]])
def test_bytes_that_are_no_text(cli: Cli, command: list[object]) -> None:
    refused = cli(*command, "a\udcff=1")
    found = f"argument {len(command) + 1}: found 'a\\udcff=1'; allowed: UTF-8 text"
    assert_refused(refused, found)


def test_a_directory_whose_name_is_no_text(cli: Cli, alone: Path, tmp_path: Path) -> None:
    place = tmp_path / "a\udcff"
    place.mkdir()
    cli.printed("run", alone, "--duration", 1, "--quiet", "--out", "out", cwd=place)
    for command in (["report"], ["verify"], ["export", "--format", "csv", "--out", "csv"]):
        cli.printed(command[0], "out", *command[1:], cwd=place)


def test_control_characters_in_figures_have_pictures() -> None:
    figure, axes = blank()
    axes.set_title("a\x1b[2Jb")
    svg = to_svg(figure).decode()
    ElementTree.fromstring(svg)
    assert "a␛[2Jb" in svg
