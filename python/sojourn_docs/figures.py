"""The figures of the tutorial pages, and tables of README, docs and BENCHMARKS.md.

`make figures` draws them. A figure is a file of its own that follows the reader's choice of light
or dark. Its ground is opaque, so that it stays readable on any page.
"""

import io
import json
from collections.abc import Mapping, Sequence
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
_COMMAND = "```sh\nsojourn run upload\n```\n\n```text\n"
"""What stands before the README's table."""
_ROWS = "| --- | --- | --- | --- | --- |\n"
"""What stands before the rows of docs/low-latency.md."""
_INSTRUCTIONS = "| case | queue | instructions a packet |\n| --- | --- | ---: |\n"
"""What stands before the rows of BENCHMARKS.md."""
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
    }


def draw(directory: Path) -> None:
    """Writes every figure, and puts the README's table into it."""
    for name, drawn in drawings().items():
        write_file(directory / f"{name}.svg", standalone(drawn, name))
    readme = ROOT / "README.md"
    write_file(readme, renewed(readme.read_text()).encode())
    page = ROOT / "docs" / "low-latency.md"
    write_file(page, with_rows(page.read_text()).encode())
    benchmarks = ROOT / "BENCHMARKS.md"
    write_file(benchmarks, with_instructions(benchmarks.read_text()).encode())


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


def renewed(readme: str) -> str:
    """The README with the table that its command prints today."""
    start = readme.index(_COMMAND) + len(_COMMAND)
    return readme[:start] + _table() + readme[readme.index("```", start) :]


def with_rows(page: str) -> str:
    """The page on Low Latency DOCSIS with the latencies of its scenario as they are today."""
    start = page.index(_ROWS) + len(_ROWS)
    return page[:start] + _rows() + page[page.index("\n\n", start) + 1 :]


def with_instructions(page: str) -> str:
    """BENCHMARKS.md with the instructions that `make record` has recorded."""
    start = page.index(_INSTRUCTIONS) + len(_INSTRUCTIONS)
    rows = (
        f"| {' | '.join(_case_and_queue(name))} | {count:.0f} |\n"
        for name, count in json.loads(_RECORDED.read_text()).items()
    )
    return page[:start] + "".join(rows) + page[page.index("\n\n", start) + 1 :]


def _case_and_queue(name: str) -> tuple[str, str]:
    """`100 modems DropTail` is the case `100 modems` with the queue `DropTail`."""
    case, _, queue = name.rpartition(" ")
    return case, queue


def _rows() -> str:
    rows = []
    for name, run in _runs(_LOW_LATENCY).runs.items():
        up = {row["traffic"]: row for row in run.flows.to_pylist() if row["direction"] == "up"}
        game = [up["game"][f"latency_{which}_ms"] for which in ("p50", "p99", "p999")]
        upload = f"{up['upload']['throughput_mbps']:.1f}" if "upload" in up else "-"
        rows.append(" | ".join([f"| {name}", *(f"{ms:.1f}" for ms in game), f"{upload} |\n"]))
    return "".join(rows)


def _table() -> str:
    with redirect_stdout(io.StringIO()) as text:
        _runs(_UPLOAD).summary()
    return (
        "\n".join(line.rstrip() for line in text.getvalue().strip("\n").splitlines()).rstrip("\n")
        + "\n"
    )


def _chart(scenario: str, kind: str, traffic: Sequence[str] = ()) -> Chart:
    return chart(Results.of(_runs(scenario).runs), kind, None, traffic)


@cache
def _runs(scenario: str) -> "sojourn.Comparison | sojourn.Result":
    return sojourn.run(ROOT / scenario, set=_TRACED)


def _variables(theme: Mapping[str, str]) -> str:
    colors = {f"c{index}": color for index, color in enumerate(PALETTE)}
    chosen = {**colors, **theme} if theme is _LIGHT else theme
    return "".join(f"--{name}:{color};" for name, color in chosen.items())
