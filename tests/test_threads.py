"""Runs share nothing: not the interpreter's lock, not their random numbers."""

import threading
from concurrent.futures import Future

import pytest
import sojourn
from conftest import HOME, PATIENT_S, SHORT_S, wait_until
from sojourn._sojourn import Cancelled, Job
from sojourn._sojourn import run as run_native
from sojourn.runs.threads import _first_done


def test_python_goes_on_during_a_run() -> None:
    variant = sojourn.load(HOME, duration_s=1e6)[0]
    job = Job()
    stopped = []

    def work() -> None:
        with pytest.raises(Cancelled):
            run_native(variant, job)
        stopped.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    # This thread could not look if the run held the lock, and would never cancel it.
    wait_until(lambda: job.simulated_s)
    job.cancel()
    thread.join(PATIENT_S)
    assert stopped == [True]
    assert 0 < job.simulated_s < 1e6
    assert 0 < job.progress < 1


def test_two_runs_make_progress_at_the_same_time() -> None:
    variants = sojourn.load(HOME, duration_s=1e6)[:2]
    jobs = [Job(), Job()]

    def work(index: int) -> None:
        with pytest.raises(Cancelled):
            run_native(variants[index], jobs[index])

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    # Neither ends before both have begun.
    wait_until(lambda: all(job.simulated_s for job in jobs))
    for job in jobs:
        job.cancel()
    for thread in threads:
        thread.join()


def test_a_cancelled_job_never_starts() -> None:
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        run_native(sojourn.load(HOME)[0], job)


def test_of_runs_that_have_ended_those_that_failed_come_first() -> None:
    places: dict[Future[None], int] = {Future(): place for place in range(6)}
    for future, place in places.items():
        if place in (1, 4):
            future.set_exception(LookupError())
        elif place != 2:
            future.set_result(None)
    reversed_places = dict(reversed(places.items()))
    assert [places[one] for one in _first_done(reversed_places)] == [1, 4, 0, 3, 5]


def test_threads_do_not_change_results() -> None:
    one, two = (fingerprints(jobs=jobs) for jobs in (1, 2))
    assert one == two == fingerprints(jobs=2)
    assert len(set(one)) == len(one)


def test_seeds_do() -> None:
    assert not set(fingerprints(seed=1)) & set(fingerprints(seed=2))


def fingerprints(**options: int) -> list[str]:
    runs = sojourn.run(HOME, duration_s=SHORT_S, **options).runs
    return [result.meta["fingerprint"] for result in runs.values()]
