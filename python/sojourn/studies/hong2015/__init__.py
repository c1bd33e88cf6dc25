"""Hong 2015: queue managers in the downstream of DOCSIS 3.0, and adaptive bandwidth binning."""

from ..study import Study
from .cells import cases_of, value_of
from .claims import CLAIMS
from .figures import FIGURES
from .notes import CHOICES, REMARKS

STUDY = Study(
    name="hong2015",
    title="Hong, Downstream Bandwidth Management for Emerging DOCSIS-based Networks, Clemson 2015",
    figures=FIGURES,
    cases_of=cases_of,
    value_of=value_of,
    claims=CLAIMS,
    choices=CHOICES,
    remarks=REMARKS,
)
