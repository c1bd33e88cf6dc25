"""Where a class of Python is from, and a digest of what it does."""

import hashlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from ..base.files import read_content


def digest_of(content: bytes) -> str:
    """A short digest, as results name it."""
    return hashlib.sha256(content).hexdigest()[:16]


def source_of(cls: type) -> tuple[Path | None, str]:
    """The file in which another process finds a class, and its digest.

    There is none for classes of a notebook, of a function or of a text that was executed. Their
    digest is that of their code and of the values that it names.
    """
    file = _file_of(cls)
    if file:
        return file.resolve(), digest_of(read_content(file))
    return None, digest_of("\n".join(_of_class(cls)).encode())


def _file_of(cls: type) -> Path | None:
    module = sys.modules.get(cls.__module__)
    file = Path(getattr(module, "__file__", None) or "")
    if not file.is_file() or getattr(module, cls.__qualname__, None) is not cls:
        return None
    codes = [value.__code__ for value in vars(cls).values() if isinstance(value, FunctionType)]
    names = [Path(code.co_filename) for code in codes]
    return file if all(name.name == file.name or name.is_file() for name in names) else None


def _of_class(cls: type) -> Iterator[str]:
    for base in cls.__mro__[:-1]:
        if base.__module__ == f"{__package__}.parts":
            return
        for name, value in vars(base).items():
            if not name.startswith("__") or isinstance(value, FunctionType):
                yield f"{name} = {_of_value(getattr(value, '__func__', value))}"


def _of_value(value: Any, within: frozenset[Any] = frozenset()) -> str:
    """What a method, a constant or a variable is; `within` are functions that call it."""
    if isinstance(value, CodeType):
        constants = [_of_value(constant, within) for constant in value.co_consts]
        return repr((value.co_code, value.co_names, constants))
    if not isinstance(value, FunctionType):
        return repr(value)
    if value in within:
        return value.__name__
    named = inspect.getclosurevars(value)
    outside = {**named.globals, **named.nonlocals}
    inside = {name: _of_value(one, within | {value}) for name, one in outside.items()}
    code = _of_value(value.__code__, within)
    return repr((code, value.__defaults__, value.__kwdefaults__, inside))
