"""Sweeps: a scenario run for every combination of key values and seeds, into a store."""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, product
from math import prod
from pathlib import Path
from typing import Any

from .._sojourn import ScenarioError, Variant, read_document, schema_json
from ..analysis.tables import TRACES
from ..base.errors import Problem, Warning
from ..base.files import place_of, read_text
from ..base.json_text import json_of
from ..base.plain_text import is_plain, plain_name
from ..base.problems import refusal, refused
from ..base.terminal import tell
from ..base.toml_text import are_nested, dotted, key_path, toml_value
from ..runs.request import Request
from ..runs.scenario import Loaded, key_of
from ..runs.seeds import MOST_SEEDS
from .batch import run_batch
from .checksums import Checksums, DamagedError, StoreError
from .listing import listed_lines
from .shard import Shard, about_part, refuse_other_part
from .store import ORIGIN, PLAN, Store
from .task import Task, task_of

_LISTS = {"type": "object", "additionalProperties": {"type": "array", "minItems": 1}}
_SCHEMA = json.dumps(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["scenario"],
        "properties": {
            "scenario": {
                "type": "string",
                "description": "The path of the scenario, relative to this file.",
            },
            "seeds": {"type": "integer", "minimum": 1, "maximum": MOST_SEEDS},
            "duration_s": {"type": "number"},
            "series": {"type": "boolean"},
            "latencies": {"type": "boolean"},
            "config": {"description": "The path of a modem configuration file, or a list of such."},
            "keys": _LISTS,
            "together": {"type": "array", "items": _LISTS},
        },
    }
)
_OF_A_SCENARIO = frozenset(json.loads(schema_json())["properties"])
_A_KEY = "upstream.queue.limit_bytes"
_KEPT = ("service_flows", "channels", "latency_histogram", "delay_parts", "first_half")
"""Short tables that sweeps store beside those of every store."""
_MOST_COMBINATIONS = 100_000
"""Combinations of values and seeds of a sweep, each of which is read before the first run."""


@dataclass(frozen=True)
class Sweep:
    """A sweep: a scenario, lists of values for its keys, and seeds 1 to `seeds`."""

    file: Path | str
    """The path of the sweep file, or what else it is called in error messages."""
    request: Request
    """One scenario, and what overrides it in all runs."""
    keys: Mapping[str, Sequence[Any]]
    together: Sequence[Mapping[str, Sequence[Any]]] = ()
    """Keys whose values change together: the first of each, the second of each and so on."""
    seeds: int = 1
    series: bool = False
    """Store the time series."""
    latencies: bool = True
    """Store the latency distributions."""

    def task(self, variant: Variant) -> Task:
        """The task to run a variant, which keeps traces if the scenario records them."""
        metrics = json.loads(variant.to_json())["metrics"]
        traces = (tables for key, tables in TRACES.items() if metrics[key])
        optional = [name for name in ("series", "latencies") if getattr(self, name)]
        tables = [*_KEPT, *optional, *chain.from_iterable(traces)]
        return task_of(variant, tables, variant.notes if self.request.configs else ())

    @property
    def variants(self) -> dict[tuple[str, ...], Variant]:
        """The variants to run, by key values, variant and seed."""
        return {
            (*map(toml_value, point.values()), variant.kept_name, str(seed)): variant
            for point in self._points()
            for seed in range(1, self.seeds + 1)
            for variant in self._load(seed, point)
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The swept keys, then variant and seed."""
        return (*self.keys, *(key for block in self.together for key in block), "variant", "seed")

    def _points(self) -> Iterator[dict[str, Any]]:
        """Every combination of values, by key. Keys that change together are one axis."""
        blocks = [*({key: values} for key, values in self.keys.items()), *self.together]
        axes = [
            [dict(zip(block, values, strict=True)) for values in zip(*block.values(), strict=True)]
            for block in blocks
        ]
        for parts in product(*axes):
            yield {key: value for part in parts for key, value in part.items()}

    def _load(self, seed: int, point: Mapping[str, Any]) -> Loaded:
        try:
            return replace(self.request, seed=seed).load(point)
        except ScenarioError as error:
            raise self._named(error, point) from None

    def _named(self, error: ScenarioError, point: Mapping[str, Any]) -> ScenarioError:
        """Restates an error for these key values as one of the sweep file."""
        restated = [self._restated(problem, point) for problem in error.problems]
        return refused(ScenarioError, restated, error.rest)

    def _restated(self, problem: Problem, point: Mapping[str, Any]) -> Problem:
        request = self.request
        sources = [f"--set {one}" for one in request.set] + [
            f"--vary {one}" for one in request.vary
        ]
        if problem.source in (*sources, *request.names.values()):
            return problem
        for key in (*point, "duration_s"):
            if not problem.source.startswith(f"--set {key}="):
                continue
            place = f"{self._block_of(key)}.{key}" if key in point else key
            if not problem.path:
                message = f"not a valid key; allowed: a dotted TOML key, such as {_A_KEY}"
                return replace(problem, source=str(self.file), path=place, message=message)
            path = "" if problem.path == key else f"{problem.path}: "
            message = f"{path}{problem.message}"
            return replace(problem, source=str(self.file), path=place, message=message)
        if not point:
            return problem
        values = ", ".join(f"{key} = {toml_value(value)}" for key, value in point.items())
        message = f"at {values}: {problem}"
        return replace(problem, source=str(self.file), line=None, path="keys", message=message)

    def _block_of(self, key: str) -> str:
        """The table of the sweep file that holds a key."""
        blocks = [f"together.{n}" for n, block in enumerate(self.together) if key in block]
        return blocks[0] if blocks else "keys"


def read_sweep(path: Path) -> Sweep:
    """Reads a sweep file; raises `ScenarioError` if it is invalid."""
    text = read_text(path)
    try:
        table = json.loads(read_document(text, _SCHEMA, str(path)))
    except ScenarioError as error:
        first = error.problems[0]
        is_a_scenario = first.path in _OF_A_SCENARIO and first.code == "unknown-key"
        if is_a_scenario and not names_scenario(text):
            found = f'found a key of a scenario; a sweep file has scenario = "{path.name}" instead'
            raise _problem(path, first.path, found, code="not-a-scenario") from None
        is_table = isinstance(first.values.get("found"), dict)
        if first.path.startswith(("keys.", "together.")) and is_table:
            found = f'found a table; allowed: a list, whose key is in quotes, as "{_A_KEY}"'
            raise _problem(path, first.path, found, code="wrong-type") from None
        raise
    config = table.pop("config", [])
    scenario, duration_s = table.pop("scenario"), table.pop("duration_s", None)
    sweep = Sweep(path, Request(duration_s=duration_s), **{"keys": {}, **table})
    checked(sweep)
    configs = [_beside(path, "config", name) for name in _listed(config)]
    scenarios = (_beside(path, "scenario", scenario),)
    return replace(sweep, request=replace(sweep.request, scenarios=scenarios, configs=configs))


def names_scenario(text: str) -> bool:
    """Is it TOML with the key of a sweep file that a scenario does not have?"""
    try:
        return "scenario" in json.loads(read_document(text, "{}", ""))
    except ScenarioError:
        return False


def _listed(names: object) -> Sequence[object]:
    return names if isinstance(names, list) else [names]


def _beside(path: Path, key: str, name: object) -> Path:
    """The file that a key of a sweep file names."""
    if not isinstance(name, str) or not (place := path.parent / name).exists():
        allowed = "the path of an existing file, relative to the sweep file"
        raise _problem(path, key, f"found {toml_value(name)}; allowed: {allowed}")
    return place


def overridden(
    sweep: Sweep, request: Request, seeds: int | None, series: bool | None = None
) -> Sweep:
    """The sweep with these values, where they are given; raises `ScenarioError` as `checked`."""
    return checked(
        replace(
            sweep,
            request=request.over(sweep.request),
            seeds=sweep.seeds if seeds is None else seeds,
            series=sweep.series if series is None else series,
        )
    )


def checked(sweep: Sweep) -> Sweep:
    """The sweep itself; raises `ScenarioError` for what cannot be swept, or not at once."""
    if not 1 <= sweep.seeds <= MOST_SEEDS:
        found = f"found {sweep.seeds}; allowed: 1 to {MOST_SEEDS}"
        raise refusal(ScenarioError, str(sweep.file), "seeds", found, code="out-of-range")
    _check_keys(sweep)
    return sweep


def run_sweep(
    sweep: Sweep,
    directory: Path,
    *,
    resume: bool = False,
    overwrite: bool = False,
    jobs: int | None = None,
    dask: str | None = None,
    quiet: bool = False,
    shard: Shard | None = None,
) -> Store:
    """Runs every combination with `run_batch`, or a shard of them; `runs.csv` lists them.

    Raises `StoreError` if the directory holds a study. So it does if it holds another sweep or
    other runs of this one, unless `overwrite`; `resume` keeps such runs of this one.
    """
    origin = place_of(sweep.file, directory) if isinstance(sweep.file, Path) else ""
    variants = sweep.variants
    if not quiet:
        _tell_notes(variants)
    columns = sweep.columns
    tasks, about = about_part(
        columns, {name: sweep.task(variant) for name, variant in variants.items()}, shard
    )
    labels = [
        ", ".join(f"{column} {value}" for column, value in zip(columns, name, strict=True) if value)
        for name in tasks
    ]
    return run_batch(
        list(tasks.values()),
        directory,
        resume=resume,
        overwrite=overwrite,
        jobs=jobs,
        dask=dask,
        labels=labels,
        quiet=quiet,
        about={**about, ORIGIN: origin_json(origin)},
        check=lambda: _check(directory, origin, tasks, shard, resume=resume, overwrite=overwrite),
    )


def origin_json(origin: str) -> bytes:
    """The content of the file that names the sweep file, by its path from the store."""
    return (json.dumps({"sweep": origin}) + "\n").encode()


def _tell_notes(variants: Mapping[tuple[str, ...], Variant]) -> None:
    """Warns of variants that are equal, once for each that is run."""
    notes: dict[str, Sequence[Warning]] = {}
    for (*_, kept_name, _), variant in variants.items():
        if variant.notes:
            notes.setdefault(kept_name, variant.notes)
    for note in dict.fromkeys(map(str, chain.from_iterable(notes.values()))):
        tell(f"warning: {note}")


def _check(
    directory: Path,
    origin: str,
    tasks: Mapping[tuple[str, ...], Task],
    shard: Shard | None,
    *,
    resume: bool,
    overwrite: bool,
) -> None:
    """Raises `StoreError` if the directory holds a study, another sweep or part, or other runs.

    Damaged files name none, and are written again.
    """
    if (directory / PLAN).exists():
        raise StoreError(f"{directory}: holds a study; allowed: another directory")
    if overwrite:
        return
    refuse_other_part(directory, shard)
    try:
        earlier = json_of(Checksums(directory).read(ORIGIN))["sweep"]
        found = os.path.relpath(directory / earlier) if earlier else "a sweep without a file"
    except (ValueError, KeyError, TypeError):
        return
    there: set[str] = set()
    with suppress(DamagedError):
        there = {line["run"] for line in listed_lines(Store(directory))}
    allowed = "another directory, or --overwrite (in Python, overwrite=True) to replace them"
    if earlier != origin:
        raise StoreError(f"{directory}: holds results of {found}; allowed: {allowed}")
    others = len(there.difference(task.run for task in tasks.values()))
    if others and Store(directory).runs and not resume:
        raise StoreError(
            f"{directory}: holds results of {found}, and {others} of its {len(there)} runs are not "
            "in this sweep, since seeds, values or the scenario differ; allowed: --resume to add "
            f"what is missing, {allowed}"
        )


def _check_keys(sweep: Sweep) -> None:
    """Raises `ScenarioError` for keys that cannot be swept, or not as they are given."""
    blocks = {"keys": sweep.keys}
    blocks |= {f"together.{n}": block for n, block in enumerate(sweep.together)}
    seen: dict[str, str] = {}
    problems = []
    for place, block in blocks.items():
        for key, values in block.items():
            if message := _fault(key, values, sweep, seen):
                problems.append(Problem(str(sweep.file), f"{place}.{key}", message))
                continue
            first, length = next((name, len(there)) for name, there in block.items())
            if place != "keys" and len(values) != length:
                found = f"found {len(values)} values; allowed: {length}, as many as {first} has"
                problems.append(Problem(str(sweep.file), f"{place}.{key}", found))
            seen.setdefault(key, place)
    for option in ("set", "vary"):
        for change in getattr(sweep.request, option):
            if message := _conflict(change, sweep, seen):
                problems.append(Problem(f"--{option} {change}", "", message))
    if not problems and (count := _combinations(sweep)) > _MOST_COMBINATIONS:
        found = f"found {count} combinations of values and seeds"
        allowed = f"allowed: {_MOST_COMBINATIONS} or fewer"
        problems = [Problem(str(sweep.file), "keys", f"{found}; {allowed}", code="too-large")]
    if problems:
        raise refused(ScenarioError, problems)


def _combinations(sweep: Sweep) -> int:
    """How many combinations of values and seeds there are. Keys that change together are one."""
    together = (next(iter(block.values()), ()) for block in sweep.together)
    side_by_side = max(1, len(sweep.request.configs)) * (1 + len(sweep.request.vary))
    return sweep.seeds * side_by_side * prod(map(len, (*sweep.keys.values(), *together)))


def _fault(key: str, values: object, sweep: Sweep, seen: Mapping[str, str]) -> str:
    """What is wrong with sweeping a key; empty if nothing is."""
    if isinstance(values, str) or not isinstance(values, Collection) or not len(values):
        return f"found {values!r}; allowed: a list of 1 or more items"
    if key == "seed":
        return "not allowed here; set seeds = N to run the seeds 1 to N"
    if key == "duration_s" and sweep.request.duration_s is not None:
        return "duration_s is set too; allowed: one of them"
    texts = (one if isinstance(one, str) else toml_value(one) for one in values)
    if odd := next((text for text in texts if not is_plain(text)), ""):
        return f"found {plain_name(odd)}; allowed: values of one line without invisible characters"
    if (path := key_path(key)) and dotted(path) != key:
        return f"found {key}; allowed: {dotted(path)}"
    if other := next((other for other in seen if are_nested(key, other)), ""):
        found = "too" if other == key else f"as {other}"
        return f"found in {seen[other]} {found}; allowed: in one of them"
    return ""


def _conflict(change: str, sweep: Sweep, seen: Mapping[str, str]) -> str:
    """What of a sweep a setting would override, or be overridden by; empty if nothing."""
    key = key_of(change)
    if key == "seed":
        return "not allowed here; set seeds = N to run the seeds 1 to N"
    if key == "duration_s" and sweep.request.duration_s is not None:
        return "duration_s is set too; allowed: one of them"
    for swept, place in seen.items():
        if are_nested(key, swept):
            return f"found, where {sweep.file} sweeps {swept} in {place}; allowed: one of them"
    return ""


def _problem(path: Path, key: str, message: str, code: str = "not-allowed") -> ScenarioError:
    return refusal(ScenarioError, str(path), key, message, code=code)
