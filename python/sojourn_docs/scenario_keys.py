"""Reference pages of scenario keys, generated from the JSON Schema of scenario files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sojourn.runs.scenario_keys import NAME, ScenarioSchema, Schema, is_map, kind_of, name_of

# Types that several sections use have a page of their own.
_SHARED = {
    "QueueSpec": ("queue", "Queue managers: `queue`"),
    "ServiceFlow": ("flows", "Further service flows: `flows`"),
    "Classifier": ("match", "Classifiers: `match`"),
    "TcpOptions": ("tcp", "TCP: `tcp`"),
}
_GENERAL = "Keys at the head of a scenario file, outside any table."


@dataclass(frozen=True)
class Page:
    """A page of the reference: its file's name, its title, and its text."""

    name: str
    title: str
    text: str


def pages() -> list[Page]:
    """One page for each section of a scenario, and one for each type that sections share."""
    return Reference(ScenarioSchema()).pages()


class Reference:
    """The keys of a schema as pages."""

    def __init__(self, schema: ScenarioSchema) -> None:
        """Keeps the schema."""
        self._schema = schema

    def pages(self) -> list[Page]:
        """All pages, the general keys first."""
        root = self._schema.root
        properties, types = root["properties"], root["$defs"]
        has_keys = self._schema.has_keys
        sections = {name: value for name, value in properties.items() if has_keys(value)}
        general = {name: value for name, value in properties.items() if name not in sections}
        required = root["required"]
        shared = {page: (title, types[name]) for name, (page, title) in _SHARED.items()}
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

    def _body(self, path: str, value: Schema) -> Iterator[str]:
        if is_map(self._schema.resolved(value)):
            path = f"{path}.{NAME}"
        for table in self._schema.tables(value):
            if kind := kind_of(table):
                yield f'## `{path}.kind = "{kind}"`'
                yield table.get("description", "")
            yield from self._keys(path, table["properties"], table.get("required", []))

    def _keys(
        self, path: str, keys: Mapping[str, Schema], required: Sequence[str]
    ) -> Iterator[str]:
        # Plain values first, then the tables, each with a section of its own.
        for name, value in sorted(keys.items(), key=lambda item: self._schema.has_keys(item[1])):
            if "const" not in value:
                yield from self._key(f"{path}.{name}" if path else name, value, name in required)

    def _key(self, path: str, value: Schema, is_required: bool) -> Iterator[str]:
        yield f"{'##' if self._schema.has_keys(value) else '###'} `{path}`"
        yield ". ".join(self._schema.facts(path, value, is_required)) + "."
        yield value.get("description", "")
        yield from self._choices(value)
        shared = _SHARED.get(name_of(self._innermost(value)))
        if shared:
            yield f"Keys: [{shared[1]}]({shared[0]}.md)."
        elif self._schema.tables(value):
            yield from self._body(path, value)

    def _innermost(self, value: Schema) -> Schema:
        """What a list or map holds, as far as references go."""
        for inner in ("items", "additionalProperties"):
            if isinstance(value.get(inner), dict):
                return self._innermost(value[inner])
        return next((c for c in value.get("anyOf", ()) if "$ref" in c), value)

    def _choices(self, value: Schema) -> Iterator[str]:
        """The words that a key may be, with what they mean."""
        if words := list(self._schema.words(value)):
            yield "\n".join(f"- `{word}`: {meaning}" for word, meaning in words)


def _page(name: str, title: str, description: str, body: Iterator[str]) -> Page:
    head = [f"# {title}", "*Reference, generated from the schema of this version.*", description]
    return Page(name, title, "\n\n".join(part for part in [*head, *body] if part) + "\n")
