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
            "`pN` is the N-th percentile of one-way delay less the median, in ms, since the "
            "clocks of both ends have an unknown offset. `added` is the median round trip less "
            "that of the idle line. What was measured is the second half of a measurement, and "
            "a cell agrees if it lies within what parts of 150 s of it gave. `fitted` is a line "
            "fitted to the first half of the idle half hour, and `jitter` has jitter on the "
            "path downstream too. For comparison stand beside them `default`, the line with "
            "neighbours of `sojourn init`, `lone`, a modem alone, and `other-half`, the "
            "measured first half as prediction of the second."
        ),
    ),
    seeds=5,
)
