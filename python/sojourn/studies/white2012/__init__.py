"""White & Padden 2012: CoDel against drop-tail in a modem of two queues."""

from ..study import Study
from .cells import UNPUBLISHED, cases_of, value_of
from .claims import CLAIMS
from .figures import FIGURES
from .notes import CHOICES, REMARKS

STUDY = Study(
    name="white2012",
    title="White and Padden, Preliminary Study of CoDel AQM in a DOCSIS Network, CableLabs 2012",
    figures=FIGURES,
    cases_of=cases_of,
    value_of=value_of,
    unpublished=UNPUBLISHED,
    claims=CLAIMS,
    choices=CHOICES,
    remarks=REMARKS,
)
