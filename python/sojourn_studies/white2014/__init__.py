"""White 2014: seven queue managers in a DOCSIS 3.1 modem, and what became DOCSIS-PIE."""

from ..framework.study import assemble

STUDY = assemble(
    __name__,
    "White, Active Queue Management in DOCSIS 3.x Cable Modems, CableLabs 2014",
)
