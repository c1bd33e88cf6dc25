"""Variants whose tables are equal are one run, and a sentence says why."""

from typing import Any

import sojourn
from sojourn.analysis.equal import equal_groups, warning_of
from sojourn.analysis.groups import EQUAL, Results
from sojourn.analysis.summary import warnings_json, warnings_of


def results_of(seeds: int = 1, **compare: dict[str, Any]) -> Results:
    """A game on a line of its own, with these variants."""
    scenario = {
        "duration_s": 1,
        "upstream": {"sustained_mbps": 10},
        "downstream": {"sustained_mbps": 50},
        "servers": {"near": {"delay_ms": 10}},
        "traffic": {"game": {"kind": "stream", "purpose": "game"}},
        "compare": compare,
    }
    return sojourn.compare(scenario, seeds=seeds).groups


def limit(count: int) -> dict[str, Any]:
    return {"upstream": {"queue": {"limit_packets": count}}}


def equal(results: Results) -> list[list[str]]:
    return [[group.name for group in groups] for groups in equal_groups(results.groups)]


def test_a_limit_that_nothing_reaches_makes_no_other_run() -> None:
    slow = {"upstream": {"sustained_mbps": 1}}
    results = results_of(small=limit(50), slow=slow, large=limit(90), huge=limit(500))
    assert equal(results) == [["small", "large", "huge"]]
    sentence = "small, large and huge are one run: nothing in their tables differs"
    assert [one for one in warnings_of(results) if "one run" in one] == [sentence]
    found = [one for one in warnings_json(results) if one["code"] == EQUAL]
    assert [one["names"] for one in found] == [["small", "large", "huge"]]


def test_a_rule_says_why_where_there_is_one() -> None:
    # The limit keeps them from being one before the run.
    law = {"upstream": {"aqm": False, "queue": {"limit_packets": 90, "law": {"kind": "pie"}}}}
    (groups,) = equal_groups(results_of(small=limit(50), off=law).groups)
    message = warning_of(groups).message
    assert message.startswith("small and off are one run: upstream.queue.law has no effect where")


def test_runs_of_all_seeds_must_be_equal_and_single_runs_are_not_compared() -> None:
    assert equal(results_of(2, small=limit(50), large=limit(90))) == [["small", "large"]]
    alone = sojourn.run("upload", duration_s=0.5)
    assert equal(alone.groups) == []
