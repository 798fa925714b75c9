"""Where and when stages are computed; calling the package itself, ``attnlab.compute(e)``, computes an experiment.

The public function and this package share one name, and importing any module in here binds that name to the package.
So the package is callable, and ``attnlab.compute`` means the same whatever was imported before.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.trace import Trace


class _CallablePackage(ModuleType):
    def __call__(self, e: "Experiment", device: str = "cpu", dtype: str = "float32") -> "Trace":
        """Return the stages of an experiment, computed when asked for, on a device and in a number format.

        ``device`` is as torch calls it; ``dtype`` is float32, float64, bfloat16 or float16. Of the Trace that comes
        back, ``["weights"]`` is a tensor [h, T_q, T_k] without gradients.

        Raises:
            DeviceError: the device or the dtype is unknown or absent, or the device has no such dtype.
        """
        from attnlab.compute.engine import compute

        return compute(e, device=device, dtype=dtype)


sys.modules[__name__].__class__ = _CallablePackage
