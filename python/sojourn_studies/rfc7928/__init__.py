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
            "For readers who choose a queue manager. RFC 7928 defines scenarios and publishes no "
            "results, so this page compares managers with each other and not with the RFC. Every "
            "scenario runs with every manager on two bottlenecks: `link`, a plain link of 10 Mbps, "
            "and `docsis`, a DOCSIS upstream of 10 Mbps. In the tables a cell with two values has "
            "`link` first and `docsis` second. A value is the mean over the seeds, with half of "
            "its 95 % interval after ±. `delay` is the time that packets spend in the upstream "
            "queue. `latency` is the time from sender to receiver; the path alone takes 50 ms of "
            "it. `loss` and `marks` are shares of the packets that were sent upstream. `jain` is "
            "Jain's fairness index of the connections that send without end. `fct` is the mean "
            "time from the opening of a file's connection until both ends have closed it. All "
            "runs together take about half an hour on two cores; a manager in one scenario takes "
            "two seconds."
        ),
    ),
    seeds=SEEDS,
)
