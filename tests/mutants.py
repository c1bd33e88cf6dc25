"""Changes the simulator's laws in one place at a time, and asks whether tests notice.

`make mutants MINUTES=30`. Mutants are drawn by a seed from all operators, numbers, constants and
statements of the laws. They are compiled at once, each behind a switch that the environment sets,
so that a mutant costs runs of tests and no compilation. Each test first runs once, alone, with no
mutant on, and the switches write down which of them it reaches. A mutant is then asked of the tests
that reach it, the quickest first: unit tests, and those of the library and of own parts as a whole.
Tests at random do not count, nor those that compare fingerprints of whole runs or snapshots.
`tests/mutants.toml` has the survivors that are known, and why they survive.
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
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutant_places import ROOT, Mutant, mutants_below

LAWS = (
    "sojourn-engine/src/aqm",
    "sojourn-engine/src/queue",
    "sojourn-access/src/docsis",
    "sojourn-results/src/metrics",
    "sojourn-results/src/verdict",
    "sojourn-transport/src/cc",
    "sojourn-transport/src/sender",
    "sojourn-scenario/src",
    "sojourn-parts/src",
)
WHOLE = ("sojourn", "sojourn-own-parts", "sojourn-input")
"""The crates whose tests run whole networks, own parts and texts of users."""
NOT_COUNTED = re.compile(r"fingerprint|snapshot")
MOST_CPU_S = 5
"""Of a test that is asked, and beside some times what tests took with no mutant on."""
MOST_MEMORY = 8 << 30
BATCH_S = 1.0
ALLOWED = "#![allow(warnings, arithmetic_overflow, unconditional_panic)]\n"
"""Lints of constants that come after `cargo check`: tests kill a mutant with such a fault."""
SWITCH = """
pub(crate) fn mutant(number: u32) -> bool {
    use std::sync::{OnceLock, atomic::{AtomicBool, Ordering}};
    static CHOSEN: OnceLock<(u32, Option<std::ffi::OsString>)> = OnceLock::new();
    static REACHED: [AtomicBool; NUMBERS] = [const { AtomicBool::new(false) }; NUMBERS];
    let (chosen, reached) = CHOSEN.get_or_init(|| {
        let chosen = std::env::var("MUTANT").map_or(0, |text| text.parse().unwrap());
        (chosen, std::env::var_os("MUTANTS_REACHED"))
    });
    if let Some(path) = reached {
        if !REACHED[number as usize].swap(true, Ordering::Relaxed) {
            let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
            std::io::Write::write_all(&mut file, format!("{number}\\n").as_bytes()).unwrap();
        }
    }
    *chosen == number
}
"""


@dataclass(frozen=True)
class Test:
    """One test: its program, where that runs, and how long the test takes alone."""

    program: Path
    place: Path
    name: str
    seconds: float = 0.0


def main() -> None:
    """Draws, builds and runs the mutants, and prints those that survive."""
    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=30)
    options.add_argument("--count", type=int, default=400)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=float, default=20, help="of tests for each mutant")
    options.add_argument("--only", default="", help="a part of the path")
    given = options.parse_args()
    until = time.monotonic() + 60 * given.minutes
    there = [mutant for law in LAWS for mutant in mutants_below(ROOT / "crates" / law)]
    chosen = [mutant for mutant in there if given.only in str(mutant.file)]
    random.Random(given.seed).shuffle(chosen)
    drawn = spread(chosen[: given.count])
    print(f"{len(drawn)} of {len(there)} mutants, drawn with seed {given.seed}", flush=True)
    programs, kept = build(drawn)
    reaching = who_reaches(programs, given.seconds)
    known = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["survivors"]
    reasons = {entry["mutant"]: entry["why"] for entry in known}
    run_all(reaching, kept, reasons, given.seconds, until)


def run_all(
    reaching: dict[int, list[Test]],
    mutants: dict[int, Mutant],
    reasons: dict[str, str],
    seconds: float,
    until: float,
) -> None:
    """Runs the mutants in the order in which they were drawn, until the time is over."""

    def outcome(number: int) -> str | None:
        if time.monotonic() > until:
            return None
        return "survived" if survives(number, within(reaching[number], seconds)) else "killed"

    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(outcome, mutants)
        for (number, mutant), result in zip(mutants.items(), outcomes, strict=True):
            if result is None:
                continue
            if result == "survived":
                # A line number moves with other changes of its file.
                why = reasons.get(re.sub(r":\d+:", ":", mutant.name, count=1), "NEW")
                result = "equal" if why.startswith("equal") else result
                how = "" if reaching[number] else "no test reaches it, "
                print(f"survived: {mutant.name} ({how}{why})", flush=True)
            counts[law_of(mutant)][result] += 1
    show(counts)


def show(counts: dict[str, Counter[str]]) -> None:
    """Prints how many each law's tests kill, and fails where that is too few."""
    for law, of_law in (*sorted(counts.items()), ("all", sum(counts.values(), Counter()))):
        different = of_law["killed"] + of_law["survived"]
        share = 100 * of_law["killed"] / max(1, different)
        print(
            f"{law}: {different + of_law['equal']} run, {of_law['killed']} killed, "
            f"{of_law['equal']} equal to the original: {share:.1f} % killed"
        )
    if share < 95:
        sys.exit(1)


def spread(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Those that do not overlap with one before them."""
    kept: list[Mutant] = []
    for one in mutants:
        if not any(o.file == one.file and one.start < o.end and o.start < one.end for o in kept):
            kept.append(one)
    return kept


def build(drawn: Sequence[Mutant]) -> tuple[list[tuple[Path, Path]], dict[int, Mutant]]:
    """Test programs with all mutants in them and their crates; the mutants that do compile."""
    place = ROOT / "out" / "mutants"
    shutil.rmtree(place / "crates", ignore_errors=True)
    for name in ("crates", "scenarios", "docs", "tests/data"):
        shutil.copytree(ROOT / name, place / name, dirs_exist_ok=True)
    for name in ("Cargo.toml", "Cargo.lock", "README.md"):
        shutil.copy2(ROOT / name, place / name)
    left = dict(enumerate(drawn, 1))
    switch = SWITCH.replace("NUMBERS", str(len(drawn) + 1))
    for file in sorted({ROOT / "crates" / crate_of(m) / "src" / "lib.rs" for m in drawn}):
        switched = place / file.relative_to(ROOT)
        switched.write_text(ALLOWED + switched.read_text() + switch)
    crates = sorted({crate_of(mutant) for mutant in drawn})
    files = sorted({mutant.file for mutant in drawn})
    while True:
        spans = write(place, left, files)
        errors = [
            (span["file_name"], span["byte_start"])
            for message in cargo(place, crates, "check", "--keep-going", "--lib")
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
    result = cargo(place, sorted({*crates, *WHOLE}), "test", "--no-run", "--lib", "--tests")
    messages = [one["message"] for one in result if "message" in one]
    if any(message["level"] == "error" for message in messages):
        raise SystemExit("\n".join(str(message["rendered"]) for message in messages))
    built = [message for message in result if message.get("executable")]
    return [(Path(m["executable"]), Path(m["manifest_path"]).parent) for m in built], left


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
    """What cargo reports of the crates."""
    packages = [word for crate in crates for word in ("--package", crate)]
    typed = ["cargo", *command, "--offline", "--message-format=json", *packages]
    # Builds in the usual place would be taken for those of the repository, whose sources are older.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(place / "target")}
    done = subprocess.run(typed, cwd=place, env=environment, capture_output=True, text=True)
    result = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode and not any(message["reason"] == "compiler-message" for message in result):
        raise SystemExit(done.stderr)
    return result


def who_reaches(programs: Sequence[tuple[Path, Path]], most_s: float) -> dict[int, list[Test]]:
    """The tests that reach each mutant, the quickest first."""
    tests = [Test(*program, name) for program in programs for name in names_of(*program)]
    table: dict[int, list[Test]] = defaultdict(list)
    left_out = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda test: reached_by(test, most_s), tests):
            if found is None:
                left_out += 1
                continue
            test, numbers = found
            for number in numbers:
                table[number].append(test)
    print(f"{len(tests)} tests, {left_out} of them too long or failing by themselves", flush=True)
    for reaching in table.values():
        reaching.sort(key=lambda test: test.seconds)
    return table


def names_of(program: Path, place: Path) -> list[str]:
    """The tests of a program that may kill a mutant."""
    listed = subprocess.run(
        [program, "--list", "--format", "terse"],
        cwd=place, capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = re.findall(r"^(.*): test$", listed.stdout, re.MULTILINE)
    not_counted = set(of_whole_runs(place))
    return [n for n in names if "at_random" not in n and n.split("::")[-1] not in not_counted]


def of_whole_runs(crate: Path) -> Iterator[str]:
    """The functions of a crate that compare fingerprints or snapshots."""
    for file in crate.rglob("*.rs"):
        for function in re.split(r"\n(?= *(?:pub )?fn )", file.read_text()):
            named = re.match(r" *(?:pub )?fn (\w+)", function)
            if named and NOT_COUNTED.search(function):
                yield named[1]


def reached_by(test: Test, most_s: float) -> tuple[Test, list[int]] | None:
    """A test with its time, and the mutants that it reaches; nothing if it does not pass."""
    with tempfile.NamedTemporaryFile("r") as reached:
        seconds = run([test], most_s, MUTANTS_REACHED=reached.name)
        if seconds is None:
            return None
        numbers = [int(line) for line in reached.read().split()]
    return Test(test.program, test.place, test.name, seconds), numbers


def within(tests: Sequence[Test], seconds: float) -> list[Test]:
    """The first tests, so many that they take no longer than this together."""
    kept, left = [], seconds
    for test in tests:
        left -= test.seconds
        if left < 0:
            break
        kept.append(test)
    return kept


def survives(number: int, tests: Sequence[Test]) -> bool:
    """Do the tests pass with the mutant on? They run in batches, the first to fail is the last."""
    batches: dict[Path, list[Test]] = defaultdict(list)
    for test in tests:
        batch = batches[test.program]
        batch.append(test)
        if sum(one.seconds for one in batch) > BATCH_S:
            if run(batch, MOST_CPU_S, MUTANT=str(number)) is None:
                return False
            del batches[test.program]
    return all(run(batch, MOST_CPU_S, MUTANT=str(number)) is not None for batch in batches.values())


def run(tests: Sequence[Test], most_s: float, **environment: str) -> float | None:
    """The seconds of tests of one program, or nothing if they do not pass."""
    cpu_s = int(most_s + 5 * sum(test.seconds for test in tests)) + 1

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

    process = subprocess.Popen(
        [tests[0].program, "--quiet", "--exact", *(test.name for test in tests)],
        env={**os.environ, "RUST_TEST_THREADS": "1", **environment},
        preexec_fn=limit,
        cwd=tests[0].place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime if process.returncode == 0 else None


def law_of(mutant: Mutant) -> str:
    file = str(mutant.file.relative_to(ROOT / "crates"))
    return next(law for law in LAWS if file.startswith(law)).replace("/src", "")


def crate_of(mutant: Mutant) -> str:
    return mutant.file.relative_to(ROOT).parts[1]


if __name__ == "__main__":
    main()
