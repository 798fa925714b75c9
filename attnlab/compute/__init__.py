"""Computation of experiments. The public function ``attnlab.compute`` replaces this package in ``attnlab``.

The function and this package share a name, and importing any module of the package binds that name to its entry in
``sys.modules``. So that entry is the function, with the attributes that Python needs to import the modules. This way
``attnlab.compute`` is always the function, whatever was imported before, and ``help(attnlab.compute)`` describes it.
"""

import sys
from typing import TYPE_CHECKING, Any

from attnlab.base.arguments import explain_calls

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace


@explain_calls
def compute(e: "Experiment", device: str = "cpu", dtype: str = "float32") -> "Trace":
    """Return a Trace of an experiment on a device in a dtype, whose stages are computed on first access.

    ``device`` is a torch device name; ``dtype`` is float32, float64, bfloat16 or float16. ``trace["weights"]`` is a
    tensor [h, T_q, T_k] without gradients.

    Raises:
        DeviceError: the device or the dtype is unknown or missing, or the device does not support the dtype.
        ArgumentError: ``e`` is not an Experiment.
    """
    from attnlab.compute.engine import compute as computed

    return computed(e, device=device, dtype=dtype)


def _stand_for_the_package(function: Any) -> None:
    for name in ("__path__", "__spec__", "__file__", "__loader__", "__package__"):
        setattr(function, name, globals()[name])
    function.__module__, function.__name__ = "attnlab", __name__
    sys.modules[__name__] = function


_stand_for_the_package(compute)
