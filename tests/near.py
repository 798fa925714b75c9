"""The tolerance between two ways of computing a stage in float32: that of rounding."""

import torch
from torch import Tensor

import attnlab

STEPS = 64
"""The tolerance in rounding steps of a stage's largest number, however well it is conditioned."""
WORSE = 16
"""The factor by which another order of summation may be farther from float64 than the trace."""


def assert_near(made: Tensor, trace: attnlab.Trace, exact: attnlab.Trace, name: str) -> None:
    """Hold a stage that was computed in another way to a trace, and to the same trace in float64.

    The bound follows from the numbers: where a stage is ill-conditioned the trace itself is far from float64, and
    nothing more can be asked of the other way. ∞ and NaN have to stand in the same cells.
    """
    wanted, reference = trace[name], exact[name]
    assert made.dtype == wanted.dtype, name
    assert made.shape == wanted.shape, name
    finite = wanted.isfinite()
    torch.testing.assert_close(made[~finite], wanted[~finite], equal_nan=True, msg=lambda m: f"{name}: {m}")
    if not finite.any():
        return
    largest = float(wanted[finite].abs().max())
    ours = float((wanted - reference)[finite].abs().max())
    bound = STEPS * torch.finfo(wanted.dtype).eps * largest + WORSE * ours
    if wanted.dtype == torch.float64:  # there is nothing more exact to learn from how well a stage is conditioned
        bound = 1e-11 * max(1.0, largest)
    off = float((made - reference)[finite].abs().max())
    assert off <= bound, (
        f"{name}: off by {off:.3g} from float64, the trace by {ours:.3g}; up to {bound:.3g} is rounding"
    )
