"""Real programs on a line that is simulated in real time."""

import math
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from numbers import Real
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from .._sojourn import Variant
from ..base.errors import InputError
from ..base.files import draft_of_file
from .emulated_homes import HOME, SERVER, with_homes
from .heard import Heard
from .part_files import PartFiles
from .part_import import hooks
from .parts import Given, files_of, refuse_in_parts
from .request import load
from .result import Result
from .scenario import Config, Scenario, Settings
from .simulation import Observation, chosen

if TYPE_CHECKING:
    from .._sojourn import Emulation as NativeEmulation
    from .._sojourn import Program as NativeProgram

Command = str | Sequence[str | os.PathLike[str]]
"""A program and its arguments: a list, or a text that is split as shells do."""

_POLL_S = 0.01
_GRACE_S = 2.0
"""So long programs have to end by themselves before they are killed."""
MAX_LATE_MS = 1.0


class Lateness(NamedTuple):
    """How late packets were delivered: wall clock at the write less simulated arrival.

    >>> sojourn.Lateness(2, 0.03, 0.04, 0.04, 0.04, max_ms=0.04).packets
    2
    """

    packets: int
    """Packets that were delivered."""
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    p999_ms: float | None
    """Exceeded by one packet in a thousand."""
    max_ms: float | None


class LineEndedError(RuntimeError):
    """No program starts on a line that has ended."""


class Program:
    """A program that runs at an end of the line."""

    def __init__(
        self,
        native: "NativeProgram",
        command: Sequence[str],
        look: Callable[[], None],
        heard: Heard | None,
    ) -> None:
        """Wraps the native program. `look` raises why the line has ended, if it has by itself."""
        self._native, self._look, self._heard = native, look, heard
        self.args = command

    def __repr__(self) -> str:
        return f"<Program {shlex.join(self.args)}>"

    @property
    def returncode(self) -> int | None:
        """Its exit status as a shell has it, or `None` while it runs."""
        return self._native.poll()

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end and returns its exit status.

        Raises `subprocess.TimeoutExpired` if it runs longer than `timeout`, in s, and what
        `Emulation.finish` raises if the line ends by itself before.
        """
        limit_s = math.inf if timeout is None else _limit("timeout", timeout)
        status = self._status_within(limit_s, self._look)
        if status is None:
            raise subprocess.TimeoutExpired(list(self.args), limit_s)
        return status

    def _status_within(self, limit_s: float, look: Callable[[], None]) -> int | None:
        deadline = time.monotonic() + limit_s
        while True:
            # What a program came to on a line that had failed says nothing.
            look()
            status = self._native.poll()
            if status is not None or time.monotonic() >= deadline:
                return status
            time.sleep(_POLL_S)

    def terminate(self) -> None:
        """Asks it and its children to end."""
        self._native.terminate()

    def kill(self) -> None:
        """Ends it and its children."""
        self._native.kill()

    def end(self) -> None:
        """Asks it to end, and kills it with its children if it does not."""
        if self.returncode is None:
            if self._heard:
                self._heard.mute()
            self.terminate()
            self._status_within(_GRACE_S, lambda: None)
        self.kill()
        if self._heard:
            self._heard.end()


class Emulation:
    """Homes, a server and the line of a scenario between them, in real time, while the block lasts.

    Programs at the ends find each other by the names `home` and `server`, and those of further
    homes by the names of their groups. Nothing else is in their network, and they end with the
    block. See `emulate`.

    >>> sojourn.emulate("upload", variant="DOCSIS-PIE")
    <Emulation 'program'>
    """

    def __init__(
        self,
        variant: Variant,
        *,
        name: str = "program",
        homes: Iterable[tuple[str, str]] = (),
        server: Command | None = None,
        server_output: int | IO[Any] | None = None,
        wait_s: float = 10,
        record: str | os.PathLike[str] | None = None,
        payloads: bool = False,
        uplink: bool = False,
        max_late_ms: float = MAX_LATE_MS,
    ) -> None:
        """Prepares the line of a variant; `name` is that of the entry which it gets if it has none.

        `homes` are the groups of further homes, each with a name likewise. `server_output` is where
        the program at the server writes.
        """
        if not _is_number(max_late_ms) or not max_late_ms > 0:
            raise InputError(f"max_late_ms: found {max_late_ms!r:.60}; allowed: more than 0")
        if not _is_number(wait_s) or not wait_s >= 0:
            raise InputError(f"wait_s: found {wait_s!r:.60}; allowed: a time in s, from 0 on")
        if not isinstance(record, str | os.PathLike | None):
            raise InputError(f"record: found {record!r:.60}; allowed: the path of a file")
        if payloads and record is None:
            raise InputError("payloads: found no record; allowed: with record")
        self._variant, self._homes = with_homes(variant, name, homes)
        self._server = None if server is None else words_of(server)
        self._server_output = server_output
        self._wait_s, self._max_late_ms = wait_s, max_late_ms
        self._record, self._payloads = None if record is None else Path(record), payloads
        self._uplink = uplink
        self._native: NativeEmulation | None = None
        self._programs: list[Program] = []
        self._was_entered = False
        self._result: Result | None = None
        self._files: PartFiles | None = None
        self._refusal: Exception | None = None
        self._failure = ""
        self._held = ExitStack()

    def __repr__(self) -> str:
        return f"<Emulation {self._homes[0].entry!r}>"

    @property
    def variant(self) -> Variant:
        """What is emulated."""
        return self._variant

    @property
    def has_result(self) -> bool:
        """Has the line ended with results?"""
        return self._result is not None

    def __enter__(self) -> "Emulation":
        refuse_in_parts()
        if self._was_entered:
            raise RuntimeError(
                "found a second block of one emulation; allowed: one; sojourn.emulate makes another"
            )
        with ExitStack() as held:
            if self._variant.calls_python:
                self._files = files_of(self._variant)
                held.enter_context(hooks(self._files, in_this_thread=False))
            record = None
            if self._record is not None:
                record = (held.enter_context(draft_of_file(self._record)), self._payloads)
            ends = [(home.entry, home.hosts) for home in self._homes]
            self._native = _native()(self._variant, ends, record, self._uplink)
            held.callback(self._close)
            if self._server:
                self._start_server(self._server)
            self._native.start()
            self._held = held.pop_all()
            self._was_entered = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None and error is not None:
            try:
                self._look()
            except Exception as why:
                error.add_note(f"the line had ended: {why}")
            self._failure = kind.__name__
            self._held.__exit__(kind, error, trace)
            return
        with self._held:
            self.finish()

    def start(
        self,
        command: Command,
        *,
        at: str = HOME,
        stdin: int | IO[Any] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
    ) -> Program:
        """Starts a program at an end; it ends with the block at the latest.

        The end is `"home"`, `"server"` or the group of a further home. The streams are those of
        this process, files, or `subprocess.DEVNULL`. Raises `RuntimeError` if the line has ended.
        """
        self._refuse_after_end()
        return self._start(command, at, stdin, stdout, stderr)

    def _start(
        self,
        command: Command,
        at: str,
        stdin: int | IO[Any] | None,
        stdout: int | IO[Any] | None,
        stderr: int | IO[Any] | None,
        heard: Heard | None = None,
    ) -> Program:
        ends = self._ends()
        if at not in ends:
            raise ValueError(f"at: found {at!r}; allowed: {', '.join(map(repr, ends))}")
        command = words_of(command)
        with open(os.devnull, "r+b") as nothing:
            streams = [
                nothing.fileno() if stream == subprocess.DEVNULL else _descriptor(stream)
                for stream in (stdin, stdout, stderr)
            ]
            native = self._line.spawn(ends[at], command, (streams[0], streams[1], streams[2]))
        self._programs.append(Program(native, command, self._look, heard))
        return self._programs[-1]

    def run(
        self,
        command: Command,
        *,
        at: str = HOME,
        timeout: float | None = None,
        check: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program at an end, and returns what it wrote and its exit status.

        After `timeout` s it is killed, and `subprocess.TimeoutExpired` is raised. With `check` an
        exit status other than 0 raises `subprocess.CalledProcessError`. If the line ends by itself
        meanwhile, this raises what `finish` raises.
        """
        if timeout is not None:
            _limit("timeout", timeout)
        with TemporaryFile() as out, TemporaryFile() as err:
            program = self.start(command, at=at, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            try:
                status = program.wait(timeout)
            finally:
                program.kill()
                wrote = [_read(file) for file in (out, err)]
        done = subprocess.CompletedProcess(program.args, status, *wrote)
        if check:
            done.check_returncode()
        return done

    def observe(self) -> Observation | None:
        """What happened on the line since the last call that returned something.

        It is `None` until there is something new, about ten times a second. `late_ms` has the
        longest lateness of the same time.
        """
        seen = self._line.observe()
        if seen is None:
            return None
        observed, self.late_ms = seen
        return Observation.of(observed)

    late_ms: float = 0.0
    """The longest lateness between the last two observations."""

    @property
    def has_ended(self) -> bool:
        """Has the line ended? If it has by itself, `finish` raises why."""
        return self.has_result or bool(self._failure) or self._line.has_ended()

    def finish(self) -> Result:
        """Ends the programs and the line, and returns the results.

        Raises `PartError` if a part of one's own failed, `InputError` if the machine slept or
        nothing was measured, and `OSError` if the record could not be written; then alone `result`
        is there all the same.
        """
        if self._result is None and self._refusal is None:
            line = self._line
            self._end_programs()
            try:
                native, variant, self._refusal = line.finish(self._max_late_ms)
                if self._files is not None:
                    self._files.end()
                self._result = Result(variant, native)
            except Exception as error:
                self._refusal, self._failure = error, type(error).__name__
        if self._refusal is not None:
            raise self._refusal
        assert self._result is not None
        return self._result

    @property
    def result(self) -> Result:
        """The results of the line, when the block has ended."""
        if self._result is None and self._failure:
            raise RuntimeError(
                f"result: found a block that ended with {self._failure}, so that there are no "
                "results; allowed: after a block without exceptions"
            )
        if self._result is None:
            raise RuntimeError("result: found a line that goes on; allowed: after the block")
        return self._result

    @property
    def lateness(self) -> Lateness:
        """How late packets were delivered."""
        return lateness_of(self.result.meta)

    @property
    def is_too_late(self) -> bool:
        """Were more than one in a thousand later than `max_late_ms`?"""
        is_too_late: bool = self.result.meta["emulation"]["is_too_late"]
        return is_too_late

    def _ends(self) -> dict[str, int | None]:
        """Where programs may be, with the numbers of homes."""
        groups = {home.group: number for number, home in enumerate(self._homes)}
        return {HOME: 0, SERVER: None, **{name: groups[name] for name in list(groups)[1:]}}

    @property
    def _line(self) -> "NativeEmulation":
        if self._native is None:
            raise RuntimeError("found no line; allowed: within `with sojourn.emulate(...)`")
        return self._native

    def _look(self) -> None:
        if self._native is not None and self._native.has_ended():
            self.finish()

    def _refuse_after_end(self) -> None:
        if not self.has_ended:
            return
        reason, why = None, ""
        if self._native is not None:
            try:
                self.finish()
            except Exception as error:
                reason, why = error, f" ({error})"
        raise LineEndedError(f"the line has ended{why}; allowed: a program before that") from reason

    def _start_server(self, command: Sequence[str]) -> None:
        with Heard() as heard:
            program = self._start(
                command, SERVER, subprocess.DEVNULL, self._server_output, heard.descriptor, heard
            )
        deadline = time.monotonic() + self._wait_s
        while not self._line.listens(None):
            if program.returncode is not None:
                raise InputError(
                    f"{shlex.join(command)}: found its end, with status {program.returncode}; "
                    "allowed: a server that waits at a port"
                )
            if time.monotonic() > deadline:
                raise InputError(
                    f"{shlex.join(command)}: found no port at which it waits after "
                    f"{self._wait_s:g} s; allowed: a server of TCP or UDP, or a longer wait"
                )
            time.sleep(_POLL_S)

    def _end_programs(self) -> None:
        for program in reversed(self._programs):
            program.end()

    def _close(self) -> None:
        self._end_programs()
        self._line.close()
        self._native = None


def emulate(
    scenario: Scenario | Variant,
    *,
    variant: str | None = None,
    seed: int | None = None,
    set: Settings = (),
    config: Config | None = None,
    scale: Settings = (),
    max_memory_gb: float | None = None,
    parts: Iterable[Given] = (),
    homes: Iterable[str] = (),
    server: Command | None = None,
    wait_s: float = 10,
    record: str | os.PathLike[str] | None = None,
    payloads: bool = False,
    uplink: bool = False,
    max_late_ms: float = MAX_LATE_MS,
) -> Emulation:
    """The line of a scenario in real time, for programs: a context manager. Linux only.

    The first parameters are those of `Simulation`; the scenario's `duration_s` is not used. The
    packets of programs are those of the first traffic entry of kind `outside`; if there is none,
    there is one called `program`. `homes` are groups of homes whose first home has an end too, for
    programs that start with `at` this group; its packets are those of the first such entry of the
    group, or of one that is added. `server` is a program that starts at the server before the block
    begins, when one of its ports listens, for which it has `wait_s`. `record` is a file for a
    record of the packets, which `sojourn.run(..., replay=FILE)` sends again; it has headers alone
    unless `payloads`. With `uplink` programs reach beyond the server what this machine reaches,
    with IPv4. If one packet in a thousand is later than `max_late_ms`, the results are too late to
    trust.

    Raises `InputError` with what is missing where the system does not permit it.

        >>> line = sojourn.emulate("upload", variant="DOCSIS-PIE", server="iperf3 -s")
        >>> def upload() -> sojourn.Result:
        ...     with line:
        ...         line.run("iperf3 -c server -t 5", check=True)
        ...     return line.result
    """
    if isinstance(scenario, Variant):
        one = chosen([scenario.replace(seed=seed, set=set)], None)
    else:
        given: dict[str, Any] = {"seed": seed, "set": set, "config": config, "scale": scale}
        loaded = load(scenario, **given, max_memory_gb=max_memory_gb, parts=parts)
        one = chosen(loaded, variant)
    return Emulation(
        one,
        homes=[(group, "program") for group in _names("homes", homes)],
        server=server,
        server_output=subprocess.DEVNULL,
        wait_s=wait_s,
        record=record,
        payloads=payloads,
        uplink=uplink,
        max_late_ms=max_late_ms,
    )


def words_of(command: Command) -> list[str]:
    """A program and its arguments; raises `InputError` for a text that is not closed."""
    try:
        words = (
            shlex.split(command)
            if isinstance(command, str)
            else [os.fspath(word) for word in command]
        )
    except ValueError as error:
        raise InputError(f"{command}: found {error}; allowed: words as in a shell") from None
    except TypeError:
        words = []
    if not words or not words[0]:
        raise InputError(f"found {command!r:.99} as a program; allowed: its name and arguments")
    return words


def lateness_of(meta: Mapping[str, Any]) -> Lateness:
    """How late packets were, from the metadata of a result."""
    kept = meta["emulation"]
    names = ("late_p50_ms", "late_p90_ms", "late_p99_ms", "late_p999_ms", "latest_ms")
    return Lateness(kept["packets"], *map(kept.get, names))


def _native() -> "type[NativeEmulation]":
    try:
        from .._sojourn import Emulation as NativeEmulation
    except ImportError:
        raise InputError("emulate: found another system; allowed: Linux") from None
    return NativeEmulation


def _names(what: str, given: Any) -> list[str]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Iterable):
        raise InputError(f"{what}: found {given!r:.60}; allowed: names")
    return list(names)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _limit(name: str, value: float) -> float:
    if not _is_number(value) or math.isnan(value):
        raise InputError(f"{name}: found {value!r:.60}; allowed: a time in s")
    return float(value)


def _descriptor(stream: int | IO[Any] | None) -> int | None:
    if stream in (subprocess.PIPE, subprocess.STDOUT):
        raise InputError(
            f"found stream {stream} of subprocess; allowed: a file, subprocess.DEVNULL or None; "
            "run returns what a program wrote"
        )
    return stream if stream is None or isinstance(stream, int) else stream.fileno()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
