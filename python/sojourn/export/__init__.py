"""Exports results for other tools: flent, Wireshark and everything that reads CSV."""

from pathlib import Path

from ..base.files import write_file
from ..base.lookup import look_up
from .capture import POINTS, capture
from .flent import flent_file
from .runs import ExportError, choose, read_runs
from .tables import write_tables

FORMATS = {
    "flent": "a flent data file: throughput and round-trip times",
    "pcapng": "a capture for Wireshark, taken at a point on the path",
    "csv": "a directory with each table as CSV",
}
"""Export formats and what they contain."""

__all__ = ["FORMATS", "POINTS", "ExportError", "export"]


def export(
    results: Path,
    form: str,
    out: Path,
    *,
    point: str | None = None,
    variant: str | None = None,
) -> None:
    """Exports a run of a results directory to `out`, which appears only when it is complete.

    `variant` names the run if there are several; without it, CSV exports all of them. `point` is
    the capture point of pcapng. Raises `ExportError` if the run cannot be exported, `UnknownError`
    for unknown formats and points, and `OSError` or `StoreError` if there are no results.
    """
    look_up("format", form, list(FORMATS))
    if point is not None and form != "pcapng":
        raise ExportError(
            f"point: found {point!r} with format {form}; allowed: only with format pcapng"
        )
    runs = read_runs(results)
    if form == "csv":
        write_tables(runs, variant, out)
    elif form == "flent":
        write_file(out, flent_file(*choose(runs, variant)))
    else:
        from_where = look_up("point", point, list(POINTS))
        write_file(out, capture(choose(runs, variant)[1], from_where))
