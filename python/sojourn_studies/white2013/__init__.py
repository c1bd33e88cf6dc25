"""White & Rice 2013: three queue managers in a DOCSIS 3.0 modem, under 17 loads."""

from ..framework.study import assemble

STUDY = assemble(
    __name__,
    "White and Rice, Active Queue Management Algorithms for DOCSIS 3.0, CableLabs 2013",
)
