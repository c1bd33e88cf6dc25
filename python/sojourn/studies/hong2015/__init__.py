"""Hong 2015: queue managers in the downstream of DOCSIS 3.0, and adaptive bandwidth binning."""

from ..study import Study
from .cells import cases_of, value_of

STUDY = Study(
    name="hong2015",
    title="Hong, Managing Bandwidth and Traffic Service in DOCSIS 3.x, Clemson University 2015",
    cases_of=cases_of,
    value_of=value_of,
)
