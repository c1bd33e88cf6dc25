"""Renders results and scenarios in a notebook."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from .._sojourn import Variant
from ..analysis.bufferbloat import bufferbloat_grid
from ..analysis.grids import first_grids, more_grids
from ..analysis.groups import Results
from ..analysis.summary import dedupe_warnings, warnings_of
from ..analysis.verdict import marked, verdict
from ..base.grid import Grid
from ..plot.drawing import inline_svg
from ..plot.figures.by_kind import latency_cdf
from .differences import settings_grid
from .pages import render


def results_html(results: Results) -> str:
    """Letter and numbers of bufferbloat, the verdict, two tables and the CDF of latency."""
    judged = verdict(results)
    results = marked(results, judged)
    chart, headline = latency_cdf(results), bufferbloat_grid(judged, judged.leading)
    name = f"sojourn-{results.first.meta['fingerprint']}-{len(results.groups)}-{results.seeds}"
    return render(
        "notebook.html",
        _title(results),
        sentences=judged.sentences,
        headline=headline,
        grids=first_grids(results),
        more=len(more_grids(results, judged)),
        svg=inline_svg(chart, name) if chart else Markup(),
        warnings=list(warnings_of(results)),
    )


def _title(results: Results) -> str:
    title = results.first.settings.get("title") or "Sojourn"
    name = "" if results.is_comparison else results.groups[0].name
    return f"{title}: {name}" if name else title


def scenario_html(variants: Sequence[Variant]) -> str:
    """The service, the traffic, and the settings that differ between variants."""
    settings = [json.loads(variant.to_json()) for variant in variants]
    first = settings[0]
    grids = [_service(first), _traffic(first["traffic"])]
    if len(variants) > 1:
        grids.append(settings_grid([variant.name for variant in variants], settings))
    return render(
        "notebook.html",
        first["title"] or "Scenario",
        sentences=[f"Simulated time: {first['duration_s']:g} s. Seed: {first['seed']}."],
        headline=None,
        grids=grids,
        more=0,
        svg=Markup(),
        warnings=list(dedupe_warnings({variant.name: variant.notes for variant in variants})),
    )


def _service(settings: Mapping[str, Any]) -> Grid:
    rows = [
        [
            way,
            f"{service['sustained_mbps']:g}",
            f"{service['peak_mbps']:g}",
            f"{service['burst_bytes']:,}",
            service["queue"]["scheduler"]["kind"],
            service["queue"]["law"]["kind"],
        ]
        for way in ("upstream", "downstream")
        for service in (settings[way],)
    ]
    headings = ["service", "sustained\nMbps", "peak\nMbps", "burst\nB", "scheduler", "AQM"]
    return Grid("Service", headings, rows)


def _traffic(traffic: Mapping[str, Mapping[str, Any]]) -> Grid:
    rows = [
        [name, entry.get("purpose") or entry["kind"], entry.get("home") or "home"]
        for name, entry in traffic.items()
    ]
    return Grid("Traffic", ["entry", "kind", "home"], rows)
