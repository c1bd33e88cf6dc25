"""Changes the Python package in one place at a time, and asks whether tests notice.

`make mutants` runs it after `tests/mutants.py`, and it works alike: mutants are drawn by a seed
from the comparisons, operators, numbers and choices of a few rooms, and all stand in one copy of
the package, each behind a switch that the environment sets, also for processes that tests start.
Each file of tests runs once with no mutant on, and the switches write down which of them each test
reaches, itself or by a fixture. A mutant is then asked of the tests that reach it, the quickest
first. `tests/mutants.toml` has the survivors that are known, and why they survive.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "out" / "mutants-python"
ROOMS = ("analysis", "fit", "runs", "store")
TESTS = (
    "api changes cli conditions delay_parts equal fairness find fit init jobs limits log output "
    "own_parts own_traffic part_identity plain_text plot queue_figures real_packets report seeds "
    "shards store store_damage store_untrusted sweep threads"
)
NOT_COUNTED = re.compile(r"fingerprint|snapshot")
MOST_TIMES = 10
"""A test that takes so many times as long as with no mutant on fails."""
OTHERS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot},
    **{ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.And: ast.Or, ast.Or: ast.And},
}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
SWITCH = """
import os
CHOSEN = int(os.environ.get("MUTANT", 0))
# Opened now, since hooks of parts may not open files.
reached = open(os.environ["MUTANTS_OUT"] + "/reached", "a") if "MUTANTS_OUT" in os.environ else None
seen = set()

def mutant(number):
    if reached:
        during = os.environ.get("MUTANTS_DURING", "collection")
        if (during, number) not in seen:
            seen.add((during, number))
            os.write(reached.fileno(), f"{during}\\t{number}\\n".encode())
    return number == CHOSEN
"""


@dataclass(frozen=True)
class Mutant:
    """A change of one expression: its number in a walk through its file, and what it says."""

    file: Path
    node: int
    inside: frozenset[int]
    name: str


def main() -> None:
    """Draws and runs the mutants, and prints those that survive."""
    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=30)
    options.add_argument("--count", type=int, default=150)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=float, default=60, help="of tests for each mutant")
    options.add_argument("--only", default="", help="a part of the path")
    given = options.parse_args()
    files = [path for room in ROOMS for path in (ROOT / "python/sojourn" / room).rglob("*.py")]
    there = [m for file in sorted(files) if given.only in str(file) for m in mutants_of(file)]
    random.Random(given.seed).shuffle(there)
    drawn = dict(enumerate(spread(there)[: given.count], start=1))
    print(f"{len(drawn)} of {len(there)} mutants, drawn with seed {given.seed}", flush=True)
    build(drawn)
    reaching = who_reaches()
    known = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["survivors"]
    reasons = {entry["mutant"]: entry["why"] for entry in known}
    until = time.monotonic() + 60 * given.minutes

    def outcome(number: int) -> bool | None:
        if time.monotonic() > until:
            return None
        return is_killed(number, within(reaching[number], given.seconds))

    killed = different = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, dies in zip(drawn, pool.map(outcome, drawn), strict=True):
            if dies is None:
                continue
            name = drawn[number].name
            why = reasons.get(name, "NEW" if reaching[number] else "NEW, no test reaches it")
            if not dies:
                print(f"survived: {name} ({why})", flush=True)
            killed += dies
            different += dies or not why.startswith("equal")
    print(f"{killed} of {different} that are not equal to the original killed")
    sys.exit(killed < 0.92 * different)


def mutants_of(file: Path) -> Iterator[Mutant]:
    """One for each expression that can be changed and chosen while the program runs."""
    tree = ast.parse(file.read_text())
    fixed = set(map(id, fixed_nodes(tree)))
    numbers = {id(node): number for number, node in enumerate(ast.walk(tree))}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in fixed or (after := changed(node)) is None:
            continue
        name = f"{file.relative_to(ROOT)}: {ast.unparse(node)} -> {ast.unparse(after)}"
        inside = frozenset(numbers[id(one)] for one in ast.walk(node))
        yield Mutant(file, number, inside, " ".join(name.split()))


def fixed_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """What is no expression that runs: patterns, annotations, and texts with fields."""
    for node in ast.walk(tree):
        annotations = [getattr(node, name, None) for name in ("annotation", "returns")]
        is_fixed = isinstance(node, ast.pattern | ast.JoinedStr)
        for one in [*filter(None, annotations), *([node] if is_fixed else [])]:
            yield from ast.walk(one)


def changed(node: ast.AST) -> ast.expr | None:
    """The node with another operator, number, constant or function, if it has one."""
    node = deepcopy(node)
    match node:
        case ast.Compare(ops=[op]) if type(op) in OTHERS:
            node.ops = [OTHERS[type(op)]()]  # type: ignore[list-item]
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in OTHERS:
            node.op = OTHERS[type(op)]()  # type: ignore[assignment]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value) | float(value)):
            node.value = value + 1 if isinstance(value, int) else 1.5 * value or 1.0
        case ast.Call(func=ast.Name(id=name)) if name in CALLED:
            node.func = ast.Name(CALLED[name])
        case _:
            return None
    return node


def spread(mutants: list[Mutant]) -> list[Mutant]:
    """Those that do not lie in or around one before them."""
    taken: dict[Path, list[Mutant]] = defaultdict(list)
    for one in mutants:
        others = taken[one.file]
        if not any(one.node in other.inside or other.node in one.inside for other in others):
            others.append(one)
    return [one for one in mutants if one in taken[one.file]]


def build(drawn: dict[int, Mutant]) -> None:
    """Copies the package, with both ways at each place."""
    shutil.rmtree(PLACE, ignore_errors=True)
    shutil.copytree(ROOT / "python", PLACE / "python")
    (PLACE / "python" / "sojourn_mutants.py").write_text(SWITCH)
    of_file: dict[Path, dict[int, int]] = defaultdict(dict)
    for number, mutant in drawn.items():
        of_file[mutant.file][mutant.node] = number
    for file, numbers in of_file.items():
        tree = Switched(file, numbers).switched()
        (PLACE / file.relative_to(ROOT)).write_text(ast.unparse(tree))


class Switched(ast.NodeTransformer):
    """A file with switches around some of its expressions."""

    def __init__(self, file: Path, numbers: dict[int, int]) -> None:
        self.tree = ast.parse(file.read_text())
        walked = enumerate(ast.walk(self.tree))
        self.numbers = {id(node): numbers[place] for place, node in walked if place in numbers}

    def switched(self) -> ast.AST:
        """The whole file, whose first statement after its docstring imports the switch."""
        tree = self.visit(self.tree)
        before = 1 if ast.get_docstring(tree) is not None else 0
        tree.body.insert(
            before, ast.parse("from sojourn_mutants import mutant as mutant_is_on").body[0]
        )
        return ast.fix_missing_locations(tree)

    def visit(self, node: ast.AST) -> Any:
        number = self.numbers.get(id(node))
        if number is None:
            return self.generic_visit(node)
        test = ast.parse(f"mutant_is_on({number})", mode="eval").body
        return ast.IfExp(test, changed(node), node)


def who_reaches() -> dict[int, list[tuple[float, str]]]:
    """The tests that reach each mutant, with how many seconds each takes, the quickest first."""

    def reached(name: str) -> dict[str, Any]:
        out = PLACE / "reached" / name
        out.mkdir(parents=True)
        done = run([f"tests/test_{name}.py"], {"MUTANTS_OUT": str(out)}, None)
        if done.returncode != 0:
            raise SystemExit(f"tests fail without a mutant:\n{done.stdout}")
        found: dict[str, Any] = json.loads((out / "tests.json").read_text())
        return found

    reaching: dict[int, list[tuple[float, str]]] = defaultdict(list)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(reached, TESTS.split()):
            for test, (seconds, numbers) in found.items():
                for number in numbers:
                    reaching[number].append((seconds, test))
    for tests in reaching.values():
        tests.sort()
    return reaching


def within(tests: list[tuple[float, str]], seconds: float) -> list[tuple[float, str]]:
    """Those that take so long together; the first one however long."""
    chosen = []
    for one in tests:
        seconds -= one[0]
        if seconds < 0 and chosen:
            break
        chosen.append(one)
    return chosen


def is_killed(number: int, tests: list[tuple[float, str]]) -> bool:
    """Does one of these tests fail with a mutant on?"""
    if not tests:
        return False
    most_s = 30 + MOST_TIMES * sum(seconds for seconds, _ in tests)
    try:
        names = [name for _, name in tests]
        return run(["-x", *names], {"MUTANT": str(number)}, most_s).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def run(
    arguments: list[str], environment: dict[str, str], most_s: float | None
) -> subprocess.CompletedProcess[str]:
    """Runs tests beside the copy of the package."""
    path = os.pathsep.join(map(str, (PLACE / "python", ROOT / "tests")))
    options = ["-q", "-n", "0", "-p", "mutants_python", "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=most_s,
    )


# What follows is a plugin of pytest, which writes down what tests reach.


class Reached:
    """What each test and each shared fixture reaches, and how long it takes."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.seconds: dict[str, float] = defaultdict(float)
        self.tests: dict[str, list[str]] = {}
        self.during = ["collection"]
        self.enter("collection")

    def enter(self, name: str) -> None:
        os.environ["MUTANTS_DURING"] = name

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        return (yield from self.measured(f"fixture {fixturedef.argname}"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        fixtures = [f"fixture {name}" for name in getattr(item, "fixturenames", ())]
        self.tests[item.nodeid] = ["collection", *fixtures, item.nodeid]
        return (yield from self.measured(item.nodeid))

    def measured(self, name: str) -> Iterator[None]:
        start = time.monotonic()
        self.during.append(name)
        self.enter(name)
        try:
            return (yield)
        finally:
            taken = time.monotonic() - start
            self.seconds[name] += taken
            self.during.pop()
            self.seconds[self.during[-1]] -= taken
            self.enter(self.during[-1])

    def pytest_sessionfinish(self) -> None:
        reached: dict[str, set[int]] = defaultdict(set)
        for line in (self.out / "reached").read_text().splitlines():
            name, _, number = line.rpartition("\t")
            reached[name].add(int(number))
        found = {
            test: (
                sum(self.seconds[name] for name in parts if name != "collection"),
                sorted(set().union(*(reached[name] for name in parts))),
            )
            for test, parts in self.tests.items()
            if not NOT_COUNTED.search(test)
        }
        (self.out / "tests.json").write_text(json.dumps(found))


def pytest_configure(config: pytest.Config) -> None:
    if out := os.environ.get("MUTANTS_OUT"):
        config.pluginmanager.register(Reached(Path(out)))


if __name__ == "__main__":
    main()
