"""The command `sojourn fit`."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Quiet, argument, flag, option
from .say import say, say_document, say_written

if TYPE_CHECKING:
    from ..fit.fitted import Fit


def fit(
    logs: Annotated[
        list[Path],
        argument("LOG...", "Probes of the line: irtt JSON, flent.gz, ping -D, fping or CSV."),
    ],
    upload: Annotated[
        Path | None, option("LOG", "Probes of the same line while an upload ran.")
    ] = None,
    up: Annotated[
        float | None,
        option(
            "MBPS",
            "Rate from the home; default: that of the log's upload, or 10.",
            min=0.01,
            max=100_000,
        ),
    ] = None,
    period: Annotated[
        float | None,
        option(
            "MS",
            "Of the grid's periods that the log does not distinguish, the one nearest to this.",
            min=0.1,
            max=10,
        ),
    ] = None,
    out: Annotated[Path, option("SCENARIO.toml", "The new file of the fitted scenario.")] = Path(
        "fitted.toml"
    ),
    as_json: Annotated[bool, flag("--json", "Print only the values, as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Fit a scenario to probes of a real line: its grid, its neighbours and its buffer.

    It needs a thousand probes with one-way delays, better some thousands over half an hour. The
    scenario is written beside values with 90 % intervals, and what cannot be known is said. Exit
    status 1: no scenario, since the log does not tell enough, or its line is outside what the fit
    knows.
    """
    from ..base.files import check_place, write_file
    from ..base.terminal import print_grids, progress_bar
    from ..fit.answer import head, quantile_table, sentences, table, values
    from ..fit.fitted import fit as fitted

    if out.exists():
        raise typer.BadParameter(f"{out}: exists already; allowed: the path of a new file")
    check_place(out.parent)
    with nullcontext() if quiet else progress_bar(lines=True) as progress:
        found = fitted(logs, upload=upload, up_mbps=up, period_ms=period, progress=progress)
    if found.line is not None:
        scenario = found.scenario()
        write_file(out, (head(found, scenario) + scenario).encode())
    if as_json:
        say_document(values(found))
    elif not quiet:
        if found.estimates:
            print_grids([table(found), quantile_table(found)])
        for sentence in sentences(found):
            say(sentence)
        if found.line is not None:
            say_written(out)
        else:
            say(f"{out}: not written: {_lacking(found)}")
    if found.line is None:
        raise typer.Exit(1)


def _lacking(found: "Fit") -> str:
    """Why there is no scenario."""
    if found.outside:
        return "the line is outside what the fit knows"
    if found.others:
        return "the period of the grid is undecided (--period chooses)"
    return "a scenario needs a grid and one-way delays (docs/how-to/fit.md has the commands)"
