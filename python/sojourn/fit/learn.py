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
class Learned:
    """How one parameter's share of the prior follows from features."""

    centre: Values
    scale: Values
    known: Values
    weights: Values
    mean: float
    errors: Values
    factor: float
    farthest: float
    """How unlike their nearest other row nearly all rows are at most."""

    def interval(self, features: Values) -> tuple[float, float, float] | None:
        """Share of the prior with the ends of its 90 % interval, or `None` beyond the prior."""
        likeness = self._likeness(features)
        share = float(self.mean + likeness @ self.weights)
        near = np.argsort(likeness)[-_ALIKE:]
        half = self.factor * float(np.mean(abs(self.errors[near])))
        if not -_BEYOND * half <= share <= 1 + _BEYOND * half:
            return None
        low, middle, high = np.clip([share - half, share, share + half], 0, 1)
        return float(middle), float(low), float(high)

    def is_like(self, features: Values) -> bool:
        """Are these features as near to a row as rows are to each other?"""
        return bool(1 - self._likeness(features).max() <= self.farthest)

    def _likeness(self, features: Values) -> Values:
        return np.asarray(_kernel(_scaled(features, self.centre, self.scale)[None], self.known)[0])


def learned(features: Values, shares: Values) -> Learned:
    """What rows of features and shares teach."""
    centre = np.median(features, axis=0)
    scale = np.maximum(features.std(axis=0), 1e-9)
    known = _scaled(features, centre, scale)
    likeness = _kernel(known, known)
    mean = float(shares.mean())
    inverse = np.linalg.inv(likeness + _RIDGE * np.eye(len(known)))
    weights = inverse @ (shares - mean)
    errors = weights / np.diag(inverse)  # of each row, left out
    with_others = likeness - np.eye(len(known))
    others = np.argsort(with_others, axis=1)[:, -_ALIKE:]
    scores = abs(errors) / np.mean(abs(errors[others]), axis=1)
    rank = min(1.0, np.ceil((len(shares) + 1) * COVERAGE) / len(shares))
    factor = float(np.quantile(scores, rank, method="higher"))
    farthest = float(np.quantile(1 - with_others.max(axis=1), _USUAL))
    return Learned(centre, scale, known, weights, mean, errors, factor, farthest)


def _scaled(features: Values, centre: Values, scale: Values) -> Values:
    return np.asarray(np.clip((features - centre) / scale, -_FARTHEST, _FARTHEST))


def _kernel(some: Values, others: Values) -> Values:
    distances = (some**2).sum(1)[:, None] + (others**2).sum(1)[None] - 2 * some @ others.T
    return np.asarray(np.exp(-np.maximum(distances, 0) / (2 * _WIDTH**2 * some.shape[1])))
