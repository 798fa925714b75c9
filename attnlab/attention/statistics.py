"""What a row of weights does: its sum, entropy, effective number of tokens and strongest target."""

import math
from dataclasses import dataclass

import numpy as np

from attnlab.attention.arithmetic import Floats


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """One row of weights: entropy in nats, ``most`` that of an even row, ``effective`` tokens exp(entropy).

    Entropy and effective tokens are NaN where weights are negative, ∞ or NaN; ``strongest`` is None without any.
    """

    total: float
    entropy: float
    most: float
    effective: float
    strongest: int | None


def row_statistics(row: Floats, allowed: int) -> RowStatistics:
    """Return the statistics of one row of weights [T_k] of which ``allowed`` keys may be attended to."""
    weights = np.asarray(row, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # ∞ − ∞, of a row that overflowed
        total = float(weights.sum())
    most = float(np.log(allowed)) if allowed else 0.0
    if not np.isfinite(weights).all():
        return RowStatistics(total, math.nan, most, math.nan, None)
    strongest = int(weights.argmax()) if weights.any() else None
    if (weights < 0).any():  # no distribution, as plain sums of negative scores are not
        return RowStatistics(total, math.nan, most, math.nan, strongest)
    positive = weights[weights > 0]
    entropy = max(float(-(positive * np.log(positive)).sum()), 0.0)
    return RowStatistics(total, entropy, most, float(np.exp(entropy)) if positive.size else 0.0, strongest)
