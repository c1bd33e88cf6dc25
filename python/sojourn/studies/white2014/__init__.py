"""White 2014: how the de-randomiser of DOCSIS-PIE behaves, and how channel rates are tracked."""

from . import derandomiser, rates

FIGURES = {
    7: derandomiser.bernoulli_run_length,
    8: derandomiser.binomial_drops,
    9: derandomiser.run_length,
    10: derandomiser.drops,
    11: rates.departure_rate,
    12: rates.departure_rate_in_detail,
    13: rates.grant_rate,
    14: rates.grant_rate_in_detail,
    16: derandomiser.effective_probability,
}
