"""The line that a fit supposes, as a scenario, and the log of probes that it would give.

A home on an upstream channel with others. Some of them ask for grants in contention, with small
packets; the others are polled, and their grants take the load's share of the channel. Numbers of
homes stand for any that ask and send as much.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from ..runs.result import Result
from ..runs.runner import run
from .log import Log, Probes

_CHANNEL_MBPS = 25.0
"""What one carrier carries, after headers and request opportunities."""
_OPPORTUNITIES = 8
_ASKING_HOMES = 20
_SENDING_HOMES = 6
_SENT_BYTES = 1500
_PROBE_BYTES = 98
_PROBES = "the probes"
_TRACE = "[metrics]\npacket_trace = true\nconnections = 0\n"


@dataclass(frozen=True)
class Stream:
    """Probes of a stream: mean interval, its deviation, and the first one's time."""

    interval_ms: float
    deviation_percent: float
    start_ms: float = 0.0


NOT_OF_LOG = "   # not from the log"
"""Marks each line of a scenario whose value no probe shows."""
_CLOCKS = f"clock_drift_ppm = 0{NOT_OF_LOG}: its intervals are by the log's own clocks\n"
MOST_UP_MBPS = 64 * _CHANNEL_MBPS / 4
"""What the greatest number of carriers is enough for."""


def scenario(
    line: Mapping[str, float],
    streams: Sequence[Stream],
    *,
    idle_s: float,
    loaded_s: float = 0.0,
    up_mbps: float = 10.0,
    law: str = "none",
    seed: int = 1,
    trace: bool = False,
    compared: str = "",
    guessed: Collection[str] = (),
) -> str:
    """The TOML text of a line: idle at first, then with an upload for `loaded_s`.

    `trace` keeps every packet, and `compared` names it beside the same line with DOCSIS-PIE if it
    has no law; the line at rest is then a run of its own, the idle line. `guessed` has the names of
    values that no log shows: up_mbps, buffer_ms.
    """
    channels = max(1, math.ceil(4 * up_mbps / _CHANNEL_MBPS))
    asks_ms = _ASKING_HOMES * line["grid_ms"] / (line["requests"] * _OPPORTUNITIES)
    sends_ms = _SENDING_HOMES * _SENT_BYTES * 8e-3 / (line["load"] * channels * _CHANNEL_MBPS)
    rate, buffer = (NOT_OF_LOG if name in guessed else "" for name in ("up_mbps", "buffer_ms"))
    starts_s = 0.0 if compared else idle_s
    length_s = loaded_s or idle_s if compared else idle_s + loaded_s
    parts = [
        f"duration_s = {length_s:g}{NOT_OF_LOG}\nseed = {seed}{NOT_OF_LOG}\n{_CLOCKS}"
        + ("" if compared else "baseline = false\n"),
        "[upstream]\n"
        f"sustained_mbps = {up_mbps:g}{rate}\n"
        f'modem = {{ kind = "shared_channel" }}{NOT_OF_LOG}\n'
        f"queue.limit_bytes = {max(3044, round(line['buffer_ms'] * up_mbps * 125))}{buffer}\n"
        f'queue.law = {{ kind = "{law}" }}{NOT_OF_LOG}\n',
        "[upstream_channel]\n"
        f"map_interval_ms = {line['grid_ms']:.6g}   # the period of the grid\n"
        f"channels = {channels}{NOT_OF_LOG}: enough for four times the rate\n"
        f"request_opportunities = {_OPPORTUNITIES}{NOT_OF_LOG}\n"
        f"backoff_start = 3{NOT_OF_LOG}\nbackoff_end = 4{NOT_OF_LOG}\n"
        f'phy = {{ kind = "sc_qam", minislot_symbols = 16 }}{NOT_OF_LOG}\n',
        "[cable.timing]\n"
        f'kind = "specification"{NOT_OF_LOG}\n'
        f"map_advance_us = {line['advance_ms'] * 1000:.0f}   # the MAP advance\n",
        f"[downstream]\nsustained_mbps = 100{NOT_OF_LOG}\n",
        f"[servers.near]\ndelay_ms = 5{NOT_OF_LOG}\n",
        "[homes.ours]\n",
        f"[homes.asking]\ncount = {_ASKING_HOMES}{NOT_OF_LOG}\n",
        f"[homes.sending]\ncount = {_SENDING_HOMES}{NOT_OF_LOG}\n"
        'upstream.scheduling = { kind = "real_time_polling", '
        f"nominal_polling_interval_us = {line['grid_ms'] * 1000:.0f} }}{NOT_OF_LOG}\n",
        _stream("asking", asks_ms, 100, _PROBE_BYTES, 'home = "asking"\n', "the requests"),
        _stream(
            "sending",
            sends_ms,
            100,
            _SENT_BYTES,
            f'packet_deviation_percent = 50{NOT_OF_LOG}\nhome = "sending"\n',
            "the load",
        ),
        *_probes(streams, is_game=bool(compared)),
    ]
    if loaded_s:
        parts.append(
            f'[traffic.upload]{NOT_OF_LOG}\nkind = "transfer"\nserver = "near"\ndirection = "up"\n'
            f"start_s = {starts_s:g}{NOT_OF_LOG}\n"
        )
    if compared:
        parts.append('[metrics]\nhomes = "ours"   # answers are of them\n')
        parts.append(f'[compare."{compared}"]\n')
        if law == "none":
            parts.append('[compare."DOCSIS-PIE"]\nupstream.queue.law.kind = "docsis_pie"\n')
    if trace:
        parts.append(_TRACE)
    return "\n".join(parts)


def fibre(streams: Sequence[Stream], *, idle_s: float, seed: int = 1) -> str:
    """The TOML text of a home on a fibre that sends at uneven times beside the probes."""
    return "\n".join(
        [
            f"duration_s = {idle_s:g}\nseed = {seed}\n{_CLOCKS}baseline = false\n",
            '[access]\nkind = "fibre"\n',
            "[upstream]\nsustained_mbps = 10\n\n[downstream]\nsustained_mbps = 100\n",
            "[servers.near]\ndelay_ms = 5\n",
            _stream("sending", 4, 100, _SENT_BYTES, "", "made up"),
            *_probes(streams),
            _TRACE,
        ]
    )


def _probes(streams: Sequence[Stream], is_game: bool = False) -> Iterator[str]:
    """The probes; as games, answers are of them."""
    for number, stream in enumerate(streams, 1):
        start = f"start_s = {stream.start_ms / 1000:.6f}\n"
        text = _stream(
            f"probe{number}",
            stream.interval_ms,
            stream.deviation_percent,
            _PROBE_BYTES,
            start,
            _PROBES,
        )
        if is_game:
            text = text.replace('purpose = "data"', 'purpose = "game"   # so that they are judged')
            text = text.replace('direction = "up"', 'direction = "both"')
        yield text


def _stream(
    name: str, interval_ms: float, deviation: float, size: int, more: str, what: str
) -> str:
    return (
        f'[traffic.{name}]\nkind = "stream"\npurpose = "data"\nserver = "near"\n'
        f'direction = "up"\ninterval_ms = {interval_ms:.4f}   # {what}\n'
        f"interval_deviation_percent = {deviation:g}{'' if what == _PROBES else NOT_OF_LOG}\n"
        f"packet_bytes = {size}{NOT_OF_LOG}\n{more}"
    )


def simulated(text: str) -> Log:
    """The log of the probes of a scenario: send times and one-way delays upstream."""
    result = run(text, jobs=1)
    assert isinstance(result, Result)
    packets = result.packets
    wanted = pc.and_(
        pc.starts_with(packets["traffic"].cast("string"), "probe"),
        pc.equal(packets["outcome"].cast("string"), "delivered"),
    )
    packets = packets.filter(wanted)
    sent = packets["sent_s"].to_numpy() * 1e3
    up = packets["ended_s"].to_numpy() * 1e3 - sent
    names = np.asarray(packets["traffic"].to_pylist())
    streams = (names == name for name in sorted(set(names)))
    return Log("", [Probes(str(names[own][0]), sent[own], up[own]) for own in streams])
