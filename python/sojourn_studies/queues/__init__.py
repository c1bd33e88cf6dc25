"""The figures of docs/queues: what each queue manager does, against what it must do.

`make figures` draws them all; `python -m sojourn_studies.queues DIR NAME` draws one.
"""

from collections.abc import Callable, Mapping

from ..framework.drawing import Drawing
from . import laws, losses, protection, sharing, waiting

FIGURES: Mapping[str, Callable[[], Drawing]] = {
    "drop-tail": waiting.drop_tail,
    "codel": waiting.codel,
    "codel-dt": waiting.codel_dt,
    "pie": laws.pie,
    "pie-early": waiting.pie_early,
    "docsis-pie": laws.docsis_pie,
    "docsis-pie-drops": laws.docsis_pie_drops,
    "pi2": waiting.pi2,
    "dualq": waiting.dualq,
    "red": laws.red,
    "blue": losses.blue,
    "gsp": losses.gsp,
    "afd": losses.afd,
    "drr": sharing.drr,
    "wfq": sharing.wfq,
    "fq": sharing.fq,
    "sfq": sharing.sfq,
    "sfq-perturb": sharing.sfq_perturb,
    "sfq-pie": sharing.sfq_pie,
    "abb": sharing.abb,
    "cake": protection.cake,
    "choke": protection.choke,
    "sfb": protection.sfb,
}
"""Every figure by the name of its file."""
