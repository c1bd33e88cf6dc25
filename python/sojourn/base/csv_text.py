"""Tables as CSV."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A heading row and the rows, in UTF-8."""
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()
