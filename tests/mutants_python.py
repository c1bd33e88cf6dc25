"""Changes the Python package in one place at a time, and asks whether tests notice.

`make mutants` runs it after `tests/mutants.py`. Mutants are drawn by a seed from the comparisons,
operators, numbers and choices of a few rooms, and each is asked of the tests that are named for its
room here. One that survives belongs into `tests/mutants.toml`, if no test can tell it.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {
    "analysis": "conditions equal fairness find limits log queue_figures report seeds store",
    "fit": "fit",
    "runs": "api changes own_parts seeds sweep threads",
    "store": "find jobs shards store store_damage store_untrusted sweep",
}
"""The rooms, and the tests of each."""
NOT_COUNTED = "not fingerprint and not snapshot"
MOST_S = 600
OTHERS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot},
    **{ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.And: ast.Or, ast.Or: ast.And},
}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}


@dataclass(frozen=True)
class Mutant:
    """A change of one place: where it is, and the whole file with it."""

    file: Path
    name: str
    source: str


def main() -> None:
    """Draws and runs the mutants, and prints those that survive."""
    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=30)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="a part of the path")
    given = options.parse_args()
    files = [path for room in ROOMS for path in (ROOT / "python/sojourn" / room).rglob("*.py")]
    drawn = [m for file in sorted(files) if given.only in str(file) for m in places_of(file)]
    random.Random(given.seed).shuffle(drawn)
    known = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["survivors"]
    reasons = {entry["mutant"]: entry["why"] for entry in known}
    place = ROOT / "out" / "mutants-python"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(ROOT / "python", place)
    for room, file in {room_of(file): file for file, _ in drawn}.items():
        if fails(Mutant(file, "", file.read_text()), place):
            raise SystemExit(f"the tests of {room} fail without a mutant")
    until = time.monotonic() + 60 * given.minutes
    killed = different = 0
    for file, number in drawn:
        if time.monotonic() > until:
            break
        mutant = mutant_at(file, number)
        is_killed = fails(mutant, place)
        why = reasons.get(mutant.name, "NEW")
        if not is_killed:
            print(f"survived: {mutant.name} ({why})", flush=True)
        killed += is_killed
        different += is_killed or not why.startswith("equal")
    print(f"{killed} of {different} killed, drawn with seed {given.seed} from {len(drawn)}")
    sys.exit(killed < 0.92 * different)


def places_of(file: Path) -> Iterator[tuple[Path, int]]:
    """The numbers of the nodes of a file that can be changed."""
    for number, node in enumerate(ast.walk(ast.parse(file.read_text()))):
        if changed(copy(node)):
            yield file, number


def mutant_at(file: Path, number: int) -> Mutant:
    """The file with another operator, number, constant or function in this place."""
    tree = ast.parse(file.read_text())
    node = next(node for n, node in enumerate(ast.walk(tree)) if n == number)
    before = ast.unparse(node)
    changed(node)
    name = f"{file.relative_to(ROOT)}: {before} -> {ast.unparse(node)}"
    return Mutant(file, " ".join(name.split()), ast.unparse(tree))


def changed(node: ast.AST) -> bool:
    """Changes a node; false if there is nothing to change."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OTHERS:
            node.ops = [OTHERS[type(op)]()]  # type: ignore[list-item]
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in OTHERS:
            node.op = OTHERS[type(op)]()  # type: ignore[assignment]
        case ast.UnaryOp(op=ast.Not()):
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value) | float(value)):
            node.value = value + 1 if isinstance(value, int) else 1.5 * value or 1.0
        case ast.Call(func=ast.Name(id=name)) if name in CALLED:
            node.func = ast.Name(CALLED[name])
        case _:
            return False
    return True


def room_of(file: Path) -> str:
    return file.relative_to(ROOT / "python" / "sojourn").parts[0]


def fails(mutant: Mutant, place: Path) -> bool:
    """Does a test of its room fail with the mutant?"""
    target = place / mutant.file.relative_to(ROOT / "python")
    before = target.read_text()
    target.write_text(mutant.source)
    names = ROOMS[room_of(mutant.file)].split()
    tests = [str(ROOT / "tests" / f"test_{name}.py") for name in names]
    command = [sys.executable, "-m", "pytest", "-xq", "-n", "2", "-k", NOT_COUNTED, *tests]
    environment = {**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=MOST_S
        )
        return done.returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        target.write_text(before)


if __name__ == "__main__":
    main()
