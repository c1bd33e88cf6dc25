"""The keys of scenario files as their JSON Schema describes them, and a reference of any part."""

import json
import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .._sojourn import schema_json, unit_of
from ..base.lookup import look_up
from .parts import known

Schema = Mapping[str, Any]

NAME = "NAME"
"""Stands in paths for a name that the user chooses."""

SCHEMA_ID = "urn:sojourn:scenario"
"""The `$id` of the schema. It names it and leads nowhere: no host has to answer."""

_COMPARE = "compare"


def schema_text() -> str:
    """The JSON Schema of scenario files, with its `$id`."""
    schema = json.loads(schema_json([part.native for part in known()]))
    first = {"$schema": schema.pop("$schema"), "$id": SCHEMA_ID}
    return json.dumps({**first, **schema}, indent=2, ensure_ascii=False) + "\n"


class ScenarioSchema:
    """The schema of scenario files, and what it says of a key."""

    def __init__(self) -> None:
        """Reads the schema of this version."""
        self.root: Schema = json.loads(schema_json([part.native for part in known()]))

    def resolved(self, value: Schema) -> Schema:
        """The type that a reference means, without the alternative `null`."""
        if "anyOf" in value:
            value = next(choice for choice in value["anyOf"] if choice.get("type") != "null")
        return self.root["$defs"][name_of(value)] if "$ref" in value else value

    def tables(self, value: Schema) -> Sequence[Schema]:
        """The tables that a value may be: one, one for each `kind`, or those of a map or list."""
        kind = self.resolved(value)
        if is_map(kind):
            return self.tables(kind["additionalProperties"])
        if "items" in kind:
            return self.tables(kind["items"])
        choices = kind.get("oneOf", [kind])
        return [self.resolved(c) for c in choices if "properties" in self.resolved(c)]

    def has_keys(self, value: Schema) -> bool:
        """Is the value a table?"""
        return value.get("type") == "object" or bool(self.tables(value))

    def all_keys(self, value: Schema, path: str = "") -> Iterator[tuple[str, str]]:
        """All keys, kinds and words below a path, with what they mean."""
        inside = f"{path}.{NAME}" if is_map(self.resolved(value)) else path
        for table in self.tables(value):
            if kind := kind_of(table):
                yield f"{inside}.{kind}", one_line(table.get("description", ""))
            for name, inner in table["properties"].items():
                if "const" not in inner:
                    key = f"{inside}.{name}".lstrip(".")
                    yield key, one_line(inner.get("description", ""))
                    yield from ((f"{key} = {word}", what) for word, what in self.words(inner))
                    yield from self.all_keys(inner, key)

    def words(self, value: Schema) -> Iterator[tuple[str, str]]:
        """The words that a value may be, with what they mean."""
        for choice in self.resolved(value).get("oneOf", ()):
            if choice.get("type") == "string":
                yield choice["const"], one_line(choice.get("description", ""))

    def facts(self, path: str, value: Schema, is_required: bool) -> Iterator[str]:
        """Type, unit, range and default of a key, a phrase each."""
        yield self.type_of(value)
        if unit := unit_of(path):
            yield f"Unit: {unit}"
        if bounds := _bounds({**self.resolved(value), **value}):
            yield f"Range: {bounds}"
        if is_required:
            yield "Required"
        elif (default := _default(value)) is not None:
            yield f"Default: {default}"
        if value.get("x-live"):
            yield "May change in a run"

    def type_of(self, value: Schema) -> str:
        """The type of a value, in words."""
        kind = self.resolved(value)
        if "oneOf" in kind:
            return "Table, chosen by `kind`" if self.tables(value) else "Text"
        if is_map(kind):
            return "Tables by name"
        names = kind.get("type", "value")
        types = [name for name in ([names] if isinstance(names, str) else names) if name != "null"]
        return " or ".join(_TYPES.get(name, "`true` or `false`") for name in types).capitalize()


_TYPES = {
    "object": "table",
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "array": "list",
}


def name_of(value: Schema) -> str:
    """The name of the type that a reference means."""
    return str(value.get("$ref", "")).rsplit("/", 1)[-1]


def kind_of(table: Schema) -> str | None:
    """The `kind` of a table that is one of several."""
    kind: str | None = table["properties"].get("kind", {}).get("const")
    return kind


def is_map(kind: Schema) -> bool:
    """Has the table names that the user chooses?"""
    return isinstance(kind.get("additionalProperties"), dict) and "properties" not in kind


def one_line(text: str) -> str:
    """The text without line breaks."""
    return " ".join(text.split())


def _bounds(kind: Schema) -> str:
    low, high = kind.get("minimum"), kind.get("maximum")
    if low is None and high is None:
        return ""
    if high is None:
        return f"{_number(low)} or more"
    return f"{_number(low)} to {_number(high)}"


def _number(value: Any) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _default(value: Schema) -> str | None:
    """A default that is a plain value; those of tables are the defaults of their keys."""
    default = value.get("default")
    if default is None or default == "":
        return None
    if isinstance(default, dict):
        return f'`kind = "{default["kind"]}"`' if set(default) == {"kind"} else None
    return f"`{json.dumps(default)}`"


def reference(path: str, width: int | None = None) -> str:
    """The keys at a dotted path, as text: types, units, ranges, defaults and meanings.

    A path may go through names that the user chooses (`traffic.call`), and through a `kind`
    (`upstream.queue.law.codel`). Raises `UnknownError` for a key that does not exist.

        >>> print(sojourn.runs.scenario_keys.reference("upstream.queue.limit_packets", 60))
        upstream.queue.limit_packets
            Whole number. Unit: packets. Range: 1 to 10000000. May
            change in a run.
            Packets that the queue may hold. Default: no limit in
            packets.
    """
    return _Reference(width or min(shutil.get_terminal_size().columns, 100)).text(path)


_FOUND_AT_MOST = 12


def search(sought: str) -> list[str]:
    """A line for each key, kind and word with this name, nearest to the root first.

    If there is none, for each of whose name it is a part, or else of whose meaning.
    """
    schema = ScenarioSchema()
    keys = dict(schema.all_keys(schema.root))
    in_order = sorted(keys, key=lambda path: path.count("."))
    tests: list[Callable[[str], bool]] = [
        lambda path: _last(path) == sought,
        lambda path: sought in _last(path),
        lambda path: sought in keys[path].lower(),
    ]
    found = next(filter(None, ([*filter(test, in_order)] for test in tests)), [])
    lines = [f"{path}: {keys[path].split('. ')[0].rstrip('.')}" for path in found[:_FOUND_AT_MOST]]
    more = len(found) - len(lines)
    return [*lines, f"and {more} more"] if more else lines


def _last(path: str) -> str:
    return path.replace(" = ", ".").rpartition(".")[2]


class _Reference:
    def __init__(self, width: int) -> None:
        self._schema = ScenarioSchema()
        self._width = width

    def text(self, path: str) -> str:
        value, is_required, kind = self._schema.root, True, None
        done: list[str] = []
        for step in path.split("."):
            is_of_each = kind is None and self._is_of_each(value, step)
            value, is_required, kind = self._step(value, kind, step, ".".join(done))
            done += [NAME, step] if is_of_each else [step]
        return "\n".join(self._entry(".".join(done), value, is_required, kind))

    def _is_of_each(self, value: Schema, step: str) -> bool:
        """Is it a key of the tables by name, with the name left out?"""
        return is_map(self._schema.resolved(value)) and self._is_key(
            self._schema.tables(value), step
        )

    def _step(
        self, value: Schema, kind: str | None, step: str, above: str
    ) -> tuple[Schema, bool, str | None]:
        """From a table to one of its keys, kinds or names."""
        resolved = self._schema.resolved(value)
        tables = self._schema.tables(value)
        kinds = {kind_of(table): table for table in tables if kind_of(table)}
        if kind is None and step in kinds:
            return value, True, step
        if is_map(resolved) and kind is None and not self._is_key(tables, step):
            return resolved["additionalProperties"], False, None
        chosen = [kinds[kind]] if kind else tables
        for table in chosen:
            if step in table["properties"]:
                return table["properties"][step], step in table.get("required", ()), None
        there = [key for table in chosen for key in table["properties"] if key != "kind"]
        names = [*dict.fromkeys([*there, *(name for name in kinds if name and not kind)])]
        look_up(f"key of {above or 'a scenario'}", step, names)
        raise AssertionError(step)

    def _is_key(self, tables: Sequence[Schema], step: str) -> bool:
        return any(step in table["properties"] for table in tables)

    def _entry(
        self, path: str, value: Schema, is_required: bool, kind: str | None
    ) -> Iterator[str]:
        yield path if kind is None else f'{path}   (kind = "{kind}")'
        tables = self._schema.tables(value)
        if kind is None:
            yield from self._described(path, value, is_required)
        base = path if kind is None else path.rpartition(".")[0]
        if is_map(self._schema.resolved(value)):
            base = f"{base}.{NAME}"
        kinds = [table for table in tables if kind_of(table)]
        shown = [table for table in tables if kind is None or kind_of(table) == kind]
        if kinds and kind is None:
            yield ""
            yield f"  {base}.kind is one of these (see: sojourn schema {path}.KIND)"
            for table in kinds:
                meaning = one_line(table.get("description", "")).split(". ")[0].rstrip(".")
                yield from self._filled(f"{kind_of(table)}: {meaning}".rstrip(": "), 4, 2)
            return
        for table in shown:
            if kind is not None:
                yield from self._filled(one_line(table.get("description", "")), 4)
            for name, inner in table["properties"].items():
                if "const" not in inner:
                    yield ""
                    yield f"  {base}.{name}"
                    required = name in table.get("required", ())
                    yield from self._described(f"{base}.{name}", inner, required, 6)

    def _described(
        self, path: str, value: Schema, is_required: bool, indent: int = 4
    ) -> Iterator[str]:
        facts = ". ".join(self._schema.facts(path, value, is_required))
        yield from self._filled(f"{facts}.", indent)
        yield from self._filled(one_line(value.get("description", "")), indent)
        for word, meaning in self._schema.words(value):
            yield from self._filled(f"{word}: {meaning}", indent + 2, 2)

    def _filled(self, text: str, indent: int, hanging: int = 0) -> list[str]:
        margin = " " * indent
        return textwrap.wrap(
            text.replace("`", ""),
            self._width,
            initial_indent=margin,
            subsequent_indent=margin + " " * hanging,
            break_on_hyphens=False,
        )
