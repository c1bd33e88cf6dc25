"""The command `sojourn log`."""

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from .options import Quiet, argument, flag, option
from .say import say, say_document

_SPAN = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")


def log(
    files: Annotated[
        list[Path],
        argument(
            "FILE...",
            "Logs of flent, irtt, ping, fping, Crusader or networkQuality, or CSV; maybe packed.",
        ),
    ],
    down: Annotated[
        list[str] | None,
        option(
            "FROM-TO",
            "A download ran in these seconds after the first probe, where the log does not say it; "
            "repeatable.",
        ),
    ] = None,
    up: Annotated[
        list[str] | None, option("FROM-TO", "The same for an upload; both may overlap.")
    ] = None,
    interval: Annotated[
        float | None,
        option("S", "Seconds between probes, of a log whose lines have no times."),
    ] = None,
    out: Annotated[
        Path | None, option("FILE.html", "Report with figures; of a directory its report.html.")
    ] = None,
    simulate: Annotated[
        bool,
        flag(
            "--simulate",
            "Simulate what cures would give, where a log allows a fit; it takes minutes.",
        ),
    ] = False,
    as_json: Annotated[bool, flag("--json", "Print only what was found, as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Say what a log of a measured line shows: a letter, round trips under load, and a cure.

    The letter is DSLReports', by what load adds to the mean round trip. No scenario is needed, and
    nothing leaves this machine: a report holds no name, address or place that a log has.
    """
    from dataclasses import asdict

    from ..analysis.measured import headline, loads_grid, of_one_line, read_log
    from ..base.files import write_file
    from ..base.terminal import print_grids
    from ..fit.cures import may_be_fitted

    if simulate and as_json:
        raise typer.BadParameter("--simulate: found --json too; allowed: one of them")
    spans = {"down_s": _spans("--down", down), "up_s": _spans("--up", up)}
    lines = of_one_line([read_log(file, **spans, interval_s=interval) for file in files])
    if out is not None:
        from ..report.measured import report_of_logs

        out = out if out.suffix == ".html" else out / "report.html"
        write_file(out, report_of_logs(lines).encode())
    if as_json:
        pairs = zip(files, lines, strict=True)
        say_document({"logs": [{"file": str(file), **asdict(one.measured)} for file, one in pairs]})
    elif not quiet:
        for file, line in zip(files, lines, strict=True):
            name = str(file) if len(files) > 1 else ""
            print_grids([headline({name: line.measured}), loads_grid(line.measured)])
            for sentence in line.measured.sentences:
                say(sentence)
            if not simulate and may_be_fitted(line):
                say("--simulate shows what each cure would give on a line like it, in minutes.")
        if out is not None:
            say(f"report: {out}")
    if simulate and not as_json:
        for file in files:
            _simulate(file, spans, quiet)


def _simulate(file: Path, spans: dict[str, list[tuple[float, float]]], quiet: bool) -> None:
    """Prints what each cure gives on a line that is fitted to the log, or what the log lacks."""
    from .._sojourn import ScenarioError
    from ..base.terminal import print_grids, progress_bar
    from ..fit.cures import cures, fit_of_log, why_not

    with nullcontext() if quiet else progress_bar() as progress:
        try:
            found = fit_of_log(file, **spans, progress=progress)
            lack = why_not(found)
        except ScenarioError as error:
            lack = str(error)
    if lack is not None:
        say(f"Nothing is simulated, since the log does not allow it: {lack}")
        return
    with nullcontext() if quiet else progress_bar() as progress:
        grid = cures(found, progress)
    print_grids([grid] if grid else [])
    if "up_mbps" in found.guessed:
        say(f"The log has no rate of the upload: {found.up_mbps:g} Mbps are assumed.")


def _spans(name: str, texts: list[str] | None) -> list[tuple[float, float]]:
    """Pairs of seconds; raises `BadParameter` for others."""
    spans = []
    for text in texts or ():
        found = _SPAN.fullmatch(text)
        low, high = (float(end) for end in found.groups()) if found else (0.0, 0.0)
        if low >= high:
            raise typer.BadParameter(f"{name}: found {text!r}; allowed: seconds such as 20-40")
        spans.append((low, high))
    return spans
