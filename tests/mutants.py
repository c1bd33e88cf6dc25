"""Changes the simulator's laws in one place at a time, and asks whether unit tests notice.

`make mutants MINUTES=30`. Mutants are drawn by a seed from all operators, numbers, constants and
statements of the laws. They are compiled at once, each behind a switch that the environment sets,
so that a mutant costs a run of its crate's unit tests and no compilation. Tests at random, and
those of the library as a whole in `crates/sojourn/tests`, do not count. `tests/mutants.toml` has
the survivors that are known, and why they survive.
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

ROOT = Path(__file__).resolve().parent.parent
LAWS = (
    "sojourn-engine/src/aqm",
    "sojourn-engine/src/queue",
    "sojourn-access/src/docsis",
    "sojourn-results/src/metrics",
    "sojourn-results/src/verdict",
    "sojourn-transport/src/cc",
)
OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=",
}  # fmt: skip
STATEMENTS = ("assignment_expression", "compound_assignment_expr", "call_expression")
MOST_CPU_S = 20
MOST_MEMORY = 8 << 30
SWITCH = """
pub(crate) fn mutant(number: u32) -> bool {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let chosen = || std::env::var("MUTANT").map_or(0, |text| text.parse().unwrap());
    *CHOSEN.get_or_init(chosen) == number
}
"""


@dataclass(frozen=True)
class Mutant:
    """A change of one place: where it is, and what stands there while it is off and on."""

    file: Path
    start: int
    end: int
    line: int
    before: str
    after: str
    form: str = "(if {m} {{ {after} }} else {{ {before} }})"

    @property
    def name(self) -> str:
        """Where and what, on one line."""
        change = f"{self.before} -> {self.after}" if self.after else f"{self.before} left out"
        return f"{self.file.relative_to(ROOT)}:{self.line}: {' '.join(change.split())}"

    def text(self, number: int) -> str:
        """What the source has instead, with both ways."""
        return self.form.format(m=f"crate::mutant({number})", after=self.after, before=self.before)


def main() -> None:
    """Draws, builds and runs the mutants, and prints those that survive."""
    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=30)
    options.add_argument("--count", type=int, default=400)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="a part of the path")
    given = options.parse_args()
    until = time.monotonic() + 60 * given.minutes
    there = [mutant for law in LAWS for mutant in mutants_below(ROOT / "crates" / law)]
    chosen = [mutant for mutant in there if given.only in str(mutant.file)]
    random.Random(given.seed).shuffle(chosen)
    drawn = apart(chosen[: given.count])
    print(f"{len(drawn)} of {len(there)} mutants, drawn with seed {given.seed}", flush=True)
    programs, kept = build(drawn)
    known = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["survivors"]
    reasons = {entry["mutant"]: entry["why"] for entry in known}
    run_all(programs, kept, reasons, until)


def run_all(
    programs: dict[str, Path], mutants: dict[int, Mutant], reasons: dict[str, str], until: float
) -> None:
    """Runs the mutants in the order in which they were drawn, until the time is over."""
    done, killed, equal = 0, 0, 0
    for number, mutant in mutants.items():
        if time.monotonic() > until:
            break
        done += 1
        if survives(programs, number, mutant):
            # A line number moves with other changes of its file.
            why = reasons.get(re.sub(r":\d+:", ":", mutant.name, count=1), "NEW")
            equal += why.startswith("equal")
            print(f"survived: {mutant.name} ({why})", flush=True)
        else:
            killed += 1
    share = 100 * killed / max(1, done - equal)
    print(f"{done} run, {killed} killed, {equal} equal to the original: {share:.1f} % killed")
    if share < 95:
        sys.exit(1)


def mutants_below(folder: Path) -> Iterator[Mutant]:
    """All mutants of the files of a folder, without their tests."""
    parser = Parser(Language(tree_sitter_rust.language()))
    for file in sorted(folder.rglob("*.rs")):
        if not file.stem.endswith("tests"):
            root = parser.parse(file.read_bytes()).root_node
            yield from (mutant for node in code_below(root) for mutant in of_node(file, node, root))


def code_below(node: Node) -> Iterator[Node]:
    """The nodes that run: no attributes, macros, patterns, types and tests."""
    is_test = False
    for child in node.named_children:
        if child.type == "attribute_item":
            is_test |= b"test" in (child.text or b"")
        elif is_test:
            is_test = False
        elif not child.type.endswith(("_pattern", "_type", "token_tree", "comment")):
            yield child
            yield from code_below(child)


def of_node(file: Path, node: Node, root: Node) -> Iterator[Mutant]:
    """The mutants of one node."""
    const = ancestor(node, "const_item", "static_item")
    if const is not None and ancestor(node, "function_item") is None:
        yield from of_constant(file, node, const, root)
    elif ancestor(node, "function_item") is not None:
        yield from of_code(file, node)


def of_code(file: Path, node: Node) -> Iterator[Mutant]:
    """The mutants of one node of a function."""
    at = (file, node.start_byte, node.end_byte, node.start_point[0] + 1)
    here = text(node)
    if node.type in ("binary_expression", "compound_assignment_expr"):
        fields = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
        left, operator, right = map(text, fields)
        if operator in OPERATORS:
            yield Mutant(*at, here, f"{left} {OPERATORS[operator]} {right}")
    elif node.type == "unary_expression" and here.startswith("!"):
        yield Mutant(*at, here, here[1:])
    elif node.type == "boolean_literal":
        yield Mutant(*at, here, "false" if here == "true" else "true")
    elif other := other_number(node) or other_bound(node):
        yield Mutant(*at, here, other)
    elif is_statement(node):
        yield Mutant(*at, here, "", "if !{m} {{ {before} }}")


def is_statement(node: Node) -> bool:
    """Does it assign, or call something for what that does?"""
    is_one = node.type == "expression_statement" and text(node).endswith(";")
    return is_one and node.named_children[0].type in STATEMENTS


def other_bound(node: Node) -> str:
    """`min` for `max`, and the other way round."""
    function = text(node.child_by_field_name("function")) if node.type == "call_expression" else ""
    found = re.search(r"\.(min|max)$", function)
    if found is None:
        return ""
    other = "max" if found[1] == "min" else "min"
    return function[: found.start() + 1] + other + text(node)[len(function) :]


def of_constant(file: Path, node: Node, const: Node, root: Node) -> Iterator[Mutant]:
    """A number in a constant: the function that uses it has another constant while it is on."""
    other = other_number(node)
    name = text(const.child_by_field_name("name"))
    uses = [
        use
        for use in code_below(root)
        if use.type == "identifier" and text(use) == name and ancestor(use, "function_item")
    ]
    if not other or not name or len(uses) != 1:
        return
    whole = const.text or b""
    start, end = node.start_byte - const.start_byte, node.end_byte - const.start_byte
    changed = (whole[:start] + other.encode() + whole[end:]).decode()
    changed = re.sub(rf"\b{name}\b", f"{name}_MUTANT", changed, count=1)
    escaped = changed.replace("{", "{{").replace("}", "}}")
    form = f"{{{{ {escaped} if {{m}} {{{{ {name}_MUTANT }}}} else {{{{ {name} }}}} }}}}"
    (use,) = uses
    place = (file, use.start_byte, use.end_byte, use.start_point[0] + 1)
    yield Mutant(*place, name, f"{name} with {text(node)} as {other}", form)


def other_number(node: Node) -> str:
    """Another number of the type of a literal."""
    written = text(node)
    if node.type == "integer_literal":
        digits = re.match(r"0x[0-9a-fA-F_]+|[0-9_]+", written)
        return (
            f"{int(digits[0].replace('_', ''), 0) + 1}{written[digits.end() :]}" if digits else ""
        )
    if node.type == "float_literal":
        value = re.match(r"[0-9_.]+(e-?[0-9]+)?", written)
        number = float(value[0].replace("_", ""))
        return f"{number * 1.5 if number else 1.0!r}{written[value.end() :]}"
    return ""


def apart(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Those that do not overlap with one before them."""
    kept: list[Mutant] = []
    for one in mutants:
        if not any(o.file == one.file and one.start < o.end and o.start < one.end for o in kept):
            kept.append(one)
    return kept


def build(drawn: Sequence[Mutant]) -> tuple[dict[str, Path], dict[int, Mutant]]:
    """The test programs with all mutants in them, and the mutants that the compiler takes."""
    place = ROOT / "out" / "mutants"
    shutil.rmtree(place / "crates", ignore_errors=True)
    for name in ("crates", "scenarios"):
        shutil.copytree(ROOT / name, place / name, dirs_exist_ok=True)
    for name in ("Cargo.toml", "Cargo.lock", "README.md"):
        shutil.copy2(ROOT / name, place / name)
    left = dict(enumerate(drawn, 1))
    for file in sorted({ROOT / "crates" / crate_of(m) / "src" / "lib.rs" for m in drawn}):
        switched = place / file.relative_to(ROOT)
        switched.write_text(switched.read_text() + SWITCH)
    crates = sorted({crate_of(mutant) for mutant in drawn})
    files = sorted({mutant.file for mutant in drawn})
    while True:
        spans = write(place, left, files)
        errors = [
            (span["file_name"], span["byte_start"])
            for message in cargo(place, crates, "check", "--keep-going")
            if message["reason"] == "compiler-message" and message["message"]["level"] == "error"
            for span in message["message"]["spans"]
            if span["is_primary"]
        ]
        if not errors:
            break
        bad = {
            number
            for where, at in errors
            for number, (file, start, end) in spans.items()
            if file == where and start <= at < end
        }
        if not bad:
            raise SystemExit(f"not one of a mutant: {errors[:3]}")
        print(f"{len(bad)} do not compile", flush=True)
        left = {number: mutant for number, mutant in left.items() if number not in bad}
    told = cargo(place, crates, "test", "--no-run")
    built = [message for message in told if message.get("executable")]
    if len(built) != len(crates):
        raise SystemExit("\n".join(str(m["message"]["rendered"]) for m in told if "message" in m))
    return {m["target"]["name"].replace("_", "-"): Path(m["executable"]) for m in built}, left


def write(
    place: Path, mutants: dict[int, Mutant], files: Sequence[Path]
) -> dict[int, tuple[str, int, int]]:
    """Writes the files with the mutants; returns where these are in bytes."""
    spans: dict[int, tuple[str, int, int]] = {}
    for file in files:
        source, done, out = file.read_bytes(), 0, b""
        here = sorted((m.start, n) for n, m in mutants.items() if m.file == file)
        for _, number in here:
            mutant = mutants[number]
            out += source[done : mutant.start]
            changed = mutant.text(number).encode()
            spans[number] = (str(file.relative_to(ROOT)), len(out), len(out) + len(changed))
            out += changed
            done = mutant.end
        target = place / file.relative_to(ROOT)
        target.write_bytes(out + source[done:])
    return spans


def cargo(place: Path, crates: Sequence[str], *command: str) -> list[dict[str, Any]]:
    """What cargo tells of the libraries of the crates."""
    packages = [word for crate in crates for word in ("--package", crate)]
    typed = ["cargo", *command, "--lib", "--offline", "--message-format=json", *packages]
    # What the laws do not change is compiled already.
    environment = {"CARGO_TARGET_DIR": str(ROOT / "target"), **os.environ}
    done = subprocess.run(typed, cwd=place, env=environment, capture_output=True, text=True)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode and not any(message["reason"] == "compiler-message" for message in told):
        raise SystemExit(done.stderr)
    return told


def survives(programs: dict[str, Path], number: int, mutant: Mutant) -> bool:
    """Do the tests pass? First those beside the mutant, which fail soonest."""
    module = "::".join(mutant.file.relative_to(ROOT).with_suffix("").parts[3:]).removesuffix(
        "::mod"
    )
    program = programs[crate_of(mutant)]
    return passes(program, number, mutant, [module]) and passes(program, number, mutant, [])


def passes(program: Path, number: int, mutant: Mutant, tests: Sequence[str]) -> bool:
    """Do these unit tests of the crate pass with the mutant on?"""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

    done = subprocess.run(
        [program, "--quiet", *tests, "--skip", "at_random"],
        env={**os.environ, "MUTANT": str(number)},
        preexec_fn=limit,
        cwd=ROOT / "crates" / crate_of(mutant),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return done.returncode == 0


def crate_of(mutant: Mutant) -> str:
    return mutant.file.relative_to(ROOT).parts[1]


def ancestor(node: Node, *types: str) -> Node | None:
    found = node.parent
    while found is not None and found.type not in types:
        found = found.parent
    return found


def text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode()


if __name__ == "__main__":
    main()
