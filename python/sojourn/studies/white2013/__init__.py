"""White & Rice 2013: three queue managers in a DOCSIS 3.0 modem, under 17 loads."""

from ..study import Study
from .cells import UNPUBLISHED, cases_of, value_of
from .claims import CLAIMS
from .figures import FIGURES
from .notes import CHOICES, REMARKS

STUDY = Study(
    name="white2013",
    title="White and Rice, Active Queue Management Algorithms for DOCSIS 3.0, CableLabs 2013",
    figures=FIGURES,
    cases_of=cases_of,
    value_of=value_of,
    unpublished=UNPUBLISHED,
    claims=CLAIMS,
    choices=CHOICES,
    remarks=REMARKS,
)
