"""Reference page of the Python interface, generated from names, signatures and docstrings."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sojourn

_HEAD = """# Python

*Reference, generated from the code of this version.*

All names are attributes of the package `sojourn`. The columns of tables are in
[Columns](../columns.md).
"""
_NATIVE = "sojourn._sojourn"


def python_api() -> str:
    """The page: every public name of the package, functions first."""
    values = {name: getattr(sojourn, name) for name in sojourn.__all__ if name != "__version__"}
    ordered = sorted(values.items(), key=lambda item: inspect.isclass(item[1]))
    parts = (part for name, value in ordered for part in _entry(name, value))
    return "\n\n".join([_HEAD, *parts]) + "\n"


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"## `sojourn.{name}`"
    if inspect.isfunction(value):
        yield _signature(name, value)
        yield _text(value)
    elif value.__module__.startswith(_NATIVE) or issubclass(value, Exception):
        yield from _native(name)
    else:
        yield _text(value)
        for member, inner in inspect.getmembers(value, _is_documented):
            if not member.startswith("_"):
                yield from _member(member, inner)


def _member(name: str, value: Any) -> Iterator[str]:
    yield f"### `{name}`"
    if isinstance(value, property):
        yield _text(value)
    else:
        yield _signature(name, value)
        yield _text(value)


def _native(name: str) -> Iterator[str]:
    """A class of the native module, from the stub that describes it."""
    stub = ast.parse(Path(sojourn.__file__).with_name("_sojourn.pyi").read_text())
    found = next(n for n in stub.body if isinstance(n, ast.ClassDef) and n.name == name)
    yield ast.get_docstring(found) or ""
    members = [node for node in found.body if isinstance(node, ast.FunctionDef | ast.AnnAssign)]
    if members:
        yield "```python\n" + "\n".join(ast.unparse(node) for node in members) + "\n```"


def _is_documented(value: Any) -> bool:
    return isinstance(value, property) or inspect.isfunction(value)


def _signature(name: str, value: Any) -> str:
    parameters = inspect.signature(value)
    shown = parameters.format(max_width=72) if hasattr(parameters, "format") else str(parameters)
    return f"```python\n{name}{shown}\n```"


def _text(value: Any) -> str:
    return inspect.getdoc(value) or ""
