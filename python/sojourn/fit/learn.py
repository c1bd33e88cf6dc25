"""From features of a log to intervals of parameters, by simulated lines of which both are known.

Kernel ridge regression on the shares of the prior. Its errors on the lines of the table, each left
out in its turn, give the intervals: wider where lines alike were missed by more (conformal
prediction with a local scale: Lei et al. 2018, "Distribution-free predictive inference for
regression").
"""

from dataclasses import dataclass

import numpy as np

from .log import Values

COVERAGE = 0.9
_WIDTH = 1.0
_RIDGE = 3e-3
_ALIKE = 30
_USUAL = 0.995
_BEYOND = 0.5
"""Of half an interval: by so much a share may be beyond the prior by chance."""
_FARTHEST = 4.0
"""Standard deviations at which a feature is cut off."""


@dataclass(frozen=True)
class Regression:
    """How targets follow from inputs; a row of `inputs` and `targets` is a known pair."""

    centre: Values
    scale: Values
    known: Values
    weights: Values
    mean: Values
    errors: Values
    """Of each row, left out."""

    def at(self, inputs: Values) -> Values:
        """The targets of rows of inputs."""
        return np.asarray(self.mean + self.likeness(inputs) @ self.weights)

    def likeness(self, inputs: Values) -> Values:
        """How like each known row these rows are: 1 for the same."""
        return _kernel(_scaled(inputs, self.centre, self.scale), self.known)


def regression(inputs: Values, targets: Values) -> Regression:
    """Learns from rows of inputs and targets."""
    centre = np.median(inputs, axis=0)
    scale = np.maximum(inputs.std(axis=0), 1e-9)
    known = _scaled(inputs, centre, scale)
    mean = targets.mean(axis=0)
    inverse = np.linalg.inv(_kernel(known, known) + _RIDGE * np.eye(len(known)))
    weights = inverse @ (targets - mean)
    errors = (weights.T / np.diag(inverse)).T
    return Regression(centre, scale, known, weights, mean, errors)


@dataclass(frozen=True)
class Learned:
    """How one parameter's share of the prior follows from features."""

    shares: Regression
    factor: float
    farthest: float
    """How unlike their nearest other row nearly all rows are at most."""
    widened: float = 1.0
    """How much wider the interval is than rows make it; it reaches no farther beyond the prior."""

    def interval(self, features: Values) -> tuple[float, float, float] | None:
        """Share of the prior with the ends of its 90 % interval, or `None` beyond the prior."""
        share = float(self.shares.at(features[None])[0])
        near = np.argsort(self.shares.likeness(features[None])[0])[-_ALIKE:]
        half = self.factor * float(np.mean(abs(self.shares.errors[near])))
        if not -_BEYOND * half <= share <= 1 + _BEYOND * half:
            return None
        half *= self.widened
        low, middle, high = np.clip([share - half, share, share + half], 0, 1)
        return float(middle), float(low), float(high)

    def is_like(self, features: Values) -> bool:
        """Are these features as near to a row as rows are to each other?"""
        return bool(1 - self.shares.likeness(features[None]).max() <= self.farthest)


def learned(features: Values, shares: Values) -> Learned:
    """What rows of features and shares teach."""
    known = regression(features, shares)
    with_others = known.likeness(features) - np.eye(len(features))
    others = np.argsort(with_others, axis=1)[:, -_ALIKE:]
    scores = abs(known.errors) / np.mean(abs(known.errors[others]), axis=1)
    rank = min(1.0, np.ceil((len(shares) + 1) * COVERAGE) / len(shares))
    factor = float(np.quantile(scores, rank, method="higher"))
    farthest = float(np.quantile(1 - with_others.max(axis=1), _USUAL))
    return Learned(known, factor, farthest)


def _scaled(features: Values, centre: Values, scale: Values) -> Values:
    return np.asarray(np.clip((features - centre) / scale, -_FARTHEST, _FARTHEST))


def _kernel(some: Values, others: Values) -> Values:
    distances = (some**2).sum(1)[:, None] + (others**2).sum(1)[None] - 2 * some @ others.T
    return np.asarray(np.exp(-np.maximum(distances, 0) / (2 * _WIDTH**2 * some.shape[1])))
