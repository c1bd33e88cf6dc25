"""Results in the formats of other tools: flent, Wireshark, and whatever reads CSV."""

from pathlib import Path

from ..base.files import write_file
from ..base.lookup import look_up
from .capture import POINTS, capture
from .flent import flent_file
from .runs import ExportError, choose, read_runs
from .tables import write_tables

FORMATS = {
    "flent": "a data file for flent: throughput, round-trip times",
    "pcapng": "a capture for Wireshark, at a point on the path",
    "csv": "a directory with each table as CSV",
}
"""Formats, and what is written of each."""

__all__ = ["FORMATS", "POINTS", "ExportError", "export"]


def export(
    results: Path,
    form: str,
    out: Path,
    *,
    point: str | None = None,
    variant: str | None = None,
) -> None:
    """Writes a run of an output directory in a format; it appears when it is complete.

    `variant` names the run where there are several; as CSV they are all written without one.
    `point` is where a pcapng capture is taken. Raises `ExportError` for what cannot be exported,
    `UnknownError` for formats and points that there are not, `OSError` or `StoreError` where there
    are no results.
    """
    look_up("format", form, list(FORMATS))
    if point is not None and form != "pcapng":
        raise ExportError(f"point: found {point!r} with format {form}; allowed with pcapng alone")
    runs = read_runs(results)
    if form == "csv":
        write_tables(runs, variant, out)
    elif form == "flent":
        write_file(out, flent_file(*choose(runs, variant)))
    else:
        from_where = look_up("point", point, list(POINTS))
        write_file(out, capture(choose(runs, variant)[1], from_where))
