"""The summary of runs, as text and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from ..base.lookup import quoted
from ..base.terminal import print_grids
from .grids import summary_grids
from .groups import Results
from .measures import MEASURES
from .tables import RunTables
from .verdict import verdict

_SENTENCE_WIDTH = 80


def print_summary(runs: Mapping[str, RunTables]) -> None:
    """Prints the summary tables, the verdict and the warnings to stdout."""
    console = print_grids(summary_grids(runs))
    console.print()
    for sentence in verdict(Results.of(runs)).sentences:
        console.print(Text(sentence), width=min(console.width, _SENTENCE_WIDTH))
    for warning in dedupe_warnings({name: run.meta["warnings"] for name, run in runs.items()}):
        console.print(Text(f"warning: {warning}"), soft_wrap=True)


def summary_json(runs: Mapping[str, RunTables]) -> dict[str, Any]:
    """The summary as JSON: metadata, measures and short tables of each variant."""
    first = next(iter(runs.values()))
    return {
        "title": first.settings["title"],
        "version": first.meta["version"],
        "variants": [_variant_json(name, result) for name, result in runs.items()],
    }


def dedupe_warnings(warnings: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Warnings by variant, each once; those not of all variants are prefixed with their names."""
    names: dict[str, list[str]] = {}
    for name, texts in warnings.items():
        for text in texts:
            names.setdefault(text, []).append(name)
    for text, of in names.items():
        yield text if len(of) == len(warnings) else f"{', '.join(map(quoted, of))}: {text}"


def _variant_json(name: str, result: RunTables) -> dict[str, Any]:
    return {
        "name": name,
        **result.meta,
        "summary": {m.key: m.value(result) for m in MEASURES if m.applies([result])},
        "flows": result.flows.to_pylist(),
        "traffic_classes": result.traffic_classes.to_pylist(),
        "service_flows": result.service_flows.to_pylist(),
        "channels": result.channels.to_pylist(),
        "queues": result.queues.to_pylist(),
    }
