"""Opens stored results from Python: `sojourn.open`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from ..runs.comparison import Comparison
from ..runs.result import Result
from ..runs.seeds import as_one
from .checksums import StoreError
from .listing import SUMMARY
from .read import read_results
from .store import open_store
from .swept import Swept


def open(directory: str | os.PathLike[str]) -> Result | Comparison | Swept:
    """The results in a directory that `sojourn run --out`, `sweep` or `study run` wrote.

    A run without variants is a `Result` and variants are a `Comparison`, with the tables that the
    run returned. A sweep or a study is a `Swept`. All files are checked first. Tables are read when
    they are used. Raises `StoreError` (a `ValueError`) if a file is damaged, or if the directory
    holds something else, and `FileNotFoundError` if there is no such directory.

        >>> sojourn.run("scenarios/upload.toml", duration_s=1).save("out/upload")
        >>> opened = sojourn.open("out/upload")
        >>> opened["drop-tail"]
        <Result 'drop-tail', seed 1, 1 s simulated>
    """
    place = Path(directory)
    try:
        results = read_results(place)
    except OSError as error:
        if not place.exists():
            raise
        raise StoreError(f"{place}: {error.strerror or error}") from None
    if not (place / SUMMARY).exists():
        return Swept(open_store(place))
    runs = [as_one(cast(Sequence[Result], group.runs)) for group in results.groups]
    if runs[0].name:
        return Comparison(runs)
    runs[0].idle_line = next(iter(runs[1:]), None)
    return runs[0]
