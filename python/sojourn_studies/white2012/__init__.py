"""White & Padden 2012: CoDel against drop-tail in a modem of two queues."""

from ..framework.study import Terms, assemble

_LEGEND = """Names of cases: D is drop-tail and C is CoDel; the first digit is 0 without and 1
with a congested channel; the last is the bulk traffic: 1 none, 2 and 3 one endless
upload, 4 and 5 five that start again, 6 and 7 the same with 1 Mbps of datagrams, 8
and 9 one bursty upload. Odd digits from 3 on have files 100 ms away, all others 20
ms.

Names of metrics: `lost` and `late` are shares of the call's packets, and `plr` is
their sum; `mos` is the call's score; `plt_median` and `plt_mad` are the median page
load time and its median absolute deviation; `ftp_kbytes` is the volume of uploads,
and `ftp_kbytes_ratio` that volume beside the other queue's."""

STUDY = assemble(
    __name__,
    "White and Padden, Preliminary Study of CoDel AQM in a DOCSIS Network, CableLabs 2012",
    Terms(legend=_LEGEND),
)
