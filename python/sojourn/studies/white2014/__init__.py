"""White 2014: how the de-randomiser of DOCSIS-PIE behaves, and how channel rates are tracked."""

from collections.abc import Callable

from ..study import Drawing, Figure, Study
from . import derandomiser, rates


def _figure(draw: Callable[[], Drawing]) -> Figure:
    return Figure(lambda runs: draw())


STUDY = Study(
    name="white2014",
    title="White, Active Queue Management in DOCSIS 3.x Cable Modems, CableLabs 2014",
    figures={
        7: _figure(derandomiser.bernoulli_run_length),
        8: _figure(derandomiser.binomial_drops),
        9: _figure(derandomiser.run_length),
        10: _figure(derandomiser.drops),
        11: _figure(rates.departure_rate),
        12: _figure(rates.departure_rate_in_detail),
        13: _figure(rates.grant_rate),
        14: _figure(rates.grant_rate_in_detail),
        16: _figure(derandomiser.effective_probability),
    },
)
