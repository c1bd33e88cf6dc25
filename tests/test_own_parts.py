"""Parts of a user's own in Python: those of the documentation, and what goes wrong."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sojourn
from conftest import PATIENT_S, started
from sojourn import Law
from sojourn.base.lookup import UnknownError
from sojourn.runs.parts import parts_of, use
from stores import Inside

ROOT = Path(__file__).parents[1]
OWN = ROOT / "docs" / "own"
CODEL, PIE = f"{OWN}/codel.py:OwnCodel", f"{OWN}/pie.py:OwnPie"
MODULE = str(OWN / "codel-rust.wasm")
AIMD, BACKUP = f"{OWN}/aimd.py:Aimd", f"{OWN}/backup.py:Backup"

HOME: dict[str, Any] = {
    "duration_s": 20,
    "baseline": False,
    "upstream": {"sustained_mbps": 5, "peak_mbps": 20, "burst_bytes": 1_000_000},
    "downstream": {"sustained_mbps": 20},
    "servers": {"near": {"delay_ms": 9}},
    "traffic": {
        "game": {"kind": "stream", "purpose": "game"},
        "upload": {"kind": "transfer", "direction": "up", "connections": 2},
    },
}


@pytest.fixture(autouse=True)
def no_parts_of_commands() -> Any:
    yield
    use(())


def run(sets: list[str], *parts: Any, **keys: Any) -> sojourn.Result:
    return sojourn.run(HOME, set=sets, parts=parts, **keys)


@pytest.mark.parametrize("scheduler", ["fifo", "sfq"])
@pytest.mark.parametrize("dialect", ["linux", "ns2"])
def test_codel_in_python_has_the_drops_of_codel(scheduler: str, dialect: str) -> None:
    sets = [f"dialect='{dialect}'", f"upstream.queue.scheduler.kind='{scheduler}'"]
    keys = "target_ms = 10, interval_ms = 150"
    built_in = run([*sets, f"upstream.queue.law={{ kind = 'codel', {keys} }}"])
    own = run([*sets, f"upstream.queue.law={{ kind = 'own_codel', {keys} }}"], CODEL)
    assert own.queues["dropped_aqm_packets"].to_pylist()[0] > 20
    assert own.meta["fingerprint"] == built_in.meta["fingerprint"]
    assert own.queues.equals(built_in.queues)
    assert own.flows.equals(built_in.flows)


def test_a_law_of_updates_alone_holds_its_target() -> None:
    own = run(["upstream.queue.law.kind='own_pie'", "duration_s=60"], PIE)
    median = own.queues.to_pylist()[0]["sojourn_p50_ms"]
    assert 8 < median < 30
    probability = [row for row in own.series.to_pylist() if row["metric"] == "own_pie_probability"]
    assert max(row["value"] for row in probability) > 0.001


def test_a_control_and_traffic_of_ones_own_share_a_line() -> None:
    sets = [
        "traffic.upload.tcp.congestion_control.kind='aimd'",
        "traffic.backup={ kind = 'backup', mean_pause_s = 2, start_s = 1, dscp = 8 }",
    ]
    first, again = run(sets, AIMD, BACKUP), run(sets, AIMD, BACKUP)
    other = run(sets, AIMD, BACKUP, seed=2)
    flows = {(row["traffic"], row["direction"]): row for row in first.flows.to_pylist()}
    assert flows["upload", "up"]["throughput_mbps"] > 3
    assert flows["backup", "up"]["transfers_completed"] >= 3
    assert first.meta["fingerprint"] == again.meta["fingerprint"]
    assert first.meta["fingerprint"] != other.meta["fingerprint"]


def test_a_class_that_is_given_is_a_part_too() -> None:
    class MarkAll(Law):
        """Marks every packet."""

        def on_arrival(self, *numbers: float) -> int:
            return sojourn.MARK

    result = run(["upstream.queue.law.kind='mark_all'"], MarkAll)
    assert "mark_all" in json.dumps(result.settings)
    assert result.queues.to_pylist()[0]["dropped_aqm_packets"] > 100


def write(place: Path, text: str) -> Path:
    path = place / "own.py"
    path.write_text(f"from sojourn import *\n{text}")
    return path


def scenario(place: Path) -> Path:
    path = place / "home.toml"
    variant = sojourn.load(HOME, duration_s=2)[0]
    path.write_text(variant.to_toml())
    return path


BAD = {
    "class A(Law):\n    pass": "own.py:A: found no hook; allowed in a law: on_arrival",
    "class A(Law):\n    a = parameter(float('nan'))": "own.py:A: a: found [nan] as default",
    "class A(Law):\n    a = parameter(10**400)": "own.py:A: a: found [1000",
    "class A(Law):\n    def on_update(self, *_): pass": "update_us = 1000, or",
    "class A(Law):\n    def on_arive(self): pass": "own.py:A: found on_arive; allowed in a law",
    "class A(Law):\n    def on_empty(self): pass": "on_empty: found the arguments self; allowed",
    "class A(Control):\n    def on_ack(self, *a): pass": "found no on_loss; a control needs",
    "class A(Law):\n    x = parameter()": "positional argument: 'default', line 3",
    "class A(Law):\n    x = parameter('5')\n    def on_empty(self, t): pass": "x: found ['5']",
    "class A(Law):\n    x = parameter(5, range=(6, 7))\n    def on_empty(self, t): 0": "default 5",
    "class A(": "cannot be imported: SyntaxError",
    "import no_such_module": "cannot be imported: ModuleNotFoundError",
    "raise SystemExit(0)": "cannot be imported: SystemExit",
    "A = 5": "found no class A at the top level",
    "class B: pass": "found no class A at the top level",
    "class A: pass": "class A extends none of these",
    "class A(Law):\n    async def on_empty(self, t): pass": "on_empty: found async def or yield",
    "class A(Law):\n    a_ms = parameter(5, unit='s')\n    def on_empty(self, t): 0": "the unit s",
    "class A(Law):\n    kind = 'codel'\n    def on_empty(self, t): pass": 'outside called "codel"',
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_part_is_refused(text: str, tmp_path: Path, inside: Inside) -> None:
    path = write(tmp_path, text)
    assert BAD[text] in inside.refused("validate", scenario(tmp_path), "--part", f"{path}:A")


RAISED = ["KeyboardInterrupt", "KeyboardInterrupt('x')", "GeneratorExit", "Bad", "SystemExit"]


@pytest.mark.parametrize("error", RAISED)
def test_no_error_of_a_file_is_taken_for_a_signal(
    error: str, tmp_path: Path, inside: Inside
) -> None:
    head = f"class Bad(BaseException): pass\ndef fail(*_): raise {error}\n"
    own = own_law("pass")
    attribute = "class Failing:\n    __get__ = fail\n" + own + "    update_us = Failing()\n"
    for text in (f"{head}fail()\n{own}", head + attribute):
        path = write(tmp_path, text)
        (line,) = inside.refused("schema", "--part", f"{path}:Own").splitlines()
        assert line.startswith(f"error: part {path}") and error.partition("(")[0] in line


@pytest.mark.parametrize("part", ["own.py", "own.py:", "own.txt:A", "no_such.py:A", ":A"])
def test_what_names_no_part_is_refused(part: str, inside: Inside) -> None:
    assert part in inside.refused("schema", "--part", part)


@pytest.mark.parametrize("given", [3, None, int, Law, sojourn.Traffic, Path("own.py"), object()])
def test_what_is_no_class_of_a_part_is_refused(given: Any) -> None:
    with pytest.raises(UnknownError, match=r"allowed: a class of Law, .* or Controller"):
        parts_of([given])


FAILING = {
    "return 1 / 0": ("ZeroDivisionError: division by zero", "return 1 / 0"),
    "return 'drop'": ("found 'drop' as what to do with a packet; allowed: PASS, MARK or DROP", ""),
    "return float('nan')": ("found NaN as what to do with a packet; allowed: 0 to pass", ""),
    "return True": ("found True as what to do with a packet; allowed: PASS, MARK or DROP", ""),
    "return 3": ("found 3 as what to do with a packet", ""),
    "raise KeyboardInterrupt": ("KeyboardInterrupt", ""),
}


@pytest.mark.parametrize("body", FAILING)
def test_a_part_that_fails_ends_the_run(body: str, tmp_path: Path, inside: Inside) -> None:
    path = write(tmp_path, f"class Own(Law):\n    def on_arrival(self, *numbers): {body}")
    out = tmp_path / "out"
    options = ("--set", "upstream.queue.law.kind='own'", "--part", f"{path}:Own", "--out", out)
    done = inside("run", scenario(tmp_path), "--quiet", *options)
    assert done.returncode == 2
    for said in (f"error: part {path}:Own: on_arrival, at 0.", *FAILING[body]):
        assert said in done.stderr
    assert not out.exists()


def test_python_gets_the_exception_of_the_part(tmp_path: Path) -> None:
    path = write(tmp_path, "class Own(Law):\n    def on_arrival(self, *n): {}['x']")
    with pytest.raises(sojourn.PartError, match=r"own\.py:Own: on_arrival, at ") as raised:
        run(["upstream.queue.law.kind='own'"], f"{path}:Own")
    assert isinstance(raised.value.__cause__, KeyError)


def test_a_sweep_runs_in_processes_and_resumes(tmp_path: Path, inside: Inside) -> None:
    path = tmp_path / "codel.py"
    path.write_text((OWN / "codel.py").read_text())
    keys = {"upstream.queue.law.target_ms": [5]}

    def swept(resume: bool = False) -> sojourn.Swept:
        return sojourn.sweep(
            HOME,
            keys,
            duration_s=0.5,
            set=["upstream.queue.law.kind='own_codel'"],
            parts=[f"{path}:OwnCodel"],
            out=tmp_path / "swept",
            resume=resume,
        )

    def runs() -> set[str]:
        return {run.name for run in (tmp_path / "swept" / "runs").iterdir()}

    swept()
    first = runs()
    assert len(first) == 1
    swept(resume=True)
    assert runs() == first
    # A changed file makes other runs.
    path.write_text(path.read_text() + "\n# changed\n")
    swept(resume=True)
    assert len(runs() - first) == 1
    # Results are read where there is no part.
    path.unlink()
    assert len(sojourn.open(tmp_path / "swept")) == 1
    for command in ("verify", "report"):
        inside.printed(command, tmp_path / "swept")


def test_a_part_that_fails_in_a_sweep_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, "class Own(Law):\n    def on_arrival(self, *n): {}['x']")
    with pytest.raises(sojourn.PartError, match=r"own\.py:Own: on_arrival, at ") as raised:
        sojourn.sweep(
            HOME,
            seeds=1,
            duration_s=2,
            set=["upstream.queue.law.kind='own'"],
            parts=[f"{path}:Own"],
            out=tmp_path / "swept",
        )
    assert "own.py" in str(raised.value.__cause__)


def test_an_answer_that_is_refused_is_said_once(tmp_path: Path, inside: Inside) -> None:
    """No line of the file raised it, so there is none to show."""
    path = write(tmp_path, own_law("return True"))
    given = ["--part", f"{path}:Own", "--set", "upstream.queue.law.kind='own'"]
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(f'scenario = "{scenario(tmp_path).name}"\nduration_s = 1\n')
    for command in (["run", scenario(tmp_path)], ["sweep", sweep, "--out", tmp_path / "swept"]):
        refused = inside.refused(*command, *given, "--quiet")
        (line,) = (one for one in refused.splitlines() if "found True" in one)
        assert line.startswith(f"error: part {path}:Own: on_arrival, at 0.")


def test_own_laws_stand_beside_built_in_ones(tmp_path: Path) -> None:
    laws = ["upstream.queue.law.kind='own_codel'", "upstream.queue.law.kind='codel'"]
    both = sojourn.compare(HOME, vary=laws, duration_s=5, parts=[CODEL])
    own, codel = list(both.values())[1:3]
    assert own.flows.equals(codel.flows)
    both.save(tmp_path / "out")
    assert "own_codel" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(("study", "scheme"), [("white2012", "CoDel-417pkt"), ("rfc7928", "codel")])
def test_a_study_runs_with_an_own_law_beside_its_own(
    study: str, scheme: str, tmp_path: Path
) -> None:
    from sojourn_studies.framework.plan import Plan

    use([CODEL])
    plan = Plan(study, scheme=[scheme], law="own_codel")
    plan.check()
    case = next(case for case in plan.cases if case.name.endswith("| law own_codel"))
    assert "own_codel" in case.task(1, 0.2).scenario


def test_an_init_that_fails_shows_its_own_lines(tmp_path: Path, inside: Inside) -> None:
    path = write(
        tmp_path,
        "class Own(Law):\n    def __init__(self): self.missing\n    def on_arrival(self, *n): pass",
    )
    options = ("--set", "upstream.queue.law.kind='own'", "--part", f"{path}:Own")
    done = inside("run", scenario(tmp_path), *options)
    assert done.returncode == 2
    assert "self.missing" in done.stderr and "parts.py" not in done.stderr


@pytest.mark.parametrize(
    ("part", "law", "added"), [(CODEL, "own_codel", []), (PIE, "own_pie", ["codel with own_pie"])]
)
def test_an_own_law_is_ranked_unless_it_does_what_another_does(
    part: str, law: str, added: list[str], tmp_path: Path
) -> None:
    from sojourn_studies.framework.plan import Plan
    from sojourn_studies.framework.running import run_plan

    use([part])
    plan = Plan("rfc7928", experiment=["burst-4"], scheme=["codel"], duration_scale=0.02, law=law)
    outcome = run_plan(plan, tmp_path)
    schemes = list(dict.fromkeys(row.scheme for row in outcome.with_own_law))
    assert schemes == ["codel", *added]
    best, _ = plan.study.ranked(outcome.with_own_law)
    assert [row[0] for row in best.rows] == schemes


def test_the_busy_hour_takes_an_own_law() -> None:
    hour = ROOT / "scenarios" / "gallery" / "07-shared-channel.toml"
    law = "downstream.queue.law.kind='own_pie'"
    (first, *_) = sojourn.load(hour, set=[law, "duration_s=2"], parts=[PIE])
    assert "own_pie" in first.to_toml()


def test_a_search_takes_an_own_law(tmp_path: Path, inside: Inside) -> None:
    key = ["--key", "upstream.queue.law.target_ms", "--from", "5", "--to", "20", "--step", "10"]
    find = ["find", scenario(tmp_path), *key, "--until", "game p99 < 118", "--seeds", "2", "--set"]
    own = inside.printed(*find, "upstream.queue.law.kind='own_codel'", "--part", CODEL)
    assert "holds with upstream.queue.law.target_ms up to " in own
    assert own == inside.printed(*find, "upstream.queue.law.kind='codel'")


def test_a_stored_search_takes_an_own_law(tmp_path: Path) -> None:
    found = sojourn.find(
        HOME,
        key="upstream.queue.law.target_ms",
        until="game p99 < 118",
        low=5,
        high=20,
        step=15,
        seeds=1,
        duration_s=1,
        set=["upstream.queue.law.kind='own_codel'"],
        parts=[CODEL],
        out=tmp_path / "found",
    )
    assert all(answer.holds for answer in found.values())
    assert len(sojourn.open(tmp_path / "found")) == 2


@pytest.mark.parametrize("system", ["--slurm", "--snakemake"])
def test_a_cluster_gets_an_own_law(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: Inside
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text((OWN / "codel.py").read_text())
    (tmp_path / "sweep.toml").write_text(f'scenario = "{scenario(tmp_path).name}"\nseeds = 2\n')
    own_law = ["--part", "own.py:OwnCodel", "--set", "upstream.queue.law.kind='own_codel'"]
    script = inside.printed("jobs", "sweep.toml", system, *own_law)
    assert "own.py:OwnCodel" in script
    # What the jobs need has changed if the file has.
    assert (system == "--slurm") == ("'own.py'" not in script)


def test_a_file_of_a_modem_is_written_beside_an_own_law(tmp_path: Path, inside: Inside) -> None:
    law = "downstream.queue.law.kind='own_pie'"
    home = tmp_path / "home.toml"
    home.write_text(sojourn.load(HOME, set=[law], parts=[PIE])[0].to_toml())
    write = ("config", "write", tmp_path / "modem.cfg", "--scenario", home)
    assert "own_pie" in inside.refused(*write)
    assert "bytes" in inside(*write, "--part", PIE).stdout


def test_a_study_with_an_own_law_is_joined(tmp_path: Path, inside: Inside) -> None:
    study = ["study", "run", "white2012", "--table", "3", "--scheme", "CoDel-417pkt"]
    short = ["--duration-scale", "0.001", "--seeds", "1", "--law", "codel_rust", "--part", MODULE]
    parts, whole = [tmp_path / "1", tmp_path / "2"], tmp_path / "whole"
    for part in parts:
        inside.printed(*study, *short, "--shard", f"{part.name}/2", "--out", part)
    assert "codel_rust" in inside.refused("merge", *parts, "--out", whole)
    inside.printed("merge", *parts, "--out", whole, "--part", MODULE)
    assert "codel_rust" in (whole / "alternatives.csv").read_text()


def own_law(body: str) -> str:
    return f"class Own(Law):\n    def on_arrival(self, *numbers): {body}\n"


def test_a_script_that_sweeps_when_it_is_read_runs_its_class_itself(tmp_path: Path) -> None:
    """Each other process would sweep again."""
    script = write(tmp_path, own_law("return PASS"))
    script.write_text(
        f"import sojourn\n{script.read_text()}"
        f"sojourn.sweep({HOME!r}, duration_s=0.1, set=[\"upstream.queue.law.kind='own'\"],\n"
        "    parts=[Own], out='out', jobs=1)\n"
    )
    command = [sys.executable, script.name]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=PATIENT_S)
    assert len(sojourn.open(tmp_path / "out")) == 1
    with pytest.raises(UnknownError, match="cannot be imported: line 5: it starts runs") as raised:
        parts_of([f"{script}:Own"])
    assert 'below `if __name__ == "__main__":`' in str(raised.value)


def test_classes_without_a_file_are_parts_by_what_they_do(tmp_path: Path) -> None:
    text = "class Cell(sojourn.Law):\n    def on_arrival(self, *numbers): return ANSWER\n"
    digests = []
    for answer in (sojourn.PASS, sojourn.DROP, sojourn.PASS):
        names: dict[str, Any] = {"__name__": "__main__", "sojourn": sojourn, "ANSWER": answer}
        exec(text, names)
        (part,) = parts_of([names["Cell"]])
        assert part.file is None
        digests.append(part.digest)
    assert digests[0] == digests[2] != digests[1]
    swept = sojourn.sweep(
        HOME,
        duration_s=0.2,
        set=["upstream.queue.law.kind='cell'"],
        parts=[names["Cell"]],
        out=tmp_path / "swept",
    )
    assert len(swept) == 1


def test_a_loop_without_end_ends_with_the_command(tmp_path: Path) -> None:
    path = write(tmp_path, own_law("\n        print('called', flush=True)\n        while 1: pass"))
    command = [sys.executable, "-m", "sojourn", "run", str(scenario(tmp_path)), "--quiet", "--part"]
    command += [f"{path}:Own", "--set", "upstream.queue.law.kind='own'"]
    with started(*command, stderr=subprocess.PIPE) as process:
        # What a hook prints goes to standard error.
        assert process.stderr.readline() == "called\n"
        process.terminate()
        assert process.wait() == 143
        assert process.stderr.read() == "stopped; nothing was written\n"


WATCHED = {
    "tracer": ("sys.settrace(lambda *_: None)", "pass"),
    "profiler": ("cProfile.Profile().enable()", "pass"),
    "tracer of threads": ("threading.settrace(lambda *_: None)", "pass"),
    "tracer in a hook": ("pass", "sys.settrace(lambda *_: None)"),
    "profiler in a hook": ("pass", "sys.setprofile(lambda *_: None)"),
    "tracer after a run that was stopped": (
        "stopped()\n    sys.settrace(lambda *_: None)",
        "while is_endless: pass",
    ),
}
"""What watches lines of Python: a line of the script, and one of the hook."""


@pytest.mark.parametrize("watched", WATCHED)
def test_lines_may_be_watched(watched: str, tmp_path: Path) -> None:
    line, hook = WATCHED[watched]
    script = tmp_path / "script.py"
    script.write_text(f"""
import cProfile, sys, threading, _thread
import sojourn
is_endless = True

class Own(sojourn.Law):
    def on_arrival(self, *numbers):
        {hook}

def run():
    law = "upstream.queue.law.kind='own'"
    sojourn.run({HOME!r}, duration_s=0.01, set=[law], parts=[Own])

def stopped():
    global is_endless
    threading.Timer(0.5, _thread.interrupt_main).start()
    try:
        run()
    except KeyboardInterrupt:
        is_endless = False

if __name__ == "__main__":
    {line}
    run()
""")
    subprocess.run([sys.executable, script], check=True, timeout=PATIENT_S)


@pytest.mark.parametrize("value", ["inf", "nan", "1e300"])
def test_a_gauge_that_is_not_finite_ends_the_run(value: str, tmp_path: Path) -> None:
    gauge = f"    gauges = {{'g': '1'}}\n    g = float('{value}')\n"
    path = write(tmp_path, own_law("return PASS") + gauge)
    with pytest.raises(sojourn.PartError, match=r"as gauge own_g; allowed: 1e38 at most"):
        run(["upstream.queue.law.kind='own'"], f"{path}:Own", duration_s=2)


def test_gauges_of_controls_and_traffic_are_series(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
class Steady(Control):
    gauges = {"acks": "acks"}
    acks = 0
    def on_ack(self, *numbers):
        self.window_bytes = 30_000
        self.acks += 1
    def on_loss(self, *numbers): pass
    def on_timeout(self, *numbers): pass

class Beacon(Traffic):
    gauges = {"sent": "packets"}
    sent = 0
    def on_timer(self, now_us):
        self.sent += 1
        self.datagram(HOME, 100)
        self.wake(now_us + 500_000)
""",
    )
    sets = ["tcp.congestion_control.kind='steady'", "traffic.beacon.kind='beacon'", "duration_s=5"]
    result = run(sets, f"{path}:Steady", f"{path}:Beacon")
    last = {
        (row["subject"], row["metric"]): row["value"]
        for row in result.series.to_pylist()
        if row["metric"] in ("steady_acks", "beacon_sent")
    }
    assert last["beacon", "beacon_sent"] == 10
    assert last["upload up 1", "steady_acks"] > 100
    assert last.keys() == {("beacon", "beacon_sent")} | {
        (f"upload up {number}", "steady_acks") for number in (1, 2)
    }


def test_two_parts_of_one_name_are_named(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    for place in (first, second):
        place.mkdir()
        write(place, own_law("return PASS") + f"# {place}")
    paths = [f"{place}/own.py:Own" for place in (first, second)]
    with pytest.raises(UnknownError, match=r"1/own.py:Own and .*2/own.py:Own: both are a law"):
        parts_of(paths)


def test_an_unknown_kind_says_how_parts_are_given() -> None:
    with pytest.raises(sojourn.ScenarioError, match="a part of your own needs --part"):
        sojourn.load(HOME, set=["upstream.queue.law.kind='ramp'"])


def test_a_timer_that_is_set_to_now_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "class Own(Traffic):\n    def on_timer(self, now_us): self.wake(now_us)")
    with pytest.raises(sojourn.PartError, match="time does not go on"):
        run(["traffic.own.kind='own'"], f"{path}:Own", duration_s=1)
