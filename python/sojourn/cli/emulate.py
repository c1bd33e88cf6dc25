"""The command `sojourn emulate`."""

import errno
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .options import flag, option
from .programs import WithPrograms, further_programs
from .say import say, say_document

if TYPE_CHECKING:
    from ..runs.emulation import Emulation, Lateness, Program
    from ..runs.simulation import Observation

CLASS = WithPrograms
TOO_LATE = 3
_VIEW_EACH_S = 0.5
_POLL_S = 0.02


def emulate(
    context: typer.Context,
    scenario: options.ScenarioFile,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND...",
            help="Program at home and its arguments, behind --; default: a shell.",
        ),
    ] = None,
    set: options.Set = None,
    config: options.Config = None,
    part: options.Parts = None,
    variant: Annotated[
        str | None, option("NAME", "Variant of a scenario that compares several.")
    ] = None,
    seed: Annotated[int | None, option("N", "Random seed; overrides the scenario's.")] = None,
    home: Annotated[
        list[str] | None,
        option(
            "NAME -- COMMAND...",
            "Program behind the modem of another group of homes (its first), also behind COMMAND; "
            "repeatable.",
        ),
    ] = None,
    server_run: Annotated[
        str | None,
        option(
            "'COMMAND'",
            "Program at the server, which starts first; COMMAND starts when a port of it listens.",
        ),
    ] = None,
    server_wait: Annotated[
        float, option("SECONDS", "How long the server has until it listens.", min=0.1)
    ] = 10,
    uplink: Annotated[
        bool,
        flag("--uplink", "Lead beyond the servers into this machine's network; needs slirp4netns."),
    ] = False,
    duration: Annotated[
        float | None,
        option("SECONDS", "End the run after this time; default: when COMMAND ends.", min=0.001),
    ] = None,
    record: Annotated[
        Path | None,
        option("FILE.pcapng", "Write what came, for sojourn run --replay; headers alone."),
    ] = None,
    payloads: Annotated[bool, flag("--payloads", "Record whole packets.")] = False,
    max_late: Annotated[
        float,
        option(
            "MS",
            "The results are too late to trust if one packet in a thousand is later; exit status "
            "3.",
            min=0.001,
        ),
    ] = 1,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    max_memory: options.MaxMemory = None,
    all: options.All = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a real program over the line that a scenario describes, in real time.

    COMMAND runs in a network of its own, whose packets cross router, modem, cable and CMTS of the
    scenario, beside its other traffic. At the other end is a second network; programs find each
    other by the names home and server. With --home NAME -- COMMAND a further home has a network
    with a program of its own, by the name of its group. All networks end with the run, and so do
    all programs in them. It needs Linux, and root or a user namespace.

    The run lasts as long as COMMAND and ends with its exit status, or with 3 if packets came too
    late to trust the results. If COMMAND succeeds and a program of a further home has failed by
    then, the exit status is that of this program.
    """
    from ..runs.emulated_homes import HomeError
    from ..runs.emulation import Emulation, LineEndedError, words_of

    if payloads and record is None:
        raise typer.BadParameter("--payloads: found no --record; allowed: with it")
    if home:
        raise typer.BadParameter(
            f"--home {home[0]}: found no program behind it; allowed: --home NAME -- COMMAND..."
        )
    further = [(group, words_of(typed)) for group, typed in further_programs(context)]
    one = _variant(scenario, variant, set=set or (), config=config, seed=seed)
    words = command or [os.environ.get("SHELL") or "/bin/sh"]
    try:
        emulation = Emulation(
            one,
            name=Path(words[0]).name,
            homes=[(group, Path(typed[0]).name) for group, typed in further],
            server=server_run,
            server_output=_NOTHING,
            wait_s=server_wait,
            record=record,
            payloads=payloads,
            uplink=uplink,
            max_late_ms=max_late,
        )
    except HomeError as error:
        raise typer.BadParameter(f"--home: {error.reason}") from None
    held, wanted = _reserved(out, scenario, emulation.variant, overwrite)
    with held:
        status: int | None = None
        why = ""
        failed: list[tuple[str, Program]] = []
        with _despite_the_record(emulation) as failures, emulation:
            is_shown = bool(command) and not quiet and sys.stderr.isatty()
            # Why a line has ended by itself is said at the end of the block.
            with _until_stopped(), suppress(LineEndedError):
                # The document is alone on standard output.
                output = sys.stderr if as_json else sys.stdout
                beside = [
                    (group, emulation.start(typed, at=group, stdin=_NOTHING, stdout=output))
                    for group, typed in further
                ]
                program = emulation.start(words, stdout=output)
                status, why = _watched(emulation, program, duration, is_shown)
                failed = [(group, one) for group, one in beside if one.returncode]
        result = emulation.result
        if out and wanted:
            from ..store.write import write

            write(result.groups, out, wanted)
    _tell(emulation, why, as_json, quiet, all)
    if out and not quiet and not as_json:
        say(f"report: {out / 'report.html'}")
    for failure in failures:
        raise failure
    for group, one in failed:
        say(f"home {group}: {one.args[0]} ended with status {one.returncode}", err=True)
        status = status or one.returncode
    _end(emulation, status)


_NOTHING = -3  # subprocess.DEVNULL, which is not imported for help


@contextmanager
def _until_stopped() -> Iterator[None]:
    """Ends with Ctrl-C, or when the terminal has been closed."""
    try:
        with suppress(KeyboardInterrupt):
            yield
    except OSError as error:
        if error.errno != errno.EIO:
            raise


@contextmanager
def _despite_the_record(emulation: "Emulation") -> Iterator[list[OSError]]:
    """What kept a record from being written, which is no reason to lose the results."""
    failures: list[OSError] = []
    try:
        yield failures
    except OSError as error:
        if not emulation.has_result:
            raise
        failures.append(error)


def _variant(scenario: Path, name: str | None, **given: Any) -> Any:
    from ..runs.request import load
    from ..runs.simulation import chosen

    variants = load(scenario, **given)
    try:
        return chosen(variants, name)
    except ValueError as error:
        raise typer.BadParameter(f"--{error}") from None


def _reserved(
    out: Path | None, scenario: Path, variant: Any, overwrite: bool
) -> tuple[AbstractContextManager[None], Any]:
    if out is None:
        return nullcontext(), None
    from ..runs.scenario import file_of
    from ..store.replace import Wanted, reserved

    file = file_of(scenario)
    wanted = Wanted.of([variant], 1, [file] if file else [], asides=("duration_s",))
    return reserved(out, wanted, overwrite=overwrite), wanted


def _watched(
    emulation: "Emulation", program: "Program", duration: float | None, is_shown: bool
) -> tuple[int, str]:
    """Waits until the program or the time ends: the program's status or 0, and which it was."""
    deadline = None if duration is None else time.monotonic() + duration
    with _view() if is_shown else nullcontext() as view:
        while not emulation.has_ended:
            if (status := program.returncode) is not None:
                return status, f", as long as {program.args[0]} ran"
            if deadline is not None and time.monotonic() >= deadline:
                return 0, ", as --duration says"
            if view:
                view.look(emulation)
            time.sleep(_POLL_S)
    return 0, ""


class _View:
    """What happens on the line, at the bottom of the terminal."""

    def __init__(self, lines: Any) -> None:
        self._lines = lines
        self._next_s = 0.0
        self._sums: Counter[tuple[str, str]] = Counter()

    def look(self, emulation: "Emulation") -> None:
        if time.monotonic() < self._next_s:
            return
        observation = emulation.observe()
        if observation is not None:
            self._next_s = time.monotonic() + _VIEW_EACH_S
            late = f"late    at most {emulation.late_ms:.2f} ms"
            head = f"{observation.at_s:.1f} s on the line"
            self._lines.show([f"{head}; {late}", *self._directions(observation)])

    def _directions(self, observation: "Observation") -> Iterator[str]:
        for direction in ("up", "down"):
            rate = sum(
                one.delivered_mbps for one in observation.traffic if one.direction == direction
            )
            queues = [one for one in observation.queues if one.direction == direction]
            for queue in queues:
                self._sums[direction, "dropped"] += queue.dropped_packets
                self._sums[direction, "marked"] += queue.marked_packets
            waiting = sum(queue.packets for queue in queues)
            delays = [queue.delay_ms for queue in queues if queue.delay_ms is not None]
            delay = f"{max(delays):.1f} ms" if delays else "–"
            yield (
                f"{direction:5} {rate:8.2f} Mbps, queue {waiting} packets, delay {delay}, "
                f"dropped {self._sums[direction, 'dropped']}, "
                f"marked {self._sums[direction, 'marked']}"
            )


@contextmanager
def _view() -> Iterator[_View]:
    from ..base.bottom_lines import bottom_lines

    with bottom_lines(sys.stderr, 3) as lines:
        yield _View(lines)


def _tell(emulation: "Emulation", why: str, as_json: bool, quiet: bool, in_full: bool) -> None:
    from ..analysis.summary import summary_json

    result = emulation.result
    kept: Mapping[str, Any] = result.meta["emulation"]
    if as_json:
        say_document({**summary_json(result.groups), "emulation": kept})
    elif not quiet:
        result.summary(in_full=in_full)
        lasted = f"{result.meta['duration_s']:.1f} s{why}"
        say(f"{lasted}; the scenario's duration_s is not used")
        if len(kept["homes"]) > 1:
            each = (f"{group} as {entry}" for group, entry in kept["homes"].items())
            say(f"packets of the real programs in the tables: {', '.join(each)}")
        say(_in_time(emulation.lateness))


def _in_time(late: "Lateness") -> str:
    if not late.packets:
        return "no packet of the real programs was delivered"
    return (
        f"{late.packets} packets of the real programs were delivered; lateness p50 "
        f"{late.p50_ms:.3f}, p99 {late.p99_ms:.3f}, p99.9 {late.p999_ms:.3f}, at most "
        f"{late.max_ms:.3f} ms"
    )


def _end(emulation: "Emulation", status: int | None) -> None:
    """Ends the command with its exit status, and says why it is not the program's."""
    from ..base.errors import Stopped

    if status is None:
        lasted_s = emulation.result.meta["duration_s"]
        raise Stopped(f"stopped after {lasted_s:.1f} s; the results are of this time")
    if emulation.is_too_late:
        most_ms = emulation.result.meta["emulation"]["max_late_ms"]
        cure = next(
            one.values["cure"] for one in emulation.result.warnings if one.code == "too-late"
        )
        also = f"; the program ended with status {status}" if status else ""
        say(
            f"too late to trust: p99.9 of lateness is {emulation.lateness.p999_ms:.3f} ms; "
            f"allowed: up to {most_ms:g} ms (--max-late); {cure}{also}",
            err=True,
        )
        raise typer.Exit(TOO_LATE)
    if status == Stopped.status:
        raise Stopped("the program ended with status 130, as after Ctrl-C")
    if status:
        raise typer.Exit(status)
