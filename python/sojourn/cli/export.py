"""The command `sojourn export`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .options import argument, option
from .say import say

if TYPE_CHECKING:
    from ..export import Written


def export(
    results: Annotated[Path, argument("RESULTS", "Results of run --out, sweep or study run.")],
    form: Annotated[
        str, option("FORMAT", "csv, parquet, arrow, flent, pcapng or mahimahi.", "--format")
    ],
    out: Annotated[
        Path, option("PATH", "File to write; for csv, parquet and arrow a new directory.")
    ],
    point: Annotated[
        str | None, option("NAME", "Capture point of pcapng: home, channel, cmts or server.")
    ] = None,
    direction: Annotated[
        str | None, option("NAME", "Direction of a trace for mahimahi: up or down.")
    ] = None,
    variant: Annotated[str | None, option("NAME", "Export only this variant or setting.")] = None,
    seed: Annotated[int | None, option("N", "Export only the runs with this seed.")] = None,
) -> None:
    """Export tables of all runs, or a run for flent, Wireshark (pcapng) or mahimahi.

    csv, parquet and arrow write a file for each table. Each row begins with the swept keys, the
    variant and the seed of its run. The file `summary` has the means over seeds of each setting.

    The others write one run, which --variant and --seed choose if there are several. pcapng and
    mahimahi need the packet trace, and so do the pings in a flent file: run the scenario with
    `--set metrics.packet_trace=true`.
    """
    from ..export import export as write

    written = write(
        results, form, out, point=point, direction=direction, variant=variant, seed=seed
    )
    if written is None:
        say(f"{out}: written")
    else:
        _tell(out, written)


def _tell(out: Path, written: "Written") -> None:
    of_settings = f"{_counted(written.runs, 'run')} of {_counted(written.settings, 'setting')}"
    say(f"{out}: {of_settings}, {_counted(sum(written.rows.values()), 'row')}")
    for file, rows in written.rows.items():
        of_runs = f" of {_counted(written.runs_of[file], 'run')}" if file in written.runs_of else ""
        say(f"  {file}: {_counted(rows, 'row')}{of_runs}")
    if left_out := written.connections_left_out:
        more = _counted(left_out, "more connection")
        say(f"connections are the first of each traffic entry (metrics.connections): {more} opened")
    if written.missing:
        say(f"not stored with these runs: {', '.join(written.missing)}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
