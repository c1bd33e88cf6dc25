"""A key of a scenario whose values are numbers, as its schema and the scenario describe it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.lookup import UnknownError, listed, look_up
from ..base.toml_text import dotted, key_path
from .scenario_keys import ScenarioSchema, Schema, is_map, kind_of

_EXAMPLE = "homes.neighbours.count or upstream.queue.limit_bytes"


@dataclass(frozen=True)
class NumericKey:
    """Type, range and value of a key."""

    path: str
    is_whole: bool
    least: float
    most: float
    """The ends of its range; infinite where it has none."""
    value: float | None
    """Its value in the scenario; `None` if it has none, or one that depends on other keys."""


def numeric_key(path: str, settings: Mapping[str, Any], what: str = "key") -> NumericKey:
    """Describes a key of the scenario with these settings.

    Raises `UnknownError` for a key that does not exist or is no number, or of a name that the
    scenario does not have.
    """
    schema = ScenarioSchema()
    value: Schema = schema.root
    there: Any = settings
    done: list[str] = []
    for step in _steps(path, what):
        if step == "kind" and (kinds := _kinds(schema, value)):
            raise _no_number(f"{what} {path}", "a word", path, kinds)
        inner = there if isinstance(there, Mapping) else {}
        value = _inner(schema, value, inner, step, f"{what} {'.'.join([*done, step])}")
        there = inner.get(step)
        done.append(step)
    kind = {**schema.resolved(value), **value}
    types = {kind["type"]} if isinstance(kind.get("type"), str) else {*kind.get("type", ())}
    if not types & {"integer", "number"}:
        found = schema.type_of(value).lower().replace("`", "")
        kinds, words = _kinds(schema, value), [word for word, _ in schema.words(value)]
        choice = f"{path}.kind" if kinds else path
        raise _no_number(f"{what} {path}", f"the type {found}", choice, kinds or words)
    return NumericKey(
        path,
        "integer" in types,
        kind.get("minimum", float("-inf")),
        kind.get("maximum", float("inf")),
        there if isinstance(there, int | float) else None,
    )


def _kinds(schema: ScenarioSchema, value: Schema) -> list[str]:
    return [kind for table in schema.tables(value) if (kind := kind_of(table))]


def _no_number(what: str, found: str, choice: str, words: Sequence[str]) -> UnknownError:
    """The refusal of a key without numbers; words are compared, not searched."""
    compared = f". To compare its choices ({listed(words)}), run them side by side: sojourn run "
    example = " ".join(f"--vary {choice}={word}" for word in words[:2])
    more = f"{compared}SCENARIO {example}" if words else ""
    return UnknownError(f"{what}: found {found}; allowed: a key with a number{more}")


def _steps(path: str, what: str) -> Sequence[str]:
    """The parts of a dotted key, which may be in quotes."""
    steps = key_path(path)
    if dotted(steps) != path:
        allowed = dotted(steps) or f"a dotted key, such as {_EXAMPLE}"
        raise UnknownError(f"{what}: found {path!r}; allowed: {allowed}")
    if steps[0] in ("seed", "compare"):
        raise UnknownError(
            f"{what}: found {path}; allowed: a key of all variants and seeds, such as {_EXAMPLE}"
        )
    return steps


def _inner(
    schema: ScenarioSchema, value: Schema, there: Mapping[str, Any], step: str, what: str
) -> Schema:
    """From a table to one of its keys, or to one of the names that the scenario has in it."""
    if is_map(schema.resolved(value)):
        if not there:
            raise UnknownError(
                f"{what}: found {step!r}; allowed: a name that the scenario has there"
            )
        look_up(what, step, list(there))
        return schema.resolved(value)["additionalProperties"]  # type: ignore[no-any-return]
    tables = schema.tables(value)
    chosen = [table for table in tables if kind_of(table) in (None, there.get("kind"))] or tables
    keys: dict[str, Schema] = {
        key: inner for table in chosen for key, inner in table["properties"].items()
    }
    if keys.keys() == {"kind"}:
        raise UnknownError(
            f"{what}: found with kind {there['kind']}, which has no keys; allowed: another kind"
        )
    return keys[look_up(what, step, [key for key in keys if key != "kind"])]
