"""Parts of a user's own, which scenarios choose by `kind`, as built-in parts.

They are classes of Python or WebAssembly modules.
"""

import dis
import inspect
import json
import math
import os
import random
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

from .._sojourn import Part as NativePart
from .._sojourn import Variant
from ..base.files import open_regular
from ..base.lookup import UnknownError
from .part_files import PartFiles, digest_of, refuse_change
from .part_import import (
    Identity,
    Imported,
    declared_files,
    files_of_run,
    imported,
    is_from_outside,
    is_importing,
    own_lines,
    refuse,
)
from .part_source import file_of, text_of

PASS = 0
"""Let the packet through."""
MARK = 1
"""Mark the packet if its transport supports ECN, and drop it otherwise."""
DROP = 2
"""Drop the packet."""

HOME = 0
"""The end of a connection in the home, which opened it."""
SERVER = 1
"""The end of a connection at the server."""
ENDLESS = math.inf
"""Bytes of a transfer that never ends."""


_Default = float | bool | str | Sequence[float]


@dataclass(frozen=True)
class _Parameter:
    default: _Default
    unit: str
    range: tuple[float, float] | None
    doc: str
    choices: tuple[str, ...]
    file: bool


def parameter(
    default: _Default,
    *,
    unit: str = "",
    range: tuple[float, float] | None = None,
    doc: str = "",
    choices: Sequence[str] = (),
    file: bool = False,
) -> Any:
    """What scenarios may set: a key of the part.

    The default says what it takes: a number, `True` or `False`, a list of numbers, or a text, which
    is one of `choices` or, with `file=True`, the path of a file. In methods it is an attribute with
    the value of the run.

    The name of a number ends with its unit, as `target_ms`. `range` has the least and the greatest
    value. With the annotation `int` it takes whole numbers alone. The path of a file begins at the
    folder of the class, and is a `Path` in methods. What is in the file belongs to what the part
    is, so that results with another content are others.

        >>> class Longest(sojourn.Law):
        ...     most_ms: float = sojourn.parameter(20, unit="ms", range=(1, 999), doc="Most delay.")
        ...     def on_arrival(self, now_us, bytes, backlog_bytes, sojourn_us, ecn, flow):
        ...         return sojourn.DROP if sojourn_us > 1000 * self.most_ms else sojourn.PASS
        >>> law = "upstream.queue.law={ kind = 'longest', most_ms = 30 }"
        >>> (first, *_) = sojourn.load("scenarios/upload.toml", set=[law], parts=[Longest])
        >>> "most_ms = 30" in first.to_toml()
        True
    """
    return _Parameter(default, unit, range, doc, tuple(choices), file)


class _Own:
    """What parts of all roles have."""

    kind: ClassVar[str] = ""
    """The `kind` by which scenarios choose it; by default the name of the class in small letters,
    as `my_law` of `MyLaw`."""
    gauges: ClassVar[Mapping[str, str]] = {}
    """Attributes that become series, each with its unit."""
    files: ClassVar[Sequence[str]] = ()
    """Files that its methods read, or that lie outside of its folder: names from there."""

    _role: ClassVar[str]
    _seed: int = 0

    @cached_property
    def rng(self) -> random.Random:
        """Random numbers of this instance: the same in each run with the same seed."""
        return random.Random(self._seed)


class Law(_Own):
    """A law of a queue: it decides which packets are marked or dropped early.

    A class of its own has one or more of these methods; times are in us, sizes in bytes:

    - `on_arrival(self, now_us, bytes, backlog_bytes, sojourn_us, ecn, flow)`: a packet has arrived
      and there is room. `sojourn_us` is the time that the backlog will take to drain. Returns
      `PASS` (or nothing), `MARK` or `DROP`.
    - `on_departure(self, now_us, bytes, backlog_bytes, sojourn_us, ecn, flow)`: a packet is at the
      head and may leave, after `sojourn_us` in the queue; `backlog_bytes` wait behind it, in all
      bins of the link. Returns the same. After a drop the next head is judged.
    - `on_update(self, now_us, backlog_bytes, sojourn_us, rate_bps)`: each `update_us`. Returns the
      probability with which arriving packets are marked or dropped until the next update.
    - `on_empty(self, now_us)`: the link could send, and the queue is empty.

    `ecn` is the ECN field (0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE), and `flow` a hash of the flow.
    `update_us` is a number or a parameter; a parameter may be called `update_ms` instead.

    >>> class DropAll(sojourn.Law):
    ...     def on_departure(self, now_us, bytes, backlog_bytes, sojourn_us, ecn, flow):
    ...         return sojourn.DROP
    >>> law = "upstream.queue.law.kind='drop_all'"
    >>> result = sojourn.run("scenarios/fibre.toml", duration_s=0.1, set=[law], parts=[DropAll])
    """

    update_us: float = 0

    _role = "law"


class Control(_Own):
    """A congestion control: it sets `window_bytes`, and `pacing_bps` if `paced`.

    A class of its own has `on_loss`, `on_timeout` and one of `on_ack`, `on_sample` and
    `on_feedback`, and those of the others that it needs. The simplest ones are called as follows:

    - `on_start(self, window_bytes, mss_bytes)`: the connection begins with this window.
    - `on_ack(self, now_us, window_bytes, flight_bytes, acked_bytes, rtt_us, min_rtt_us)`: new data
      was acknowledged, outside loss recovery, while the window limited sending.
    - `on_loss(self, now_us, window_bytes, flight_bytes)`: a loss was found.
    - `on_ecn(self, now_us, window_bytes, flight_bytes)`: a mark was echoed. Without this method
      `on_loss` is called.
    - `on_timeout(self, now_us, window_bytes, flight_bytes)`: the retransmission timer expired.

    These have `now_us` and those of their numbers that they name, in any order; `**numbers` has
    all of them. What is not known is `None`. The how-to "Write a congestion control" lists them:

    - `on_sample`: an acknowledgement came, with all that it says about deliveries and losses.
      Such a control sets the window in a recovery too, and is paced.
    - `on_feedback`: with accurate ECN, an acknowledgement says how much was marked.
    - `on_established`, `on_round_trip`, `on_restart`, `on_undo`: the handshake is complete, a
      round trip was measured, something leaves after a silence, the last reduction was needless.
    - `on_mark`: another name of `on_ecn`.
    - `on_wake`: the time has come that `self.wake(at_us)` asked for.

    The attribute `window_bytes` is the window, before and after each call; it is kept between one
    segment and a million. A `pacing_bps` of 0 follows from the window; others are kept between
    8 kbit/s and 1 Tbit/s.

    >>> class Steady(sojourn.Control):
    ...     def on_ack(self, *numbers): self.window_bytes = 30_000
    ...     def on_loss(self, *numbers): pass
    ...     def on_timeout(self, *numbers): pass
    >>> control = "tcp.congestion_control.kind='steady'"
    >>> result = sojourn.run("scenarios/fibre.toml", duration_s=1, set=[control], parts=[Steady])
    """

    paced: ClassVar[bool] = False
    """Does it set the pacing rate?"""
    timestamps: ClassVar[bool] = False
    """Does it need timestamps, for one-way delays?"""
    ecn: ClassVar[str | None] = None
    """How its connections use ECN where the scenario does not say: `off`, `classic`, `accecn` or
    `l4s`."""
    window_bytes: float
    pacing_bps: float = 0.0
    threshold_bytes: float | None = None
    """Below it the window grows by slow start; none to leave it to TCP, for which it is the window
    that a loss leaves."""
    burst_us: float | None = None
    """How long the burst takes at the pacing rate that leaves at once; none to leave it to TCP."""
    burst_bytes: float | None = None
    """Bytes that leave at once even if they take longer; by default a segment."""
    holds_back: bool = False
    """Does it send less than the path takes? Samples are then marked as limited."""

    _role = "control"
    _wake_us: float | None = None

    def wake(self, at_us: float) -> None:
        """Asks for `on_wake` at a time, which replaces an earlier one; `math.inf` for none."""
        if not hasattr(self, "on_wake"):
            raise ValueError("found wake in a class without on_wake, which it would call")
        if not isinstance(at_us, (int, float)) or math.isnan(at_us):
            raise ValueError(f"found {at_us!s:.99} as time to be woken in us; allowed: a number")
        self._wake_us = at_us


@dataclass(frozen=True)
class Score:
    """How traffic of one's own is graded: by a gauge at the end of the run, on a scale of its own.

    `good`, `fair` and `poor` are what each grade takes at worst; they rise where less is better,
    and fall where more is. `own_score_level` of `flows` has 1 at good, 2 at fair and 3 at poor.

    >>> sojourn.Score("late_percent", good=1, fair=5, poor=20).fair
    5
    """

    gauge: str
    good: float
    fair: float
    poor: float


class Traffic(_Own):
    """A traffic model: it is called at events and answers with the commands below.

    A class of its own has `on_timer`, and those of the others that it needs:

    - `on_timer(self, now_us)`: the timer of `wake` expired; first when the entry starts.
    - `on_open(self, now_us, connection)`: a connection can be used.
    - `on_received(self, now_us, connection, end)`: an end (`HOME` or `SERVER`) has received all
      that `expect` announced.
    - `on_acknowledged(self, now_us, connection, end)`: all that an end sent is acknowledged.
    - `on_datagram(self, now_us, end, number)`: a datagram has arrived at an end, and by name
      `bytes`, `delay_us`, `ecn` and `dscp`. `number` is what `datagram` returned.
    - `on_lost(self, now_us, end, number)`: an end notices that a datagram is missing, by one that
      was sent later.

    >>> class Beacon(sojourn.Traffic):
    ...     def on_timer(self, now_us):
    ...         self.datagram(sojourn.HOME, 100)
    ...         self.wake(now_us + 500_000)
    >>> entry = "traffic.beacon.kind='beacon'"
    >>> result = sojourn.run("scenarios/fibre.toml", duration_s=1, set=[entry], parts=[Beacon])
    """

    score: ClassVar[str | Score | None] = None
    """How it is graded: as a `call` or a `game` by its datagrams, as a video call by its `frames`,
    by its `pages`, or by a `Score` of its own; by its throughput where it does not say."""
    direction: ClassVar[str | None] = None
    """The only direction in which it sends, `up` or `down`, if there is one."""
    two_way: ClassVar[bool] = False
    """Do its ends send datagrams to each other, and measure round trips with them?"""

    _role = "traffic"

    _opened: int = 0
    _sent: int = 0

    @cached_property
    def _now(self) -> dict[int, tuple[Any, ...]]:
        """The frame and the header fields of the last datagram of each end."""
        return {HOME: ((0, 0), (-1, -1)), SERVER: ((0, 0), (-1, -1))}

    @cached_property
    def _frames(self) -> dict[int, int]:
        return {HOME: 0, SERVER: 0}

    @cached_property
    def _commands(self) -> list[float]:
        return []

    def wake(self, at_us: float) -> None:
        """Sets the timer, which replaces the earlier time."""
        self._commands += (1, at_us, 0, 0)

    def open(self) -> int:
        """Opens a connection to the entry's server, and returns its number. `on_open` follows."""
        connection = self._opened
        self._opened += 1
        self._commands += (2, connection, 0, 0)
        return connection

    def send(self, connection: int, end: int, bytes: float) -> None:
        """Sends bytes from an end; `ENDLESS` for a transfer that never ends."""
        self._commands += (3, connection, end, bytes)

    def expect(self, connection: int, end: int, bytes: float) -> None:
        """Asks for `on_received` when an end has received so many more bytes."""
        self._commands += (4, connection, end, bytes)

    def close(self, connection: int) -> None:
        """Sends no more over a connection, from both ends."""
        self._commands += (5, connection, 0, 0)

    def datagram(
        self,
        end: int,
        bytes: int,
        *,
        frame: tuple[int, int] | None = None,
        dscp: int | None = None,
        ecn: int | None = None,
    ) -> int:
        """Sends a datagram from an end, of so many bytes on the wire, and returns its number.

        It may be part of a `frame`, with the number of the frame and how many datagrams that has.
        `dscp` and `ecn` (0 Not-ECT, 1 ECT(1), 2 ECT(0)) are those of the entry where nothing is
        said.
        """
        frame = (0, 0) if frame is None else _frame(frame)
        label = (-1 if dscp is None else dscp, -1 if ecn is None else ecn)
        before = self._now.get(end, (frame, label))
        if before[0] != frame:
            self._commands += (7, end, *frame)
        if before[1] != label:
            self._commands += (8, end, *label)
        self._now[end] = frame, label
        self._commands += (6, end, bytes, 0)
        self._sent += 1
        return self._sent - 1

    def frame(self, end: int, bytes: int, packet_bytes: int = 1246) -> list[int]:
        """Sends a frame at once, in datagrams of `packet_bytes` at most; returns their numbers."""
        if not bytes >= 1 or not packet_bytes >= 64:
            allowed = "bytes from 1 on, in datagrams from 64 on"
            raise ValueError(f"frame: found {bytes} in datagrams of {packet_bytes}; {allowed}")
        number, packets = self._frames[end], math.ceil(bytes / packet_bytes)
        self._frames[end] += 1
        sent = []
        for left in range(packets, 0, -1):
            size = max(64, math.ceil(bytes / left))
            sent.append(self.datagram(end, size, frame=(number, packets)))
            bytes -= size
        return sent

    def page(self, start_us: float, took_us: float) -> None:
        """Says that a page is loaded: when it was asked for, and how long it took."""
        self._commands += (9, start_us, took_us, 0)


def _frame(frame: tuple[int, int]) -> tuple[int, int]:
    """A frame with datagrams; raises `ValueError` for what is none."""
    if isinstance(frame, (list, tuple)) and len(frame) == 2 and frame[1] != 0:
        return frame[0], frame[1]
    found = frame if isinstance(frame, (list, tuple)) else _shown(frame)
    allowed = "the number of the frame, from 0 on, and how many datagrams it has, from 1 on"
    raise ValueError(f"frame: found {found!s:.60}; allowed: ({allowed})")


class Controller(_Own):
    """A rate controller: a program in a router that sets the rates of its shapers.

    It knows the answers of its probes and how many bytes its shapers let pass. A class of its own
    has one or both of these methods, which have those of the numbers that they name:

    - `on_probe(self, now_us, rtt_us, up_us, down_us)`: a probe was answered after `rtt_us`. By the
      clock of the server it took `up_us` up and `down_us` down; clocks differ and drift. By name
      also `up_bps` and `down_bps`, the rates now, and `probe`, its number from 0.
    - `on_update(self, now_us, interval_us, up_bytes, down_bytes)`: each `update_us`. So many bytes
      have left the shapers in `interval_us`. By name also `up_bps`, `down_bps`, and `waiting`, the
      probes that have not been answered.

    The attributes `up_bps` and `down_bps` are the rates of the shapers in bit/s, before and after
    each call: `None` where the router has no shaper. They are kept between 10 kbit/s and 100
    Gbit/s. `update_us` is a number or a parameter; a parameter may be called `update_ms` instead.
    Scenarios set `server`, `probe_interval_ms` and `probe_bytes` beside the parameters.

    >>> class Halve(sojourn.Controller):
    ...     def on_probe(self, now_us, rtt_us, up_us, down_us):
    ...         if rtt_us > 100_000:
    ...             self.up_bps /= 2
    >>> router = "router={ upstream.rate_mbps = 9, controller.kind = 'halve' }"
    >>> result = sojourn.run("scenarios/fibre.toml", duration_s=1, set=[router], parts=[Halve])
    """

    update_us: float = 0
    up_bps: float | None = None
    down_bps: float | None = None

    _role = "controller"


_ROLES = (Law, Control, Traffic, Controller)


@dataclass(frozen=True)
class Part:
    """A part that scenarios may choose, and where it is from."""

    file: Path | None
    """The file in which another process finds it, if any."""
    name: str
    """The class; of a module its kind."""
    identity: Identity
    native: NativePart = field(repr=False, compare=False)
    does: str = field(default="", repr=False, compare=False)
    """What a class of Python does, as text."""
    file_parameters: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """The parameters of it that are paths of files."""

    def __str__(self) -> str:
        if self.file and self.file.suffix == ".wasm":
            return str(self.file)
        return f"{self.file}:{self.name}" if self.file else self.name

    @property
    def digest(self) -> str:
        """A digest of the files that it reads, or of the text of the class."""
        return self.identity.digest

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.file, self.name, self.digest, dict(self.identity.files))


Given = str | type[_Own]
"""A part as users give it: `"my_file.py:MyLaw"`, the class, or `"my_file.wasm"`."""

_MOST_MODULE_BYTES = 1 << 20
"""More is not read; the simulator refuses it."""

_IN_SCOPE: ContextVar[tuple[Part, ...] | None] = ContextVar("parts", default=None)
_of_process: tuple[Part, ...] = ()


_made: dict[str, dict[tuple[str, str], Part]] = {}
"""All that were parts in this process, by their digests: a file may have several."""


def described_in(scenario: str) -> dict[str, Any]:
    """What the parts of a complete scenario are and were made of, by their digests."""
    described = {}
    for digest, parts in _made.items():
        if digest not in scenario:
            continue
        if of := [one for (_, kind), one in sorted(parts.items()) if f'"{kind}"' in scenario]:
            declares = [json.loads(one.native.declares) for one in of]
            described[digest] = {**of[0].identity.described(), "declares": declares}
    return described


def _kept(part: Part) -> Part:
    _made.setdefault(part.digest, {})[part.native.role, part.native.kind] = part
    return part


def files_of(variant: Variant) -> PartFiles:
    """The files that methods of its parts may read in a run which begins now.

    Raises `UnknownError` if the file of a parameter has changed.
    """
    digests: dict[Path, str] = {}
    for part, table in _chosen(json.loads(variant.to_json())):
        for name in part.file_parameters:
            if known := table.get(f"{name}_digest"):  # none: a part of another role and this kind
                path = Path(table[name])
                digests[path] = _digest_in(path, known)
    return PartFiles(digests)


def _chosen(table: Any) -> Iterator[tuple[Part, Mapping[str, Any]]]:
    """The parts that a complete scenario chooses, each with its table."""
    if isinstance(table, list):
        table = dict(enumerate(table))
    if isinstance(table, dict):
        for (_, kind), part in _made.get(table.get("digest", ""), {}).items():
            if kind == table.get("kind"):
                yield part, table
        for inner in table.values():
            yield from _chosen(inner)


_same: dict[str, str] = {}
"""Of digests that scenarios have of files, those that this module has."""
_MOST_FILE_BYTES = 100_000_000
"""No scenario has the digest of a larger file."""


def _digest_in(path: Path, digest: str) -> str:
    """The digest of the file that has this one in the scenario; raises `UnknownError`."""
    if digest not in _same:
        with suppress(OSError), open_regular(path) as file:
            content = file.read(_MOST_FILE_BYTES)
            if NativePart.digest_of(content) == digest:
                _same[digest] = digest_of(content)
    if digest not in _same:
        raise refuse_change(path)
    return _same[digest]


def refuse_in_parts() -> None:
    """Raises `UnknownError` within the import of a part, which would start runs in each process."""
    if is_importing():
        refuse(
            UnknownError(
                "it starts runs when it is imported; put the lines that do below "
                '`if __name__ == "__main__":`'
            )
        )


def use(parts: Iterable[Given]) -> None:
    """Lets all scenarios of this process choose these parts."""
    global _of_process
    _of_process = parts_of(parts)


@contextmanager
def in_scope(parts: Iterable[Given | Part]) -> Iterator[None]:
    """Lets scenarios that are loaded meanwhile choose these parts too."""
    token = _IN_SCOPE.set(parts_of((*known(), *parts_of(parts))))
    try:
        yield
    finally:
        _IN_SCOPE.reset(token)


def known() -> tuple[Part, ...]:
    """The parts that a scenario may choose here."""
    inner = _IN_SCOPE.get()
    return _of_process if inner is None else inner


def parts_of(given: Iterable[Given | Part]) -> tuple[Part, ...]:
    """The parts, each once. Raises `UnknownError` with what is wrong."""
    if isinstance(given, (str, type)):
        raise TypeError(
            f"parts: found {given!r}; allowed: a list of classes, 'FILE.py:CLASS' or 'FILE.wasm'"
        )
    parts = [one if isinstance(one, Part) else _part_of(one) for one in given]
    found = {(part.file, part.name, part.digest): part for part in parts}
    _refuse_namesakes(found.values())
    return tuple(found.values())


def _refuse_namesakes(parts: Iterable[Part]) -> None:
    there: dict[tuple[str, str], Part] = {}
    for part in parts:
        role, kind = part.native.role, part.native.kind
        other = there.setdefault((role, kind), part)
        if other is not part:
            raise UnknownError(
                f"parts {other} and {part}: both are a {role} called {kind!r}; allowed: a kind of "
                "its own for each, as a class sets with kind = '...'"
            )


def _part_of(given: Given) -> Part:
    if isinstance(given, str) and given.endswith(".wasm"):
        return _of_module(Path(given))
    if isinstance(given, str):
        file, _, name = given.rpartition(":")
        if not file.endswith(".py") or not name.isidentifier():
            raise UnknownError(f"part: found {given!r}; allowed: FILE.py:CLASS or FILE.wasm")
        return _of_file(Path(file), name)
    if not isinstance(given, type) or not issubclass(given, _ROLES) or given in _ROLES:
        allowed = "a class of Law, Control, Traffic or Controller"
        raise UnknownError(f"part {given!r}: allowed: {allowed}")
    return _of_given(given)


def _of_given(cls: type[_Own]) -> Part:
    """A class: the one that other processes find in its file, if that does the same."""
    file = file_of(cls)
    if file and not is_importing():
        with suppress(UnknownError):
            part = _of_file(file, cls.__qualname__)
            if part.does == text_of(cls):
                return part
    files = declared_files(Path.cwd(), cls.files)
    text = "\n".join([text_of(cls), *files.values()])
    identity = Identity(digest_of(text.encode()), packages=(), paths=files, later=frozenset(files))
    return _of_class(cls, cls.__name__, None, identity)


def _of_file(file: Path, name: str) -> Part:
    found = _imported(file, name)
    cls = vars(found.module).get(name)
    if not isinstance(cls, type) or not issubclass(cls, _ROLES) or cls in _ROLES:
        fault = (
            f"class {name} extends none of these"
            if isinstance(cls, type) and cls not in _ROLES
            else f"found no class {name} at the top level"
        )
        raise UnknownError(
            f"part {file}:{name}: {fault}; allowed: a class that extends sojourn.Law, "
            "sojourn.Control, sojourn.Traffic or sojourn.Controller"
        )
    with _in_class(f"{file}:{name}"):
        identity = found.with_files(cls.files)
    return _of_class(cls, name, found.file, identity)


@contextmanager
def _in_class(source: str) -> Iterator[None]:
    """What is wrong with a class, which may have lines that fail, is said with where it is from."""
    try:
        yield
    except (UnknownError, ValueError) as error:
        raise UnknownError(f"part {source}: {error}") from None
    except BaseException as error:
        if is_from_outside(error):
            raise
        raise UnknownError(f"part {source}: {type(error).__name__}: {error}") from error


def _imported(file: Path, name: str) -> Imported:
    try:
        return imported(file)
    except BaseException as error:
        if is_from_outside(error):
            raise
        if isinstance(error, OSError) and error.strerror and not _lines_in(file, error):
            raise UnknownError(f"part {file}:{name}: {error.strerror}") from None
        raise UnknownError(f"part {file}: cannot be imported: {_in_words(error, file)}") from error


def _of_module(file: Path) -> Part:
    """A WebAssembly module."""
    try:
        with open_regular(file) as stream:
            content = stream.read(_MOST_MODULE_BYTES + 1)
        digest = digest_of(content)
        native = NativePart.of_module(content, digest, str(file))
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UnknownError(f"part {file}: {what}") from None
    file = file.resolve()
    return _kept(Part(file, native.kind, Identity(digest, {file.name: digest}), native))


def _lines_in(file: Path, error: BaseException) -> list[int]:
    """The lines of a file through which an exception came, outermost first."""
    lines = []
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == str(file.resolve()):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines


def _in_words(error: BaseException, file: Path) -> str:
    """An exception with the line of the file that raised it."""
    lines = _lines_in(file, error)
    where = f"line {lines[-1]}" if lines else ""
    if isinstance(error, UnknownError):
        return ": ".join(filter(None, (where, str(error))))
    words = ": ".join(filter(None, (type(error).__name__, str(error))))
    return ", ".join(filter(None, (words, where)))


def _again(file: Path | None, name: str, digest: str, files: Mapping[str, str]) -> Part:
    """The part in another process. Raises `UnknownError` if one of its files has changed."""
    if file is None:
        allowed = "a class at the top level of a file, given as FILE.py:CLASS"
        raise UnknownError(f"part {name}: found no file; allowed in other processes: {allowed}")
    part = _of_module(file) if file.suffix == ".wasm" else _of_file(file, name)
    if part.digest != digest:
        now = part.identity.files
        changed = [one for one in {**files, **now} if files.get(one) != now.get(one)]
        raise refuse_change(Path(os.path.normpath(file.parent / changed[0])))
    return part


def _of_class(cls: type[_Own], name: str, file: Path | None, identity: Identity) -> Part:
    source = f"{file}:{name}" if file else name
    with _in_class(source):
        parameters, taken = _parameters(cls), _taken(cls)
        names = list(parameters)
        declaration = json.dumps(_plain(_declaration(cls, taken, identity.digest)))
        native = NativePart(
            declaration,
            lambda values, seed: _instance(cls, identity, names, values, seed),
            taken,
            source,
        )
        paths = tuple(name for name, one in parameters.items() if one.file)
        return _kept(Part(file, name, identity, native, text_of(cls), paths))


def _instance(
    cls: type[_Own], identity: Identity, names: Sequence[str], values: Sequence[Any], seed: int
) -> _Own:
    """An instance with its parameters, which its `__init__` may use already."""
    instance = cls.__new__(cls)
    if not isinstance(instance, cls):
        raise TypeError(f"__new__: found {_shown(instance)}; allowed: an instance of the class")
    parameters = _parameters(cls)
    for name, value in zip(names, values, strict=True):
        setattr(instance, name, Path(value) if parameters[name].file else value)
    instance._seed = seed
    run = files_of_run()
    # An emulation calls methods in a thread that does not say what they open.
    files = run or PartFiles({})
    files.admit(identity.paths, identity.later)
    try:
        instance.__init__()  # type: ignore[misc]
    finally:
        files.check() if run else files.end()
    return instance


class RemoteTraceback(Exception):
    """The traceback of another process, as text."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def trace_of(error: BaseException) -> str:
    """The traceback of an exception in a part: the lines of the user's own code alone.

    It is empty where none of them raised it: the message has all then.
    """
    if isinstance(error, RemoteTraceback):
        return str(error.args[0])
    own = own_lines(error)
    has_lines = own.__traceback__ is not None or isinstance(own, SyntaxError)
    return "".join(traceback.format_exception(own)) if has_lines else ""


def _parameters(cls: type[_Own]) -> dict[str, _Parameter]:
    """The parameters of a class and of those that it extends."""
    found = (
        (name, value)
        for base in reversed(cls.__mro__)
        for name, value in vars(base).items()
        if isinstance(value, _Parameter)
    )
    return dict(found)


def _annotation(cls: type[_Own], name: str) -> Any:
    notes = map(inspect.get_annotations, cls.__mro__)
    return next((note[name] for note in notes if name in note), None)


def _is_whole(cls: type[_Own], name: str) -> bool:
    return _annotation(cls, name) in (int, "int")


_TYPES: Mapping[str, tuple[type, ...]] = {
    "bool": (bool,),
    "float": (int, float, list, tuple),
    "int": (int, float, list, tuple),
    "str": (str,),
}


def _refuse_annotation(cls: type[_Own], name: str, one: _Parameter) -> None:
    """An annotation is what methods get: the type of the default."""
    note = _annotation(cls, name)
    text = note.__name__ if isinstance(note, type) else note
    types = _TYPES.get(text) if isinstance(text, str) else None
    is_flag = isinstance(one.default, bool) and bool not in (types or ())
    if types and (is_flag or not isinstance(one.default, types)):
        found = f"the default {_shown(one.default)} with the annotation {text}"
        raise ValueError(f"{name}: found {found}; allowed: the annotation of its type, or none")


_EXTENDED = ("threshold_bytes", "burst_us", "burst_bytes", "holds_back")
"""Attributes of controls that came after version 0.3."""


def _interface(cls: type[_Own], taken: Mapping[str, Sequence[str]]) -> int:
    """The version of the interface: a class of 0.3 may have attributes of later names."""
    hooks = _hooks(cls._role)
    own = {name for base in cls.__mro__ if base not in _ROLES for name in vars(base)}
    is_later = any(
        hooks[name].interface > 1 or not set(numbers) <= {*hooks[name].first}
        for name, numbers in taken.items()
    )
    own |= _set_by_methods(cls)
    is_later = is_later or cls._role in ("traffic", "controller") or not own.isdisjoint(_EXTENDED)
    return 2 if is_later else 1


def _set_by_methods(cls: type[_Own]) -> set[str]:
    """The attributes that lines of its methods set."""
    values = (value for base in cls.__mro__ if base not in _ROLES for value in vars(base).values())
    codes = [value.__code__ for value in values if inspect.isfunction(value)]
    lines = (line for code in codes for line in dis.get_instructions(code))
    return {line.argval for line in lines if line.opname == "STORE_ATTR"}


def _said(cls: type[_Own], name: str) -> Any:
    """What a class says of itself; a parameter of that name is none of it."""
    value = getattr(cls, name, None)
    return None if isinstance(value, _Parameter) else value


def _flag(cls: type[_Own], name: str) -> bool:
    value = _said(cls, name)
    if value not in (None, False, True):
        raise ValueError(f"{name}: found {value!s:.99}; allowed: True, False")
    return bool(value)


def _plain(value: Any, key: str = "") -> Any:
    """What JSON can have of a declaration; raises `ValueError` for other values."""
    if isinstance(value, Mapping):
        return {name: _plain(one, f"{name}: ") for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one, key) for one in value]
    is_number = _is_number(value) and math.isfinite(value)
    if value is None or is_number or isinstance(value, (bool, str)):
        return value
    allowed = "a finite number" if isinstance(value, (int, float)) else "a text or a number"
    raise ValueError(f"{key}found {_shown(value)}; allowed: {allowed}")


def _shown(value: object) -> str:
    """A value as messages show it: those of other types by their type."""
    if isinstance(value, _Parameter):
        return "a parameter"
    if isinstance(value, int) and value.bit_length() > 256:
        return "an int beyond all floats"
    if value is None or isinstance(value, (bool, int, float, str)):
        return f"{value!r:.60}"
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


_SCORES = ("call", "game", "frames", "pages")


def _score(cls: type[_Own]) -> Any:
    score = _said(cls, "score")
    if score is None or score in _SCORES:
        return score
    if not isinstance(score, Score):
        allowed = f"{', '.join(_SCORES)}, or sojourn.Score(GAUGE, good=..., fair=..., poor=...)"
        raise ValueError(f"score: found {_shown(score)}; allowed: {allowed}")
    if not isinstance(score.gauge, str):
        raise ValueError(f"score: found {_shown(score.gauge)} as gauge; allowed: its name")
    bounds = (score.good, score.fair, score.poor)
    if not all(isinstance(bound, (int, float)) and math.isfinite(bound) for bound in bounds):
        found = ", ".join(map(_shown, bounds))
        raise ValueError(f"score: found the bounds {found}; allowed: finite numbers")
    return {"own": asdict(score)}


def _gauges(cls: type[_Own]) -> list[dict[str, str]]:
    gauges = cls.gauges
    if not isinstance(gauges, Mapping) or not all(
        isinstance(text, str) for pair in gauges.items() for text in pair
    ):
        allowed = "a name and its unit for each, as {'drops': 'packets'}"
        raise ValueError(f"gauges: found {gauges!s:.99}; allowed: {allowed}")
    return [{"name": name, "unit": unit} for name, unit in gauges.items()]


def _doc(cls: type[_Own]) -> str:
    doc = vars(cls).get("__doc__") or ""
    if not isinstance(doc, str):
        raise ValueError(f"__doc__: found {doc!s:.99}; allowed: a text")
    return " ".join(inspect.cleandoc(doc).partition("\n\n")[0].split())


def _kind(cls: type[_Own]) -> str:
    kind: Any = cls.kind
    if not isinstance(kind, str):
        raise ValueError(f"kind: found {_shown(kind)}; allowed: a text, as 'my_law'")
    return kind or re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


def _declaration(
    cls: type[_Own], taken: Mapping[str, Sequence[str]], digest: str
) -> dict[str, Any]:
    """What the class says of itself, as the simulator reads it."""
    parameters = _parameters(cls)
    hooks = list(taken)
    declaration = {
        "role": cls._role,
        "name": _kind(cls),
        "doc": _doc(cls),
        "parameters": [_described(cls, name, one) for name, one in parameters.items()],
        "gauges": _gauges(cls),
        "hooks": hooks,
        "paced": _flag(cls, "paced"),
        "timestamps": _flag(cls, "timestamps"),
        "ecn": _said(cls, "ecn"),
        "interface": _interface(cls, taken),
        "score": _score(cls),
        "direction": _said(cls, "direction"),
        "two_way": _flag(cls, "two_way"),
        "folder": str((file_of(cls) or Path.cwd() / "_").parent),
        "digest": digest,
    }
    if (update := _update(cls, parameters)) is not None:
        declaration["update"] = update
    elif "on_update" in hooks:
        raise ValueError(f"found on_update without the time between updates; allowed: {_ONE_TIME}")
    return declaration


_ONE_TIME = "update_us = 1000, or a parameter update_us or update_ms"


def _update(cls: type[_Own], parameters: Mapping[str, _Parameter]) -> Any:
    """The time between updates in us, or the parameter that has it."""
    every = getattr(cls, "update_us", None) or None
    found: list[Any] = [name for name in ("update_us", "update_ms") if name in parameters]
    if every is not None and not isinstance(every, _Parameter):
        if not _is_number(every):
            raise ValueError(f"update_us: found {_shown(every)}; allowed: a time in us")
        found.append(every)
    if len(found) > 1:
        both = " and ".join(map(str, found))
        raise ValueError(f"found {both} as the time between updates; allowed: {_ONE_TIME}")
    return found[0] if found else None


_SET_BY_HOOKS = ("window_bytes", "pacing_bps", "up_bps", "down_bps")


def _refuse_taken(cls: type[_Own], name: str) -> None:
    """A parameter may not take the place of what methods need."""
    role = next(role for role in _ROLES if issubclass(cls, role))
    there = inspect.getattr_static(role, name, None)
    is_method = callable(there) or isinstance(there, (property, cached_property))
    if is_method or (name in _SET_BY_HOOKS and issubclass(role, (Control, Controller))):
        raise ValueError(f"found the parameter {name}, a name that is taken; allowed: another")


_NO_METHOD = (
    inspect.iscoroutinefunction,
    inspect.isgeneratorfunction,
    inspect.isasyncgenfunction,
)


@dataclass(frozen=True)
class _Hook:
    numbers: Sequence[str]
    """What it may take, by name."""
    first: Sequence[str]
    """What it takes at least; where a method has names of its own, this is their order."""
    interface: int

    def __str__(self) -> str:
        others = ", ".join(self.numbers[len(self.first) :])
        return f"self, {', '.join(self.first)}" + (f", and of {others}" if others else "")


@cache
def _hooks(role: str) -> Mapping[str, _Hook]:
    return {
        name: _Hook(numbers, numbers[:count], interface)
        for name, numbers, count, interface in NativePart.hooks(role)
    }


def _taken(cls: type[_Own]) -> dict[str, list[str]]:
    """The methods that are called, with the names of the numbers that they take.

    Raises `ValueError` for a method that never is called, or cannot be.
    """
    hooks = _hooks(cls._role)
    taken = {}
    for name in dir(cls):
        if name.startswith("on_"):
            if name not in hooks:
                raise ValueError(f"found {name}; allowed in a {cls._role}: {', '.join(hooks)}")
            taken[name] = _taken_by(name, inspect.getattr_static(cls, name), hooks[name])
    return taken


def _taken_by(name: str, method: Any, hook: _Hook) -> list[str]:
    if any(is_other(method) for is_other in _NO_METHOD):
        raise ValueError(f"{name}: found async def or yield; allowed: a method that returns")
    if not inspect.isfunction(method):
        raise ValueError(f"{name}: found {_shown(method)}; allowed: a method with {hook}")
    given = list(inspect.signature(method).parameters.values())
    if given and given[0].kind != inspect.Parameter.VAR_POSITIONAL:
        given = given[1:]  # self
    names = [one.name for one in given if one.kind == one.POSITIONAL_OR_KEYWORD]
    while names and names[-1] not in hook.numbers and _has_default(method, names[-1]):
        names.pop()
    kinds = {one.kind for one in given}
    if inspect.Parameter.VAR_KEYWORD in kinds and set(names) <= set(hook.numbers):
        return [*names, "**"]
    if set(hook.first) <= set(names) <= set(hook.numbers):
        return names
    _refuse_places(name, names, hook)
    try:
        inspect.signature(method).bind(None, *hook.first)
    except TypeError:
        signature = inspect.signature(method).replace(return_annotation=inspect.Signature.empty)
        found = str(signature)[1:-1] or "none"
        raise ValueError(f"{name}: found the arguments {found}; allowed: {hook}") from None
    return list(hook.first)


def _has_default(method: Any, name: str) -> bool:
    return inspect.signature(method).parameters[name].default is not inspect.Parameter.empty


def _refuse_places(name: str, names: Sequence[str], hook: _Hook) -> None:
    """Where some arguments are named otherwise, all go by their places."""
    for place, argument in enumerate(names):
        if argument in hook.numbers and argument not in hook.first[place : place + 1]:
            raise ValueError(
                f"{name}: found {argument} at place {place + 1}; allowed: the arguments {hook}"
            )


def _is_number(value: object) -> bool:
    """Is it a number that scenarios can have?"""
    is_real = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_real and -1e308 <= value <= 1e308  # type: ignore[operator]


def _described(cls: type[_Own], name: str, one: _Parameter) -> dict[str, Any]:
    numbers = [] if isinstance(one.default, (bool, str)) else [one.default, *(one.range or ())]
    if isinstance(one.default, (list, tuple)):
        numbers = [*one.default, *(one.range or ())]
    if not all(map(_is_number, numbers)):
        raise ValueError(
            f"{name}: found {numbers!s:.99} as default and range; allowed: numbers, True or False, "
            "a list of numbers, or a text with choices=[...] or file=True"
        )
    _refuse_taken(cls, name)
    _refuse_annotation(cls, name, one)
    if isinstance(one.default, str) and not one.choices and not one.file:
        raise ValueError(
            f"{name}: found {[one.default]!s:.99} as default and range; allowed: numbers, or a "
            "text with choices=[...] or file=True"
        )
    if one.range is not None and len(one.range) != 2:
        raise ValueError(f"{name}: found the range {one.range!s:.60}; allowed: (LEAST, GREATEST)")
    low, high = one.range or (None, None)
    return {
        "name": name,
        "doc": one.doc,
        "unit": one.unit,
        "default": one.default,
        "choices": one.choices,
        "file": one.file,
        "min": low,
        "max": high,
        "number": "whole" if _is_whole(cls, name) else "real",
    }
