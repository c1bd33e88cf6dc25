"""White 2014 appendix A, figures 11 to 14: two estimates of a channel's rate, as it steps."""

from functools import cache
from importlib.resources import files

from sojourn.analysis.curves import series
from sojourn.runs.comparison import Comparison
from sojourn.runs.result import Result
from sojourn.runs.runner import run

from ..framework.canvas import Plot, svg
from ..framework.drawing import Drawing

_DETAIL_S = (38.0, 52.0)
"""Around a step down and one up."""


@cache
def _runs() -> Comparison:
    text = files(__package__).joinpath("rates.toml").read_text(encoding="utf-8")
    runs = run(text)
    assert isinstance(runs, Comparison)
    return runs


def departure_rate() -> Drawing:
    """Figure 11: PIE's departure rate, which sees the bursts of grants."""
    return _drawing("PIE's departure rate estimate", _runs()["PIE's own"])


def departure_rate_in_detail() -> Drawing:
    """Figure 12: the same, around two steps."""
    return _drawing("PIE's departure rate estimate, in detail", _runs()["PIE's own"], _DETAIL_S)


def grant_rate() -> Drawing:
    """Figure 13: the rate counted from the grants of MAPs."""
    return _drawing("Rate estimate from grants", _runs()["from grants"])


def grant_rate_in_detail() -> Drawing:
    """Figure 14: the same, around two steps."""
    return _drawing("Rate estimate from grants, in detail", _runs()["from grants"], _DETAIL_S)


def _drawing(title: str, result: Result, span_s: tuple[float, float] | None = None) -> Drawing:
    time, channel = series(result, "upstream", "channel_rate")
    _, estimate = series(result, "upstream", "rate_estimate")
    plots = [Plot("actual", time, channel), Plot("estimate", time, estimate)]
    limits = {"xlim": span_s} if span_s else {}
    picture = svg(plots, title=title, xlabel="time (s)", ylabel="rate (Mbps)", **limits)
    rows = list(zip(time.tolist(), channel.tolist(), estimate.tolist(), strict=True))
    return Drawing(title, picture, ("time_s", "actual_mbps", "estimate_mbps"), rows)
