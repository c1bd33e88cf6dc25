"""The environment of docs/own with Gymnasium's interface."""

import sys
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
import sojourn
from conftest import ROOT
from gymnasium.utils.env_checker import check_env


@pytest.fixture
def environments() -> Iterator[type]:
    sys.path.append(str(ROOT / "docs" / "own"))
    try:
        from shaper_env import ShaperEnv  # type: ignore[import-not-found]

        yield ShaperEnv
    finally:
        sys.path.pop()


def test_the_checker_of_gymnasium_accepts_it(environments: type) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(environments(duration_s=1), skip_render_check=True)


def episode(environment, seed: int) -> list[float]:  # type: ignore[no-untyped-def]
    observation, _ = environment.reset(seed=seed)
    rewards, is_over = [], False
    while not is_over:
        share = 0.9 if observation[1] < 0.05 else 0.2
        observation, reward, _, is_over, _ = environment.step(np.array([share], np.float32))
        rewards.append(reward)
    return rewards


def test_episodes_are_those_of_their_seed(environments: type) -> None:
    one, other = environments(duration_s=3), environments(duration_s=3)
    first = episode(one, 1)
    assert len(first) == 300
    assert first == episode(other, 1) != episode(other, 2)
    assert first == episode(one, 1)
    # A shaper far below the line keeps the modem's queue empty, and one far above it does not.
    delays = []
    for share in (0.05, 1.0):
        one.reset(seed=1)
        delays.append(np.mean([one.step(np.array([share]))[0][1] for _ in range(200)]))
    assert delays[0] < 0.05 < 0.2 < delays[1]


def test_an_episode_can_be_run_again(environments: type) -> None:
    environment = environments(duration_s=0.3)
    episode(environment, 5)
    result = environment.result()
    assert len(result.changes) == 30 + 2
    again = sojourn.Simulation.again(result).finish()
    assert again.meta == result.meta
