"""Real cable lines: measured delays beside simulated ones."""

from ..framework.study import Terms, assemble

STUDY = assemble(
    __name__,
    "Real cable lines",
    Terms(
        question="Are simulated delays like those of real cable lines?",
        source="measurement",
        values="measured",
        open_points="What the measurements leave open",
        legend=(
            "A cable line of 940/40 Mbps was probed on 17 June 2026, half an hour idle and 20 "
            "minutes each with an upload and a download; a laboratory, evenings of another "
            "network and field figures stand beside it. In short: a fit to one half of the idle "
            "half hour predicts the other, and the laboratory's cost of a millisecond is "
            "explained; the defaults describe no line in particular, and are far steadier than "
            "this one; delays of the loaded line are not predicted. `pN` is the N-th percentile "
            "of one-way delay less the median, in ms, since clocks have an unknown offset. "
            "`added` is the median round trip less that of the idle line. Measured is the "
            "second half of each; a cell agrees if it is between the ends of its parts of 150 "
            "s. `fitted` is fitted to the first half of the idle half hour, `jitter` has jitter "
            "on the path downstream too. For comparison there are `other half`, the measured "
            "first half as prediction of the second, `default`, the line with neighbours of "
            "`sojourn init`, and `lone`, a modem alone."
        ),
    ),
    seeds=5,
)
