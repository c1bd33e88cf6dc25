"""What a part of Python is: all that it reads while it is imported, and nothing of another part."""

import importlib.util
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sojourn
from conftest import Cli
from sojourn.base.lookup import UnknownError
from sojourn.runs import threads
from sojourn.runs.parts import in_scope, parts_of
from sojourn.store.task import execute, task_of

HOME: dict[str, Any] = {
    "duration_s": 1,
    "baseline": False,
    "upstream": {"sustained_mbps": 5},
    "downstream": {"sustained_mbps": 20},
    "servers": {"near": {"delay_ms": 9}},
    "traffic": {"upload": {"kind": "transfer", "direction": "up"}},
}
LAW = """
from sojourn import DROP, PASS, Law

class {name}(Law):
    {declared}
    def on_departure(self, *numbers):
        {before}
        return DROP if self.rng.random() < {rate} else PASS
"""


def write(
    place: Path,
    head: str,
    rate: str = "RATE",
    *,
    name: str = "Own",
    declared: str = '"""A law."""',
    before: str = "pass",
) -> str:
    place.mkdir(exist_ok=True, parents=True)
    text = head + LAW.format(name=name, declared=declared, before=before, rate=rate)
    (place / "own.py").write_text(text)
    return f"{place}/own.py:{name}"


def delivered(part: Any, kind: str = "own") -> float:
    """Of an upload of 5 Mbps."""
    result = sojourn.run(HOME, set=[f"upstream.queue.law.kind='{kind}'"], parts=[part])
    return float(result.flows["throughput_mbps"][0].as_py())


def digest(part: Any) -> str:
    return parts_of([part])[0].digest


def helper(place: Path, rate: float) -> str:
    part = write(place, "from gains import RATE")
    (place / "gains.py").write_text(f"RATE = {rate}")
    return part


def helper_of_a_package(place: Path, rate: float) -> str:
    part = write(place, "import inner.deep as gains", "gains.RATE")
    (place / "inner").mkdir(exist_ok=True)
    (place / "inner" / "__init__.py").write_text("from . import deep")
    (place / "inner" / "deep.py").write_text(f"RATE = {rate}")
    return part


def table(place: Path, rate: float) -> str:
    part = write(
        place, "from pathlib import Path\nRATE = float(Path(__file__).with_name('t').read_text())"
    )
    (place / "t").write_text(str(rate))
    return part


def array(place: Path, rate: float) -> str:
    part = write(
        place,
        "import numpy as np\nfrom pathlib import Path\n"
        "RATE = float(np.loadtxt(Path(__file__).with_name('weights.txt'))[0])",
    )
    (place / "weights.txt").write_text(f"{rate} 1 1")
    return part


def table_in_its_folder(place: Path, rate: float) -> str:
    """It goes to its folder to read it, and opens it itself."""
    part = write(
        place,
        "import os\nos.chdir(os.path.dirname(__file__))\n"
        "with open('t') as file: RATE = float(file.read())",
    )
    (place / "t").write_text(str(rate))
    return part


def base_class(place: Path, rate: float) -> str:
    part = write(place, "from base import Base", "0", name="Other")
    (place / "own.py").write_text("from base import Base\nclass Own(Base): pass\n")
    (place / "base.py").write_text(LAW.format(name="Base", declared="", before="pass", rate=rate))
    return part.replace("Other", "Own")


def declared(place: Path, rate: float) -> str:
    """What a hook reads."""
    part = write(
        place,
        "from pathlib import Path",
        declared="files = ['t']",
        before="RATE = float(Path(__file__).with_name('t').read_text())",
    )
    (place / "t").write_text(str(rate))
    return part


KINDS = [helper, helper_of_a_package, table, array, table_in_its_folder, base_class, declared]


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_two_folders_are_two(kind: Callable[[Path, float], str], tmp_path: Path) -> None:
    parts = [kind(tmp_path / str(rate), rate) for rate in (0.0, 0.9)]
    for order in (parts, parts[::-1]):
        rates = {part: delivered(part) for part in order}
        assert rates[parts[0]] > 4.5 > 1 > rates[parts[1]]
    assert digest(parts[0]) != digest(parts[1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_of_what_it_reads_makes_another_part(
    kind: Callable[[Path, float], str], tmp_path: Path
) -> None:
    digests = []
    for rate in (0.0, 0.9, 0.0):
        part = kind(tmp_path / "one", rate)
        digests.append(digest(part))
        assert (delivered(part) > 4.5) == (rate == 0)
    assert digests[0] == digests[2] != digests[1]


def test_resumed_runs_are_of_one_version(tmp_path: Path) -> None:
    """The runs of a sweep, in processes of their own, are those of the part as it is."""
    keys = {"upstream.sustained_mbps": [4, 5]}
    means = []
    for rate in (0.0, 0.9):
        swept = sojourn.sweep(
            HOME,
            keys,
            set=["upstream.queue.law.kind='own'"],
            parts=[helper(tmp_path / "part", rate)],
            out=tmp_path / "swept",
            resume=bool(rate),
        )
        runs = [run for group in swept.results.groups for run in group.runs]
        means.append([run.flows["throughput_mbps"][0].as_py() for run in runs])
    assert min(means[0]) > 3.5 > 1 > max(means[1])
    assert len(means[0]) == len(means[1]) == 2


def test_a_helper_that_changed_is_named_in_another_process(tmp_path: Path) -> None:
    (part,) = parts_of([helper(tmp_path, 0)])
    sent = pickle.dumps(part)
    assert pickle.loads(sent).digest == part.digest
    (tmp_path / "gains.py").write_text("RATE = 0.5")
    with pytest.raises(UnknownError, match=r"part: .*/gains\.py has changed since it was read"):
        pickle.loads(sent)


def test_metadata_names_files_and_versions(tmp_path: Path) -> None:
    part = array(tmp_path, 0)
    (tmp_path / "gains.py").write_text("")
    sets = ["upstream.queue.law.kind='own'"]
    result = sojourn.run(HOME, set=sets, parts=[part])
    assert isinstance(result, sojourn.Result)
    (made_of,) = result.meta["parts"].values()
    assert list(made_of["files"]) == ["own.py", "weights.txt"]
    assert made_of["packages"].keys() == {"numpy"}
    assert made_of["python"] == ".".join(map(str, sys.version_info[:3]))


def test_metadata_has_what_parts_declare(tmp_path: Path) -> None:
    own = Path(__file__).parents[1] / "docs" / "own"
    for part, kind in (
        (f"{own}/codel.py:OwnCodel", "own_codel"),
        (f"{own}/codel-rust.wasm", "codel_rust"),
    ):
        result = sojourn.run(HOME, set=[f"upstream.queue.law.kind='{kind}'"], parts=[part])
        assert isinstance(result, sojourn.Result)
        ((declared,),) = (made_of["declares"] for made_of in result.meta["parts"].values())
        assert declared["doc"].startswith("CoDel")
        target, interval = declared["parameters"]
        assert (target["name"], target["default"], target["unit"]) == ("target_ms", 5, "ms")
        assert target["doc"] and interval["name"] == "interval_ms"
        # They are read again with it.
        result.save(tmp_path / kind)
        (read,) = sojourn.open(tmp_path / kind).runs.values()
        assert read.meta["parts"] == result.meta["parts"] and read.scenario == result.scenario


def test_a_file_of_its_own_is_named_by_its_content(tmp_path: Path) -> None:
    one, other = (write(tmp_path / name, "RATE = 0") for name in "ab")
    assert digest(one) == digest(other)


def test_what_lies_elsewhere_is_declared(tmp_path: Path) -> None:
    far = tmp_path / "far.txt"
    far.write_text("0")
    head = f"from pathlib import Path\nRATE = float(Path({str(far)!r}).read_text())"
    with pytest.raises(UnknownError, match="txt, which lies outside of its folder; allowed: files"):
        parts_of([write(tmp_path / "part", head)])
    part = write(tmp_path / "part", head, declared="files = ['../far.txt']")
    before = digest(part)
    far.write_text("0.9")
    assert digest(part) != before
    assert delivered(part) < 1


@pytest.mark.parametrize(
    ("before", "says"),
    [
        (
            "open(__file__ + '.txt').read()",
            "a hook opens .*own.py.txt; allowed: read it at the top",
        ),
        ("import gains", "gains is imported by a hook; allowed: at the top of the file"),
        ("import os; os.chdir('/')", "a hook changes the current folder"),
    ],
)
def test_what_a_hook_opens_later_is_refused(before: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "own.py.txt").write_text("")
    (tmp_path / "gains.py").write_text("")
    with pytest.raises(sojourn.PartError, match=says):
        delivered(write(tmp_path, "RATE = 0", before=before))


def test_a_hook_reads_again_what_was_read(tmp_path: Path) -> None:
    before = "import gains; Path(gains.__file__).read_text()"
    part = write(tmp_path, "from pathlib import Path\nfrom gains import RATE", before=before)
    (tmp_path / "gains.py").write_text("RATE = 0")
    assert delivered(part) > 4.5


READ_LATER = {
    "a file that is declared": (
        "files = ['t']",
        "float(Path(__file__).with_name('t').read_text())",
    ),
    "the file of a parameter": ("t = parameter('t', file=True)", "float(self.t.read_text())"),
}
"""What methods alone read: what the class says, and how it is read."""


def reading(place: Path, kind: str, *, at_start: bool) -> str:
    """A part that drops at the rate which is in the file `t`."""
    declared, read = READ_LATER[kind]
    place.mkdir(exist_ok=True)
    if at_start:
        declared += f"\n    def __init__(self): self.rate = {read}"
    (place / "t").write_text("0")
    head = "from pathlib import Path\nfrom sojourn import parameter"
    return write(place, head, "self.rate" if at_start else read, declared=declared)


@pytest.mark.parametrize("at_start", [True, False])
@pytest.mark.parametrize("kind", READ_LATER)
def test_runs_of_one_identity_read_one_content(
    kind: str, at_start: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file changes after the first of two runs, and while a scenario is loaded."""
    part = reading(tmp_path, kind, at_start=at_start)
    given: dict[str, Any] = {"set": ["upstream.queue.law.kind='own'"], "parts": [part]}
    run_native = threads.run_native

    def changing(*run: Any) -> Any:
        result = run_native(*run)
        (tmp_path / "t").write_text("0.9")
        return result

    (loaded,) = sojourn.load(HOME, **given)
    first = sojourn.run(HOME, **given)
    with monkeypatch.context() as patched:
        patched.setattr(threads, "run_native", changing)
        allowed = r"t has changed since it was read; allowed: put it back, or repeat the command"
        with pytest.raises(UnknownError, match=allowed):
            sojourn.run(HOME, seeds=2, jobs=1, **given)
    with pytest.raises(UnknownError, match=allowed):
        sojourn.Simulation(loaded)
    # As it was, all is as it was.
    (tmp_path / "t").write_text("0")
    simulation = sojourn.Simulation(loaded)
    simulation.run_until(1)
    assert simulation.finish().meta["fingerprint"] == first.meta["fingerprint"]


@pytest.mark.parametrize("at_start", [True, False])
@pytest.mark.parametrize("kind", READ_LATER)
def test_a_file_matters_until_it_is_read(kind: str, at_start: bool, tmp_path: Path) -> None:
    part = reading(tmp_path, kind, at_start=at_start)
    simulation = sojourn.Simulation(HOME, set=["upstream.queue.law.kind='own'"], parts=[part])
    simulation.run_until(0.5)
    (tmp_path / "t").write_text("0.9")
    if at_start:
        simulation.run_until(1)
        assert simulation.finish().meta["duration_s"] == 1
    else:
        with pytest.raises(UnknownError, match="has changed since it was read"):
            simulation.run_until(1)
        with pytest.raises(UnknownError, match="has changed since it was read"):
            simulation.finish()


def test_files_of_an_equal_part_elsewhere_are_its_own(tmp_path: Path) -> None:
    kind = "a file that is declared"
    part, equal = (reading(tmp_path / name, kind, at_start=True) for name in ("one", "two"))
    assert digest(part) == digest(equal)
    (tmp_path / "two" / "t").write_text("0.9")
    assert delivered(part) > 4.5 > 1 > delivered(equal)


def test_what_nobody_sees_being_opened_stays(tmp_path: Path) -> None:
    """Libraries in C open files without a word."""
    (tmp_path / "t").write_text("0")
    part = write(tmp_path, "RATE = 0", declared="files = ['t']")
    simulation = sojourn.Simulation(HOME, set=["upstream.queue.law.kind='own'"], parts=[part])
    simulation.run_until(0.5)
    (tmp_path / "t").write_text("0.9")
    with pytest.raises(UnknownError, match="has changed since it was read"):
        simulation.finish()


def test_a_task_whose_files_have_changed_says_what_to_do(tmp_path: Path) -> None:
    part = reading(tmp_path, "the file of a parameter", at_start=True)
    result = sojourn.run(HOME, set=["upstream.queue.law.kind='own'"], parts=[part])
    again = partial(sojourn.Simulation.again, result, parts=[part])
    with in_scope([part]):
        made = task_of(sojourn.load(result.scenario)[0])
    (tmp_path / "t").write_text("0.9")
    for repeat in (again, partial(execute, made)):
        with pytest.raises(sojourn.ScenarioError) as raised:
            repeat()
        (problem,) = raised.value.problems
        assert str(problem).startswith(
            f"scenario: upstream.queue.law: {tmp_path / 't'} has changed"
        )
        assert "put it back, or repeat the command (with --overwrite" in problem.message
        assert "in Python the run, with overwrite=True" in problem.message
    (tmp_path / "own.py").write_text((tmp_path / "own.py").read_text() + "# other")
    with pytest.raises(
        sojourn.ScenarioError, match=r"scenario: .* own has changed since \w{16} was"
    ):
        again()


def test_a_hook_imports_from_the_library(tmp_path: Path) -> None:
    """Also where Python has to look which modules there are."""
    head = "import sys\nwave = __import__('wave')\nRATE = 0"
    part = write(tmp_path, head, before="sys.modules.pop('wave', 0); import wave")
    importlib.invalidate_caches()
    assert delivered(part) > 4.5
    assert importlib.util.find_spec("tabnanny") and importlib.util.find_spec("typer")


def test_a_file_that_is_declared_is_there(tmp_path: Path) -> None:
    with pytest.raises(UnknownError, match="files: found 'no', which is no file in"):
        parts_of([write(tmp_path, "RATE = 0", declared="files = ['no']")])


def test_an_import_changes_nothing_of_the_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = (
        "import os, signal\nos.chdir('/')\nprint('imported')\nRATE = 0\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)"
    )
    before = os.getcwd(), signal.getsignal(signal.SIGINT), list(sys.path), list(sys.meta_path)
    delivered(write(tmp_path, head, before="print('called')"))
    assert before == (
        os.getcwd(),
        signal.getsignal(signal.SIGINT),
        list(sys.path),
        list(sys.meta_path),
    )
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "imported" in printed.err and "called" in printed.err


def test_what_an_import_loads_of_the_library_stays_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some modules cannot be loaded twice, and what stands for none is no module."""
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    head = "import sys\nsys.modules['never'] = None\nimport wave\ndel sys.modules['wave']\n"
    parts_of([write(tmp_path, f"{head}RATE = 0")])
    assert sys.modules["wave"].Wave_read
    assert "never" not in sys.modules


def answer_with(
    tmp_path: Path, cli: Cli, head: str, before: str
) -> subprocess.CompletedProcess[str]:
    part = write(tmp_path, f"import builtins, os, sys\n{head}\nRATE = 0", before=before)
    home = tmp_path / "home.toml"
    home.write_text(sojourn.load(HOME)[0].to_toml())
    command = ("run", home, "--json", "--quiet", "--part", part)
    return cli(*command, "--set", "upstream.queue.law.kind='own'")


@pytest.mark.parametrize(
    "before",
    [
        "print('called')",
        "sys.stdout.write('called')",
        "os.write(1, b'called')",
        "sys.stdout = sys.stderr = None",
        "sys.modules.clear(); sys.path.clear(); sys.argv.clear()",
        "builtins.len = builtins.open = None",
    ],
)
def test_the_answer_of_a_command_stays_json(before: str, tmp_path: Path, cli: Cli) -> None:
    answered = answer_with(tmp_path, cli, "print('imported')", before)
    json.loads(answered.stdout)
    assert "imported" in answered.stderr


@pytest.mark.parametrize(
    "before, said",
    {
        "os._exit(0)": "a hook ends the process; allowed: none",
        "os.abort()": "a hook ends the process; allowed: none",
        "os.kill(os.getpid(), 9)": "a hook sends a signal; allowed: none",
        "os.fork()": "a hook starts a process; allowed: none",
        "sys.exit(0)": "SystemExit: 0",
        "sys.stdout.close()": "a hook closes the standard streams; allowed: none",
        "sys.stderr.close()": "a hook closes the standard streams; allowed: none",
        "sys.stdout.buffer.close()": "a hook closes the standard streams; allowed: none",
        "sys.stderr.detach()": "a hook closes the standard streams; allowed: none",
        "sys.__stderr__.close()": "a hook closes the standard streams; allowed: none",
    }.items(),
)
def test_a_hook_does_not_end_the_process(before: str, said: str, tmp_path: Path, cli: Cli) -> None:
    answered = answer_with(tmp_path, cli, "", before)
    assert (answered.returncode, answered.stdout) == (2, "")
    assert said in answered.stderr.splitlines()[-1]


def test_an_import_does_not_end_the_process(tmp_path: Path, cli: Cli) -> None:
    answered = answer_with(tmp_path, cli, "os._exit(0)", "0")
    assert (answered.returncode, answered.stdout) == (2, "")
    assert "the file ends the process; allowed: none" in answered.stderr


@pytest.mark.parametrize("closed", ["stdout", "stderr", "__stdout__", "__stderr__"])
def test_an_import_does_not_close_streams(closed: str, tmp_path: Path, cli: Cli) -> None:
    answered = answer_with(tmp_path, cli, f"sys.{closed}.close()", "0")
    assert (answered.returncode, answered.stdout) == (2, "")
    assert "the file closes the standard streams; allowed: none" in answered.stderr


@pytest.mark.parametrize(
    "damage, said",
    {
        "sys.modules['numpy'] = sys.modules['logging'] = None": "",
        "sys.path.clear(); sys.meta_path.clear(); sys.path_hooks.clear()": "",
        "os.environ.clear(); sys.argv.clear(); sys.stdout = sys.stderr = None": "",
        "from sojourn import *; sys.modules.clear()": "own.py: cannot be imported: ",
        "sys.path.clear(); import not_there": "No module named 'not_there'",
        "sys.modules['numpy'] = None; import numpy": "import of numpy halted",
    }.items(),
)
def test_an_import_does_not_damage_python(damage: str, said: str, tmp_path: Path, cli: Cli) -> None:
    """The command goes on, or has one message, with what it imports later."""
    answered = answer_with(tmp_path, cli, damage, "0")
    assert "Traceback" not in answered.stderr
    assert said in answered.stderr
    if said:
        assert (answered.returncode, answered.stdout) == (2, "")
        assert len(answered.stderr.splitlines()) == 1
    else:
        json.loads(answered.stdout)


def test_the_library_comes_before_files_of_its_names(tmp_path: Path) -> None:
    part = write(tmp_path, "from colorsys import ONE_THIRD as RATE", "0 * RATE")
    (tmp_path / "colorsys.py").write_text("ONE_THIRD = 'no number'")
    assert delivered(part) > 4.5


def test_classes_of_executed_texts_are_different_parts() -> None:
    """Their module is that of the names they were given: `builtins` where there were none."""
    lines = "import sojourn\nclass Own(sojourn.Law):\n    def on_arrival(self, *_): return {}\n"

    def executed(answer: int, **names: str) -> type:
        exec(lines.format(answer), names)
        own = names["Own"]
        assert isinstance(own, type)
        return own

    made = [executed(answer, **of) for answer in (0, 2) for of in ({}, {"__name__": "math"})]
    assert len({digest(one) for one in made}) == 2


def test_a_class_is_the_part_of_its_file_unless_it_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = write(tmp_path / "lib", "RATE = 0", "self.rate", declared="rate = 0", name="Given")
    monkeypatch.syspath_prepend(tmp_path / "lib")
    from own import Given  # type: ignore[import-not-found]

    monkeypatch.delitem(sys.modules, "own")
    monkeypatch.setitem(sys.modules, "own", sys.modules.get("own") or __import__("own"))
    from own import Given  # noqa: F811

    assert digest(Given) == digest(part)
    assert parts_of([Given])[0].file == tmp_path / "lib" / "own.py"
    Given.rate = 0.9
    assert parts_of([Given])[0].file is None
    assert delivered(Given, "given") < 1
