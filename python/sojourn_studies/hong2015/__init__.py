"""Hong 2015: queue managers in the downstream of DOCSIS 3.0, and adaptive bandwidth binning."""

from ..framework.study import Terms, assemble

_LEGEND = """`table-4.7`, `fig-4.3` and `sec-4.2.2` are a table, figure and section of the thesis.
Abbreviations:

| name | meaning |
| --- | --- |
| DT, DT20 | drop-tail with the large buffer, and with a small one |
| ARED | Adaptive RED |
| ABB-2, ABB-3, ... | adaptive bandwidth binning with 2, 3, ... bins |
| FTP | a download |
| HAS | adaptive video over HTTP |
| ME1, ME2, ME3 | loads with on/off flows |
| JFI | Jain's fairness index |
| CoV, `cov` | coefficient of variation: standard deviation over mean |
| R | the R value of the E-model, the quality of a call |"""

STUDY = assemble(
    __name__,
    "Hong, Downstream Bandwidth Management for Emerging DOCSIS-based Networks, Clemson 2015",
    Terms(legend=_LEGEND),
)
