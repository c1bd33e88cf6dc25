"""White 2014 appendix A, figures 11 to 14: two estimates of a channel's rate, as it steps."""

from functools import cache
from importlib.resources import files

from sojourn.analysis.curves import series
from sojourn.runs.comparison import Comparison
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


_SHOWN = {
    11: ("PIE's departure rate estimate", "PIE's own", None),  # which sees the bursts of grants
    12: ("PIE's departure rate estimate, in detail", "PIE's own", _DETAIL_S),
    13: ("Rate estimate from grants", "from grants", None),  # as MAPs have them
    14: ("Rate estimate from grants, in detail", "from grants", _DETAIL_S),
}


def estimate(figure: int) -> Drawing:
    """One of figures 11 to 14."""
    title, variant, span_s = _SHOWN[figure]
    result = _runs()[variant]
    time, channel = series(result, "upstream", "channel_rate")
    _, estimated = series(result, "upstream", "rate_estimate")
    plots = [Plot("actual", time, channel), Plot("estimate", time, estimated)]
    limits = {"xlim": span_s} if span_s else {}
    picture = svg(plots, title=title, xlabel="time (s)", ylabel="rate (Mbps)", **limits)
    rows = list(zip(time.tolist(), channel.tolist(), estimated.tolist(), strict=True))
    return Drawing(title, picture, ("time_s", "actual_mbps", "estimate_mbps"), rows)
