"""Linux 6.18: uploads of a real kernel over known links, against dialect `linux`."""

from ..framework.study import Terms, assemble

_LEGEND = (
    "A cell agrees within 1 % of goodput, 5 % of a delay or time (table `bbr`: 10 %), and 5 % or 3 "
    "packets of drops, losses and marks. Table `further` has cases that were measured later. There "
    "delays and times may also differ by 0.3 ms and goodputs of single flows by 10 %, and of "
    "several runs of the kernel the nearest counts. The claims are that no timer expires, which "
    "links Reno and CUBIC fill and how long their queues are, what is lost at the start, and what "
    "pacing changes.\n\n"
    "Cases are named by control and what is special: `f5` five flows, `b100` a buffer of 100 ms, "
    "`r0.5` a rate of 0.5 Mbps, `rtt300` a round trip of 300 ms, `rtt20_200` two flows with one "
    "each, `late10` a second flow 10 s later, `loss1` random loss of 1 %, `codel5` CoDel with a "
    "target of 5 ms, `ecn` with marks, `rev0.5` a way back of 0.5 Mbps, `steps` a link whose rate "
    "changes, `tiny5ms` a buffer of 5 ms, `chunks500k` 500 kB every 2 s. `short` are files of "
    "several sizes, `alone` or beside an upload with the control named; `nofin` sends the FIN "
    "when all is acknowledged, `defrmem` has the kernel's default buffers at the receiver."
)

STUDY = assemble(
    __name__,
    "Linux 6.18: uploads over known links",
    Terms(
        question="Does dialect linux send as the kernel does?",
        source="measurement",
        values="measured",
        open_points="What the measurements leave open",
        legend=_LEGEND,
    ),
    seeds=5,
)
