"""Hong 2015: queue managers in the downstream of DOCSIS 3.0, and adaptive bandwidth binning."""

from ..framework.study import assemble

STUDY = assemble(
    __name__,
    "Hong, Downstream Bandwidth Management for Emerging DOCSIS-based Networks, Clemson 2015",
)
