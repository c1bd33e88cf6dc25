"""White & Padden 2012: CoDel against drop-tail in a modem of two queues."""

from ..framework.study import assemble

STUDY = assemble(
    __name__,
    "White and Padden, Preliminary Study of CoDel AQM in a DOCSIS Network, CableLabs 2012",
)
