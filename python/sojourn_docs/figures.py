"""The figures of the tutorial pages, and tables of README, docs and BENCHMARKS.md.

`make figures` draws them. A figure is a file of its own that follows the reader's choice of light
or dark. Its ground is opaque, so that it stays readable on any page.
"""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import sojourn
from sojourn.analysis.groups import Results
from sojourn.base.files import write_file
from sojourn.plot.charts.base import Chart
from sojourn.plot.drawing import inline_svg
from sojourn.plot.figures.by_kind import chart
from sojourn.plot.palette import PALETTE

from . import acknowledgements, busy_hour

ROOT = Path(__file__).resolve().parents[2]

_UPLOAD = "scenarios/upload.toml"
_SIZES = "scenarios/gallery/01-bufferbloat.toml"
_LOW_LATENCY = "scenarios/low-latency.toml"
_TRACED = {"metrics.packet_trace": True, "metrics.modem_trace": True}

_LIGHT = {"text": "#1b1b1b", "ground": "#ffffff", "rule": "#d4d4d4"}
_DARK = {"text": "#e8e8e8", "ground": "#16181b", "rule": "#43474d", "c0": "#4a9bd6"}
_WIDTH_PX = 600
_RECORDED = ROOT / "crates" / "sojourn" / "benches" / "packet_cost" / "instructions.json"


def drawings() -> Mapping[str, Chart]:
    """Every committed figure by the name of its file."""
    return {
        "game-latency": _chart(_UPLOAD, "cdf", traffic=["game"]),
        "queue-delay": _chart(_UPLOAD, "timeseries"),
        "delay-parts": _chart(_UPLOAD, "delay"),
        "buffer-sizes": _chart(_SIZES, "ccdf", traffic=["game"]),
        "low-latency": _chart(_LOW_LATENCY, "ccdf", traffic=["game"]),
        "busy-hour": busy_hour.drawing(),
        "acknowledgements": acknowledgements.drawing(),
        "beside-an-upload": _beside_an_upload(),
    }


def draw(directory: Path) -> None:
    """Writes every figure, and puts the tables of today into their pages."""
    for name, drawn in drawings().items():
        write_file(directory / f"{name}.svg", standalone(drawn, name))
    for name in TABLES:
        write_file(ROOT / name, renewed(name).encode())


def standalone(drawn: Chart, name: str) -> bytes:
    """A chart as a file of its own, for light and dark."""
    svg = str(inline_svg(drawn, name))
    head, _, rest = svg.partition(">")
    style = (
        f":root{{{_variables(_LIGHT)}fill:var(--text);background:var(--ground)}}"
        f"@media (prefers-color-scheme:dark){{:root{{{_variables(_DARK)}}}}}"
        "text{font-family:system-ui,sans-serif!important;fill:var(--text)}"
    )
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    opening = f'{head} {space} width="{_WIDTH_PX}">'
    return f"{opening}<style>{style}</style>{rest}\n".encode()


def renewed(name: str) -> str:
    """A page with its table of today."""
    head, end, rows = TABLES[name]
    page = (ROOT / name).read_text()
    start = page.index(head) + len(head)
    return page[:start] + rows() + page[page.index(end, start) + 1 :]


def _instructions() -> str:
    """What `make record` has recorded; `100 modems DropTail` is a case and its queue."""
    recorded = [(*name.rpartition(" "), n) for name, n in json.loads(_RECORDED.read_text()).items()]
    return "".join(f"| {case} | {queue} | {count:.0f} |\n" for case, _, queue, count in recorded)


def _low_latencies() -> str:
    """Of the scenario of Low Latency DOCSIS."""
    rows = []
    for name, run in _runs(_LOW_LATENCY).runs.items():
        up = {row["traffic"]: row for row in run.flows.to_pylist() if row["direction"] == "up"}
        game = [up["game"][f"latency_{which}_ms"] for which in ("p50", "p99", "p999")]
        upload = f"{up['upload']['throughput_mbps']:.1f}" if "upload" in up else "-"
        rows.append(" | ".join([f"| {name}", *(f"{ms:.1f}" for ms in game), f"{upload} |\n"]))
    return "".join(rows)


def _summary() -> str:
    """What `sojourn run upload` prints."""
    with redirect_stdout(io.StringIO()) as text:
        _runs(_UPLOAD).summary()
    lines = [line.rstrip() for line in text.getvalue().strip("\n").splitlines()]
    return "\n".join(lines).rstrip("\n") + "\n"


TABLES: Mapping[str, tuple[str, str, Callable[[], str]]] = {
    "README.md": ("```sh\nsojourn run upload\n```\n\n```text\n", "\n```", _summary),
    "docs/low-latency.md": ("| --- | --- | --- | --- | --- |\n", "\n\n", _low_latencies),
    "BENCHMARKS.md": (
        "| case | queue | instructions a packet |\n| --- | --- | ---: |\n",
        "\n\n",
        _instructions,
    ),
}
"""Tables by their pages: what stands before the rows and behind them, and the rows of today."""


def _chart(scenario: str, kind: str, traffic: Sequence[str] = ()) -> Chart:
    return chart(Results.of(_runs(scenario).runs), kind, None, traffic)


def _beside_an_upload() -> Chart:
    """The delay of a game with SFQ-CoDel, beside an upload and alone."""
    runs = Results.of(sojourn.run("home", duration_s=60).runs).only(["SFQ-CoDel", "idle line"])
    return chart(runs, "delay", None, ["game"])


@cache
def _runs(scenario: str) -> "sojourn.Comparison | sojourn.Result":
    return sojourn.run(ROOT / scenario, set=_TRACED)


def _variables(theme: Mapping[str, str]) -> str:
    colors = {f"c{index}": color for index, color in enumerate(PALETTE)}
    chosen = {**colors, **theme} if theme is _LIGHT else theme
    return "".join(f"--{name}:{color};" for name, color in chosen.items())
