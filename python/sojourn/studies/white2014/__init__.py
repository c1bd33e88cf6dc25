"""White 2014: seven queue managers in a DOCSIS 3.1 modem, and what became DOCSIS-PIE."""

from ..study import Study
from .cells import UNPUBLISHED, cases_of, value_of
from .claims import CLAIMS
from .figures import FIGURES
from .notes import CHOICES, REMARKS

STUDY = Study(
    name="white2014",
    title="White, Active Queue Management in DOCSIS 3.x Cable Modems, CableLabs 2014",
    figures=FIGURES,
    cases_of=cases_of,
    value_of=value_of,
    unpublished=UNPUBLISHED,
    claims=CLAIMS,
    choices=CHOICES,
    remarks=REMARKS,
)
