"""Reference pages of scenario keys, generated from the JSON Schema of scenario files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn._sojourn import schema_json

Schema = Mapping[str, Any]

# Types that several sections use have a page of their own.
_SHARED = {
    "QueueSpec": ("queue", "Queue managers: `queue`"),
    "ServiceFlow": ("flows", "Further service flows: `flows`"),
    "Classifier": ("match", "Classifiers: `match`"),
    "TcpOptions": ("tcp", "TCP: `tcp`"),
}
_GENERAL = "Keys at the head of a scenario file, outside any table."
_UNITS = {
    "ms": "ms", "us": "us", "s": "s", "mbps": "Mbps", "kbps": "kbps", "ksps": "ksps",
    "bytes": "bytes", "packets": "packets", "segments": "segments", "percent": "%", "bits": "bits",
    "symbols": "symbols", "minislots": "minislots", "samples": "samples",
}  # fmt: skip


@dataclass(frozen=True)
class Page:
    """A page of the reference: its file's name, its title, and its text."""

    name: str
    title: str
    text: str


def pages() -> list[Page]:
    """One page for each section of a scenario, and one for each type that sections share."""
    return Reference(json.loads(schema_json())).pages()


class Reference:
    """The keys of a schema as pages."""

    def __init__(self, schema: Schema) -> None:
        """Reads the schema's definitions."""
        self._schema = schema
        self._types: Mapping[str, Schema] = schema["$defs"]

    def pages(self) -> list[Page]:
        """All pages, the general keys first."""
        properties = self._schema["properties"]
        sections = {name: value for name, value in properties.items() if self._has_keys(value)}
        general = {name: value for name, value in properties.items() if name not in sections}
        required = self._schema["required"]
        shared = {page: (title, self._types[name]) for name, (page, title) in _SHARED.items()}
        return [
            _page("general", "General keys", _GENERAL, self._keys("", general, required)),
            *(
                _page(name, f"`[{name}]`", value.get("description", ""), self._body(name, value))
                for name, value in sections.items()
                if name not in shared
            ),
            *(
                _page(name, title, value.get("description", ""), self._body(name, value))
                for name, (title, value) in shared.items()
            ),
        ]

    def _has_keys(self, value: Schema) -> bool:
        return value.get("type") == "object" or bool(self._tables(value))

    def _resolved(self, value: Schema) -> Schema:
        """The type that a reference means, without the alternative `null`."""
        if "anyOf" in value:
            value = next(choice for choice in value["anyOf"] if choice.get("type") != "null")
        return self._types[_name(value)] if "$ref" in value else value

    def _tables(self, value: Schema) -> Sequence[Schema]:
        """The tables that a value may be: one, one for each `kind`, or those of a map or list."""
        kind = self._resolved(value)
        if isinstance(kind.get("additionalProperties"), dict) and "properties" not in kind:
            return self._tables(kind["additionalProperties"])
        if "items" in kind:
            return self._tables(kind["items"])
        choices = kind.get("oneOf", [kind])
        return [choice for choice in choices if "properties" in self._resolved(choice)]

    def _body(self, path: str, value: Schema) -> Iterator[str]:
        tables = [self._resolved(table) for table in self._tables(value)]
        if _is_map(self._resolved(value)):
            path = f"{path}.NAME"
        for table in tables:
            kind = table["properties"].get("kind", {}).get("const")
            if kind:
                yield f'## `{path}.kind = "{kind}"`'
                yield table.get("description", "")
            yield from self._keys(path, table["properties"], table.get("required", []))

    def _keys(
        self, path: str, keys: Mapping[str, Schema], required: Sequence[str]
    ) -> Iterator[str]:
        # Plain values first, then the tables, each with a section of its own.
        for name, value in sorted(keys.items(), key=lambda item: self._has_keys(item[1])):
            if "const" not in value:
                yield from self._key(f"{path}.{name}" if path else name, value, name in required)

    def _key(self, path: str, value: Schema, is_required: bool) -> Iterator[str]:
        yield f"{'##' if self._has_keys(value) else '###'} `{path}`"
        yield ". ".join(self._facts(path, value, is_required)) + "."
        yield value.get("description", "")
        yield from self._choices(self._resolved(value))
        shared = _SHARED.get(_name(self._innermost(value)))
        if shared:
            yield f"Keys: [{shared[1]}]({shared[0]}.md)."
        elif self._tables(value):
            yield from self._body(path, value)

    def _innermost(self, value: Schema) -> Schema:
        """What a list or map holds, as far as references go."""
        for inner in ("items", "additionalProperties"):
            if isinstance(value.get(inner), dict):
                return self._innermost(value[inner])
        return next((c for c in value.get("anyOf", ()) if "$ref" in c), value)

    def _choices(self, kind: Schema) -> Iterator[str]:
        """The words that a key may be, with what they mean."""
        words = [choice for choice in kind.get("oneOf", ()) if choice.get("type") == "string"]
        if words:
            yield "\n".join(
                f"- `{word['const']}`: {_one_line(word.get('description', ''))}" for word in words
            )

    def _facts(self, path: str, value: Schema, is_required: bool) -> Iterator[str]:
        kind = self._resolved(value)
        yield self._type(value)
        unit = _UNITS.get(path.rsplit("_", 1)[-1]) if "_" in path else None
        if unit:
            yield f"Unit: {unit}"
        if bounds := _bounds({**kind, **value}):
            yield f"Range: {bounds}"
        if is_required:
            yield "Required"
        elif (default := _default(value)) is not None:
            yield f"Default: {default}"

    def _type(self, value: Schema) -> str:
        kind = self._resolved(value)
        if "oneOf" in kind:
            return "Table, chosen by `kind`" if self._tables(value) else "Text"
        names = kind.get("type", "value")
        name = next(n for n in ([names] if isinstance(names, str) else names) if n != "null")
        if name == "array":
            return "List"
        words = {"object": "Table", "string": "Text", "integer": "Whole number", "number": "Number"}
        return "Tables by name" if _is_map(kind) else words.get(name, "`true` or `false`")


def _page(name: str, title: str, description: str, body: Iterator[str]) -> Page:
    head = [f"# {title}", "*Reference, generated from the schema of this version.*", description]
    return Page(name, title, "\n\n".join(part for part in [*head, *body] if part) + "\n")


def _name(value: Schema) -> str:
    return str(value.get("$ref", "")).rsplit("/", 1)[-1]


def _is_map(kind: Schema) -> bool:
    return isinstance(kind.get("additionalProperties"), dict) and "properties" not in kind


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


def _one_line(text: str) -> str:
    return " ".join(text.split())
