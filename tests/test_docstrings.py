"""Examples in docstrings of the public names: they are there, and they run."""

import builtins
import doctest
import importlib
import inspect
from pathlib import Path

import pytest
import sojourn
from conftest import ROOT
from sojourn.runs import scenario_keys

CONSTANTS = {"DROP", "ENDLESS", "HOME", "MARK", "PASS", "SERVER"}
PUBLIC = [name for name in dir(sojourn) if name not in {"__version__", *CONSTANTS}]
OWN = [name for name in PUBLIC if getattr(sojourn, name).__module__ != "sojourn._sojourn"]


THINGS = [*(getattr(sojourn, name) for name in OWN), scenario_keys.reference]


@pytest.mark.parametrize("thing", THINGS)
def test_examples_run(thing: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(thing.__module__)
    found = doctest.DocTestFinder().find(
        thing, thing.__qualname__, module, extraglobs={"sojourn": sojourn}
    )
    examples = [test for test in found if test.examples]
    assert issubclass(thing, Exception) if inspect.isclass(thing) and not examples else examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in examples:
        assert runner.run(test).failed == 0, test.name


def test_the_names_of_the_package_are_shown() -> None:
    assert set(dir(sojourn)) == {*sojourn.__all__, "open"}
    assert all(getattr(sojourn, name) is not None for name in dir(sojourn))


def test_all_names_of_the_package_hide_none_of_python() -> None:
    assert not set(sojourn.__all__) & set(dir(builtins)) - {"Warning"}
