"""Exports results for other tools: flent, Wireshark and everything that reads tables."""

from pathlib import Path

from ..base.files import draft_of_file, write_file
from ..base.lookup import look_up
from ..store.read import read_results
from .capture import POINTS, capture
from .flent import flent_file
from .mahimahi import DIRECTIONS, mahimahi
from .runs import ExportError, choose, narrowed
from .tables import Written, write_tables

FORMATS = {
    "flent": "a flent data file: throughput and round-trip times",
    "pcapng": "a capture for Wireshark, taken at a point on the path",
    "mahimahi": "a trace of what the first home's line carried, which was always full",
    "csv": "a directory with a CSV file for each table, of all runs",
    "parquet": "the same as Parquet files",
    "arrow": "the same as Arrow files (Feather)",
}
"""Export formats and what they contain."""

__all__ = ["DIRECTIONS", "FORMATS", "POINTS", "ExportError", "Written", "export"]


def export(
    results: Path,
    form: str,
    out: Path,
    *,
    point: str | None = None,
    direction: str | None = None,
    variant: str | None = None,
    seed: int | None = None,
) -> Written | None:
    """Exports what is in a results directory to `out`, which appears only when it is complete.

    Tables hold all runs, or those of a `variant` and `seed`, and are described by what is returned.
    The other formats hold one run, which these choose if there are several. `point` is the capture
    point of pcapng, `direction` (`up` or `down`) that of mahimahi. Raises `ExportError` if a run
    cannot be exported, `UnknownError` for unknown formats, points and directions, and `OSError` or
    `StoreError` if there are no results.
    """
    look_up("format", form, list(FORMATS))
    for key, value, its_form in (("point", point, "pcapng"), ("direction", direction, "mahimahi")):
        if value is not None and form != its_form:
            raise ExportError(
                f"{key}: found {value!r} with format {form}; allowed: only with format {its_form}"
            )
    there = read_results(results)
    if form == "flent":
        write_file(out, flent_file(*choose(there, variant, seed)))
    elif form == "mahimahi":
        way = look_up("direction", direction, list(DIRECTIONS))
        write_file(out, "".join(mahimahi(choose(there, variant, seed)[1], way)).encode())
    elif form == "pcapng":
        from_where = look_up("point", point, list(POINTS))
        parts = capture(choose(there, variant, seed)[1], from_where)
        with draft_of_file(out) as draft, open(draft, "wb") as file:
            file.writelines(parts)
    else:
        return write_tables(narrowed(there, variant, seed), form, out)
    return None
