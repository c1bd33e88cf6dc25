"""Results whose values are damaged while their checksums are right: they work, or are refused.

The suite tries some damages, and commands with a few of them. `make damage` tries many, each with a
command.
"""

import csv
import json
import os
import resource
import shutil
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from itertools import product
from math import inf, nan
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sojourn
from sojourn.base.toml_text import toml_document
from sojourn.store.checksums import SUMS, StoreError
from sojourn.store.listing import listed_runs, runs_of_summary
from sojourn.store.replace import Wanted, check
from sojourn.store.store import Store
from sojourn.store.stored_run import StoredRun
from sojourn.store.table_file import parquet_of
from stores import STUDY, command, resealed

SCENARIO = {
    "duration_s": 0.3,
    "upstream": {"sustained_mbps": 5, "queue": {"law": {"kind": "codel"}}},
    "downstream": {"sustained_mbps": 20},
    "servers": {"files": {"delay_ms": 9}},
    "traffic": {
        "upload": {"kind": "transfer", "server": "files"},
        "game": {"kind": "stream", "purpose": "game", "server": "files"},
        "web": {"kind": "web", "servers": ["files"]},
    },
    "metrics": {"packet_trace": True, "modem_trace": True},
}
MANY = int(os.environ.get("DAMAGES", 0))
TRIED, COMMANDS = (MANY, MANY) if MANY else (300, 8)
MOST_NEW_BYTES = 1 << 30

VALUES = (
    *(None, True, -1, 0, 0.0, 2**53 + 1, 2**62, 2**64 - 1, 10**400, 0.5, -0.5, 1e308, nan, inf),
    *("", "x", "a\u202eb", "\x1b[2J", "\x07", "\u200b", "\0", "\ud800", "..", "/dev", "a" * 10_000),
    *([], {}, [[[]]], {"": {}}),
)

Damage = tuple[str, Callable[[], object]]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what `run --out` and `sweep` write; if many are tried, the others too."""
    place = tmp_path_factory.mktemp("stored")
    sojourn.run({**SCENARIO, "compare": {"one": {}, "two": {"seed": 2}}}).save(place / "run")
    (place / "home.toml").write_text(toml_document(SCENARIO))
    (place / "sweep.toml").write_text(
        'scenario = "home.toml"\nkeys."upstream.sustained_mbps" = [5, 6]\n'
    )
    assert command("sweep", place / "sweep.toml", "--out", place / "sweep") == 0
    if MANY:
        assert command(*STUDY, "--out", place / "study") == 0
        assert command(*search_of(place), "--out", place / "find") == 0
    return place


def search_of(place: Path) -> tuple[object, ...]:
    """A search for the largest buffer."""
    options = ("--key", "upstream.queue.limit_bytes", "--until", "game p99 < 1000", "--seeds", "2")
    return ("find", place / "home.toml", *options, "--from", "16000", "--to", "32000")


def test_a_damaged_value_is_refused_or_does_no_harm(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random, commands = Random(int(os.environ.get("FUZZ_SEED", 7))), 0
    damages = [each for path in sorted(stored.rglob("*")) for each in damages_of(path)]
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for path, (what, damage) in random.sample(damages, TRIED):
        content, sums = path.read_bytes(), (path.parent / SUMS).read_bytes()
        damage()
        resealed(path.parent)
        directory = stored / path.relative_to(stored).parts[0]
        if is_readable(path) and commands < COMMANDS:
            commands += 1
            reader = random.choice(READERS)
            shutil.rmtree(tmp_path)
            shutil.copytree(directory, tmp_path / directory.name)
            capsys.readouterr()
            status = reader(tmp_path / directory.name, stored, tmp_path)
            printed = capsys.readouterr().err
            is_refused = status == 2 and printed.startswith("error: ") and printed.count("\n") == 1
            assert status == 0 or is_refused, f"{path}: {what}: {reader}: {printed}"
        path.write_bytes(content)
        (path.parent / SUMS).write_bytes(sums)
    assert commands == COMMANDS or MANY
    more_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    assert more_kb * 1024 < MOST_NEW_BYTES


def is_readable(path: Path) -> bool:
    """Is the file not refused when it is read alone? Most are."""
    try:
        if path.suffix == ".parquet":
            StoredRun(path.parent).table(path.stem)
        elif path.name == "summary.json":
            runs_of_summary(path.parent)
        elif path.name == "meta.json":
            _ = StoredRun(path.parent).meta
        elif path.name == "scenario.toml":
            _ = StoredRun(path.parent).settings
        elif path.name == "runs.csv":
            listed_runs(Store(path.parent))
    except StoreError as error:
        assert str(path.parent) in str(error)
        return False
    return True


def command_of(*words: str) -> Callable[[Path, Path, Path], int | str]:
    """A command that reads results and writes something else."""
    kind, *options = words
    out = [] if kind == "verify" or kind == "study" else ["--out", "{out}/written.svg"]

    def run(directory: Path, _: Path, there: Path) -> int | str:
        return command(kind, directory, *options, *(o.format(out=there) for o in out))

    return run


def opened(directory: Path, *_: Path) -> int:
    """Reads from Python."""
    try:
        results = sojourn.open(directory)
        results.summary()
        for table in ("flows", "latencies", "series", "connections"):
            results.tidy(table)  # type: ignore[union-attr]
    except (ValueError, OSError) as error:
        assert str(directory) in str(error) or "table" in str(error)
    return 0


def written_again(directory: Path, stored: Path, _: Path) -> int | str:
    """Reads the files that exist before it writes."""
    if directory.name == "run":
        try:
            check(directory, Wanted({"one": toml_document(SCENARIO)}, {"one": [1]}))
        except OSError as error:
            assert str(directory) in str(error)
        return 0
    again = {
        "study": STUDY,
        "sweep": ("sweep", stored / "sweep.toml", "--quiet"),
        "find": (*search_of(stored), "--quiet"),
    }
    return command(*again[directory.name], "--out", directory, "--resume")


PLOT_KINDS = ("cdf", "ccdf", "timeseries", "box", "ellipse")
PLOT_KINDS += ("heatmap", "sweep", "interval", "drops", "delay")
READERS = (
    *(opened, written_again, command_of("verify"), command_of("report")),
    *(command_of("plot", "--kind", kind) for kind in PLOT_KINDS),
    *(
        command_of("export", "--format", form, *variant)
        for form, variant in product(
            ["csv", "parquet", "arrow", "flent", "pcapng"], [[], ["--variant", "one"]]
        )
    ),
)


def damages_of(path: Path) -> Iterator[tuple[Path, Damage]]:
    """Ways to damage each value of a file of results."""
    kinds = {".json": of_json, ".csv": of_csv, ".toml": of_lines, ".parquet": of_table}
    if path.suffix in kinds and (path.parent / SUMS).exists():
        yield from ((path, damage) for damage in kinds[path.suffix](path))


def of_json(path: Path) -> Iterator[Damage]:
    """Each value, list and table of a document."""
    whole = path.read_text(encoding="utf-8")

    def change(place: Sequence[Any], value: object) -> None:
        document = [json.loads(whole)]
        inner: Any = document
        for key in (parents := [0, *place])[:-1]:
            inner = inner[key]
        inner[parents[-1]] = value
        path.write_text(json.dumps(document[0]))

    for place, value in product(places(json.loads(whole)), VALUES):
        yield f"{place} = {str(value)[:20]!r}", lambda p=place, v=value: change(p, v)


def places(value: object) -> Iterator[tuple[Any, ...]]:
    """The keys to each value of a document, to its lists and tables too."""
    yield ()
    pairs = enumerate(value) if isinstance(value, list) else ()
    for key, inner in value.items() if isinstance(value, dict) else pairs:
        yield from ((key, *rest) for rest in places(inner))


def of_csv(path: Path) -> Iterator[Damage]:
    """Each cell."""
    whole = path.read_text(encoding="utf-8")

    def change(row: int, column: int, value: object) -> None:
        rows = list(csv.reader(StringIO(whole)))
        rows[row][column] = str(value)
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        path.write_bytes(text.getvalue().encode(errors="surrogatepass"))

    for row, cells in enumerate(csv.reader(StringIO(whole))):
        for column, value in product(range(len(cells)), VALUES):
            what = f"row {row}, column {column} = {str(value)[:20]!r}"
            yield what, lambda r=row, c=column, v=value: change(r, c, v)


def of_lines(path: Path) -> Iterator[Damage]:
    """Each line of TOML."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    values = ("-1", "1e308", "nan", '"x"', "[]", "{}", "9" * 400, '"\\u202e"', '"\\u001b"')
    for number, line in enumerate(lines):
        key = line.partition("=")[0]
        deep = f"{key} = {'[' * 9999}{']' * 9999}\n"
        for change in ("", line * 2, deep, *(f"{key} = {value}\n" for value in values)):
            text = "".join([*lines[:number], change, *lines[number + 1 :]])
            yield f"line {number}: {change[:50]!r}", lambda t=text: path.write_text(t)


def of_table(path: Path) -> Iterator[Damage]:
    """Each column of a table, and its rows."""

    def changed(change: Callable[[pa.Table], pa.Table]) -> Callable[[], object]:
        return lambda: path.write_bytes(parquet_of(change(pq.read_table(path))))

    yield "no rows", changed(lambda table: table.slice(0, 0))
    yield "twice", changed(lambda table: pa.concat_tables([table, table]))
    yield "many rows", changed(lambda table: table.take(pa.repeat(0, min(len(table), 1) * 10**6)))
    schema = pq.read_schema(path)
    for name in schema.names:
        yield f"no {name}", changed(lambda table, n=name: table.drop_columns([n]))
        yield f"{name} twice", changed(lambda table, n=name: table.append_column(n, table[n]))
        for value, kind in product(VALUES, (schema.field(name).type, None)):
            what = f"{name} = {str(value)[:20]!r} as {kind}"
            yield what, changed(lambda table, c=(name, value, kind): filled(table, *c))


def filled(table: pa.Table, name: str, value: object, kind: pa.DataType | None) -> pa.Table:
    """The table with this value in each row of a column, if there are such values of its type."""
    inner = kind.value_type if kind and pa.types.is_dictionary(kind) else kind
    try:
        column = pa.array([value] * len(table), inner)
        column = column.cast(kind) if kind else column
        pq.write_table(pa.table({"column": column}), pa.BufferOutputStream())
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        return table
    return table.set_column(table.column_names.index(name), name, column)
