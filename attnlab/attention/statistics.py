"""What a row of weights does: its sum, entropy, effective number of tokens and strongest target."""

from dataclasses import dataclass

import numpy as np

from attnlab.attention.arithmetic import Floats


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """One row of weights; entropy in nats, ``most`` the entropy of an even row, NaN where a row has none."""

    total: float
    entropy: float
    most: float
    effective: float
    strongest: int | None


def row_statistics(row: Floats, allowed: int) -> RowStatistics:
    """Return the statistics of one row of weights [T_k] of which ``allowed`` keys may be attended to."""
    weights = np.asarray(row, dtype=np.float64)
    total = float(weights.sum())
    finite = bool(np.isfinite(weights).all())
    positive = weights[weights > 0]
    entropy = float(-(positive * np.log(positive)).sum()) if finite and (weights >= 0).all() else float("nan")
    entropy = max(entropy, 0.0) if entropy == entropy else entropy
    strongest = int(weights.argmax()) if finite and total != 0 else None
    effective = float(np.exp(entropy)) if total != 0 else 0.0
    return RowStatistics(total, entropy, float(np.log(allowed)) if allowed else 0.0, effective, strongest)
