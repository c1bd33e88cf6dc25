"""White & Padden 2012: CoDel against drop-tail in a modem of two queues."""

from ..framework.study import Terms, assemble

_LEGEND = """The name of a case, such as D03, has three parts:

| part | meaning |
| --- | --- |
| letter | D: drop-tail; C: CoDel |
| first digit | 0: no congestion; 1: a congested channel |
| last digit | the bulk traffic: 1 none; 2, 3 one endless upload; \
4, 5 five uploads that start again; 6, 7 the same with 1 Mbps of datagrams; 8, 9 one bursty upload |

With the last digits 3, 5, 7 and 9 the server of the files is 100 ms away, otherwise 20 ms.

Metrics:

- `lost` and `late`: shares of the call's packets; `plr` is their sum; `mos` is the call's score.
- `plt_median` and `plt_mad`: the median page load time and its median absolute deviation.
- `ftp_kbytes`: the volume of uploads. `ftp_kbytes_ratio`: that volume compared with the other
  queue's."""

STUDY = assemble(
    __name__,
    "White and Padden, Preliminary Study of CoDel AQM in a DOCSIS Network, CableLabs 2012",
    Terms(legend=_LEGEND),
)
