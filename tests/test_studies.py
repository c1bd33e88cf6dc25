"""The figures of published studies."""

from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from sojourn.studies import STUDIES, UnknownError, draw, study
from sojourn.studies.white2014 import derandomiser


def test_effective_probability_of_appendix_b() -> None:
    # White 2014 appendix B: about 0.541 of p where p is small; 0.46 to 0.85 is never reached.
    # Exactly: p 0.001 0.5410, 0.01 0.5436, 0.05 0.5557, 0.1 0.5556, 0.5 0.6667.
    ratios = {p: derandomiser.effective(p) / p for p in (0.001, 0.01, 0.05, 0.1, 0.5)}
    expected = {0.001: 0.5410, 0.01: 0.5436, 0.05: 0.5557, 0.1: 0.5556, 0.5: 0.6667}
    assert ratios == pytest.approx(expected, abs=1e-4)
    assert derandomiser.effective(0.8499999) == pytest.approx(0.459, abs=1e-3)
    # Forced after ten packets, which is as good as never: 0.15^9.
    assert derandomiser.effective(0.85) == pytest.approx(0.85, abs=1e-7)


def test_the_simulator_drops_at_the_exact_rate() -> None:
    drawing = draw("white2014", 16)
    for series, p, share in drawing.rows:
        if series == "simulated":
            # 20 000 runs: a standard error of at most 0.4 %. Adding 0.85/p floats may take a packet
            # more than exact arithmetic; p = 0.1 is the worst, 9 packets or 10.
            assert share == pytest.approx(derandomiser.effective(p), rel=0.03), p


def test_run_lengths_and_counts_are_distributions() -> None:
    assert derandomiser.run_length_pmf(0.01).sum() == pytest.approx(1)
    lengths = np.flatnonzero(derandomiser.run_length_pmf(0.01))
    assert (lengths[0], lengths[-1]) == (85, 850)
    counts = derandomiser.drop_count_pmf(0.01, 1000)
    assert counts.sum() == pytest.approx(1)
    # Much narrower than the binomial's standard deviation of 3.1.
    k = np.arange(len(counts))
    mean = counts @ k
    assert float(np.sqrt(counts @ (k - mean) ** 2)) < 2


def test_rates_from_grants_follow_the_channel_and_pies_own_do_not() -> None:
    def error(number: int) -> float:
        rows = np.array(draw("white2014", number).rows)
        settled = rows[rows[:, 0] > 15]
        return float(np.nanmedian(np.abs(settled[:, 2] / settled[:, 1] - 1)))

    own, grants = error(11), error(13)
    assert grants < 0.05
    assert own > 3 * grants


@pytest.mark.parametrize("name", STUDIES)
def test_every_figure_is_drawn(name: str, tmp_path: Path, cli: Cli) -> None:
    for number in study(name).FIGURES:
        done = cli("study", "run", name, "--figure", number, "--out", tmp_path)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / f"{name}-figure-{number}.svg").read_text().startswith("<?xml")
        assert (tmp_path / f"{name}-figure-{number}.csv").read_text().count("\n") > 10


def test_unknown_names_are_refused_with_what_there_is(cli: Cli) -> None:
    with pytest.raises(UnknownError, match="allowed: white2014"):
        draw("white2015", 16)
    with pytest.raises(UnknownError, match="found 99; allowed: 7, 8, 9, 10"):
        draw("white2014", 99)
    done = cli("study", "run", "white2014", "--figure", 99)
    assert (done.returncode, done.stdout) == (2, "")
