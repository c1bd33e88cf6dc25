"""Results in the formats of other tools: flent, Wireshark, and whatever reads CSV."""

from pathlib import Path

from ..output import write_file
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
    `OSError` or `StoreError` where there are no results.
    """
    _check("format", form, FORMATS)
    if point is not None and form != "pcapng":
        raise ExportError(f"point: found {point!r} with format {form}; allowed with pcapng alone")
    runs = read_runs(results)
    if form == "csv":
        write_tables(runs, variant, out)
    elif form == "flent":
        write_file(out, flent_file(*choose(runs, variant)))
    else:
        _check("point", point, POINTS)
        write_file(out, capture(choose(runs, variant)[1], str(point)))


def _check(what: str, found: str | None, allowed: dict[str, str]) -> None:
    if found not in allowed:
        told = "none" if found is None else repr(found)
        raise ExportError(f"{what}: found {told}; allowed: {', '.join(allowed)}")
