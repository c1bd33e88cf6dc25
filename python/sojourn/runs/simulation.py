"""A run that a program stops, looks at and changes."""

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import Context
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from .._sojourn import ScenarioError, Stepped, Variant, require_records
from ..base.errors import InputError
from ..base.files import write_file
from ..base.problems import refused
from .part_import import hooks
from .parts import Given, files_of, refuse_in_parts
from .request import load
from .result import Result
from .scenario import Config, Scenario, Settings

if TYPE_CHECKING:
    from .._sojourn import _Observed


T = TypeVar("T")


class QueueObservation(NamedTuple):
    """What a queue did since the last observation, and what waits in it now."""

    queue: str
    """Its name, as in the table `queues`."""
    direction: str
    bytes: int
    """Bytes that wait in it now."""
    packets: int
    """Packets that wait in it now."""
    departed_packets: int
    delay_ms: float | None
    """Mean sojourn time of the packets that left; `None` if none did."""
    dropped_packets: int
    """Dropped at a limit or by the AQM algorithm."""
    dropped_aqm_packets: int
    marked_packets: int
    gauges: Mapping[str, float | None]
    """What its law and its scheduler show now, by the names of their series."""


class TrafficObservation(NamedTuple):
    """What happened to the packets of a traffic entry since the last observation."""

    traffic: str
    direction: str
    sent_mbps: float
    delivered_mbps: float
    """Of bytes on the wire, over the time since the last observation."""
    sent_packets: int
    delivered_packets: int
    lost_packets: int
    delay_ms: float | None
    """Mean one-way delay of what was delivered; `None` if nothing was."""
    rtt_ms: float | None
    """Mean of the round-trip times that its senders measured; `None` if they measured none."""
    network_mos: float | None
    """Of a voice call: mean opinion score of this delay and loss, as the column `network_mos`."""
    own_score: float | None
    """Of a model with a scale of its own: its gauge now, as the column `own_score`."""
    own_score_level: float | None
    """Where that is on the scale: 1 is the bound of good, 2 of fair and 3 of poor."""
    gauges: Mapping[str, float | None]
    """What its model in the first home shows now, by the names of its series, up and down alike."""


class ConnectionObservation(NamedTuple):
    """The sender of an open connection now."""

    traffic: str
    number: int
    """Number of the connection in its traffic entry, as in the table `connections`."""
    direction: str
    window_bytes: float
    """Congestion window."""
    pacing_mbps: float | None
    """Pacing rate; `None` if the congestion control sets none."""
    smoothed_rtt_ms: float | None
    """Smoothed round-trip time; `None` before the first measurement."""
    gauges: Mapping[str, float | None]
    """What its congestion control shows now, by the names of its series."""


class Observation(NamedTuple):
    """What a simulation shows. Only packets count that were sent from `metrics.from_s` on.

    `queues` has the measured queues, `traffic` each traffic entry up and down, and `connections`
    the open connections among those that `metrics.connections` records. All are named tuples.

        >>> simulation = sojourn.Simulation("scenarios/fibre.toml", variant="Fibre")
        >>> simulation.run_until(0.5)
        >>> observation = simulation.observe()
        >>> observation.at_s, observation.queue("upstream")._fields[:4]
        (0.5, ('queue', 'direction', 'bytes', 'packets'))
    """

    at_s: float
    """Simulated time."""
    span_s: float
    """Time since the last observation, or since the start."""
    queues: Sequence[QueueObservation]
    """The measured queues, in the order of the table `queues`, without its rows of members."""
    traffic: Sequence[TrafficObservation]
    """Each traffic entry, up and down."""
    connections: Sequence[ConnectionObservation]
    """Open connections among those that `metrics.connections` records."""

    @staticmethod
    def of(observed: "_Observed") -> "Observation":
        """What the native module observed."""
        at_s, span_s, queues, traffic, connections = observed
        return Observation(
            at_s,
            span_s,
            [QueueObservation(*one[:-1], dict(one[-1])) for one in queues],
            [
                TrafficObservation(*measured, score, level, dict(gauges))
                for measured, score, level, gauges in traffic
            ],
            [ConnectionObservation(*one[:-1], dict(one[-1])) for one in connections],
        )

    def queue(self, name: str, direction: str | None = None) -> QueueObservation:
        """The queue of a name, and of a direction where both have one of it."""
        for queue in self.queues:
            if queue.queue == name and direction in (None, queue.direction):
                return queue
        there = ", ".join(f"{queue.queue!r} {queue.direction}" for queue in self.queues)
        raise KeyError(f"found {name!r}; allowed: {there or 'none, no queue is measured'}")


class ArrivedPacket(NamedTuple):
    """A real packet that has arrived at the other end."""

    handle: int
    """Its number among all that came, from 0."""
    traffic: str
    direction: str
    ecn: str
    """Its ECN field as it arrived: `not_ect`, `ect0`, `ect1`, or `ce` if a queue marked it."""
    dscp: int
    at_s: float


class LostPacket(NamedTuple):
    """A real packet that will not arrive."""

    handle: int
    traffic: str
    direction: str
    reason: str
    """`overflow`, `aqm`, `link`, `superseded` or `contention`."""
    at_s: float
    """When it is lost, which a link may know ahead."""


class Simulation:
    """A run that can be stopped, looked at and changed.

    The parameters are those of `load`; `scenario` may be one of its variants too. A scenario that
    compares variants needs `variant`, the name of one of them. The same calls give the same bits. A
    run that is only looked at has the results of `sojourn.run`.

        >>> simulation = sojourn.Simulation("scenarios/home.toml", variant="CoDel", seed=2)
        >>> simulation.run_until(1)
        >>> simulation.observe().queue("upstream").packets >= 0
        True
        >>> simulation.set("upstream.sustained_mbps", 5)
        >>> simulation.run_until(2)
        >>> simulation.finish().changes
        [KeyChange(at_s=1.0, key='upstream.sustained_mbps', value=5)]
    """

    def __init__(
        self,
        scenario: Scenario | Variant,
        *,
        variant: str | None = None,
        seed: int | None = None,
        duration_s: float | None = None,
        set: Settings = (),
        config: Config | None = None,
        scale: Settings = (),
        max_memory_gb: float | None = None,
        parts: Iterable[Given] = (),
        record: str | os.PathLike[str] | None = None,
    ) -> None:
        """Loads the scenario; the run is at 0 s.

        `record` is a file that `finish` writes: a record of the real packets that came, for
        `replay` of `sojourn.run`.
        """
        refuse_in_parts()
        if isinstance(scenario, Variant):
            if variant is not None or config is not None or scale or parts:
                raise TypeError(
                    "found a loaded variant with variant, config, scale or parts; allowed: seed, "
                    "duration_s and set"
                )
            one = scenario.replace(seed=seed, duration_s=duration_s, set=set)
        else:
            loaded = load(
                scenario,
                seed=seed,
                duration_s=duration_s,
                set=set,
                config=config,
                scale=scale,
                max_memory_gb=max_memory_gb,
                parts=parts,
            )
            one = chosen(loaded, variant)
        self._variant = one
        self._files = files_of(one) if one.calls_python else None
        self._context = Context()
        self._native = self._call(Stepped, one, record is not None)
        self._record = None if record is None else Path(record)

    @classmethod
    def again(cls, result: Result, *, parts: Iterable[Given] = ()) -> "Simulation":
        """The run of a result once more, with its changes; it is where the result was made.

        `parts` are those of the run, if it had some of its own. Real packets that came in it come
        again from their record alone.

            >>> simulation = sojourn.Simulation("scenarios/fibre.toml", variant="Fibre")
            >>> simulation.run_until(0.5)
            >>> simulation.set("downstream.sustained_mbps", 10)
            >>> simulation.run_until(1)
            >>> result = simulation.finish()
            >>> again = sojourn.Simulation.again(result).finish()
            >>> again.meta["fingerprint"] == result.meta["fingerprint"]
            True
        """
        meta = result.meta
        if "seeds" in meta:
            first = meta["seeds"][0]
            raise ValueError(
                f"found the results of several seeds; allowed: those of one, result.seeds[{first}]"
            )
        simulation = cls(
            result.scenario, duration_s=meta.get("planned_s"), max_memory_gb=math.inf, parts=parts
        )
        require_records(simulation._variant)
        simulation._variant = simulation._variant.named(result.name)
        changes: list[dict[str, Any]] = meta.get("changes", [])
        for (at_ps, _), at_once in groupby(changes, key=itemgetter("at_ps", "call")):
            simulation._run_until_ps(at_ps)
            simulation._native.set([(change["key"], change["value"]) for change in at_once])
        simulation.run_until(meta["duration_s"])
        return simulation

    def __repr__(self) -> str:
        variant = f"{self._variant.name!r}, " if self._variant.name else ""
        return f"<Simulation {variant}seed {self._variant.seed}, of {self.duration_s:g} s>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "cannot pickle a Simulation, which is a run in progress; allowed: its result, or the "
            "scenario and the changes"
        )

    @property
    def now_s(self) -> float:
        """Simulated time."""
        return self._native.now_s

    @property
    def duration_s(self) -> float:
        """When the run ends."""
        return self._variant.duration_s

    @property
    def live(self) -> Mapping[str, float | bool | str]:
        """The keys that may change in this run, with their values now."""
        keys = self._native.keys()
        return {key: json.loads(self._native.value(key)) for key in keys}

    def run_until(self, at_s: float) -> None:
        """Goes on to a time; it is `at_s` then, though nothing may happen there.

        All that happens at that time has happened, but at 0 s nothing has. After the end nothing
        does, and the time stays: `run_until(float("inf"))` goes to the end.
        Ctrl-C stops it between two events, and it may go on from there.
        """
        self._call(self._native.run_until, _time("run_until", at_s))

    def _run_until_ps(self, at_ps: int) -> None:
        self._call(self._native.run_until_ps, at_ps)

    def observe(self) -> Observation:
        """What happened since the last observation, and what waits now. It changes nothing."""
        return Observation.of(self._call(self._native.observe))

    def set(
        self, key: str | Mapping[str, float | bool | str], value: float | bool | str | None = None
    ) -> None:
        """Changes a key from now on, or several at once: `set({"a": 1, "b": 2})`.

        The keys are those of `live`. All change or, with a `ScenarioError`, none. A packet whose
        sending has been fixed is sent at the old rate, and token buckets keep their tokens.
        """
        if isinstance(key, Mapping) and value is not None:
            raise InputError(
                f"set: found {value!s:.60} beside a table of keys; allowed: set(KEY, VALUE), or "
                "set({KEY: VALUE, ...})"
            )
        given = key.items() if isinstance(key, Mapping) else [(key, value)]
        changes = [(name, _number(one)) for name, one in given]
        for name, one in changes:
            if not isinstance(name, str):
                raise InputError(
                    f"set: found {name!r:.60} as a key; allowed: a text, one of those in `live`"
                )
            if not _is_plain(one):
                raise self._refusal(name, one)
        self._native.set(changes)

    def _refusal(self, key: str, value: object) -> ScenarioError:
        """What is said of a value that no file could have, in the words for one that it could."""
        now = json.loads(self._native.value(key))
        try:
            self._native.set([(key, True if isinstance(now, str) else "")])
        except ScenarioError as error:
            (problem,) = error.problems
            if "allowed" not in problem.values:  # the key is not at fault
                return error
            allowed = problem.values["allowed"]
            shown = "a number beyond all floats" if isinstance(value, int) else f"{value!s:.60}"
            message = f"found {shown}; allowed: {allowed}"
            return refused(ScenarioError, [replace(problem, message=message)])
        raise AssertionError(f"{key} takes texts and flags alike")

    def inject(
        self, traffic: str, direction: str, packet: bytes, *, at_s: float | None = None
    ) -> int:
        """A real packet comes at an end of an entry of kind `outside`, and its handle is returned.

        `packet` has the bytes of an IP packet, of which the headers may do. It comes at `at_s`,
        until when the run goes on first, or now.

            >>> simulation = sojourn.Simulation(
            ...     "scenarios/fibre.toml", variant="Fibre", set=["traffic.real.kind=outside"]
            ... )
            >>> header = bytes.fromhex("4500002800000000400100000a000002cb007105")
            >>> simulation.inject("real", "up", header, at_s=0.5)
            0
            >>> simulation.run_until(1)
            >>> simulation.arrived()[0][:3], simulation.lost()
            ((0, 'real', 'up'), [])
        """
        at_s = None if at_s is None else _time("inject", at_s)
        for what, given in (("traffic", traffic), ("direction", direction)):
            if not isinstance(given, str):
                raise InputError(f"inject: found {given!r:.60} as {what}; allowed: a text")
        if not isinstance(packet, bytes):
            raise InputError(f"inject: found {packet!r:.60} as packet; allowed: bytes")
        return self._call(self._native.inject, traffic, direction, packet, at_s)

    def arrived(self) -> list[ArrivedPacket]:
        """The real packets that arrived since the last call, in the order of arrival."""
        return [*map(ArrivedPacket._make, self._native.arrived())]

    def lost(self) -> list[LostPacket]:
        """The real packets that were lost since the last call, for whatever reason."""
        return [*map(LostPacket._make, self._native.lost())]

    @property
    def next_wake_s(self) -> float:
        """When something happens next."""
        return self._native.next_wake_s()

    def finish(self) -> Result:
        """Ends the run where it is, and returns its results up to now.

        Results of a run that ended early are those of a shorter scenario. If keys were changed, the
        result has them in `changes`, and a warning says so wherever it is shown.
        """
        native, variant = self._call(self._native.finish)
        if self._files is not None:
            self._files.end()
        record = self._native.record()
        if self._record and record is not None:
            write_file(self._record, record)
        return Result(variant, native)

    def _call(self, native: Callable[..., T], *values: Any) -> T:
        """Calls what calls parts in Python. What these set in the thread lasts for the run."""
        files = self._files
        if files is None:
            return native(*values)

        def calling() -> T:
            with hooks(files):
                return native(*values)

        return self._context.run(calling)


_LATEST_S = 1e6
"""No run lasts longer."""


def _time(method: str, at_s: object) -> float:
    """A time from the start in s, infinity included."""
    at_s = _number(at_s)
    if not isinstance(at_s, int | float) or isinstance(at_s, bool) or not at_s >= 0:
        raise ValueError(f"{method}: found {at_s!r:.60}; allowed: a time in s, from 0 on")
    return float(min(at_s, _LATEST_S))


def _number(value: Any) -> Any:
    """A number of numpy as one of Python."""
    is_of_numpy = type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0
    return value.item() if is_of_numpy else value


def _is_plain(value: object) -> bool:
    """Is it a value that a scenario file could have?"""
    if isinstance(value, (bool, str)):
        return True
    return isinstance(value, (int, float)) and abs(value) <= sys.float_info.max


def chosen(variants: Sequence[Variant], name: str | None) -> Variant:
    """The variant of a name, or the only one; raises `ValueError` for another name."""
    names = [variant.name for variant in variants]
    if name is None and len(variants) == 1:
        return variants[0]
    if name is None or name not in names:
        found = "no variant" if name is None else f"{name!r}"
        allowed = ", ".join(map(repr, filter(None, names)))
        allowed = allowed or "none, the scenario compares no variants"
        raise ValueError(f"variant: found {found}; allowed: {allowed}")
    return variants[names.index(name)]
