"""Which hooks of parts are called where: the table of the documentation, in both languages."""

import re
from pathlib import Path
from typing import Any

import pytest
import sojourn
import wasm_modules

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "own-control.md"

LINE: dict[str, Any] = {
    "duration_s": 6,
    "baseline": False,
    "upstream": {
        "sustained_mbps": 10,
        "queue": {"limit_bytes": 60_000, "law": {"kind": "codel"}, "ecn": True},
    },
    "downstream": {"sustained_mbps": 50},
    "servers": {
        "near": {"delay_ms": 10, "loss_percent": 1, "reorder_percent": 1, "reorder_ms": 20}
    },
    "traffic": {"u": {"kind": "transfer", "direction": "up", "file_bytes": 400_000, "pause_s": 1}},
}
PLACES = {
    "TCP, `linux`": [("tcp", "linux")],
    "TCP, `rfc`": [("tcp", "rfc")],
    "TCP, `ns2`": [("tcp", "ns2")],
    "QUIC": [("quic", "linux"), ("quic", "rfc")],
}
LEAST = ("on_ack", "on_loss", "on_timeout")
WIDE = 200_000
"""Bytes of a window that overflows the queue."""


def rows_below(head: str) -> list[list[str]]:
    """The cells of the table whose head begins so, and the head."""
    lines = PAGE.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(head))
    end = lines.index("", first)
    rows = [lines[first], *lines[first + 2 : end]]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def hooks_in(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def said() -> dict[str, dict[str, str]]:
    """What the table says of each hook and place: yes, no or refused."""
    (_, *places), *rows = rows_below("| method | TCP")
    return {
        hook: dict(zip(places, (cell.split(",")[0] for cell in cells), strict=True))
        for first, *cells in rows
        for hook in hooks_in(first)
    }


SAID = said()


def in_python(hook: str, place: Path) -> Path:
    lines = [f"def {name}(self, *_): self.window_bytes = {WIDE}" for name in LEAST if name != hook]
    lines += [f"def {hook}(self, *_): raise RuntimeError('called')"]
    if hook == "on_wake":
        lines += ["def on_established(self, now_us): self.wake(now_us + 100_000)"]
    path = place / "own.py"
    body = "".join(f"    {line}\n" for line in lines)
    path.write_text(f"import sojourn\nclass Own(sojourn.Control):\n    kind = 'own'\n{body}")
    return path


def in_wasm(hook: str, place: Path) -> Path:
    # The first connection is there by then.
    woken = wasm_modules.answers(WIDE, 0, *[float("nan")] * 4, 100_000)
    codes = dict.fromkeys(LEAST, wasm_modules.answers(WIDE)) | {"on_established": woken}
    codes[hook] = wasm_modules.TRAP
    hooks = {*LEAST, hook, *(["on_established"] if hook == "on_wake" else [])}
    path = place / "own.wasm"
    module = wasm_modules.law(name="own", abi=2, hooks=sorted(hooks), codes=codes, role="control")
    path.write_bytes(module)
    return path


def found(part: Path, hook: str, transport: str, dialect: str) -> str:
    sets = [
        "tcp.congestion_control.kind='own'",
        f"tcp.transport='{transport}'",
        f"dialect='{dialect}'",
    ]
    if hook != "on_feedback":
        sets += ["tcp.ecn='classic'"]
    if hook == "on_timeout":
        sets += ["servers.near.loss_percent=70"]
    try:
        sojourn.run(LINE, set=sets, parts=[f"{part}:Own" if part.suffix == ".py" else str(part)])
    except sojourn.PartError as error:
        assert f": {hook}, at " in str(error) or hook == "on_start", error
        return "yes"
    except sojourn.ScenarioError as error:
        assert "allowed: " in str(error)
        return "refused"
    return "no"


@pytest.mark.parametrize("make", [in_python, in_wasm])
@pytest.mark.parametrize("hook", SAID)
def test_hooks_are_called_where_the_table_says(hook: str, make: Any, tmp_path: Path) -> None:
    part = make(hook, tmp_path)
    seen = {
        place: {found(part, hook, transport, dialect) for transport, dialect in at}
        for place, at in PLACES.items()
    }
    assert seen == {place: {word} for place, word in SAID[hook].items()}


def test_the_table_has_all_hooks_of_controls() -> None:
    _, *rows = rows_below("| method | first")
    assert SAID.keys() == {hook for first, *_ in rows for hook in hooks_in(first)}


def test_a_control_that_needs_timestamps_is_refused_over_quic(tmp_path: Path) -> None:
    part = in_python("on_undo", tmp_path)
    part.write_text(part.read_text() + "    timestamps = True\n")
    sets = ["tcp.congestion_control.kind='own'", "tcp.transport='quic'"]
    with pytest.raises(sojourn.ScenarioError) as raised:
        sojourn.run(LINE, set=sets, parts=[f"{part}:Own"])
    assert "tcp.transport: found quic with congestion control own, which needs timestamps" in str(
        raised.value
    )


def test_there_is_no_time_to_be_woken_before_a_connection(tmp_path: Path) -> None:
    """It would be over when a later connection begins."""
    part = in_python("on_wake", tmp_path)
    part.write_text(part.read_text() + "    def on_start(self, *_): self.wake(1_000_000)\n")
    with pytest.raises(sojourn.PartError, match=r"on_start, at 0\.000000 s: found 1000000 as"):
        sojourn.run(LINE, set=["tcp.congestion_control.kind='own'"], parts=[f"{part}:Own"])


EXCHANGE = """
import sojourn
class Own(sojourn.Traffic):
    kind = "own"
    def on_timer(self, now_us):
        self.connection = self.open()
    def on_open(self, now_us, connection):
        self.expect(connection, sojourn.SERVER, 1000)
        self.send(connection, sojourn.HOME, 1000)
    def on_received(self, now_us, connection, end): pass
    def on_acknowledged(self, now_us, connection, end): pass
"""


@pytest.mark.parametrize("hook", ["on_open", "on_received", "on_acknowledged"])
@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_traffic_is_called_over_both(hook: str, transport: str, tmp_path: Path) -> None:
    part = tmp_path / "own.py"
    before, _, after = EXCHANGE.partition(f"def {hook}(")
    numbers, _, rest = after.partition("):")
    part.write_text(
        f"{before}def {hook}({numbers}):\n        raise RuntimeError('called')\n       {rest}"
    )
    sets = ["traffic.o.kind='own'", f"tcp.transport='{transport}'"]
    with pytest.raises(sojourn.PartError, match=f": {hook}, at "):
        sojourn.run(LINE, set=sets, parts=[f"{part}:Own"])
