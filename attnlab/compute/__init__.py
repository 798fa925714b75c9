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
        """Compute every stage of an experiment on a device, in a number format, without gradients."""
        from attnlab.compute.engine import compute

        return compute(e, device=device, dtype=dtype)


sys.modules[__name__].__class__ = _CallablePackage
