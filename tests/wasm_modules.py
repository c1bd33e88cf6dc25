"""WebAssembly modules for tests, byte by byte: laws whose functions do what a test says."""

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

ENDLESS = b"\x03\x40\x0c\x00\x0b\x41\x00"
"""`(loop (br 0)) (i32.const 0)`"""
TRAP = b"\x00"
"""`unreachable`"""
GROW = b"\x41\xe8\x07\x40\x00"
"""`(memory.grow (i32.const 1000))`"""
GROW_ALL = b"\x03\x40\x41\x10\x40\x00\x41\x7f\x47\x0d\x00\x0b\x41\x00"
"""`(loop (br_if 0 (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (i32.const 0)`"""
NOTHING = b"\x41\x00"
"""`(i32.const 0)`: no answers."""
NAN = b"\x20\x02\x44" + b"\x00" * 6 + b"\xf8\x7f\x39\x03\x00\x41\x01"
"""`(f64.store (local.get 2) (f64.const nan)) (i32.const 1)`"""

ANSWER = b"\x41\x01"
"""`(i32.const 1)`: an answer of 0."""
MANY = b"\x41\x09"
"""`(i32.const 9)`: nine answers of 0."""

PAGES_300_MIB = b"\x00\xc0\x25"
"""A memory of 4800 pages."""

_I32, _I64 = b"\x7f", b"\x7e"


def law(
    hook: bytes = NOTHING,
    *,
    name: str = "mine",
    abi: int = 1,
    start: bytes = NOTHING,
    memory: bytes = b"\x00\x01",
    more: bytes = b"",
    hooks: Sequence[str] = ("on_departure",),
    codes: Mapping[str, bytes] | None = None,
    **declared: Any,
) -> bytes:
    """A law with `on_departure`, or what is declared; `more` comes before its memory.

    Hooks have the code `hook`, but for those of `codes`.
    """
    keys = {"role": "law", "name": name, **declared}
    declaration = json.dumps(keys).encode() + b"\0"
    functions = {
        "sojourn_abi": (0, _constant(abi)),
        "sojourn_declaration": (0, _constant(4096)),
        "sojourn_numbers": (0, _constant(0)),
        "sojourn_answers": (0, _constant(512)),
        "sojourn_start": (1, start),
        **{name: (2, (codes or {}).get(name, hook)) for name in hooks},
    }
    types = [_type(b""), _type(_I64 + _I32), _type(_I32 * 3)]
    exports = [_text("memory") + b"\x02\x00"]
    exports += [_text(key) + b"\x00" + bytes([i]) for i, key in enumerate(functions)]
    bodies = [_sized(b"\x00" + code + b"\x0b") for _, code in functions.values()]
    return (
        b"\0asm\x01\0\0\0"
        + _section(1, types)
        + _section(3, [bytes([kind]) for kind, _ in functions.values()])
        + more
        + _section(5, [memory])
        + _section(7, exports)
        + _section(10, bodies)
        + _section(11, [b"\x00" + _constant(4096) + b"\x0b" + _sized(declaration)])
    )


def answers(*numbers: float) -> bytes:
    """A hook that answers these numbers."""
    stores = [
        b"\x20\x02\x44" + struct.pack("<d", number) + b"\x39\x03" + bytes([8 * place])
        for place, number in enumerate(numbers)
    ]
    return b"".join(stores) + _constant(len(numbers))


def table(elements: int) -> bytes:
    """The section of a table of functions."""
    return _section(4, [b"\x70\x00" + _length(elements)])


def _type(arguments: bytes) -> bytes:
    return b"\x60" + _sized(arguments) + b"\x01" + _I32


def _constant(number: int) -> bytes:
    """An `i32.const` of a number from 0."""
    digits = []
    while number >= 64:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([0x41, *digits, number])


def _section(kind: int, entries: list[bytes]) -> bytes:
    return bytes([kind]) + _sized(_length(len(entries)) + b"".join(entries))


def _text(text: str) -> bytes:
    return _sized(text.encode())


def _sized(content: bytes) -> bytes:
    return _length(len(content)) + content


def _length(number: int) -> bytes:
    if number < 128:
        return bytes([number])
    return bytes([number & 127 | 128]) + _length(number >> 7)


OBJECTS = b"\0asm\x01\0\0\0" + _section(1, [b"\x5f\x00"])
"""A module with the type of an empty object, which a browser would collect."""
