"""Parts that are wrong: each is refused in one message, in all roles and both languages alike."""

import gc
import linecache
import subprocess
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import hostile_parts as cases
import pytest
import sojourn
import wasm_modules
from hostile_parts import ANSWERED, CHOSEN, DECLARED, GUARDED, HOOK, IMPORTED, REST, SWALLOWED
from sojourn.base.lookup import UnknownError
from sojourn.runs.parts import parts_of

LINE: dict[str, Any] = {
    "duration_s": 0.4,
    "baseline": False,
    "upstream": {"sustained_mbps": 10},
    "downstream": {"sustained_mbps": 50},
    "servers": {"near": {"delay_ms": 10}},
    "traffic": {"u": {"kind": "transfer", "direction": "up"}},
}


def file_of(place: Path, role: str, line: str = "pass", body: str = "pass", top: str = "") -> Path:
    path = place / "own.py"
    names = "HOME, Control, Controller, Law, Score, Traffic, parameter"
    text = (
        f"from sojourn import {names}\nimport math\n{top}\nclass A({role.title()}):\n    {line}\n"
    )
    path.write_text(f"{text}{REST.get(role, '')}{HOOK[role]}\n        {body}\n")
    return path


def refusal(path: Path, role: str) -> str:
    with pytest.raises(sojourn.PartError) as raised:
        sojourn.run(LINE, set=[CHOSEN[role]], parts=[f"{path}:A"])
    message = str(raised.value)
    assert "\n" not in message and message.startswith(f"part {path}:A: "), message
    cause = raised.value.__cause__
    trace = cause.__traceback__ if cause else None
    while trace:
        assert "sojourn/runs" not in trace.tb_frame.f_code.co_filename
        trace = trace.tb_next
    return message


@pytest.mark.parametrize(("role", "line", "said"), DECLARED)
def test_what_a_class_declares_is_refused_in_its_own_words(
    role: str, line: str, said: str, tmp_path: Path
) -> None:
    path = file_of(tmp_path, role, line)
    with pytest.raises(UnknownError) as raised:
        parts_of([f"{path}:A"])
    message = str(raised.value)
    assert said in message and message.startswith(f"part {path}:A: "), message
    assert not any(foreign in message for foreign in ("column", "variant", "JSON", "\n"))


def test_a_class_whose_attributes_fail_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "import sojourn\nclass M(type):\n"
        "    def __getattribute__(cls, name): raise OSError('late')\n"
        "class A(sojourn.Law, metaclass=M):\n    def on_arrival(self, *n): pass\n"
    )
    with pytest.raises(UnknownError) as raised:
        parts_of([f"{path}:A"])
    assert str(raised.value) == f"part {path}:A: OSError: late"


@pytest.mark.parametrize(("role", "body", "said"), ANSWERED)
def test_what_a_hook_answers_is_refused_alike(
    role: str, body: str, said: str, tmp_path: Path
) -> None:
    message = refusal(file_of(tmp_path, role, body=body), role)
    hook = HOOK[role].split("(")[0].split()[-1]
    assert said in message and f"own.py:A: {hook}, at 0." in message, message


@pytest.mark.parametrize("role", CHOSEN)
def test_hooks_compute_and_do_nothing_else(
    role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.txt").write_text("0")
    # All lines in all roles would take long.
    lines = list(GUARDED)[list(CHOSEN).index(role) :: 2]
    for line in lines:
        for path in (
            file_of(tmp_path, role, body=line),
            file_of(tmp_path, role, f"def __init__(self): {line}"),
        ):
            message = refusal(path, role)
            assert GUARDED[line] in message and "a hook" in message, message
    assert {path.name for path in tmp_path.iterdir()} == {"own.py", "v.txt"}


MODULES_OF_LINES = "import contextlib, glob, linecache, os, pathlib, shutil"


@pytest.mark.parametrize("line", SWALLOWED)
def test_what_was_refused_once_ends_the_run(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is done with the exception, in a hook, `__init__` or a gauge."""
    monkeypatch.chdir(tmp_path)
    for name in ("v.txt", "gains.py"):
        (tmp_path / name).write_text("")
    gauge = "gauges = {'g': ''}\n    @property\n    def g(self):\n        %s\n        return 1"
    start = "def __init__(self):\n        %s"
    for place in ("", start, gauge):
        body = "pass" if place else line
        path = file_of(tmp_path, "law", place % line if place else "pass", body, MODULES_OF_LINES)
        assert SWALLOWED[line] in refusal(path, "law")


def test_what_an_import_swallows_is_refused(tmp_path: Path) -> None:
    line = "import os\ntry: os.system('true')\nexcept Exception: pass"
    path = file_of(tmp_path, "law", top=line)
    with pytest.raises(UnknownError, match="the file starts a process; allowed: none, line 4"):
        parts_of([f"{path}:A"])


def test_a_class_without_a_file_is_held_to_the_same(tmp_path: Path) -> None:
    """Nothing may have been imported before, so it is in a process of its own."""
    lines = (
        f"import glob, sojourn\nLINE = {LINE!r}\nfor line in [1]:\n"
        " class A(sojourn.Law):\n  def on_arrival(self, *numbers): glob.glob('*')\n"
        f"sojourn.run(LINE, set=[{CHOSEN['law']!r}], parts=[A])"
    )
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True)
    assert "part A: on_arrival, at 0.000000 s: Refused: a hook lists a" in done.stderr


def test_lines_of_a_traceback_are_no_files_of_the_part() -> None:
    """It shows those of the callers, such as this file."""

    class A(sojourn.Law):
        def on_arrival(self, *numbers: float) -> None:
            linecache.clearcache()
            assert "".join(traceback.format_stack())

    sojourn.run(LINE, set=[CHOSEN["law"]], parts=[A])


def test_an_exception_without_a_text_is_its_name(tmp_path: Path) -> None:
    for body, said in (("raise KeyboardInterrupt", "KeyboardInterrupt"), ("assert 0", "")):
        message = refusal(file_of(tmp_path, "law", body=body), "law")
        assert message.endswith(f"s: {said or 'AssertionError'}")


def test_what_gauges_raise_is_said_of_them(tmp_path: Path) -> None:
    gauge = "gauges = {'g': ''}\n    g = property(lambda self: 1 / 0)"
    message = refusal(file_of(tmp_path, "law", gauge), "law")
    assert ":A: gauges, at 0." in message and "ZeroDivisionError" in message


@pytest.mark.parametrize("line", IMPORTED)
def test_an_import_starts_nothing(line: str, tmp_path: Path) -> None:
    path = file_of(tmp_path, "law", top=line)
    with pytest.raises(UnknownError, match=f"the file {IMPORTED[line]}; allowed: none") as raised:
        parts_of([f"{path}:A"])
    assert "line 3" in str(raised.value)


def test_what_an_import_takes_from_the_process_is_there_again(tmp_path: Path) -> None:
    taken = "sys.stdout = sys.stderr = None; sys.modules.clear(); sys.excepthook = None"
    path = file_of(tmp_path, "law", top=f"import sys; {taken}")
    lines = f"from sojourn.runs.parts import parts_of; parts_of([{f'{path}:A'!r}]); print('there')"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "there\n", "")


def test_what_a_hook_changes_in_the_process_is_as_before(tmp_path: Path) -> None:
    changes = (
        "import gc, sys, warnings; gc.disable(); sys.setswitchinterval(1); sys.excepthook = None;"
        "warnings.simplefilter('error'); sys.displayhook = sys.unraisablehook = None"
    )

    def state() -> tuple[object, ...]:
        hooks = sys.excepthook, sys.displayhook, sys.unraisablehook
        return gc.isenabled(), sys.getswitchinterval(), *hooks, *warnings.filters

    before = state()
    sojourn.run(LINE, set=[CHOSEN["law"]], parts=[f"{file_of(tmp_path, 'law', body=changes)}:A"])
    assert state() == before


@pytest.mark.parametrize(
    ("top", "said"),
    [
        (
            "open('weights.csv')",
            "FileNotFoundError: [Errno 2] No such file or directory: 'weights.csv', line 3",
        ),
        (
            "import pathlib; p = pathlib.Path(__file__).with_name('n'); p.touch()\n"
            "p.write_text(p.read_text() + 'x')",
            "/n was read and has changed since; allowed: a file that the import does not write",
        ),
    ],
)
def test_a_file_that_fails_an_import_is_named(top: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownError) as raised:
        parts_of([f"{file_of(tmp_path, 'law', top=top)}:A"])
    assert said in str(raised.value)


def test_an_update_without_an_answer_is_refused(tmp_path: Path) -> None:
    update = "update_us = 1000\n    def on_update(self, *numbers): {}"
    for body, found in (("pass", "None"), ("return True", "True"), ("return 'x'", "'x'")):
        message = refusal(file_of(tmp_path, "law", update.format(body)), "law")
        assert f"on_update, at 0.001000 s: TypeError: found {found} as probability" in message


@pytest.mark.parametrize("role", ["control", "controller"])
def test_a_part_that_sets_nothing_is_named(role: str, tmp_path: Path) -> None:
    for body, is_idle in (("self.cwnd = self.up_mbps = 8", True), ("self.{} *= 0.9", False)):
        name = {"control": "window_bytes", "controller": "up_bps"}[role]
        path = file_of(tmp_path, role, body=body.format(name))
        result = sojourn.run(LINE, set=[CHOSEN[role]], parts=[f"{path}:A"])
        idle = [one.message for one in result.warnings if one.code == "idle-part"]
        assert len(idle) == is_idle
        assert all(f"{path}:A was called and never changed {name}" in one for one in idle)


def test_a_timer_is_as_fine_as_a_microsecond(tmp_path: Path) -> None:
    """Each call asks for the next picosecond: 1000 calls in 1 ms, not a billion."""
    gauges = "gauges = {'calls': 'calls'}\n    calls = 0"
    body = "self.calls += 1; self.wake(now_us + 1e-6 if now_us < 1000 else 1e9)"
    path = file_of(tmp_path, "traffic", gauges, body)
    result = sojourn.run(LINE, set=[CHOSEN["traffic"]], parts=[f"{path}:A"])
    calls = [row["value"] for row in result.series.to_pylist() if row["metric"] == "a_calls"]
    assert calls[-1] == 1001


MODULES = {
    "key": (wasm_modules.law(colour="red"), 'found the key "colour"; allowed: role, name, doc'),
    "score": (wasm_modules.law(score="quality"), 'score: found "quality"; allowed: call, game'),
    "score's bounds": (wasm_modules.law(score={"own": {}}), "score: found a table; allowed: call"),
    "role": (wasm_modules.law(role="king"), 'role: found "king"; allowed: law, control'),
    "flag": (wasm_modules.law(paced="yes"), 'paced: found "yes"; allowed: true, false'),
    "range": (
        wasm_modules.law(parameters=[{"name": "x", "default": 5, "min": 10, "max": 1}]),
        "x: found the range 10 to 1; allowed: (LEAST, GREATEST)",
    ),
    "default": (wasm_modules.law(parameters=[{"name": "x"}]), "x: found no default"),
    "memory": (wasm_modules.law(memory=wasm_modules.PAGES_300_MIB), "16 MiB at most"),
    "no module": (b"law", "found no WebAssembly module; allowed: a file that begins as one"),
    "gauge": (wasm_modules.law(gauges=[{"unit": "ms"}]), "gauges: found no name; allowed: a text"),
}


@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_declares_is_refused_in_its_own_words(name: str, tmp_path: Path) -> None:
    content, said = MODULES[name]
    path = tmp_path / "own.wasm"
    path.write_bytes(content)
    with pytest.raises(UnknownError) as raised:
        parts_of([str(path)])
    message = str(raised.value)
    assert said in message and message.startswith(f"part {path}: "), message
    assert not any(foreign in message for foreign in ("column", "expected", "0x", "\n"))


ANSWERS = {
    "on_arrival": (wasm_modules.MANY, "found 9 answers; allowed: 1 at most"),
    "on_departure": (wasm_modules.MANY, "found 9 answers; allowed: 1 at most"),
    "on_update": (wasm_modules.NOTHING, "found 0 answers; allowed: a probability"),
    "on_empty": (wasm_modules.ANSWER, "found 1 answers; allowed: 0 at most"),
}


@pytest.mark.parametrize("hook", ANSWERS)
def test_what_a_module_answers_is_refused_as_of_a_class(hook: str, tmp_path: Path) -> None:
    code, said = ANSWERS[hook]
    declared: dict[str, Any] = {"update": 1000} if hook == "on_update" else {}
    path = tmp_path / "own.wasm"
    path.write_bytes(wasm_modules.law(code, name="a", hooks=[hook], **declared))
    with pytest.raises(sojourn.PartError) as raised:
        sojourn.run(LINE, set=[CHOSEN["law"]], parts=[str(path)])
    assert str(raised.value).startswith(f"part {path}: {hook}, at 0.") and said in str(raised.value)


def test_each_role_has_its_cases() -> None:
    for role in cases.HOOK:
        assert any(role == one for one, *_ in ANSWERED) and role in CHOSEN
