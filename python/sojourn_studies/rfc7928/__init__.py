"""RFC 7928: every queue manager in the scenarios of the AQM characterization guidelines."""

from ..framework.study import Terms, assemble

SEEDS = 5

STUDY = assemble(
    __name__,
    "RFC 7928: queue managers characterised",
    Terms(
        question="What is each queue manager good at, by the guidelines of RFC 7928?",
        source="RFC",
        open_points="What the RFC leaves open",
        legend=(
            "For those who choose a queue manager. RFC 7928 defines scenarios and publishes no "
            "numbers, so nothing is compared. Every scenario runs with every manager on a plain "
            "link of 10 Mbps (`link`) and on a DOCSIS upstream of 10 Mbps (`docsis`). `delay` is "
            "the time in the upstream queue, `latency` that from sender to receiver, 50 ms of "
            "which are the path. `loss` and `marks` are shares of the packets sent up. `jain` is "
            "Jain's index of endless connections. `fct` is the mean time from the opening of a "
            "file's connection until both ends have closed it. A value is a mean with half of its "
            "95 % interval over seeds; of two values the first is that of `link`. All 5400 runs "
            "took half an hour on two cores that were busy with other work too; a manager in one "
            "scenario takes two seconds."
        ),
    ),
    seeds=SEEDS,
)
