"""Where and when stages are computed. The public function ``attnlab.compute`` replaces this module in ``attnlab``.

The function and this package share one name, and importing any module in here binds that name to what is registered
for the package. So that is the function, which carries what Python needs to find the modules: ``attnlab.compute`` means
the same whatever was imported before, and ``help(attnlab.compute)`` shows how it is called.
"""

import sys
from typing import TYPE_CHECKING, Any

from attnlab.arguments import explain_calls

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.trace import Trace


@explain_calls
def compute(e: "Experiment", device: str = "cpu", dtype: str = "float32") -> "Trace":
    """Return the stages of an experiment, computed when asked for, on a device and in a number format.

    ``device`` is as torch calls it; ``dtype`` is float32, float64, bfloat16 or float16. Of the Trace that comes
    back, ``["weights"]`` is a tensor [h, T_q, T_k] without gradients.

    Raises:
        DeviceError: the device or the dtype is unknown or absent, or the device has no such dtype.
        AttnlabError: ``e`` is no Experiment.
    """
    from attnlab.compute.engine import compute as computed

    return computed(e, device=device, dtype=dtype)


def _stand_for_the_package(function: Any) -> None:
    for name in ("__path__", "__spec__", "__file__", "__loader__", "__package__"):
        setattr(function, name, globals()[name])
    function.__module__, function.__name__ = "attnlab", __name__
    sys.modules[__name__] = function


_stand_for_the_package(compute)
