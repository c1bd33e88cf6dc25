"""Where a class of Python is from, and what it does."""

import inspect
import pickle
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..base.files import read_content
from .part_files import digest_of
from .part_import import is_of_library

_GUARD = re.compile(rb"^if __name__ == ", re.MULTILINE)
"""Below it a script has what is done only where it is started."""


def text_of(cls: type) -> str:
    """What a class does: its code and the values that it names."""
    return "\n".join(_of_class(cls))


def file_of(cls: type) -> Path | None:
    """The file in which another process finds a class.

    There is none for classes of a notebook, of a function, of a text that was executed, or of a
    script that does all its work when it is read.
    """
    module = sys.modules.get(cls.__module__)
    file = Path(getattr(module, "__file__", None) or "")
    if not file.is_file() or getattr(module, cls.__qualname__, None) is not cls:
        return None
    if cls.__module__ == "__main__" and not _GUARD.search(read_content(file)):
        return None
    codes = [value.__code__ for value in vars(cls).values() if isinstance(value, FunctionType)]
    names = [Path(code.co_filename) for code in codes]
    return file if all(name.name == file.name or name.is_file() for name in names) else None


def _of_class(cls: type, within: frozenset[int] = frozenset()) -> Iterator[str]:
    for base in cls.__mro__[:-1]:
        if _is_of_library(base):
            return
        for name, value in vars(base).items():
            if not name.startswith("__") or isinstance(value, FunctionType):
                yield f"{name} = {_of_value(getattr(value, '__func__', value), within)}"


def _of_value(value: Any, within: frozenset[int] = frozenset()) -> str:
    """What a method, a constant or a variable is; `within` are the values that have it."""
    if id(value) in within:
        return "itself"
    inner = within | {id(value)}
    match value:
        case CodeType():
            constants = [_of_value(constant, inner) for constant in value.co_consts]
            return repr((value.co_code, value.co_names, constants))
        case FunctionType() if _is_of_library(value):
            return f"{value.__module__}.{value.__qualname__}"
        case FunctionType():
            return _of_function(value, inner)
        case ModuleType():
            return _of_module(value)
        case type():
            own = [] if _is_of_library(value) else _of_class(value, inner)
            return "\n".join([value.__qualname__, *own])
        case list() | tuple():
            return repr([_of_value(one, inner) for one in value])
        case set() | frozenset():
            return repr(sorted(_of_value(one, inner) for one in value))
        case dict():
            return repr([(_of_value(key, inner), _of_value(value[key], inner)) for key in value])
        case None | bool() | int() | float() | complex() | str() | bytes():
            return repr(value)
    if not is_of_library(type(value).__module__):
        return repr((_of_value(type(value), inner), _of_value(vars(value), inner)))
    return _of_object(value)


def _is_of_library(value: type | FunctionType) -> bool:
    """Is it the library's? Text that is executed may claim to be of a module there."""
    module, top = value.__module__ or "", value.__qualname__.partition(".")[0]
    return is_of_library(module) and hasattr(sys.modules.get(module), top)


def _of_function(function: FunctionType, within: frozenset[int]) -> str:
    named = inspect.getclosurevars(function)
    outside = {**named.globals, **named.nonlocals}
    parts = (function.__code__, function.__defaults__, function.__kwdefaults__, outside)
    return repr([_of_value(part, within) for part in parts])


def _of_module(module: ModuleType) -> str:
    """A module of the library by its name, another one by its file."""
    file = Path(getattr(module, "__file__", None) or "")
    if is_of_library(module.__name__) or not file.is_file():
        return module.__name__
    return digest_of(read_content(file))


def _of_object(value: object) -> str:
    """One of a package, such as an array: its text may be shortened."""
    try:
        return digest_of(pickle.dumps(value))
    except Exception:
        return repr(value)
