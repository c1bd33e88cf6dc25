"""The summary of a sweep: each setting over its seeds, and the verdict."""

from dataclasses import asdict
from typing import Any

import pyarrow as pa

from ..analysis.groups import Results
from ..analysis.summary import means_of, warnings_json
from ..analysis.verdict import verdict_json
from .tidy import labelled_groups


def sweep_json(results: Results) -> dict[str, Any]:
    """The summary as JSON: measures of each setting over its seeds, and the verdict."""
    return {
        "title": results.first.settings["title"],
        "version": results.first.meta["version"],
        "means": [
            {
                "name": group.name,
                "variant": group.variant,
                "settings": {key: labels[key] for key in results.keys},
                "seeds": [run.meta["seed"] for run in group.runs],
                "summary": {key: asdict(value) for key, value in means_of(group).items()},
            }
            for labels, group in labelled_groups(results)
        ],
        "verdict": verdict_json(results),
        "warnings": warnings_json(results),
    }


def means(results: Results) -> pa.Table:
    """A row per setting and measure: the mean over seeds, its 95 % interval, and their number."""
    return pa.Table.from_pylist(
        [
            {**labels, "measure": key, **asdict(value)}
            for labels, group in labelled_groups(results)
            for key, value in means_of(group).items()
        ]
    )
