"""Reference page of the Python interface, generated from names, signatures and docstrings."""

import ast
import inspect
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from textwrap import dedent
from typing import Any

import sojourn

_HEAD = """# Python

*Reference, generated from the code of this version.*

All names are attributes of the package `sojourn`. The columns of tables are in
[Columns](../columns.md).
"""
_WIDTH = 88


def python_api() -> str:
    """The page: every public name of the package, functions first."""
    values = {name: getattr(sojourn, name) for name in dir(sojourn) if name != "__version__"}
    ordered = sorted(values.items(), key=lambda item: inspect.isclass(item[1]))
    parts = (part for name, value in ordered for part in _entry(name, value))
    return "\n\n".join([_HEAD, *parts]) + "\n"


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"## `sojourn.{name}`"
    if inspect.isfunction(value):
        yield _signature(name, value)
        yield _text(value)
    elif name not in sojourn._PLACES:
        yield from _native(name)
    else:
        yield _text(value)
        for member, inner in inspect.getmembers(value, _is_documented):
            if not member.startswith("_"):
                yield from _member(member, inner)


def _member(name: str, value: Any) -> Iterator[str]:
    yield f"### `{name}`"
    if isinstance(value, property | cached_property):
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
        yield "```python\n" + "\n".join(map(_line, members)) + "\n```"


def _line(node: ast.stmt) -> str:
    return ast.unparse(node).replace(":\n    ...", ": ...")


def _is_documented(value: Any) -> bool:
    """Is it Sojourn's own, and not inherited from a library?"""
    if isinstance(value, property | cached_property):
        return True
    return inspect.isfunction(value) and value.__module__.startswith("sojourn")


def _signature(name: str, value: Any) -> str:
    """The signature as the source has it, a parameter a line where it is long."""
    node = ast.parse(dedent(inspect.getsource(value))).body[0]
    assert isinstance(node, ast.FunctionDef)
    parts = [*_parameters(node.args), ""]
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    short = f"{name}({', '.join(parts[:-1])}){result}"
    long = f"{name}(\n    " + ",\n    ".join(parts).rstrip() + f"\n){result}"
    return f"```python\n{short if len(short) <= _WIDTH else long}\n```"


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    first = len(arguments.args) - len(arguments.defaults)
    for index, argument in enumerate(arguments.args):
        default = arguments.defaults[index - first] if index >= first else None
        if argument.arg != "self":
            yield _parameter(argument, default)
    if arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(argument, default)


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + (f" = {ast.unparse(default)}" if default else "")


def _text(value: Any) -> str:
    return inspect.getdoc(value) or ""
